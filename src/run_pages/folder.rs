//! The folder of the pages, and the addresses of pages in it.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::fleet::{FleetError, RunRow};

/// The folder of the pages.
pub trait PageFolder {
    /// Returns the name of the folder, which is next to the report.
    fn name(&self) -> &OsStr;

    /// Writes the page of a run, and returns the name of its file.
    ///
    /// # Errors
    /// If it cannot be written.
    fn add(
        &mut self,
        run: &RunRow,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<String, FleetError>;
}

/// Encodes a part of an address. Everything is percent-encoded, except letters, digits and characters without a meaning in addresses.
pub(super) fn encoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
            byte => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_names_as_parts_of_addresses() {
        assert_eq!(encoded(b"fleet.runs"), "fleet.runs");
        assert_eq!(encoded(b"a:b #1?.v2.runs"), "a%3Ab%20%231%3F.v2.runs");
        assert_eq!(encoded("Größe%".as_bytes()), "Gr%C3%B6%C3%9Fe%25");
    }
}

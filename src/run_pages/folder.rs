//! The folder for run pages, and the addresses of the pages in it.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::fleet::{FleetError, RunRow};

/// The folder for run pages.
pub trait PageFolder {
    /// Returns the name of the folder, which is next to the report.
    fn name(&self) -> &OsStr;

    /// Writes the page of a run, and returns the name of its file.
    ///
    /// # Errors
    /// If the page cannot be written.
    fn add(
        &mut self,
        run: &RunRow,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<String, FleetError>;
}

/// Percent-encodes a part of an address, except letters, digits and characters without a special meaning in addresses.
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

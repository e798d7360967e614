//! Breakpad symbol files (`.sym`), as `dump_syms` and `traceparse symbols` write them.
//!
//! ```text
//! MODULE mac arm64 4C4C446D55553144A14CADA0C4848C5D0 Demo   UUID without hyphens, and the age 0
//! FILE 0 /src/demo.cpp
//! INLINE_ORIGIN 0 clamp(int)
//! FUNC 3c0 20 0 draw()              address, size, size of the parameters (unused), name
//! INLINE 0 12 0 0 3c8 8             depth, line and file of the call, origin, then addresses and sizes
//! 3c0 8 11 0                        address, size, line, file
//! 3c8 8 3 0
//! 3d0 10 13 0
//! PUBLIC 400 0 plain
//! ```
//!
//! Addresses are relative to the start of `__TEXT`, in hex. A line belongs to the innermost function at its addresses; every other function is at
//! the line of the call inlined into it. Records may have any order, except that `INLINE` and line records belong to the `FUNC` before them. `m`
//! after `FUNC` or `PUBLIC` marks one of several names. `STACK` and `INFO` records are skipped.
//!
//! `dump_syms` demangles names, and `traceparse symbols` does not. The reader returns both unchanged.
//! A `FUNC` extends to its size. A `PUBLIC` extends to the next `FUNC` or `PUBLIC`, and at most [`LONGEST_FUNCTION`](crate::units). Columns and
//! linkage names are not in the format.

mod body;
mod line_reader;
mod records;
mod table;
mod writer;

use std::io;

pub use writer::BreakpadFile;

use super::found::{Contents, Found, Image, SourceKind, gone};
use super::frame::Symbols;
use crate::error::Diagnostic;
use crate::files::FileBytes;
use crate::units::Uuid;
use line_reader::LineReader;
use table::BreakpadSymbols;

/// The start of every file.
const MODULE: &[u8] = b"MODULE ";

/// The systems that programs write into the first line.
const SYSTEMS: [&str; 7] = ["android", "fuchsia", "ios", "linux", "mac", "solaris", "windows"];

/// True for the first bytes of a Breakpad symbol file. Source files in Fortran may start with the same word.
pub(super) fn is_start_of_file(head: &[u8]) -> bool {
    let system = head.strip_prefix(MODULE).and_then(|rest| rest.split(u8::is_ascii_whitespace).next());
    system.is_some_and(|system| SYSTEMS.iter().any(|known| system.eq_ignore_ascii_case(known.as_bytes())))
}

/// Lists the image of a file of `length` bytes, which is named in its first line.
pub(super) fn contents(head: &[u8], length: u64) -> Contents {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let module = Module::parse(line.strip_suffix(b"\r").unwrap_or(line));
    match module {
        None => Contents::note("a Breakpad symbol file without a readable MODULE record"),
        // Versions of `dump_syms` differ in case.
        Some(Module { os, .. }) if !["mac", "ios"].iter().any(|apple| os.eq_ignore_ascii_case(apple)) => {
            Contents::note(format!("a Breakpad symbol file for {os}, not for an Apple platform (mac, ios)"))
        }
        Some(Module { uuid, arch, name, .. }) => {
            let image = Image {
                kind: SourceKind::Breakpad,
                uuid,
                // Breakpad's name for Intel processors with 32 bits.
                arch: if arch == "x86" { "i386" } else { arch }.to_owned(),
                name: name.map(str::to_owned),
                text_address: None,
                text_size: None,
                range: (0, length),
            };
            Contents { images: vec![image], ..Contents::default() }
        }
    }
}

/// Opens the symbols of a found file, and queries them.
pub(super) fn ask(
    data: &FileBytes<'_>,
    found: &Found,
    ask: impl FnOnce(&dyn Symbols) -> Vec<Diagnostic>,
) -> io::Result<Vec<Diagnostic>> {
    let mut lines = LineReader::new(data);
    let uuid = lines.next().and_then(|(_, line)| Module::parse(line)).map(|module| module.uuid);
    if uuid != Some(found.uuid) {
        return Err(gone());
    }
    Ok(ask(&BreakpadSymbols::read(data)))
}

/// A `MODULE` record.
#[derive(Debug, PartialEq, Eq)]
struct Module<'l> {
    os: &'l str,
    arch: &'l str,
    uuid: Uuid,
    name: Option<&'l str>,
}

impl<'l> Module<'l> {
    fn parse(line: &'l [u8]) -> Option<Self> {
        let text = std::str::from_utf8(line.strip_prefix(MODULE)?).ok()?;
        let mut fields = text.splitn(4, ' ');
        let (os, arch, id) = (fields.next()?, fields.next()?, fields.next()?);
        let digits = id.strip_suffix('0').filter(|digits| digits.len() == 32)?;
        let uuid = Uuid::parse(digits).filter(|uuid| !uuid.is_nil())?;
        let is_word = |word: &str| !word.is_empty() && !word.contains(char::is_control);
        let name = fields.next().filter(|name| is_word(name));
        (is_word(os) && is_word(arch)).then_some(Self { os, arch, uuid, name })
    }
}

#[cfg(test)]
mod tests;

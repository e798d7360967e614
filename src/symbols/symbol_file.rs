//! Lists and opens files that may contain symbols. They are recognised by content, never by name.

use std::io;
use std::path::Path;

use super::apple_container::AppleImage;
use super::breakpad;
use super::found::{Contents, Found, Image, SourceKind, gone, invalid};
use super::frame::Symbols;
#[cfg(feature = "symbols")]
use super::macho_file;
use crate::error::Diagnostic;
use crate::files::{FileBytes, Files};
use crate::memory::MemoryBudget;

/// The number of bytes at the start that reveal the kind of a file.
const HEAD: usize = 4096;
/// Larger `.symbols` files are not read; real ones have a few megabytes.
const MAX_APPLE: u64 = 1 << 30;

/// Lists the contents of a file of `length` bytes, loading only a part of it.
pub(super) fn read(files: &dyn Files, path: &Path, length: u64, budget: &MemoryBudget) -> Contents {
    let head = match files.read(path, 0, HEAD) {
        Ok(head) => head,
        Err(error) => return Contents::Unreadable(format!("cannot be read: {error}")),
    };
    if macho_file::is_macho(&head) {
        return macho_file::contents(files, path, length);
    }
    if AppleImage::is_start_of_file(&head, length) {
        return apple(files, path, length, budget);
    }
    if breakpad::is_start_of_file(&head) {
        return breakpad::contents(&head, length);
    }
    other(&head).map_or(Contents::Unknown, |what| Contents::Known(what.to_owned()))
}

fn apple(files: &dyn Files, path: &Path, length: u64, budget: &MemoryBudget) -> Contents {
    if length > MAX_APPLE {
        return Contents::Known(format!("larger than {MAX_APPLE} bytes"));
    }
    let _reserved = match budget.reserve(length) {
        Ok(reserved) => reserved,
        Err(over) => return Contents::Unreadable(over.to_string()),
    };
    let data = match files.read(path, 0, length as usize) {
        Ok(data) => data,
        Err(error) => return Contents::Unreadable(format!("cannot be read: {error}")),
    };
    let found = match AppleImage::all(&data) {
        Ok(found) => found,
        Err(error) => return Contents::Known(format!("{error}")),
    };
    let kind =
        if data.starts_with(&[0x02, 0xff, 0x01, 0xff]) { SourceKind::Symbols } else { SourceKind::SymbolsArchive };
    let with_symbols: Vec<Image> = found
        .iter()
        .filter(|image| image.symbols.is_some() && !image.uuid.is_nil())
        .map(|image| Image {
            kind,
            uuid: image.uuid,
            arch: image.arch().unwrap_or("unknown").to_owned(),
            name: image.path.and_then(|path| path.rsplit('/').next()).map(str::to_owned),
            text_address: None,
            // The end of the last function.
            text_size: image.symbols.as_ref().and_then(|symbols| symbols.symbol_ranges().map(|range| range.end).max()),
            range: (0, length),
        })
        .collect();
    match with_symbols.is_empty() {
        true => Contents::Known("it only lists images, without any symbols".to_owned()),
        false => Contents::Images(with_symbols),
    }
}

/// Recognises other files that are common in folders with symbols.
fn other(head: &[u8]) -> Option<&'static str> {
    const OTHERS: [(&[u8], &str); 7] = [
        (b"BCSymbolMap Version:", "a bitcode symbol map, which contains no symbols; pass the dSYM"),
        (b"SYMC", "a SymCache of Sentry; pass the dSYM it was made from"),
        (b"CMYS", "a SymCache of Sentry; pass the dSYM it was made from"),
        (b"\x7fELF", "an ELF file, which no Apple platform uses"),
        (b"PK\x03\x04", "a zip archive; unpack it first"),
        (b"\xfd7zXZ\0", "compressed with xz; unpack it first (xz -d)"),
        (b"BZh", "compressed with bzip2; unpack it first (bzip2 -d)"),
    ];
    OTHERS.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, what)| *what)
}

impl Found {
    /// Opens the symbols in a found file's loaded bytes, and passes them to `ask`.
    ///
    /// # Errors
    /// If the bytes no longer belong to the found file, or cannot be read completely. Answers from before the error must be discarded, since they
    /// may mix two versions of the file.
    pub fn with_symbols(
        &self,
        data: &FileBytes<'_>,
        ask: impl FnOnce(&dyn Symbols) -> Vec<Diagnostic>,
    ) -> io::Result<Vec<Diagnostic>> {
        let notes = match self.kind {
            SourceKind::Dsym | SourceKind::MachO => macho_file::ask(data, self, ask),
            SourceKind::Symbols | SourceKind::SymbolsArchive => with_apple(data, self, ask),
            SourceKind::Breakpad => breakpad::ask(data, self, ask),
        };
        // If a read failed, all other errors follow from that.
        data.check().and(notes)
    }
}

fn with_apple(
    data: &FileBytes<'_>,
    found: &Found,
    ask: impl FnOnce(&dyn Symbols) -> Vec<Diagnostic>,
) -> io::Result<Vec<Diagnostic>> {
    // Parsing needs about as much memory as the file itself.
    let bytes = data.reserve(data.len()).and_then(|()| data.get(0..data.len()));
    let images = AppleImage::all(bytes.unwrap_or_default()).map_err(invalid)?;
    let image = images.iter().find(|image| image.uuid == found.uuid);
    Ok(ask(image.and_then(|image| image.symbols.as_deref()).ok_or_else(gone)?))
}

/// Recognises Mach-O files, without reading them.
#[cfg(not(feature = "symbols"))]
mod macho_file {
    use super::{Contents, Diagnostic, FileBytes, Files, Found, Path, Symbols, io};

    fn not_read() -> String {
        format!("a Mach-O file; to read it, {}", crate::error::add_feature("symbols"))
    }

    /// True for thin files. Fat ones have the same magic number as Java classes.
    pub(super) fn is_macho(head: &[u8]) -> bool {
        let magic = head.first_chunk().map(|magic| u32::from_le_bytes(*magic));
        magic.is_some_and(|magic| matches!(magic, 0xfeed_face | 0xfeed_facf))
    }

    pub(super) fn contents(_: &dyn Files, _: &Path, _: u64) -> Contents {
        Contents::Known(not_read())
    }

    pub(super) fn ask(
        _: &FileBytes<'_>,
        _: &Found,
        _: impl FnOnce(&dyn Symbols) -> Vec<Diagnostic>,
    ) -> io::Result<Vec<Diagnostic>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, not_read()))
    }
}

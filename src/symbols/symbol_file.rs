//! Lists and opens files that may contain symbols. They are recognised by content, never by name.

use std::io;
use std::path::Path;

use super::apple_container::AppleImage;
use super::breakpad;
#[cfg(feature = "symbols")]
use super::dyld;
use super::found::{Contents, Found, Image, SourceKind, gone, invalid, unreadable};
use super::frame::Symbols;
use super::index::line_text;
#[cfg(feature = "symbols")]
use super::macho_file;
use crate::error::Diagnostic;
use crate::files::{FileBytes, Files};
use crate::memory::MemoryBudget;

/// The number of bytes at the start that reveal the kind of a file.
const HEAD: usize = 4096;
/// Larger `.symbols` files are not read; real ones have a few megabytes.
const MAX_APPLE: u64 = 1 << 30;
/// Larger symbol files are not loaded.
const MAX_FILE: u64 = 16 << 30;

/// Lists the contents of a file of `length` bytes, loading only a part of it.
///
/// # Errors
/// Why the file could not be read this time. It may be readable later.
pub(super) fn read(files: &dyn Files, path: &Path, length: u64, budget: &MemoryBudget) -> Result<Contents, String> {
    let head = files.read(path, 0, HEAD).map_err(unreadable)?;
    if macho_file::is_macho(&head) {
        return macho_file::contents(files, path, length);
    }
    if dyld::is_cache(&head) {
        return dyld::contents(files, path, budget);
    }
    if AppleImage::is_start_of_file(&head, length) {
        return apple(files, path, length, budget);
    }
    if breakpad::is_start_of_file(&head) {
        return Ok(breakpad::contents(&head, length));
    }
    Ok(other(&head).map(Contents::note).unwrap_or_default())
}

fn apple(files: &dyn Files, path: &Path, length: u64, budget: &MemoryBudget) -> Result<Contents, String> {
    if length > MAX_APPLE {
        return Ok(Contents::note(format!("larger than {MAX_APPLE} bytes")));
    }
    let _reserved = budget.reserve(length).map_err(|over| over.to_string())?;
    let data = files.read(path, 0, length as usize).map_err(unreadable)?;
    let found = match AppleImage::all(&data) {
        Ok(found) => found,
        Err(error) => return Ok(Contents::note(error.to_string())),
    };
    let kind =
        if data.starts_with(&[0x02, 0xff, 0x01, 0xff]) { SourceKind::Symbols } else { SourceKind::SymbolsArchive };
    let images: Vec<Image> = found
        .iter()
        .filter(|image| image.symbols.is_some() && !image.uuid.is_nil())
        .map(|image| Image {
            kind,
            uuid: image.uuid,
            arch: image.arch().unwrap_or("unknown").to_owned(),
            name: image.path.and_then(|path| path.rsplit('/').next()).map(line_text),
            text_address: None,
            // The end of the last function.
            text_size: image.symbols.as_ref().and_then(|symbols| symbols.symbol_ranges().map(|range| range.end).max()),
            range: (0, length),
        })
        .collect();
    if images.is_empty() {
        return Ok(Contents::note("it only lists images, without any symbols"));
    }
    Ok(Contents { images, ..Contents::default() })
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
    /// Opens the symbols of a found image, and passes them to `ask`. The files are read on demand, and what was read is charged to the budget
    /// until `ask` returns.
    ///
    /// # Errors
    /// If a file no longer contains the image, or cannot be read completely. Answers from before the error must be discarded, since they may mix
    /// two versions of the file. A file that exceeds the budget is an [`io::ErrorKind::OutOfMemory`].
    pub fn with_symbols(
        &self,
        files: &dyn Files,
        budget: &MemoryBudget,
        ask: impl FnOnce(&dyn Symbols) -> Vec<Diagnostic>,
    ) -> io::Result<Vec<Diagnostic>> {
        if self.kind == SourceKind::DyldCache {
            return dyld::ask(files, self, budget, ask);
        }
        let (offset, length) = self.range;
        if length > MAX_FILE {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {MAX_FILE} bytes")));
        }
        let data = files.load(&self.path, offset..offset.saturating_add(length))?.within(budget);
        let notes = match self.kind {
            SourceKind::Symbols | SourceKind::SymbolsArchive => with_apple(&data, self, ask),
            SourceKind::Breakpad => breakpad::ask(&data, self, ask),
            _ => macho_file::ask(&data, self, ask),
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

/// Recognises dyld shared caches, without reading them.
#[cfg(not(feature = "symbols"))]
mod dyld {
    use super::{Contents, Diagnostic, Files, Found, MemoryBudget, Path, Symbols, io, macho_file};

    pub(super) fn is_cache(head: &[u8]) -> bool {
        head.starts_with(b"dyld_v1")
    }

    pub(super) fn contents(_: &dyn Files, _: &Path, _: &MemoryBudget) -> Result<Contents, String> {
        Ok(Contents::note(macho_file::not_read("a dyld shared cache")))
    }

    pub(super) fn ask(
        _: &dyn Files,
        _: &Found,
        _: &MemoryBudget,
        _: impl FnOnce(&dyn Symbols) -> Vec<Diagnostic>,
    ) -> io::Result<Vec<Diagnostic>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, macho_file::not_read("a dyld shared cache")))
    }
}

/// Recognises Mach-O files, without reading them.
#[cfg(not(feature = "symbols"))]
mod macho_file {
    use super::{Contents, Diagnostic, FileBytes, Files, Found, Path, Symbols, io};

    pub(super) fn not_read(what: &str) -> String {
        format!("{what}; to read it, {}", crate::error::add_feature("symbols"))
    }

    /// True for thin files. Fat ones have the same magic number as Java classes.
    pub(super) fn is_macho(head: &[u8]) -> bool {
        let magic = head.first_chunk().map(|magic| u32::from_le_bytes(*magic));
        magic.is_some_and(|magic| matches!(magic, 0xfeed_face | 0xfeed_facf))
    }

    pub(super) fn contents(_: &dyn Files, _: &Path, _: u64) -> Result<Contents, String> {
        Ok(Contents::note(not_read("a Mach-O file")))
    }

    pub(super) fn ask(
        _: &FileBytes<'_>,
        _: &Found,
        _: impl FnOnce(&dyn Symbols) -> Vec<Diagnostic>,
    ) -> io::Result<Vec<Diagnostic>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, not_read("a Mach-O file")))
    }
}

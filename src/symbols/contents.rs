//! The contents of a file, told from its bytes: the images whose symbols it has, or the reason why it is of no use.

use std::io;
use std::path::Path;

use super::apple_container::{images, is_apple_symbols};
use super::dwarf::MachoSymbols;
use super::file_bytes::FileBytes;
use super::files::Files;
use super::found::{Found, SourceKind};
use super::frame::{Note, Symbols};
use super::macho::{Kind, MachoError, is_macho, slices};
use crate::memory::MemoryBudget;
use crate::units::Uuid;

/// The contents of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    /// Images with symbols.
    Images(Vec<Image>),
    /// A known kind of file that is not read, or a broken one: a sentence.
    Known(String),
    /// A file that could not be read this time; another time it may.
    Unreadable(String),
    /// Anything else.
    Unknown,
}

/// An image in a file; see [`Found`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) kind: SourceKind,
    pub(super) uuid: Uuid,
    pub(super) arch: String,
    /// Its name, where the file tells it; otherwise the file is named as the image.
    pub(super) name: Option<String>,
    pub(super) text_address: Option<u64>,
    pub(super) text_size: Option<u64>,
    pub(super) range: (u64, u64),
}

/// The number of bytes at the start of a file that tell its kind.
const HEAD: usize = 4096;
/// A `.symbols` file above this is not looked into; real ones have some megabytes.
const MAX_APPLE: u64 = 1 << 30;

/// Looks into a file of `length` bytes, some of which are in memory meanwhile.
pub(super) fn read(files: &dyn Files, path: &Path, length: u64, budget: &MemoryBudget) -> Contents {
    let head = match files.read(path, 0, HEAD) {
        Ok(head) => head,
        Err(error) => return Contents::Unreadable(format!("cannot be read: {error}")),
    };
    if is_macho(&head) {
        return macho(files, path, length);
    }
    if is_apple_symbols(&head, length) {
        return apple(files, path, length, budget);
    }
    other(&head).map_or(Contents::Unknown, |what| Contents::Known(what.to_owned()))
}

fn macho(files: &dyn Files, path: &Path, length: u64) -> Contents {
    let mut read_at = |offset: u64, buffer: &mut [u8]| {
        let bytes = files.read(path, offset, buffer.len())?;
        if bytes.len() < buffer.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.copy_from_slice(&bytes);
        Ok(())
    };
    let found = match slices(length, &mut read_at) {
        Ok(found) => found.found,
        Err(MachoError::Io(error)) => return Contents::Unreadable(format!("cannot be read: {error}")),
        Err(error) => return Contents::Known(format!("a broken Mach-O file: {error}")),
    };
    let images = found.into_iter().filter_map(|slice| {
        Some(Image {
            kind: if slice.kind == Kind::Dsym { SourceKind::Dsym } else { SourceKind::MachO },
            uuid: slice.uuid.filter(|uuid| !uuid.is_nil())?,
            arch: slice.architecture.name().unwrap_or("unknown").to_owned(),
            name: None,
            text_address: Some(slice.text_address),
            text_size: Some(slice.text_size),
            range: (slice.range.start, slice.range.end - slice.range.start),
        })
    });
    let images: Vec<Image> = images.collect();
    if images.is_empty() {
        Contents::Known("a Mach-O file without a UUID".to_owned())
    } else {
        Contents::Images(images)
    }
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
    let found = match images(&data) {
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
            // Its functions tell how far it reaches.
            text_size: image.symbols.as_ref().and_then(|symbols| symbols.symbol_ranges().map(|range| range.end).max()),
            range: (0, length),
        })
        .collect();
    match with_symbols.is_empty() {
        true => Contents::Known("it lists images, and has no symbols of any".to_owned()),
        false => Contents::Images(with_symbols),
    }
}

/// Recognises other files that end up in folders of symbols.
fn other(head: &[u8]) -> Option<&'static str> {
    let is = |magic: &[u8]| head.starts_with(magic);
    if is(b"MODULE ") {
        Some("a Breakpad symbol file; give the dSYM it was made of")
    } else if is(b"BCSymbolMap Version:") {
        Some("a bitcode symbol map, which has no symbols; give the dSYM")
    } else if is(b"SYMC") || is(b"CMYS") {
        Some("a SymCache of Sentry; give the dSYM it was made of")
    } else if is(b"\x7fELF") {
        Some("an ELF file, which is of no Apple platform")
    } else if is(b"PK\x03\x04") {
        Some("a zip archive; unpack it first")
    } else {
        None
    }
}

impl Found {
    /// Opens the symbols of the file in the bytes that were loaded for it, and asks them.
    ///
    /// # Errors
    /// When the bytes are not, or no longer, those of the found file, or cannot be read to the end. Answers given before the error must
    /// not be used: they may come from two files.
    pub fn with_symbols(
        &self,
        data: &FileBytes<'_>,
        ask: impl FnOnce(&dyn Symbols) -> Vec<Note>,
    ) -> io::Result<Vec<Note>> {
        with_symbols(data, self, ask)
    }
}

/// Opens the symbols of a found file in the bytes that were loaded for it, and asks them.
///
/// # Errors
/// When the bytes are not, or no longer, those of the found file, or cannot be read to the end. Answers given before the error must not be
/// used: they may come from two files.
pub(super) fn with_symbols(
    data: &FileBytes<'_>,
    found: &Found,
    ask: impl FnOnce(&dyn Symbols) -> Vec<Note>,
) -> io::Result<Vec<Note>> {
    let notes = match found.kind {
        SourceKind::Dsym | SourceKind::MachO => with_macho(data, found, ask),
        SourceKind::Symbols | SourceKind::SymbolsArchive => with_apple(data, found, ask),
    };
    // What could not be read is the reason for everything else that was wrong.
    data.check().and(notes)
}

fn with_macho(
    data: &FileBytes<'_>,
    found: &Found,
    ask: impl FnOnce(&dyn Symbols) -> Vec<Note>,
) -> io::Result<Vec<Note>> {
    let mut read_at = |offset: u64, buffer: &mut [u8]| {
        let bytes = data.get(offset..offset.saturating_add(buffer.len() as u64));
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    };
    let slices = slices(data.len(), &mut read_at).map_err(invalid)?;
    let slice = slices.found.iter().find(|slice| slice.uuid == Some(found.uuid)).ok_or_else(gone)?;
    Ok(ask(&MachoSymbols::open(data, slice).map_err(invalid)?))
}

fn with_apple(
    data: &FileBytes<'_>,
    found: &Found,
    ask: impl FnOnce(&dyn Symbols) -> Vec<Note>,
) -> io::Result<Vec<Note>> {
    // What is made of it takes about as much again.
    let bytes = data.reserve(data.len()).and_then(|()| data.get(0..data.len()));
    let images = images(bytes.unwrap_or_default()).map_err(invalid)?;
    let image = images.iter().find(|image| image.uuid == found.uuid);
    Ok(ask(image.and_then(|image| image.symbols.as_deref()).ok_or_else(gone)?))
}

fn invalid(what: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

fn gone() -> io::Error {
    invalid("the file changed: its UUID is not there any more")
}

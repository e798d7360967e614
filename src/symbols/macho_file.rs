//! Reads Mach-O symbol files: lists their images, and queries them.

use std::io;
use std::path::Path;

use super::found::{Contents, Found, Image, SourceKind, gone, unreadable};
use super::frame::Symbols;
use super::layout::Layout;
pub(super) use super::macho::is_macho;
use super::macho::{Slice, slices};
use crate::error::Diagnostic;
use crate::files::{FileBytes, Files};

/// Lists the images of a Mach-O file of `length` bytes.
pub(super) fn contents(files: &dyn Files, path: &Path, length: u64) -> Result<Contents, String> {
    let found = match slices(length, &mut read_at(files, path)) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Ok(Contents::note(format!("a broken Mach-O file: {error}")));
        }
        Err(error) => return Err(unreadable(error)),
    };
    let images = found.into_iter().filter_map(|slice| {
        let kind = if slice.is_dsym { SourceKind::Dsym } else { SourceKind::MachO };
        let range = (slice.range.start, slice.range.end - slice.range.start);
        image(&slice, kind, None, range)
    });
    let images: Vec<Image> = images.collect();
    if images.is_empty() {
        return Ok(Contents::note("a Mach-O file without a UUID"));
    }
    Ok(Contents { images, ..Contents::default() })
}

/// Returns the image of a slice, if it has a UUID.
pub(super) fn image(slice: &Slice, kind: SourceKind, name: Option<String>, range: (u64, u64)) -> Option<Image> {
    Some(Image {
        kind,
        uuid: slice.uuid.filter(|uuid| !uuid.is_nil())?,
        arch: slice.architecture.name().unwrap_or("unknown").to_owned(),
        name,
        text_address: Some(slice.text_address),
        text_size: Some(slice.text_size),
        range,
    })
}

/// Returns a function that fills a buffer from an offset of a file, without keeping the file open or its bytes in memory.
pub(super) fn read_at(files: &dyn Files, path: &Path) -> impl FnMut(u64, &mut [u8]) -> io::Result<()> {
    |offset, buffer| {
        let bytes = files.read(path, offset, buffer.len())?;
        if bytes.len() < buffer.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.copy_from_slice(&bytes);
        Ok(())
    }
}

/// Opens the slice of a found file, and queries it.
pub(super) fn ask(
    data: &FileBytes<'_>,
    found: &Found,
    ask: impl FnOnce(&dyn Symbols) -> Vec<Diagnostic>,
) -> io::Result<Vec<Diagnostic>> {
    let mut read_at = |offset: u64, buffer: &mut [u8]| {
        let bytes = data.get(offset..offset.saturating_add(buffer.len() as u64));
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    };
    let slices = slices(data.len(), &mut read_at)?;
    let slice = slices.iter().find(|slice| slice.uuid == Some(found.uuid)).ok_or_else(gone)?;
    Ok(ask(&Layout::read(data, slice)?))
}

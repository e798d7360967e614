//! Reads Mach-O symbol files: lists their images, and queries them.

use std::io;
use std::path::Path;

use super::found::{Contents, Found, Image, SourceKind, gone};
use super::frame::Symbols;
use super::layout::Layout;
pub(super) use super::macho::is_macho;
use super::macho::slices;
use crate::error::Diagnostic;
use crate::files::{FileBytes, Files};

/// Lists the images of a Mach-O file of `length` bytes.
pub(super) fn contents(files: &dyn Files, path: &Path, length: u64) -> Contents {
    let mut read_at = |offset: u64, buffer: &mut [u8]| {
        let bytes = files.read(path, offset, buffer.len())?;
        if bytes.len() < buffer.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.copy_from_slice(&bytes);
        Ok(())
    };
    let found = match slices(length, &mut read_at) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Contents::Known(format!("a broken Mach-O file: {error}"));
        }
        Err(error) => return Contents::Unreadable(format!("cannot be read: {error}")),
    };
    let images = found.into_iter().filter_map(|slice| {
        Some(Image {
            kind: if slice.is_dsym { SourceKind::Dsym } else { SourceKind::MachO },
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

//! Lists the contents of a zip from its central directory.

use std::path::Path;

use zip::{CompressionMethod, ZipArchive};

use super::file_range::FileRange;
use super::folder_tree::{ArchiveIndex, ArchiveLimits, Budget, Item, Place, Zipped, malformed};
use crate::error::Error;
use crate::files::Files;

/// True if a file starts like a zip, including an empty one.
pub(super) fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// Lists a zip of `length` bytes.
pub(super) fn read(files: &dyn Files, path: &Path, length: u64, limits: &ArchiveLimits) -> Result<ArchiveIndex, Error> {
    let broken = |error: zip::result::ZipError| {
        let advice = "it is incomplete, or not a zip; copy or download it again";
        malformed(path, format!("the zip archive is broken or truncated ({error}): {advice}"))
    };
    let archive = ZipArchive::new(FileRange::new(files, path, 0, length)).map_err(broken)?;
    let metadata = archive.metadata();
    if metadata.has_duplicate_names() {
        return Err(malformed(path, "the zip archive has two entries with the same name"));
    }
    let mut budget = Budget::new(path, limits);
    for index in 0..metadata.len() {
        let entry = metadata.entry(index).map_err(broken)?;
        let name = entry.name().map_err(broken)?;
        let position = entry.central_header_start();
        if entry.is_dir() {
            budget.add(&name, None, position)?;
            continue;
        }
        let place = if entry.is_symlink() {
            Place::Refused("it is a link, and links in archives are not followed")
        } else if entry.encrypted() {
            Place::Refused("it is encrypted")
        } else {
            place(entry.compression(), entry.header_start(), entry.compressed_size(), entry.crc32())
        };
        budget.add(&name, Some(Item { length: entry.size(), position, place }), position)?;
    }
    Ok(budget.finish())
}

fn place(method: CompressionMethod, header: u64, packed: u64, crc: u32) -> Place {
    let is_deflated = method == CompressionMethod::Deflated;
    if !is_deflated && method != CompressionMethod::Stored {
        return Place::Refused("it is compressed in a way that is not read; pack it again with `zip`");
    }
    Place::Zipped(Zipped { header, packed, is_deflated, crc })
}

//! Lists the contents of a tar in one pass over its headers.

use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use tar::EntryType;

use super::super::file::Inflated;
use super::file_range::FileRange;
use super::folder_tree::{ArchiveIndex, ArchiveLimits, Budget, Item, Place, malformed};
use crate::error::Error;
use crate::files::Files;

#[cfg(feature = "compression")]
use super::super::file::over_budget;

/// The length of a header.
pub(super) const BLOCK: usize = 512;

/// How many bytes after the last entry must be zeros. Archives are padded with less.
const PADDING: u64 = 64 << 10;

/// The position of the checksum in a header: six octal digits, a NUL and a space.
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// True if a file starts with a tar header of any dialect. Only the checksum is tested.
pub(super) fn is_tar(head: &[u8]) -> bool {
    let Some(header) = head.get(..BLOCK).filter(|header| header[0] != 0) else { return false };
    let digits = header[CHECKSUM].trim_ascii_start();
    let digits = digits.iter().take_while(|byte| (b'0'..=b'7').contains(byte));
    let told = digits.fold(0, |sum, digit| sum * 8 + u32::from(digit - b'0'));
    let byte = |(index, &byte)| if CHECKSUM.contains(&index) { u32::from(b' ') } else { u32::from(byte) };
    header.iter().enumerate().map(byte).sum::<u32>() == told
}

/// Lists a tar file of `length` bytes.
pub(super) fn read(files: &dyn Files, path: &Path, length: u64, limits: &ArchiveLimits) -> Result<ArchiveIndex, Error> {
    index(FileRange::new(files, path, 0, length), length, path, limits)
}

/// Lists a tar in memory.
pub(super) fn read_memory(memory: &[u8], path: &Path, limits: &ArchiveLimits) -> Result<ArchiveIndex, Error> {
    index(Cursor::new(memory), memory.len() as u64, path, limits)
}

fn index(source: impl Read + Seek, length: u64, path: &Path, limits: &ArchiveLimits) -> Result<ArchiveIndex, Error> {
    let broken = |error: std::io::Error| malformed(path, format!("the tar archive is broken: {error}"));
    let mut archive = tar::Archive::new(source);
    let (mut budget, mut end) = (Budget::new(path, limits), Some(0));
    for entry in archive.entries_with_seek().map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let (kind, position, start) =
            (entry.header().entry_type(), entry.raw_header_position(), entry.raw_file_position());
        let stop = start.saturating_add(entry.size()).div_ceil(BLOCK as u64).saturating_mul(BLOCK as u64);
        // A sparse file is stored in fewer bytes than it has.
        end = (!kind.is_gnu_sparse()).then_some(stop);
        if kind.is_pax_global_extensions() {
            continue;
        }
        let name = entry.path_bytes();
        let name = std::str::from_utf8(&name)
            .map_err(|_| malformed(path, format!("the name of the entry at byte {position} is not UTF-8")))?;
        if kind.is_dir() {
            budget.add(name, None, position)?;
            continue;
        }
        let item = Item { length: entry.size(), position, place: place(kind, start) };
        let end = start.saturating_add(item.length);
        if matches!(item.place, Place::Range(_)) && end > length {
            let what =
                format!("the tar archive is truncated: it has {length} bytes, and {name:?} would end at byte {end}");
            return Err(malformed(path, what));
        }
        budget.add(name, Some(item), position)?;
    }
    if let Some(end) = end {
        check_end(archive.into_inner(), end, path)?;
    }
    Ok(budget.finish())
}

/// Fails unless zeros follow the last entry. Otherwise, more entries were cut off or are unreadable.
fn check_end(mut source: impl Read + Seek, end: u64, path: &Path) -> Result<(), Error> {
    let mut after = Vec::new();
    let read = source.seek(SeekFrom::Start(end)).and_then(|_| source.take(PADDING).read_to_end(&mut after));
    read.map_err(|error| malformed(path, format!("the end of the tar archive cannot be read: {error}")))?;
    if after.is_empty() {
        let what = format!("the tar archive is truncated: no end follows its last entry, at byte {end}");
        return Err(malformed(path, what));
    }
    match after.iter().position(|&byte| byte != 0) {
        None => Ok(()),
        Some(first) => {
            let what = format!(
                "the tar archive has data after its end, at byte {}: it is broken, or several archives in one file",
                end + first as u64
            );
            Err(malformed(path, what))
        }
    }
}

fn place(kind: EntryType, start: u64) -> Place {
    match kind {
        EntryType::Regular | EntryType::Continuous => Place::Range(start),
        EntryType::Symlink | EntryType::Link => Place::Refused("it is a link, and links in archives are not followed"),
        EntryType::GNUSparse => Place::Refused("it is packed as a sparse file; pack it again without --sparse"),
        _ => Place::Refused("it is not a regular file"),
    }
}

/// Decompresses a compressed tar; `None` for any other file, after decompressing at most one block.
#[cfg(feature = "compression")]
pub(super) fn inflate(
    files: &dyn Files,
    path: &Path,
    length: u64,
    head: &[u8],
    limits: &ArchiveLimits,
) -> Result<Option<Inflated>, Error> {
    let is_compressed = head.starts_with(&[0x1f, 0x8b]) || head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    if !is_compressed {
        return Ok(None);
    }
    // The reader for compressed exports will report this error.
    let Ok(source) = crate::decompress(FileRange::new(files, path, 0, length), &limits.memory) else { return Ok(None) };
    let mut source = source.take(limits.memory_bytes.saturating_add(1));
    let mut bytes = Vec::new();
    if source.by_ref().take(BLOCK as u64).read_to_end(&mut bytes).is_err() || !is_tar(&bytes) {
        return Ok(None);
    }
    let broken = |error| malformed(path, format!("the archive cannot be decompressed: {error}"));
    let mut reserved = limits.memory.nothing();
    loop {
        // Grow by 1.5×, a compromise between unused capacity and copying.
        let more = (bytes.len() / 2).max(1 << 20);
        let room = (bytes.len() + more) as u64;
        reserved.resize(room).map_err(|over| over_budget(path, over))?;
        bytes.reserve_exact(more);
        let read = source.by_ref().take(more as u64).read_to_end(&mut bytes).map_err(broken)?;
        if bytes.len() as u64 > limits.memory_bytes {
            let what =
                format!("the archive is larger than {} bytes, decompressed; unpack it first", limits.memory_bytes);
            return Err(super::folder_tree::limit(path, what));
        }
        if read < more {
            bytes.shrink_to_fit();
            reserved.resize(bytes.len() as u64).map_err(|over| over_budget(path, over))?;
            return Ok(Some(Inflated::new(bytes, reserved)));
        }
    }
}

/// Without the feature `compression`, no compressed archive is recognised.
#[cfg(not(feature = "compression"))]
pub(super) fn inflate(_: &dyn Files, _: &Path, _: u64, _: &[u8], _: &ArchiveLimits) -> Result<Option<Inflated>, Error> {
    Ok(None)
}

//! The header of a file of a cache, little endian:
//!
//! | offset | field | |
//! |---|---|---|
//! | 0x00 | `dyld_v1`, spaces, architecture | 16 bytes |
//! | 0x10 | offset and count of the mappings | u32, u32; the header ends where the mappings begin |
//! | 0x18 | offset and count of the images | u32, u32; moved to 0x1c0 in macOS 13 and iOS 16 |
//! | 0x48 | offset and size of the local symbols | u64, u64 |
//! | 0x58 | UUID of the file | |
//! | 0x188 | offset and count of the subcaches | u32, u32 |
//! | 0x190 | UUID of the file with the local symbols | zero without such a file |
//! | 0x1c0 | offset and count of the images | u32, u32 |
//!
//! Each version of the format appends fields, so a field exists if the header is long enough. Absent fields read as zero.

use std::ops::Range;

use crate::files::FileBytes;
use crate::symbols::apple_bytes::{sixteen_at, u32_at, u64_at};
use crate::units::Uuid;

/// The longest header that is read. Headers of 2025 have about 560 bytes.
const MAX_HEADER: u64 = 4096;
/// The maximum number of mappings. dyld itself rejects more than 20.
const MAX_MAPPINGS: u64 = 64;
/// The maximum number of subcaches. Caches of 2025 have about 80.
const MAX_SUBCACHES: u64 = 512;

/// True if a file with these first bytes is a part of a cache.
pub(in crate::symbols) fn is_cache(head: &[u8]) -> bool {
    head.starts_with(b"dyld_v1")
}

/// The header of a file of a cache.
#[derive(Debug)]
pub(super) struct Header {
    bytes: Vec<u8>,
    mappings: Vec<Mapping>,
}

/// A range of unslid addresses, and its position in the file.
#[derive(Clone, Copy, Debug)]
struct Mapping {
    address: u64,
    size: u64,
    offset: u64,
}

/// A subcache, as the main file describes it.
#[derive(Debug)]
pub(super) struct Subcache {
    pub(super) uuid: Uuid,
    /// The distance between the first addresses of the main file and of this file.
    pub(super) distance: u64,
    /// What its file name appends to the name of the main file.
    pub(super) suffix: String,
}

/// An entry of the image list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedImage {
    /// The unslid address of its Mach-O header.
    pub(super) address: u64,
    /// The offset of its path in the main file.
    pub(super) path: u64,
}

impl Header {
    /// Reads the header and the mappings.
    ///
    /// # Errors
    /// Why it is not a header.
    pub(super) fn read(file: &FileBytes<'_>) -> Result<Self, String> {
        let start = file.get(0..file.len().min(0x18)).unwrap_or_default();
        let (size, count) = (u64::from(u32_at(start, 0x10)), u64::from(u32_at(start, 0x14)));
        if !is_cache(start) || !(0x18..=MAX_HEADER).contains(&size) {
            return Err("its header is broken".to_owned());
        }
        if !(1..=MAX_MAPPINGS).contains(&count) {
            return Err(format!("its header has {count} mappings"));
        }
        let too_short = || "its header is truncated".to_owned();
        let bytes = file.get(0..size).ok_or_else(too_short)?.to_vec();
        let mappings = file.get(size..size + 32 * count).ok_or_else(too_short)?.chunks_exact(32);
        let mapping =
            |entry: &[u8]| Mapping { address: u64_at(entry, 0), size: u64_at(entry, 8), offset: u64_at(entry, 16) };
        Ok(Self { bytes, mappings: mappings.map(mapping).collect() })
    }

    /// The UUID of this file; nil in caches from before iOS 7.
    pub(super) fn uuid(&self) -> Uuid {
        self.uuid_at(0x58)
    }

    /// The UUID of the file with the local symbols; nil without such a file.
    pub(super) fn symbols_uuid(&self) -> Uuid {
        self.uuid_at(0x190)
    }

    fn uuid_at(&self, at: usize) -> Uuid {
        let is_there = self.bytes.len() >= at + 16;
        Uuid::from_bytes(if is_there { sixteen_at(&self.bytes, at) } else { [0; 16] })
    }

    /// The lowest unslid address of this file.
    pub(super) fn base(&self) -> u64 {
        self.mappings[0].address
    }

    /// Returns the position of an unslid address in this file, up to the end of its mapping.
    pub(super) fn position(&self, address: u64) -> Option<Range<u64>> {
        let inside = |mapping: &&Mapping| address.checked_sub(mapping.address).is_some_and(|at| at < mapping.size);
        let mapping = self.mappings.iter().find(inside)?;
        let start = mapping.offset.checked_add(address - mapping.address)?;
        Some(start..mapping.offset.checked_add(mapping.size)?)
    }

    /// The range of the local symbols in this file; empty without them.
    pub(super) fn local_symbols(&self) -> Range<u64> {
        let start = u64_at(&self.bytes, 0x48);
        start..start.saturating_add(u64_at(&self.bytes, 0x50))
    }

    /// True if local symbols are assigned to images by address, in 64 bits, as since the format has a file for them.
    pub(super) fn has_wide_local_symbols(&self) -> bool {
        self.bytes.len() >= 0x190
    }

    /// The position and the count of the image list. Only the main file has one.
    fn images_at(&self) -> (u64, u64) {
        let at = if self.bytes.len() >= 0x1c8 { 0x1c0 } else { 0x18 };
        (u32_at(&self.bytes, at).into(), u32_at(&self.bytes, at + 4).into())
    }

    /// True if this file lists the images, as the main file of a cache does.
    pub(super) fn is_main(&self) -> bool {
        self.images_at().1 > 0
    }

    /// Reads the image list. Returns the first `most` entries, and the count of all.
    pub(super) fn images(&self, file: &FileBytes<'_>, most: u64) -> Option<(Vec<ListedImage>, u64)> {
        let (start, count) = self.images_at();
        let entries = file.get(start..start + 32 * count.min(most))?.chunks_exact(32);
        let listed = |entry: &[u8]| ListedImage { address: u64_at(entry, 0), path: u32_at(entry, 24).into() };
        Some((entries.map(listed).collect(), count))
    }

    /// Reads the list of subcaches. In macOS 12 and iOS 15, entries have no suffix, and files are numbered from 1.
    pub(super) fn subcaches(&self, file: &FileBytes<'_>) -> Option<Vec<Subcache>> {
        let has_suffix = self.bytes.len() > 0x1c8;
        let size = if has_suffix { 56 } else { 24 };
        let at = |at| if self.bytes.len() >= 0x190 { u64::from(u32_at(&self.bytes, at)) } else { 0 };
        let (start, count) = (at(0x188), at(0x18c));
        if count > MAX_SUBCACHES {
            return None;
        }
        let entries = file.get(start..start + size * count)?.chunks_exact(size as usize);
        let subcache = |(index, entry): (usize, &[u8])| {
            let suffix = match entry.get(24..) {
                Some(suffix) if has_suffix => suffix_text(suffix)?,
                _ => format!(".{}", index + 1),
            };
            Some(Subcache { uuid: Uuid::from_bytes(sixteen_at(entry, 0)), distance: u64_at(entry, 16), suffix })
        };
        entries.enumerate().map(subcache).collect()
    }
}

/// Reads a suffix, which must not lead out of the folder.
fn suffix_text(bytes: &[u8]) -> Option<String> {
    let text = bytes.split(|&byte| byte == 0).next()?;
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (text.starts_with(b".") && text.iter().all(is_plain)).then(|| String::from_utf8_lossy(text).into_owned())
}

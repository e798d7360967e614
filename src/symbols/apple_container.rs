//! The container of records (`.symbols`), and the parts that related files share.
//!
//! `xcrun symbols -symbolsPackageDir` writes one container for each UUID. In `.trace` bundles, Instruments stores containers without symbols
//! ("shallow signatures") and bare records (`.symbolsarchive`). Little endian:
//!
//! | part | size | fields |
//! |---|---|---|
//! | header | 24 | u32 `0xFF01FF02`, u32 version 1, u32 pid, u32 0, u32 flags, u32 count of images |
//! | image | 56 | UUID, u32 time, u32 flags, u64 loaded at, u64 unloaded at, u32 cputype, u32 cpusubtype, u32 count of segments, u32 length of the path |
//! | … its path | | padded with NULs |
//! | … its segments | 32 each | name in 16 bytes, u64 address, u64 size: as linked |
//! | chunk | 16 | u32 `0xA1B22B1A`, u32 kind 3, 5 or 7, u32 `0xA1B22B1A`, u32 length with these 16 bytes |
//! | … its record | | see `apple_record` |
//! | trailer | 32 … | u32 `0x00C0FFEE`, u32 version 3 or 4, UUID of the shared cache, u64 base address of the cache … |
//!
//! Images come first, then one chunk for each image with symbols. A chunk belongs to the image with its UUID.
//! Symbol files need neither segments nor trailer; `apple_signature` reads them.

use super::apple_bytes::{Broken, Cutter, broken, sixteen_at, u32_at, u64_at};
use super::apple_lookup::AppleSymbols;
use super::apple_record::{Record, SHORT_HEADER};
use super::apple_segments::LinkedSegment;
use super::architecture::Architecture;
use crate::units::Uuid;

const CONTAINER: u32 = 0xff01_ff02;
const CHUNK: u32 = 0xa1b2_2b1a;
const TRAILER: u32 = 0x00c0_ffee;

/// The known kinds of chunks that contain a record.
const CHUNK_KINDS: [u32; 3] = [3, 5, 7];

/// An image in a file, with or without symbols.
#[derive(Clone, Debug)]
pub struct AppleImage<'a> {
    /// The UUID of the image.
    pub uuid: Uuid,
    /// The Mach-O CPU type of its architecture.
    pub cputype: u32,
    /// The Mach-O CPU subtype, with capabilities in the upper byte.
    pub cpusubtype: u32,
    /// The path of the image, or of the dSYM that the file was made from; `None` for an archive, which contains no path.
    pub path: Option<&'a str>,
    /// The symbols of the image; `None` if the file only lists the image ("no symbols in it").
    pub symbols: Option<Box<AppleSymbols<'a>>>,
}

impl<'a> AppleImage<'a> {
    /// Reads the images of a `.symbols` or `.symbolsarchive` file, which is recognised by its content. Strings are borrowed. Allocates at most a
    /// few times the size of the file.
    ///
    /// # Errors
    /// If the file has neither format, or violates its format.
    pub fn all(file: &'a [u8]) -> Result<Vec<Self>, Broken> {
        if file.len() >= 4 && u32_at(file, 0) == CONTAINER {
            container(file)
        } else {
            archive(file).map(|one| vec![one])
        }
    }

    /// True if bytes start like such a file. For a `.symbolsarchive`, `size` must be the size of the file.
    pub fn is_start_of_file(start: &[u8], size: u64) -> bool {
        let Some(start) = start.first_chunk::<8>() else { return false };
        u32_at(start, 0) == CONTAINER || (matches!(u32_at(start, 0), 1 | 7) && u64::from(u32_at(start, 4)) == size)
    }

    /// The name of its architecture as Apple spells it, such as `arm64e`; `None` if this crate does not know it.
    pub fn arch(&self) -> Option<&'static str> {
        Architecture::new(self.cputype, self.cpusubtype).name()
    }
}

/// Reads a bare record.
fn archive(file: &[u8]) -> Result<AppleImage<'_>, Broken> {
    if file.len() >= SHORT_HEADER && matches!(u32_at(file, 0), 1 | 7) && u32_at(file, 4) as usize != file.len() {
        let rule = format_args!("its size {:#x} is not the size of the file, {:#x}", u32_at(file, 4), file.len());
        return Err(broken(0, "record", rule));
    }
    let record = Record::read(file, 0, file.len())?;
    Ok(AppleImage {
        uuid: record.uuid,
        cputype: record.cputype,
        cpusubtype: record.cpusubtype,
        path: record.path,
        symbols: Some(Box::new(AppleSymbols::new(record, &[])?)),
    })
}

/// An image in the list of a container.
#[derive(Clone, Debug)]
pub(crate) struct ListedImage<'a> {
    pub(crate) image: AppleImage<'a>,
    /// The segments as linked or, in a signature, as loaded in memory.
    pub(crate) segments: Vec<LinkedSegment>,
}

fn container(file: &[u8]) -> Result<Vec<AppleImage<'_>>, Broken> {
    let mut cutter = Cutter::new(file, 0, file.len());
    let mut listed = listed_images(&mut cutter)?;
    let mut by_uuid: Vec<(Uuid, usize)> =
        listed.iter().enumerate().map(|(index, one)| (one.image.uuid, index)).collect();
    by_uuid.sort_unstable();
    while let Some(Mark::Chunk(at)) = mark(&mut cutter)? {
        attach(chunk(&mut cutter, file, at)?, &mut listed, &by_uuid)?;
    }
    Ok(listed.into_iter().map(|listed| listed.image).collect())
}

/// Reads the header and the images.
pub(super) fn listed_images<'a>(cutter: &mut Cutter<'a>) -> Result<Vec<ListedImage<'a>>, Broken> {
    let header = cutter.bytes(24, "header of a container")?;
    if u32_at(header, 0) != CONTAINER {
        let rule = format_args!("it begins with {:#010x} instead of {CONTAINER:#010x}", u32_at(header, 0));
        return Err(broken(0, "container", rule));
    }
    if u32_at(header, 4) != 1 {
        return Err(broken(4, "container", format_args!("its version is {}; expected 1", u32_at(header, 4))));
    }
    let count = u32_at(header, 20);
    if u64::from(count) * 56 > cutter.left() as u64 {
        let rule = format_args!("{count} images of 0x38 bytes are more than the {:#x} bytes left", cutter.left());
        return Err(broken(20, "container", rule));
    }
    (0..count).map(|index| image(cutter, index)).collect()
}

fn image<'a>(cutter: &mut Cutter<'a>, index: u32) -> Result<ListedImage<'a>, Broken> {
    let what = format_args!("image {index}");
    let fixed = cutter.bytes(56, what)?;
    let at = cutter.at;
    let path = cutter.bytes(u64::from(u32_at(fixed, 52)), format_args!("path of {what}"))?;
    let end = path.iter().position(|&byte| byte == 0).unwrap_or(path.len());
    let path = std::str::from_utf8(&path[..end])
        .map_err(|error| broken(at + error.valid_up_to(), format_args!("path of {what}"), "it is not UTF-8"))?;
    let segments = cutter.table::<32>(u32_at(fixed, 48), "segments of an image")?;
    let linked = |segment: &[u8; 32]| LinkedSegment {
        name: sixteen_at(segment, 0),
        address: u64_at(segment, 16),
        size: u64_at(segment, 24),
    };
    let image = AppleImage {
        uuid: Uuid::from_bytes(sixteen_at(fixed, 0)),
        cputype: u32_at(fixed, 40),
        cpusubtype: u32_at(fixed, 44),
        path: Some(path).filter(|path| !path.is_empty()),
        symbols: None,
    };
    let segments = segments.entries.iter().map(linked).collect();
    Ok(ListedImage { image, segments })
}

/// A record, and the offset of its chunk.
pub(super) struct Chunk<'a> {
    at: usize,
    record: Record<'a>,
}

/// A part after the images, whose magic number was read.
pub(super) enum Mark {
    /// A chunk that starts at this offset.
    Chunk(usize),
    /// The trailer; no chunk follows it.
    Trailer,
}

/// Reads the magic number of the next part; `None` at the end.
pub(super) fn mark(cutter: &mut Cutter<'_>) -> Result<Option<Mark>, Broken> {
    if cutter.left() == 0 {
        return Ok(None);
    }
    let at = cutter.at;
    match u32_at(cutter.bytes(4, "chunk")?, 0) {
        CHUNK => Ok(Some(Mark::Chunk(at))),
        TRAILER => Ok(Some(Mark::Trailer)),
        magic => {
            let rule = format_args!("it begins with {magic:#010x} instead of {CHUNK:#x} or {TRAILER:#010x}");
            Err(broken(at, "chunk", rule))
        }
    }
}

/// Reads the rest of the chunk at `at`, after its magic number.
pub(super) fn chunk<'a>(cutter: &mut Cutter<'a>, file: &'a [u8], at: usize) -> Result<Chunk<'a>, Broken> {
    let rest = cutter.bytes(12, "chunk")?;
    let (kind, again, length) = (u32_at(rest, 0), u32_at(rest, 4), u32_at(rest, 8));
    if !CHUNK_KINDS.contains(&kind) || again != CHUNK {
        let rule =
            format_args!("its kind is {kind}, followed by {again:#x}; expected 3, 5 or 7, followed by {CHUNK:#x}");
        return Err(broken(at, "chunk", rule));
    }
    let Some(room) = length.checked_sub(16) else {
        return Err(broken(at, "chunk", format_args!("its length {length:#x} is less than its 0x10 bytes of header")));
    };
    let record_at = cutter.at;
    cutter.bytes(u64::from(room), format_args!("chunk of length {length:#x}"))?;
    Ok(Chunk { at, record: Record::read(file, record_at, room as usize)? })
}

/// Adds a record to the first image with its UUID. The same UUID means the same binary, so one is enough.
fn attach<'a>(chunk: Chunk<'a>, listed: &mut [ListedImage<'a>], by_uuid: &[(Uuid, usize)]) -> Result<(), Broken> {
    let Chunk { at, record } = chunk;
    let first = by_uuid.partition_point(|&(uuid, _)| uuid < record.uuid);
    let Some(&(_, index)) = by_uuid.get(first).filter(|&&(uuid, _)| uuid == record.uuid) else {
        return Err(broken(at, "chunk", format_args!("no image has its UUID {}", record.uuid)));
    };
    let ListedImage { image, segments } = &mut listed[index];
    let symbols = Box::new(AppleSymbols::new(record, segments)?);
    image.symbols.get_or_insert(symbols);
    Ok(())
}

//! Lists the slices of a Mach-O file, one for each architecture, from its header and load commands.
//!
//! | first bytes | what it is |
//! |---|---|
//! | `CF FA ED FE`, `CE FA ED FE` | a thin file, 64 or 32 bits, little endian: all that Apple has made since 2006 |
//! | `FE ED FA CF`, `FE ED FA CE` | the same in big endian: PowerPC; listed, but its symbols are not read |
//! | `CA FE BA BE` | a fat file: a count, then offset and size of each slice, big endian. Java classes have a version ≥ 45 instead of the count |
//! | `CA FE BA BF` | a fat file with 64-bit offsets |
//!
//! Only the UUID of a slice (`LC_UUID`) identifies it. A binary and its dSYM have the same UUID, and two builds never do. The architecture is not
//! used, since its spelling varies (system images of an arm64 app have `arm64e`).
//!
//! Only headers and load commands are read: a few KB per slice, even of huge files.

use std::io;
use std::ops::Range;

use object::Endianness;
use object::macho::{self, MachHeader32, MachHeader64};
use object::read::macho::{MachHeader, MachOFatFile32, MachOFatFile64, Segment};

use super::architecture::Architecture;
use super::found::invalid;
use crate::units::Uuid;

/// The maximum number of slices in a fat file. A larger count is the version of a Java class file.
const MAX_SLICES: u32 = 42;
/// The maximum size of load commands. The largest apps have about 100 KB.
const MAX_COMMAND_BYTES: u64 = 8 << 20;
/// The number of bytes first read of a slice: enough for the load commands of nearly all dSYMs.
const FIRST_READ: u64 = 4096;

/// True if the first bytes of a file (8 are enough) are those of a thin or fat Mach-O file.
pub(super) fn is_macho(start: &[u8]) -> bool {
    match start.first_chunk::<4>().map(|magic| u32::from_be_bytes(*magic)) {
        Some(macho::MH_MAGIC | macho::MH_CIGAM | macho::MH_MAGIC_64 | macho::MH_CIGAM_64) => true,
        Some(macho::FAT_MAGIC | macho::FAT_MAGIC_64) => slice_count(start).is_some(),
        _ => false,
    }
}

/// Returns the number of slices in a fat header.
fn slice_count(start: &[u8]) -> Option<u32> {
    let count = u32::from_be_bytes(*start.get(4..)?.first_chunk()?);
    (1..=MAX_SLICES).contains(&count).then_some(count)
}

/// One architecture of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// `LC_UUID`, which identifies the symbols. Object files have no UUID.
    pub uuid: Option<Uuid>,
    pub(super) architecture: Architecture,
    /// True for the companion file with the DWARF of a binary (`MH_DSYM`).
    pub(super) is_dsym: bool,
    /// The byte range in the file.
    pub range: Range<u64>,
    /// The address of `__TEXT` (the Mach-O header) before any slide: `0x100000000` in most executables, 0 in libraries and without a `__TEXT`. A dSYM
    /// may have a different address than its binary.
    pub text_address: u64,
    /// The size of `__TEXT` in memory.
    pub text_size: u64,
    /// The segment with the symbol table, if there is one.
    pub(super) linkedit: Option<Linkedit>,
}

/// The `__LINKEDIT` segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Linkedit {
    pub(super) address: u64,
    /// Its offset in the file.
    pub(super) offset: u64,
}

impl Slice {
    /// The name of the architecture, such as `arm64e`, or its numbers if it is unknown.
    pub fn architecture(&self) -> String {
        self.architecture.to_string()
    }

    /// Lists the slices of a Mach-O file in memory, in file order. Unreadable slices of a fat file are skipped.
    ///
    /// # Errors
    /// [`InvalidData`](io::ErrorKind::InvalidData) for other files, including Java classes, and for a thin file or every slice of a fat file
    /// being broken.
    pub fn all(file: &[u8]) -> io::Result<Vec<Self>> {
        slices(file.len() as u64, &mut |offset, buffer| {
            let start = usize::try_from(offset).ok().and_then(|offset| file.get(offset..)?.get(..buffer.len()));
            buffer.copy_from_slice(start.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        })
    }
}

/// Lists the slices of a file of `length` bytes.
///
/// `read_at(offset, buffer)` fills the buffer from an offset of the file (like `FileExt::read_exact_at`). It is called only for headers and load
/// commands, within `length`: 4 KB of each slice, and the rest of its load commands if they are longer, up to 8 MB.
///
/// # Errors
///
/// [`InvalidData`](io::ErrorKind::InvalidData) for other files, including Java classes, and if a thin file or every slice of a fat file is
/// broken; the errors of `read_at`.
pub(super) fn slices(length: u64, read_at: &mut dyn FnMut(u64, &mut [u8]) -> io::Result<()>) -> io::Result<Vec<Slice>> {
    let mut file = File { length, read_at, buffer: Vec::new() };
    let start = file.read(0, length.min(FIRST_READ))?;
    if !is_macho(start) {
        return Err(invalid("not a Mach-O file"));
    }
    let ranges = match start.first_chunk().map(|magic| u32::from_be_bytes(*magic)) {
        Some(macho::FAT_MAGIC) => fat_ranges(MachOFatFile32::parse(start).map_err(invalid)?.arches()),
        Some(macho::FAT_MAGIC_64) => fat_ranges(MachOFatFile64::parse(start).map_err(invalid)?.arches()),
        _ => return Ok(vec![file.slice(0..length)?]),
    };
    let (mut found, mut first_fault) = (Vec::new(), None);
    for range in ranges {
        match file.slice(range) {
            Ok(slice) => found.push(slice),
            Err(error) if error.kind() != io::ErrorKind::InvalidData => return Err(error),
            Err(error) => drop(first_fault.get_or_insert(error)),
        }
    }
    match first_fault {
        Some(fault) if found.is_empty() => Err(fault),
        _ => Ok(found),
    }
}

fn fat_ranges<Fat: object::read::macho::FatArch>(arches: &[Fat]) -> Vec<Range<u64>> {
    arches
        .iter()
        .map(|arch| {
            let (offset, size) = arch.file_range();
            offset..offset.saturating_add(size)
        })
        .collect()
}

/// A file whose parts are read into one buffer.
struct File<'a> {
    length: u64,
    read_at: &'a mut dyn FnMut(u64, &mut [u8]) -> io::Result<()>,
    buffer: Vec<u8>,
}

impl File<'_> {
    /// Reads bytes at an offset. The caller has checked their range and size.
    fn read(&mut self, offset: u64, length: u64) -> io::Result<&[u8]> {
        let length = usize::try_from(length).map_err(|_| invalid("too large a header"))?;
        self.buffer.clear();
        self.buffer.resize(length, 0);
        (self.read_at)(offset, &mut self.buffer)?;
        Ok(&self.buffer)
    }

    /// Reads the header and the load commands of the slice at `range`.
    fn slice(&mut self, range: Range<u64>) -> io::Result<Slice> {
        if range.end > self.length || range.start >= range.end {
            let text = format!(
                "it should be at bytes {} to {}, but the file has {}; it is truncated",
                range.start, range.end, self.length
            );
            return Err(invalid(text));
        }
        let size = range.end - range.start;
        let start = self.read(range.start, size.min(FIRST_READ))?;
        let needed = match start.first_chunk().map(|magic| u32::from_be_bytes(*magic)) {
            Some(macho::MH_MAGIC_64 | macho::MH_CIGAM_64) => {
                needed::<MachHeader64<Endianness>>(start).map_err(invalid)?
            }
            Some(macho::MH_MAGIC | macho::MH_CIGAM) => needed::<MachHeader32<Endianness>>(start).map_err(invalid)?,
            _ => return Err(invalid("it is not a Mach-O file (a static library?)")),
        };
        if needed > size {
            return Err(invalid("the file ends inside its load commands; it is truncated"));
        }
        if needed > MAX_COMMAND_BYTES {
            return Err(invalid(format_args!("{needed} bytes of load commands are too many")));
        }
        if needed > FIRST_READ {
            self.read(range.start, needed)?;
        }
        if matches!(self.buffer.first(), Some(0xCF)) || self.buffer.get(3) == Some(&0xCF) {
            describe::<MachHeader64<Endianness>>(&self.buffer, range).map_err(invalid)
        } else {
            describe::<MachHeader32<Endianness>>(&self.buffer, range).map_err(invalid)
        }
    }
}

/// Returns the size of the header and the load commands in bytes.
fn needed<Mach: MachHeader<Endian = Endianness>>(start: &[u8]) -> object::Result<u64> {
    let header = Mach::parse(start, 0)?;
    Ok(size_of::<Mach>() as u64 + u64::from(header.sizeofcmds(header.endian()?)))
}

/// Parses a slice from its header and load commands.
fn describe<Mach: MachHeader<Endian = Endianness>>(start: &[u8], range: Range<u64>) -> object::Result<Slice> {
    let header = Mach::parse(start, 0)?;
    let endian = header.endian()?;
    let mut slice = Slice {
        uuid: None,
        architecture: Architecture::new(header.cputype(endian).0, header.cpusubtype(endian).0),
        is_dsym: header.filetype(endian) == macho::MH_DSYM,
        range,
        text_address: 0,
        text_size: 0,
        linkedit: None,
    };
    let mut commands = header.load_commands(endian, start, 0)?;
    while let Some(command) = commands.next()? {
        if let Some(uuid) = command.uuid()? {
            slice.uuid = Some(Uuid::from_bytes(uuid.uuid));
        } else if let Some((segment, _)) = Mach::Segment::from_command(command)? {
            let address = segment.vmaddr(endian).into();
            match segment.name() {
                b"__TEXT" => (slice.text_address, slice.text_size) = (address, segment.vmsize(endian).into()),
                b"__LINKEDIT" => {
                    slice.linkedit = Some(Linkedit { address, offset: segment.fileoff(endian).into() });
                }
                _ => {}
            }
        }
    }
    Ok(slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::testing::{Macho, TEXT, fat};

    #[test]
    fn a_thin_file_is_one_slice() {
        let file = Macho::default().write();
        let slices = Slice::all(&file).unwrap();
        let [slice] = &slices[..] else { panic!("{slices:?}") };
        assert_eq!(slice.uuid.unwrap().to_string(), "00010203-0405-0607-0809-0A0B0C0D0E0F");
        assert_eq!((slice.architecture.to_string().as_str(), slice.is_dsym), ("arm64", true));
        assert_eq!((slice.text_address, slice.text_size), (TEXT, 0x3000));
        assert_eq!(slice.range, 0..file.len() as u64);
    }

    #[test]
    fn a_broken_slice_of_a_fat_file_does_not_hide_the_others() {
        let good = Macho::default().write();
        let file = fat(&[b"!<arch>\n", &good, &good[..100]]);
        for file in [&file[..], &file[..file.len() - 1]] {
            let slices = Slice::all(file).unwrap();
            let [slice] = &slices[..] else { panic!("{slices:?}") };
            assert_eq!(&file[slice.range.start as usize..slice.range.end as usize], good);
        }
        let cut = Slice::all(&fat(&[&good])[..100]).unwrap_err();
        assert!(cut.to_string().contains("it is truncated"), "{cut}");
    }

    #[test]
    fn other_files_are_told_apart() {
        let java = [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52];
        for start in [&java[..], b"\x7FELF\x02\x01\x01\0", b"PK\x03\x04", b"", &[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 0]] {
            assert!(!is_macho(start), "{start:x?}");
            assert_eq!(Slice::all(start).unwrap_err().to_string(), "not a Mach-O file", "{start:x?}");
        }
        let file = Macho::default().write();
        assert!(is_macho(&file[..8]));
        for end in 4..file.len() - 1 {
            // Truncated inside its load commands, a file is an error; truncated after them, it is a slice.
            let _ = Slice::all(&file[..end]);
        }
        assert_eq!(Slice::all(&file[..40]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn only_load_commands_are_read() {
        let mut file = Macho::default().write();
        file.resize(1 << 20, 0);
        let mut read = 0;
        let slices = slices(file.len() as u64, &mut |offset, buffer| {
            read += buffer.len();
            buffer.copy_from_slice(&file[offset as usize..][..buffer.len()]);
            Ok(())
        });
        assert_eq!(slices.unwrap().len(), 1);
        assert!(read <= 8192, "{read}");
    }
}

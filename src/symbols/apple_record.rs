//! A record contains all symbols of one image. A `.symbolsarchive` is a record, and a `.symbols` file contains one in each chunk.
//!
//! Apple does not document this format. Everything is little endian, and the parts follow each other:
//!
//! | part | entry | fields |
//! |---|---|---|
//! | header | 0x58 or 0x60 | below |
//! | segments | 32 | u64 address, u64 size, name in 16 bytes |
//! | sections | 24 | u64 address, u64 size, u64 name; with 32-bit addresses 16: u32 address, u32 size, u32 name, u32 0 |
//! | symbols | 24 | u32 address, u32 size, u32 flags, u32 display name, u32 linker name, i32 first inlined call or -1 |
//! | inlined calls | 36 | a symbol, and the call: u32 file, u32 line, u32 column |
//! | lines | 20 | u32 address, u32 size, u32 file, u32 line, u32 column |
//! | index | | 8 bytes per symbol (version 1), or 4 and the size given in the header (version 7); not needed |
//! | strings | | each terminated by a NUL |
//!
//! | header | | header | |
//! |---|---|---|---|
//! | +00 | version, 1 or 7 | +28, +2c | a path, the version of the binary |
//! | +04 | size of the record | +34 | UUID |
//! | +08, +0c | segments, sections | +44, +48 | cputype, cpusubtype |
//! | +10, +14 | symbols, inlined calls | +54 | size of the strings; 0: up to the end, and the header is short |
//! | +18 | lines | +58 | long header only: size of more index |
//!
//! Names and paths are offsets into the strings; 0 means none. In the oldest form (short header, and a first section whose name is not at 0),
//! offsets are relative to the entry that contains them, or, in the header, to the record. Record addresses differ from linked addresses: see
//! `apple_segments`.

use super::apple_bytes::{Broken, Cutter, Strings, Table, broken, sixteen_at, u32_at, u64_at};
use super::apple_segments::check_segments;
use crate::units::Uuid;

/// The size of the header that every version has.
pub(super) const SHORT_HEADER: usize = 0x58;

/// A record with a valid layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub(super) uuid: Uuid,
    pub(super) cputype: u32,
    pub(super) cpusubtype: u32,
    /// The path of the binary or of its dSYM, if the record contains one.
    pub(super) path: Option<&'a str>,
    pub(super) segments: Table<'a, 32>,
    pub(super) sections: Sections<'a>,
    /// Sorted by address.
    pub(super) symbols: Table<'a, 24>,
    /// A forest; checked by `apple_inlined`.
    pub(super) inlined: Table<'a, 36>,
    /// Sorted by address.
    pub(super) lines: Table<'a, 20>,
    pub(super) strings: Strings<'a>,
}

/// The sections, whose entries have one of two sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sections<'a> {
    bytes: &'a [u8],
    at: usize,
    is_64_bit: bool,
}

/// A section: its addresses and its name, such as `__TEXT __text`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) at: usize,
    pub(super) address: u64,
    pub(super) size: u64,
    /// The offset of the name. Offset 0 is valid: it is the name of the first section.
    pub(super) name: u64,
}

impl<'a> Sections<'a> {
    /// Returns the sections in file order.
    pub(super) fn iter(self) -> impl Iterator<Item = Section> + 'a {
        let size = if self.is_64_bit { 24 } else { 16 };
        self.bytes.chunks_exact(size).enumerate().map(move |(index, entry)| {
            let at = self.at + index * size;
            if self.is_64_bit {
                Section { at, address: u64_at(entry, 0), size: u64_at(entry, 8), name: u64_at(entry, 16) }
            } else {
                let [address, size, name] = [0, 4, 8].map(|field| u64::from(u32_at(entry, field)));
                Section { at, address, size, name }
            }
        })
    }
}

/// The fields that symbols and inlined calls share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The offset of the entry in the file.
    pub(super) at: usize,
    pub(super) address: u64,
    /// Exclusive.
    pub(super) end: u64,
    pub(super) flags: u32,
    pub(super) display_name: u32,
    pub(super) linker_name: u32,
    first_inlined: i32,
}

impl Entry {
    pub(super) fn of<const N: usize>(table: &Table<'_, N>, index: usize) -> Self {
        let entry = &table.entries[index];
        let address = u64::from(u32_at(entry, 0));
        Self {
            at: table.offset(index),
            address,
            end: address + u64::from(u32_at(entry, 4)),
            flags: u32_at(entry, 8),
            display_name: u32_at(entry, 12),
            linker_name: u32_at(entry, 16),
            first_inlined: u32_at(entry, 20).cast_signed(),
        }
    }

    pub(super) fn first_inlined(&self) -> Option<usize> {
        usize::try_from(self.first_inlined).ok()
    }

    pub(super) fn contains(&self, address: u64) -> bool {
        (self.address..self.end).contains(&address)
    }
}

/// A source position: of an inlined call, or of a line of code.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// The offset of the entry that contains the reference to the file's path.
    pub(super) at: usize,
    pub(super) file: u32,
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Place {
    /// Reads the three fields at `field` of entry `index`.
    pub(super) fn of<const N: usize>(table: &Table<'_, N>, index: usize, field: usize) -> Self {
        let entry = &table.entries[index];
        let [file, line, column] = [0, 4, 8].map(|next| u32_at(entry, field + next));
        Self { at: table.offset(index), file, line, column }
    }
}

impl<'a> Record<'a> {
    /// Reads the record at `at`. Its size field defines its end, which must be within `room` bytes.
    ///
    /// # Errors
    /// If the record violates its layout.
    pub(super) fn read(file: &'a [u8], at: usize, room: usize) -> Result<Self, Broken> {
        let mut cutter = Cutter::new(file, at, room);
        let header = cutter.bytes(SHORT_HEADER as u64, "header of a record")?;
        let version = u32_at(header, 0);
        if version != 1 && version != 7 {
            return Err(broken(at, "record", format_args!("its version is {version}; expected 1 or 7")));
        }
        let size = u32_at(header, 4) as usize;
        if size < SHORT_HEADER || !cutter.limit(size - SHORT_HEADER) {
            let rule = format_args!(
                "its size {size:#x} is less than {SHORT_HEADER:#x}, or more than the {room:#x} bytes that are left"
            );
            return Err(broken(at, "record", rule));
        }
        Self::read_tables(header, at, cutter)
    }

    /// Reads the tables after the part of the header that all versions share.
    fn read_tables(header: &'a [u8], at: usize, mut cutter: Cutter<'a>) -> Result<Self, Broken> {
        let strings_size = u32_at(header, 0x54);
        let more_index = if strings_size == 0 { 0 } else { u32_at(cutter.bytes(8, "long header of a record")?, 0) };
        let is_64_bit = is_64_bit(u32_at(header, 0x44));
        let segments = cutter.table(u32_at(header, 0x08), "segments")?;
        let section_count = u64::from(u32_at(header, 0x0c));
        let sections_at = cutter.at;
        let section_size = if is_64_bit { 24 } else { 16 };
        let bytes = cutter.bytes(section_count * section_size, format_args!("{section_count} sections"))?;
        let sections = Sections { bytes, at: sections_at, is_64_bit };
        let symbols = cutter.table(u32_at(header, 0x10), "symbols")?;
        let inlined = cutter.table(u32_at(header, 0x14), "inlined calls")?;
        let lines = cutter.table(u32_at(header, 0x18), "lines")?;
        let index_entry = if u32_at(header, 0) == 1 { 8 } else { 4 };
        cutter.bytes(u64::from(u32_at(header, 0x10)) * index_entry + u64::from(more_index), "index of the symbols")?;
        let is_entry_relative = strings_size == 0 && sections.iter().next().is_some_and(|section| section.name != 0);
        let strings_at = cutter.at;
        let strings_size = if strings_size == 0 { cutter.left() as u64 } else { u64::from(strings_size) };
        let strings = Strings::new(cutter.bytes(strings_size, "string table")?, strings_at, is_entry_relative)?;
        let mut record = Self {
            uuid: Uuid::from_bytes(sixteen_at(header, 0x34)),
            cputype: u32_at(header, 0x44),
            cpusubtype: u32_at(header, 0x48),
            path: None,
            segments,
            sections,
            symbols,
            inlined,
            lines,
            strings,
        };
        record.check()?;
        for (offset, what) in
            [(u32_at(header, 0x28), "path of a record"), (u32_at(header, 0x2c), "version of a record")]
        {
            record.check_name(at, offset, what)?;
        }
        record.path = record.name(at, u32_at(header, 0x28)).flatten();
        Ok(record)
    }

    /// Checks the entries of all tables, but not the structure of the forest of inlined calls.
    fn check(&self) -> Result<(), Broken> {
        for (index, section) in self.sections.iter().enumerate() {
            self.strings.check(section.at, section.name, format_args!("section {index}"))?;
        }
        let segments = check_segments(self.segments)?;
        let mut above = 0;
        for index in 0..self.symbols.entries.len() {
            let symbol = Entry::of(&self.symbols, index);
            self.check_entry(&symbol, "symbol", index)?;
            if symbol.address < above {
                return Err(unsorted(symbol.at, "symbol", index, symbol.address, above));
            }
            above = symbol.address;
            let segment = segments.partition_point(|&(start, _)| start <= symbol.address).checked_sub(1);
            if segment.is_none_or(|segment| segments[segment].1 < symbol.end) {
                let rule = format_args!("{:#x} to {:#x} is not inside of a segment", symbol.address, symbol.end);
                return Err(broken(symbol.at, format_args!("symbol {index}"), rule));
            }
        }
        for index in 0..self.inlined.entries.len() {
            self.check_entry(&Entry::of(&self.inlined, index), "inlined call", index)?;
            self.check_place(Place::of(&self.inlined, index, 24), "inlined call", index)?;
        }
        let mut above = 0;
        for (index, line) in self.lines.entries.iter().enumerate() {
            let place = Place::of(&self.lines, index, 8);
            self.check_place(place, "line", index)?;
            let address = u64::from(u32_at(line, 0));
            if address < above {
                return Err(unsorted(place.at, "line", index, address, above));
            }
            above = address;
        }
        Ok(())
    }

    /// Checks the names and the first inlined call of an entry.
    fn check_entry(&self, entry: &Entry, what: &str, index: usize) -> Result<(), Broken> {
        let what = format_args!("{what} {index}");
        self.check_name(entry.at, entry.display_name, what)?;
        self.check_name(entry.at, entry.linker_name, what)?;
        let count = self.inlined.entries.len();
        if entry.first_inlined < -1 || entry.first_inlined().is_some_and(|first| first >= count) {
            let rule = format_args!("its first inlined call is {}, but there are only {count}", entry.first_inlined);
            return Err(broken(entry.at, what, rule));
        }
        Ok(())
    }

    fn check_place(&self, place: Place, what: &str, index: usize) -> Result<(), Broken> {
        self.check_name(place.at, place.file, format_args!("{what} {index}"))
    }

    fn check_name(&self, entry: usize, offset: u32, what: impl std::fmt::Display) -> Result<(), Broken> {
        if offset == 0 { Ok(()) } else { self.strings.check(entry, u64::from(offset), what) }
    }

    /// Returns the string at an offset in an entry: `None` without a string, `Some(None)` if it is not UTF-8.
    pub(super) fn name(&self, entry: usize, offset: u32) -> Option<Option<&'a str>> {
        (offset != 0).then(|| self.strings.get(entry, u64::from(offset)))
    }
}

/// The error for an entry with a lower address than its predecessor.
fn unsorted(at: usize, what: &str, index: usize, address: u64, above: u64) -> Broken {
    let rule = format_args!("its address {address:#x} is less than the preceding address, {above:#x}");
    broken(at, format_args!("{what} {index}"), rule)
}

/// True if this Mach-O CPU type has 64-bit addresses.
fn is_64_bit(cputype: u32) -> bool {
    /// `CPU_ARCH_ABI64`.
    const ABI_64: u32 = 0x0100_0000;
    cputype & ABI_64 != 0
}

//! The units of a file, and their addresses.
//!
//! A unit is the result of one compiler run. The addresses of its code are recorded in up to four ways, tried in this order: `DW_AT_ranges`, its
//! set in `.debug_aranges`, `DW_AT_low_pc` with `DW_AT_high_pc`, and its line table. Compilers for macOS have written the third even for
//! non-contiguous code, so it is not tried earlier.
//!
//! Opening a file reads only the first entry of each unit, in about 1 µs per unit. The unit itself, its functions and its lines are read for the
//! first address in it. An unreadable unit produces a note, and only its own names are lost.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use gimli::{
    Abbreviations, ArangeHeader, AttributeValue, DebugAbbrev, DebugAbbrevOffset, DebugAddrBase, DebugInfoOffset,
    DebugLineOffset, DebugLocListsBase, DebugRngListsBase, DebugStrOffsetsBase, DwarfFileType, LittleEndian, Range,
    Section as _, UnitHeader, UnitOffset, UnitType,
};

use super::functions::Functions;
use super::headers;
use super::headers::Head;
use super::limits::{Budget, Bytes, Fault, MAX_ATTRIBUTES, MAX_STRING_LENGTH, UnitRef};
use super::lines::Lines;
use super::ranges::RangeAttributes;
use crate::symbols::layout::Layout;
use crate::symbols::notes::Notes;
use crate::symbols::section::Section as Piece;

/// The maximum number of unit ranges searched per address.
const MAX_RANGES_PER_ADDRESS: usize = 1 << 16;
/// Sections read in pieces on demand. All other relevant sections are read completely.
const IN_PIECES: [&str; 3] = [".debug_info", ".debug_line", ".debug_str"];
/// Small sections of which any part may be needed.
const AS_A_WHOLE: [&str; 7] = [
    ".debug_abbrev",
    ".debug_addr",
    ".debug_aranges",
    ".debug_line_str",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_str_offsets",
];

/// The maximum memory per byte of abbreviations: four bytes can become an abbreviation of a hundred bytes.
const ABBREVIATION_BYTES: usize = 32;
/// The maximum memory per byte of address sets.
const SET_BYTES: usize = 8;

#[derive(Debug)]
pub(super) struct Unit<'data> {
    /// The unit with the bytes of its first entry, or more.
    head: gimli::Unit<Bytes<'data>>,
    /// The offset of the first entry.
    header_size: usize,
    /// The unit with all its bytes.
    whole: OnceCell<Option<gimli::Unit<Bytes<'data>>>>,
    line_program: Option<DebugLineOffset>,
    functions: OnceCell<Option<Functions<'data>>>,
    lines: OnceCell<Option<Lines<'data>>>,
}

/// An address range of a unit.
#[derive(Clone, Copy, Debug)]
struct UnitRange {
    begin: u64,
    end: u64,
    /// The lowest `begin` of this range and all ranges after it.
    min_begin: u64,
    unit: usize,
}

#[derive(Debug)]
pub(super) struct Units<'data> {
    /// The sections that are read completely.
    dwarf: gimli::Dwarf<Bytes<'data>>,
    /// `.debug_info`, `.debug_line` and `.debug_str`.
    pieces: [Option<Piece<'data>>; 3],
    /// In file order, so sorted by offset.
    units: Vec<Unit<'data>>,
    /// Sorted by `end`.
    ranges: Vec<UnitRange>,
    /// The remaining budget for reading.
    pub(super) budget: Budget<'data>,
    notes: RefCell<Notes>,
}

impl<'data> Units<'data> {
    /// Reads the first entry of each unit. Unreadable units are left out.
    pub(super) fn read(layout: &Layout<'data>, notes: Notes) -> Self {
        let mut size = 0;
        let Ok(dwarf) = gimli::Dwarf::load(|section| -> Result<_, std::convert::Infallible> {
            let contents = layout.debug_section(section.name());
            size += contents.map_or(0, Piece::len);
            let contents = contents.filter(|_| AS_A_WHOLE.contains(&section.name()));
            Ok(Bytes::new(contents.map_or(&[], Piece::all), LittleEndian))
        });
        let pieces = IN_PIECES.map(|name| layout.debug_section(name));
        let (units, ranges, budget) = (Vec::new(), Vec::new(), Budget::new(size, layout.data));
        let mut units = Self { dwarf, pieces, units, ranges, budget, notes: RefCell::new(notes) };
        let tables = units.dwarf.debug_abbrev.reader().len() * ABBREVIATION_BYTES
            + units.dwarf.debug_aranges.reader().len() * SET_BYTES;
        if let Err(fault) = units.budget.hold(tables) {
            units.note("the DWARF was not read; names come from the symbol table", fault);
            return units;
        }
        let headers = units.headers();
        let abbreviations = AbbreviationTables::read(units.dwarf.debug_abbrev.reader().slice(), &headers);
        let sets = units.address_sets();
        for head in headers {
            if let Err(fault) = units.add(head, &abbreviations, &sets) {
                units.note("a unit of the DWARF could not be read; its names come from the symbol table", fault);
            }
        }
        units.sort();
        units
    }

    fn headers(&self) -> Vec<Head<'data>> {
        let mut found = Vec::new();
        for head in self.pieces[0].into_iter().flat_map(headers::heads) {
            match head.and_then(|head| self.budget.hold(size_of::<Head<'_>>()).map(|()| head)) {
                Ok(head) => found.push(head),
                Err(Fault::NoMemory) => break,
                Err(fault) => {
                    self.note("the DWARF was only partly read; other names come from the symbol table", fault)
                }
            }
        }
        found
    }

    /// Returns the sets of `.debug_aranges`, sorted by unit, or no sets if any of them is broken.
    fn address_sets(&self) -> Vec<ArangeHeader<Bytes<'data>>> {
        let mut sets = Vec::new();
        let mut headers = self.dwarf.debug_aranges.headers();
        loop {
            match headers.next() {
                Ok(Some(set)) => sets.push(set),
                Ok(None) => break,
                Err(error) => {
                    self.note(".debug_aranges was ignored", error.into());
                    return Vec::new();
                }
            }
        }
        sets.sort_by_key(|set| set.debug_info_offset().0);
        sets
    }

    /// Adds a unit and its ranges.
    fn add(
        &mut self,
        head: Head<'data>,
        abbreviations: &AbbreviationTables,
        sets: &[ArangeHeader<Bytes<'data>>],
    ) -> Result<(), Fault> {
        let Head { header, size, .. } = head;
        let is_partial = match header.type_() {
            UnitType::Type { .. } | UnitType::SplitType { .. } => return Ok(()),
            // A partial unit contains no code, only functions that other units refer to.
            kind => kind == UnitType::Partial,
        };
        // The Swift compiler writes units without entries.
        let is_empty = header.length_including_self() <= size;
        let Some(offset) = header.debug_info_offset().filter(|_| !is_empty) else { return Ok(()) };
        let abbreviations = abbreviations.get(header.debug_abbrev_offset()).ok_or(Fault::NoAbbreviations)?;
        let (unit, attributes) = match self.first_entry(header, size, Arc::clone(&abbreviations)) {
            // The first entry is longer than the bytes read so far.
            Err(_) if !head.is_whole => self.first_entry(self.whole_header(&header, size)?, size, abbreviations)?,
            read => read?,
        };
        self.budget.hold(size_of::<Unit<'_>>())?;
        let index = self.units.len();
        let mut ranges = Vec::new();
        if !is_partial {
            if attributes.list.is_none() {
                add_address_sets(sets, offset, &self.budget, &mut ranges)?;
            }
            if ranges.is_empty() {
                attributes.for_each(self.head_ref(&unit), &self.budget, |range| ranges.push(range))?;
            }
            if ranges.is_empty() {
                ranges.extend(self.lines(&unit).into_iter().flat_map(Lines::ranges));
            }
        }
        let new = |range: Range| UnitRange { begin: range.begin, end: range.end, min_begin: 0, unit: index };
        self.ranges.extend(ranges.into_iter().map(new));
        self.units.push(unit);
        Ok(())
    }

    /// Reads the first entry of a unit. [`gimli::Unit::new`] would also read the unit's file table.
    fn first_entry(
        &self,
        header: UnitHeader<Bytes<'data>>,
        header_size: usize,
        abbreviations: Arc<Abbreviations>,
    ) -> Result<(Unit<'data>, RangeAttributes), Fault> {
        let mut unit = unit_without_attributes(header, abbreviations);
        let mut attributes = Vec::new();
        {
            let mut entries = unit.header.entries_raw(&unit.abbreviations, None)?;
            let Some(abbreviation) = entries.read_abbreviation()? else {
                return Err(gimli::Error::MissingUnitDie.into());
            };
            if abbreviation.attributes().len() > MAX_ATTRIBUTES {
                return Err(Fault::TooCostly);
            }
            entries.read_attributes(abbreviation.attributes(), &mut attributes)?;
        }
        // Bases come first, since other attributes may be relative to them.
        for attribute in &attributes {
            match attribute.value() {
                AttributeValue::DebugStrOffsetsBase(base) => unit.str_offsets_base = base,
                AttributeValue::DebugAddrBase(base) => unit.addr_base = base,
                AttributeValue::DebugRngListsBase(base) => unit.rnglists_base = base,
                _ => {}
            }
        }
        let (mut ranges, mut line_program) = (RangeAttributes::default(), None);
        for attribute in &attributes {
            let unit_ref = UnitRef::new(&self.dwarf, &unit);
            ranges.observe(unit_ref, attribute)?;
            match (attribute.name(), attribute.value()) {
                (gimli::DW_AT_comp_dir, value) => unit.comp_dir = self.string(unit_ref, value).ok(),
                (gimli::DW_AT_stmt_list, AttributeValue::DebugLineRef(offset)) => line_program = Some(offset),
                _ => {}
            }
        }
        unit.low_pc = ranges.low().unwrap_or(0);
        let (whole, functions, lines) = Default::default();
        Ok((Unit { head: unit, header_size, whole, line_program, functions, lines }, ranges))
    }

    /// Reads all bytes of a unit, and returns the header with them.
    fn whole_header(&self, header: &UnitHeader<Bytes<'data>>, size: usize) -> Result<UnitHeader<Bytes<'data>>, Fault> {
        self.pieces[0].and_then(|info| headers::whole(info, header, size)).ok_or(Fault::Unreadable)
    }

    fn sort(&mut self) {
        self.ranges.sort_unstable_by_key(|range| (range.end, range.unit));
        let mut min_begin = u64::MAX;
        for range in self.ranges.iter_mut().rev() {
            min_begin = min_begin.min(range.begin);
            range.min_begin = min_begin;
        }
    }

    /// Returns the units that claim this address: several, if the linker folded code of different units.
    pub(super) fn at(&self, address: u64) -> impl Iterator<Item = &Unit<'data>> {
        let first = self.ranges.partition_point(|range| range.end <= address);
        self.ranges[first..]
            .iter()
            .take(MAX_RANGES_PER_ADDRESS)
            .take_while(move |range| range.min_begin <= address)
            .filter(move |range| range.begin <= address)
            .map(|range| &self.units[range.unit])
    }

    /// Returns the unit that contains an entry, and the offset of the entry in it.
    pub(super) fn entry(&self, offset: DebugInfoOffset) -> Option<(&Unit<'data>, UnitOffset)> {
        let start = |unit: &Unit<'_>| unit.head.header.debug_info_offset().map_or(0, |start| start.0);
        let index = self.units.partition_point(|unit| start(unit) <= offset.0).checked_sub(1)?;
        let unit = &self.units[index];
        Some((unit, UnitOffset(offset.0.checked_sub(start(unit))?)))
    }

    /// Returns the part of a unit known from its first entry, with the sections that it refers to.
    pub(super) fn head_ref<'a>(&'a self, unit: &'a Unit<'data>) -> UnitRef<'a, 'data> {
        UnitRef::new(&self.dwarf, &unit.head)
    }

    /// Returns a unit, read on first use, with the sections that it refers to.
    pub(super) fn unit_ref<'a>(&'a self, unit: &'a Unit<'data>) -> Result<UnitRef<'a, 'data>, Fault> {
        let read = || {
            let header = self.whole_header(&unit.head.header, unit.header_size).ok()?;
            let mut whole = unit_without_attributes(header, Arc::clone(&unit.head.abbreviations));
            (whole.comp_dir, whole.low_pc) = (unit.head.comp_dir, unit.head.low_pc);
            (whole.str_offsets_base, whole.addr_base) = (unit.head.str_offsets_base, unit.head.addr_base);
            whole.rnglists_base = unit.head.rnglists_base;
            Some(whole)
        };
        let whole = unit.whole.get_or_init(read).as_ref().ok_or(Fault::Unreadable)?;
        Ok(UnitRef::new(&self.dwarf, whole))
    }

    /// Returns the string in an attribute, or referenced by it.
    pub(super) fn string(
        &self,
        unit: UnitRef<'_, 'data>,
        value: AttributeValue<Bytes<'data>>,
    ) -> Result<Bytes<'data>, Fault> {
        let offset = match value {
            AttributeValue::DebugStrRef(offset) => offset,
            AttributeValue::DebugStrOffsetsIndex(index) => unit.string_offset(index)?,
            value => return Ok(unit.attr_string(value)?),
        };
        let text = self.pieces[2].and_then(|strings| strings.text(offset.0 as u64, MAX_STRING_LENGTH));
        text.map(|text| Bytes::new(text, LittleEndian)).ok_or(Fault::Unreadable)
    }

    /// Returns the functions of a unit; `None` if they cannot be read.
    pub(super) fn functions<'a>(&self, unit: &'a Unit<'data>) -> Option<&'a Functions<'data>> {
        unit.functions.get_or_init(|| self.read_functions(unit)).as_ref()
    }

    fn read_functions(&self, unit: &Unit<'data>) -> Option<Functions<'data>> {
        let read = self.unit_ref(unit).and_then(|unit| Functions::read(unit, &self.budget));
        let what = "the functions of a unit could not be read; their names come from the symbol table";
        read.map_err(|fault| self.note(what, fault)).ok()
    }

    /// Returns the lines of a unit; `None` if they are missing or cannot be read.
    pub(super) fn lines<'a>(&self, unit: &'a Unit<'data>) -> Option<&'a Lines<'data>> {
        unit.lines.get_or_init(|| self.read_lines(unit)).as_ref()
    }

    fn read_lines(&self, unit: &Unit<'data>) -> Option<Lines<'data>> {
        let offset = unit.line_program?;
        let program = self.pieces[1].and_then(|lines| headers::line_program(lines, offset)).ok_or(Fault::Unreadable);
        let read = program.and_then(|program| Lines::read(self.head_ref(unit), program, &self.budget));
        let what = "the line table of a unit could not be read; its functions have no lines";
        read.map_err(|fault| self.note(what, fault)).ok()
    }

    /// Calls `add` with the addresses at which an answer may change. The tables of one unit are in memory at a time.
    pub(super) fn for_each_boundary(&self, add: &mut dyn FnMut(u64)) {
        self.ranges.iter().flat_map(|range| [range.begin, range.end]).for_each(&mut *add);
        for unit in &self.units {
            let held = self.budget.held();
            if let (Some(functions), Ok(unit)) = (self.read_functions(unit), self.unit_ref(unit)) {
                functions.for_each_boundary(unit, &self.budget, add);
            }
            self.read_lines(unit).into_iter().for_each(|lines| lines.for_each_boundary(add));
            self.budget.release(held);
        }
    }

    /// Returns the path of a file in the line table of a unit.
    pub(super) fn path<'a>(&self, unit: &'a Unit<'data>, file: u64) -> Option<&'a str> {
        self.lines(unit)?.path(file, |value| self.string(self.head_ref(unit), value).ok())
    }

    pub(super) fn note(&self, what: &str, why: Fault) {
        self.notes.borrow_mut().add(format!("{what}: {why}"));
    }

    pub(super) fn into_notes(self) -> Notes {
        self.notes.into_inner()
    }
}

/// A unit before the attributes of its first entry are known.
fn unit_without_attributes<'data>(
    header: UnitHeader<Bytes<'data>>,
    abbreviations: Arc<Abbreviations>,
) -> gimli::Unit<Bytes<'data>> {
    let encoding = header.encoding();
    gimli::Unit {
        header,
        abbreviations,
        name: None,
        comp_dir: None,
        low_pc: 0,
        str_offsets_base: DebugStrOffsetsBase::default_for_encoding_and_file(encoding, DwarfFileType::Main),
        addr_base: DebugAddrBase(0),
        loclists_base: DebugLocListsBase::default_for_encoding_and_file(encoding, DwarfFileType::Main),
        rnglists_base: DebugRngListsBase::default_for_encoding_and_file(encoding, DwarfFileType::Main),
        line_program: None,
        dwo_id: None,
    }
}

/// Adds the ranges of the sets for the unit at `offset`. There should be one set, but some files have several.
fn add_address_sets(
    sets: &[ArangeHeader<Bytes<'_>>],
    offset: DebugInfoOffset,
    budget: &Budget<'_>,
    ranges: &mut Vec<Range>,
) -> Result<(), Fault> {
    let first = sets.partition_point(|set| set.debug_info_offset().0 < offset.0);
    for set in sets[first..].iter().take_while(|set| set.debug_info_offset() == offset) {
        let mut entries = set.entries();
        while let Some(entry) = entries.next().transpose() {
            // rustc writes sets with an overflowing address for units that contain only a variable.
            if let Ok(entry) = entry
                && entry.range().begin < entry.range().end
            {
                budget.keep(1)?;
                budget.hold(size_of::<UnitRange>())?;
                ranges.push(entry.range());
            }
        }
    }
    Ok(())
}

/// The abbreviation tables, each parsed once: dsymutil writes one for all units.
struct AbbreviationTables {
    /// Sorted by offset.
    tables: Vec<(usize, Option<Arc<Abbreviations>>)>,
}

impl AbbreviationTables {
    /// Parses the tables that units refer to. A table ends where the next one begins, so overlapping tables cost no more than the section's size.
    fn read(section: &[u8], heads: &[Head<'_>]) -> Self {
        let mut offsets: Vec<_> = heads.iter().map(|head| head.header.debug_abbrev_offset().0).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let ends = offsets.iter().skip(1).copied().chain([section.len()]);
        let read = |(&start, end): (&usize, usize)| {
            let table = DebugAbbrev::new(section.get(start..end)?, LittleEndian);
            table.abbreviations(DebugAbbrevOffset(0)).ok().map(Arc::new)
        };
        let tables = offsets.iter().zip(ends).map(|pair| (*pair.0, read(pair))).collect();
        Self { tables }
    }

    fn get(&self, offset: DebugAbbrevOffset) -> Option<Arc<Abbreviations>> {
        let index = self.tables.binary_search_by_key(&offset.0, |table| table.0).ok()?;
        self.tables[index].1.clone()
    }
}

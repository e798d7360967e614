//! The units of a file: which one an address belongs to.
//!
//! A unit is what one run of the compiler made. Where its code is, it says in up to four ways, taken in this order:
//! `DW_AT_ranges`, its set in `.debug_aranges`, `DW_AT_low_pc` with `DW_AT_high_pc` (which compilers for macOS have
//! also written for code in several pieces, hence the order), or else its line table.
//!
//! Only the first entry of each unit is read at the start, about 1 µs a unit. Functions and lines of a unit are read
//! when the first address falls into it, and a unit that cannot be read makes a note and costs only its own names.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use gimli::{
    Abbreviations, ArangeHeader, AttributeValue, DebugAbbrev, DebugAbbrevOffset, DebugAddrBase, DebugInfoOffset,
    DebugLineOffset, DebugLocListsBase, DebugRngListsBase, DebugStrOffsetsBase, DwarfFileType, LittleEndian, Range,
    Section as _, UnitHeader, UnitOffset, UnitType,
};

use super::budget::{Budget, Fault};
use super::functions::Functions;
use super::lines::Lines;
use super::ranges::RangeAttributes;
use super::{Bytes, MAX_ATTRIBUTES, UnitRef};
use crate::symbols::frame::Notes;
use crate::symbols::layout::Layout;

/// Most ranges of units that are looked through for one address.
const MAX_RANGES_PER_ADDRESS: usize = 1 << 16;

/// One unit, read in parts as they are needed.
#[derive(Debug)]
pub(super) struct Unit<'data> {
    unit: gimli::Unit<Bytes<'data>>,
    line_program: Option<DebugLineOffset>,
    functions: OnceCell<Option<Functions<'data>>>,
    lines: OnceCell<Option<Lines<'data>>>,
}

/// Addresses that belong to a unit.
#[derive(Clone, Copy, Debug)]
struct UnitRange {
    begin: u64,
    end: u64,
    /// The lowest `begin` of this range and all behind it.
    min_begin: u64,
    unit: usize,
}

/// All units of a slice.
#[derive(Debug)]
pub(super) struct Units<'data> {
    dwarf: gimli::Dwarf<Bytes<'data>>,
    /// In the order of the file, so sorted by offset.
    units: Vec<Unit<'data>>,
    /// Sorted by `end`.
    ranges: Vec<UnitRange>,
    /// What reading may still cost.
    pub(super) budget: Budget,
    notes: RefCell<Notes>,
}

impl<'data> Units<'data> {
    /// Reads the first entry of each unit. Units that cannot be read are missing.
    pub(super) fn read(layout: &Layout<'data>, notes: Notes) -> Self {
        let mut size = 0;
        let Ok(dwarf) = gimli::Dwarf::load(|section| -> Result<_, std::convert::Infallible> {
            let contents = layout.debug_section(section.name());
            size += contents.len() as u64;
            Ok(Bytes::new(contents, LittleEndian))
        });
        let (units, ranges) = (Vec::new(), Vec::new());
        let mut units = Self { dwarf, units, ranges, budget: Budget::new(size), notes: RefCell::new(notes) };
        let headers = units.headers();
        let abbreviations = AbbreviationTables::read(units.dwarf.debug_abbrev.reader().slice(), &headers);
        let sets = units.address_sets();
        for header in headers {
            if let Err(fault) = units.add(header, &abbreviations, &sets) {
                units.note("a unit of the DWARF could not be read, its names come from the symbol table", fault);
            }
        }
        units.sort();
        units
    }

    fn headers(&self) -> Vec<UnitHeader<Bytes<'data>>> {
        let mut found = Vec::new();
        let mut headers = self.dwarf.units();
        loop {
            match headers.next() {
                Ok(Some(header)) => found.push(header),
                Ok(None) => return found,
                Err(error) => {
                    self.note("the DWARF was read in part, other names come from the symbol table", error.into());
                    return found;
                }
            }
        }
    }

    /// The sets of `.debug_aranges`, sorted by the unit that they belong to; none where one of them is broken.
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
        header: UnitHeader<Bytes<'data>>,
        abbreviations: &AbbreviationTables,
        sets: &[ArangeHeader<Bytes<'data>>],
    ) -> Result<(), Fault> {
        let is_partial = match header.type_() {
            UnitType::Type { .. } | UnitType::SplitType { .. } => return Ok(()),
            // Others refer to the functions of a partial unit; code of its own it has none.
            kind => kind == UnitType::Partial,
        };
        // The Swift compiler writes units without entries.
        let is_empty = header.length_including_self() <= header.header_size();
        let Some(offset) = header.debug_info_offset().filter(|_| !is_empty) else { return Ok(()) };
        let abbreviations = abbreviations.get(header.debug_abbrev_offset()).ok_or(Fault::NoAbbreviations)?;
        let (unit, attributes) = self.first_entry(header, abbreviations)?;
        let index = self.units.len();
        let mut ranges = Vec::new();
        if !is_partial {
            if attributes.list.is_none() {
                add_address_sets(sets, offset, &self.budget, &mut ranges)?;
            }
            if ranges.is_empty() {
                attributes.for_each(self.unit_ref(&unit), &self.budget, |range| ranges.push(range))?;
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

    /// Reads the first entry of a unit. [`gimli::Unit::new`] would read the unit's table of files as well.
    fn first_entry(
        &self,
        header: UnitHeader<Bytes<'data>>,
        abbreviations: Arc<Abbreviations>,
    ) -> Result<(Unit<'data>, RangeAttributes), Fault> {
        let encoding = header.encoding();
        let mut unit = gimli::Unit {
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
        };
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
        // The bases come first, since the values of the other attributes may be relative to them.
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
                (gimli::DW_AT_comp_dir, value) => unit.comp_dir = unit_ref.attr_string(value).ok(),
                (gimli::DW_AT_stmt_list, AttributeValue::DebugLineRef(offset)) => line_program = Some(offset),
                _ => {}
            }
        }
        unit.low_pc = ranges.low().unwrap_or(0);
        Ok((Unit { unit, line_program, functions: OnceCell::new(), lines: OnceCell::new() }, ranges))
    }

    fn sort(&mut self) {
        self.ranges.sort_unstable_by_key(|range| (range.end, range.unit));
        let mut min_begin = u64::MAX;
        for range in self.ranges.iter_mut().rev() {
            min_begin = min_begin.min(range.begin);
            range.min_begin = min_begin;
        }
    }

    /// The units that claim this address. Several may, where code of one was folded into another's.
    pub(super) fn at(&self, address: u64) -> impl Iterator<Item = &Unit<'data>> {
        let first = self.ranges.partition_point(|range| range.end <= address);
        self.ranges[first..]
            .iter()
            .take(MAX_RANGES_PER_ADDRESS)
            .take_while(move |range| range.min_begin <= address)
            .filter(move |range| range.begin <= address)
            .map(|range| &self.units[range.unit])
    }

    /// The unit in which an entry is, and the entry's place in it.
    pub(super) fn entry(&self, offset: DebugInfoOffset) -> Option<(&Unit<'data>, UnitOffset)> {
        let start = |unit: &Unit<'_>| unit.unit.header.debug_info_offset().map_or(0, |start| start.0);
        let index = self.units.partition_point(|unit| start(unit) <= offset.0).checked_sub(1)?;
        let unit = &self.units[index];
        Some((unit, offset.to_unit_offset(&unit.unit.header)?))
    }

    /// The unit with the sections that it refers to.
    pub(super) fn unit_ref<'a>(&'a self, unit: &'a Unit<'data>) -> UnitRef<'a, 'data> {
        UnitRef::new(&self.dwarf, &unit.unit)
    }

    /// The functions of a unit; `None` where they cannot be read.
    pub(super) fn functions<'a>(&self, unit: &'a Unit<'data>) -> Option<&'a Functions<'data>> {
        let read = || match Functions::read(self.unit_ref(unit), &self.budget) {
            Ok(functions) => Some(functions),
            Err(fault) => {
                self.note("the functions of a unit could not be read, their names come from the symbol table", fault);
                None
            }
        };
        unit.functions.get_or_init(read).as_ref()
    }

    /// The lines of a unit; `None` where it has none or they cannot be read.
    pub(super) fn lines<'a>(&self, unit: &'a Unit<'data>) -> Option<&'a Lines<'data>> {
        let read = || match Lines::read(self.unit_ref(unit), unit.line_program?, &self.budget) {
            Ok(lines) => Some(lines),
            Err(fault) => {
                self.note("the line table of a unit could not be read, its functions have no lines", fault);
                None
            }
        };
        unit.lines.get_or_init(read).as_ref()
    }

    /// Adds a note with its cause.
    pub(super) fn note(&self, what: &str, why: Fault) {
        self.notes.borrow_mut().add(format!("{what}: {why}"));
    }

    /// The notes of all that was read.
    pub(super) fn into_notes(self) -> Notes {
        self.notes.into_inner()
    }
}

/// Adds the ranges of the sets that belong to the unit at `offset`. There should be one, but several have been seen.
fn add_address_sets(
    sets: &[ArangeHeader<Bytes<'_>>],
    offset: DebugInfoOffset,
    budget: &Budget,
    ranges: &mut Vec<Range>,
) -> Result<(), Fault> {
    let first = sets.partition_point(|set| set.debug_info_offset().0 < offset.0);
    for set in sets[first..].iter().take_while(|set| set.debug_info_offset() == offset) {
        let mut entries = set.entries();
        while let Some(entry) = entries.next().transpose() {
            // rustc writes sets with an address that overflows, for units that have only a variable.
            if let Ok(entry) = entry
                && entry.range().begin < entry.range().end
            {
                budget.keep(1)?;
                ranges.push(entry.range());
            }
        }
    }
    Ok(())
}

/// The tables of abbreviations, each read once: dsymutil writes one for all units.
struct AbbreviationTables {
    /// Sorted by their offset.
    tables: Vec<(usize, Option<Arc<Abbreviations>>)>,
}

impl AbbreviationTables {
    /// Reads the tables that units refer to. A table ends where the next one begins, so that tables which pretend to
    /// overlap do not cost more than the section has bytes.
    fn read(section: &[u8], headers: &[UnitHeader<Bytes<'_>>]) -> Self {
        let mut offsets: Vec<_> = headers.iter().map(|header| header.debug_abbrev_offset().0).collect();
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

//! The functions of a unit, and the functions inlined into them.
//!
//! A unit is a tree of entries, written depth first. Functions (`DW_TAG_subprogram`) are found in one walk over the unit. Calls inlined into a
//! function (`DW_TAG_inlined_subroutine`, at any depth and inside lexical blocks) are found in a second walk over that function, for the first
//! address in it. Both walks are loops instead of recursion, since a file of 5 KB can nest entries deeper than a stack allows.
//!
//! ```text
//! subprogram draw                     0x100..0x180
//!   inlined_subroutine scale          0x120..0x150   called at image.cc:140
//!     inlined_subroutine clamp        0x128..0x130   called at image.cc:88
//! ```

use std::cell::OnceCell;

use gimli::{AttributeValue, EntriesRaw, UnitOffset};

use super::limits::{Budget, Bytes, Fault, MAX_ATTRIBUTES, UnitRef};
use super::ranges::RangeAttributes;
use crate::symbols::frame::Called;

/// The maximum inlining depth. Deeper calls count as part of the function around them. Known files have up to 33.
const MAX_INLINE_DEPTH: usize = 200;
/// If the nearest function does not contain an address, at most this many functions before it are tried, since functions rarely overlap.
const MAX_OVERLAPPING: usize = 32;

/// An address range of a function.
#[derive(Clone, Copy, Debug)]
struct FunctionRange {
    begin: u64,
    end: u64,
    function: usize,
}

#[derive(Debug)]
pub(super) struct Function<'data> {
    /// The offset of its entry.
    pub(super) offset: UnitOffset,
    /// The entry address, which is not always the lowest address, since the compiler may move unlikely code.
    pub(super) entry: u64,
    /// The functions inlined into it, read on demand; `None` if unreadable.
    body: OnceCell<Option<Box<Body<'data>>>>,
    /// The names shown in answers, resolved on demand.
    pub(super) called: OnceCell<Called<'data>>,
}

/// The functions inlined into a function.
#[derive(Debug, Default)]
pub(super) struct Body<'data> {
    inlinees: Vec<Inlinee<'data>>,
    /// Sorted by depth, then begin.
    ranges: Vec<InlineRange>,
}

/// An inlined call of a function.
#[derive(Debug)]
pub(super) struct Inlinee<'data> {
    /// The entry with its names, usually the inlined function itself.
    pub(super) named_by: UnitOffset,
    /// The file of the call, as an index into the file table.
    pub(super) call_file: Option<u32>,
    /// The line of the call; 0 if it does not belong to a line.
    pub(super) call_line: Option<u32>,
    /// The column of the call.
    pub(super) call_column: Option<u32>,
    /// The names shown in answers, resolved on demand.
    pub(super) called: OnceCell<Called<'data>>,
}

/// An address range of an inlined function.
#[derive(Clone, Copy, Debug)]
struct InlineRange {
    /// The number of functions inlined around it.
    depth: u32,
    inlinee: u32,
    begin: u64,
    end: u64,
}

#[derive(Debug)]
pub(super) struct Functions<'data> {
    functions: Vec<Function<'data>>,
    /// Sorted by begin, then in file order.
    ranges: Vec<FunctionRange>,
}

impl<'data> Functions<'data> {
    /// Walks all entries of a unit.
    pub(super) fn read(unit: UnitRef<'_, 'data>, budget: &Budget<'_>) -> Result<Self, Fault> {
        budget.walk(unit.header.length_including_self())?;
        let (mut functions, mut ranges) = (Vec::new(), Vec::new());
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let offset = entries.next_offset();
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            if abbreviation.attributes().len() > MAX_ATTRIBUTES {
                return Err(Fault::TooCostly);
            }
            if abbreviation.tag() != gimli::DW_TAG_subprogram {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let mut attributes = RangeAttributes::default();
            for &specification in abbreviation.attributes() {
                attributes.observe(unit, &entries.read_attribute(specification)?)?;
            }
            let first = ranges.len();
            let function = functions.len();
            attributes.for_each(unit, budget, |range| {
                ranges.push(FunctionRange { begin: range.begin, end: range.end, function });
            })?;
            if let Some(first) = ranges.get(first) {
                let entry = attributes.entry().unwrap_or(first.begin);
                budget.hold(size_of::<Function<'_>>())?;
                functions.push(Function { offset, entry, body: OnceCell::new(), called: OnceCell::new() });
            }
        }
        ranges.sort_by_key(|range| range.begin);
        Ok(Self { functions, ranges })
    }

    /// Returns the function at an address. If there are several, the last to begin wins.
    pub(super) fn find(&self, address: u64) -> Option<&Function<'data>> {
        let end = self.ranges.partition_point(|range| range.begin <= address);
        let candidates = self.ranges[..end].iter().rev().take(MAX_OVERLAPPING);
        candidates.into_iter().find(|range| address < range.end).map(|range| &self.functions[range.function])
    }
}

impl<'data> Functions<'data> {
    /// Calls `add` with the starts and ends of the functions of `unit`, and of the functions inlined into them. Unreadable functions are left out.
    pub(super) fn for_each_boundary(&self, unit: UnitRef<'_, 'data>, budget: &Budget<'_>, add: &mut dyn FnMut(u64)) {
        self.ranges.iter().flat_map(|range| [range.begin, range.end]).for_each(&mut *add);
        for function in &self.functions {
            let held = budget.held();
            let ranges = Body::read(unit, function.offset, budget).map(|body| body.ranges).unwrap_or_default();
            ranges.iter().flat_map(|range| [range.begin, range.end]).for_each(&mut *add);
            budget.release(held);
        }
    }
}

impl<'data> Function<'data> {
    /// Returns the functions inlined into this function of `unit`; `None` if unreadable. The fault is passed to `on_fault` once.
    pub(super) fn body<'a>(
        &self,
        unit: impl FnOnce() -> Result<UnitRef<'a, 'data>, Fault>,
        budget: &Budget<'_>,
        on_fault: impl FnOnce(Fault),
    ) -> Option<&Body<'data>>
    where
        'data: 'a,
    {
        let read = || Body::read(unit()?, self.offset, budget).map(Box::new);
        let read = || read().map_err(on_fault).ok();
        self.body.get_or_init(read).as_deref()
    }
}

impl<'data> Body<'data> {
    /// Walks the entries below a function.
    fn read(unit: UnitRef<'_, 'data>, function: UnitOffset, budget: &Budget<'_>) -> Result<Self, Fault> {
        let mut body = Self::default();
        let mut entries = unit.entries_raw(Some(function))?;
        let depth = entries.next_depth();
        // The tree depths of the inlined functions that enclose the current entry.
        let mut around: Vec<isize> = Vec::new();
        // The depth of a nested function that is being skipped.
        let mut skipped = None;
        let mut is_first = true;
        loop {
            let (offset, at) = (entries.next_offset(), entries.next_depth());
            if (at <= depth && !is_first) || entries.is_empty() {
                break;
            }
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            if abbreviation.attributes().len() > MAX_ATTRIBUTES {
                return Err(Fault::TooCostly);
            }
            budget.walk(1 + abbreviation.attributes().len())?;
            while around.last().is_some_and(|&depth| depth >= at) {
                around.pop();
            }
            skipped = skipped.filter(|&depth| at > depth);
            match abbreviation.tag() {
                gimli::DW_TAG_inlined_subroutine if skipped.is_none() && around.len() < MAX_INLINE_DEPTH => {
                    body.add_inlinee(
                        unit,
                        &mut entries,
                        offset,
                        abbreviation.attributes(),
                        around.len() as u32,
                        budget,
                    )?;
                    around.push(at);
                }
                tag => {
                    // A nested function has separate code, so its inlined calls are not inlined here.
                    if tag == gimli::DW_TAG_subprogram && !is_first && skipped.is_none() {
                        skipped = Some(at);
                    }
                    entries.skip_attributes(abbreviation.attributes())?;
                }
            }
            is_first = false;
        }
        body.ranges.sort_by_key(|range| (range.depth, range.begin));
        Ok(body)
    }

    fn add_inlinee(
        &mut self,
        unit: UnitRef<'_, 'data>,
        entries: &mut EntriesRaw<'_, Bytes<'data>>,
        offset: UnitOffset,
        specifications: &[gimli::AttributeSpecification],
        depth: u32,
        budget: &Budget<'_>,
    ) -> Result<(), Fault> {
        let mut attributes = RangeAttributes::default();
        let (mut call_file, mut call_line, mut call_column) = (None, None, None);
        let (mut named_by, mut has_name) = (offset, false);
        let number = |value: Option<u64>| value.and_then(|value| u32::try_from(value).ok());
        for &specification in specifications {
            let attribute = entries.read_attribute(specification)?;
            match attribute.name() {
                gimli::DW_AT_call_file => {
                    call_file = match attribute.value() {
                        // Up to DWARF 4, file 0 means no file.
                        AttributeValue::FileIndex(0) if unit.header.version() < 5 => None,
                        AttributeValue::FileIndex(file) => u32::try_from(file).ok(),
                        _ => None,
                    };
                }
                gimli::DW_AT_abstract_origin => {
                    if let AttributeValue::UnitRef(origin) = attribute.value() {
                        named_by = origin;
                    }
                }
                gimli::DW_AT_name | gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => has_name = true,
                gimli::DW_AT_call_line => call_line = number(attribute.udata_value()),
                gimli::DW_AT_call_column => call_column = number(attribute.udata_value()),
                _ => attributes.observe(unit, &attribute)?,
            }
        }
        let inlinee = u32::try_from(self.inlinees.len()).map_err(|_| Fault::TooCostly)?;
        attributes.for_each(unit, budget, |range| {
            self.ranges.push(InlineRange { depth, inlinee, begin: range.begin, end: range.end });
        })?;
        budget.keep(1)?;
        budget.hold(size_of::<Inlinee<'_>>())?;
        let named_by = if has_name { offset } else { named_by };
        self.inlinees.push(Inlinee { named_by, call_file, call_line, call_column, called: OnceCell::new() });
        Ok(())
    }

    /// Returns the functions inlined at an address, outermost first.
    pub(super) fn find(&self, address: u64) -> Vec<&Inlinee<'data>> {
        let (mut ranges, mut chain) = (&self.ranges[..], Vec::new());
        loop {
            let depth = chain.len() as u32;
            let end = ranges.partition_point(|range| (range.depth, range.begin) <= (depth, address));
            match ranges[..end].last() {
                Some(range) if range.depth == depth && address < range.end => {
                    chain.push(&self.inlinees[range.inlinee as usize]);
                    ranges = &ranges[end..];
                }
                _ => return chain,
            }
        }
    }
}

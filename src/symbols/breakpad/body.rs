//! The lines of a function, and the functions inlined into it: the records after its `FUNC`.

use std::ops::Range;

use super::line_reader::LineReader;
use super::records::{Line, Place, Record};
use crate::symbols::notes::Notes;

/// The maximum inlining depth. Deeper calls count as part of the function around them. Known files have up to 33.
const MAX_INLINE_DEPTH: u32 = 128;

/// An inlined call of a function.
#[derive(Debug)]
pub(super) struct Inlinee {
    pub(super) call: Place,
    /// The number of its name.
    pub(super) origin: u32,
}

/// An address range of an inlined function.
#[derive(Debug)]
struct InlineRange {
    depth: u32,
    addresses: Range<u64>,
    inlinee: usize,
}

/// The records of a function.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) name: Vec<u8>,
    /// Sorted by start. If lines overlap, the last to start is used.
    lines: Vec<Line>,
    inlinees: Vec<Inlinee>,
    /// Sorted by depth, then start.
    ranges: Vec<InlineRange>,
}

impl Body {
    /// Reads the function at an offset. `charge` is called with the memory in bytes as it grows. `None` if the file cannot be read, or if the
    /// memory is not enough.
    pub(super) fn read(
        reader: &mut LineReader<'_, '_>,
        offset: u64,
        notes: &mut Notes,
        mut charge: impl FnMut(usize) -> Option<()>,
    ) -> Option<Self> {
        reader.seek(offset);
        let mut body = Self::default();
        let Some(Record::Function(function, name)) = Record::parse(reader.next()?.1) else { return None };
        body.name.extend(name);
        let is_outside = |line: &Line| line.addresses.end <= function.start || line.addresses.start >= function.end;
        while let Some((_, line)) = reader.next() {
            match Record::parse(line) {
                Some(Record::Function(..) | Record::Public(..) | Record::Stack | Record::Module) => break,
                // A malformed start of another function.
                None if line.starts_with(b"FUNC") || line.starts_with(b"PUBLIC") => break,
                // Noted when the file was opened.
                None if line.first().is_some_and(u8::is_ascii_uppercase) => {}
                None => notes.add("a line record is malformed"),
                Some(Record::Line(line)) if is_outside(&line) => {
                    notes.add("a line record is not inside of its function")
                }
                Some(Record::Line(line)) => body.lines.push(line),
                Some(Record::Inline(inline)) => {
                    let (first, inlinee) = (body.ranges.len(), body.inlinees.len());
                    let add = |addresses| body.ranges.push(InlineRange { depth: inline.depth, addresses, inlinee });
                    if inline.for_each_range(add).is_none() || inline.depth >= MAX_INLINE_DEPTH {
                        notes.add("an INLINE record is malformed or too deep");
                        body.ranges.truncate(first);
                    }
                    body.inlinees.push(Inlinee { call: inline.call, origin: inline.origin });
                }
                Some(_) => {}
            }
            charge(body.bytes())?;
        }
        body.lines.sort_by_key(|line| line.addresses.start);
        body.ranges.sort_by_key(|range| (range.depth, range.addresses.start));
        body.note_unused(&function, notes);
        Some(body)
    }

    /// Notes what lookups never or only partly use.
    fn note_unused(&self, function: &Range<u64>, notes: &mut Notes) {
        for InlineRange { depth, addresses, .. } in &self.ranges {
            let is_used = |address: u64| function.contains(&address) && self.inlined(address).len() > *depth as usize;
            if !is_used(addresses.start) || !is_used(addresses.end - 1) {
                notes.add("an INLINE record is not inside of its function, or of the call around it");
            }
        }
        for lines in self.lines.windows(2) {
            if lines[0].addresses.end > lines[1].addresses.start {
                notes.add("line records overlap: the last to start is used");
            }
        }
    }

    fn bytes(&self) -> usize {
        let ranges = self.ranges.capacity() * size_of::<InlineRange>();
        self.lines.capacity() * size_of::<Line>() + self.inlinees.capacity() * size_of::<Inlinee>() + ranges
    }

    /// Returns the line of an address.
    pub(super) fn line(&self, address: u64) -> Option<Place> {
        let index = self.lines.partition_point(|line| line.addresses.start <= address).checked_sub(1)?;
        let line = &self.lines[index];
        line.addresses.contains(&address).then_some(line.place)
    }

    /// Returns the calls inlined at an address, outermost first.
    pub(super) fn inlined(&self, address: u64) -> Vec<&Inlinee> {
        let (mut ranges, mut chain) = (&self.ranges[..], Vec::new());
        loop {
            let depth = chain.len() as u32;
            let end = ranges.partition_point(|range| (range.depth, range.addresses.start) <= (depth, address));
            match ranges[..end].last() {
                Some(range) if range.depth == depth && range.addresses.contains(&address) => {
                    chain.push(&self.inlinees[range.inlinee]);
                    ranges = &ranges[end..];
                }
                _ => return chain,
            }
        }
    }
}

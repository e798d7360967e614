//! Converts linked addresses to the addresses in a record.
//!
//! A record does not contain the linked addresses of its image. Segments with symbols come first, one after the other, with `__TEXT` at 0. The
//! others follow, so `__PAGEZERO` is in the middle:
//!
//! | segment | linked to | in the record |
//! |---|---|---|
//! | `__PAGEZERO` | `0x0` + `0x100000000` | `0x10000` |
//! | `__TEXT` | `0x100000000` + `0x8000` | `0x0` |
//! | `__DATA` | `0x10000c000` + `0x4000` | `0xc000` |
//!
//! A `.symbols` container also contains the linked addresses, so all its segments can be looked up. A bare record (`.symbolsarchive`) does not,
//! so only addresses in `__TEXT` can be looked up; code is there.

use std::collections::BTreeMap;

use super::apple_bytes::{Broken, Table, broken, sixteen_at, u64_at};

/// The segment that addresses are relative to.
const TEXT: &[u8; 16] = b"__TEXT\0\0\0\0\0\0\0\0\0\0";

/// The maximum number of segments whose addresses are listed. Real images have about ten.
const MAX_SEGMENTS: usize = 64;

/// A segment of an image, with its linked address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkedSegment {
    pub(crate) name: [u8; 16],
    pub(crate) address: u64,
    pub(crate) size: u64,
}

/// Maps image addresses to record addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct SegmentMap {
    // Sorted by `relative`.
    spans: Vec<Span>,
    /// The range of `__TEXT` in the record; empty if it is missing.
    text: (u64, u64),
}

/// A part of the image, and its address in the record.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// Relative to the linked start of `__TEXT`.
    relative: u64,
    size: u64,
    record: u64,
}

impl SegmentMap {
    /// Creates the map for a record with checked segments. `linked` are the segments of its container, and empty for a bare record.
    pub(super) fn new(segments: Table<'_, 32>, linked: &[LinkedSegment]) -> Self {
        let mut in_record = BTreeMap::new();
        for segment in segments.entries {
            in_record.entry(sixteen_at(segment, 16)).or_insert((u64_at(segment, 0), u64_at(segment, 8)));
        }
        let Some(&(text, text_size)) = in_record.get(TEXT) else {
            return Self::default();
        };
        let text_span = Span { relative: 0, size: text_size, record: text };
        let mut spans = vec![text_span];
        if let Some(linked_text) = linked.iter().find(|segment| segment.name == *TEXT) {
            for segment in linked.iter().filter(|segment| segment.name != *TEXT) {
                let relative = segment.address.checked_sub(linked_text.address);
                if let (Some(relative), Some(&(record, size))) = (relative, in_record.get(&segment.name)) {
                    spans.push(Span { relative, size: size.min(segment.size), record });
                }
            }
        }
        spans.sort_by_key(|span| span.relative);
        Self { spans, text: (text, text + text_size) }
    }

    /// Converts an address relative to the start of `__TEXT` to a record address; `None` outside all segments.
    pub(super) fn to_record(&self, relative: u64) -> Option<u64> {
        let index = self.spans.partition_point(|span| span.relative <= relative).checked_sub(1)?;
        let span = self.spans[index];
        let inside = relative - span.relative;
        (inside < span.size).then(|| span.record + inside)
    }

    /// Calls `add` with the starts and ends of all segments, and with these record addresses, relative to the start of `__TEXT`.
    pub(super) fn for_each_boundary(&self, in_record: impl Iterator<Item = u64>, add: &mut dyn FnMut(u64)) {
        self.spans.iter().flat_map(|span| [span.relative, span.relative.saturating_add(span.size)]).for_each(&mut *add);
        for address in in_record {
            // In broken files, segments overlap.
            for span in self.spans.iter().take(MAX_SEGMENTS) {
                let inside = address.checked_sub(span.record).filter(|inside| *inside < span.size);
                inside.into_iter().for_each(|inside| add(span.relative.saturating_add(inside)));
            }
        }
    }

    /// True if a record address is in `__TEXT`.
    pub(super) fn is_text(&self, address: u64) -> bool {
        (self.text.0..self.text.1).contains(&address)
    }

    pub(super) fn has_text(&self) -> bool {
        !self.spans.is_empty()
    }
}

/// Checks that segments end within 64 bits, and returns their sorted ranges.
pub(super) fn check_segments(segments: Table<'_, 32>) -> Result<Vec<(u64, u64)>, Broken> {
    let mut ranges = Vec::with_capacity(segments.entries.len());
    for (index, segment) in segments.entries.iter().enumerate() {
        let (address, size) = (u64_at(segment, 0), u64_at(segment, 8));
        let Some(end) = address.checked_add(size) else {
            let rule = format_args!("{address:#x} + {size:#x} does not fit in 64 bits");
            return Err(broken(segments.offset(index), format_args!("segment {index}"), rule));
        };
        ranges.push((address, end));
    }
    ranges.sort_unstable();
    Ok(ranges)
}

//! Which addresses, files and calls an image's symbols cover, for checks and listings. Lookups do not need this.
//!
//! All addresses are record addresses (see `apple_segments`): for code, relative to the start of `__TEXT`.

use std::ops::Range;

use super::apple_bytes::u32_at;
use super::apple_lookup::AppleSymbols;
use super::apple_record::Entry;

impl<'a> AppleSymbols<'a> {
    /// The sections with their names, such as `__TEXT __text`, in file order. The part before the first section is called `MACH_HEADER`. A name
    /// is `None` if it is not UTF-8.
    pub fn sections(&self) -> impl Iterator<Item = (Option<&'a str>, Range<u64>)> {
        let strings = self.record.strings;
        self.record.sections.iter().map(move |section| {
            let end = section.address.saturating_add(section.size);
            (strings.get(section.at, section.name), section.address..end)
        })
    }

    /// The address ranges of the symbols (functions and data), sorted by start. Folded functions have the same range.
    pub fn symbol_ranges(&self) -> impl ExactSizeIterator<Item = Range<u64>> {
        let symbols = self.record.symbols;
        (0..symbols.entries.len()).map(move |index| {
            let symbol = Entry::of(&symbols, index);
            symbol.address..symbol.end
        })
    }

    /// The address ranges of the line entries, sorted by start.
    pub fn line_ranges(&self) -> impl ExactSizeIterator<Item = Range<u64>> {
        self.record.lines.entries.iter().map(|line| {
            let address = u64::from(u32_at(line, 0));
            address..address + u64::from(u32_at(line, 4))
        })
    }

    /// The number of inlined calls.
    pub fn inlined_call_count(&self) -> usize {
        self.record.inlined.entries.len()
    }
}

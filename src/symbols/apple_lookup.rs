//! Looks up addresses in the symbols of one image of a `.symbols` or `.symbolsarchive` file.
//!
//! 1. The function is one of the symbols that start at the nearest address up to the requested one, if they contain it.
//! 2. The inlined call at the address is looked up in the function, then a call inlined into that call, and so on.
//! 3. The line table contains the source position of the innermost code. A caller's position is where it calls the inlined function.
//!
//! The name is the display name or, without one, the linker name without the `_` that Mach-O adds to every C name. In symbols that the linker
//! created to reach another binary, the target loses its underscore, as in Instruments:
//!
//! | display name | linker name | function | linkage name |
//! |---|---|---|---|
//! | `A::f()` | `__ZN1A1fEv` | `A::f()` | `_ZN1A1fEv` |
//! | `main` | `_main` | `main` | |
//! | | `__ZN7TFSInfoD2Ev` | `_ZN7TFSInfoD2Ev` | |
//! | | `DYLD-STUB$$_strlen` | `DYLD-STUB$$strlen` | |
//! | `0x195f311e8` | `0x195f311e8` | `0x195f311e8` (no name: only the start of the function was known) | |
//!
//! **Folded functions.** A linker keeps one copy of functions with identical code, so several names have the same address. The flag `0x800` marks
//! such code, and Instruments adds a symbol `<deduplicated_symbol>`. It is unknown which function ran, so this symbol is the answer, without line
//! and inlined calls.

use std::fmt;

use super::apple_bytes::{Broken, u32_at};
use super::apple_inlined::InlinedCalls;
use super::apple_record::{Entry, Place, Record};
use super::apple_segments::{LinkedSegment, SegmentMap};
use super::frame::{Called, Location, SymbolFrame, Symbols};
use crate::demangle::STUB;
use crate::error::Diagnostic;

/// Marks a folded function.
const IS_FOLDED: u32 = 0x800;

/// Marks functions (1) and stubs (2); data has neither flag.
const IS_CODE: u32 = 3;

/// The maximum number of symbols examined at one address; real files have up to 42.
const MAX_AT_ONE_ADDRESS: usize = 1_024;

/// The symbols of one image.
#[derive(Clone)]
pub struct AppleSymbols<'a> {
    pub(super) record: Record<'a>,
    inlined: InlinedCalls<'a>,
    segments: SegmentMap,
}

impl fmt::Debug for AppleSymbols<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record { uuid, symbols, inlined, lines, .. } = &self.record;
        let [symbols, inlined, lines] = [symbols.entries.len(), inlined.entries.len(), lines.entries.len()];
        write!(f, "AppleSymbols({uuid}: {symbols} symbols, {inlined} inlined calls, {lines} lines)")
    }
}

#[derive(Clone, Copy, Debug)]
struct Function {
    symbol: Entry,
    /// True if several functions with different names start there.
    is_ambiguous: bool,
    /// True if the function was folded, so its lines may belong to another function.
    is_folded: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Names<'a> {
    called: Called<'a>,
    /// For a stub, the function that it calls.
    stub: Option<&'a str>,
}

impl<'a> AppleSymbols<'a> {
    /// The name of folded functions.
    pub const DEDUPLICATED: &'static str = "<deduplicated_symbol>";

    /// Creates the symbols of a record. `linked` are the segments of its container, and empty for a bare record.
    pub(super) fn new(record: Record<'a>, linked: &[LinkedSegment]) -> Result<Self, Broken> {
        let inlined = InlinedCalls::read(&record)?;
        Ok(Self { record, inlined, segments: SegmentMap::new(record.segments, linked) })
    }

    /// Returns the functions that may be at an address relative to the start of `__TEXT`: several for folded functions, otherwise at most one.
    /// Frames contain only names.
    pub fn candidates(&self, address: u64) -> Vec<SymbolFrame<'a>> {
        let Some(address) = self.segments.to_record(address) else {
            return Vec::new();
        };
        let mut unreadable = Unreadable::default();
        let names = self.symbols_at(address).map(|symbol| self.names(&symbol, &mut unreadable));
        let names =
            names.filter(|names| names.called.function.is_some_and(|function| function != AppleSymbols::DEDUPLICATED));
        names.map(|names| Location::default().frame(names.called, false)).collect()
    }

    /// Returns the code symbols that contain a record address and start nearest to it.
    fn symbols_at(&self, address: u64) -> impl Iterator<Item = Entry> {
        let symbols = &self.record.symbols;
        let last = symbols.nearest(address);
        let range = last.map_or(0..0, |last| symbols.first_like(last)..last + 1);
        let entries = range.take(MAX_AT_ONE_ADDRESS).map(|index| Entry::of(symbols, index));
        entries.filter(move |symbol| {
            symbol.contains(address) && (self.segments.is_text(symbol.address) || symbol.flags & IS_CODE != 0)
        })
    }

    /// Returns the function at a record address.
    fn function_at(&self, address: u64, unreadable: &mut Unreadable) -> Option<Function> {
        let mut symbols = self.symbols_at(address);
        let first = symbols.next()?;
        let is_folded = first.flags & IS_FOLDED != 0;
        let mut function = Function { symbol: first, is_ambiguous: is_folded, is_folded };
        for symbol in symbols {
            function.is_folded |= symbol.flags & IS_FOLDED != 0;
            if function.is_folded {
                function.is_ambiguous = true;
                break;
            }
            if !function.is_ambiguous {
                let names = [first, symbol].map(|symbol| self.names(&symbol, unreadable).called.function);
                function.is_ambiguous = names[0] != names[1];
            }
            if function.symbol.first_inlined().is_none() && symbol.first_inlined().is_some() {
                function.symbol = symbol;
            }
        }
        Some(function)
    }

    fn line_at(&self, address: u64) -> Option<Place> {
        let lines = &self.record.lines;
        let index = lines.nearest(address)?;
        let line = &lines.entries[index];
        let end = u64::from(u32_at(line, 0)) + u64::from(u32_at(line, 4));
        (address < end).then(|| Place::of(lines, index, 8))
    }

    /// Returns the calls inlined at a record address, outermost first.
    fn inlined_at(&self, symbol: &Entry, address: u64) -> impl Iterator<Item = usize> {
        let step = move |caller: &Entry| self.inlined.find(caller.first_inlined()?, address);
        std::iter::successors(step(symbol), move |&call| step(&Entry::of(&self.inlined.table, call)))
    }

    /// Answers one record address; false if it is unknown.
    fn answer_one(
        &self,
        address: u64,
        unreadable: &mut Unreadable,
        answer: &mut dyn FnMut(&[SymbolFrame<'_>]),
    ) -> bool {
        let (mut calls, mut frames) = (Vec::new(), Vec::new());
        let function = self.function_at(address, unreadable);
        if let Some(Function { symbol, is_folded: false, .. }) = function {
            calls.extend(self.inlined_at(&symbol, address));
        }
        let is_folded = function.is_some_and(|function| function.is_folded);
        let line = if is_folded { None } else { self.line_at(address) };
        let mut source = line.map(|place| self.source(place, unreadable)).unwrap_or_default();
        for call in calls.into_iter().rev() {
            let names = self.names(&Entry::of(&self.inlined.table, call), unreadable);
            frames.push(source.frame(names.called, true));
            source = self.source(Place::of(&self.inlined.table, call, 24), unreadable);
        }
        let names = match function {
            Some(Function { is_ambiguous: true, .. }) => {
                Names { called: Called::new(Some(AppleSymbols::DEDUPLICATED), None), stub: None }
            }
            Some(Function { symbol, .. }) => self.names(&symbol, unreadable),
            None => Names::default(),
        };
        let stub = names.stub.map(|target| format!("{STUB}{target}"));
        let offset = function.map(|function| address - function.symbol.address);
        let outermost = SymbolFrame { offset, ..source.frame(names.called, false) };
        if let Some(stub) = &stub {
            // Nothing is inlined into a stub, so there is one frame, named after the target. The file does not contain that name itself.
            answer(&[SymbolFrame { function: Some(stub), ..outermost }]);
            return true;
        }
        frames.push(outermost);
        let is_known = offset.is_some() || frames.iter().any(|frame| frame.file.is_some());
        if is_known {
            answer(&frames);
        }
        is_known
    }

    fn names(&self, entry: &Entry, unreadable: &mut Unreadable) -> Names<'a> {
        let mut read = |offset| self.text(entry.at, offset, unreadable);
        let (display, linker) = (read(entry.display_name), read(entry.linker_name));
        if display.is_none()
            && let Some(target) = linker.and_then(|linker| linker.strip_prefix(STUB))
        {
            return Names { stub: Some(without_underscore(target)), ..Names::default() };
        }
        let linker = linker.map(without_underscore);
        Names { called: Called::new(display.or(linker), linker), stub: None }
    }

    fn source(&self, place: Place, unreadable: &mut Unreadable) -> Location<'a> {
        let Some(file) = self.text(place.at, place.file, unreadable) else {
            return Location::default();
        };
        let column = (place.column != 0).then_some(place.column);
        Location { file: Some(file), line: Some(place.line), column }
    }

    /// Returns the string of an entry; `None` if it is missing, empty, or not UTF-8.
    fn text(&self, entry: usize, offset: u32, unreadable: &mut Unreadable) -> Option<&'a str> {
        let text = self.record.name(entry, offset)?;
        if text.is_none() {
            unreadable.count += 1;
            unreadable.first.get_or_insert(entry);
        }
        text.filter(|text| !text.is_empty())
    }
}

/// Removes the underscore that the compiler adds to linker names.
fn without_underscore(name: &str) -> &str {
    name.strip_prefix('_').unwrap_or(name)
}

/// The number of strings that are not UTF-8, and the first entry with one.
#[derive(Clone, Copy, Debug, Default)]
struct Unreadable {
    count: u64,
    first: Option<usize>,
}

impl Symbols for AppleSymbols<'_> {
    fn look_up(&self, addresses: &[u64], answer: &mut dyn FnMut(usize, &[SymbolFrame<'_>])) -> Vec<Diagnostic> {
        if !self.segments.has_text() {
            let message = format!("the symbols of {} have no segment __TEXT to count addresses from", self.record.uuid);
            return vec![Diagnostic::new(message)];
        }
        let mut unreadable = Unreadable::default();
        for (index, &relative) in addresses.iter().enumerate() {
            if let Some(address) = self.segments.to_record(relative) {
                self.answer_one(address, &mut unreadable, &mut |frames| answer(index, frames));
            }
        }
        let first = unreadable.first.map(|first| {
            let count = unreadable.count;
            let message =
                format!("names or paths that are not UTF-8 were left out {count} times, the first at {first:#x}");
            Diagnostic::new(message)
        });
        first.into_iter().collect()
    }

    fn for_each_boundary(&self, add: &mut dyn FnMut(u64)) -> Vec<Diagnostic> {
        let calls = self.inlined.table;
        let calls = (0..calls.entries.len()).map(|index| Entry::of(&calls, index)).map(|call| call.address..call.end);
        let in_record = self.symbol_ranges().chain(self.line_ranges()).chain(calls);
        let in_record = in_record.flat_map(|range| [range.start, range.end]);
        self.segments.for_each_boundary(in_record, add);
        Vec::new()
    }
}

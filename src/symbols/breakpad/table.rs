//! Addresses to frames.
//!
//! Opening a file reads it once, and keeps the offsets of functions and names: 16 to 24 bytes for each. A lookup reads the lines and inlined
//! functions of the functions at its addresses, in the order of the file.

use std::cmp::Reverse;
use std::ops::Range;

use super::body::{Body, Inlinee};
use super::line_reader::LineReader;
use super::records::{OMITTED, Place, Record, UNKNOWN};
use crate::error::Diagnostic;
use crate::files::FileBytes;
use crate::symbols::frame::{Called, Location, SymbolFrame, Symbols};
use crate::symbols::notes::Notes;
use crate::units::LONGEST_FUNCTION;

/// If the nearest function does not contain an address, at most this many functions before it are tried, since functions rarely overlap.
const MAX_OVERLAPPING: usize = 32;
/// The maximum number of other names of a function.
const MAX_ALIASES: usize = 64;

/// The symbols of a file.
pub(super) struct BreakpadSymbols<'f, 'b> {
    file: &'f FileBytes<'b>,
    /// Sorted by start, and the shortest last.
    functions: Vec<Function>,
    /// Sorted by address, then in file order.
    publics: Vec<(u64, Text)>,
    /// Sorted by number.
    files: Vec<(u32, Text)>,
    origins: Vec<(u32, Text)>,
    notes: Notes,
}

#[derive(Debug)]
struct Function {
    /// Empty for a `FUNC` without a size.
    addresses: Range<u64>,
    /// The offset of its record.
    offset: u64,
}

/// Where a name is in the file.
#[derive(Clone, Copy, Debug)]
struct Text {
    offset: u64,
    length: u32,
}

impl<'f, 'b> BreakpadSymbols<'f, 'b> {
    /// Reads the file once. Malformed records are left out, with a note.
    pub(super) fn read(file: &'f FileBytes<'b>) -> Self {
        let (functions, publics, files, origins) = Default::default();
        let mut symbols = Self { file, functions, publics, files, origins, notes: Notes::default() };
        let mut lines = LineReader::new(file);
        let mut is_after_stack = false;
        while let Some((offset, line)) = lines.next() {
            let record = Record::parse(line);
            if offset > 0 && record == Some(Record::Module) {
                symbols
                    .notes
                    .add("the file contains a second module, which is left out; write each to a file of its own");
                break;
            }
            is_after_stack = match record {
                Some(Record::Stack) => true,
                Some(Record::Function(..)) => false,
                _ => is_after_stack,
            };
            if is_after_stack && matches!(record, Some(Record::Line(_) | Record::Inline(_))) {
                symbols.notes.add("a line or INLINE record follows the STACK records of its function, and is left out");
            }
            if symbols.add(offset, line, record).is_none() {
                // Out of memory, which `FileBytes::check` reports.
                break;
            }
        }
        if lines.skipped > 0 {
            symbols.notes.add("a line is too long");
        }
        symbols.functions.sort_by_key(|function| (function.addresses.start, Reverse(function.addresses.end)));
        symbols.publics.sort_by_key(|(address, _)| *address);
        symbols.files.sort_by_key(|(number, _)| *number);
        symbols.origins.sort_by_key(|(number, _)| *number);
        symbols
    }

    fn add(&mut self, offset: u64, line: &[u8], record: Option<Record<'_>>) -> Option<()> {
        // Names are at the end of their records.
        let text = |name: &[u8]| Text { offset: offset + (line.len() - name.len()) as u64, length: name.len() as u32 };
        match record {
            Some(Record::Function(addresses, name)) => {
                if addresses.is_empty() || name.is_empty() {
                    self.notes.add("a FUNC record has no valid size or no name");
                }
                push(self.file, &mut self.functions, Function { addresses, offset })
            }
            // The Mach-O header, which `dump_syms` lists as `_mh_execute_header`.
            Some(Record::Public(0, _)) => Some(()),
            Some(Record::Public(address, name)) => push(self.file, &mut self.publics, (address, text(name))),
            Some(Record::File(number, path)) => push(self.file, &mut self.files, (number, text(path))),
            Some(Record::Origin(number, name)) => push(self.file, &mut self.origins, (number, text(name))),
            Some(Record::Line(_) | Record::Inline(_)) if self.functions.is_empty() => {
                self.notes.add("a line is before the first function");
                Some(())
            }
            None if line.first().is_some_and(u8::is_ascii_uppercase) => {
                self.notes.add("a record is malformed");
                Some(())
            }
            _ => Some(()),
        }
    }

    /// Returns the function at an address. If there are several, the last to start wins, then the shortest.
    fn function(&self, address: u64) -> Option<&Function> {
        let end = self.functions.partition_point(|function| function.addresses.start <= address);
        self.functions[..end].iter().rev().take(MAX_OVERLAPPING).find(|function| function.addresses.contains(&address))
    }

    /// Returns the start of the `PUBLIC` at an address that is in no function.
    fn public(&self, address: u64) -> Option<u64> {
        let last = self.publics.partition_point(|public| public.0 <= address).checked_sub(1)?;
        let start = self.publics[last].0;
        let end = self.functions.partition_point(|function| function.addresses.start <= address);
        let is_next = end == 0 || self.functions[end - 1].addresses.start < start;
        (is_next && address - start <= LONGEST_FUNCTION).then_some(start)
    }

    /// Returns the names of `PUBLIC` records at an address.
    fn publics_at(&self, address: u64, notes: &mut Notes) -> Vec<&'f str> {
        let first = self.publics.partition_point(|public| public.0 < address);
        let publics = self.publics[first..].iter().take_while(|public| public.0 == address).take(MAX_ALIASES);
        publics.filter_map(|(_, text)| self.text(*text, notes)).collect()
    }

    /// Returns a name; `None` if it is missing.
    fn text(&self, Text { offset, length }: Text, notes: &mut Notes) -> Option<&'f str> {
        name(self.file.get(offset..offset + u64::from(length))?, notes)
    }

    /// Returns the name with a number.
    fn numbered(&self, table: &[(u32, Text)], number: u32, notes: &mut Notes) -> Option<&'f str> {
        match table.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(index) => self.text(table[index].1, notes),
            Err(_) => {
                notes.add("a record refers to a FILE or INLINE_ORIGIN that does not exist");
                None
            }
        }
    }

    fn location(&self, place: Place, notes: &mut Notes) -> Location<'f> {
        let file = self.numbered(&self.files, place.file, notes);
        Location { file, line: file.map(|_| place.line), column: None }
    }

    /// Passes the frames of an address in a function to `answer`.
    fn answer(&self, function: &Function, body: &Body, address: u64, notes: &mut Notes, answer: &mut Answer<'_>) {
        let mut location = body.line(address).map(|place| self.location(place, notes)).unwrap_or_default();
        let mut frames = Vec::new();
        for &Inlinee { call, origin } in body.inlined(address).into_iter().rev() {
            let called = Called::new(self.numbered(&self.origins, origin, notes), None);
            frames.push(location.frame(called, true));
            location = self.location(call, notes);
        }
        let start = function.addresses.start;
        let called = Called::new(name(&body.name, notes), None);
        let mut aliases = self.publics_at(start, notes);
        aliases.retain(|alias| Some(*alias) != called.function);
        let offset = (body.name != UNKNOWN.as_bytes()).then_some(address - start);
        frames.push(SymbolFrame { offset, aliases: &aliases, ..location.frame(called, false) });
        answer(&frames);
    }

    /// Passes the frame of an address after a `PUBLIC` to `answer`.
    fn answer_public(&self, start: u64, address: u64, notes: &mut Notes, answer: &mut Answer<'_>) {
        let names = self.publics_at(start, notes);
        let (function, aliases) = names.split_first().map_or((None, &[][..]), |(first, others)| (Some(*first), others));
        let frame = Location::default().frame(Called::new(function, None), false);
        answer(&[SymbolFrame { offset: Some(address - start), aliases, ..frame }]);
    }
}

type Answer<'a> = dyn FnMut(&[SymbolFrame<'_>]) + 'a;

/// Adds a row to a table, after reserving memory for it.
fn push<T>(file: &FileBytes<'_>, table: &mut Vec<T>, row: T) -> Option<()> {
    if table.len() == table.capacity() {
        file.reserve((table.len().max(64) * size_of::<T>()) as u64)?;
    }
    table.push(row);
    Some(())
}

/// Returns a name as text; `None` if it is missing or not UTF-8.
fn name<'n>(name: &'n [u8], notes: &mut Notes) -> Option<&'n str> {
    let text = std::str::from_utf8(name);
    if text.is_err() {
        notes.add("a name or path is not UTF-8");
    }
    text.ok().filter(|text| !matches!(*text, "" | OMITTED | UNKNOWN))
}

impl Symbols for BreakpadSymbols<'_, '_> {
    fn look_up(&self, addresses: &[u64], answer: &mut dyn FnMut(usize, &[SymbolFrame<'_>])) -> Vec<Diagnostic> {
        let mut notes = Notes::default();
        notes.add_all(self.notes.as_slice());
        // Each function is read once, and in the order of the file.
        let mut inside = Vec::new();
        for (index, &address) in addresses.iter().enumerate() {
            match self.function(address) {
                Some(function) => inside.push((function.offset, index, function)),
                None => {
                    let mut answer = |frames: &[SymbolFrame<'_>]| answer(index, frames);
                    let start = self.public(address);
                    start.into_iter().for_each(|start| self.answer_public(start, address, &mut notes, &mut answer));
                }
            }
        }
        inside.sort_unstable_by_key(|&(offset, index, _)| (offset, index));
        let (mut lines, mut reserved) = (LineReader::new(self.file), 0);
        let mut charge = |bytes: usize| {
            // One body is in memory at a time.
            let missing = (bytes as u64).saturating_sub(reserved);
            reserved += missing;
            if missing > 0 { self.file.reserve(missing) } else { Some(()) }
        };
        for in_function in inside.chunk_by(|one, other| one.0 == other.0) {
            let Some(body) = Body::read(&mut lines, in_function[0].0, &mut notes, &mut charge) else { break };
            for &(_, index, function) in in_function {
                let mut answer = |frames: &[SymbolFrame<'_>]| answer(index, frames);
                self.answer(function, &body, addresses[index], &mut notes, &mut answer);
            }
        }
        notes.into_vec()
    }

    fn for_each_boundary(&self, add: &mut dyn FnMut(u64)) -> Vec<Diagnostic> {
        let mut add_both = |range: Range<u64>| [range.start, range.end].into_iter().for_each(&mut *add);
        self.functions.iter().for_each(|function| add_both(function.addresses.clone()));
        for &(start, _) in &self.publics {
            add_both(start..start.saturating_add(LONGEST_FUNCTION + 1));
        }
        let mut lines = LineReader::new(self.file);
        while let Some((_, line)) = lines.next() {
            match Record::parse(line) {
                Some(Record::Line(line)) => add_both(line.addresses),
                Some(Record::Inline(inline)) => drop(inline.for_each_range(&mut add_both)),
                _ => {}
            }
        }
        self.notes.as_slice().to_vec()
    }
}

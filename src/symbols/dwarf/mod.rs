//! Names from a Mach-O file and its DWARF: functions, inlined functions, files and lines.
//!
//! An address is relative to the Mach-O header. Adding the address of `__TEXT` *in the same slice* gives the address used by DWARF and symbols.
//! Then, for each address:
//!
//! 1. find the unit, by its ranges ([`units`]);
//! 2. find the function in the unit, and the functions inlined there ([`functions`]);
//! 3. find the line ([`lines`]); every function except the innermost is at the line of the call inlined into it.
//!
//! # Which name is used
//!
//! The outermost function takes the name of the symbol that starts exactly where the function does, since DWARF often has only `Update` where the
//! linker has `_ZN…6UpdateEv`. Otherwise it takes its linkage name, or else its plain name ([`names`]). If several symbols start there (aliases,
//! folded functions), it takes the one that DWARF names, and the others become aliases. Inlined functions have no symbols: they take the linkage
//! name, or else the plain name. If both are missing (old Swift), they stay unnamed, since the name of the enclosing function would be wrong.
//!
//! # Missing DWARF
//!
//! Code without DWARF (a third of some apps: static libraries) gets its names from the symbol table, without lines. The same applies to
//! unreadable units: a broken `.debug_aranges`, unit or line table produces a [`Diagnostic`] and affects nothing else.
//!
//! # Why not addr2line
//!
//! The crate `addr2line` reads the same tables in the same order, and a test compares the results. But it follows inlined functions by recursion,
//! so a file of 5 KB overflows the stack of a worker thread and kills the process. It also rejects the entire file if one unit is broken,
//! converts line 0 to no line, does not distinguish linkage names from plain names, and does not return where a function starts.

mod function_names;
mod functions;
mod headers;
mod limits;
mod lines;
mod ranges;
mod units;

use std::io;

use super::frame::{Called, Location, SymbolFrame, Symbols};
use super::layout::Layout;
use super::macho::Slice;
use super::notes::Notes;
use super::symbol_table::SymbolTable;
use crate::error::Diagnostic;
use crate::files::FileBytes;

use function_names::{Names, names};
use functions::{Function, Inlinee};
use lines::Row;
use units::{Unit, Units};

impl Slice {
    /// Opens the symbols of a slice of `file`: the DWARF of a dSYM, or the symbols of a binary.
    ///
    /// Opening reads the load commands and the symbol table. Each lookup reads what its addresses need, and keeps none of it.
    ///
    /// # Errors
    /// If the slice is outside the file, is big endian, or has broken load commands.
    pub fn symbols<'d, 'b>(&self, file: &'d FileBytes<'b>) -> io::Result<impl Symbols + use<'d, 'b>> {
        Layout::read(file, self)
    }
}

impl Symbols for Layout<'_> {
    fn look_up(&self, addresses: &[u64], answer: &mut dyn FnMut(usize, &[SymbolFrame<'_>])) -> Vec<Diagnostic> {
        let mut notes = Notes::default();
        notes.add_all(self.notes.as_slice());
        let table = &self.symbols;
        let units = Units::read(self, notes);
        for (index, &address) in addresses.iter().enumerate() {
            let Some(address) = address.checked_add(self.text_address) else { continue };
            let names;
            let mut frames = find_frames(&units, table, address);
            if let Some(outermost) = frames.last_mut() {
                names = aliases(table, address, outermost);
                outermost.aliases = &names;
                answer(index, &frames);
            }
        }
        units.into_notes().into_vec()
    }

    fn for_each_boundary(&self, add: &mut dyn FnMut(u64)) -> Vec<Diagnostic> {
        let mut notes = Notes::default();
        notes.add_all(self.notes.as_slice());
        let mut add = |address: u64| address.checked_sub(self.text_address).into_iter().for_each(&mut *add);
        self.symbols.for_each_boundary(&mut add);
        let units = Units::read(self, notes);
        units.for_each_boundary(&mut add);
        units.into_notes().into_vec()
    }
}

/// The maximum number of aliases. The most found at one address are 42.
const MOST_ALIASES: usize = 64;

/// Returns the other symbols at the start of a frame's function.
fn aliases<'data>(table: &SymbolTable<'data>, address: u64, frame: &SymbolFrame<'_>) -> Vec<&'data str> {
    let Some(start) = frame.offset.map(|offset| address - offset) else { return Vec::new() };
    table.at(start).filter(|&name| Some(name) != frame.function).take(MOST_ALIASES).collect()
}

/// Returns the frames at an address, innermost first; none if the address is unknown.
fn find_frames<'a, 'data: 'a>(
    units: &'a Units<'data>,
    table: &SymbolTable<'data>,
    address: u64,
) -> Vec<SymbolFrame<'a>> {
    let mut line_only = None;
    for unit in units.at(address) {
        let function = units.functions(unit).and_then(|functions| functions.find(address));
        if let Some(function) = function {
            return function_frames(units, unit, function, table, address);
        }
        if line_only.is_none() {
            line_only = units.lines(unit).and_then(|lines| lines.row(address)).map(|row| (unit, row));
        }
    }
    let location = line_only.map(|(unit, row)| Location::of_row(units, unit, row)).unwrap_or_default();
    let containing = table.containing(address);
    if containing.is_none() && location.file.is_none() {
        return Vec::new();
    }
    let called = Called::new(containing.and_then(|(_, name)| name), None);
    let offset = containing.map(|(start, _)| address - start);
    vec![SymbolFrame { offset, ..location.frame(called, false) }]
}

/// Returns the frames of a function, and of the functions inlined into it at an address.
fn function_frames<'a, 'data: 'a>(
    units: &'a Units<'data>,
    unit: &'a Unit<'data>,
    function: &'a Function<'data>,
    table: &SymbolTable<'data>,
    address: u64,
) -> Vec<SymbolFrame<'a>> {
    let (mut location, mut frames) = (Location::default(), Vec::new());
    let on_fault = |fault| units.note("inlined functions could not be read; frames and lines are missing", fault);
    // Without the inlined functions, the address's line would be assigned to the wrong function.
    if let Some(body) = function.body(|| units.unit_ref(unit), &units.budget, on_fault) {
        let row = units.lines(unit).and_then(|lines| lines.row(address));
        location = row.map(|row| Location::of_row(units, unit, row)).unwrap_or_default();
        for inlinee in body.find(address).into_iter().rev() {
            let called = inlinee.called.get_or_init(|| {
                let names = names(units, unit, inlinee.named_by, &units.budget);
                Called::new(names.best(), names.linkage)
            });
            frames.push(location.frame(*called, true));
            location = Location::of_call(units, unit, inlinee);
        }
    }
    let called = function.called.get_or_init(|| {
        let names = names(units, unit, function.offset, &units.budget);
        let symbol = symbol_at(table, function.entry, names);
        let other = || table.containing(function.entry).and_then(|(_, name)| name);
        Called::new(symbol.or(names.best()).or_else(other), names.linkage)
    });
    // Unlikely code may precede the entry.
    let offset = address.checked_sub(function.entry);
    frames.push(SymbolFrame { offset, ..location.frame(*called, false) });
    frames
}

/// Returns the symbol at the start of a function: the one that DWARF names, or else the first one.
fn symbol_at<'data>(table: &SymbolTable<'data>, entry: u64, names: Names<'data>) -> Option<&'data str> {
    let mut symbols = table.at(entry);
    let first = symbols.next()?;
    let is_named = |symbol: &&str| Some(*symbol) == names.linkage || Some(*symbol) == names.plain;
    if is_named(&first) { Some(first) } else { symbols.find(is_named).or(Some(first)) }
}

impl<'a> Location<'a> {
    /// The source position of an instruction.
    fn of_row<'data: 'a>(units: &'a Units<'data>, unit: &'a Unit<'data>, row: Row) -> Self {
        let file = units.path(unit, u64::from(row.file));
        Self { file, line: Some(row.line), column: Some(row.column).filter(|&column| column > 0) }
    }

    /// The position of an inlined function's call.
    fn of_call<'data: 'a>(units: &'a Units<'data>, unit: &'a Unit<'data>, inlinee: &Inlinee<'data>) -> Self {
        let path = |file| units.path(unit, file);
        Self {
            file: inlinee.call_file.map(u64::from).and_then(path),
            line: inlinee.call_line,
            column: inlinee.call_column.filter(|&column| column > 0),
        }
    }
}

#[cfg(test)]
mod tests;

//! Writes the symbols of an image as a Breakpad file.
//!
//! Every address at which an answer may change ([`Symbols::for_each_boundary`]) is looked up in the image's files, best first. Runs of equal answers
//! become `FUNC`, `INLINE` and line records. The written file therefore has the same answers as its sources, for all formats.
//!
//! - Names are written unchanged, usually mangled. They are demangled after the lookup, like the names in all other files.
//! - Code of a function in several places becomes several `FUNC` records with one name.
//! - Other names of a function become `PUBLIC` records at its start.
//!
//! [`Symbols::for_each_boundary`]: crate::symbols::Symbols::for_each_boundary

use std::fmt::Write as _;
use std::io::{self, Write};

use super::records::{OMITTED, UNKNOWN};
use crate::error::Diagnostic;
use crate::files::shown;
use crate::hash::IndexSet;
use crate::memory::{MemoryBudget, OverBudget, Reservation};
use crate::symbols::found::Found;
use crate::symbols::frame::SymbolFrame;
use crate::symbols::lookup::SymbolFinder;
use crate::symbols::notes::Notes;
use crate::units::Uuid;

/// The number of addresses that are looked up at once. Each look-up reads its part of the sources.
const BATCH: usize = 1 << 18;
/// The size of a text allocation, in bytes.
const PIECE: usize = 1 << 20;
/// The number of a missing name or path.
const MISSING: u32 = 0;

/// The contents of a Breakpad file, in memory.
#[derive(Debug)]
pub struct BreakpadFile {
    /// The fields of the `MODULE` record after its platform.
    module: String,
    files: Texts,
    names: Texts,
    /// The names of inlined functions, as numbers of `names`.
    origins: IndexSet<u32>,
    /// `FUNC` records with their lines.
    functions: Pieces,
    publics: Pieces,
    notes: Notes,
    function: Option<Function>,
    reserved: Reservation,
}

/// Text that grows without being copied.
#[derive(Debug, Default)]
struct Pieces(Vec<String>);

impl Pieces {
    fn last(&mut self) -> &mut String {
        if self.0.last().is_none_or(|last| last.len() >= PIECE) {
            self.0.push(String::new());
        }
        let index = self.0.len() - 1;
        &mut self.0[index]
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(String::capacity).sum()
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.0.iter().try_for_each(|piece| out.write_all(piece.as_bytes()))
    }
}

/// Interned strings, each on one line. The first one is written for a missing string.
#[derive(Debug)]
struct Texts {
    texts: IndexSet<Box<str>>,
    bytes: usize,
    /// True if a string had line breaks, which are written as spaces.
    had_breaks: bool,
}

impl Texts {
    fn new(missing: &str) -> Self {
        Self { texts: std::iter::once(missing.into()).collect(), bytes: 0, had_breaks: false }
    }

    fn intern(&mut self, text: Option<&str>) -> u32 {
        let Some(text) = text else { return MISSING };
        if let Some(index) = self.texts.get_index_of(text) {
            return index as u32;
        }
        let line = text.replace(['\n', '\r'], " ");
        self.had_breaks |= line != text;
        self.bytes += line.len() + 3 * size_of::<Box<str>>();
        self.texts.insert_full(line.into()).0 as u32
    }

    fn get(&self, index: u32) -> &str {
        &self.texts[index as usize]
    }
}

/// A source position; without a file, its line has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    file: u32,
    line: u32,
}

/// A frame of an answer.
#[derive(Clone, Copy, Debug)]
struct Frame {
    name: u32,
    place: Place,
}

/// The answer for an address.
#[derive(Clone, Debug, Default)]
struct Answer {
    /// Innermost first.
    frames: Vec<Frame>,
    /// The start of the outermost function, if known.
    start: Option<u64>,
    aliases: Vec<u32>,
}

/// A run of code in one function.
#[derive(Debug)]
struct Function {
    addresses: (u64, u64),
    name: u32,
    start: Option<u64>,
    lines: Vec<(u64, u64, Place)>,
    inlinees: Vec<Inlinee>,
    /// The inlined calls at the end of the run, outermost first, as positions in `inlinees`.
    open: Vec<usize>,
}

#[derive(Debug)]
struct Inlinee {
    addresses: (u64, u64),
    depth: usize,
    name: u32,
    call: Place,
}

impl BreakpadFile {
    /// Reads the symbols of an image from all its files. `progress` is called with the number of addresses that were looked up, and of all
    /// addresses. Memory is charged to the budget for the lifetime of this value.
    ///
    /// # Errors
    /// If one of the files cannot be read completely, or if the memory is not enough.
    pub fn read(
        finder: &dyn SymbolFinder,
        uuid: Uuid,
        budget: &MemoryBudget,
        progress: &mut dyn FnMut(u64, u64),
    ) -> io::Result<Self> {
        let found = finder.find(uuid);
        let (arch, name) = found.first().map_or(("unknown", ""), |found| (&found.arch, &found.name));
        let mut file = Self {
            module: format!("{arch} {} {}", uuid.breakpad_id(), name.replace(char::is_control, " ")),
            files: Texts::new(UNKNOWN),
            names: Texts::new(OMITTED),
            origins: IndexSet::default(),
            functions: Pieces::default(),
            publics: Pieces::default(),
            notes: Notes::default(),
            function: None,
            reserved: budget.nothing(),
        };
        let (boundaries, _reserved) = file.boundaries(finder, &found, budget)?;
        let count = boundaries.len();
        for first in (0..count).step_by(BATCH) {
            // The last address of a batch is the first of the next one, and only ends the run before it.
            let batch = &boundaries[first..count.min(first + BATCH + 1)];
            file.look_up(finder, uuid, batch, budget)?;
            progress((first + batch.len()) as u64, count as u64);
        }
        file.close();
        if file.files.had_breaks || file.names.had_breaks {
            file.notes.add("line breaks in names or paths were written as spaces");
        }
        Ok(file)
    }

    /// True if the sources name no code.
    pub fn is_empty(&self) -> bool {
        self.functions.0.is_empty()
    }

    /// Notes about damaged parts of the sources.
    pub fn notes(&self) -> &[Diagnostic] {
        self.notes.as_slice()
    }

    /// Writes the file. The platform is always `mac`, as in files of `dump_syms`, since symbols do not contain it.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "MODULE mac {}", self.module)?;
        for (number, path) in self.files.texts.iter().enumerate() {
            writeln!(out, "FILE {number} {path}")?;
        }
        for (number, &name) in self.origins.iter().enumerate() {
            writeln!(out, "INLINE_ORIGIN {number} {}", self.names.get(name))?;
        }
        self.functions.write(out)?;
        self.publics.write(out)
    }

    /// Returns the sorted addresses at which an answer may change.
    fn boundaries(
        &mut self,
        finder: &dyn SymbolFinder,
        found: &[Found],
        budget: &MemoryBudget,
    ) -> io::Result<(Vec<u64>, Reservation)> {
        let mut boundaries = Boundaries { addresses: Vec::new(), reserved: budget.nothing(), over: None };
        for found in found {
            let notes = finder.files(found).and_then(|files| {
                found.with_symbols(files, budget, |symbols| symbols.for_each_boundary(&mut |at| boundaries.add(at)))
            });
            self.notes.add_all(&notes.map_err(|error| of_file(found, &error))?);
        }
        boundaries.sort();
        boundaries.over.map_or(Ok((boundaries.addresses, boundaries.reserved)), |over| Err(out_of_memory(over)))
    }

    /// Adds the code between sorted addresses.
    fn look_up(
        &mut self,
        finder: &dyn SymbolFinder,
        uuid: Uuid,
        addresses: &[u64],
        budget: &MemoryBudget,
    ) -> io::Result<()> {
        let mut answers = vec![Answer::default(); addresses.len()];
        let asked = finder.look_up(uuid, addresses, budget, &mut |index, frames| {
            answers[index] = self.answer(addresses[index], frames);
        });
        for asked in asked {
            self.notes.add_all(&asked.result.map_err(|error| of_file(&asked.found, &error))?);
        }
        for (range, answer) in addresses.windows(2).zip(&answers) {
            self.add((range[0], range[1]), answer);
        }
        let texts = self.files.bytes + self.names.bytes + self.functions.bytes() + self.publics.bytes();
        self.reserved.resize(texts as u64).map_err(out_of_memory)
    }

    fn answer(&mut self, address: u64, frames: &[SymbolFrame<'_>]) -> Answer {
        let outermost = frames.last();
        let frame = |frame: &SymbolFrame<'_>| Frame {
            name: self.names.intern(frame.function.or(frame.linkage_name)),
            place: Place { file: self.files.intern(frame.file), line: frame.file.and(frame.line).unwrap_or(0) },
        };
        let frames = frames.iter().map(frame).collect();
        let aliases = outermost.map_or(&[][..], |frame| frame.aliases);
        Answer {
            frames,
            start: outermost.and_then(|frame| address.checked_sub(frame.offset?)),
            aliases: aliases.iter().map(|alias| self.names.intern(Some(alias))).collect(),
        }
    }

    /// Adds code with one answer.
    fn add(&mut self, addresses: (u64, u64), answer: &Answer) {
        let Some((outermost, inlined)) = answer.frames.split_last() else { return self.close() };
        let (begin, end) = addresses;
        let (name, start) = (outermost.name, answer.start);
        let is_same =
            |function: &Function| (function.addresses.1, function.name, function.start) == (begin, name, start);
        if !self.function.as_ref().is_some_and(is_same) {
            self.close();
            for &alias in answer.aliases.iter().filter(|_| start == Some(begin)) {
                // Writing to a string cannot fail.
                let _ = writeln!(self.publics.last(), "PUBLIC m {begin:x} 0 {}", self.names.get(alias));
            }
        }
        let new = || Function { addresses, name, start, lines: Vec::new(), inlinees: Vec::new(), open: Vec::new() };
        let function = self.function.get_or_insert_with(new);
        function.addresses.1 = end;
        function.add_line(addresses, answer.frames[0].place);
        // The caller of each inlined function follows it.
        let calls = answer.frames[1..].iter().zip(inlined).rev().map(|(caller, inlinee)| (inlinee.name, caller.place));
        function.add_calls(addresses, calls);
    }

    /// Writes the records of the current function.
    fn close(&mut self) {
        let Some(function) = self.function.take() else { return };
        let (begin, end) = function.addresses;
        // Without a name, a function is shown by its start.
        let is_unknown = function.name == MISSING && function.start != Some(begin);
        let name = if is_unknown { UNKNOWN } else { self.names.get(function.name) };
        let out = self.functions.last();
        let _ = writeln!(out, "FUNC {begin:x} {:x} 0 {name}", end - begin);
        for Inlinee { addresses: (begin, end), depth, name, call } in function.inlinees {
            let (origin, _) = self.origins.insert_full(name);
            let _ = writeln!(out, "INLINE {depth} {} {} {origin} {begin:x} {:x}", call.line, call.file, end - begin);
        }
        for (begin, end, place) in function.lines {
            let _ = writeln!(out, "{begin:x} {:x} {} {}", end - begin, place.line, place.file);
        }
    }
}

impl Function {
    fn add_line(&mut self, (begin, end): (u64, u64), place: Place) {
        match self.lines.last_mut() {
            _ if place.file == MISSING => {}
            Some(last) if (last.1, last.2) == (begin, place) => last.1 = end,
            _ => self.lines.push((begin, end, place)),
        }
    }

    /// Adds the inlined calls at the next addresses, outermost first. A call that continues becomes longer.
    fn add_calls(&mut self, addresses: (u64, u64), calls: impl Iterator<Item = (u32, Place)>) {
        let mut depth = 0;
        for (name, call) in calls {
            let open = self.open.get(depth).map(|&open| &mut self.inlinees[open]);
            match open.filter(|open| (open.name, open.call) == (name, call)) {
                Some(open) => open.addresses.1 = addresses.1,
                None => {
                    self.open.truncate(depth);
                    self.open.push(self.inlinees.len());
                    self.inlinees.push(Inlinee { addresses, depth, name, call });
                }
            }
            depth += 1;
        }
        self.open.truncate(depth);
    }
}

fn out_of_memory(over: OverBudget) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, over)
}

fn of_file(found: &Found, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", shown(&found.path)))
}

/// Addresses, and the memory that they take.
struct Boundaries {
    addresses: Vec<u64>,
    reserved: Reservation,
    over: Option<OverBudget>,
}

impl Boundaries {
    fn add(&mut self, address: u64) {
        if self.addresses.len() == self.addresses.capacity() {
            self.sort();
            // Most boundaries occur several times, so removing the copies often makes room.
            if self.addresses.len() > self.addresses.capacity() / 2 {
                let bytes = self.addresses.capacity() * 2 * size_of::<u64>();
                self.over = self.over.take().or(self.reserved.resize(bytes as u64).err());
            }
        }
        if self.over.is_none() {
            self.addresses.push(address);
        }
    }

    fn sort(&mut self) {
        self.addresses.sort_unstable();
        self.addresses.dedup();
    }
}

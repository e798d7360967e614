//! Threads and processes: who rows speak of, and their names.
//!
//! | reference | array | name |
//! |---|---|---|
//! | thread | tid, process reference, … | what Instruments shows stands in `form.template`, by tid; else in `thread-info` |
//! | process | pid, … (where there are 5 numbers or more, the upper half of the first one is something else) | `process-info`; else `form.template`, by pid |

use std::fmt;
use std::path::Path;

use super::file::broken_at;
use super::layout::{Layout, Place};
use super::row_error::Unreadable;
use super::rows::Rows;
use super::run_data::RunData;
use super::strings::Strings;
use super::uniquer::{Arrays, reference};
use crate::error::{Diagnostic, Error};
use crate::export::Intake;
use crate::hash::HashMap;
use crate::symbols::Files;

/// The names that the tables of a run give, by reference.
#[derive(Debug)]
pub(super) struct Names<'a> {
    /// What was noticed.
    pub(super) diagnostics: Vec<Diagnostic>,
    strings: &'a Strings<'a>,
    /// Numbers of strings: many may have one name.
    threads: HashMap<u32, u64>,
    processes: HashMap<u32, u64>,
}

impl<'a> Names<'a> {
    /// No names yet; names will be these strings.
    pub(super) fn new(strings: &'a Strings<'a>) -> Self {
        Self { diagnostics: Vec::new(), strings, threads: HashMap::default(), processes: HashMap::default() }
    }

    fn thread(&self, number: u32) -> Option<&'a str> {
        self.threads.get(&number).and_then(|&name| self.strings.get(name).ok())
    }

    fn process(&self, number: u32) -> Option<&'a str> {
        self.processes.get(&number).and_then(|&name| self.strings.get(name).ok())
    }

    /// Reads the names of a `thread-info` or a `process-info`; the last one of a thread or process counts.
    pub(super) fn read(
        &mut self,
        files: &dyn Files,
        folder: &Path,
        layout: &Layout,
        arrays: &Arrays,
    ) -> Result<(), Error> {
        let is_threads = layout.schema.name == "thread-info";
        let (who, name) = if is_threads { ("thread", "name") } else { ("process", "process-name") };
        let (Some((who, _)), Some((name, _))) = (layout.column(who), layout.column(name)) else { return Ok(()) };
        let names = if is_threads { &mut self.threads } else { &mut self.processes };
        let mut rows = Rows::open(files, folder, layout)?;
        while let Some((piece, at)) = rows.next()? {
            for (row, index) in piece.chunks_exact(layout.row_size).zip(0_u64..) {
                let (Some(who), Some(text)) = (who.value(row).and_then(reference), name.value(row)) else { continue };
                let wrong = |rule: &dyn fmt::Display| {
                    let at = at + index * layout.row_size as u64;
                    broken_at(&folder.join("bulkstore"), at, "row", rule)
                };
                let number = string_number(name, text);
                let text = self.strings.get(number).map_err(|bad| wrong(&format_args!("its name: {bad}")))?;
                arrays.get(who).map_err(|bad| wrong(&bad))?;
                if !text.is_empty() {
                    names.insert(who, number);
                }
            }
        }
        self.diagnostics.extend(rows.diagnostic());
        Ok(())
    }
}

/// The number of a string in a column of 4 bytes, or in the upper half of one of 8.
pub(super) fn string_number(place: Place, value: u64) -> u64 {
    if matches!(place, Place::Wide(_)) { value >> 32 } else { value }
}

/// The threads and processes of a run, as rows of the intake know them.
pub(super) struct People<'a> {
    arrays: &'a Arrays,
    names: &'a Names<'a>,
    recorded: &'a RunData,
    threads: HashMap<u32, Person>,
    processes: HashMap<u32, Person>,
}

/// A thread or a process that rows speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Person {
    /// Its index, for rows of the intake.
    pub(super) index: u32,
    /// The number of the process.
    pub(super) pid: u64,
}

impl<'a> People<'a> {
    pub(super) fn new(arrays: &'a Arrays, names: &'a Names<'a>, recorded: &'a RunData) -> Self {
        Self { arrays, names, recorded, threads: HashMap::default(), processes: HashMap::default() }
    }

    /// The thread of a number.
    pub(super) fn thread(&mut self, number: u32, intake: &mut Intake<'_>) -> Result<Person, Unreadable> {
        if let Some(&thread) = self.threads.get(&number) {
            return Ok(thread);
        }
        let array = self.arrays.get(number)?;
        let (Some(tid), Some(process)) = (array.get(0), array.get(1).and_then(reference)) else {
            return Err(Unreadable::NoThread { number, count: array.len() });
        };
        let process = self.process(process, intake)?;
        let given = self.names.thread(number);
        let recorded =
            self.recorded.threads.get(&tid).filter(|thread| thread.pid == process.pid && !thread.name.is_empty());
        let recorded = recorded.map(|thread| thread.name.as_str());
        let name = recorded.or(given).unwrap_or_default();
        let thread = Person { index: intake.thread(Some(tid), Some(process.index), name)?, ..process };
        self.threads.insert(number, thread);
        Ok(thread)
    }

    /// The process of a number.
    pub(super) fn process(&mut self, number: u32, intake: &mut Intake<'_>) -> Result<Person, Unreadable> {
        if let Some(&process) = self.processes.get(&number) {
            return Ok(process);
        }
        let identity = Identity::process(number, self.arrays, self.names, self.recorded)?;
        let index = intake.process(Some(identity.number), identity.name)?;
        let process = Person { index, pid: identity.number };
        self.processes.insert(number, process);
        Ok(process)
    }
}

/// A process by number and name.
pub(super) struct Identity<'a> {
    pub(super) number: u64,
    /// Empty where no table names it.
    pub(super) name: &'a str,
}

impl<'a> Identity<'a> {
    /// The process that a reference means.
    pub(super) fn process(
        number: u32,
        arrays: &Arrays,
        names: &'a Names<'a>,
        recorded: &'a RunData,
    ) -> Result<Self, Unreadable> {
        let pid = pid(arrays, number)?;
        let given = names.process(number);
        let name = given.or_else(|| recorded.processes.get(&pid).map(|process| process.name.as_str()));
        Ok(Self { number: pid, name: name.unwrap_or_default() })
    }
}

/// The number of a process.
pub(super) fn pid(arrays: &Arrays, number: u32) -> Result<u64, Unreadable> {
    let array = arrays.get(number)?;
    match array.get(0) {
        Some(first) if array.len() >= 5 => Ok(first & u64::from(u32::MAX)),
        Some(first) if array.len() >= 2 && reference(first).is_some() => Ok(first),
        _ => Err(Unreadable::NoProcess { number, count: array.len() }),
    }
}

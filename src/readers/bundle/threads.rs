//! The threads and processes that rows refer to, and their names.
//!
//! | reference | array | name |
//! |---|---|---|
//! | thread | tid, process reference | `form.template`, by tid, has the name that Instruments shows; otherwise `thread-info` |
//! | process | pid, name of a device (in 5 numbers, the pid is the lower half of the first) | `process-info`; else `form.template`, by pid |

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use super::damage::{RowPosition, Unreadable};
use super::file::broken_at;
use super::layout::{Layout, Place};
use super::rows::Rows;
use super::run_data::RunData;
use super::strings::Strings;
use super::uniquer::{Arrays, NONE, reference};
use crate::error::{Diagnostic, Error};
use crate::files::{Files, shown};
use crate::hash::HashMap;
use crate::recording::{InputBuilder, Notes, without_tid};

/// The names from a run's tables, by reference, and the threads and processes listed there.
#[derive(Debug)]
pub(super) struct Names<'a> {
    /// The diagnostics so far.
    pub(super) diagnostics: Vec<Diagnostic>,
    strings: &'a Strings<'a>,
    /// Indices of strings, since many threads can share a name.
    threads: HashMap<u32, u64>,
    processes: HashMap<u32, u64>,
    /// All listed tids and pids; empty without a list.
    tids: HashSet<u64>,
    pids: HashSet<u64>,
}

/// The columns of a `thread-info` or `process-info` table.
struct NameColumns {
    who: Place,
    name: Place,
    tid: Option<Place>,
    pid: Option<Place>,
    is_threads: bool,
}

impl NameColumns {
    /// Finds the columns, or returns the reason why the table has no names.
    fn of(layout: &Layout) -> Result<Self, String> {
        let column = |mnemonic: &str, expected: &str| layout.typed_column(mnemonic, &[expected]);
        let place = |mnemonic: &str| layout.column(mnemonic).map(|(place, _)| place);
        let is_threads = layout.schema.name == "thread-info";
        let (who, name) = match is_threads {
            true => (column("thread", "XRThreadTypeID"), column("name", "XRThreadNameTypeID")),
            false => (column("process", "XRProcessTypeID"), column("process-name", "XRPrototypeStringTypeID")),
        };
        Ok(Self { who: who?, name: name?, tid: place("tid").filter(|_| is_threads), pid: place("pid"), is_threads })
    }
}

/// A thread or process, and the name that its row contains.
struct Named {
    number: u32,
    tid: Option<u64>,
    pid: u64,
    /// The index of a string.
    name: Option<u64>,
}

impl<'a> Names<'a> {
    /// Starts without names. Names will refer to `strings`.
    pub(super) fn new(strings: &'a Strings<'a>) -> Self {
        Self {
            diagnostics: Vec::new(),
            strings,
            threads: HashMap::default(),
            processes: HashMap::default(),
            tids: HashSet::default(),
            pids: HashSet::default(),
        }
    }

    fn thread(&self, number: u32) -> Option<&'a str> {
        self.threads.get(&number).and_then(|&name| self.strings.get(name).ok())
    }

    fn process(&self, number: u32) -> Option<&'a str> {
        self.processes.get(&number).and_then(|&name| self.strings.get(name).ok())
    }

    /// Reads the names in a `thread-info` or `process-info` table. A thread or process with several names keeps the last one.
    pub(super) fn read(
        &mut self,
        files: &dyn Files,
        folder: &Path,
        layout: &Layout,
        arrays: &Arrays,
    ) -> Result<(), Error> {
        let columns = match NameColumns::of(layout) {
            Ok(columns) => columns,
            Err(reason) => {
                let message = format!("{}: its names are not read: {reason}", shown(folder));
                self.diagnostics.push(Diagnostic::new(message));
                return Ok(());
            }
        };
        let mut rows = Rows::open(files, folder, layout)?;
        let (store, mut notes) = (folder.join("bulkstore"), Notes::default());
        while let Some((piece, start)) = rows.next()? {
            for (row, index) in piece.chunks_exact(layout.row_size).zip(0_u64..) {
                let at = start + index * layout.row_size as u64;
                let named = self.named(row, &columns, arrays);
                let named = named.map_err(|fault| broken_at(&store, at, "row", fault.rule()))?;
                let Some(named) = named else { continue };
                if let Some(odd) = columns.contradiction(row, &named) {
                    RowPosition { store: &store, at }.note(&mut notes, "contradiction", || odd);
                }
                self.add(&named, columns.is_threads);
            }
        }
        self.diagnostics.extend(rows.diagnostic().into_iter().chain(notes.take()));
        Ok(())
    }

    /// Returns the thread or process that a row names, if any.
    fn named(&self, row: &[u8], columns: &NameColumns, arrays: &Arrays) -> Result<Option<Named>, Unreadable> {
        let Some(number) = columns.who.value(row).and_then(reference) else { return Ok(None) };
        let (tid, process) = match columns.is_threads {
            true => thread(arrays, number).map(|(tid, process)| (Some(tid), process))?,
            false => (None, number),
        };
        let name = columns.name.value(row).map(|text| string_number(columns.name, text));
        let name = name.filter(|&name| name != u64::from(NONE));
        name.map(|name| self.strings.get(name)).transpose()?;
        Ok(Some(Named { number, tid, pid: pid(arrays, self.strings, process)?, name }))
    }

    fn add(&mut self, named: &Named, is_threads: bool) {
        self.tids.extend(named.tid);
        self.pids.insert(named.pid);
        let names = if is_threads { &mut self.threads } else { &mut self.processes };
        if let Some(name) = named.name
            && self.strings.get(name).is_ok_and(|text| !text.is_empty())
        {
            names.insert(named.number, name);
        }
    }
}

impl NameColumns {
    /// Returns how a row contradicts the arrays, if at all. The name may then belong to another thread or process.
    fn contradiction(&self, row: &[u8], named: &Named) -> Option<String> {
        let value = |place: Option<Place>| place.and_then(|place| place.value(row));
        let number = named.number;
        if let Some(tid) = value(self.tid).filter(|&tid| Some(tid) != named.tid) {
            return Some(format!(
                "the row describes thread {tid:#x}, and array {number} is another one: names may be wrong"
            ));
        }
        if let Some(pid) = value(self.pid).filter(|&pid| pid != named.pid) {
            return Some(format!(
                "the row describes process {pid}, and array {number} describes {}: names may be wrong",
                named.pid
            ));
        }
        // The lower half of the name column repeats the thread.
        let name = self.name.value(row).filter(|_| self.is_threads && matches!(self.name, Place::Wide(_)))?;
        let own = name as u32;
        (own != number).then(|| format!("the name of thread {own} is at thread {number}: names may be wrong"))
    }
}

/// The index of a string: a 4-byte value, or the upper half of an 8-byte value.
pub(super) fn string_number(place: Place, value: u64) -> u64 {
    if matches!(place, Place::Wide(_)) { value >> 32 } else { value }
}

/// Looks up the threads and processes of a run, and adds them to the input.
pub(super) struct Threads<'a> {
    arrays: &'a Arrays,
    names: &'a Names<'a>,
    recorded: &'a RunData,
    threads: HashMap<u32, Subject>,
    processes: HashMap<u32, Subject>,
}

/// A thread or process that rows refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// The index in the input.
    pub(super) index: u32,
    pub(super) pid: u64,
    /// A problem with it, if any.
    pub(super) odd: Option<Odd>,
}

/// A problem with a row, or with its thread or process. The row is still a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Odd {
    /// No list contains this thread.
    UnlistedThread(u64),
    /// No list contains this process.
    UnlistedProcess(u64),
    /// `form.template` assigns the thread to another process, or to none.
    OtherProcess(u64, Option<u64>),
    /// `form.template` has several names for the process, and no table has one.
    SeveralNames(u64),
    /// The row's thread belongs to another process than the row does; one of them is wrong.
    Stranger,
    /// The time of the row is long after the end of the run.
    Late(u64),
}

impl Odd {
    /// The topic under which diagnostics are counted.
    pub(super) fn topic(self) -> &'static str {
        match self {
            Self::UnlistedThread(_) => "unlisted-thread",
            Self::UnlistedProcess(_) => "unlisted-process",
            Self::OtherProcess(..) => "other-process",
            Self::SeveralNames(_) => "several-names",
            Self::Stranger => "stranger",
            Self::Late(_) => "late",
        }
    }
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnlistedThread(tid) => {
                write!(f, "the row has thread {tid:#x}, which is not in any list of threads: it may be a different one")
            }
            Self::UnlistedProcess(pid) => {
                write!(f, "the row has process {pid}, which is not in any list of processes: it may be a different one")
            }
            Self::OtherProcess(tid, Some(pid)) => write!(
                f,
                "the row has thread {tid:#x}, which form.template lists in another process, {pid}: that name is not used"
            ),
            Self::OtherProcess(tid, None) => write!(
                f,
                "the row has thread {tid:#x}, which form.template lists without its process: that name is not used"
            ),
            Self::SeveralNames(pid) => {
                write!(f, "the row has process {pid}, for which form.template has several names: none is used")
            }
            Self::Stranger => f.write_str("the row has a thread that belongs to a different process"),
            Self::Late(time) => {
                write!(f, "the row is {} s from the start, long after the end of its run", time / 1_000_000_000)
            }
        }
    }
}

impl<'a> Threads<'a> {
    pub(super) fn new(arrays: &'a Arrays, names: &'a Names<'a>, recorded: &'a RunData) -> Self {
        Self { arrays, names, recorded, threads: HashMap::default(), processes: HashMap::default() }
    }

    /// Returns the thread for a reference.
    pub(super) fn thread(&mut self, number: u32, input: &mut InputBuilder<'_>) -> Result<Subject, Unreadable> {
        if let Some(&thread) = self.threads.get(&number) {
            return Ok(thread);
        }
        let (tid, process) = thread(self.arrays, number)?;
        let process = self.process(process, input)?;
        let listed = self.recorded.threads.get(&tid);
        let recorded = listed.filter(|thread| thread.pid == Some(process.pid) && !thread.name.is_empty());
        let is_unlisted = listed.is_none() && !self.names.tids.is_empty() && !self.names.tids.contains(&tid);
        let elsewhere = listed.filter(|thread| thread.pid != Some(process.pid));
        let elsewhere = elsewhere.map(|thread| Odd::OtherProcess(tid, thread.pid));
        let odd = is_unlisted.then_some(Odd::UnlistedThread(tid)).or(elsewhere).or(process.odd);
        let listed_name = || self.names.thread(number).map(|name| without_tid(name, tid));
        let name = recorded.map(|thread| thread.name.as_str()).or_else(listed_name).unwrap_or_default();
        let thread = Subject { index: input.thread(Some(tid), Some(process.index), name)?, pid: process.pid, odd };
        self.threads.insert(number, thread);
        Ok(thread)
    }

    /// Returns the process for a reference.
    pub(super) fn process(&mut self, number: u32, input: &mut InputBuilder<'_>) -> Result<Subject, Unreadable> {
        if let Some(&process) = self.processes.get(&number) {
            return Ok(process);
        }
        let identity = Identity::process(number, self.arrays, self.names, self.recorded)?;
        let index = input.process(Some(identity.number), identity.name)?;
        let process = Subject { index, pid: identity.number, odd: identity.odd };
        self.processes.insert(number, process);
        Ok(process)
    }
}

/// The pid and name of a process.
pub(super) struct Identity<'a> {
    pub(super) number: u64,
    /// Empty if its name is unknown.
    pub(super) name: &'a str,
    pub(super) odd: Option<Odd>,
}

impl<'a> Identity<'a> {
    /// Resolves a process reference.
    pub(super) fn process(
        number: u32,
        arrays: &Arrays,
        names: &'a Names<'a>,
        recorded: &'a RunData,
    ) -> Result<Self, Unreadable> {
        let pid = pid(arrays, names.strings, number)?;
        let given = names.process(number);
        let listed = recorded.processes.get(&pid);
        let is_unlisted = listed.is_none() && !names.pids.is_empty() && !names.pids.contains(&pid);
        let is_ambiguous = given.is_none() && matches!(listed, Some(None));
        let odd = is_unlisted.then_some(Odd::UnlistedProcess(pid));
        let odd = odd.or(is_ambiguous.then_some(Odd::SeveralNames(pid)));
        let name = given.or_else(|| listed?.as_ref().map(|process| process.name.as_str()));
        Ok(Self { number: pid, name: name.unwrap_or_default(), odd })
    }
}

/// Reads the tid and the process reference of a thread.
pub(super) fn thread(arrays: &Arrays, number: u32) -> Result<(u64, u32), Unreadable> {
    let array = arrays.get(number)?;
    match (array.len(), array.get(0), array.get(1).and_then(reference)) {
        (2, Some(tid), Some(process)) => Ok((tid, process)),
        (count, ..) => Err(format!("array {number} of {count} numbers is not a thread").into()),
    }
}

/// Reads the pid of a process. In an array of two numbers, the second is the name of a device; in longer arrays, it is not a string. Arrays of
/// five numbers exist; the meaning of the others is unknown.
pub(super) fn pid(arrays: &Arrays, strings: &Strings<'_>, number: u32) -> Result<u64, Unreadable> {
    let array = arrays.get(number)?;
    let has_device = || array.get(1).is_some_and(|device| strings.get(device).is_ok());
    match (array.len(), array.get(0)) {
        (5, Some(first)) => Ok(first & u64::from(u32::MAX)),
        (2, Some(first)) if reference(first).is_some() && has_device() => Ok(first),
        (count, _) => Err(format!("array {number} of {count} numbers is not a process").into()),
    }
}

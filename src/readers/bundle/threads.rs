//! Threads and processes: who rows speak of, and their names.
//!
//! | reference | array | name |
//! |---|---|---|
//! | thread | tid, process reference | the name that Instruments shows is in `form.template`, by tid; otherwise in `thread-info` |
//! | process | pid, name of a device (where there are 5 numbers, the upper half of the first one is something else) | `process-info`; else `form.template`, by pid |

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
use crate::files::Files;
use crate::hash::HashMap;
use crate::recording::{InputBuilder, Notes, without_tid};

/// The names in the tables of a run, by reference, and which threads and processes are listed.
#[derive(Debug)]
pub(super) struct Names<'a> {
    /// The diagnostics so far.
    pub(super) diagnostics: Vec<Diagnostic>,
    strings: &'a Strings<'a>,
    /// Numbers of strings: many may have one name.
    threads: HashMap<u32, u64>,
    processes: HashMap<u32, u64>,
    /// The numbers of all listed threads and processes; empty without a list.
    tids: HashSet<u64>,
    pids: HashSet<u64>,
}

/// The columns of a `thread-info` or a `process-info`.
struct NameColumns {
    who: Place,
    name: Place,
    tid: Option<Place>,
    pid: Option<Place>,
    is_threads: bool,
}

impl NameColumns {
    /// The columns, or the reason why the table has no names.
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

/// The thread or process that a row names.
struct Named {
    number: u32,
    tid: Option<u64>,
    pid: u64,
    /// The number of a string.
    name: Option<u64>,
}

impl<'a> Names<'a> {
    /// No names yet; names will be these strings.
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

    /// Reads the names of a `thread-info` or a `process-info`; the last one of a thread or process counts.
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
                let message = format!("{}: its names are not read: {reason}", folder.display());
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

    /// The thread or process that a row names, if any.
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
    /// The contradiction between a row and the arrays, if any: then its name may belong to another one.
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
                "the row describes process {pid}, and array {number} is of {}: names may be wrong",
                named.pid
            ));
        }
        // The thread is repeated below its name.
        let name = self.name.value(row).filter(|_| self.is_threads && matches!(self.name, Place::Wide(_)))?;
        let own = name as u32;
        (own != number).then(|| format!("the name of thread {own} is at thread {number}: names may be wrong"))
    }
}

/// The number of a string in a column of 4 bytes, or in the upper half of one of 8.
pub(super) fn string_number(place: Place, value: u64) -> u64 {
    if matches!(place, Place::Wide(_)) { value >> 32 } else { value }
}

/// The threads and processes of a run, as rows of the input know them.
pub(super) struct Threads<'a> {
    arrays: &'a Arrays,
    names: &'a Names<'a>,
    recorded: &'a RunData,
    threads: HashMap<u32, Subject>,
    processes: HashMap<u32, Subject>,
}

/// A thread or a process that rows speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// The index for rows of the input.
    pub(super) index: u32,
    /// The number of the process.
    pub(super) pid: u64,
    /// The oddity of it, if any.
    pub(super) odd: Option<Odd>,
}

/// An oddity of a row, or of its thread or process, that does not keep it from being a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Odd {
    /// No list has such a thread.
    UnlistedThread(u64),
    /// No list has such a process.
    UnlistedProcess(u64),
    /// `form.template` has the thread in another process, if in any.
    OtherProcess(u64, Option<u64>),
    /// `form.template` has several names for the process, and no table has one.
    SeveralNames(u64),
    /// The thread of the row belongs to another process than the row: one of them is wrong.
    Stranger,
    /// The time of the row is long after the end of the run.
    Late(u64),
}

impl Odd {
    /// The topic by which diagnostics are counted.
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
            Self::Stranger => f.write_str("the row has a thread of another process than its own"),
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

    /// The thread of a number.
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

    /// The process of a number.
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

/// A process by number and name.
pub(super) struct Identity<'a> {
    pub(super) number: u64,
    /// Empty if no table names it.
    pub(super) name: &'a str,
    pub(super) odd: Option<Odd>,
}

impl<'a> Identity<'a> {
    /// The process that a reference means.
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

/// The number of a thread, and the number that its process has among the arrays.
pub(super) fn thread(arrays: &Arrays, number: u32) -> Result<(u64, u32), Unreadable> {
    let array = arrays.get(number)?;
    match (array.len(), array.get(0), array.get(1).and_then(reference)) {
        (2, Some(tid), Some(process)) => Ok((tid, process)),
        (count, ..) => Err(format!("array {number} of {count} numbers is not a thread").into()),
    }
}

/// The number of a process. If one number follows it, that is the name of a device; in other arrays it is not the index of a string. The
/// meaning of more numbers is unknown.
pub(super) fn pid(arrays: &Arrays, strings: &Strings<'_>, number: u32) -> Result<u64, Unreadable> {
    let array = arrays.get(number)?;
    let has_device = || array.get(1).is_some_and(|device| strings.get(device).is_ok());
    match (array.len(), array.get(0)) {
        (5, Some(first)) => Ok(first & u64::from(u32::MAX)),
        (2, Some(first)) if reference(first).is_some() && has_device() => Ok(first),
        (count, _) => Err(format!("array {number} of {count} numbers is not a process").into()),
    }
}

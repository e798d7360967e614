//! Both readers, with the rows of a document in a common form.

use std::collections::BTreeMap;

use libtest_mimic::Failed;
use serde_json::Value;
use traceparse::Error;
use traceparse::profile::{Frame, Profile, Sample, SampleKind};
use traceparse::recording::{Options, Recording};
use traceparse::units::Unit;

use crate::programs::Server;

/// The pid and tid of a thread.
type ThreadKey = (Option<u64>, Option<u64>);

/// The reading of the library.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The number of documents.
    pub(crate) documents: usize,
    /// The number of rejected rows.
    rejected: u64,
    /// The sorted rows of each non-empty table, one line per row.
    tables: Vec<Vec<String>>,
    /// The name of each thread, by process and number.
    threads: BTreeMap<ThreadKey, String>,
    /// The position, message and count of each diagnostic.
    notes: Vec<(Option<usize>, String, u64)>,
}

pub(crate) fn read(document: &[u8]) -> Result<Reading, Error> {
    let export = traceparse::read(document, "mutant", &Options::default())?;
    let profile = &export.profile;
    let note =
        |note: &traceparse::Diagnostic| (note.at.as_ref().map(|at| at.byte as usize), note.message.clone(), note.count);
    let threads = profile.thread_ids().map(|id| {
        let thread = profile.thread(id);
        ((profile.process(thread.process).pid, thread.tid), profile.string(thread.name).to_owned())
    });
    Ok(Reading {
        documents: export.documents.len(),
        rejected: export.rejected(),
        tables: tables(&export),
        threads: threads.collect(),
        notes: export.diagnostics.iter().map(note).collect(),
    })
}

fn tables(export: &Recording) -> Vec<Vec<String>> {
    let mut tables = Vec::new();
    for table in export.tables() {
        let samples =
            export.profile.samples().iter().enumerate().filter(|(_, sample)| table.series.contains(&sample.series));
        let mut rows: Vec<String> = samples.map(|(index, sample)| row(&export.profile, index, sample)).collect();
        rows.sort();
        tables.push(rows);
    }
    tables.retain(|rows| !rows.is_empty());
    tables
}

fn row(profile: &Profile, index: usize, sample: &Sample) -> String {
    let thread = profile.thread(sample.thread);
    let core = sample.core.map(|core| profile.core(core));
    let kind = match sample.kind {
        SampleKind::Periodic => "0",
        SampleKind::EveryThread => "1",
        SampleKind::EveryThreadLightweight => "2",
        SampleKind::Stackshot => "3",
        _ => "other",
    };
    let unit = match profile.series(sample.series).unit {
        Unit::Nanoseconds => "ns",
        Unit::Cycles => "cycles",
        Unit::PmcEvents => "events",
        _ => "samples",
    };
    let frames: Vec<String> =
        profile.frames_leaf_first(sample.stack).map(|frame| shown_frame(profile, frame)).collect();
    let core_kind = core.and_then(|core| core.kind).map(|kind| profile.string(kind));
    format!(
        "{:020} {} {unit} {} {} {} {core_kind:?} {:?} {kind} {:?} {}",
        sample.time.as_nanos(),
        sample.weight,
        shown(profile.process(thread.process).pid),
        shown(thread.tid),
        shown(core.map(|core| u64::from(core.index))),
        sample.state.map(|state| profile.string(state)),
        profile.counters(index),
        frames.join(" < ")
    )
}

fn shown(number: Option<u64>) -> String {
    number.map_or("-".to_owned(), |number| number.to_string())
}

fn shown_frame(profile: &Profile, frame: &Frame) -> String {
    let function = profile.function(frame.function);
    let name = function.is_named.then(|| profile.string(function.name));
    let binary = frame.binary.map(|binary| profile.binary(binary));
    let uuid = binary.and_then(|binary| binary.uuid).map(|uuid| uuid.to_string().replace('-', ""));
    let source = frame.source.map(|source| (u64::from(source.line), profile.string(source.path)));
    format!(
        "{name:?}@{}@{uuid:?}@{}@{source:?}",
        frame.address.get(),
        shown(binary.map(|binary| binary.load_address.get()))
    )
}

impl Reading {
    /// The messages about this document that are missing for the other document: position and text.
    pub(crate) fn new_notes(&self, base: &Self) -> Vec<(Option<usize>, &str)> {
        // If only the count of a message is higher, the position of the new occurrence is unknown.
        let is_new = |message: &str| !base.notes.iter().any(|(_, known, _)| known == message);
        let new = self.notes.iter().filter(|(_, message, _)| is_new(message));
        new.map(|(at, message, _)| (*at, message.as_str())).collect()
    }
}

/// The oracle's answer about a document.
pub(crate) enum Answer {
    IllFormed(String),
    Rows(Expected),
}

/// The oracle's reading.
pub(crate) struct Expected {
    /// For each CPU table: the start of each row and, if readable, the row as one line.
    tables: Vec<Vec<(usize, Option<String>)>>,
    /// The names of each thread; `None` if the oracle cannot determine the name.
    threads: BTreeMap<ThreadKey, Vec<Option<String>>>,
}

/// Has `tests/oracle/exports.py` read a document.
pub(crate) fn ask(oracle: &mut Server, document: &[u8]) -> Result<Answer, Failed> {
    let answer = oracle.ask(&[format!("{}\n", document.len()).as_bytes(), document].concat())?;
    Ok(match answer.get("ill").or(answer.get("refused")) {
        Some(why) => Answer::IllFormed(why.to_string()),
        None => Answer::Rows(Expected::of(&answer)),
    })
}

impl Expected {
    fn of(answer: &Value) -> Self {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let frames: Vec<String> = list(&answer["frames"]).iter().map(expected_frame).collect();
        let row = |row: &Value| {
            let start = row[0].as_u64().unwrap_or_default() as usize;
            (start, row[1].as_array().map(|cells| expected_row(cells, &frames)))
        };
        let tables =
            list(&answer["tables"]).iter().map(|table| list(&table["rows"]).iter().map(row).collect()).collect();
        let mut threads: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for thread in list(&answer["threads"]) {
            let names = threads.entry((thread[0].as_u64(), thread[1].as_u64())).or_default();
            names.push(thread[2].as_str().map(str::to_owned));
        }
        Self { tables, threads }
    }

    /// The starts of the unreadable rows.
    pub(crate) fn unreadable_rows(&self) -> Vec<usize> {
        let rows = self.tables.iter().flatten();
        rows.filter(|(_, row)| row.is_none()).map(|(start, _)| *start).collect()
    }

    /// True if everything that the library read is right, and every missing row was rejected.
    pub(crate) fn is_rejected(&self, reading: &Reading) -> bool {
        let mut expected: Vec<&str> = self.tables.iter().flatten().filter_map(|(_, row)| row.as_deref()).collect();
        expected.sort_unstable();
        let rows = self.tables.iter().flatten().count() as u64;
        let mut found: Vec<&str> = reading.tables.iter().flatten().map(String::as_str).collect();
        found.sort_unstable();
        let is_subset = found.iter().all(|row| expected.binary_search(row).is_ok());
        is_subset && found.len() as u64 + reading.rejected == rows
    }

    /// The first difference between the readings.
    pub(crate) fn difference(&self, reading: &Reading) -> Option<String> {
        let mut tables: Vec<Vec<&str>> =
            self.tables.iter().map(|rows| rows.iter().filter_map(|(_, row)| row.as_deref()).collect()).collect();
        tables.retain(|rows| !rows.is_empty());
        if tables.len() != reading.tables.len() {
            return Some(format!("{} tables have samples, and not {}", reading.tables.len(), tables.len()));
        }
        for (expected, found) in tables.iter_mut().zip(&reading.tables) {
            expected.sort_unstable();
            let found: Vec<&str> = found.iter().map(String::as_str).collect();
            if let Some(row) = found.iter().find(|row| !expected.contains(row)) {
                return Some(format!("a row that should not be there: {row}"));
            }
            if let Some(row) = expected.iter().find(|row| !found.contains(row)) {
                return Some(format!("a row is missing: {row}"));
            }
            if found != *expected {
                return Some("a row is there another number of times".to_owned());
            }
        }
        reading.threads.iter().find_map(|(thread, name)| {
            let names = self.threads.get(thread).filter(|names| names.iter().all(Option::is_some))?;
            let is_there = names.iter().flatten().any(|known| known == name);
            (!is_there).then(|| format!("thread {thread:?} is named {name:?} and not {names:?}"))
        })
    }
}

fn expected_row(cells: &[Value], frames: &[String]) -> String {
    let optional = |cell: &Value| shown(cell.as_u64());
    let counters: Vec<u64> = cells[9].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let stack: Vec<&str> = cells[10]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|frame| frames.get(frame.as_u64()? as usize))
        .map(String::as_str)
        .collect();
    let kind = match cells[8].as_u64() {
        Some(kind @ 0..=3) => kind.to_string(),
        _ => "other".to_owned(),
    };
    format!(
        "{:020} {} {} {} {} {} {:?} {:?} {kind} {counters:?} {}",
        cells[0].as_u64().unwrap_or_default(),
        cells[1].as_u64().unwrap_or_default(),
        cells[2].as_str().unwrap_or_default(),
        optional(&cells[3]),
        optional(&cells[4]),
        optional(&cells[5]),
        cells[6].as_str(),
        cells[7].as_str(),
        stack.join(" < ")
    )
}

fn expected_frame(frame: &Value) -> String {
    let source = frame[4].as_u64().map(|line| (line, frame[5].as_str().unwrap_or_default()));
    format!(
        "{:?}@{}@{:?}@{}@{source:?}",
        frame[0].as_str(),
        frame[1].as_u64().unwrap_or_default(),
        frame[2].as_str().map(str::to_owned),
        shown(frame[3].as_u64())
    )
}

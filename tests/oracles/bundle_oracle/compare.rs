//! Compares the readings of a mutant: the library and the other reader must agree, or the library must have reported a fault.

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::Failed;
use serde_json::Value;

use super::library::{self, ReadRow, ReadTable, Reading, Told};
use super::mutants::{Base, Mutant};
use super::oracle::Oracle;
use support::Rng;

/// The outcome of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The recording was refused.
    Error,
    /// The library reported the fault and its position.
    Told,
    /// Both readers return the rows of the unchanged bundle.
    Unchanged,
    /// Both readers return different rows than before, but agree.
    Changed,
    /// Any other outcome: its class and a description.
    Wrong(&'static str, String),
}

impl End {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Error => "errors",
            Self::Told => "told",
            Self::Unchanged => "without effect",
            Self::Changed => "changed alike",
            Self::Wrong(..) => "wrong",
        }
    }
}

/// Checks that both readers agree about an unchanged bundle, without messages.
pub(crate) fn base(base: &mut Base) -> Result<(), Failed> {
    let reading = library::read(&base.memory(None), 1)?;
    base.told.clone_from(&reading.told);
    let difference = Comparison { expected: &base.expected, reading: &reading }.differences().into_iter().next();
    match difference {
        None if base.expected.iter().all(|run| run["broken"].is_null()) => Ok(()),
        difference => Err(format!("{}: {difference:?} {:?}", base.name, base.expected).into()),
    }
}

/// Reads a mutant twice.
pub(crate) fn mutant(base: &Base, mutant: &Mutant, oracle: &mut Oracle, rng: &mut Rng) -> End {
    let expected = match oracle.read(base, mutant) {
        Ok(expected) => expected,
        Err(failed) => return End::Wrong("the other reader failed", format!("{failed:?}")),
    };
    let changed = mutant.files(base);
    let jobs = if rng.one_in(8) { 2 } else { 1 };
    let Ok(mut reading) = library::read(&base.memory(Some(&changed)), jobs) else { return End::Error };
    reading.told.retain(|told| !base.told.contains(told));
    let differences = Comparison { expected: &expected, reading: &reading }.differences();
    let untold = differences.iter().find(|difference| !difference.is_told(mutant, &reading.told));
    match untold {
        Some(Difference { class, what, .. }) => End::Wrong(class, format!("{what}; told: {:?}", reading.told)),
        None if !differences.is_empty() || reading.tables.iter().any(|table| table.rejected > 0) => End::Told,
        None if expected == base.expected => End::Unchanged,
        None => End::Changed,
    }
}

/// A difference that must be reported.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    pub(crate) class: &'static str,
    pub(crate) what: String,
    /// The store and the offsets of the affected rows. A diagnostic for all rows with the same problem names one of them.
    pub(crate) rows: Vec<(String, u64)>,
    /// The affected folder or file.
    pub(crate) place: Option<String>,
}

impl Difference {
    /// True if a message names the row or the changed file.
    pub(crate) fn is_told(&self, mutant: &Mutant, told: &[Told]) -> bool {
        let of_row = |told: &Told| {
            let names =
                |(store, at): &(String, u64)| told.text.contains(store) && told.text.contains(&format!("at {at:#x}:"));
            self.rows.iter().any(names)
        };
        let of_place = |told: &Told| self.place.as_ref().is_some_and(|place| told.text.contains(place.as_str()));
        told.iter().any(|told| {
            of_row(told) || of_place(told) || mutant.places().iter().any(|place| told.text.contains(place.as_str()))
        })
    }
}

struct Comparison<'a> {
    expected: &'a [Value],
    reading: &'a Reading,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Comparison<'_> {
    fn differences(&self) -> Vec<Difference> {
        let mut found = Vec::new();
        for run in self.expected {
            let number = run["run"].as_u64().unwrap_or(0) as u32;
            // The run was reported as left out, so none of its rows may exist.
            if self.reading.unread.contains(&number) {
                continue;
            }
            let difference = |class, what| Difference { class, what, rows: Vec::new(), place: None };
            let odd = run["odd"].as_array().into_iter().flatten().map(|odd| (text(&odd[0]), text(&odd[1])));
            found.extend(odd.map(|(place, what)| Difference {
                class: "odd",
                what,
                rows: Vec::new(),
                place: Some(place),
            }));
            if let Some(broken) = run["broken"].as_str() {
                found.push(difference("a broken run", broken.to_owned()));
                continue;
            }
            let ours: Vec<&ReadTable> = self.reading.tables.iter().filter(|table| table.run == number).collect();
            let all = || run["tables"].as_array().into_iter().chain(run["intervals"].as_array()).flatten();
            let left_out = all().filter_map(|table| Some((table["left_out"].as_str()?, text(&table["store"]))));
            found.extend(left_out.map(|(reason, store)| Difference {
                place: Some(store),
                ..difference("a table is left out", reason.to_owned())
            }));
            let theirs: Vec<&Value> = all().filter(|table| table["left_out"].is_null()).collect();
            let name = |table: &Value| table["schema"].as_str().unwrap_or_default().to_owned();
            if ours.iter().map(|table| table.schema.clone()).ne(theirs.iter().map(|table| name(table))) {
                let schemas: Vec<_> = ours.iter().map(|table| &table.schema).collect();
                let expected: Vec<_> = theirs.iter().map(|table| name(table)).collect();
                found.push(difference("other tables", format!("{schemas:?}, not {expected:?}")));
                continue;
            }
            let names = Names::of(&theirs);
            ours.iter().zip(theirs).for_each(|(ours, theirs)| table(ours, theirs, &names, &mut found));
        }
        found
    }
}

/// The rows of the other reader, in the order of the table or, if the reader records an order, by time; `None` for invalid rows.
fn rows(table: &Value) -> Vec<Option<ReadRow>> {
    // The library trims the end of thread names, since exports write spaces before the number.
    let name = |value: &Value| text(value).trim_end().to_owned();
    let row = |row: &Value| ReadRow { cells: text(&row[0]), thread_name: name(&row[1]), process_name: text(&row[2]) };
    table["rows"].as_array().into_iter().flatten().map(|value| value.is_array().then(|| row(value))).collect()
}

fn table(ours: &ReadTable, theirs: &Value, names: &Names, found: &mut Vec<Difference>) {
    let store = theirs["store"].as_str().unwrap_or_default().to_owned();
    let (start, size) = (theirs["start"].as_u64().unwrap_or(0), theirs["size"].as_u64().unwrap_or(0));
    let row = |index: usize| vec![(store.clone(), start + index as u64 * size)];
    let notes = |key: &str| {
        theirs[key]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(index, note)| Some((index.parse::<usize>().ok()?, note)))
    };
    let all = |key: &str| notes(key).flat_map(|(index, _)| row(index)).collect::<Vec<_>>();
    if let Some((_, note)) = notes("odd").min_by_key(|(index, _)| *index) {
        found.push(Difference { class: "an odd row", what: note.to_string(), rows: all("odd"), place: None });
    }
    if ours.count != theirs["count"].as_u64().unwrap_or(0) {
        found.push(Difference {
            class: "number of rows",
            what: format!("{} rows", ours.count),
            rows: Vec::new(),
            place: Some(store.clone()),
        });
    }
    let bad = notes("bad").map(|(index, _)| index).min();
    if let Some(index) = bad {
        let what = format!("row {index} of {store}: {}", theirs["bad"][index.to_string()]);
        found.push(Difference { class: "a bad row", what, rows: all("bad"), place: None });
    }
    let place = |index: usize| row(theirs["order"][index].as_u64().map_or(index, |row| row as usize));
    let rows = rows(theirs);
    let mut others = ours.rows.iter();
    let mut missing = 0;
    for (index, expected) in rows.iter().enumerate() {
        let Some(expected) = expected else { continue };
        match others.as_slice().first() {
            Some(ours) if names.are_equal(ours, expected) => drop(others.next()),
            // The row is missing if a rejected row remains; otherwise, it has been replaced.
            _ if others.len() < rows[index..].iter().flatten().count() => {
                missing += 1;
                found.push(Difference {
                    class: "a missing row",
                    what: format!("row {index}: {expected:?}"),
                    rows: place(index),
                    place: None,
                });
            }
            ours => {
                let what = format!("row {index}: {ours:?}\n    instead of {expected:?}");
                found.push(Difference { class: "another row", what, rows: place(index), place: None });
                others.next();
            }
        }
    }
    if others.len() > 0 {
        found.push(Difference {
            class: "a row too many",
            what: format!("{:?}", others.next()),
            rows: all("bad"),
            place: None,
        });
    }
    if ours.rejected != missing + rows.iter().filter(|row| row.is_none()).count() as u64 {
        found.push(Difference {
            class: "rejected rows",
            what: format!("{} rejected", ours.rejected),
            rows: all("bad"),
            place: None,
        });
    }
}

/// Names by thread and process. If a thread has several names over time, the library shows one of them.
struct Names {
    threads: BTreeMap<String, BTreeSet<String>>,
    processes: BTreeMap<String, BTreeSet<String>>,
}

impl Names {
    fn of(tables: &[&Value]) -> Names {
        let mut names = Names { threads: BTreeMap::new(), processes: BTreeMap::new() };
        for row in tables.iter().flat_map(|table| rows(table)).flatten() {
            let (thread, process) = people(&row.cells);
            names.threads.entry(thread).or_default().insert(row.thread_name);
            names.processes.entry(process).or_default().insert(row.process_name);
        }
        names
    }

    fn are_equal(&self, ours: &ReadRow, theirs: &ReadRow) -> bool {
        let (thread, process) = people(&theirs.cells);
        ours.cells == theirs.cells
            && self.threads[&thread].contains(&ours.thread_name)
            && self.processes[&process].contains(&ours.process_name)
    }
}

/// The thread and process of a row.
fn people(cells: &str) -> (String, String) {
    let cells: Vec<&str> = cells.split('\t').collect();
    match cells[..] {
        // For an interval or a hang risk.
        [.., tid, pid] if cells.len() == 9 => (tid.to_owned(), pid.to_owned()),
        _ => (format!("{} {}", cells[3], cells[4]), cells[4].to_owned()),
    }
}

//! Tables of bundles, compared with `tests/oracle/bundle/any_table.py`.

use std::path::Path;

use libtest_mimic::Failed;
use serde_json::{Value, json};
use support::Rng;
use support::all_tables::{self, ReadTable, Reading};
use support::bundle::{BUNDLE, Memory};
use traceparse::Error;
use traceparse::bundle::Bundle;
use traceparse::recording::Options;

use crate::bundle_oracle::compare::{Difference, End};
use crate::bundle_oracle::library::{Told, spelled_frame};
use crate::bundle_oracle::mutants::{Base, Mutant};
use crate::bundle_oracle::oracle::Oracle;
use crate::bundle_oracle::{Judge, invented, real, try_mutants};

/// Compares all tables.
const TABLES: Judge = Judge { base, mutant };

pub(super) fn try_invented(count: u64, seed: u64) -> Result<(), Failed> {
    let mut bases = invented(seed, true);
    bases.truncate((count as usize / 10).max(4));
    try_mutants(bases, count, seed, TABLES)
}

pub(super) fn try_real(count: u64, seed: u64) -> Result<(), Failed> {
    try_mutants(real(true)?, count, seed, TABLES)
}

fn read(files: &Memory<'_>, jobs: usize) -> Result<Reading, Error> {
    let options = Options { jobs, ..Options::default() };
    let bundle = Bundle::open(files, Path::new(BUNDLE), &options)?;
    let pass = |recording: &mut _, reading: &mut Reading| bundle.read_tables(recording, "mutant", reading);
    all_tables::read(&options, pass, |profile, stack| {
        profile.frames_leaf_first(Some(stack)).map(|frame| json!(spelled_frame(profile, frame))).collect()
    })
}

/// Checks that both readers agree about an unchanged bundle.
fn base(base: &mut Base) -> Result<(), Failed> {
    let reading = read(&base.memory(None), 1)?;
    base.told = reading.notes.iter().map(Told::of).collect();
    match differences(&base.expected, &reading).into_iter().next() {
        None => Ok(()),
        difference => Err(format!("{}: {difference:?}", base.name).into()),
    }
}

fn mutant(base: &Base, mutant: &Mutant, oracle: &mut Oracle, rng: &mut Rng) -> End {
    let expected = match oracle.read(base, mutant) {
        Ok(expected) => expected,
        Err(failed) => return End::Wrong("the other reader failed", format!("{failed:?}")),
    };
    let changed = mutant.files(base);
    let jobs = if rng.one_in(8) { 2 } else { 1 };
    let Ok(reading) = read(&base.memory(Some(&changed)), jobs) else { return End::Error };
    let mut told: Vec<Told> = reading.notes.iter().map(Told::of).collect();
    told.retain(|told| !base.told.contains(told));
    let differences = differences(&expected, &reading);
    let is_lost = |table: &ReadTable| table.rejected > 0 || table.unreadable.is_some();
    match differences.iter().find(|difference| !difference.is_told(mutant, &told)) {
        Some(Difference { class, what, .. }) => End::Wrong(class, format!("{what}; told: {told:?}")),
        None if !differences.is_empty() || reading.tables.iter().any(is_lost) || !told.is_empty() => End::Told,
        None if expected == base.expected => End::Unchanged,
        None => End::Changed,
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the differences that the library must have reported. It has done so for runs and tables that it could not read.
fn differences(expected: &[Value], reading: &Reading) -> Vec<Difference> {
    let mut found = Vec::new();
    for run in expected {
        let damaged = format!("run {} is damaged", run["run"]);
        if reading.notes.iter().any(|note| note.message.contains(&damaged)) {
            continue;
        }
        let is_lost = |place: &str| {
            reading
                .tables
                .iter()
                .any(|table| table.unreadable.is_some() && Path::new(&table.head.folder).ends_with(place))
        };
        let odd = run["odd"].as_array().into_iter().flatten().filter(|odd| !is_lost(text(&odd[0])));
        found.extend(odd.map(|odd| Difference {
            class: "odd",
            what: odd.to_string(),
            place: Some(text(&odd[0]).to_owned()),
            ..Difference::default()
        }));
        if !run["broken"].is_null() {
            found.push(Difference { class: "a broken run", what: run["broken"].to_string(), ..Difference::default() });
            continue;
        }
        let of_run = |table: &&ReadTable| run["run"] == table.head.run;
        let tables: Vec<&ReadTable> = reading.tables.iter().filter(of_run).collect();
        let expected = run["tables"].as_array().map_or(&[] as &[_], Vec::as_slice);
        if tables.len() != expected.len() {
            let what = format!("{} tables, not {}", tables.len(), expected.len());
            found.push(Difference { class: "tables", what, ..Difference::default() });
        }
        found.extend(expected.iter().filter_map(|expected| table(expected, &tables)));
    }
    found
}

/// Returns the difference of a table that the library must have reported.
fn table(expected: &Value, tables: &[&ReadTable]) -> Option<Difference> {
    let (store, schema) = (text(&expected["store"]), text(&expected["schema"]));
    let difference = |class, what| Difference { class, what, rows: Vec::new(), place: Some(store.to_owned()) };
    let in_store = |table: &&&ReadTable| Path::new(&table.head.folder).ends_with(store);
    let Some(found) = tables.iter().find(in_store) else {
        let is_lost = |table: &&ReadTable| table.unreadable.is_some() && table.head.schema == schema;
        return (!tables.iter().any(is_lost)).then(|| difference("a missing table", schema.to_owned()));
    };
    if found.unreadable.is_some() {
        return None;
    }
    if !expected["broken"].is_null() {
        return Some(difference("a broken table", expected["broken"].to_string()));
    }
    let head = json!([found.head.schema, found.columns()]);
    if head != json!([schema, expected["columns"]]) {
        return Some(difference("a head", format!("{head} and not {}", expected["columns"])));
    }
    let (start, size) = (expected["start"].as_u64()?, expected["size"].as_u64()?);
    let place = |row: u64| (store.to_owned(), start + row * size);
    let notes = |key: &str| -> Vec<u64> {
        expected[key].as_object().into_iter().flatten().filter_map(|(row, _)| row.parse().ok()).collect()
    };
    let (bad, odd) = (notes("bad"), notes("odd"));
    if bad.len() as u64 > found.rejected {
        return Some(difference("a bad row", expected["bad"].to_string()));
    }
    let rows = odd.iter().map(|&row| place(row)).collect();
    match all_tables::difference(&found.rows, expected["rows"].as_array()?, found.rejected) {
        Some((index, what)) => Some(Difference {
            rows: expected["order"][index].as_u64().map(place).into_iter().collect(),
            ..difference("a row", format!("{schema} row {index}: {what}"))
        }),
        None if !odd.is_empty() => {
            Some(Difference { rows, place: None, ..difference("an odd row", expected["odd"].to_string()) })
        }
        None => None,
    }
}

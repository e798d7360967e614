//! Datasets of fleets: Parquet files that are changed, and runs with any numbers and names, written, read and reported on.
//!
//! ```text
//! base [script]         edits (`edits.rs`) on the tables of a small dataset
//! 80   changes          runs with other numbers and names, three bytes each (`change`); any first byte from 80 on
//! ```

use std::io::Cursor;
use std::sync::LazyLock;

use traceparse::fleet::{DatasetError, DatasetErrorKind, DatasetRow, DatasetTable, KnownRun};
use traceparse::fleet::{FailedInput, FleetBuilder, FleetOptions, FleetReport, FleetScope, RunMeasures};
use traceparse::stats::Quantile;
use traceparse::units::{Millionths, Nanos};

use super::edits;
use support::runs;

/// The rows of a dataset.
type Rows = (Vec<RunMeasures>, Vec<FailedInput>);

struct Base {
    rows: Rows,
    parts: Vec<Vec<u8>>,
}

static BASES: LazyLock<Vec<Base>> = LazyLock::new(|| {
    let base = |count: u64| {
        let rows: Rows = ((0..count).map(|seed| runs::run(seed, 4)).collect(), vec![runs::failure(count)]);
        Base { parts: write(&rows).expect("numbers that fit"), rows }
    };
    (0..BASE_COUNT).map(base).collect()
});

/// The number of bases.
pub(crate) const BASE_COUNT: u64 = 4;

fn write(rows: &Rows) -> Result<Vec<Vec<u8>>, DatasetError> {
    let table = |table: DatasetTable| {
        let mut bytes = Vec::new();
        table.write(&rows.0, &rows.1, &mut bytes)?;
        Ok(bytes)
    };
    DatasetTable::ALL.into_iter().map(table).collect()
}

fn read(tables: &[Vec<u8>]) -> Result<Rows, DatasetError> {
    let part = |table| DatasetTable::ALL.iter().position(|known| *known == table).expect("a table");
    let open = |table: DatasetTable| Ok::<_, DatasetError>(Cursor::new(tables[part(table)].clone()));
    let (mut runs, mut failures) = (Vec::new(), Vec::new());
    for row in DatasetRow::read(open)? {
        match row? {
            DatasetRow::Run(run) => runs.push(run.into_measures()),
            DatasetRow::Failed(failure) => failures.push(failure),
        }
    }
    Ok((runs, failures))
}

/// # Panics
/// When something does not hold.
pub(crate) fn check(input: &[u8]) {
    let Some((&form, rest)) = input.split_first() else { return };
    if form >= 0x80 { check_runs(form, rest) } else { check_tables(form, rest) }
}

/// Changed files are refused, or contain what they declare.
fn check_tables(form: u8, script: &[u8]) {
    let base = &BASES[usize::from(form) % BASES.len()];
    let mut parts = base.parts.clone();
    edits::apply(script, &mut parts);
    let found = read(&parts);
    let known = KnownRun::all(Cursor::new(parts[0].clone()));
    for (table, part) in DatasetTable::ALL.into_iter().zip(&parts) {
        table.row_count(Cursor::new(part.clone())).err().into_iter().for_each(|error| check_error(&error));
    }
    match found {
        Err(error) => check_error(&error),
        Ok(rows) => {
            assert!(parts != base.parts || rows == base.rows, "other rows of the same bytes");
            if let Ok(known) = known {
                assert_eq!(known.len(), rows.0.len() + rows.1.len(), "runs that are known");
            }
            check_rows(&rows, script.len());
        }
    }
}

fn check_error(error: &DatasetError) {
    assert!(!error.to_string().is_empty());
}

/// Runs with changes are written and read, unless a number does not fit.
fn check_runs(form: u8, changes: &[u8]) {
    let mut rows: Rows = ((0..u64::from(form & 3)).map(|seed| runs::run(seed, 4)).collect(), vec![runs::failure(1)]);
    let mut left = changes;
    while let ([field, number, run, rest @ ..], true) = (left, !rows.0.is_empty()) {
        let count = rows.0.len();
        left = change(&mut rows.0[usize::from(*run) % count], *field, *number, rest);
    }
    match write(&rows) {
        Ok(tables) => {
            let read = read(&tables).expect("what was written can be read");
            assert_eq!(texts(&read), texts(&rows), "written and read");
        }
        Err(error) => assert_eq!(error.kind, DatasetErrorKind::TooLarge, "{error}"),
    }
    check_rows(&rows, changes.len());
}

/// Changes a number or a name of a run; gives the bytes that are left.
fn change<'a>(run: &mut RunMeasures, field: u8, number: u8, rest: &'a [u8]) -> &'a [u8] {
    // Any power of two, and what is one below it.
    let value = (1_u64 << (number & 63)) - u64::from(number >> 6 & 1);
    let at = usize::from(number);
    match field % 16 {
        0 => run.record.weight = value,
        1 => run.record.samples = value,
        2 => run.record.wall = (number < 0xf0).then(|| Nanos::from_nanos(value)),
        3 => run.record.run_weight = Millionths::new(value),
        4 => run.record.wall_start = Nanos::from_nanos(value),
        5 => run.record.rejected = value,
        6 => run.record.usual_weight = value,
        7 => one_of(&mut run.frames, at, |row| row.self_weight = value),
        8 => one_of(&mut run.frames, at, |row| row.all_weight = value),
        9 => one_of(&mut run.frames, at, |row| row.all_samples = value),
        10 => one_of(&mut run.binaries, at, |row| row.self_weight = value),
        11 => one_of(&mut run.windows, at, |row| row.weight = value),
        12 => one_of(&mut run.windows, at, |row| row.second = value as u32),
        // The noise of ten billion samples takes seconds.
        13 => run.record.effective_samples = value.min(1 << 20),
        kind => {
            let (text, rest) = rest.split_at(rest.len().min(at % 24));
            let text = String::from_utf8_lossy(text).into_owned();
            // Each name is there once.
            if kind == 14 && !run.names.contains(&text) {
                one_of(&mut run.names, at, |name| *name = text);
            } else if kind == 15 {
                one_of(&mut run.record.labels, at, |label| label.1 = text);
            }
            return rest;
        }
    }
    rest
}

fn one_of<T>(items: &mut [T], at: usize, change: impl FnOnce(&mut T)) {
    if !items.is_empty() {
        let at = at % items.len();
        change(&mut items[at]);
    }
}

/// The rows with names in place of ids, since every reader assigns new ids.
fn texts(rows: &Rows) -> String {
    let mut out = format!("{:?}", rows.1);
    for run in &rows.0 {
        let name = |id| run.name(id);
        out += &format!("{:?}", run.record);
        for row in &run.frames {
            out += &format!(
                "{:?}",
                (
                    [name(row.process), name(row.thread), name(row.binary), name(row.function)],
                    [row.self_weight, row.all_weight, row.self_samples, row.all_samples]
                )
            );
        }
        for row in &run.binaries {
            out += &format!(
                "{:?}",
                (
                    [name(row.process), name(row.thread), name(row.binary)],
                    [row.self_weight, row.all_weight, row.self_samples, row.all_samples]
                )
            );
        }
        for row in &run.windows {
            out += &format!("{:?}", ([name(row.process), name(row.thread)], row.second, row.weight, row.samples));
        }
    }
    out
}

/// A report counts every run once, in any order. One in sixteen asks everything: noise and JSON take most of the time.
fn check_rows(rows: &Rows, choice: usize) {
    let is_whole = choice.is_multiple_of(16);
    let report = report(rows.0.iter(), &rows.1, is_whole);
    let inputs = &report.inputs;
    let failed = inputs.failed.len() as u64;
    let all = inputs.runs + inputs.without_time.len() as u64 + inputs.left_out + failed;
    assert_eq!(all, (rows.0.len() + rows.1.len()) as u64, "runs and failures");
    assert_eq!(inputs.runs, report.runs.len() as u64);
    let of_cohorts: u64 = report.cohorts.iter().map(|cohort| cohort.runs).sum();
    assert_eq!(of_cohorts, inputs.runs, "runs of cohorts");
    for cohort in &report.cohorts {
        assert_eq!(cohort.across_runs.count, cohort.runs);
        for row in cohort.tables.iter().flat_map(|table| &table.rows) {
            assert_eq!(row.summary.count, cohort.runs, "{:?}", row.name);
            assert!(row.summary.min <= row.summary.max, "{row:?}");
        }
    }
    let mut ids: Vec<&str> = rows.0.iter().map(|run| run.record.run_id.as_str()).collect();
    ids.sort_unstable();
    if is_whole && ids.windows(2).all(|ids| ids[0] != ids[1]) {
        assert_eq!(json(&report), json(&self::report(rows.0.iter().rev(), &rows.1, true)), "in the other order");
    }
}

fn report<'r>(runs: impl Iterator<Item = &'r RunMeasures>, failures: &[FailedInput], is_whole: bool) -> FleetReport {
    let by = vec!["device".to_owned()];
    let few =
        FleetOptions { scopes: vec![FleetScope::Process], quantiles: vec![Quantile::P50], ..FleetOptions::default() };
    let options = FleetOptions { by, ..if is_whole { FleetOptions::default() } else { few } };
    let mut builder = FleetBuilder::new(options);
    runs.for_each(|run| builder.add(run));
    failures.iter().for_each(|failure| builder.add_failure(failure.clone()));
    builder.finish()
}

fn json(report: &FleetReport) -> String {
    let mut out = Vec::new();
    traceparse::output::write(report, &traceparse::output::Format::Json, &mut out).expect("memory can be written");
    String::from_utf8(out).expect("JSON is UTF-8")
}

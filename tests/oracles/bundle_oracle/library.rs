//! The library's reading of a mutant, as strings in the same form as the other reader's.

use std::path::Path;

use traceparse::Diagnostic;
use traceparse::Error;
use traceparse::bundle::Bundle;
use traceparse::profile::{Frame, Profile, Sample, SampleKind};
use traceparse::recording::{HangRisk, Interval, Intervals, Options, RecordingBuilder, Table};
use traceparse::units::Unit;

use support::bundle::{BUNDLE, Memory};

/// The contents that were read, and the messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Tables of samples, then tables of intervals.
    pub(crate) tables: Vec<ReadTable>,
    pub(crate) told: Vec<Told>,
    /// Runs that were left out, with a message.
    pub(crate) unread: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct ReadTable {
    pub(crate) run: u32,
    pub(crate) schema: String,
    pub(crate) count: u64,
    pub(crate) rejected: u64,
    pub(crate) rows: Vec<ReadRow>,
}

/// A row, and the names of its thread and its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadRow {
    pub(crate) cells: String,
    pub(crate) thread_name: String,
    pub(crate) process_name: String,
}

/// A diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) text: String,
    pub(crate) count: u64,
}

impl Told {
    pub(crate) fn of(diagnostic: &Diagnostic) -> Told {
        let at = diagnostic.at.as_ref().map(|at| format!("{} at {:#x}: ", at.input, at.byte));
        Told { text: at.unwrap_or_default() + &diagnostic.message, count: diagnostic.count }
    }
}

/// Reads samples and intervals.
pub(crate) fn read(files: &Memory<'_>, jobs: usize) -> Result<Reading, Error> {
    let options = Options { jobs, ..Options::default() };
    let bundle = Bundle::open(files, Path::new(BUNDLE), &options)?;
    let mut recording = RecordingBuilder::new(options.clone());
    bundle.read_into(&mut recording, "mutant")?;
    let export = recording.finish()?;
    let mut reading = Reading::default();
    reading.told.extend(export.diagnostics.iter().map(Told::of));
    reading.unread.extend(export.unread_runs().map(|run| run.number));
    let mut samples = export.profile.samples().iter().enumerate();
    for table in export.tables() {
        let rows = samples.by_ref().take(table.samples as usize);
        let rows = rows.map(|(index, sample)| row(&export.profile, index, sample)).collect();
        reading.tables.push(read_table(table, rows));
    }
    let intervals = bundle.intervals("mutant", &options)?;
    reading.unread.extend(&intervals.unread_runs);
    reading.told.extend(intervals.diagnostics.iter().map(Told::of));
    reading.tables.extend(interval_tables(&intervals));
    Ok(reading)
}

fn read_table(table: &Table, rows: Vec<ReadRow>) -> ReadTable {
    assert_eq!(table.rows, table.samples + table.rejected.total(), "{table:?}");
    let schema = table.schema.clone().unwrap_or_default();
    ReadTable { run: table.run, schema, count: table.rows, rejected: table.rejected.total(), rows }
}

fn spelled<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn row(profile: &Profile, index: usize, sample: &Sample) -> ReadRow {
    let thread = profile.thread(sample.thread);
    let process = profile.process(thread.process);
    let text = |id| profile.string(id).to_owned();
    let unit = match profile.series(sample.series).unit {
        Unit::Nanoseconds => "ns",
        Unit::Cycles => "cycles",
        _ => "samples",
    };
    let core = sample.core.map(|core| profile.core(core));
    let kind = match sample.kind {
        SampleKind::Periodic => 0,
        SampleKind::EveryThread => 1,
        SampleKind::EveryThreadLightweight => 2,
        SampleKind::Stackshot => 3,
        _ => 4,
    };
    let counters: Vec<String> = profile.counters(index).iter().map(u64::to_string).collect();
    let cells = [
        sample.time.as_nanos().to_string(),
        sample.weight.to_string(),
        unit.to_owned(),
        spelled(thread.tid),
        spelled(process.pid),
        core.map(|core| format!("{} {}", core.index, spelled(core.kind.map(text)))).unwrap_or_default(),
        spelled(sample.state.map(text)),
        kind.to_string(),
        counters.join(","),
        stack(profile, sample),
    ];
    ReadRow { cells: cells.join("\t"), thread_name: text(thread.name), process_name: text(process.name) }
}

/// Addresses, each with its image, leaf first.
fn stack(profile: &Profile, sample: &Sample) -> String {
    if sample.stack.is_none() {
        return "-".to_owned();
    }
    let frames = profile.frames_leaf_first(sample.stack).map(|frame| spelled_frame(profile, frame));
    frames.collect::<Vec<_>>().join(",")
}

/// An address with its image.
pub(crate) fn spelled_frame(profile: &Profile, frame: &Frame) -> String {
    let binary = frame.binary.map(|binary| profile.binary(binary));
    let image = binary.map(|binary| format!("@{}+{:x}", spelled(binary.uuid), binary.load_address.get()));
    format!("{:x}{}", frame.address.get(), image.unwrap_or_default())
}

fn interval_tables(found: &Intervals) -> Vec<ReadTable> {
    let (mut intervals, mut risks) = (found.intervals.iter(), found.hang_risks.iter());
    let table = |table: &traceparse::recording::IntervalTable| {
        let mut rows = Vec::new();
        let mut left = table.used;
        while left > 0 {
            let is_pair = table.schema == "os-signpost";
            let next = match table.schema.as_str() {
                "hang-risks" => risks.next().map(|row| (risk(row), 1)),
                _ => intervals.next().map(|row| (interval(row), 1 + u64::from(is_pair && row.end.is_some()))),
            };
            let (row, count) = next.expect("as many as are counted");
            rows.push(row);
            left -= count;
        }
        let (run, schema) = (table.run, table.schema.clone());
        ReadTable { run, schema, count: table.rows, rejected: table.rejected.total(), rows }
    };
    found.tables.iter().map(table).collect()
}

fn interval(interval: &Interval) -> ReadRow {
    let cells = [
        interval.start.as_nanos().to_string(),
        spelled(interval.end.map(|end| end.as_nanos())),
        spelled(interval.name.as_deref()),
        spelled(interval.subsystem.as_deref()),
        spelled(interval.category.as_deref()),
        spelled(interval.identifier),
        spelled(interval.hang_type.as_deref()),
        spelled(interval.tid),
        spelled(interval.pid),
    ];
    mark(&cells, interval.process.as_deref())
}

fn risk(risk: &HangRisk) -> ReadRow {
    let cells = [
        risk.time.as_nanos().to_string(),
        String::new(),
        spelled(risk.message.as_deref()),
        spelled(risk.severity.as_deref()),
        spelled(risk.event_type.as_deref()),
        String::new(),
        String::new(),
        spelled(risk.tid),
        spelled(risk.pid),
    ];
    mark(&cells, risk.process.as_deref())
}

fn mark(cells: &[String], process: Option<&str>) -> ReadRow {
    ReadRow { cells: cells.join("\t"), thread_name: String::new(), process_name: spelled(process) }
}

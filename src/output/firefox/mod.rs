//! The processed profile format of the [Firefox Profiler](https://profiler.firefox.com), version 75, as plain JSON.
//!
//! ```json
//! {"meta":{"categories":[{"name":"Other","color":"grey","subcategories":["Other"]}],"interval":1,
//!   "preprocessedProfileVersion":75,"product":"Orchard","symbolicated":true},
//! "libs":[{"name":"Orchard","path":"/Applications/Orchard.app/Contents/MacOS/Orchard","breakpadId":"8D4F…90"}],
//! "shared":{"stackTable":{"frame":[0,1],"prefixOffset":[0,1],"length":2},"frameTable":{},"funcTable":{},
//!   "resourceTable":{},"nativeSymbols":{},"sources":{},"stringArray":["main","press"]},
//! "threads":[{"name":"Main Thread","processName":"Orchard","pid":"4150","tid":"172289","samples":
//!   {"weightType":"tracing-ms","stack":[null,1,null],"time":[647.438208,648.438208,649.438208],"weight":[0,1,0],
//!    "threadCPUDelta":[0,1000000,0],"length":3},"markers":{}}]}
//! ```
//!
//! 75 is the newest version that the viewer's 2026 releases read without upgrading the file. Since version 60, all threads share the tables of
//! stacks, frames, functions and strings, as in a [`Profile`]. The crate `fxprof-processed-profile` (0.8.1) writes version 55, with separate tables
//! for each thread. It cannot write a symbolicated recording: its frames have no inline depth, source line or name, and its weights are 32-bit
//! integers. That is why this module writes the format itself.
//!
//! Output is streamed. Only the positions of samples are kept, 8 bytes each, and two numbers for each selected stack.

mod columns;
mod gaps;
mod markers;
mod tables;

use std::collections::hash_map::Entry;
use std::io::{self, Write};

use columns::{column, push_millis};
use gaps::{Pace, Row, rows};
pub use markers::Markers;
use tables::Tables;

use crate::hash::HashMap;
use crate::output::by_thread::{ThreadSamples, file_title, heaviest, samples_by_thread, series_labels};
use crate::output::byte_writer::{ByteWriter, Put, push_number};
use crate::output::recorded::{Programs, recorded_run};
use crate::profile::{ProcessId, Profile, SeriesId, ThreadId};
use crate::recording::{TocRun, lookup};
use crate::report::Report;
use crate::units::{Nanos, Unit};

/// Writes the selected samples, from which trees are made, regardless of the view. Pruning and
/// [`separate_by`](crate::report::ReportOptions::separate_by) have no effect. A row without stack and weight marks each time at which a thread did
/// not run. `markers` must belong to this report.
///
/// # Errors
/// If `out` fails, or samples were summed while reading.
pub(crate) fn write(report: &Report<'_>, markers: &Markers<'_>, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let threads = samples_by_thread(report)?;
    let tables = Tables::new(profile, &threads, &Programs::new(report), markers.names());
    let cpu_unit = cpu_unit(profile, &threads);
    let paces: Vec<Pace> = report.series.iter().map(|series| Pace::of(profile, series.series, &threads)).collect();
    let pace = |thread: &ThreadSamples<'_>| paces[report.position(thread.series).unwrap_or_default()];
    let heaviest = heaviest(report, &threads);
    let mut writer = ByteWriter::new(out);
    meta(report, &threads, cpu_unit, heaviest.map(|index| pace(&threads[index])), &mut writer);
    tables.write(&mut writer)?;
    writer.put(b",\n\"pages\":[],\"counters\":[],\"profilerOverhead\":[],\n\"threads\":[");
    let mut ids = ProcessIds::new(report);
    for (index, thread) in threads.iter().enumerate() {
        writer.put(if index == 0 { b"\n" } else { b",\n" });
        let first = rows(&thread.samples, pace(thread)).next();
        ids.write(profile, thread, first.map_or(Nanos::default(), Row::time), &mut writer);
        markers.write(thread.series, thread.thread, &tables, &mut writer)?;
        samples(report, thread, pace(thread), &tables, cpu_unit, &mut writer)?;
        writer.put(b"}");
    }
    writer.put(b"]}\n");
    writer.finish()
}

/// The unit in which the file records CPU use: time, or cycles if only cycles were counted. All threads of a file share one unit.
fn cpu_unit(profile: &Profile, threads: &[ThreadSamples<'_>]) -> Option<Unit> {
    let has = |unit: &Unit| threads.iter().any(|thread| profile.series(thread.series).unit == *unit);
    [Unit::Nanoseconds, Unit::Cycles].into_iter().find(has)
}

fn meta(
    report: &Report<'_>,
    threads: &[ThreadSamples<'_>],
    cpu_unit: Option<Unit>,
    pace: Option<Pace>,
    writer: &mut ByteWriter<'_>,
) {
    writer.put(b"{\"meta\":{\"categories\":").put(tables::CATEGORIES.as_bytes());
    writer.put(b",\"debug\":false,\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},\"interval\":");
    push_millis(pace.map_or(1_000_000, |pace| pace.interval), &mut writer.text);
    writer.put(b",\"startTime\":");
    let run = recorded_run(report);
    push_millis(run.and_then(TocRun::start).unwrap_or_default().as_nanos(), &mut writer.text);
    writer.put(b",\"processType\":0,\"version\":24,\"preprocessedProfileVersion\":75,");
    run.into_iter().for_each(|run| platform(run, writer));
    writer.put(b"\"product\":").put_text(Some(file_title(report, threads)));
    writer.put(b",\"importedFrom\":\"Instruments\",\"markerSchema\":").put(markers::SCHEMAS.as_bytes());
    writer.put(b",");
    // Prevent the viewer from querying a symbol server, which would reveal the recorded binaries and change names.
    writer.put(b"\"symbolicated\":true,\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true");
    let unit = match cpu_unit {
        Some(Unit::Nanoseconds) => Some("ns"),
        Some(_) => Some("variable CPU cycles"),
        None => None,
    };
    if let Some(unit) = unit {
        writer.put(b",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":");
        writer.put_text(Some(unit));
        writer.put(b"}");
    }
    if let Some(index) = heaviest(report, threads) {
        writer.put(b",\"initialSelectedThreads\":[").put_number(index as u64).put(b"]");
    }
    extra(report, threads, writer);
    writer.put(b"},\n");
}

/// Writes the platform of the recording. The viewer shows a Mac's system version for the toolkit `cocoa`, and this text for others.
fn platform(run: &TocRun, writer: &mut ByteWriter<'_>) {
    let [name, version, model] = ["platform", "os-version", "model"].map(|key| lookup(&run.device, key).unwrap_or(""));
    let system = [name, version].join(" ");
    for (key, text) in [("platform", name), ("oscpu", system.trim()), ("device", model)] {
        if !text.is_empty() {
            writer.put_text(Some(key)).put(b":").put_text(Some(text)).put(b",");
        }
    }
    writer.put(if name == "macOS" { b"\"toolkit\":\"cocoa\"," } else { b"\"toolkit\":\"\"," });
}

/// Writes the unit of the weights as text, since the viewer has no unit for cycles and events and shows them as samples.
fn extra(report: &Report<'_>, threads: &[ThreadSamples<'_>], writer: &mut ByteWriter<'_>) {
    let positions = threads.iter().filter_map(|thread| report.position(thread.series));
    let mut positions: Vec<usize> = positions.collect();
    positions.dedup();
    writer.put(b",\"extra\":[{\"label\":\"Weights\",\"entries\":[");
    for (index, position) in positions.into_iter().enumerate() {
        let series = &report.series[position];
        let schema = report.recording.profile.string(report.recording.profile.series(series.series).schema);
        writer.put(if index == 0 { b"{\"label\":" } else { b",{\"label\":" });
        writer.put_text(Some(schema));
        writer.put(b",\"format\":\"string\",\"value\":").put_text(Some(series.unit.name())).put(b"}");
    }
    writer.put(b"]}]");
}

fn samples(
    report: &Report<'_>,
    row: &ThreadSamples<'_>,
    pace: Pace,
    tables: &Tables<'_>,
    cpu_unit: Option<Unit>,
    writer: &mut ByteWriter<'_>,
) -> io::Result<()> {
    let unit = report.position(row.series).map_or(Unit::Samples, |position| report.series[position].unit);
    let is_time = unit == Unit::Nanoseconds;
    writer.put(if is_time {
        b"\"samples\":{\"weightType\":\"tracing-ms\""
    } else {
        b"\"samples\":{\"weightType\":\"samples\""
    });
    let rows = || rows(&row.samples, pace);
    column(writer, "stack", rows(), |row, out| match row {
        Row::Sample(sample) => push_number(tables.stack(sample.stack), out),
        Row::Idle(_) => out.extend_from_slice(b"null"),
    })?;
    column(writer, "time", rows(), |row, out| push_millis(row.time().as_nanos(), out))?;
    let weight = |row: Row<'_>| if let Row::Sample(sample) = row { report.options.metric.of(sample) } else { 0 };
    column(writer, "weight", rows(), |row, out| match weight(row) {
        nanos if is_time => push_millis(nanos, out),
        count => push_number(count, out),
    })?;
    if cpu_unit == Some(report.recording.profile.series(row.series).unit) {
        let used = |row: Row<'_>| if let Row::Sample(sample) = row { sample.weight } else { 0 };
        column(writer, "threadCPUDelta", rows(), |row, out| push_number(used(row), out))?;
    }
    writer.put(b",\"length\":").put_number(rows().count() as u64).put(b"}");
    Ok(())
}

/// The identifiers of processes and threads. The viewer merges processes with the same pid and threads with the same tid, so each series gets
/// separate pids and tids: `4150`, `4150.1`.
pub(super) struct ProcessIds {
    labels: Vec<Option<String>>,
    /// By process; for main threads after the first one, also by thread.
    pids: HashMap<((SeriesId, ProcessId), Option<ThreadId>), String>,
    /// The number of uses of each pid and each tid.
    given: [HashMap<String, u32>; 2],
    has_main: HashMap<(SeriesId, ProcessId), ThreadId>,
}

impl ProcessIds {
    pub(super) fn new(report: &Report<'_>) -> Self {
        let labels = report.series.iter().map(|series| series.series.index());
        let mut by_series = vec![None; labels.max().map_or(0, |last| last + 1)];
        for (series, label) in report.series.iter().zip(series_labels(report)) {
            by_series[series.series.index()] = label;
        }
        Self { labels: by_series, pids: HashMap::default(), given: Default::default(), has_main: HashMap::default() }
    }

    /// Writes everything about a thread except its samples and markers. `registered` is the time from which the thread is known.
    pub(super) fn write(
        &mut self,
        profile: &Profile,
        row: &ThreadSamples<'_>,
        registered: Nanos,
        writer: &mut ByteWriter<'_>,
    ) {
        let thread = profile.thread(row.thread);
        let process = profile.process(thread.process);
        let key = (row.series, thread.process);
        let [given_pids, given_tids] = &mut self.given;
        // A second main thread, for example after exec, would hide the first one in the viewer, so it gets a separate pid.
        let is_second = thread.is_main && *self.has_main.entry(key).or_insert(row.thread) != row.thread;
        let pid = match self.pids.entry((key, is_second.then_some(row.thread))) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(unique(given_pids, process.pid)),
        };
        let tid = unique(given_tids, thread.tid);
        let text = |name: &str, unknown: &str| if name.is_empty() { unknown.to_owned() } else { name.to_owned() };
        let name = text(profile.string(thread.name), &format!("thread {tid}"));
        let process_name = text(profile.string(process.name), "unknown process");
        let process_name = match self.labels.get(row.series.index()) {
            Some(Some(label)) => format!("{process_name} [{label}]"),
            _ => process_name,
        };
        writer.put(b"{\"name\":").put_text(Some(&name));
        writer.put(b",\"processName\":").put_text(Some(&process_name));
        writer.put(b",\"pid\":").put_text(Some(pid));
        writer.put(b",\"tid\":").put_text(Some(&tid));
        writer.put(if thread.is_main { b",\"isMainThread\":true" } else { b",\"isMainThread\":false" });
        writer.put(
            b",\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":",
        );
        push_millis(registered.as_nanos(), &mut writer.text);
        writer.put(b",\"unregisterTime\":null,\"pausedRanges\":[],\"showMarkersInTimeline\":true,\n");
    }
}

/// Formats a number as a unique string: `NUMBER`, then `NUMBER.1` and so on; `unknown` if there is no number.
fn unique(given: &mut HashMap<String, u32>, number: Option<u64>) -> String {
    let text = number.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
    let times = given.entry(text.clone()).or_insert(0);
    *times += 1;
    if *times == 1 { text } else { format!("{text}.{}", *times - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_repeated_numbers() {
        let mut given = HashMap::default();
        let names = [Some(7), Some(8), Some(7), None, Some(7), None].map(|number| unique(&mut given, number));
        assert_eq!(names, ["7", "8", "7.1", "unknown", "7.2", "unknown.1"]);
    }
}

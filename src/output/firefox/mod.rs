//! The processed profile format of the [Firefox Profiler](https://profiler.firefox.com), version 60, as plain JSON.
//!
//! ```json
//! {"meta":{"categories":[{"name":"Other","color":"grey","subcategories":["Other"]}],"interval":1,
//!   "preprocessedProfileVersion":60,"product":"Orchard","symbolicated":true},
//! "libs":[{"name":"Orchard","path":"/Applications/Orchard.app/Contents/MacOS/Orchard","breakpadId":"8D4F…90"}],
//! "shared":{"stackTable":{"frame":[0,1],"prefix":[null,0],"length":2},"frameTable":{},"funcTable":{},
//!   "resourceTable":{},"nativeSymbols":{},"sources":{},"stringArray":["main","press"]},
//! "threads":[{"name":"Main Thread","processName":"Orchard","pid":"4150","tid":"172289","samples":
//!   {"weightType":"tracing-ms","stack":[1],"time":[648.438208],"weight":[1],"threadCPUDelta":[1000000],"length":1}}]}
//! ```
//!
//! Version 60 is the first in which all threads share the tables of stacks, frames, functions and strings, as those of a
//! [`Profile`] do. The crate `fxprof-processed-profile` (0.8.1) writes version 55, in which each thread
//! has its own, and has no room for what a symbolicated recording knows: its frames have no inline depth, no source line and no
//! name of their own, and weights are 32-bit integers. So the format is written here, and the tests hold it against what that
//! crate writes of the same samples.
//!
//! What is written goes out as it is made. Of the samples their places are held, 8 bytes for each, and of the stacks that count
//! two numbers.

mod category;
mod inlining;
mod tables;

use std::collections::hash_map::Entry;
use std::io::{self, Write};

use super::by_thread::{ThreadSamples, file_title, heaviest, samples_by_thread, series_labels};
use super::json::push_text;
use super::texts::{Page, push_number};
use crate::hash::HashMap;
use crate::profile::{ProcessId, Profile, SeriesId, ThreadId};
use crate::report::Report;
use crate::units::Unit;
use tables::Tables;

/// Writes the samples that count, whatever the view of the report: those that its trees are made of. Pruning and
/// [`separate_by`](crate::report::ReportOptions::separate_by) have no say.
///
/// # Errors
/// When `out` fails, or the samples were added up while they were read ([`SamplesAddedUp`](super::SamplesAddedUp)).
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.export.profile;
    let threads = samples_by_thread(report)?;
    let tables = Tables::new(profile, &threads);
    let cpu_unit = cpu_unit(profile, &threads);
    let mut page = Page::new(out);
    meta(report, &threads, cpu_unit, &mut page);
    tables.write(&mut page)?;
    page.put(b",\n\"pages\":[],\"counters\":[],\"profilerOverhead\":[],\n\"threads\":[");
    let mut names = Names::new(report);
    for (index, thread) in threads.iter().enumerate() {
        page.put(if index == 0 { b"\n" } else { b",\n" });
        names.write(profile, thread, &mut page);
        samples(report, thread, &tables, cpu_unit, &mut page)?;
        page.put(b"}");
    }
    page.put(b"]}\n");
    page.finish()
}

/// In which unit the file tells how much of the CPU a thread used: time, else cycles, where a table counts them. A file has one
/// for all its threads.
fn cpu_unit(profile: &Profile, threads: &[ThreadSamples<'_>]) -> Option<Unit> {
    let has = |unit: &Unit| threads.iter().any(|thread| profile.series(thread.series).unit == *unit);
    [Unit::Nanoseconds, Unit::Cycles].into_iter().find(has)
}

fn meta(report: &Report<'_>, threads: &[ThreadSamples<'_>], cpu_unit: Option<Unit>, page: &mut Page<'_>) {
    page.put(b"{\"meta\":{\"categories\":");
    page.put(category::CATEGORIES.as_bytes());
    page.put(b",\"debug\":false,\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},");
    // The interval is that of the templates of Instruments; an export does not hold it. The same goes for the start.
    page.put(b"\"interval\":1,\"startTime\":0,\"processType\":0,\"version\":24,\"preprocessedProfileVersion\":60,");
    page.put(b"\"product\":");
    push_text(Some(file_title(report, threads)), &mut page.text);
    page.put(b",\"importedFrom\":\"Instruments\",\"markerSchema\":[],");
    // Symbols are not asked of a server: nobody is told which binaries were recorded, and names stay as they are elsewhere.
    page.put(b"\"symbolicated\":true,\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true");
    let unit = match cpu_unit {
        Some(Unit::Nanoseconds) => Some("ns"),
        Some(_) => Some("variable CPU cycles"),
        None => None,
    };
    if let Some(unit) = unit {
        page.put(b",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":");
        push_text(Some(unit), &mut page.text);
        page.put(b"}");
    }
    if let Some(index) = heaviest(report, threads) {
        page.put(b",\"initialSelectedThreads\":[");
        page.put_number(index as u64);
        page.put(b"]");
    }
    extra(report, threads, page);
    page.put(b"},\n");
}

/// What weights are: the viewer has no unit for cycles and events, and shows them as samples.
fn extra(report: &Report<'_>, threads: &[ThreadSamples<'_>], page: &mut Page<'_>) {
    let positions = threads.iter().filter_map(|thread| report.position(thread.series));
    let mut positions: Vec<usize> = positions.collect();
    positions.dedup();
    page.put(b",\"extra\":[{\"label\":\"Weights\",\"entries\":[");
    for (index, position) in positions.into_iter().enumerate() {
        let series = &report.series[position];
        let schema = report.export.profile.string(report.export.profile.series(series.series).schema);
        page.put(if index == 0 { b"{\"label\":" } else { b",{\"label\":" });
        push_text(Some(schema), &mut page.text);
        page.put(b",\"format\":\"string\",\"value\":");
        push_text(Some(series.unit.name()), &mut page.text);
        page.put(b"}");
    }
    page.put(b"]}]");
}

/// How processes and threads are called. The viewer takes threads of one pid for one process, and knows a thread by its tid, so
/// both are made different for each series: `4150`, `4150.1`.
struct Names {
    labels: Vec<Option<String>>,
    pids: HashMap<(SeriesId, ProcessId), String>,
    /// How often each pid and each tid was given.
    given: [HashMap<String, u32>; 2],
    has_main: HashMap<(SeriesId, ProcessId), ThreadId>,
}

impl Names {
    fn new(report: &Report<'_>) -> Self {
        let labels = report.series.iter().map(|series| series.series.index());
        let mut by_series = vec![None; labels.max().map_or(0, |last| last + 1)];
        for (series, label) in report.series.iter().zip(series_labels(report)) {
            by_series[series.series.index()] = label;
        }
        Self { labels: by_series, pids: HashMap::default(), given: Default::default(), has_main: HashMap::default() }
    }

    /// Writes everything of a thread but its samples.
    fn write(&mut self, profile: &Profile, row: &ThreadSamples<'_>, page: &mut Page<'_>) {
        let thread = profile.thread(row.thread);
        let process = profile.process(thread.process);
        let key = (row.series, thread.process);
        let [given_pids, given_tids] = &mut self.given;
        let pid = match self.pids.entry(key) {
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
        // `main` is what stands there where Instruments names threads by their outermost function.
        let is_main = ["Main Thread", "main"].contains(&name.as_str())
            && *self.has_main.entry(key).or_insert(row.thread) == row.thread;
        let registered = row.samples.first().map_or(0, |sample| sample.time.as_nanos());
        page.put(b"{\"name\":");
        push_text(Some(&name), &mut page.text);
        page.put(b",\"processName\":");
        push_text(Some(&process_name), &mut page.text);
        page.put(b",\"pid\":");
        push_text(Some(pid), &mut page.text);
        page.put(b",\"tid\":");
        push_text(Some(&tid), &mut page.text);
        page.put(if is_main { b",\"isMainThread\":true" } else { b",\"isMainThread\":false" });
        page.put(
            b",\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":",
        );
        push_millis(registered, &mut page.text);
        page.put(b",\"unregisterTime\":null,\"pausedRanges\":[],\"showMarkersInTimeline\":false,");
        page.put(b"\"markers\":{\"length\":0,\"category\":[],\"data\":[],\"endTime\":[],\"name\":[],\"phase\":[],");
        page.put(b"\"startTime\":[]},\n");
    }
}

/// A number as text, `NUMBER.1` and so on where it was given before; `unknown` for none.
fn unique(given: &mut HashMap<String, u32>, number: Option<u64>) -> String {
    let text = number.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
    let times = given.entry(text.clone()).or_insert(0);
    *times += 1;
    if *times == 1 { text } else { format!("{text}.{}", *times - 1) }
}

fn samples(
    report: &Report<'_>,
    row: &ThreadSamples<'_>,
    tables: &Tables<'_>,
    cpu_unit: Option<Unit>,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let unit = report.position(row.series).map_or(Unit::Samples, |position| report.series[position].unit);
    let is_time = unit == Unit::Nanoseconds;
    page.put(if is_time {
        b"\"samples\":{\"weightType\":\"tracing-ms\""
    } else {
        b"\"samples\":{\"weightType\":\"samples\""
    });
    let samples = || row.samples.iter().copied();
    column(page, "stack", samples(), |sample, out| push_number(tables.stack(sample.stack), out))?;
    column(page, "time", samples(), |sample, out| push_millis(sample.time.as_nanos(), out))?;
    column(page, "weight", samples(), |sample, out| match report.options.metric.of(sample) {
        nanos if is_time => push_millis(nanos, out),
        count => push_number(count, out),
    })?;
    if cpu_unit == Some(report.export.profile.series(row.series).unit) {
        column(page, "threadCPUDelta", samples(), |sample, out| push_number(sample.weight, out))?;
    }
    page.put(b",\"length\":");
    page.put_number(row.samples.len() as u64);
    page.put(b"}");
    Ok(())
}

/// Appends a column of a table behind another member: `,"NAME":[…]`.
fn column<T>(
    page: &mut Page<'_>,
    name: &str,
    rows: impl Iterator<Item = T>,
    mut push: impl FnMut(T, &mut Vec<u8>),
) -> io::Result<()> {
    page.put(b",\n\"");
    page.put(name.as_bytes());
    page.put(b"\":[");
    for (index, row) in rows.enumerate() {
        if index > 0 {
            page.put(b",");
        }
        push(row, &mut page.text);
        page.turn()?;
    }
    page.put(b"]");
    Ok(())
}

/// Appends nanoseconds as milliseconds, exactly: `1`, `0.5`, `648.438208`.
fn push_millis(nanos: u64, out: &mut Vec<u8>) {
    const MILLI: u64 = 1_000_000;
    push_number(nanos / MILLI, out);
    let mut fraction = nanos % MILLI;
    if fraction == 0 {
        return;
    }
    let mut digits = *b".000000";
    for digit in digits[1..].iter_mut().rev() {
        *digit = b'0' + (fraction % 10) as u8;
        fraction /= 10;
    }
    let length = digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
    out.extend_from_slice(&digits[..length]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_exact() {
        for (nanos, text) in [
            (0, "0"),
            (1, "0.000001"),
            (500_000, "0.5"),
            (1_000_000, "1"),
            (10_000_000, "10"),
            (648_438_208, "648.438208"),
            (1_000_010, "1.00001"),
            (u64::MAX, "18446744073709.551615"),
        ] {
            let mut out = Vec::new();
            push_millis(nanos, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn numbers_that_come_again_are_told_apart() {
        let mut given = HashMap::default();
        let names = [Some(7), Some(8), Some(7), None, Some(7), None].map(|number| unique(&mut given, number));
        assert_eq!(names, ["7", "8", "7.1", "unknown", "7.2", "unknown.1"]);
    }
}

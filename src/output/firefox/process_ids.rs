//! The names, pids and tids of processes and threads.

use std::collections::hash_map::Entry;

use super::super::by_thread::{ThreadSamples, series_labels};
use super::super::byte_writer::{ByteWriter, Put};
use super::columns::push_millis;
use crate::hash::HashMap;
use crate::profile::{ProcessId, Profile, SeriesId, ThreadId};
use crate::report::Report;
use crate::units::Nanos;

/// The names of processes and threads. The viewer merges processes with the same pid and threads with the same tid, so each series gets
/// separate pids and tids: `4150`, `4150.1`.
pub(super) struct ProcessIds {
    labels: Vec<Option<String>>,
    /// By process, and for main threads after the first also by thread.
    pids: HashMap<((SeriesId, ProcessId), Option<ThreadId>), String>,
    /// The number of times that each pid and each tid was given.
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

    /// Writes everything of a thread but its samples and markers; it is known from `registered` on.
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
        // A second main thread, as after exec, would hide the first one in the viewer, so it gets a separate pid.
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

/// A number as text, `NUMBER.1` and so on where it was given before; `unknown` for none.
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

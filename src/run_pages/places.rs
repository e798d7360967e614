//! Selects the part of a page that opens first, as the fragment of its address (docs/workbench.md).

use super::folder::encoded;
use crate::fleet::{FleetOptions, FrameRow, RunMeasures, ScopeName, ThreadChoice};
use crate::output::{RunPlace, WorkbenchReduction};
use crate::profile::{Function, Id, Process, Profile, Run, Series, Thread};
use crate::report::Report;

/// A longer fragment is omitted: it would select hundreds of threads with the same name.
const LONGEST: usize = 8_000;

/// The processes and threads that a report selects in each run.
pub(super) struct Question<'q> {
    pub(super) options: &'q FleetOptions,
    /// The threads to which runs were restricted when they were measured.
    pub(super) narrowed: Option<&'q ThreadChoice>,
}

impl Question<'_> {
    fn is_of_threads(&self) -> bool {
        self.options.narrows_threads() || self.narrowed.is_some()
    }

    fn counts(&self, process: &str, thread: &str, is_main: bool) -> bool {
        (self.options.processes.is_empty() || self.options.processes.iter().any(|name| name == process))
            && self.options.selects_thread(thread, is_main)
            && self.narrowed.is_none_or(|threads| (threads.matches)(thread, is_main))
    }

    /// Returns the selected weight of a run.
    pub(super) fn weight(&self, run: &RunMeasures) -> u64 {
        let name = |id| run.name(id);
        let frames = run.frames.iter();
        let counted = frames.filter(|row| self.counts(name(row.process), name(row.thread), row.is_main_thread));
        counted.map(|row| row.self_weight).sum()
    }

    /// Returns the first of a run's busiest recorded seconds.
    fn busiest_second(&self, run: &RunMeasures) -> Option<u32> {
        let whole = run.record.whole_seconds();
        let name = |id| run.name(id);
        let windows = run.windows.iter();
        let counted = windows.filter(|row| self.counts(name(row.process), name(row.thread), row.is_main_thread));
        let mut seconds: Vec<(u32, u64)> = counted.map(|row| (row.second, row.weight)).collect();
        seconds.retain(|(second, _)| whole.iter().any(|range| range.contains(second)));
        seconds.sort_unstable();
        seconds.dedup_by(|next, sum| {
            let is_same = next.0 == sum.0;
            sum.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        seconds.into_iter().rev().max_by_key(|&(_, weight)| weight).map(|(second, _)| second)
    }
}

/// The part of a run to show. It is identified by ids, which do not change if names are redacted.
#[derive(Default)]
pub(super) struct Target {
    tab: Option<&'static str>,
    second: Option<u32>,
    function: Option<Id<Function>>,
    /// Empty means all.
    processes: Vec<Id<Process>>,
    threads: Vec<Id<Thread>>,
}

impl Target {
    /// Finds a place in a run. The profile must have the same names as the report.
    pub(super) fn of(
        place: &RunPlace,
        (profile, run): (&Profile, Id<Run>),
        question: &Question<'_>,
        measured: &RunMeasures,
    ) -> Self {
        let all = ScopeName::default();
        let name = match place {
            RunPlace::Row(name) => name,
            _ => &all,
        };
        let (process, thread) = (name.process.as_deref(), name.thread.as_deref());
        let process_of = |id: Id<Thread>| profile.thread(id).process;
        let name_of = |id: Id<Process>| profile.string(profile.process(id).name);
        let is_meant = |&id: &Id<Thread>| {
            let (own_process, own) = (name_of(process_of(id)), profile.string(profile.thread(id).name));
            profile.process(process_of(id)).run == run
                && question.counts(own_process, own, profile.thread(id).is_main)
                && process.is_none_or(|name| name == own_process)
                && thread.is_none_or(|name| name == own)
        };
        let threads: Vec<Id<Thread>> = profile.thread_ids().filter(is_meant).collect();
        let by_thread = thread.is_some() || question.is_of_threads();
        let by_process = process.is_some() || !question.options.processes.is_empty();
        let mut target = Self { tab: tab_of(name), ..Self::default() };
        if by_thread {
            target.threads = threads;
        } else if by_process {
            target.processes = threads.into_iter().map(process_of).collect();
            target.processes.sort_unstable();
            target.processes.dedup();
        }
        if *place == RunPlace::BusiestSecond {
            target.second = question.busiest_second(measured);
        }
        target.function = function_of(profile, name);
        target.tab = target.tab.or(target.function.map(|_| "callers"));
        target
    }

    /// Returns the fragment, including its `#`, for a page of a report. Empty if the page opens at the right place without it.
    pub(super) fn fragment(&self, report: &Report<'_>, series: Id<Series>, reduction: WorkbenchReduction) -> String {
        let profile = &report.recording.profile;
        let mut parts: Vec<(&str, String)> = Vec::new();
        if report.series.len() > 1 {
            parts.push(("series", series_text(profile, series)));
        }
        parts.extend(self.tab.map(|tab| ("tab", tab.to_owned())));
        let has_times = profile.series(series).has_times && reduction != WorkbenchReduction::Sums;
        if let Some(second) = self.second.filter(|_| has_times) {
            parts.push(("t", format!("{second}s..{}s", u64::from(second) + 1)));
        }
        parts.extend(self.threads.iter().map(|&id| ("thread", thread_text(profile, id))));
        parts.extend(self.processes.iter().map(|&id| ("process", process_text(profile, id))));
        parts.extend(self.function.map(|id| ("fn", function_text(profile, id))));
        if parts.is_empty() {
            return String::new();
        }
        let parts: Vec<String> =
            parts.iter().map(|(key, value)| format!("&{key}={}", encoded(value.as_bytes()))).collect();
        let fragment = format!("#v=1{}", parts.concat());
        if fragment.len() > LONGEST { String::new() } else { fragment }
    }
}

/// Returns the view with a row for the named item. `None` for named functions, for which callers and callees are shown.
fn tab_of(name: &ScopeName) -> Option<&'static str> {
    match name {
        ScopeName { function: Some(function), .. } => {
            [FrameRow::UNNAMED, FrameRow::STACKLESS].contains(&function.as_str()).then_some("functions")
        }
        ScopeName { binary: Some(_), .. } => Some("binaries"),
        ScopeName { thread: Some(_), .. } => Some("threads"),
        _ => None,
    }
}

/// Returns the function of a row, by its name in report and profile.
fn function_of(profile: &Profile, name: &ScopeName) -> Option<Id<Function>> {
    let function = name.function.as_deref()?;
    let binary = name.binary.as_deref().unwrap_or_default();
    profile.function_ids().find(|&id| {
        let row = profile.function(id);
        row.is_named && profile.string(row.name) == function && profile.binary_name(id).unwrap_or_default() == binary
    })
}

fn series_text(profile: &Profile, id: Id<Series>) -> String {
    let series = profile.series(id);
    format!("{}/{}/{}", profile.run(series.run).number, series.table, profile.string(series.schema))
}

fn process_text(profile: &Profile, id: Id<Process>) -> String {
    let process = profile.process(id);
    let pid = process.pid.map(|pid| pid.to_string()).unwrap_or_default();
    format!("{}/{pid}/{}", profile.run(process.run).number, profile.string(process.name))
}

fn thread_text(profile: &Profile, id: Id<Thread>) -> String {
    let thread = profile.thread(id);
    let process = profile.process(thread.process);
    let [pid, tid] = [process.pid, thread.tid].map(|number| number.map(|id| id.to_string()).unwrap_or_default());
    format!("{}/{pid}/{tid}/{}", profile.run(process.run).number, profile.string(thread.name))
}

fn function_text(profile: &Profile, id: Id<Function>) -> String {
    let name = profile.string(profile.function(id).name);
    profile.binary_name(id).map_or_else(|| name.to_owned(), |binary| format!("{name}@{binary}"))
}

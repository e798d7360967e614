//! The runs behind the numbers of a row, and the command that opens one of them.

use crate::fleet::{FleetReport, RunRow, ScopeName, Summary};
use crate::output::inert::inert;
use crate::recording::shell_word;
use crate::settings::{self, PROCESS, RUN, Setting, THREAD, VIEW};
use crate::stats::{Quantile, Support};

/// The run at the highest percentile with enough runs, and the run with the largest value.
pub(super) struct Behind<'r> {
    /// The highest percentile, with its run or the two runs that it is between.
    percentile: Option<(Quantile, Vec<&'r RunRow>)>,
    pub(super) max: Option<&'r RunRow>,
}

impl<'r> Behind<'r> {
    pub(super) fn of(report: &'r FleetReport, summary: &Summary) -> Self {
        let run = |&run: &usize| report.runs.get(run);
        let is_supported = |&index: &usize| !matches!(summary.estimates[index].support, Support::TooFew { .. });
        let named = summary.percentile_runs.iter().map(|runs| runs.iter().filter_map(run).collect::<Vec<_>>());
        let named: Vec<Vec<&RunRow>> = named.collect();
        let highest = (0..summary.estimates.len().min(named.len())).rfind(is_supported);
        let percentile = highest.filter(|&index| !named[index].is_empty());
        let percentile = percentile.map(|index| (summary.estimates[index].quantile, named[index].clone()));
        // The percentile of a single run is its value.
        let percentile = percentile.filter(|_| summary.count > 1);
        Self { percentile, max: summary.max_run.as_ref().and_then(run).filter(|_| summary.max > Some(0.0)) }
    }

    /// `P99: runs/017.xml · max: runs/044.xml`; `None` if no run has a value.
    pub(super) fn words(&self) -> Option<String> {
        let max = &self.max?.title();
        let Some((quantile, runs)) = &self.percentile else { return Some(format!("max: {max}")) };
        let runs: Vec<_> = runs.iter().map(|run| run.title()).collect();
        Some(match runs.as_slice() {
            [run] if run == max => format!("{quantile} and max: {max}"),
            [run] => format!("{quantile}: {run} · max: {max}"),
            _ => format!("{quantile}: between {} · max: {max}", runs.join(" and ")),
        })
    }
}

/// The words, quoted for a shell, of the command that shows where a run spent its time in the process and thread of a row. `None` if a word contains
/// characters that cannot be typed, and for metrics, which have no stacks.
pub(super) fn command(report: &FleetReport, run: &RunRow, name: &ScopeName) -> Option<Vec<String>> {
    if report.cohorts.get(run.cohort).is_some_and(|cohort| cohort.cohort.unit.is_of_metrics()) {
        return None;
    }
    // A file name that starts with a hyphen would be parsed as an option.
    let dot = if run.source.starts_with('-') { "./" } else { "" };
    let mut words = vec![settings::command()?.to_owned(), format!("{dot}{}", run.source)];
    let mut option = |key: Setting, value: &str| words.extend([key.to_string(), value.to_owned()]);
    if run.needs_number() {
        option(RUN, &run.number.to_string());
    }
    match name.process.as_deref().filter(|process| !process.is_empty()) {
        Some(process) => option(PROCESS, process),
        None => report.options.processes.iter().for_each(|process| option(PROCESS, process)),
    }
    if let Some(thread) = name.thread.as_deref().filter(|thread| !thread.is_empty()) {
        option(THREAD, thread);
    }
    option(VIEW, if name.binary.is_some() && name.function.is_none() { "binaries" } else { "functions" });
    let is_plain = words.iter().all(|word| inert(word) == *word);
    is_plain.then(|| words.iter().map(|word| shell_word(word)).collect())
}

/// The name of a scope, and its owner.
pub(super) fn name_of(name: &ScopeName) -> (String, String) {
    let text = |part: &Option<String>, unknown: &str| {
        part.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| unknown.to_owned())
    };
    let process = || text(&name.process, "unknown process");
    match name {
        ScopeName { function: Some(_), .. } => {
            (text(&name.function, "unknown function"), name.binary.clone().unwrap_or_default())
        }
        ScopeName { binary: Some(_), .. } => (text(&name.binary, "unknown binary"), String::new()),
        ScopeName { thread: Some(_), .. } => (text(&name.thread, "unknown thread"), process()),
        _ => (process(), String::new()),
    }
}

//! The reasons why an export gives no run.

use std::fmt;

use super::context::MeasureOptions;
use crate::fleet::run::FailureKind;
use crate::memory::OverBudget;
use crate::profile::{Meaning, RebuildError};
use crate::recording::{DocumentContent, Recording, Table, TableKind};

/// The reason why an export gave no run, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotMeasured {
    /// The kind of failure: [`FailureKind::NoSamples`], [`FailureKind::NotSelected`], or [`FailureKind::Malformed`] if the measures take more memory than the
    /// [budget](crate::profile::Profile::budget) of the profile has.
    pub kind: FailureKind,
    /// The content found instead of selected samples, or the exceeded memory limit.
    pub reason: String,
}

impl fmt::Display for NotMeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for NotMeasured {}

impl From<RebuildError> for NotMeasured {
    fn from(error: RebuildError) -> Self {
        Self { kind: FailureKind::Malformed, reason: error.to_string() }
    }
}

impl From<OverBudget> for NotMeasured {
    fn from(over: OverBudget) -> Self {
        Self { kind: FailureKind::Malformed, reason: over.to_string() }
    }
}

/// Describes the content of an export without selected samples.
pub(super) fn reason(recording: &Recording, options: &MeasureOptions) -> String {
    let schema = |table: &Table| table.schema.clone().unwrap_or_else(|| "details of a track".to_owned());
    let names = |tables: &[&Table]| {
        let mut names: Vec<String> = tables.iter().map(|table| schema(table)).collect();
        names.sort();
        names.dedup();
        list(&names)
    };
    let tables: Vec<&Table> = recording.tables().collect();
    if tables.is_empty() {
        // A recording is a document of tables and one of contents.
        let is_recording =
            recording.documents.iter().any(|document| matches!(document.content, DocumentContent::Tables(_)));
        return match recording.tocs().next() {
            Some(_) if is_recording => "There is no CPU table that can be read in the recording.",
            Some(_) => "There is a table of contents only; export a CPU table, such as time-profile, with --xpath.",
            None => "There is no table.",
        }
        .to_owned();
    }
    let cpu: Vec<&Table> = tables.iter().copied().filter(|table| table.kind == TableKind::Cpu).collect();
    if cpu.is_empty() {
        return format!("There is no CPU table; the file holds {}.", names(&tables));
    }
    let wanted: Vec<&Table> = cpu.iter().copied().filter(|table| options.wants(&schema(table))).collect();
    if wanted.is_empty() {
        return format!("There is no table {}; the file holds {}.", list(&options.schemas), names(&cpu));
    }
    let profile = &recording.profile;
    let series = wanted.iter().flat_map(|table| &table.series).map(|&id| profile.series(id));
    if let Some(series) = series.into_iter().find(|series| series.meaning != Meaning::OnCpu || !series.has_times) {
        let schema = profile.string(series.schema);
        return format!(
            "Reports of {schema} record neither CPU time nor sample times, so there is no CPU use to measure."
        );
    }
    let (rows, samples) =
        wanted.iter().fold((0, 0), |(rows, samples), table| (rows + table.rows, samples + table.samples));
    let names = names(&wanted);
    match (rows, samples) {
        (0, _) => format!("There are no rows in {names}."),
        (_, 0) => format!("None of the {rows} rows of {names} could be read."),
        _ => format!("None of the {samples} samples of {names} has a selected process, thread and state."),
    }
}

/// Names in one line; the first of many.
pub(super) fn list(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

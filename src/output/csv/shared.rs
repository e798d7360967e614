//! Fields that many records share, formatted once.

use super::cells::Cells;
use super::writer::{Field, fields};
use crate::calltree::Label;
use crate::profile::Profile;
use crate::report::{Report, Scope, ScopeParts, SeriesReport, binary_of, function_of};

/// The columns of [`series_fields`].
pub(super) const SERIES: &str = "input,run,table,schema";
/// The columns of [`scope_fields`].
pub(super) const SCOPE: &str = "pid,process,tid,thread";

/// The fields that identify the series of a row.
pub(super) fn series_fields(report: &Report<'_>, series: &SeriesReport, cells: Cells) -> Vec<u8> {
    let profile = &report.recording.profile;
    let row = profile.series(series.series);
    let run = profile.run(row.run);
    let position = report.table(series.series).and_then(|table| table.position);
    let mut out = Vec::new();
    let schema = profile.string(row.schema).into();
    fields([profile.string(run.input).into(), run.number.into(), position.into(), schema], cells, &mut out);
    out
}

/// The process and thread of a row; empty where they do not apply.
pub(super) fn scope_fields(profile: &Profile, scope: Scope, cells: Cells) -> Vec<u8> {
    let ScopeParts { process, thread, .. } = scope.parts(profile);
    let process = process.map(|process| (process.pid, process.name));
    let thread = thread.map(|thread| (thread.tid, thread.name));
    let parts = [process, thread].into_iter().flat_map(|part| {
        let number = part.and_then(|(number, _)| number);
        [Field::from(number), part.map(|(_, name)| profile.string(name)).into()]
    });
    let mut out = Vec::new();
    fields(parts, cells, &mut out);
    out
}

/// Appends a function and its binary.
pub(super) fn push_function(profile: &Profile, label: Label, cells: Cells, out: &mut Vec<u8>) {
    fields([function_of(profile, label).into(), binary_of(profile, label).into()], cells, out);
}

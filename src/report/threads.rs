//! The threads with their weights.

use super::labels::{process_label, thread_label};
use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits, Shown};
use super::{Report, SeriesReport, ThreadReport};

pub(super) static KIND: ListingKind = ListingKind::new(
    ["threads", "thread"],
    &[
        Column::machine("run", ColumnRole::Number),
        Column::machine("schema", ColumnRole::Label),
        Column::machine("thread", ColumnRole::Name),
        Column::machine("process", ColumnRole::Owner),
        Column::machine("tid", ColumnRole::Number),
        Column::machine("pid", ColumnRole::Number),
        Column::weight("all_weight", "{unit}"),
        Column::number("samples", "samples").at_least(9),
        Column::new("thread_label", "thread", ColumnRole::Name).shown(Shown::Text),
        Column::new("process_label", "", ColumnRole::Owner).shown(Shown::Text),
    ],
    RowLimits::Ordered,
    make,
)
.csv(&["pid", "process", "tid", "thread", "samples", "all_weight", "unit"])
.json(&["run", "schema", "process", "pid", "thread", "tid", "samples", "all_weight", "unit"]);

fn make(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let origin = profile.series(series.series);
    let (run, schema) = (profile.run(origin.run).number, profile.string(origin.schema));
    let cells = |row: &ThreadReport| {
        let thread = profile.thread(row.thread);
        let process = profile.process(thread.process);
        vec![
            Cell::Number(run.into()),
            Cell::Text(schema.to_owned()),
            Cell::Text(profile.string(thread.name).to_owned()),
            Cell::Text(profile.string(process.name).to_owned()),
            Cell::number(thread.tid),
            Cell::number(process.pid),
            Cell::Weight(row.counted.weight.value),
            Cell::Number(row.counted.samples),
            Cell::Text(thread_label(profile, thread)),
            Cell::Text(process_label(profile, process)),
        ]
    };
    Listing::new(series.counted.weight, series.threads.iter().map(cells).collect(), Vec::new())
}

//! The weights of processes.

use super::build::{heavier, order};
use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits};
use super::{Amount, Report, Scope, SeriesReport};
use crate::hash::HashMap;
use crate::profile::ProcessId;

pub(super) static KIND: ListingKind = ListingKind::new(
    ["processes", "process"],
    &[
        Column::number("pid", "pid"),
        Column::new("process", "process", ColumnRole::Name),
        Column::weight("all_weight", "{unit}"),
        Column::number("samples", "samples"),
        Column::number("threads", "threads"),
    ],
    RowLimits::Ordered,
    make,
);

fn make(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let nothing = Amount::none(series.unit);
    let mut processes: HashMap<ProcessId, (Amount, u64)> = HashMap::default();
    for row in &series.threads {
        let process = profile.thread(row.thread).process;
        let (amount, threads) = processes.entry(process).or_insert((nothing, 0));
        amount.add(row.counted.weight.value, row.counted.samples);
        *threads += 1;
    }
    let mut processes: Vec<(ProcessId, (Amount, u64))> = processes.into_iter().collect();
    let order = |id: ProcessId| order(profile, Scope::Process(id));
    processes.sort_unstable_by(|a, b| heavier(a.1.0, b.1.0).then_with(|| order(a.0).cmp(&order(b.0))));
    let rows = processes.into_iter().map(|(id, (amount, threads))| {
        let process = profile.process(id);
        vec![
            Cell::number(process.pid),
            Cell::Text(profile.string(process.name).to_owned()),
            Cell::Weight(amount.weight.value),
            Cell::Number(amount.samples),
            Cell::Number(threads),
        ]
    });
    Listing::new(series.counted.weight, rows.collect(), Vec::new())
}

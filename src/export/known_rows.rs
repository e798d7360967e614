//! Rows that are known but for their times and their stacks: they are counted together.

use super::definitions::Definitions;
use super::rows::{KnownRow, TableReader};
use crate::profile::Sample;
use crate::units::Nanos;

/// Rows that are like a known one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownRowCount {
    pub(super) rows: u32,
    /// As the known row has it.
    pub(super) group: u32,
    pub(super) weight: u64,
    first: u64,
    last: u64,
}

impl KnownRowCount {
    #[inline]
    pub(super) fn note(&mut self, time: u64) {
        self.rows += 1;
        self.first = self.first.min(time);
        self.last = self.last.max(time);
    }
}

/// Begins to count rows. `None` if they have to be looked at as any other: names are counted elsewhere meanwhile, or so many of their
/// weights as are counted together may not fit.
pub(super) fn start(known: &KnownRow, definitions: &Definitions) -> Option<KnownRowCount> {
    let (thread, process) = (known.thread.0 as usize, known.process.0 as usize);
    let is_used = definitions.threads[thread].used_as == Some(known.thread.1)
        && definitions.processes[process].used_as == Some(known.process.1);
    let Sample { weight, series, .. } = known.sample;
    let fits = weight <= definitions.builder.weight_room(series) >> u32::BITS;
    (is_used && fits).then_some(KnownRowCount { rows: 0, group: known.group, weight, first: u64::MAX, last: 0 })
}

/// Counts rows whose samples were added.
pub(super) fn count(table: &mut TableReader, known: &KnownRow, counted: &KnownRowCount, definitions: &mut Definitions) {
    let rows = u64::from(counted.rows);
    definitions.threads[known.thread.0 as usize].samples += rows;
    definitions.processes[known.process.0 as usize].samples += rows;
    table.table.rows += rows;
    table.table.samples += rows;
    let times = [counted.first, counted.last].map(Nanos::from_nanos);
    definitions.builder.note_known(known.group, known.sample.series, (rows, counted.weight), times);
}

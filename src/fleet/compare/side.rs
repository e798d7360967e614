//! One side of a comparison.

use std::io;

use super::runs::ComparedRuns;
use crate::fleet::builder::FleetBuilder;
use crate::fleet::entries::{Entry, EntryRuns, Spilled};
use crate::fleet::report::FleetReport;
use crate::fleet::run::FleetNames;
use crate::fleet::scope::ScopeName;

/// The number of entries processed at a time: 12 MiB.
const MOST_ENTRIES: usize = 1 << 19;

/// The runs of a side, and the weight of each function in each run.
#[derive(Debug)]
pub struct Side {
    /// The report on its runs, grouped by the labels of blocks and units.
    pub report: FleetReport,
    pub(in crate::fleet) runs: ComparedRuns,
    pub(in crate::fleet) places: Places,
    pub(in crate::fleet) names: FleetNames,
    pub(in crate::fleet) spilled: Spilled,
}

/// The positions of runs in the report, by order of addition, and the usual sample weights, by position.
#[derive(Debug)]
pub(in crate::fleet) struct Places {
    pub(in crate::fleet) order: Vec<u32>,
    pub(in crate::fleet) usual_weights: Vec<u64>,
}

impl EntryRuns for Places {
    fn position(&self, added: u32) -> u32 {
        self.order[added as usize]
    }

    fn usual_weight(&self, added: u32) -> u64 {
        self.usual_weights[self.position(added) as usize]
    }
}

impl Side {
    /// Creates the side from a builder [for comparisons](FleetBuilder::for_comparison).
    ///
    /// # Errors
    ///
    /// If the file of spilled values cannot be read.
    pub fn new(builder: FleetBuilder) -> io::Result<Self> {
        builder.try_finish_side()
    }

    /// The calls between functions, by name.
    pub(super) fn calls(&self) -> impl Iterator<Item = (Option<ScopeName>, ScopeName)> + '_ {
        self.runs.calls.by_name(&self.runs.own, &self.names)
    }

    /// For each run, the mean duration of its complete intervals with this name, in nanoseconds.
    pub(super) fn interval_means(&self, name: &str) -> Vec<Option<f64>> {
        let mut means = vec![None; self.report.runs.len()];
        for &(added, mean) in self.runs.interval_means(name) {
            means[self.places.position(added) as usize] = Some(mean);
        }
        means
    }

    /// Calls `each` with the self weights of every function.
    pub(super) fn each_function(&mut self, mut each: impl FnMut(ScopeName, &[Entry])) -> io::Result<()> {
        let Self { runs: ComparedRuns { own, .. }, places, names, spilled, .. } = self;
        own.entries.each_key(places, spilled, MOST_ENTRIES, |key, entries| each(own.name(key, names), entries))
    }
}

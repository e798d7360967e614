//! The runs of a fleet in the order of the report, by cohort.
//!
//! The entries of a key in the runs of each cohort.

use super::columns::ScopeColumn;
use super::entries::{Entry, EntryRuns};
use super::options::FleetOptions;
use super::report::{Cohort, CohortReport};
use super::run_rows::FleetNames;
use super::stored_run::CountedWindows;
use super::stored_run::StoredRun;
use super::summary::{RunValues, Totals, summarize};
use super::timeline::{timeline, window_report};
use crate::stats::BoxPlot;
use crate::units::{Millionths, Unit};

/// Steps of a histogram.
const MAX_BINS: usize = 30;

/// The runs in the order of the report.
pub(super) struct CohortRuns<'b> {
    pub(super) options: &'b FleetOptions,
    pub(super) cohorts: &'b [Cohort],
    pub(super) positions: Positions<'b>,
    pub(super) names: &'b FleetNames,
    /// By cohort: its runs.
    pub(super) members: Vec<Vec<usize>>,
    pub(super) columns: &'b [ScopeColumn],
    /// By cohort, if seconds were counted.
    pub(super) counted_windows: &'b [CountedWindows],
}

impl CohortRuns<'_> {
    pub(super) fn unit(&self, cohort: usize) -> Unit {
        self.cohorts[cohort].unit
    }

    /// The number of runs of a cohort.
    pub(super) fn count(&self, cohort: usize) -> u64 {
        self.members[cohort].len() as u64
    }

    fn members(&self, cohort: usize) -> impl Iterator<Item = &StoredRun> {
        self.members[cohort].iter().map(|&run| &self.positions.runs[run])
    }

    /// The report on a cohort, so far without tables.
    pub(super) fn report(&self, cohort: usize) -> CohortReport {
        let unit = self.unit(cohort);
        let members: Vec<&StoredRun> = self.members(cohort).collect();
        let mut totals = self.recorded(cohort);
        for run in &members {
            totals.add_weight(run.weight, run.run_weight);
        }
        let positions = &self.members[cohort];
        let rates: Vec<(Millionths, Millionths)> = members.iter().map(|run| (run.rate, run.run_weight)).collect();
        let of_runs = rates.iter().zip(positions).map(|(&(rate, weight), &run)| (rate, weight, run));
        let of_runs = RunValues::new(of_runs, self.options.is_weighted);
        let distribution = self.options.distribution(rates, 0, 0);
        CohortReport {
            cohort: self.cohorts[cohort].clone(),
            runs: members.len() as u64,
            across_runs: summarize(&distribution, &of_runs, totals.rate(unit), self.options),
            bins: distribution.bins(MAX_BINS),
            box_plot: BoxPlot::new(&distribution),
            within_runs: window_report(&members, positions, unit, self.options, self.counted_windows.get(cohort)),
            timeline: timeline(&members, unit, self.options),
            tables: Vec::new(),
        }
    }

    /// The recorded time of a cohort.
    pub(super) fn recorded(&self, cohort: usize) -> Totals {
        let mut totals = Totals::default();
        for run in self.members(cohort) {
            totals.add_wall(run.wall, run.run_weight);
        }
        totals
    }

    /// The sum of the run weights of a cohort.
    pub(super) fn run_weight(&self, cohort: usize) -> u128 {
        self.members(cohort).map(|run| u128::from(run.run_weight.get())).sum()
    }
}

/// Entries that are looked at at a time: 48 MiB.
pub(super) const MOST_ENTRIES: usize = 2 << 20;

/// The runs in the order of the report, and the position of each run in the order of addition.
#[derive(Clone, Copy)]
pub(super) struct Positions<'b> {
    pub(super) runs: &'b [StoredRun],
    pub(super) order: &'b [u32],
}

impl EntryRuns for Positions<'_> {
    fn position(&self, added: u32) -> u32 {
        self.order[added as usize]
    }

    fn usual_weight(&self, added: u32) -> u64 {
        self.runs[self.order[added as usize] as usize].usual_weight
    }
}

/// The entries of a key, split by cohort.
pub(super) struct ByCohort(Vec<Vec<Entry>>);

impl ByCohort {
    /// Creates empty entries for this many cohorts.
    pub(super) fn new(cohorts: usize) -> Self {
        Self(vec![Vec::new(); cohorts])
    }

    /// Replaces what is there.
    pub(super) fn split(&mut self, entries: &[Entry], runs: &[StoredRun]) {
        self.0.iter_mut().for_each(Vec::clear);
        for entry in entries {
            self.0[runs[entry.run as usize].cohort as usize].push(*entry);
        }
    }

    /// The entries of the key in a cohort.
    pub(super) fn of(&self, cohort: usize) -> &[Entry] {
        &self.0[cohort]
    }
}

//! A fleet's runs in report order, grouped by cohort.

use super::columns::ScopeColumn;
use super::entries::{Entry, EntryRuns};
use super::options::FleetOptions;
use super::report::CohortReport;
use super::run::FleetNames;
use super::stored_run::{StoredCohort, StoredRun};
use super::summary::{RunValues, Totals, summarize, timeline, window_report};
use crate::stats::BoxPlot;
use crate::units::{Millionths, Unit};

/// The maximum number of bins in a histogram.
const MAX_BINS: usize = 30;

/// The runs in report order.
pub(super) struct CohortRuns<'b> {
    pub(super) options: &'b FleetOptions,
    /// True to evaluate alerts even if inputs are missing.
    pub(super) decides_incomplete: bool,
    pub(super) cohorts: &'b [StoredCohort],
    pub(super) runs: &'b [StoredRun],
    /// The position of each run, by order of addition.
    pub(super) order: &'b [u32],
    pub(super) names: &'b FleetNames,
    /// For each cohort, its runs.
    pub(super) members: Vec<Vec<usize>>,
    pub(super) columns: &'b [ScopeColumn],
}

impl EntryRuns for CohortRuns<'_> {
    fn position(&self, added: u32) -> u32 {
        self.order[added as usize]
    }

    fn usual_weight(&self, added: u32) -> u64 {
        self.runs[self.position(added) as usize].usual_weight
    }
}

impl CohortRuns<'_> {
    pub(super) fn unit(&self, cohort: usize) -> Unit {
        self.cohorts[cohort].cohort.unit
    }

    pub(super) fn labels(&self, cohort: usize) -> &[(String, Option<String>)] {
        &self.cohorts[cohort].cohort.labels
    }

    pub(super) fn count(&self, cohort: usize) -> u64 {
        self.members[cohort].len() as u64
    }

    /// The cohort's runs whose unreadable rows could affect an alert.
    pub(super) fn with_unread(&self, cohort: usize) -> impl Iterator<Item = usize> {
        let members = self.members[cohort].iter().filter(|_| !self.decides_incomplete);
        members.copied().filter(|&run| self.runs[run].row.rejected > 0)
    }

    fn members(&self, cohort: usize) -> impl Iterator<Item = &StoredRun> {
        self.members[cohort].iter().map(|&run| &self.runs[run])
    }

    /// The report on a cohort, without tables.
    pub(super) fn report(&self, cohort: usize) -> CohortReport {
        let unit = self.unit(cohort);
        let members: Vec<&StoredRun> = self.members(cohort).collect();
        let mut totals = self.recorded(cohort);
        for run in &members {
            totals.add_weight(run.row.weight, run.row.run_weight);
        }
        let positions = &self.members[cohort];
        let rates: Vec<(Millionths, Millionths)> =
            members.iter().map(|run| (run.row.rate, run.row.run_weight)).collect();
        let of_runs = rates.iter().zip(positions).map(|(&(rate, weight), &run)| (rate, weight, run));
        let of_runs = RunValues::new(of_runs, self.options.is_weighted);
        let distribution = self.options.distribution(rates, 0, 0);
        CohortReport {
            cohort: self.cohorts[cohort].cohort.clone(),
            runs: members.len() as u64,
            across_runs: summarize(&distribution, &of_runs, totals.rate(unit), self.options),
            bins: distribution.bins(MAX_BINS),
            box_plot: BoxPlot::new(&distribution),
            within_runs: window_report(&members, positions, unit, self.options, &self.cohorts[cohort].windows),
            timeline: timeline(&members, unit, self.options),
            tables: Vec::new(),
        }
    }

    /// The total recorded time of a cohort.
    pub(super) fn recorded(&self, cohort: usize) -> Totals {
        let mut totals = Totals::default();
        for run in self.members(cohort) {
            totals.add_wall(run.row.wall, run.row.run_weight);
        }
        totals
    }

    /// The total run weight of a cohort.
    pub(super) fn run_weight(&self, cohort: usize) -> u128 {
        self.members(cohort).map(|run| u128::from(run.row.run_weight.get())).sum()
    }

    /// Splits the entries of a key by cohort. Overwrites `by_cohort`.
    pub(super) fn split(&self, entries: &[Entry], by_cohort: &mut [Vec<Entry>]) {
        by_cohort.iter_mut().for_each(Vec::clear);
        for entry in entries {
            by_cohort[self.runs[entry.run as usize].row.cohort].push(*entry);
        }
    }
}

/// The number of entries processed at a time: 48 MiB.
pub(super) const MOST_ENTRIES: usize = 2 << 20;

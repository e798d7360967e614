//! Selects the runs that get their own pages next to a fleet page: the runs to which its numbers refer.

use std::collections::{BTreeMap, HashMap};

use crate::fleet::{CohortReport, FleetReport, FleetScope, ScopeName, ScopeRow, Summary};
use crate::stats::{Estimate, Support};

/// The maximum number of cohorts with separate plots and tables.
pub(super) const MOST_COHORTS: usize = 24;
/// The maximum number of rows in a table of cohorts.
pub(super) const MOST_COHORT_ROWS: usize = 500;
/// The maximum number of rows in a table of processes, threads, binaries or functions, and in a table of differences.
pub(super) const MOST_ROWS: usize = 200;

/// A run to which numbers of the report refer, with the addresses of its page.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunPage {
    /// The index in [`FleetReport::runs`].
    pub run: usize,
    /// The link address for each place that a number describes. A number without an address has no link. [`RunPlace::Whole`] is always included.
    pub places: BTreeMap<RunPlace, Option<String>>,
}

/// The part of a run that a number on the page describes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RunPlace {
    /// The complete run.
    Whole,
    /// The busiest second.
    BusiestSecond,
    /// A process, thread, binary or function.
    Row(ScopeName),
}

impl RunPage {
    /// The runs to which the numbers of the page refer, in reading order: tables from first to last, rows from top to bottom. Within a row, the
    /// largest value comes first, then percentiles from the highest down. For a percentile between two runs, the run with the larger value comes
    /// first. Percentiles with too few runs are not shown and refer to no run. The runs have no addresses yet.
    pub fn all(report: &FleetReport) -> Vec<Self> {
        let mut named = Named::default();
        for cohort in shown_cohorts(report) {
            named.add(&cohort.across_runs, &RunPlace::Whole);
        }
        for windows in shown_cohorts(report).filter_map(|cohort| cohort.within_runs.as_ref()) {
            named.add(&windows.peaks, &RunPlace::BusiestSecond);
        }
        for scope in FleetScope::ALL {
            for row in shown_rows(report, scope) {
                named.add(&row.summary, &RunPlace::Row(row.name.clone()));
            }
        }
        named.pages
    }
}

/// The cohorts that the tables of cohorts list: the first [`MOST_COHORT_ROWS`] of each unit.
fn shown_cohorts(report: &FleetReport) -> impl Iterator<Item = &CohortReport> {
    let units = report.cohorts.chunk_by(|a, b| a.cohort.unit == b.cohort.unit);
    units.flat_map(|cohorts| cohorts.iter().take(MOST_COHORT_ROWS))
}

/// The rows in the tables of a scope.
fn shown_rows(report: &FleetReport, scope: FleetScope) -> impl Iterator<Item = &ScopeRow> {
    let tables =
        report.cohorts.iter().filter_map(move |cohort| cohort.tables.iter().find(|table| table.scope == scope));
    tables.take(MOST_COHORTS).flat_map(|table| table.rows.iter().take(MOST_ROWS))
}

/// True for a percentile that is shown.
fn is_shown(estimate: &Estimate) -> bool {
    estimate.value.is_some() && !matches!(estimate.support, Support::TooFew { .. })
}

/// Runs in the order of mention.
#[derive(Default)]
struct Named {
    pages: Vec<RunPage>,
    /// By run: its index in `pages`.
    positions: HashMap<usize, usize>,
}

impl Named {
    fn add(&mut self, summary: &Summary, place: &RunPlace) {
        let largest = summary.max_run.filter(|_| summary.max > Some(0.0));
        let percentiles = summary.estimates.iter().zip(&summary.percentile_runs).rev();
        let percentiles =
            percentiles.filter(|(estimate, _)| is_shown(estimate)).flat_map(|(_, runs)| runs.iter().rev());
        for run in largest.into_iter().chain(percentiles.copied()) {
            let position = *self.positions.entry(run).or_insert_with(|| {
                self.pages.push(RunPage { run, places: BTreeMap::from([(RunPlace::Whole, None)]) });
                self.pages.len() - 1
            });
            self.pages[position].places.entry(place.clone()).or_insert(None);
        }
    }
}

//! Pages of runs next to the page of a fleet: the runs that its numbers name, and links from these numbers.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::outline::{COHORT_ROWS, MAX_COHORTS, SCOPE_ROWS, by_unit};
use crate::fleet::{CohortReport, FleetReport, FleetScope, RunRow, ScopeName, ScopeRow, Summary};
use crate::output::fleet::{many, thousands};
use crate::output::inert::{Text, shortened};
use crate::stats::{Estimate, Support};

/// A run that numbers of the report come from, with the addresses of its page.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunPage {
    /// The position in [`FleetReport::runs`].
    pub run: usize,
    /// The address to link to, for each place that a number describes. A number without an address has no link.
    /// [`RunPlace::Whole`] is always included.
    pub places: BTreeMap<RunPlace, Option<String>>,
}

/// The part of a run that a number of the page describes.
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
    /// The runs that the numbers of the page name, in order: tables from first to last, rows from top to bottom, and in
    /// a row the largest value first, then percentiles from the highest down. A percentile between two runs names the
    /// one with the larger value first. Percentiles with too few runs are not shown and name no run. No run has an
    /// address yet.
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

/// The cohorts that have a row in tables of cohorts.
fn shown_cohorts(report: &FleetReport) -> impl Iterator<Item = &CohortReport> {
    by_unit(report).flat_map(|(_, cohorts)| cohorts.iter().take(COHORT_ROWS))
}

/// The rows of the tables of a scope.
fn shown_rows(report: &FleetReport, scope: FleetScope) -> impl Iterator<Item = &ScopeRow> {
    let tables =
        report.cohorts.iter().filter_map(move |cohort| cohort.tables.iter().find(|table| table.scope == scope));
    tables.take(MAX_COHORTS).flat_map(|table| table.rows.iter().take(SCOPE_ROWS))
}

/// True for a percentile that is shown.
fn is_shown(estimate: &Estimate) -> bool {
    estimate.value.is_some() && !matches!(estimate.support, Support::TooFew { .. })
}

/// Runs in the order in which they are named.
#[derive(Default)]
struct Named {
    pages: Vec<RunPage>,
    /// By run: its position in `pages`.
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

/// The links of a page; none without pages of runs.
pub(super) struct Links<'p> {
    report: &'p FleetReport,
    by_run: HashMap<usize, &'p RunPage>,
}

impl<'p> Links<'p> {
    pub(super) fn new(report: &'p FleetReport, pages: &'p [RunPage]) -> Self {
        Self { report, by_run: pages.iter().map(|page| (page.run, page)).collect() }
    }

    /// The number of runs with a page, and of named runs; `None` without pages.
    pub(super) fn counts(&self) -> Option<(u64, u64)> {
        let named = || RunPage::all(self.report).len() as u64;
        (!self.by_run.is_empty()).then(|| (self.by_run.len() as u64, named()))
    }

    /// Explains how many runs have a page.
    pub(super) fn explanation(&self) -> String {
        let Some((pages, named)) = self.counts() else { return String::new() };
        let (named, has) = (many(named, "run"), if pages == 1 { "has a page" } else { "have pages" });
        format!(
            "<p class=\"legend\">A number that is a link opens the recording of its run. Of the {named} that numbers of this page are \
             values of, {} {has}.</p>\n",
            thousands(pages)
        )
    }

    /// A number, as HTML, with a link to its run, which is the last of `runs` that has a page.
    pub(super) fn number(&self, shown: &str, runs: &[usize], place: &RunPlace) -> String {
        let page = runs.iter().rev().find_map(|run| self.by_run.get(run));
        self.linked(&Text(shown).to_string(), page.copied(), place)
    }

    /// The name of a run, as HTML, with a link to its page.
    pub(super) fn run(&self, run: usize) -> String {
        let name = self.title(run);
        self.linked(&Text(&shortened(&name)).to_string(), self.by_run.get(&run).copied(), &RunPlace::Whole)
    }

    fn title(&self, run: usize) -> Cow<'p, str> {
        self.report.runs.get(run).map(RunRow::title).unwrap_or_default()
    }

    fn linked(&self, html: &str, page: Option<&RunPage>, place: &RunPlace) -> String {
        let address = page.and_then(|page| Some((page, page.places.get(place)?.as_ref()?)));
        let Some((page, address)) = address else { return html.to_owned() };
        let title = format!("Opens {}", shortened(&self.title(page.run)));
        format!("<a class=\"run\" href=\"{}\" title=\"{}\">{html}</a>", Text(address), Text(&title))
    }
}

//! The options of a page.

use std::io;

use super::fitting::first_fitting;
use super::page::Page;
use super::reduction::WorkbenchReduction;
use crate::output::diff::DiffReport;
use crate::recording::Intervals;
use crate::report::Report;

/// What a page shows beside the samples, and what it leaves out of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkbenchOptions<'a> {
    /// Signposts and hangs of the recording; of a comparison, of the second one.
    pub intervals: Option<&'a Intervals>,
    /// Those of the first recording of a comparison.
    pub before_intervals: Option<&'a Intervals>,
    /// What is left out of samples, so that the page is not too large.
    pub reduction: WorkbenchReduction,
}

impl WorkbenchOptions<'_> {
    /// The same options with the first reduction that makes the page of a report at most so many bytes.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if the page is larger with each of them.
    pub fn fitting(self, report: &Report<'_>, max_size: u64) -> io::Result<Self> {
        let reduction = first_fitting(&Page::of_report(report, self.intervals), max_size)?;
        Ok(Self { reduction, ..self })
    }

    /// The same for the page of a comparison.
    ///
    /// # Errors
    /// As for one report.
    pub fn fitting_comparison(self, diff: &DiffReport<'_, '_>, max_size: u64) -> io::Result<Self> {
        let page = Page::of_comparison(diff, [self.before_intervals, self.intervals])?;
        Ok(Self { reduction: first_fitting(&page, max_size)?, ..self })
    }
}

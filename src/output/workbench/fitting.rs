//! The search for the smallest reduction with which a page is small enough.
//!
//! Compressing a large page takes longer than everything else. Reductions change only the rows of samples, so stacks and names are
//! compressed once, and the rows of each reduction separately. Both sizes together are nearly the size of the page. The complete page is
//! compressed only if that is too close to the limit.

use std::io;

use super::page::{Page, Source};
use super::reduction::WorkbenchReduction;
use crate::output::diff::DiffReport;
use crate::recording::Intervals;
use crate::report::Report;

/// The content of a page in addition to samples, and how much of the samples it leaves out.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkbenchOptions<'a> {
    /// Signposts and hangs of the recording; in a comparison, of the second one.
    pub intervals: Option<&'a Intervals>,
    /// Signposts and hangs of the first recording of a comparison.
    pub before_intervals: Option<&'a Intervals>,
    /// The reduction of samples that keeps the page small.
    pub reduction: WorkbenchReduction,
}

impl WorkbenchOptions<'_> {
    /// The same options with the first reduction that makes the page of a report at most `max_size` bytes.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if the page is larger with every reduction.
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

/// By how much two parts that are compressed by themselves may differ from the whole, for each recording: the window of gzip, which is
/// empty where the second part begins, in base64, and twice that.
const SEAM: u64 = 88 << 10;
/// Separately compressed parts have other gzip blocks, which changes the size by less than one part in this number.
const SHARE: u64 = 64;

/// The first reduction with which a page has at most `max_size` bytes.
fn first_fitting(page: &Page<'_, '_>, max_size: u64) -> io::Result<WorkbenchReduction> {
    let around = page.size_around()?;
    let limit = max_size.saturating_sub(around);
    let sources = page.sources();
    if sum(sources, |source| source.most(WorkbenchReduction::None).map(Some))?.is_some_and(|most| most <= limit) {
        return Ok(WorkbenchReduction::None);
    }
    let all = &WorkbenchReduction::ALL[..if page.are_sums() { 1 } else { WorkbenchReduction::ALL.len() }];
    let slack = SEAM * sources.len() as u64 + limit / SHARE;
    if let Some(recording) = sum(sources, |source| source.recording_size(limit + slack))? {
        for &reduction in all {
            if is_fitting(sources, recording, reduction, limit, slack)? {
                return Ok(reduction);
            }
        }
    }
    let least = all.last().copied().unwrap_or_default();
    let size = around + sum(sources, |source| source.size(least, u64::MAX))?.unwrap_or_default();
    let text = format!(
        "the page would have {size} bytes or more, even if no times were kept; allow more, or select less of the recording"
    );
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

/// True if the payloads have at most this many bytes. The part that no reduction changes has `recording` bytes.
fn is_fitting(
    sources: &[Source<'_, '_>],
    recording: u64,
    reduction: WorkbenchReduction,
    limit: u64,
    slack: u64,
) -> io::Result<bool> {
    let rest = (limit + slack).saturating_sub(recording);
    let Some(rows) = sum(sources, |source| source.rows_size(reduction, rest))? else { return Ok(false) };
    match recording + rows {
        size if size > limit + slack => Ok(false),
        size if size + slack <= limit => Ok(true),
        _ => Ok(sum(sources, |source| source.size(reduction, limit))?.is_some_and(|size| size <= limit)),
    }
}

/// The sum of a size over all recordings; `None` if one is missing.
fn sum(
    sources: &[Source<'_, '_>],
    size: impl Fn(&Source<'_, '_>) -> io::Result<Option<u64>>,
) -> io::Result<Option<u64>> {
    let mut sum = 0;
    for source in sources {
        let Some(size) = size(source)? else { return Ok(None) };
        sum += size;
    }
    Ok(Some(sum))
}

//! The page of `traceparse compare`.

use std::io::{self, Write};
use std::path::{Component, Path, absolute};

use traceparse::Analysis;
use traceparse::fleet::compare::Comparison;
use traceparse::output::{self, DiffReport, DiffView, WorkbenchOptions};
use traceparse::recording::Recording;
use traceparse::report::diff::{Diff, Normalize};
use traceparse::report::{ReportOptions, View};

use crate::output::Output;
use crate::redacted;

/// Writes the page: the comparison, with the address of the folder that run paths are relative to, and the sums of both sides.
pub(super) fn write(
    comparison: (&Comparison, Option<&str>),
    pooled: [Recording; 2],
    page: &Output,
    out: &mut dyn Write,
) -> io::Result<()> {
    let options = ReportOptions { view: View::Summary, ..ReportOptions::default() };
    let analyses = pooled.map(Analysis::new);
    let [before, after] = analyses.each_ref().map(|analysis| analysis.report(&options));
    let normalize = Normalize::Duration;
    let diff = Diff::new(&before, &after, normalize).with_noise_factor(comparison.0.noise_factor);
    let report = DiffReport {
        before: &before,
        after: &after,
        diff: &diff,
        normalize,
        view: DiffView::Overview,
        top: None,
        min_percent: 0.0,
        alerts: &[],
    };
    let options = WorkbenchOptions { comparison: Some(comparison), ..WorkbenchOptions::default() };
    output::write(&report, &page.page(|size| options.fitting_comparison(&report, size))?, out)
}

/// The address of the working directory, relative to a page; `None` if runs must not be linked.
pub(super) fn root(page: Option<&Path>) -> Option<String> {
    if redacted::is_asked() {
        return None;
    }
    let (here, page) = (absolute(".").ok()?, absolute(page.unwrap_or(Path::new("page"))).ok()?);
    let (here, folder) = (names(&here), names(page.parent()?));
    let common = here.iter().zip(&folder).take_while(|(a, b)| a == b).count();
    let up = folder[common..].iter().map(|_| "..".to_owned());
    let down = here[common..].iter().map(|name| name.as_os_str().display().to_string());
    Some(up.chain(down).map(|name| name + "/").collect())
}

/// The components of a path, with `..` resolved.
fn names(path: &Path) -> Vec<Component<'_>> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(names.pop()),
            part => names.push(part),
        }
    }
    names
}

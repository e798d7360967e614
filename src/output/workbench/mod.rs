//! The workbench: one HTML file for exploring a recording, without a server and without network access.
//!
//! ```text
//! shell ─► the payload, compressed, as Base64 in a `<script>` that browsers do not execute ─► the script that reads it
//! ```
//!
//! The script and its style are built from `web/` by `web/build.mjs`, which also hashes them for the content security policy: nothing else runs in
//! the page, and it loads nothing. Names are in the payload; the script inserts them as text.

mod columns;
mod head;
mod intervals;
mod page;
mod payload;
mod reduction;
mod rows;
mod titles;

use std::io::{self, Write};

use super::diff::DiffReport;
use crate::report::Report;
use page::Page;
pub use page::WorkbenchOptions;
pub use reduction::WorkbenchReduction;

/// Writes the page of a report.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &Report<'_>, options: &WorkbenchOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    Page::of_report(report, options.intervals).write(options.reduction, out)
}

/// Writes the page of a comparison: both recordings, and the results of the command.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write_comparison(
    diff: &DiffReport<'_, '_>,
    options: &WorkbenchOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    Page::of_comparison(diff, options)?.write(options.reduction, out)
}

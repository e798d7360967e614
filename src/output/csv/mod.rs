//! Tables as CSV (RFC 4180: comma, double quotes if needed, LF), with a header. An absent value is an empty field.

mod cells;
mod samples;
mod shared;
mod summary;
mod tables;
mod writer;

use std::io::{self, Write};

pub use cells::Cells;
pub(in crate::output) use writer::{Csv, Field};

use crate::report::{Report, View};

/// Writes the view of a report, with text in cells in the form `cells`. The overview and the full view are written as the summary.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    match report.options.view {
        View::Tree => tables::trees(report, cells, out),
        View::Samples => samples::write(report, cells, out),
        View::FlameChart => tables::flame_chart(report, cells, out),
        view => match view.listing_kind() {
            Some(kind) => tables::listing(report, kind, cells, out),
            None => summary::write(report, cells, out),
        },
    }
}

//! Changes as a table: a record for each function, binary or node.

use std::io::{self, Write};

use ::csv::Writer;

use super::{DiffReport, DiffView, name, owner};
use crate::output::csv::{Cells, record};
use crate::report::diff::{Change, Function, Sides};
use crate::units::Unit;

/// A function, a binary or a node.
struct Row<'d> {
    /// The depth of a node: 0 for the root.
    depth: Option<u32>,
    function: Option<&'d Function>,
    sides: Sides,
    self_change: Change,
    all_change: Change,
    unit: Unit,
    cells: Cells,
}

/// Empty if it is unknown.
fn noise(change: Change) -> String {
    Some(change.noise).filter(|noise| noise.is_finite()).map(|noise| noise.to_string()).unwrap_or_default()
}

/// The header of a column, and its field in a row.
type Column = (&'static str, fn(&Row<'_>) -> String);

const COLUMNS: [Column; 17] = [
    ("depth", |row| row.depth.map(|depth| depth.to_string()).unwrap_or_default()),
    ("self_before", |row| row.sides.before.sums.self_weight.to_string()),
    ("self_after", |row| row.sides.after.sums.self_weight.to_string()),
    ("self_change", |row| row.self_change.weight.to_string()),
    ("self_noise", |row| noise(row.self_change)),
    ("all_before", |row| row.sides.before.sums.all_weight.to_string()),
    ("all_after", |row| row.sides.after.sums.all_weight.to_string()),
    ("all_change", |row| row.all_change.weight.to_string()),
    ("all_noise", |row| noise(row.all_change)),
    ("self_samples_before", |row| row.sides.before.sums.self_samples.to_string()),
    ("self_samples_after", |row| row.sides.after.sums.self_samples.to_string()),
    ("samples_before", |row| row.sides.before.sums.all_samples.to_string()),
    ("samples_after", |row| row.sides.after.sums.all_samples.to_string()),
    ("presence", |row| row.sides.presence().name().to_owned()),
    ("unit", |row| row.unit.name().to_owned()),
    ("function", |row| row.cells.text(row.function.map_or("", name)).into_owned()),
    ("binary", |row| row.cells.text(row.function.and_then(owner).unwrap_or_default()).into_owned()),
];

/// Writes the rows of the view, with text in cells as chosen by `cells`. Only nodes have a depth. The overview is written as functions.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &DiffReport<'_, '_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = Writer::from_writer(out);
    record(&mut csv, &COLUMNS.map(|(name, _)| name))?;
    let view = if report.view == DiffView::Overview { DiffView::Functions } else { report.view };
    let report = DiffReport { view, ..*report };
    let (diff, unit) = (report.diff, report.diff.unit);
    let nodes = if view == DiffView::Tree { diff.nodes.as_slice() } else { &[] };
    let nodes = nodes.iter().map(|node| Row {
        depth: Some(node.depth),
        function: diff.function(node),
        sides: node.sides,
        self_change: diff.self_change(&node.sides),
        all_change: diff.all_change(&node.sides),
        unit,
        cells,
    });
    let rows = report.rows().iter().take(report.top.unwrap_or(usize::MAX)).map(|row| Row {
        depth: None,
        function: Some(&row.function),
        sides: row.sides,
        self_change: row.self_change,
        all_change: row.all_change,
        unit,
        cells,
    });
    for row in nodes.chain(rows) {
        let fields = COLUMNS.map(|(_, field)| field(&row));
        record(&mut csv, &fields.each_ref().map(String::as_str))?;
    }
    csv.flush()
}

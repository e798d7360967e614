//! Changes as a table, with a record for each function, binary or node.

use std::io::{self, Write};

use super::{DiffReport, DiffView};
use crate::output::csv::{Cells, Csv, Field};
use crate::report::diff::{Change, Diff, Function, Sides};

const COLUMNS: &str = "depth,self_before,self_after,self_change,self_noise,all_before,all_after,all_change,all_noise,\
    self_samples_before,self_samples_after,samples_before,samples_after,presence,unit,function,binary";

/// Writes the rows of the view, with text in cells in the form `cells`. Only nodes have a depth. The overview is written as functions.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &DiffReport<'_, '_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let view = if report.view == DiffView::Overview { DiffView::Functions } else { report.view };
    let report = DiffReport { view, ..*report };
    let diff = report.diff;
    let nodes = (view == DiffView::Tree).then(|| diff.nodes()).into_iter().flatten().map(|node| {
        let changes = [diff.self_change(&node.sides), diff.all_change(&node.sides)];
        record(diff, Some(node.depth), diff.function(&node), &node.sides, changes)
    });
    let rows = report.rows().iter().take(report.top.unwrap_or(usize::MAX));
    let rows = rows.map(|row| record(diff, None, Some(&row.function), &row.sides, [row.self_change, row.all_change]));
    Csv::write(COLUMNS.split(','), nodes.chain(rows), cells, out)
}

/// Makes the record of a function, a binary, or a node at this depth (0 for the root).
fn record<'d>(
    diff: &Diff,
    depth: Option<u32>,
    function: Option<&'d Function>,
    sides: &Sides,
    [own, all]: [Change; 2],
) -> [Field<'d>; 17] {
    let [before, after] = [sides.before.sums, sides.after.sums];
    // Empty if unknown.
    let noise = |change: Change| Some(change.noise).filter(|noise| noise.is_finite()).into();
    [
        depth.into(),
        before.self_weight.into(),
        after.self_weight.into(),
        own.weight.into(),
        noise(own),
        before.all_weight.into(),
        after.all_weight.into(),
        all.weight.into(),
        noise(all),
        before.self_samples.into(),
        after.self_samples.into(),
        before.all_samples.into(),
        after.all_samples.into(),
        sides.presence().name().into(),
        diff.unit.name().into(),
        function.map(Function::title).into(),
        function.and_then(Function::owner).into(),
    ]
}

//! Changes as a table: a record for each function, binary or node.

use std::io::{self, Write};

use ::csv::Writer;

use super::{DiffReport, DiffView, name, owner};
use crate::output::csv::{Cells, record};
use crate::report::diff::{Change, Function, Presence, Sides};

/// Writes the rows of the view, with text in cells as chosen by `cells`. The root has depth 0, and only nodes have a depth.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &DiffReport<'_, '_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = Writer::from_writer(out);
    record(
        &mut csv,
        &[
            "depth",
            "self_before",
            "self_after",
            "self_change",
            "self_noise",
            "all_before",
            "all_after",
            "all_change",
            "all_noise",
            "self_samples_before",
            "self_samples_after",
            "samples_before",
            "samples_after",
            "presence",
            "unit",
            "function",
            "binary",
        ],
    )?;
    let report = &match report.view {
        DiffView::Overview => DiffReport { view: DiffView::Functions, ..*report },
        _ => *report,
    };
    let diff = report.diff;
    let mut write = |depth: Option<u32>, function: Option<&Function>, sides: &Sides, changes: [Change; 2]| {
        let [own, all] = changes;
        let numbers = [
            depth.map(|depth| depth.to_string()).unwrap_or_default(),
            sides.before.self_weight.to_string(),
            sides.after.self_weight.to_string(),
            own.weight.to_string(),
            own.noise.to_string(),
            sides.before.all_weight.to_string(),
            sides.after.all_weight.to_string(),
            all.weight.to_string(),
            all.noise.to_string(),
            sides.before.self_samples.to_string(),
            sides.after.self_samples.to_string(),
            sides.before.all_samples.to_string(),
            sides.after.all_samples.to_string(),
        ];
        let names = [function.map_or("", name), function.and_then(owner).unwrap_or_default()];
        let [name, owner] = names.map(|name| cells.text(name));
        let texts = [presence(sides), diff.unit.name(), &name, &owner];
        let fields: Vec<&str> = numbers.iter().map(String::as_str).chain(texts).collect();
        record(&mut csv, &fields)
    };
    if report.view == DiffView::Tree {
        for node in &diff.nodes {
            let changes = [diff.self_change(&node.sides), diff.all_change(&node.sides)];
            write(Some(node.depth), diff.function(node), &node.sides, changes)?;
        }
    }
    for row in report.rows().iter().take(report.top.unwrap_or(usize::MAX)) {
        write(None, Some(&row.function), &row.sides, [row.self_change, row.all_change])?;
    }
    csv.flush()
}

/// `both`, `new` or `vanished`.
pub(super) fn presence(sides: &Sides) -> &'static str {
    match sides.presence() {
        Presence::Both => "both",
        Presence::New => "new",
        Presence::Vanished => "vanished",
    }
}

//! Changes as a flame graph.

use std::io::{self, Write};

use super::{DiffReport, name, owner};
use crate::output::svg::{FlameGraphOptions, FlameNode};

/// Draws the call tree of the second recording, coloured by the changes of all weight that the table of the tree shows.
///
/// # Errors
/// When `out` fails.
pub(crate) fn write(report: &DiffReport<'_, '_>, options: &FlameGraphOptions, out: &mut dyn Write) -> io::Result<()> {
    let diff = report.diff;
    let nodes = diff.nodes.iter().map(|node| {
        let function = diff.function(node);
        let (before, after) = (node.sides.before, node.sides.after);
        let shown = FlameNode {
            depth: node.depth,
            name: function.map_or("all", name),
            binary: function.and_then(owner),
            category: None,
            all_weight: after.all_weight,
            self_weight: after.self_weight,
            hidden_weight: 0,
        };
        (shown, (before.all_weight, before.self_weight), diff.all_change(&node.sides))
    });
    options.write_differential(nodes, diff.unit, out)
}

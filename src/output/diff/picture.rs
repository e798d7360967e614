//! Changes as a flame graph.

use std::io::{self, Write};

use super::{DiffReport, name, owner};
use crate::output::svg::{DifferentialNode, FlameGraphOptions, write_differential};

/// Draws the call tree of the second recording, coloured by how much shares changed.
///
/// # Errors
/// When `out` fails.
pub fn write(report: &DiffReport<'_, '_>, options: &FlameGraphOptions, out: &mut dyn Write) -> io::Result<()> {
    let diff = report.diff;
    let nodes = diff.nodes.iter().map(|node| {
        let function = diff.function(node);
        DifferentialNode {
            depth: node.depth,
            name: function.map_or("all", name),
            binary: function.and_then(owner),
            before_all: node.sides.before.all_weight,
            after_all: node.sides.after.all_weight,
            before_self: node.sides.before.self_weight,
            after_self: node.sides.after.self_weight,
        }
    });
    write_differential(nodes, diff.unit, options, out)
}

//! Writers for the changes between two recordings ([`Diff`]).

mod alerts;
pub(super) mod csv;
pub(super) mod json;
mod overview;
pub(super) mod text;

use std::io::{self, Write};

use super::svg::{FlameGraphOptions, FlameNode};
use crate::alert::AlertOutcome;
use crate::report::Report;
use crate::report::diff::{Diff, DiffRow, Function, Normalize};

/// The view of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffView {
    /// The short answer: the change in the total, and the functions that changed most [default for text]
    ///
    /// JSON has the app's functions. CSV has all functions.
    Overview,
    /// Functions across all threads, by change in self weight
    #[default]
    Functions,
    /// Binaries, by change in self weight
    Binaries,
    /// The call tree across all threads, by change in total weight
    Tree,
}

impl DiffView {
    /// The name of the view: `overview`, `functions`, `binaries`, `tree`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Functions => "functions",
            Self::Binaries => "binaries",
            Self::Tree => "tree",
        }
    }
}

/// A comparison with everything that writers need.
#[derive(Clone, Copy, Debug)]
pub struct DiffReport<'r, 'e> {
    /// The first recording.
    pub before: &'r Report<'e>,
    /// The second recording.
    pub after: &'r Report<'e>,
    /// The changes.
    pub diff: &'r Diff,
    /// The requested normalization.
    pub normalize: Normalize,
    /// The view.
    pub view: DiffView,
    /// The maximum number of rows in tables; `None` shows all.
    pub top: Option<usize>,
    /// The minimum change that text shows, in percent of the heavier recording's weight. Smaller changes are hidden and counted.
    pub min_percent: f64,
    /// The outcomes of alert rules.
    pub alerts: &'r [AlertOutcome],
}

impl DiffReport<'_, '_> {
    /// The rows of the table to show; empty for the tree.
    fn rows(&self) -> &[DiffRow] {
        match self.view {
            DiffView::Overview => &self.diff.own_functions,
            DiffView::Functions => &self.diff.functions,
            DiffView::Binaries => &self.diff.binaries,
            DiffView::Tree => &[],
        }
    }
}

/// Draws the call tree of the second recording, coloured by the changes in total weight that the tree view shows.
///
/// # Errors
/// If `out` fails.
pub(super) fn write_flame_graph(
    report: &DiffReport<'_, '_>,
    options: &FlameGraphOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let diff = report.diff;
    let nodes = diff.nodes().map(|node| {
        let function = diff.function(&node);
        let (before, after) = (node.sides.before, node.sides.after);
        let shown = FlameNode {
            depth: node.depth,
            name: function.map_or("all", Function::title),
            binary: function.and_then(Function::owner),
            category: None,
            all_weight: after.sums.all_weight,
            self_weight: after.sums.self_weight,
            hidden_weight: 0,
        };
        (shown, (before.sums.all_weight, before.sums.self_weight), diff.all_change(&node.sides))
    });
    options.write_differential(nodes, diff.unit, out)
}

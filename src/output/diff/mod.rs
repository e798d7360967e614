//! Writers of what changed between two recordings ([`Diff`]).

mod alerts;
pub(super) mod csv;
pub(super) mod json;
mod overview;
pub(super) mod text;

use std::io::{self, Write};

use super::svg::{FlameGraphOptions, FlameNode};
use crate::report::Report;
use crate::report::diff::{Diff, DiffAlertOutcome, DiffRow, Function, FunctionKey, Normalize};

/// The view of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
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
    /// The call tree across all threads, by change in `all` weight
    Tree,
}

/// A comparison and all that belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct DiffReport<'r, 'e> {
    /// The first recording.
    pub before: &'r Report<'e>,
    /// The second one.
    pub after: &'r Report<'e>,
    /// The changes.
    pub diff: &'r Diff,
    /// The requested normalization.
    pub normalize: Normalize,
    /// The view.
    pub view: DiffView,
    /// The number of rows that tables show; `None` shows all.
    pub top: Option<usize>,
    /// Text hides changes below this percentage of the heavier recording, and reports their number.
    pub min_percent: f64,
    /// The outcomes of alert rules.
    pub alerts: &'r [DiffAlertOutcome<'r>],
}

impl DiffReport<'_, '_> {
    /// The rows of the table that is shown; none of the tree.
    fn rows(&self) -> &[DiffRow] {
        match self.view {
            DiffView::Overview => &self.diff.own_functions,
            DiffView::Functions => &self.diff.functions,
            DiffView::Binaries => &self.diff.binaries,
            DiffView::Tree => &[],
        }
    }

    fn normalize_name(&self) -> &'static str {
        match self.normalize {
            Normalize::None => "none",
            Normalize::Duration => "duration",
            Normalize::Samples => "samples",
        }
    }
}

/// Draws the call tree of the second recording, coloured by the changes of all weight that the table of the tree shows.
///
/// # Errors
/// When `out` fails.
pub(super) fn write_flame_graph(
    report: &DiffReport<'_, '_>,
    options: &FlameGraphOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let diff = report.diff;
    let nodes = diff.nodes.iter().map(|node| {
        let function = diff.function(node);
        let (before, after) = (node.sides.before, node.sides.after);
        let shown = FlameNode {
            depth: node.depth,
            name: function.map_or("all", name),
            binary: function.and_then(owner),
            category: None,
            all_weight: after.sums.all_weight,
            self_weight: after.sums.self_weight,
            hidden_weight: 0,
        };
        (shown, (before.sums.all_weight, before.sums.self_weight), diff.all_change(&node.sides))
    });
    options.write_differential(nodes, diff.unit, out)
}

/// The name of a function, or of a binary.
fn name(function: &Function) -> &str {
    match (&function.key, function.name.as_str()) {
        (FunctionKey::NoStack, _) => crate::report::NO_STACK,
        (_, "") => function.binary.as_deref().unwrap_or("[no known binary]"),
        (_, name) => name,
    }
}

/// The binary of a function, shown next to its name.
fn owner(function: &Function) -> Option<&str> {
    function.binary.as_deref().filter(|_| !function.name.is_empty())
}

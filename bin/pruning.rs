//! Options that leave out parts of trees and tables, for single recordings and fleets.

use clap::Args;
use traceparse::calltree::Pruning;

use crate::output::Output;
use crate::weight_limit::{parse_percent, parse_top};

#[derive(Debug, Args)]
pub(crate) struct PruningArgs {
    /// Hide tree nodes below this percentage, and in text also table rows [default: 1 in text, 0 elsewhere]
    ///
    /// The percentage is of the tree, or for table rows of the total.
    #[arg(long, value_name = "P", value_parser = parse_percent, help_heading = "Output")]
    pub(crate) min_percent: Option<f64>,
    /// Show only the first N rows of tables, and the N heaviest children of each tree node; 0 shows all
    #[arg(long, value_name = "N", value_parser = parse_top, help_heading = "Output")]
    pub(crate) top: Option<usize>,
    /// Hide tree levels deeper than N
    #[arg(long, value_name = "N", help_heading = "Output")]
    depth: Option<u32>,
    /// Show one call tree for all threads
    #[arg(long, help_heading = "Output")]
    pub(crate) no_threads: bool,
}

impl PruningArgs {
    /// Returns the pruning rules for trees in this output.
    pub(crate) fn pruning(&self, output: &Output) -> Pruning {
        let min_percent = self.min_percent.unwrap_or(if output.is_text() { 1.0 } else { 0.0 });
        Pruning { min_percent, depth: self.depth, children: self.top, ..Pruning::default() }
    }
}

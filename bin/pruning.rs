//! Options that leave out parts of trees and tables, for single recordings and fleets.

use clap::Args;
use traceparse::calltree::Pruning;

use crate::output::Output;
use crate::weight_limit::{number, parse_percent, parse_top};

#[derive(Debug, Args)]
pub(crate) struct PruningArgs {
    /// Hide tree nodes below this percentage
    ///
    /// The default is 1 in text, and 0 in all other formats. In text, also hides table rows. The percentage is relative to the tree, or for
    /// table rows to the total.
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = parse_percent, help_heading = "Output")]
    pub(crate) min_percent: Option<f64>,
    /// Show only the first N rows of tables; 0 shows all
    ///
    /// In trees, shows the N heaviest children of each node.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_top)]
    pub(crate) top: Option<usize>,
    /// Hide tree levels deeper than N
    #[arg(long, value_name = "N", value_parser = number::<u32>(0, None), allow_negative_numbers = true, help_heading = "Output")]
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

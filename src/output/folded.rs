//! Folded stacks: `process;thread;root;…;leaf WEIGHT`, the input of flame graph tools.
//!
//! One line for each place in a tree that has a weight of its own. Separators in names are escaped
//! ([`escape_folded`]). Functions of one name in several binaries give
//! several lines of the same text, which every reader adds up.

use std::fmt;
use std::io::{self, Write};

use super::labels::{escape_folded, function_of, scope_labels};
use crate::calltree::CallTree;
use crate::profile::Profile;
use crate::report::{Report, SeriesReport};

/// Folded stacks have one number a line and no room for its meaning, so series of different meaning cannot be mixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixed {
    /// The series that were asked for, as `SCHEMA (run N, UNIT)`.
    pub series: Vec<String>,
}

impl fmt::Display for Mixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = self.series.join(", ");
        write!(
            f,
            "the input holds several measurements that cannot be added up: {list}; choose one with --schema or --run"
        )
    }
}

impl std::error::Error for Mixed {}

/// Whether all series of the report may be added up: one schema and unit, and no run twice.
///
/// # Errors
/// [`Mixed`] with the series, if not.
pub fn check(report: &Report<'_>) -> Result<(), Mixed> {
    let profile = &report.export.profile;
    let asked: Vec<&SeriesReport> = report.series.iter().filter(|series| !series.is_filtered_out()).collect();
    let mut runs: Vec<_> = asked.iter().map(|series| profile.series(series.series).run).collect();
    runs.sort_unstable();
    runs.dedup();
    let kind = |series: &SeriesReport| (profile.series(series.series).schema, series.unit);
    let is_one_kind = asked.windows(2).all(|pair| kind(pair[0]) == kind(pair[1]));
    if is_one_kind && runs.len() == asked.len() {
        return Ok(());
    }
    let describe = |series: &SeriesReport| {
        let row = profile.series(series.series);
        format!("{} (run {}, {})", profile.string(row.schema), profile.run(row.run).number, series.unit)
    };
    Err(Mixed { series: asked.into_iter().map(describe).collect() })
}

/// Writes the trees of a report of [`View::Tree`](crate::report::View::Tree). Every stack starts with the process and
/// thread of its tree, with the process only, or with neither, as the trees are separated.
///
/// # Errors
/// When `out` fails, or the series of the report cannot be added up ([`check`]).
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    check(report).map_err(|mixed| io::Error::new(io::ErrorKind::InvalidInput, mixed))?;
    let profile = &report.export.profile;
    for row in report.series.iter().flat_map(|series| report.trees(series)) {
        let labels = scope_labels(profile, row.scope);
        let labels: Vec<_> = labels.iter().map(|label| escape_folded(label)).collect();
        write_tree(profile, &row.tree, &labels.join(";"), out)?;
    }
    Ok(())
}

fn write_tree(profile: &Profile, tree: &CallTree, prefix: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::from(prefix);
    // Where the text of each open level ends.
    let mut ends = vec![line.len()];
    for node in &tree.nodes()[1..] {
        ends.truncate(node.depth as usize);
        line.truncate(ends[ends.len() - 1]);
        if !line.is_empty() {
            line.push(';');
        }
        line.push_str(&escape_folded(function_of(profile, node.label)));
        ends.push(line.len());
        // What pruning hid still belongs to the node's total.
        let weight = node.self_weight + node.hidden_weight;
        if weight > 0 {
            writeln!(out, "{line} {weight}")?;
        }
    }
    let hidden = tree.root().hidden_weight;
    if hidden > 0 {
        line.truncate(ends[0]);
        let separator = if line.is_empty() { "" } else { ";" };
        writeln!(out, "{line}{separator}[below the limits] {hidden}")?;
    }
    Ok(())
}

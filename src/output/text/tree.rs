//! A call tree as indented lines.
//!
//! Levels are indented where the tree forks only: most levels of a real stack have one child, and a line for each, one
//! below the other, reads as the chain of calls that it is.
//!
//! ```text
//!      all ms  thread  total      self  function
//!      85.000  100.0%  85.0%     0.000  start
//!      85.000  100.0%  85.0%     2.000  main
//!      60.000   70.6%  60.0%    60.000  ├─ fast
//!      22.500   26.5%  22.5%     0.500  ├─ slow
//!      22.000   25.9%  22.0%    22.000  │  helper
//!       0.500    0.6%   0.5%            └─ … 3 more calls
//! ```

use std::io::{self, Write};

use super::scale::Scale;
use super::style::{Style, Tone};
use super::{binary_of, count, function_of, share};
use crate::calltree::{CallTree, Node, percent};
use crate::profile::Profile;
use crate::report::{Scope, SeriesReport};
use crate::units::Weight;

/// Columns left of the names.
const LEFT: usize = 11 + 1 + 7 + 1 + 6 + 1 + 9 + 2;
/// Deeper forks than fit in this share of the terminal are not indented further.
const INDENT_SHARE: usize = 3;

pub(super) fn write(
    profile: &Profile,
    scope: Scope,
    tree: &CallTree,
    series: &SeriesReport,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let total = tree.root().all_weight;
    let scale = Scale::of(Weight::new(total, series.unit));
    let writer = TreeWriter { profile, tree, series, style, scale, total };
    let whole = match scope {
        Scope::Thread(_) => "thread",
        Scope::Process(_) => "process",
        Scope::State(_) => "state",
        Scope::CoreKind(_) => "kind",
        Scope::All => "tree",
    };
    let header = format!("{:>11} {whole:>7} {:>6} {:>9}  function", format!("all {}", scale.title()), "total", "self");
    writeln!(out, "{}", style.paint(Tone::Dim, &header))?;
    writer.nodes(out)
}

struct TreeWriter<'a> {
    profile: &'a Profile,
    tree: &'a CallTree,
    series: &'a SeriesReport,
    style: &'a Style,
    scale: Scale,
    total: u64,
}

/// A line to be written: what stands before its name, and before the names of the lines below it.
struct Line {
    index: usize,
    lead: String,
    below: String,
    /// Whether it says what pruning hid below the node, instead of the node itself.
    is_rest: bool,
}

impl TreeWriter<'_> {
    fn nodes(&self, out: &mut dyn Write) -> io::Result<()> {
        let root = Line { index: 0, lead: String::new(), below: String::new(), is_rest: false };
        let mut todo = self.lines_below(&root);
        while let Some(line) = todo.pop() {
            let node = &self.tree.nodes()[line.index];
            if line.is_rest {
                self.rest(node, &line.lead, out)?;
            } else {
                self.node(node, &line.lead, out)?;
                todo.extend(self.lines_below(&line));
            }
        }
        Ok(())
    }

    /// The lines right below one, in reverse: the children, and what is hidden.
    fn lines_below(&self, line: &Line) -> Vec<Line> {
        let mut entries: Vec<(usize, bool)> = self.tree.children(line.index).map(|child| (child, false)).collect();
        if self.tree.nodes()[line.index].hidden_children > 0 {
            entries.push((line.index, true));
        }
        let is_chain = entries.len() == 1;
        let room = self.style.width.map_or(usize::MAX, |width| width.saturating_sub(LEFT) / INDENT_SHARE);
        let last = entries.len().saturating_sub(1);
        let lines = entries.into_iter().enumerate().map(|(position, (index, is_rest))| {
            let (lead, below) = if is_chain {
                (line.below.clone(), line.below.clone())
            } else if line.below.chars().count() + 3 > room {
                (format!("{}·", line.below), line.below.clone())
            } else if position == last {
                (format!("{}└─ ", line.below), format!("{}   ", line.below))
            } else {
                (format!("{}├─ ", line.below), format!("{}│  ", line.below))
            };
            Line { index, lead, below, is_rest }
        });
        let mut lines: Vec<Line> = lines.collect();
        lines.reverse();
        lines
    }

    fn node(&self, node: &Node, lead: &str, out: &mut dyn Write) -> io::Result<()> {
        let all = self.style.paint(Tone::Weight, &format!("{:>11}", self.scale.number(node.all_weight)));
        let shares =
            format!("{:>6.1}% {:>5.1}%", percent(node.all_weight, self.total), share(node.all_weight, self.series));
        let own = format!("{:>9}", self.scale.number(node.self_weight));
        let own = if node.self_weight == 0 { self.style.paint(Tone::Dim, &own) } else { own };
        let name = function_of(self.profile, node.label);
        let binary = binary_of(self.profile, node.label).unwrap_or_default();
        let (name, binary) = self.style.two_parts(name, binary, LEFT + lead.chars().count());
        writeln!(out, "{all} {shares} {own}  {}{name}{binary}", self.style.paint(Tone::Dim, lead))
    }

    /// Says what pruning hid below a node.
    fn rest(&self, node: &Node, lead: &str, out: &mut dyn Write) -> io::Result<()> {
        let line = format!(
            "{:>11} {:>6.1}% {:>5.1}% {:>9}  {lead}… {}",
            self.scale.number(node.hidden_weight),
            percent(node.hidden_weight, self.total),
            share(node.hidden_weight, self.series),
            "",
            count(u64::from(node.hidden_children), "more call")
        );
        writeln!(out, "{}", self.style.paint(Tone::Dim, &line))
    }
}

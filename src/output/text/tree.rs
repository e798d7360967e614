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

use super::fork::Lead;
use super::scale::Scale;
use super::style::{MIN_NAME, Style, Tone, cut, fit};
use super::words::{count, share};
use crate::calltree::{CallTree, Node, percent};
use crate::output::labels::{binary_of, function_of};
use crate::profile::Profile;
use crate::report::{Report, Scope, SeriesReport};
use crate::units::Weight;

/// Columns left of the names.
const LEFT: usize = 11 + 1 + 7 + 1 + 6 + 1 + 9 + 2;
/// Deeper forks than fit in this share of the terminal are not indented further.
const INDENT_SHARE: usize = 3;

/// Writes a tree. In inverted trees, the functions of the first level are those that samples were taken in.
pub(super) fn write(
    report: &Report<'_>,
    scope: Scope,
    tree: &CallTree,
    series: &SeriesReport,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let profile = &report.recording.profile;
    let total = tree.root().all_weight;
    let scale = Scale::of(Weight::new(total, series.unit));
    let writer = TreeWriter { profile, tree, series, style, scale, total, is_inverted: report.is_inverted() };
    let whole = match scope {
        Scope::Thread(_) => "thread",
        Scope::Process(_) => "process",
        Scope::State(_) => "state",
        Scope::CoreKind(_) => "kind",
        Scope::All => "tree",
    };
    let (own, what) =
        if report.is_inverted() { ("outermost", "function, its callers below") } else { ("self", "function") };
    let header = format!("{:>11} {whole:>7} {:>6} {own:>9}  {what}", format!("all {}", scale.title()), "total");
    writeln!(out, "{}", style.paint(Tone::Dim, &fit(&header, style.width)))?;
    writer.nodes(out)
}

struct TreeWriter<'a> {
    profile: &'a Profile,
    tree: &'a CallTree,
    series: &'a SeriesReport,
    style: &'a Style,
    scale: Scale,
    total: u64,
    is_inverted: bool,
}

/// A line to be written.
struct Line {
    index: usize,
    lead: Lead,
    /// True if it stands for the part that pruning hid below the node, instead of the node itself.
    is_rest: bool,
}

impl TreeWriter<'_> {
    fn nodes(&self, out: &mut dyn Write) -> io::Result<()> {
        let root = Line { index: 0, lead: Lead::default(), is_rest: false };
        let mut todo = self.lines_below(&root);
        while let Some(line) = todo.pop() {
            let node = &self.tree.nodes()[line.index];
            if line.is_rest {
                self.rest(node, &line.lead.lead, out)?;
            } else {
                self.node(node, &line.lead.lead, out)?;
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
        let room = self.style.width.map_or(usize::MAX, |width| {
            (width.saturating_sub(LEFT) / INDENT_SHARE).min(width.saturating_sub(LEFT + MIN_NAME + 1))
        });
        let leads = line.lead.children(entries.len(), room);
        let lines = entries.iter().zip(leads).map(|(&(index, is_rest), lead)| Line { index, lead, is_rest });
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

    /// The number of nodes that pruning hid below one, in words.
    fn hidden(&self, node: &Node) -> String {
        count(u64::from(node.hidden_children), if self.is_inverted { "more caller" } else { "more call" })
    }

    /// Says what pruning hid below a node.
    fn rest(&self, node: &Node, lead: &str, out: &mut dyn Write) -> io::Result<()> {
        let line = format!(
            "{:>11} {:>6.1}% {:>5.1}% {:>9}  {lead}… {}",
            self.scale.number(node.hidden_weight),
            percent(node.hidden_weight, self.total),
            share(node.hidden_weight, self.series),
            "",
            self.hidden(node)
        );
        writeln!(out, "{}", self.style.paint(Tone::Dim, &cut(&line, self.style.width)))
    }
}

//! Two trees as one picture: widths of the second one, coloured by change.

use std::io::{self, Write};

use super::colours::{Colour, STEPS};
use super::layout::Layout;
use super::page::{Frame, Page};
use super::trees::FlameNode;
use super::{FlameGraphOptions, left_out_lines, measured};
use crate::calltree::percent;
use crate::units::{Unit, Weight};

/// A node of two trees: that of after, and its weights before.
struct DifferentialNode<'n> {
    depth: u32,
    name: &'n str,
    binary: Option<&'n str>,
    before_all: u64,
    after_all: u64,
    before_self: u64,
    after_self: u64,
}

impl<'n> DifferentialNode<'n> {
    fn new((after, (before_all, before_self)): (FlameNode<'n>, (u64, u64))) -> Self {
        let FlameNode { depth, name, binary, all_weight: after_all, self_weight: after_self, .. } = after;
        Self { depth, name, binary, before_all, after_all, before_self, after_self }
    }
}

impl FlameGraphOptions {
    /// Draws the change from one tree to another: each node of after, followed by its children, with its all weight and its self weight
    /// before. A node that is new weighed 0, and one that is no more weighs 0. The picture is that of after. Colours show by how many percentage points the all weight's
    /// share of its tree changed: red grew, blue shrank. Nodes that are no more have no width; their weight before is stated below the title.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn write_differential<'n>(
        &self,
        nodes: impl IntoIterator<Item = (FlameNode<'n>, (u64, u64))>,
        unit: Unit,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut layout = Layout::new(self.room(), self.narrowest);
        let mut totals = None;
        let mut vanished = Vanished::default();
        for node in nodes.into_iter().map(DifferentialNode::new) {
            let totals = *totals.get_or_insert((node.before_all, node.after_all));
            if !vanished.takes(&node) {
                layout.push(node.depth, node.after_all, || frame(&node, totals));
            }
        }
        let (before, after) = totals.unwrap_or_default();
        let (frames, left_out, is_cut) = layout.finish(self.max_bytes, Frame::cost);
        let title = self.title.clone().unwrap_or_else(|| format!("{}, before and after", measured(unit)));
        let mut lines = vec![self.subtitle.clone().unwrap_or_else(|| subtitle(before, after, unit))];
        lines.extend(vanished.line(before, unit));
        lines.extend(left_out_lines(&frames, left_out, is_cut, unit));
        Page { options: self, unit, title, lines, legend: legend(), frames }.write(out)
    }
}

fn frame<'n>(node: &DifferentialNode<'n>, (before, after): (u64, u64)) -> Frame<'n> {
    let colour = Colour::of_change(percent(node.after_all, after) - percent(node.before_all, before));
    let before = Some((node.before_all, node.before_self));
    Frame { name: node.name, binary: node.binary, colour, own: node.after_self, hidden: 0, before }
}

/// The nodes that were there before and are no more.
#[derive(Debug, Default)]
struct Vanished {
    /// Nodes deeper than this one are above one that vanished.
    at: Option<u32>,
    nodes: u64,
    /// The weight before of those that stood on one that is still there.
    weight: u64,
}

impl Vanished {
    /// True if a node has vanished, or is above one that has; the root is always there.
    fn takes(&mut self, node: &DifferentialNode<'_>) -> bool {
        let was = u64::from(node.before_all > 0);
        if self.at.is_some_and(|at| node.depth > at) {
            self.nodes += was;
            return true;
        }
        self.at = None;
        if node.depth == 0 || node.after_all > 0 || was == 0 {
            return false;
        }
        self.at = Some(node.depth);
        self.nodes += 1;
        self.weight = self.weight.saturating_add(node.before_all);
        true
    }

    fn line(&self, before: u64, unit: Unit) -> Option<String> {
        let (number, are) = match self.nodes {
            0 => return None,
            1 => ("1 frame".to_owned(), "is"),
            nodes => (format!("{nodes} frames"), "are"),
        };
        let (weight, share) = (Weight::new(self.weight, unit), percent(self.weight, before));
        Some(format!("{number} of before {are} no more: {weight} ({share:.2} % of before)."))
    }
}

fn subtitle(before: u64, after: u64, unit: Unit) -> String {
    let (sign, change) = if after < before { ('−', before - after) } else { ('+', after - before) };
    let share = if before == 0 { String::new() } else { format!(", {sign}{:.2} %", percent(change, before)) };
    let [before, after, change] = [before, after, change].map(|weight| Weight::new(weight, unit));
    format!(
        "Before {before}, after {after} ({sign}{change}{share}). Widths are those of after; colours are changes of shares."
    )
}

/// The scale of the colours, in percentage points.
fn legend() -> Vec<(Colour, String)> {
    let steps = STEPS.len() as u8;
    let shrank = (1..=steps).rev().map(|step| (Colour::Shrank(step), format!("−{}", STEPS[usize::from(step) - 1])));
    let grew = (1..=steps).map(|step| (Colour::Grew(step), format!("+{}", STEPS[usize::from(step) - 1])));
    let mut legend: Vec<(Colour, String)> = shrank.collect();
    legend.push((Colour::Grew(0), "no change".to_owned()));
    legend.extend(grew);
    if let Some(last) = legend.last_mut() {
        last.1.push_str(" points or more");
    }
    legend
}

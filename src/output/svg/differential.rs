//! Two trees as one picture: widths of the second one, coloured by change.

use std::io::{self, Write};

use super::colours::{Colour, STEPS};
use super::frames::{Before, Frame, Layout, changed};
use super::measured;
use super::page::{FlameGraphOptions, Page, within};
use super::trees::FlameNode;
use crate::calltree::percent;
use crate::report::diff::Change;
use crate::units::{Unit, Weight};

/// A node of two trees: the node after the change, with its weights before.
struct DifferentialNode<'n> {
    node: FlameNode<'n>,
    before: Before,
}

impl FlameGraphOptions {
    /// Draws the change from one tree to another. Each node after the change, followed by its children, comes with its all weight and self
    /// weight before, and the [change](crate::report::diff::Diff::all_change) of its all weight. New nodes weighed 0 before, and removed
    /// nodes weigh 0 after.
    ///
    /// The picture shows the tree after the change. Nodes that changed [beyond noise](Change::is_beyond_noise) are coloured by the change,
    /// as a percentage of the total before: red grew, blue shrank; the others are grey. Removed nodes have no width; their weight before is
    /// shown below the title.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn write_differential<'n>(
        &self,
        nodes: impl IntoIterator<Item = (FlameNode<'n>, (u64, u64), Change)>,
        unit: Unit,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut layout = Layout::new(self.room(), self.narrowest);
        let mut root: Option<(Before, u64)> = None;
        let mut vanished = Vanished::default();
        for (node, (all, own), change) in nodes {
            let node = DifferentialNode { node, before: Before { all, own, change } };
            let (whole, _) = *root.get_or_insert((node.before, node.node.all_weight));
            if !vanished.takes(&node) {
                layout.push(node.node.depth, node.node.all_weight, || node.frame(whole.all));
            }
        }
        let before = root.map_or(0, |(before, _)| before.all);
        let title = self.title.clone().unwrap_or_else(|| format!("{}, before and after", measured(unit)));
        let subtitle = root.map_or_else(String::new, |(before, after)| subtitle(before, after, unit));
        let subtitle = self.subtitle.clone().unwrap_or(subtitle);
        let (frames, left_out) = within(layout.finish(), self, unit, [&title, &subtitle]);
        let mut lines = vec![subtitle];
        lines.extend(vanished.line(before, unit));
        lines.extend(self.left_out_lines(&frames, left_out, unit));
        Page { options: self, unit, title, lines, legend: legend(), frames }.write(out)
    }
}

impl<'n> DifferentialNode<'n> {
    /// Its frame, in a picture of this whole before.
    fn frame(&self, whole: u64) -> Frame<'n> {
        let FlameNode { name, binary, self_weight: own, .. } = self.node;
        let change = self.before.change;
        let colour = if change.is_beyond_noise() {
            // A whole that weighed nothing is new altogether.
            Colour::of_change(change.weight * 100.0 / whole.max(1) as f64)
        } else {
            Colour::Noise
        };
        Frame { name, binary, colour, own, hidden: 0, before: Some(self.before) }
    }
}

/// The nodes that were removed.
#[derive(Debug, Default)]
struct Vanished {
    /// Deeper nodes are below a removed node.
    at: Option<u32>,
    nodes: u64,
    /// The weight before of removed nodes whose parents remain.
    weight: u64,
}

impl Vanished {
    /// True if a node was removed, or is below a removed node. The root always remains.
    fn takes(&mut self, node: &DifferentialNode<'_>) -> bool {
        let DifferentialNode { node, before } = node;
        let was = u64::from(before.all > 0);
        if self.at.is_some_and(|at| node.depth > at) {
            self.nodes += was;
            return true;
        }
        self.at = None;
        if node.depth == 0 || node.all_weight > 0 || was == 0 {
            return false;
        }
        self.at = Some(node.depth);
        self.nodes += 1;
        self.weight = self.weight.saturating_add(before.all);
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

fn subtitle(before: Before, after: u64, unit: Unit) -> String {
    let share = match before.all {
        0 => String::new(),
        all => format!(" ({:+.2} %)", before.change.weight * 100.0 / all as f64).replace('-', "−"),
    };
    // A change is after × factor − before.
    let factor = (before.change.weight + before.all as f64) / after as f64;
    let scaled = if after == 0 || (factor - 1.0).abs() < 1e-9 {
        String::new()
    } else {
        format!(" Weights after are multiplied by {factor:.4} for changes.")
    };
    let change = changed(before.change, unit);
    let [before, after] = [before.all, after].map(|weight| Weight::new(weight, unit));
    format!("Before {before}, after {after}{share}; {change}.{scaled} Frames are as wide as they weigh after.")
}

/// The scale of the colours, in percent of the whole before.
fn legend() -> Vec<(Colour, String)> {
    let steps = || (0_u8..).zip(STEPS).skip(1);
    let mut legend: Vec<(Colour, String)> =
        steps().map(|(step, least)| (Colour::Shrank(step), format!("−{least} %"))).collect();
    legend.reverse();
    legend.push((Colour::Shrank(0), "less".to_owned()));
    legend.push((Colour::Noise, "within noise".to_owned()));
    legend.push((Colour::Grew(0), "more".to_owned()));
    legend.extend(steps().map(|(step, least)| (Colour::Grew(step), format!("+{least} %"))));
    if let Some(last) = legend.last_mut() {
        last.1.push_str(" of the whole before, or more");
    }
    legend
}

//! Draws two trees as one picture: widths are taken from the second one, and colours show the change.

use std::io::{self, Write};

use super::colours::{Colour, STEPS};
use super::frames::{Before, Frame, changed};
use super::measured;
use super::page::FlameGraphOptions;
use super::trees::{FlameNode, Picture};
use crate::calltree::percent;
use crate::report::diff::Change;
use crate::units::{Unit, Weight};

impl FlameGraphOptions {
    /// Draws the change from one tree to another. `nodes` are the nodes after the change, each followed by its children. Each node comes with its
    /// total weight and self weight before the change, and with the [change](crate::report::diff::Diff::all_change) in its total weight. New nodes
    /// have a weight of 0 before, and removed nodes a weight of 0 after.
    ///
    /// The picture shows the tree after the change. Nodes that changed [beyond noise](Change::is_beyond_noise) are coloured by the change in percent
    /// of the total before: red grew, blue shrank. The others are grey. Removed nodes have no width; their weight before is shown below the title.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn write_differential<'n>(
        &self,
        nodes: impl IntoIterator<Item = (FlameNode<'n>, (u64, u64), Change)>,
        unit: Unit,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut picture = Picture::new(self);
        let mut root: Option<(Before, u64)> = None;
        let mut vanished = Vanished::default();
        for (node, (all, own), change) in nodes {
            let before = Before { all, own, change };
            let (whole, _) = *root.get_or_insert((before, node.all_weight));
            if vanished.takes(&node, all) {
                continue;
            }
            let colour = || match change.is_beyond_noise() {
                // If the total before was 0, everything is new.
                true => Colour::of_change(change.weight * 100.0 / whole.all.max(1) as f64),
                false => Colour::Noise,
            };
            picture.push(node.depth, node.all_weight, || Frame {
                before: Some(before),
                hidden: 0,
                ..node.frame(colour())
            });
        }
        let title = format!("{}, before and after", measured(unit));
        let subtitle = root.map_or_else(String::new, |(before, after)| subtitle(before, after, unit));
        let vanished = vanished.line(root.map_or(0, |(before, _)| before.all), unit);
        picture.write([title, subtitle], vanished, |_| legend(), unit, out)
    }
}

/// Counts removed nodes.
#[derive(Debug, Default)]
struct Vanished {
    /// The depth of the current removed node. Deeper nodes are below it.
    at: Option<u32>,
    nodes: u64,
    /// The weight before of removed nodes whose parents remain.
    weight: u64,
}

impl Vanished {
    /// True if a node was removed or is below a removed node. The root always remains.
    fn takes(&mut self, node: &FlameNode<'_>, before: u64) -> bool {
        let was = u64::from(before > 0);
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
        self.weight = self.weight.saturating_add(before);
        true
    }

    fn line(&self, before: u64, unit: Unit) -> Option<String> {
        let (number, exist) = match self.nodes {
            0 => return None,
            1 => ("1 frame".to_owned(), "exists"),
            nodes => (format!("{nodes} frames"), "exist"),
        };
        let (weight, share) = (Weight::new(self.weight, unit), percent(self.weight, before));
        Some(format!("{number} of the first recording no longer {exist}: {weight} ({share:.2} % of its total)."))
    }
}

fn subtitle(before: Before, after: u64, unit: Unit) -> String {
    let share = match before.all {
        0 => String::new(),
        all => format!(" ({:+.2} %)", before.change.weight * 100.0 / all as f64).replace('-', "−"),
    };
    // A change is after × factor − before, so the factor can be derived.
    let factor = (before.change.weight + before.all as f64) / after as f64;
    let scaled = if after == 0 || (factor - 1.0).abs() < 1e-9 {
        String::new()
    } else {
        format!(" Weights after are multiplied by {factor:.4} for changes.")
    };
    let change = changed(before.change, unit);
    let [before, after] = [before.all, after].map(|weight| Weight::new(weight, unit));
    format!("Before {before}, after {after}{share}; {change}.{scaled} The width of a frame is its weight after.")
}

/// The colour scale, in percent of the total before.
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
        last.1.push_str(" of the total before, or more");
    }
    legend
}

//! The boxes of flame graphs that are wide enough to be seen.

use std::collections::HashMap;

use traceparse::calltree::{Callers, KeySums, Label};

use super::{amount_of, label_number};
use crate::protocol::{Answer, Boxes, Detail, Direction, Model, NoLabels, Range, SeparateBy, Texts};
use crate::view::{Parts, View};
use crate::wire::{F64s, I32s, Refused};

/// A box: what it is, its level, and where it starts, in weights.
pub(crate) struct Placed<B> {
    pub(crate) item: B,
    pub(crate) depth: i32,
    pub(crate) start: f64,
    pub(crate) width: f64,
}

/// Which boxes: from this weight on, and in this part of the graph.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) least: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Frame {
    pub(crate) fn new(ask: &Boxes, total: f64) -> Self {
        let least = ask.least.unwrap_or(total / ask.pixels.max(1.0));
        Self { least, from: ask.from.unwrap_or(0.0), to: ask.to.unwrap_or(total) }
    }
}

/// Places the boxes, each before its children. `children` are those that weigh enough, the first of them on the left. Children that are too
/// light to be seen leave a gap at the end.
pub(crate) fn place<B>(
    root: B,
    frame: Frame,
    weight: impl Fn(&B) -> f64,
    mut children: impl FnMut(&B) -> Vec<B>,
) -> Vec<Placed<B>> {
    let mut found = Vec::new();
    let width = weight(&root);
    let mut todo = vec![Placed { item: root, depth: 0, start: 0.0, width }];
    while let Some(placed) = todo.pop() {
        let first = todo.len();
        let mut start = placed.start;
        for item in children(&placed.item) {
            let width = weight(&item);
            if start + width >= frame.from && start <= frame.to {
                todo.push(Placed { item, depth: placed.depth + 1, start, width });
            }
            start += width;
        }
        todo[first..].reverse();
        found.push(placed);
    }
    found
}

/// A model without its boxes.
pub(crate) fn model(ask: &Boxes, total: f64, frame: Frame) -> Model {
    Model {
        key: ask.key.clone(),
        tree: ask.tree.clone(),
        unit: ask.unit.clone(),
        total,
        range: Some(Range { start: 0.0, end: total }),
        detail: Some(Detail { from: frame.from, to: frame.to, least: frame.least }),
        labels: NoLabels::default(),
        ..Model::default()
    }
}

/// The place of a label among the page's: functions, then samples without a stack, then the root.
pub(crate) fn label_place(functions: usize, label: i32) -> i32 {
    if label >= 0 { label } else { functions as i32 + i32::from(label != super::NO_STACK) }
}

/// The numbers of paths from the root of a tree, the same from graph to graph, so that a zoomed box is found again. The root is 0.
#[derive(Debug, Default)]
pub(crate) struct PathNumbers(HashMap<(i32, i32), i32>);

impl PathNumbers {
    pub(crate) fn below(&mut self, path: i32, label: i32) -> i32 {
        let next = self.0.len() as i32 + 1;
        *self.0.entry((path, label)).or_insert(next)
    }
}

pub(crate) fn flame(
    view: &View,
    series: usize,
    (direction, by, part): (Direction, SeparateBy, Option<i32>),
    ask: &Boxes,
    numbers: &mut PathNumbers,
) -> Result<Answer, Refused> {
    let Parts { parts, part, tree: weights } = view.part_and_tree(series, by, part)?;
    let of_all = view.tree(series);
    let tree = view.weighed(weights.as_deref().unwrap_or(&of_all));
    let total = tree.weights.total();
    let frame = Frame::new(ask, total.all_weight as f64);
    let mut model = model(ask, total.all_weight as f64, frame);
    let boxes: Vec<Placed<(i32, Label, KeySums)>> = match direction {
        Direction::Down => {
            let weight = |&node: &u32| tree.sums(node).all_weight as f64;
            let boxes = place(0, frame, weight, |&node| tree.children(node, frame.least));
            let shown = |placed: Placed<u32>| {
                let node = placed.item;
                placed.with((node as i32, tree.forest.label(node), tree.sums(node)))
            };
            boxes.into_iter().map(shown).collect()
        }
        Direction::Up => {
            model.is_inverted = Some(true);
            let mut callers = Callers::new(tree);
            let root = callers.root();
            let weight = |(node, _): &(traceparse::calltree::CallerNode, i32)| node.sums.all_weight as f64;
            let boxes = place((root, 0), frame, weight, |(node, path)| {
                let found = callers.of(node, frame.least).into_iter();
                found
                    .map(|node| (numbers.below(*path, label_number(node.label)), node))
                    .map(|(path, node)| (node, path))
                    .collect()
            });
            let shown = |placed: Placed<(traceparse::calltree::CallerNode, i32)>| {
                let (label, sums, path) = (placed.item.0.label, placed.item.0.sums, placed.item.1);
                placed.with((path, label, sums))
            };
            boxes.into_iter().map(shown).collect()
        }
    };
    let functions = view.profile().function_ids().len();
    let of = |number: fn(&KeySums) -> u64| boxes.iter().map(move |placed| number(&placed.item.2));
    model.label = boxes.iter().map(|placed| label_place(functions, label_number(placed.item.1))).collect();
    model.own = of(|sums| sums.self_weight).map(|weight| weight as f64).collect();
    if total.all_weight >= 1 << 53 {
        let text = |weight| exact_text(weight, &ask.unit);
        model.texts = Some(Texts {
            weight: of(|sums| sums.all_weight).map(text).collect(),
            own: of(|sums| sums.self_weight).map(text).collect(),
        });
    }
    let node: I32s = boxes.iter().map(|placed| placed.item.0).collect();
    set_boxes(&mut model, node, &boxes);
    Ok(Answer::Flame { total: amount_of(&of_all), parts, part, model })
}

/// Puts boxes into a model.
pub(crate) fn set_boxes<B>(model: &mut Model, node: I32s, boxes: &[Placed<B>]) {
    model.count = boxes.len();
    model.node = node;
    model.depth = boxes.iter().map(|placed| placed.depth).collect();
    model.start = boxes.iter().map(|placed| placed.start).collect::<F64s>();
    model.width = boxes.iter().map(|placed| placed.width).collect();
}

impl<B> Placed<B> {
    fn with<C>(self, item: C) -> Placed<C> {
        let Self { depth, start, width, .. } = self;
        Placed { item, depth, start, width }
    }
}

/// A weight of any size with all its digits, as the page writes weights.
fn exact_text(weight: u64, unit: &str) -> String {
    if unit != "ns" {
        return format!("{} {unit}", grouped(&weight.to_string()));
    }
    let decimals = format!("{:06}", weight % 1_000_000);
    let kept = decimals.trim_end_matches('0').len().max(2);
    format!("{}.{} ms", grouped(&(weight / 1_000_000).to_string()), &decimals[..kept])
}

/// Digits with a comma between each three.
fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_all_digits() {
        assert_eq!(exact_text(1 << 60, "cycles"), "1,152,921,504,606,846,976 cycles");
        assert_eq!(exact_text(9_007_199_254_740_993, "ns"), "9,007,199,254.740993 ms");
        assert_eq!(exact_text(9_007_199_250_000_000, "ns"), "9,007,199,250.00 ms");
    }
}

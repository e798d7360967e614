//! The flame graph boxes that are wide enough to be visible.

use std::collections::HashMap;

use traceparse::calltree::{CallerNode, Callers, KeySums, Label};
use traceparse::output::{FlameBox, FlameLayout};

use super::{amount_of, label_number};
use crate::protocol::{Answer, Boxes, Detail, Direction, Model, NoLabels, Range, SeparateBy, Texts};
use crate::view::{Parts, View};
use crate::wire::{F64s, I32s, Refused};

/// The visible boxes: their minimum weight, and the visible part of the drawing.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) least: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Frame {
    pub(crate) fn new(ask: &Boxes, Range { start, end }: Range) -> Self {
        let least = ask.least.unwrap_or((end - start) / ask.pixels.max(1.0));
        Self { least, from: ask.from.unwrap_or(start), to: ask.to.unwrap_or(end) }
    }
}

/// Computes the layout of boxes, parents before children. `children` returns the children that are heavy enough, leftmost first. Lighter children
/// leave a gap at the end.
pub(crate) fn place<B>(
    root: B,
    frame: Frame,
    weight: impl Fn(&B) -> u64,
    mut children: impl FnMut(&B) -> Vec<B>,
) -> Vec<FlameBox<B>> {
    let mut layout = FlameLayout::of_part(frame.least, frame.from..=frame.to);
    let mut todo = vec![(0, root)];
    while let Some((depth, item)) = todo.pop() {
        layout.push(depth, weight(&item), || {
            todo.extend(children(&item).into_iter().rev().map(|child| (depth + 1, child)));
            item
        });
    }
    layout.finish()
}

/// Creates a model without boxes.
pub(crate) fn model(ask: &Boxes, total: f64, range: Range, frame: Frame) -> Model {
    Model {
        key: ask.key.clone(),
        tree: ask.tree.clone(),
        unit: ask.unit.clone(),
        total,
        range: Some(range),
        detail: Some(Detail { from: frame.from, to: frame.to, least: frame.least }),
        labels: NoLabels::default(),
        ..Model::default()
    }
}

/// The index of a label in the page's list: functions, then samples without a stack, then the root.
pub(crate) fn label_place(functions: usize, label: i32) -> i32 {
    if label >= 0 { label } else { functions as i32 + i32::from(label != super::NO_STACK) }
}

/// The numbers of paths from the root of a tree. They are the same in all graphs, so a zoomed box can be found again. The root is 0.
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
    let range = Range { start: 0.0, end: total.all_weight as f64 };
    let frame = Frame::new(ask, range);
    let mut model = model(ask, range.end, range, frame);
    match direction {
        Direction::Down => {
            let weight = |&node: &u32| tree.sums(node).all_weight;
            let boxes = place(0, frame, weight, |&node| tree.children(node, frame.least));
            fill(view, ask, &boxes, &mut model, |&node| (node as i32, tree.forest.label(node), tree.sums(node)));
        }
        Direction::Up => {
            model.is_inverted = Some(true);
            let mut callers = Callers::new(tree);
            let weight = |(node, _): &(CallerNode, i32)| node.sums.all_weight;
            let boxes = place((callers.root(), 0), frame, weight, |(node, path)| {
                let found = callers.of(node, frame.least).into_iter();
                found
                    .map(|node| (numbers.below(*path, label_number(node.label)), node))
                    .map(|(path, node)| (node, path))
                    .collect()
            });
            fill(view, ask, &boxes, &mut model, |(node, path)| (*path, node.label, node.sums));
        }
    }
    Ok(Answer::Flame { total: amount_of(&of_all), parts, part, model })
}

/// Adds the boxes of a tree to a model. `shown` returns the number of a node, its label and its sums.
fn fill<B>(
    view: &View,
    ask: &Boxes,
    boxes: &[FlameBox<B>],
    model: &mut Model,
    shown: impl Fn(&B) -> (i32, Label, KeySums),
) {
    let shown: Vec<(i32, Label, KeySums)> = boxes.iter().map(|placed| shown(&placed.what)).collect();
    let functions = view.profile().function_ids().len();
    let of = |number: fn(&KeySums) -> u64| shown.iter().map(move |(_, _, sums)| number(sums));
    model.label = shown.iter().map(|&(_, label, _)| label_place(functions, label_number(label))).collect();
    model.own = of(|sums| sums.self_weight).map(|weight| weight as f64).collect();
    if of(|sums| sums.all_weight).next() >= Some(1 << 53) {
        let text = |weight| exact_text(weight, &ask.unit);
        model.texts = Some(Texts {
            weight: of(|sums| sums.all_weight).map(text).collect(),
            own: of(|sums| sums.self_weight).map(text).collect(),
        });
    }
    set_boxes(model, shown.iter().map(|&(node, _, _)| node).collect(), boxes);
}

/// Sets the boxes of a model.
pub(crate) fn set_boxes<B>(model: &mut Model, node: I32s, boxes: &[FlameBox<B>]) {
    model.count = boxes.len();
    model.node = node;
    model.depth = boxes.iter().map(|placed| placed.depth as i32).collect();
    model.start = boxes.iter().map(|placed| placed.start as f64).collect::<F64s>();
    model.width = boxes.iter().map(|placed| placed.all as f64).collect();
}

/// Formats a weight with all its digits, like the page.
fn exact_text(weight: u64, unit: &str) -> String {
    if unit != "ns" {
        return format!("{} {unit}", grouped(&weight.to_string()));
    }
    let decimals = format!("{:06}", weight % 1_000_000);
    let kept = decimals.trim_end_matches('0').len().max(2);
    format!("{}.{} ms", grouped(&(weight / 1_000_000).to_string()), &decimals[..kept])
}

/// Inserts a comma after every three digits.
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

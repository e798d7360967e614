//! Merges the stacks of two recordings into one tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::change_and_noise::{Change, Side, Sides};
use super::matching::{Function, Functions, STACKLESS};
use crate::calltree::{Forest, ForestWeights, Label};
use crate::profile::Profile;
use crate::report::Report;
use crate::report::overview::OwnCode;

/// A node of the merged tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffNode {
    /// The number of levels below the root; 0 for the root.
    pub depth: u32,
    /// The function's number in the [functions](Functions::iter) of both recordings; `None` for the root.
    pub function: Option<usize>,
    /// The weights of the node.
    pub sides: Sides,
}

/// The merged tree of two recordings. It has no weights, since these depend on the selection. Node 0 is the root.
#[derive(Debug)]
pub struct DiffTree {
    pub(super) functions: Arc<Functions>,
    forest: Forest,
    /// The number of knots from the first recording's tree, which precede those from the second.
    first_knots: usize,
    /// By node: true if no ancestor is in the same binary.
    is_outermost_of_binary: Vec<bool>,
}

impl DiffTree {
    /// Merges the trees of the first and the second recording. `functions` are their matched functions.
    pub fn new(functions: &Arc<Functions>, forests: [&Forest; 2]) -> Self {
        let number = |side: usize| {
            move |label: Label| match label {
                Label::Function(id) => functions.number(side, id) as u32,
                Label::Root | Label::NoStack => STACKLESS as u32,
            }
        };
        let numbers = [number(0), number(1)];
        let count = functions.names().len();
        let forest = Forest::merged(&[(forests[0], &numbers[0]), (forests[1], &numbers[1])], count as u32);
        let binaries: Vec<u32> = (0..count).map(|number| functions.binary_of(number) as u32).collect();
        let is_outermost_of_binary = forest.outermost_of(&binaries, functions.binaries().len());
        Self { functions: Arc::clone(functions), forest, first_knots: forests[0].knots(), is_outermost_of_binary }
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.forest.len()
    }

    /// True if the tree has only a root.
    pub fn is_empty(&self) -> bool {
        self.forest.is_empty()
    }

    /// Returns the function number of a node; `None` for the root.
    pub fn function(&self, node: u32) -> Option<usize> {
        (node > 0).then(|| self.forest.label_number(node))
    }

    /// Returns the parent of a node. The root is its own parent.
    pub fn parent(&self, node: u32) -> u32 {
        self.forest.parent(node)
    }
}

/// A tree with weights of both sides, by knot.
#[derive(Clone, Debug)]
pub(super) struct WeighedTree {
    pub(super) tree: Arc<DiffTree>,
    sums: Vec<Sides>,
}

impl WeighedTree {
    /// Sums all selected samples in a tree. `forests` must be the forests from which the tree was created.
    pub(super) fn new<'e>(tree: &Arc<DiffTree>, reports: [&Report<'e>; 2], forests: [&Forest; 2]) -> Self {
        let mut sums = vec![Sides::default(); tree.forest.knots()];
        for (side, (report, forest)) in reports.into_iter().zip(forests).enumerate() {
            let start = if side == 0 { 0 } else { tree.first_knots };
            let weights: ForestWeights = forest.weigh(report.weights.rows());
            let squares = report.squares_of_knots(forest);
            for (knot, (own, squares)) in weights.of_knots().iter().zip(squares).enumerate() {
                let sum = &mut sums[tree.forest.knot_of_place(start + knot)];
                of(sum, side).add_self(own.self_weight, own.self_samples, squares);
            }
        }
        for sides in &mut sums {
            for side in [&mut sides.before, &mut sides.after] {
                side.add_all(side.sums.self_weight, side.sums.self_samples, side.self_squares);
            }
        }
        for (knot, above) in tree.forest.knots_upwards() {
            let Sides { before, after } = sums[knot];
            sums[above].before.add_all(before.sums.all_weight, before.sums.all_samples, before.all_squares);
            sums[above].after.add_all(after.sums.all_weight, after.sums.all_samples, after.all_squares);
        }
        Self { tree: Arc::clone(tree), sums }
    }

    /// A tree without samples.
    #[cfg(test)]
    pub(super) fn empty() -> Self {
        let profile = crate::profile::ProfileBuilder::new().finish();
        let (functions, forest) = (Arc::new(Functions::new([&profile, &profile])), Forest::new(&profile));
        let tree = Arc::new(DiffTree::new(&functions, [&forest, &forest]));
        Self { sums: vec![Sides::default(); tree.forest.knots()], tree }
    }

    /// The weights of a node.
    pub(super) fn sides(&self, node: u32) -> Sides {
        let (knot, ends_there) = self.tree.forest.knot_of_node(node);
        let Sides { before, after } = self.sums[knot];
        if ends_there {
            return self.sums[knot];
        }
        Sides { before: before.with_self(Side::default()), after: after.with_self(Side::default()) }
    }

    /// The children that have samples, by descending change in total weight.
    pub(super) fn children(&self, node: u32, factor: f64) -> Vec<u32> {
        let sides = |node: u32| self.sums[self.tree.forest.knot_of_node(node).0];
        let mut children: Vec<u32> =
            self.tree.forest.children(node).filter(|&child| sides(child).has_samples()).collect();
        let change =
            |sides: &Sides| (sides.after.sums.all_weight as f64 * factor - sides.before.sums.all_weight as f64).abs();
        let name = |node: u32| self.tree.functions.names().get_index(self.tree.forest.label_number(node));
        children.sort_unstable_by(|&a, &b| {
            let (one, other) = (sides(a), sides(b));
            let by_size = change(&other).total_cmp(&change(&one));
            by_size.then_with(|| other.heavier().cmp(&one.heavier())).then_with(|| name(a).cmp(&name(b)))
        });
        children
    }

    /// The nodes with samples in preorder. Siblings are sorted by descending change in total weight.
    pub(super) fn nodes(&self, factor: f64) -> impl Iterator<Item = DiffNode> + '_ {
        let mut todo = vec![(0, 0)];
        std::iter::from_fn(move || {
            let (node, depth) = todo.pop()?;
            todo.extend(self.children(node, factor).into_iter().rev().map(|child| (child, depth + 1)));
            Some(DiffNode { depth, function: self.tree.function(node), sides: self.sides(node) })
        })
    }

    /// The sums by function. A recursive function is counted once per sample.
    pub(super) fn by_function(&self) -> Vec<Sides> {
        let forest = &self.tree.forest;
        self.sum_by(self.tree.functions.names().len(), |number| number, |node| forest.is_outermost(node))
    }

    /// The sums by binary.
    pub(super) fn by_binary(&self) -> Vec<(Function, Sides)> {
        let functions = &self.tree.functions;
        let is_outermost = |node: u32| self.tree.is_outermost_of_binary[node as usize];
        let sums = self.sum_by(functions.binaries().len(), |number| functions.binary_of(number), is_outermost);
        functions.binaries().iter().cloned().zip(sums).collect()
    }

    /// Sums by a key of functions. A node adds to its key's total weight only if `is_outermost` is true, since otherwise an ancestor has the same
    /// key.
    fn sum_by(&self, keys: usize, key: impl Fn(usize) -> usize, is_outermost: impl Fn(u32) -> bool) -> Vec<Sides> {
        let forest = &self.tree.forest;
        let mut sums = vec![Sides::default(); keys];
        for (knot, sides) in self.sums.iter().enumerate().skip(1) {
            if !sides.has_samples() {
                continue;
            }
            for (place, node) in forest.nodes_of_knot(knot).enumerate() {
                let sum = &mut sums[key(forest.label_number(node))];
                for side in 0..2 {
                    let (mut sides, sum) = (*sides, of(sum, side));
                    let from = *of(&mut sides, side);
                    if place == 0 {
                        sum.add_self(from.sums.self_weight, from.sums.self_samples, from.self_squares);
                    }
                    if is_outermost(node) {
                        sum.add_all(from.sums.all_weight, from.sums.all_samples, from.all_squares);
                    }
                }
            }
        }
        sums
    }
}

/// By app function number: its samples, including those of system functions that it called.
pub(super) fn own_code<'e>(
    reports: [&Report<'e>; 2],
    forests: [&Forest; 2],
    functions: &Functions,
) -> BTreeMap<usize, Sides> {
    let mut sums: Vec<Option<Sides>> = vec![None; functions.names().len()];
    for (side, (report, forest)) in reports.into_iter().zip(forests).enumerate() {
        let mut squares = report.squares_of_knots(forest);
        for series in &report.series {
            let code = OwnCode::new(report);
            for row in report.weights.of_series(series.series) {
                let Some(place) = code.place(row) else { continue };
                // Stacks with the same functions share a knot and an owner. The squares of a knot are already a sum, so add them only once.
                let squares = std::mem::take(&mut squares[forest.knot_of(row.stack)]);
                let own = sums[functions.number(side, code.function(place))].get_or_insert_default();
                of(own, side).add_self(row.weight, row.samples, squares);
            }
        }
    }
    sums.into_iter().enumerate().filter_map(|(number, sides)| Some((number, sides?))).collect()
}

fn of(sides: &mut Sides, side: usize) -> &mut Side {
    if side == 0 { &mut sides.before } else { &mut sides.after }
}

impl Report<'_> {
    /// By knot of a forest: the sum of squared weights of selected samples that end there. If samples were summed, weights within a stack of a
    /// thread are assumed to be equal.
    fn squares_of_knots(&self, forest: &Forest) -> Vec<u128> {
        let mut squares = vec![0_u128; forest.knots()];
        let mut add = |knot: usize, weight: u64, samples: u64| {
            if let Some(square) = u128::from(weight).pow(2).checked_div(samples.into()) {
                squares[knot] = squares[knot].saturating_add(square);
            }
        };
        let profile: &Profile = &self.recording.profile;
        if profile.samples().is_empty() {
            self.weights.rows().iter().for_each(|row| add(forest.knot_of(row.stack), row.weight, row.samples));
            return squares;
        }
        for sample in self.selected().iter() {
            if self.positions[sample.series.index()].is_some() {
                add(forest.knot_of(sample.stack), self.options.metric.of(sample), sample.samples.into());
            }
        }
        squares
    }
}

/// The change in a node's total weight.
pub(super) fn change_of(sides: &Sides, factor: f64) -> Change {
    Change::new(sides.before.all(), sides.after.all(), factor)
}

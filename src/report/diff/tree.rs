//! The stacks of two recordings, merged into one tree.

use std::cmp::Reverse;

use super::matching::{Function, Functions, STACKLESS};
use super::sides::{Side, Sides};
use crate::hash::HashMap;
use crate::profile::{FunctionId, Profile, StackId};
use crate::report::Report;
use crate::report::overview::OwnCode;

/// A node of the tree of two recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffNode {
    /// The number of levels below the root; 0 for the root.
    pub depth: u32,
    /// The number of its function: see [`Diff::function`](super::Diff::function).
    pub(super) function: Option<usize>,
    /// Its weights.
    pub sides: Sides,
}

/// The tree while it is made. Node 0 is the root; a parent stands before its children.
pub(super) struct MergedTree {
    parents: Vec<usize>,
    functions: Vec<Option<usize>>,
    sides: Vec<Sides>,
}

impl MergedTree {
    /// The stacks of both sides, each with all samples that count.
    pub(super) fn new<'e>(reports: [&Report<'e>; 2], functions: &Functions) -> Self {
        let mut tree = Self { parents: vec![0], functions: vec![None], sides: vec![Sides::default()] };
        let mut child_of: HashMap<(usize, usize), usize> = HashMap::default();
        for (side, report) in reports.into_iter().enumerate() {
            let profile = &report.recording.profile;
            let mut node_of: Vec<usize> = vec![0; profile.stack_ids().len()];
            let mut squares = report.squared_weights();
            for row in report.weights.rows() {
                let mut child = |parent: usize, function: usize| {
                    *child_of.entry((parent, function)).or_insert_with(|| tree.add(parent, function))
                };
                let node = match row.stack {
                    Some(stack) => node_of_stack(profile, stack, &mut node_of, |parent, function| {
                        child(parent, functions.number(side, function))
                    }),
                    None => child(0, STACKLESS),
                };
                // Those of a stack stand in several rows, where several threads have it.
                let squares = squares.remove(&row.stack).unwrap_or(0);
                of(&mut tree.sides[node], side).add_self(row.weight, row.samples, squares);
            }
        }
        tree.sum_up();
        tree
    }

    fn add(&mut self, parent: usize, function: usize) -> usize {
        self.parents.push(parent);
        self.functions.push(Some(function));
        self.sides.push(Sides::default());
        self.sides.len() - 1
    }

    fn sum_up(&mut self) {
        for node in (0..self.sides.len()).rev() {
            for side in 0..2 {
                let own = of(&mut self.sides[node], side);
                own.add_all(own.self_weight, own.self_samples, own.self_squares);
                let Side { all_weight, all_samples, all_squares, .. } = *own;
                if node > 0 {
                    of(&mut self.sides[self.parents[node]], side).add_all(all_weight, all_samples, all_squares);
                }
            }
        }
    }

    /// The weights of the root.
    pub(super) fn total(&self) -> Sides {
        self.sides[0]
    }

    /// The functions of the whole tree. One that is above itself counts once.
    pub(super) fn functions(&self, functions: &Functions) -> Vec<(Function, Sides)> {
        let sums = self.sums(functions.names().len(), |number| number);
        functions.names().iter().cloned().zip(sums).collect()
    }

    /// The same by binary.
    pub(super) fn binaries(&self, functions: &Functions) -> Vec<(Function, Sides)> {
        let sums = self.sums(functions.binaries().len(), |number| functions.binary_of(number));
        functions.binaries().iter().cloned().zip(sums).collect()
    }

    /// Sums over nodes of one key; below a node of a key, others of it add to its self weight only.
    fn sums(&self, count: usize, key: impl Fn(usize) -> usize) -> Vec<Sides> {
        let mut sums = vec![Sides::default(); count];
        for (node, sides) in self.sides.iter().enumerate().skip(1) {
            let Some(own) = self.functions[node].map(&key) else { continue };
            let is_below_itself = self.callers(node).any(|caller| self.functions[caller].map(&key) == Some(own));
            for side in 0..2 {
                let (mut sides, sum) = (*sides, of(&mut sums[own], side));
                let from = of(&mut sides, side);
                sum.add_self(from.self_weight, from.self_samples, from.self_squares);
                if !is_below_itself {
                    sum.add_all(from.all_weight, from.all_samples, from.all_squares);
                }
            }
        }
        sums
    }

    /// The nodes above one, without the root.
    fn callers(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(self.parents[node]), |&node| Some(self.parents[node])).take_while(|&node| node > 0)
    }

    /// The nodes in the order they are read: below each the largest changes of all weight first.
    pub(super) fn nodes(&self, functions: &Functions, factor: f64) -> Vec<DiffNode> {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.sides.len()];
        for node in 1..self.sides.len() {
            children[self.parents[node]].push(node);
        }
        let change = |node: usize| {
            let Sides { before, after } = self.sides[node];
            (after.all_weight as f64 * factor - before.all_weight as f64).abs()
        };
        let weight = |node: usize| self.sides[node].before.all_weight.max(self.sides[node].after.all_weight);
        let name = |node: usize| self.functions[node].map(|number| &functions.names()[number]);
        let mut nodes = Vec::with_capacity(self.sides.len());
        let mut todo = vec![(0, 0)];
        while let Some((node, depth)) = todo.pop() {
            nodes.push(DiffNode { depth, function: self.functions[node], sides: self.sides[node] });
            let below = &mut children[node];
            // The last one is taken first.
            below.sort_by(|&a, &b| {
                let by_size = change(a).total_cmp(&change(b));
                by_size.then_with(|| weight(a).cmp(&weight(b))).then_with(|| Reverse(name(a)).cmp(&Reverse(name(b))))
            });
            todo.extend(below.iter().map(|&child| (child, depth + 1)));
        }
        nodes
    }
}

/// By number of a function of the program's own code: its samples, and those of the system's functions that it called.
pub(super) fn own_code<'e>(reports: [&Report<'e>; 2], functions: &Functions) -> HashMap<usize, Sides> {
    let mut sums: HashMap<usize, Sides> = HashMap::default();
    for (side, report) in reports.into_iter().enumerate() {
        let mut squares = report.squared_weights();
        for series in &report.series {
            let code = OwnCode::new(report, series);
            for row in report.weights.of_series(series.series) {
                // As in the tree: those of a stack stand in several rows.
                let squares = squares.remove(&row.stack).unwrap_or(0);
                let Some(place) = row.stack.and_then(|stack| code.place(stack)) else { continue };
                let own = sums.entry(functions.number(side, code.function(place))).or_default();
                of(own, side).add_self(row.weight, row.samples, squares);
            }
        }
    }
    sums
}

fn of(sides: &mut Sides, side: usize) -> &mut Side {
    if side == 0 { &mut sides.before } else { &mut sides.after }
}

/// The node of a stack, where those of stacks that were seen are known; 0 is not known.
fn node_of_stack(
    profile: &Profile,
    stack: StackId,
    node_of: &mut [usize],
    mut child: impl FnMut(usize, FunctionId) -> usize,
) -> usize {
    let mut path = Vec::new();
    let (mut node, mut next) = (0, Some(stack));
    while let Some(id) = next {
        if node_of[id.index()] > 0 {
            node = node_of[id.index()];
            break;
        }
        path.push(id);
        next = profile.stack(id).parent;
    }
    for id in path.into_iter().rev() {
        node = child(node, profile.frame(profile.stack(id).frame).function);
        node_of[id.index()] = node;
    }
    node
}

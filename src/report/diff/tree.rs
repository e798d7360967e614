//! The stacks of two recordings, merged into one tree.

use std::cmp::Reverse;

use super::change_and_noise::{Side, Sides};
use super::matching::{Function, Functions, STACKLESS};
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
    /// The number of its function among the [functions](super::Functions::iter) of both recordings; `None` for the root.
    pub function: Option<usize>,
    /// The weights of the node.
    pub sides: Sides,
}

/// The tree under construction. Node 0 is the root, and parents precede their children. Nodes are large, so this list of nodes becomes the
/// list of the [`Diff`](super::Diff).
pub(super) struct MergedTree {
    nodes: Vec<DiffNode>,
    parents: Vec<usize>,
}

impl MergedTree {
    /// Merges the stacks of both sides, with all selected samples.
    pub(super) fn new<'e>(reports: [&Report<'e>; 2], functions: &Functions) -> Self {
        let root = DiffNode { depth: 0, function: None, sides: Sides::default() };
        let mut tree = Self { nodes: vec![root], parents: vec![0] };
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
                // A stack has several rows if several threads have it, but only one sum of squares.
                let squares = squares.remove(&row.stack).unwrap_or(0);
                of(&mut tree.nodes[node].sides, side).add_self(row.weight, row.samples, squares);
            }
        }
        tree.sum_up();
        tree
    }

    fn add(&mut self, parent: usize, function: usize) -> usize {
        let depth = self.nodes[parent].depth + 1;
        self.nodes.push(DiffNode { depth, function: Some(function), sides: Sides::default() });
        self.parents.push(parent);
        self.nodes.len() - 1
    }

    fn sum_up(&mut self) {
        for node in (0..self.nodes.len()).rev() {
            for side in 0..2 {
                let own = of(&mut self.nodes[node].sides, side);
                own.add_all(own.self_weight, own.self_samples, own.self_squares);
                let Side { all_weight, all_samples, all_squares, .. } = *own;
                if node > 0 {
                    of(&mut self.nodes[self.parents[node]].sides, side).add_all(all_weight, all_samples, all_squares);
                }
            }
        }
    }

    /// The weights of the root.
    pub(super) fn total(&self) -> Sides {
        self.nodes[0].sides
    }

    /// The nodes in the order they are read: below each the largest changes of all weight first.
    pub(super) fn into_nodes(self, functions: &Functions, factor: f64) -> Vec<DiffNode> {
        let Self { mut nodes, parents } = self;
        let mut below = Below::new(&parents);
        drop(parents);
        let change = |node: usize| {
            let Sides { before, after } = nodes[node].sides;
            (after.all_weight as f64 * factor - before.all_weight as f64).abs()
        };
        let weight = |node: usize| nodes[node].sides.before.all_weight.max(nodes[node].sides.after.all_weight);
        let name = |node: usize| nodes[node].function.map(|number| &functions.names()[number]);
        let mut places = vec![0; nodes.len()];
        let (mut todo, mut place) = (vec![0], 0);
        while let Some(node) = todo.pop() {
            places[node] = place;
            place += 1;
            let children = below.of(node);
            // The last node is visited first.
            children.sort_unstable_by(|&a, &b| {
                let by_size = change(a).total_cmp(&change(b));
                by_size.then_with(|| weight(a).cmp(&weight(b))).then_with(|| Reverse(name(a)).cmp(&Reverse(name(b))))
            });
            todo.extend_from_slice(children);
        }
        put_in_place(&mut nodes, &mut places);
        nodes
    }
}

/// The nodes below each node.
struct Below {
    children: Vec<usize>,
    /// By node: where its children begin; one more at the end.
    starts: Vec<usize>,
}

impl Below {
    fn new(parents: &[usize]) -> Self {
        let mut starts = vec![0; parents.len() + 1];
        for &parent in &parents[1..] {
            starts[parent] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut children = vec![0; parents.len() - 1];
        for (node, &parent) in parents.iter().enumerate().skip(1) {
            starts[parent] -= 1;
            children[starts[parent]] = node;
        }
        Self { children, starts }
    }

    fn of(&mut self, node: usize) -> &mut [usize] {
        &mut self.children[self.starts[node]..self.starts[node + 1]]
    }
}

/// Moves each to its place, without a second list of them.
fn put_in_place<T>(rows: &mut [T], places: &mut [usize]) {
    for at in 0..rows.len() {
        while places[at] != at {
            let place = places[at];
            rows.swap(at, place);
            places.swap(at, place);
        }
    }
}

/// Sums the tree by function. Recursion counts once.
pub(super) fn by_function(nodes: &[DiffNode], functions: &Functions) -> Vec<(Function, Sides)> {
    let sums = sums(nodes, functions.names().len(), |number| number);
    functions.names().iter().cloned().zip(sums).collect()
}

/// Sums the tree by binary.
pub(super) fn by_binary(nodes: &[DiffNode], functions: &Functions) -> Vec<(Function, Sides)> {
    let sums = sums(nodes, functions.binaries().len(), |number| functions.binary_of(number));
    functions.binaries().iter().cloned().zip(sums).collect()
}

/// Sums over nodes of one key; below a node of a key, others of it add to its self weight only.
fn sums(nodes: &[DiffNode], count: usize, key: impl Fn(usize) -> usize) -> Vec<Sides> {
    let mut sums = vec![Sides::default(); count];
    // The keys from the root to a node, and how often each of them is there.
    let (mut path, mut times) = (Vec::new(), vec![0_u32; count]);
    for node in nodes {
        let Some(own) = node.function.map(&key) else { continue };
        for left in path.drain(node.depth as usize - 1..) {
            times[left] -= 1;
        }
        for side in 0..2 {
            let (mut sides, sum) = (node.sides, of(&mut sums[own], side));
            let from = of(&mut sides, side);
            sum.add_self(from.self_weight, from.self_samples, from.self_squares);
            if times[own] == 0 {
                sum.add_all(from.all_weight, from.all_samples, from.all_squares);
            }
        }
        times[own] += 1;
        path.push(own);
    }
    sums
}

/// By number of a function of app code: its samples, including samples of system functions that it called.
pub(super) fn own_code<'e>(reports: [&Report<'e>; 2], functions: &Functions) -> HashMap<usize, Sides> {
    let mut sums: HashMap<usize, Sides> = HashMap::default();
    for (side, report) in reports.into_iter().enumerate() {
        let mut squares = report.squared_weights();
        for series in &report.series {
            let code = OwnCode::new(report, series);
            for row in report.weights.of_series(series.series) {
                // As in the tree, a stack may have several rows but one sum of squares.
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

/// The node of a stack. `node_of` caches the nodes of stacks, with 0 for unknown nodes.
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

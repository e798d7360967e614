//! The call tree of heavy functions, without light functions and everything below them.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;

use super::weights::StackWeight;
use crate::hash::HashMap;
use crate::profile::{FunctionId, Profile, Stack};

/// A node of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeavyNode {
    /// The index of the caller; `None` for an outermost function.
    pub(crate) parent: Option<usize>,
    pub(crate) function: FunctionId,
    /// The weight and number of all samples in the node and below it.
    pub(crate) all: (u64, u64),
    /// False if one of its callers is the same function.
    pub(crate) is_outermost: bool,
}

/// Builds the tree of the functions for which `is_heavy` is true, and returns the nodes with at least the weight `least` in preorder, heaviest
/// siblings first.
pub(crate) fn heavy_tree(profile: &Profile, rows: &[StackWeight], is_heavy: &[bool], least: f64) -> Vec<HeavyNode> {
    let mut nodes: Vec<HeavyNode> = Vec::new();
    let mut children: HashMap<(u32, FunctionId), u32> = HashMap::default();
    let places = profile.stack_rows().derive(|_, Stack { frame, .. }, above: Option<Place>| {
        let (above, function) = (above.unwrap_or(Place::ROOT), profile.frame(frame).function);
        if above.is_cut() || !is_heavy[function.index()] {
            return above.cut();
        }
        match children.entry((above.node(), function)) {
            Entry::Occupied(known) => Place(*known.get()),
            Entry::Vacant(new) => {
                // A place has 31 bits. The weight of nodes beyond that stays with their callers.
                let Some(place) = Place::of(nodes.len() + 1) else { return above.cut() };
                nodes.push(HeavyNode::new(above.index(), function));
                Place(*new.insert(place.0))
            }
        }
    });
    for row in rows {
        if let Some(node) = row.stack.and_then(|stack| places[stack.index()].index()) {
            nodes[node].add((row.weight, row.samples));
        }
    }
    // Callers precede what they called.
    for index in (0..nodes.len()).rev() {
        if let Some(parent) = nodes[index].parent {
            let all = nodes[index].all;
            nodes[parent].add(all);
        }
    }
    in_order(profile, &nodes, least)
}

/// The node of a stack: its number from one on, zero for none, and a bit that is set below the first light function.
#[derive(Clone, Copy)]
struct Place(u32);

impl Place {
    const ROOT: Self = Self(0);
    const CUT: u32 = 1 << 31;

    fn of(number: usize) -> Option<Self> {
        u32::try_from(number).ok().filter(|number| number & Self::CUT == 0).map(Self)
    }

    fn is_cut(self) -> bool {
        self.0 & Self::CUT > 0
    }

    fn cut(self) -> Self {
        Self(self.0 | Self::CUT)
    }

    fn node(self) -> u32 {
        self.0 & !Self::CUT
    }

    /// The index of the node.
    fn index(self) -> Option<usize> {
        (self.node() as usize).checked_sub(1)
    }
}

impl HeavyNode {
    fn new(parent: Option<usize>, function: FunctionId) -> Self {
        Self { parent, function, all: (0, 0), is_outermost: true }
    }

    fn add(&mut self, (weight, samples): (u64, u64)) {
        self.all = (self.all.0.saturating_add(weight), self.all.1 + samples);
    }
}

/// Sorts the nodes in preorder, and drops light ones.
fn in_order(profile: &Profile, nodes: &[HeavyNode], least: f64) -> Vec<HeavyNode> {
    let mut children: HashMap<Option<usize>, Vec<usize>> = HashMap::default();
    for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.all.0 as f64 >= least) {
        children.entry(node.parent).or_default().push(index);
    }
    let sorted = |parent| {
        let mut sorted: Vec<usize> = children.get(&parent).cloned().unwrap_or_default();
        sorted.sort_unstable_by_key(|&at| {
            let HeavyNode { all, function, .. } = nodes[at];
            (Reverse(all), profile.function_name(function), profile.binary_name(function), function)
        });
        sorted
    };
    let mut ordered: Vec<HeavyNode> = Vec::new();
    // The functions on the path, and by function, how often it is on it.
    let (mut path, mut on_path) = (Vec::new(), vec![0; profile.function_ids().len()]);
    // The nodes to visit, each with the new index of its parent and its depth.
    let mut open: Vec<_> = sorted(None).into_iter().rev().map(|node| (node, None, 0)).collect();
    while let Some((node, parent, depth)) = open.pop() {
        for function in path.drain(depth..) {
            on_path[FunctionId::index(function)] -= 1;
        }
        let (place, function) = (ordered.len(), nodes[node].function);
        let is_outermost = on_path[function.index()] == 0;
        ordered.push(HeavyNode { parent, is_outermost, ..nodes[node] });
        on_path[function.index()] += 1;
        path.push(function);
        open.extend(sorted(Some(node)).into_iter().rev().map(|child| (child, Some(place), depth + 1)));
    }
    ordered
}

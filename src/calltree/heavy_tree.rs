//! The call tree of heavy functions, without light functions and everything below them.

use std::cmp::Reverse;

use super::keyed::WeighedStacks;
use super::path_visitor::PathVisitor;
use crate::hash::HashMap;
use crate::profile::{FrameId, FunctionId, Profile};

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
pub(crate) fn heavy_tree(
    profile: &Profile,
    stacks: WeighedStacks<'_>,
    is_heavy: &[bool],
    least: f64,
) -> Vec<HeavyNode> {
    let on_path = vec![0; profile.function_ids().len()];
    let (nodes, children, path) = (Vec::new(), HashMap::default(), Vec::new());
    let mut builder = Builder { profile, is_heavy, nodes, children, path, on_path, below: 0 };
    stacks.walk(profile, &mut builder);
    in_order(profile, &builder.nodes, least)
}

struct Builder<'p> {
    profile: &'p Profile,
    is_heavy: &'p [bool],
    nodes: Vec<HeavyNode>,
    /// The index of each function's node below another node.
    children: HashMap<(Option<usize>, FunctionId), usize>,
    /// The nodes on the path.
    path: Vec<usize>,
    /// By function: how many of the path's nodes have it.
    on_path: Vec<u32>,
    /// The number of frames on the path from the first light function on.
    below: usize,
}

impl PathVisitor for Builder<'_> {
    fn enter(&mut self, frame: FrameId) {
        let function = self.profile.frame(frame).function;
        if self.below > 0 || !self.is_heavy[function.index()] {
            self.below += 1;
            return;
        }
        let (nodes, parent) = (&mut self.nodes, self.path.last().copied());
        let on_path = &mut self.on_path[function.index()];
        let node = *self.children.entry((parent, function)).or_insert_with(|| {
            nodes.push(HeavyNode { parent, function, all: (0, 0), is_outermost: *on_path == 0 });
            nodes.len() - 1
        });
        *on_path += 1;
        self.path.push(node);
    }

    fn end(&mut self, _: FrameId, _: u64, _: u64) {}

    fn leave(&mut self, _: FrameId, weight: u64, samples: u64) {
        if self.below > 0 {
            self.below -= 1;
        } else if let Some(node) = self.path.pop() {
            let HeavyNode { all, function, .. } = &mut self.nodes[node];
            *all = (all.0.saturating_add(weight), all.1 + samples);
            self.on_path[function.index()] -= 1;
        }
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
    // The nodes to visit, with the new indices of their parents.
    let mut open: Vec<(usize, Option<usize>)> = sorted(None).into_iter().rev().map(|node| (node, None)).collect();
    while let Some((node, parent)) = open.pop() {
        let place = ordered.len();
        ordered.push(HeavyNode { parent, ..nodes[node] });
        open.extend(sorted(Some(node)).into_iter().rev().map(|child| (child, Some(place))));
    }
    ordered
}

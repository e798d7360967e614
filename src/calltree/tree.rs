//! A finished call tree.

use std::cmp::Ordering;

use crate::profile::{FunctionId, Profile};

/// What a node represents: the root, samples without a stack, or a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// The root of the tree. Only the first node has this label.
    Root,
    /// Samples whose stack was not recorded. Only a child of the root can have this label.
    NoStack,
    /// A function.
    Function(FunctionId),
}

/// A node of a [`CallTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The label.
    pub label: Label,
    /// The number of levels below the root; 0 for the root.
    pub depth: u32,
    /// The weight of samples with this node as their leaf.
    pub self_weight: u64,
    /// The weight of samples that pass through the node: its self weight, its children's all weight, and its hidden weight.
    pub all_weight: u64,
    /// The number of samples with this node as their leaf.
    pub self_samples: u64,
    /// The number of samples that pass through the node.
    pub all_samples: u64,
    /// The weight of children hidden by pruning; 0 in an unpruned tree.
    pub hidden_weight: u64,
    /// The number of children hidden by pruning.
    pub hidden_children: u32,
    /// The index after the last node of its subtree.
    pub(super) end: u32,
}

/// A call tree: nodes in preorder, siblings sorted by descending weight.
///
/// Nodes of equal weight are sorted by name, then binary, so the order is deterministic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTree {
    pub(super) nodes: Vec<Node>,
}

impl CallTree {
    /// Returns all nodes, parents before their children, starting with the root. [`Node::depth`] is the level.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the root, whose all weight is the total.
    pub fn root(&self) -> &Node {
        &self.nodes[0]
    }

    /// Returns the indices of a node's children, heaviest first.
    pub fn children(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[index].end as usize;
        let first = Some(index + 1).filter(|&child| child < end);
        std::iter::successors(first, move |&child| Some(self.nodes[child].end as usize).filter(|&next| next < end))
    }
}

/// Which nodes of a tree are hidden. Their weight remains part of their parents', so none is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pruning {
    /// Hides nodes below this percentage of the total weight; in [0, 100].
    pub min_percent: f64,
    /// Hides nodes below this weight, in the unit of the tree.
    pub min_weight: u64,
    /// Hides levels below this one; `None` for no limit.
    pub depth: Option<u32>,
    /// Shows at most this many children of a node, heaviest first; `None` for no limit.
    pub children: Option<usize>,
}

impl Pruning {
    /// True if a node with `part` of `total` is shown. If both are 0, it is shown unless there is a minimum weight.
    pub fn shows(&self, part: u64, total: u64) -> bool {
        (percent(part, total) >= self.min_percent || total == 0) && part >= self.min_weight
    }

    pub(super) fn max_depth(&self) -> u32 {
        // If children are hidden, the depth must be limited too, since an only child is in the same chain as its parent.
        if self.children == Some(0) { 0 } else { self.depth.unwrap_or(u32::MAX) }
    }
}

/// Returns `part` of `whole` in percent, and 0 if `whole` is 0.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// Computes the end of each subtree from the depths.
pub(super) fn set_ends(nodes: &mut [Node]) {
    let mut open: Vec<usize> = Vec::new();
    for index in 0..nodes.len() {
        while open.last().is_some_and(|&last| nodes[last].depth >= nodes[index].depth) {
            let last = open.pop().unwrap_or_default();
            nodes[last].end = index as u32;
        }
        open.push(index);
    }
    for index in open {
        nodes[index].end = nodes.len() as u32;
    }
}

/// The order of labels with equal weight: by name, then binary, then order of appearance.
pub(super) fn order_labels(profile: &Profile, a: Label, b: Label) -> Ordering {
    let (Label::Function(first), Label::Function(second)) = (a, b) else { return a.cmp(&b) };
    let key = |id| (profile.function_name(id), profile.binary_name(id), id);
    key(first).cmp(&key(second))
}

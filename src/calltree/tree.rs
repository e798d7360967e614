//! A call tree, finished.

use std::cmp::Ordering;

use crate::profile::{FunctionId, Profile};

/// The label of a node: the root, samples without stack, or a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// The whole tree; only its first node.
    Root,
    /// Samples whose stack was not recorded; only below the root.
    NoStack,
    /// A function.
    Function(FunctionId),
}

/// A node of a [`CallTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its label.
    pub label: Label,
    /// The number of levels below the root; 0 for the root.
    pub depth: u32,
    /// Weight of samples whose leaf it is.
    pub self_weight: u64,
    /// Weight of samples that pass through it: its own, its children's, and what pruning hid below it.
    pub all_weight: u64,
    /// Samples whose leaf it is.
    pub self_samples: u64,
    /// Samples that pass through it.
    pub all_samples: u64,
    /// Weight of the children that pruning hid; 0 in a tree that was not pruned.
    pub hidden_weight: u64,
    /// The number of children that pruning hid.
    pub hidden_children: u32,
    /// The index after the last node of its subtree.
    pub(super) end: u32,
}

/// A call tree: nodes in the order they are read, each followed by its children, the heaviest first.
///
/// Equal weights are in order of name, then binary, so that equal input gives equal output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTree {
    pub(super) nodes: Vec<Node>,
}

impl CallTree {
    /// All nodes, a parent before its children; [`Node::depth`] tells the level. The first one is the root.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The root, which has the sum of all weights.
    pub fn root(&self) -> &Node {
        &self.nodes[0]
    }

    /// The indices of a node's children, heaviest first.
    pub fn children(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[index].end as usize;
        let first = Some(index + 1).filter(|&child| child < end);
        std::iter::successors(first, move |&child| Some(self.nodes[child].end as usize).filter(|&next| next < end))
    }
}

/// The rule for which nodes of a tree are hidden. A hidden node is counted in its parent, so that no weight is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pruning {
    /// Nodes that weigh less than this percentage of the tree; in [0, 100].
    pub min_percent: f64,
    /// Nodes that weigh less than this, in the unit of the tree.
    pub min_weight: u64,
    /// Levels below this one; `None` hides none.
    pub depth: Option<u32>,
    /// Children of a node after so many, which are the heaviest; `None` hides none.
    pub children: Option<usize>,
}

impl Pruning {
    /// True if `part` of `total` is shown; nothing of nothing is shown, unless a weight is asked for.
    pub fn shows(&self, part: u64, total: u64) -> bool {
        (percent(part, total) >= self.min_percent || total == 0) && part >= self.min_weight
    }

    pub(super) fn max_depth(&self) -> u32 {
        // Also where a node has one child, which is told from no other.
        if self.children == Some(0) { 0 } else { self.depth.unwrap_or(u32::MAX) }
    }
}

/// `part` of `whole` in percent; 0 of nothing.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// Sets where each subtree ends, from the depths.
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

/// The order of labels of equal weight: by name, then binary, then as first seen.
pub(super) fn order_labels(profile: &Profile, a: Label, b: Label) -> Ordering {
    let (Label::Function(first), Label::Function(second)) = (a, b) else { return a.cmp(&b) };
    let key = |id| (profile.function_name(id), profile.binary_name(id), id);
    key(first).cmp(&key(second))
}

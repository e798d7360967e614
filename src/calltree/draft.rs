//! A call tree under construction: the merged stacks, their weights, and the order of nodes.
//!
//! Most nodes of a real tree have one child and no self weight, so their weight equals the child's. Weights are therefore stored only for *branch
//! nodes*, where samples end or paths branch. A branch node and the nodes between it and the branch node above form a *chain*:
//!
//! ```text
//! start ─ main ─ run ┬─ fast ─ copy        chains: start main run │ fast copy │ slow
//!                    └─ slow               branch_nodes:             run │      copy │ slow
//! ```
//!
//! A node takes twelve bytes. The time to sum, sort and prune depends only on the number of branch nodes.

use std::cmp::Ordering;
use std::sync::OnceLock;

use super::key_sums::KeySums;
use super::tree::order_labels;
use super::tree::{CallTree, Label, Node, Pruning, set_ends};
use crate::profile::{FunctionId, Profile};

/// The merged stacks of one tree. Node 0 is the root; parents precede their children.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// The function of each node; `None` for samples without a stack. The root's entry is not used.
    pub(super) functions: Vec<Option<FunctionId>>,
    pub(super) parents: Vec<u32>,
    /// For a branch node, its index in `branch_nodes`; 0 for the root and all other nodes.
    branch_node_of: Vec<u32>,
    branch_nodes: Vec<BranchNode>,
    /// The unpruned children of all branch nodes, heaviest first; [`BranchNode::children`] indexes them.
    children: Vec<Child>,
    max_depth: u32,
}

/// A node where samples end or paths branch, and the chain that ends in it.
#[derive(Clone, Copy, Debug, Default)]
struct BranchNode {
    /// The first node of the chain, whose nodes are consecutive.
    first: u32,
    /// The last node of the chain, which is the branch node itself.
    last: u32,
    /// The branch node above the chain.
    parent: u32,
    child_count: u32,
    /// The index of its first child, and the number of children that are not pruned.
    children: u32,
    shown: u32,
    sums: KeySums,
}

/// A child of a branch node, with its sort keys.
#[derive(Clone, Copy, Debug)]
struct Child {
    weight: u64,
    samples: u64,
    branch_node: u32,
    /// The function of the chain's first node, which is a direct child of the parent.
    function: Option<FunctionId>,
}

/// A chain of nodes. Only the last one may have self weight, hidden children, or more or fewer than one child.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain<'d> {
    /// The number of chains above this one; 0 for the root's chain.
    pub(crate) level: usize,
    /// The functions of the nodes, root first; `None` for samples without a stack. Never empty.
    pub(crate) functions: &'d [Option<FunctionId>],
    /// The last node. The others have the same weight, no self weight and no hidden children.
    pub(crate) last: Node,
}

impl Chain<'_> {
    /// Returns the nodes, root first.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = Node> {
        let (last, above) = (self.last, self.functions.len() - 1);
        let top = last.depth - above as u32;
        let inner = Node { self_weight: 0, self_samples: 0, hidden_weight: 0, hidden_children: 0, ..last };
        let inner = self.functions[..above].iter().zip(top..).map(move |(&function, depth)| Node {
            label: label_of(function),
            depth,
            ..inner
        });
        inner.chain([last])
    }
}

fn label_of(function: Option<FunctionId>) -> Label {
    function.map_or(Label::NoStack, Label::Function)
}

impl Draft {
    /// Removes all nodes except the root. The memory is reused for the next tree.
    pub(super) fn clear(&mut self) {
        let Self { functions, parents, branch_node_of, branch_nodes, children, max_depth: _ } = self;
        functions.clear();
        parents.clear();
        branch_node_of.clear();
        branch_nodes.clear();
        children.clear();
        self.add_node(0, None);
        self.branch_nodes.push(BranchNode::default());
    }

    /// Adds a node below `parent`. Unless `parent` is the newest node, it must be a branch node ([`knot_at`](Self::knot_at)).
    pub(super) fn add_node(&mut self, parent: u32, function: Option<FunctionId>) -> u32 {
        let node = self.parents.len() as u32;
        self.parents.push(parent);
        self.functions.push(function);
        self.branch_node_of.push(0);
        node
    }

    /// Adds a chain of nodes below `parent`, which must be the newest node. Returns the last one.
    pub(super) fn add_chain(&mut self, parent: u32, functions: impl Iterator<Item = FunctionId>) -> u32 {
        self.functions.extend(functions.map(Some));
        let last = self.functions.len() as u32 - 1;
        self.parents.extend(parent..last);
        self.branch_node_of.resize(self.functions.len(), 0);
        last
    }

    /// Turns a node into a branch node, unless it already is one, and returns its index.
    pub(super) fn knot_at(&mut self, node: u32) -> usize {
        let known = self.branch_node_of[node as usize];
        if known > 0 || node == 0 {
            return known as usize;
        }
        let branch_node = self.branch_nodes.len();
        self.branch_node_of[node as usize] = branch_node as u32;
        self.branch_nodes.push(BranchNode { last: node, ..BranchNode::default() });
        branch_node
    }

    /// Adds samples that end at a node.
    pub(super) fn add_weight(&mut self, node: u32, weight: u64, samples: u64) {
        let branch_node = self.knot_at(node);
        self.branch_nodes[branch_node].sums.add_self(weight, samples);
    }

    /// Adds the weight of each branch node to the one above. Goes from the last node to the first, since children come after their parents.
    pub(super) fn sum_up(&mut self) {
        let mut below = 0;
        for node in (1..self.parents.len()).rev() {
            let branch_node = self.branch_node_of[node];
            if branch_node > 0 {
                self.branch_nodes[branch_node as usize].add_own();
                below = branch_node;
            }
            let parent = self.parents[node] as usize;
            // A chain extends upwards through nodes that are not branch nodes and directly precede their only child.
            if parent == 0 || parent + 1 != node || self.branch_node_of[parent] > 0 {
                self.hang(below, node as u32, self.branch_node_of[parent]);
            }
        }
        self.branch_nodes[0].add_own();
    }

    /// Attaches the chain from `first` to the branch node `below` to the branch node `above`.
    fn hang(&mut self, below: u32, first: u32, above: u32) {
        let branch_node = &mut self.branch_nodes[below as usize];
        (branch_node.first, branch_node.parent) = (first, above);
        let KeySums { all_weight, all_samples, .. } = branch_node.sums;
        let above = &mut self.branch_nodes[above as usize];
        above.child_count += 1;
        above.sums.add_all(all_weight, all_samples);
    }

    /// Sorts the children of each branch node, and drops those that `pruning` hides.
    pub(super) fn arrange(&mut self, pruning: &Pruning, names: &NameOrder<'_>) {
        self.max_depth = pruning.max_depth();
        let total = self.branch_nodes[0].sums.all_weight;
        // A child is never heavier than its parent, so all branch nodes above a kept one are also kept.
        let is_kept = |branch_node: &BranchNode| pruning.shows(branch_node.sums.all_weight, total);
        let mut kept = 0;
        for index in 1..self.branch_nodes.len() {
            if is_kept(&self.branch_nodes[index]) {
                let parent = self.branch_nodes[index].parent as usize;
                self.branch_nodes[parent].shown += 1;
                kept += 1;
            }
        }
        let mut start = 0;
        for branch_node in &mut self.branch_nodes {
            branch_node.children = start;
            start += branch_node.shown;
            branch_node.shown = 0;
        }
        self.children.resize(kept, Child { weight: 0, samples: 0, branch_node: 0, function: None });
        for index in 1..self.branch_nodes.len() {
            let branch_node = self.branch_nodes[index];
            if is_kept(&branch_node) {
                let parent = &mut self.branch_nodes[branch_node.parent as usize];
                let function = self.functions[branch_node.first as usize];
                let place = &mut self.children[(parent.children + parent.shown) as usize];
                *place = Child {
                    weight: branch_node.sums.all_weight,
                    samples: branch_node.sums.all_samples,
                    branch_node: index as u32,
                    function,
                };
                parent.shown += 1;
            }
        }
        let names = names.expecting(kept);
        for branch_node in self.branch_nodes.iter().filter(|branch_node| branch_node.shown > 1) {
            let children = &mut self.children[branch_node.children as usize..][..branch_node.shown as usize];
            children.sort_unstable_by(|a, b| {
                let by_weight = b.weight.cmp(&a.weight).then(b.samples.cmp(&a.samples));
                by_weight.then_with(|| names.compare(a.function, b.function))
            });
        }
        let most = pruning.children.and_then(|most| u32::try_from(most).ok()).unwrap_or(u32::MAX);
        for branch_node in &mut self.branch_nodes {
            branch_node.shown = branch_node.shown.min(most);
        }
    }

    /// Visits the chains in preorder, starting with the root's, until `visit` fails.
    pub(crate) fn walk<E>(&self, mut visit: impl FnMut(Chain<'_>) -> Result<(), E>) -> Result<(), E> {
        // Branch nodes, each with the depth and level of its chain.
        let mut todo = vec![(0, 0, 0)];
        while let Some((branch_node, depth, level)) = todo.pop() {
            let branch_node: &BranchNode = &self.branch_nodes[branch_node as usize];
            let length = (branch_node.last - branch_node.first + 1).min((self.max_depth - depth).saturating_add(1));
            let functions = &self.functions[branch_node.first as usize..][..length as usize];
            let depth = depth + length - 1;
            let is_whole = branch_node.first + length > branch_node.last;
            let is_open = is_whole && depth < self.max_depth;
            let children = if is_open {
                &self.children[branch_node.children as usize..][..branch_node.shown as usize]
            } else {
                &[]
            };
            let last = if is_whole { branch_node.node(children) } else { branch_node.cut_node() };
            let label = if branch_node.last == 0 { Label::Root } else { label_of(functions[functions.len() - 1]) };
            visit(Chain { level, functions, last: Node { label, depth, ..last } })?;
            todo.extend(children.iter().rev().map(|child| (child.branch_node, depth + 1, level + 1)));
        }
        Ok(())
    }

    /// Returns the finished tree.
    pub(crate) fn call_tree(&self) -> CallTree {
        let mut nodes = Vec::new();
        let whole: Result<(), std::convert::Infallible> = self.walk(|chain| {
            nodes.extend(chain.nodes());
            Ok(())
        });
        let Ok(()) = whole;
        set_ends(&mut nodes);
        CallTree { nodes }
    }
}

impl BranchNode {
    /// Adds its self weight. Must come after all branch nodes below it.
    fn add_own(&mut self) {
        self.sums.add_all(self.sums.self_weight, self.sums.self_samples);
    }

    /// Returns the branch node as a tree node with these visible children.
    fn node(&self, children: &[Child]) -> Node {
        let shown = children.iter().fold(0_u64, |sum, child| sum.saturating_add(child.weight));
        let KeySums { self_weight, all_weight, self_samples, all_samples } = self.sums;
        let hidden_weight = all_weight.saturating_sub(self_weight).saturating_sub(shown);
        let hidden_children = self.child_count - children.len() as u32;
        let (label, depth, end) = (Label::Root, 0, 0);
        Node { label, depth, self_weight, all_weight, self_samples, all_samples, hidden_weight, hidden_children, end }
    }

    /// Returns a node in the middle of the chain, whose only child is hidden.
    fn cut_node(&self) -> Node {
        let (self_weight, self_samples) = (0, 0);
        Node { self_weight, self_samples, hidden_weight: self.sums.all_weight, hidden_children: 1, ..self.node(&[]) }
    }
}

/// Orders functions with equal weight by name.
#[derive(Debug)]
pub(super) struct NameOrder<'p> {
    profile: &'p Profile,
    /// The rank of each function. Computed when a tree first compares many functions.
    places: OnceLock<Vec<u32>>,
}

/// The same order, for one tree.
struct Names<'n> {
    profile: &'n Profile,
    places: Option<&'n [u32]>,
}

impl<'p> NameOrder<'p> {
    pub(super) fn new(profile: &'p Profile) -> Self {
        Self { profile, places: OnceLock::new() }
    }

    /// Prepares for a tree with this many branch nodes. Sorts all functions once if there are no more of them than branch nodes.
    fn expecting(&self, branch_nodes: usize) -> Names<'_> {
        let is_many = branch_nodes >= self.profile.function_ids().len();
        let places =
            if is_many { Some(self.places.get_or_init(|| places_of(self.profile))) } else { self.places.get() };
        Names { profile: self.profile, places: places.map(Vec::as_slice) }
    }
}

fn places_of(profile: &Profile) -> Vec<u32> {
    let mut order: Vec<FunctionId> = profile.function_ids().collect();
    order.sort_unstable_by(|&a, &b| order_labels(profile, Label::Function(a), Label::Function(b)));
    let mut places = vec![0; order.len()];
    for (place, id) in order.into_iter().enumerate() {
        places[id.index()] = place as u32;
    }
    places
}

impl Names<'_> {
    fn compare(&self, a: Option<FunctionId>, b: Option<FunctionId>) -> Ordering {
        match (a, b, self.places) {
            (Some(a), Some(b), Some(places)) => places[a.index()].cmp(&places[b.index()]),
            _ => order_labels(self.profile, label_of(a), label_of(b)),
        }
    }
}

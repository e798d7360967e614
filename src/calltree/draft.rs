//! A tree while it is made: the merged stacks, what they weigh, and in which order they are read.
//!
//! Most nodes of a real tree have one child and no samples of their own, and so weigh what their child weighs. Only where
//! samples end or paths part there is anything to count. Such a node is a *knot*; the nodes from below one knot to the
//! next are a *chain*:
//!
//! ```text
//! start ─ main ─ run ┬─ fast ─ copy        chains: start main run │ fast copy │ slow
//!                    └─ slow               knots:             run │      copy │ slow
//! ```
//!
//! A node takes twelve bytes, and sums, order and pruning cost what knots cost.

use std::cmp::Ordering;
use std::sync::OnceLock;

use super::tree::order_labels;
use super::tree::{CallTree, Label, Node, Pruning, set_ends};
use crate::profile::{FunctionId, Profile};

/// The merged stacks of one tree. Node 0 is the root; a parent stands before its children.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// By node: its function; `None` for samples without stack. The entry of the root means nothing.
    pub(super) functions: Vec<Option<FunctionId>>,
    pub(super) parents: Vec<u32>,
    /// By node: its knot. The first knot is that of the root, so 0 is none elsewhere.
    knot_of: Vec<u32>,
    knots: Vec<Knot>,
    /// The knots below each knot that are not pruned, heaviest first; [`Knot::children`] says where they start.
    children: Vec<Child>,
    max_depth: u32,
}

/// A node where samples end or paths part, and the chain that leads to it.
#[derive(Clone, Copy, Debug, Default)]
struct Knot {
    /// The chain's nodes lie together: from here …
    first: u32,
    /// … to here, the knot itself.
    last: u32,
    /// The knot above the chain.
    parent: u32,
    child_count: u32,
    /// The position of its first child, and the number of children that are not pruned.
    children: u32,
    shown: u32,
    self_weight: u64,
    all_weight: u64,
    self_samples: u64,
    all_samples: u64,
}

/// A knot below another, with what decides its place.
#[derive(Clone, Copy, Debug)]
struct Child {
    weight: u64,
    samples: u64,
    knot: u32,
    /// The first of its chain: the child of the knot above.
    function: Option<FunctionId>,
}

/// Nodes below each other, of which only the last has samples that end there, several children, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain<'d> {
    /// The number of chains above this one; 0 for the root's own chain.
    pub(crate) level: usize,
    /// The functions of the nodes, from the root's side; `None` for samples without stack. One node at least.
    pub(crate) functions: &'d [Option<FunctionId>],
    /// The last node. The others weigh the same, and have neither samples of their own nor hidden children.
    pub(crate) last: Node,
}

impl Chain<'_> {
    /// Its nodes, from the root's side.
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
    /// Makes it the tree of no stacks: a root. Its memory stays, for the next tree.
    pub(super) fn clear(&mut self) {
        let Self { functions, parents, knot_of, knots, children, max_depth: _ } = self;
        functions.clear();
        parents.clear();
        knot_of.clear();
        knots.clear();
        children.clear();
        self.add_node(0, None);
        self.knots.push(Knot::default());
    }

    /// Adds a node below `parent`. Unless that is the newest node, it must have a knot ([`knot_at`](Self::knot_at)).
    pub(super) fn add_node(&mut self, parent: u32, function: Option<FunctionId>) -> u32 {
        let node = self.parents.len() as u32;
        self.parents.push(parent);
        self.functions.push(function);
        self.knot_of.push(0);
        node
    }

    /// Adds nodes below `parent`, which is the newest node, each below the one before, and gives the last one.
    pub(super) fn add_chain(&mut self, parent: u32, functions: impl Iterator<Item = FunctionId>) -> u32 {
        self.functions.extend(functions.map(Some));
        let last = self.functions.len() as u32 - 1;
        self.parents.extend(parent..last);
        self.knot_of.resize(self.functions.len(), 0);
        last
    }

    /// The knot of a node, which becomes one.
    pub(super) fn knot_at(&mut self, node: u32) -> usize {
        let known = self.knot_of[node as usize];
        if known > 0 || node == 0 {
            return known as usize;
        }
        let knot = self.knots.len();
        self.knot_of[node as usize] = knot as u32;
        self.knots.push(Knot { last: node, ..Knot::default() });
        knot
    }

    /// Counts samples that end at a node.
    pub(super) fn add_weight(&mut self, node: u32, weight: u64, samples: u64) {
        let knot = self.knot_at(node);
        let knot = &mut self.knots[knot];
        // The weights of one series fit; those of several are not to be added, but must not wrap either.
        knot.self_weight = knot.self_weight.saturating_add(weight);
        knot.self_samples += samples;
    }

    /// Adds every knot to the one above; children come after their parents, so from the last node to the first.
    pub(super) fn sum_up(&mut self) {
        let mut below = 0;
        for node in (1..self.parents.len()).rev() {
            let knot = self.knot_of[node];
            if knot > 0 {
                self.knots[knot as usize].add_own();
                below = knot;
            }
            let parent = self.parents[node] as usize;
            // The chain goes on upwards only through a node without a knot, which stands right before its one child.
            if parent == 0 || parent + 1 != node || self.knot_of[parent] > 0 {
                self.hang(below, node as u32, self.knot_of[parent]);
            }
        }
        self.knots[0].add_own();
    }

    /// Notes that the chain from `first` to the knot `below` hangs below the knot `above`.
    fn hang(&mut self, below: u32, first: u32, above: u32) {
        let knot = &mut self.knots[below as usize];
        (knot.first, knot.parent) = (first, above);
        let (weight, samples) = (knot.all_weight, knot.all_samples);
        let above = &mut self.knots[above as usize];
        above.child_count += 1;
        above.all_weight = above.all_weight.saturating_add(weight);
        above.all_samples += samples;
    }

    /// Puts the children of each knot in order, without those that `pruning` hides.
    pub(super) fn arrange(&mut self, pruning: &Pruning, names: &NameOrder<'_>) {
        self.max_depth = pruning.max_depth();
        let total = self.knots[0].all_weight;
        // A child weighs no more than its parent, so a heavy knot has heavy ones above it only.
        let is_kept = |knot: &Knot| pruning.shows(knot.all_weight, total);
        let mut kept = 0;
        for index in 1..self.knots.len() {
            if is_kept(&self.knots[index]) {
                let parent = self.knots[index].parent as usize;
                self.knots[parent].shown += 1;
                kept += 1;
            }
        }
        let mut start = 0;
        for knot in &mut self.knots {
            knot.children = start;
            start += knot.shown;
            knot.shown = 0;
        }
        self.children.resize(kept, Child { weight: 0, samples: 0, knot: 0, function: None });
        for index in 1..self.knots.len() {
            let knot = self.knots[index];
            if is_kept(&knot) {
                let parent = &mut self.knots[knot.parent as usize];
                let function = self.functions[knot.first as usize];
                let place = &mut self.children[(parent.children + parent.shown) as usize];
                *place = Child { weight: knot.all_weight, samples: knot.all_samples, knot: index as u32, function };
                parent.shown += 1;
            }
        }
        let names = names.expecting(kept);
        for knot in self.knots.iter().filter(|knot| knot.shown > 1) {
            let children = &mut self.children[knot.children as usize..][..knot.shown as usize];
            children.sort_unstable_by(|a, b| {
                let by_weight = b.weight.cmp(&a.weight).then(b.samples.cmp(&a.samples));
                by_weight.then_with(|| names.compare(a.function, b.function))
            });
        }
    }

    /// Visits the chains in the order their nodes are read, the root's first, until `visit` fails.
    pub(crate) fn walk<E>(&self, mut visit: impl FnMut(Chain<'_>) -> Result<(), E>) -> Result<(), E> {
        // Knot, and depth and level of its chain.
        let mut todo = vec![(0, 0, 0)];
        while let Some((knot, depth, level)) = todo.pop() {
            let knot: &Knot = &self.knots[knot as usize];
            let length = (knot.last - knot.first + 1).min((self.max_depth - depth).saturating_add(1));
            let functions = &self.functions[knot.first as usize..][..length as usize];
            let depth = depth + length - 1;
            let is_whole = knot.first + length > knot.last;
            let is_open = is_whole && depth < self.max_depth;
            let children = if is_open { &self.children[knot.children as usize..][..knot.shown as usize] } else { &[] };
            let last = if is_whole { knot.node(children) } else { knot.cut_node() };
            let label = if knot.last == 0 { Label::Root } else { label_of(functions[functions.len() - 1]) };
            visit(Chain { level, functions, last: Node { label, depth, ..last } })?;
            todo.extend(children.iter().rev().map(|child| (child.knot, depth + 1, level + 1)));
        }
        Ok(())
    }

    /// The tree.
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

impl Knot {
    /// Once all knots below have been added.
    fn add_own(&mut self) {
        self.all_weight = self.all_weight.saturating_add(self.self_weight);
        self.all_samples += self.self_samples;
    }

    /// The knot's own node, where these of its children are shown.
    fn node(&self, children: &[Child]) -> Node {
        let shown = children.iter().fold(0_u64, |sum, child| sum.saturating_add(child.weight));
        Node {
            label: Label::Root,
            depth: 0,
            self_weight: self.self_weight,
            all_weight: self.all_weight,
            self_samples: self.self_samples,
            all_samples: self.all_samples,
            hidden_weight: self.all_weight.saturating_sub(self.self_weight).saturating_sub(shown),
            hidden_children: self.child_count - children.len() as u32,
            end: 0,
        }
    }

    /// A node of the chain above it, whose one child is hidden.
    fn cut_node(&self) -> Node {
        let (self_weight, self_samples) = (0, 0);
        Node { self_weight, self_samples, hidden_weight: self.all_weight, hidden_children: 1, ..self.node(&[]) }
    }
}

/// The order of functions of equal weight.
#[derive(Debug)]
pub(super) struct NameOrder<'p> {
    profile: &'p Profile,
    /// By function, once many were to be compared: its place among all.
    places: OnceLock<Vec<u32>>,
}

/// The same, for one tree.
struct Names<'n> {
    profile: &'n Profile,
    places: Option<&'n [u32]>,
}

impl<'p> NameOrder<'p> {
    pub(super) fn new(profile: &'p Profile) -> Self {
        Self { profile, places: OnceLock::new() }
    }

    /// Prepares for a tree of so many knots. Sorting all functions once is worth it where no fewer are compared.
    fn expecting(&self, knots: usize) -> Names<'_> {
        let is_many = knots >= self.profile.function_ids().len();
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

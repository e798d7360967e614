//! A profile's merged stacks as a reusable tree shape, to which each selection adds only weights.
//!
//! [`Merger`](super::Merger) builds the tree of some stacks, which is cheapest for a single query. The interactive page queries one recording
//! many times, so it keeps the shape: a selection of 1.2 million samples with 300,000 stacks then takes 15 ms instead of 250 ms.
//!
//! Most nodes have one child and no self weight, so their weight is the child's. Only *knots* are summed: nodes where samples end or paths split.
//! Every other node belongs to the next knot below it, and directly precedes its only child. All nodes between two knots therefore belong to the
//! lower one, and only knots store where their subtree ends and which knot is above them:
//!
//! ```text
//! node   label     knot   end   knot above
//!    0   (root)       0     5            –
//!    1   main
//!    2   run          1     5            0
//!    3   read         2     4            1
//!    4   write        3     5            1
//! ```

use super::key_sums::KeySums;
use super::path_visitor::PathVisitor;
use super::preorder::Preorder;
use super::tree::{Label, order_labels};
use super::weights::StackWeight;
use crate::profile::{FrameId, FunctionId, Profile, StackId, StackTable};
use crate::ranked_bits::RankedBits;

/// The label of the root.
const NONE: u32 = u32::MAX;

/// The merged stacks of a profile, without weights. Nodes are in preorder, and node 0 is the root.
#[derive(Debug)]
pub struct Forest {
    /// By node: the index of its function, or the number of functions for samples without a stack. The root's entry is not used.
    labels: Vec<u32>,
    /// By node: true if no ancestor has the same function.
    is_outermost: Vec<bool>,
    /// Marks the nodes that are knots.
    is_knot: RankedBits,
    knots: Vec<Knot>,
    /// By stack, followed by samples without a stack: true if samples end there.
    is_sampled: RankedBits,
    /// For each sampled stack, the knot in which its samples end.
    knot_of_sampled: Vec<u32>,
    /// The number of function labels; the next label is for samples without a stack.
    functions: u32,
}

#[derive(Clone, Copy, Debug)]
struct Knot {
    node: u32,
    /// The node after the subtree of this knot.
    end: u32,
    /// The next knot above; for the root, itself.
    above: u32,
}

impl Forest {
    /// Merges all stacks of samples by function.
    pub fn new(profile: &Profile) -> Self {
        Self::of_stacks(profile, profile.sums_or_samples().map(|sum| sum.stack))
    }

    /// Merges these stacks by function.
    pub(crate) fn of_stacks(profile: &Profile, stacks: impl Iterator<Item = Option<StackId>>) -> Self {
        let function = |frame: FrameId| profile.frame(frame).function.index() as u32;
        Self::of(profile, stacks, profile.function_ids().len() as u32, function)
    }

    /// Merges these stacks by frame.
    pub(crate) fn by_frame(profile: &Profile, stacks: impl Iterator<Item = Option<StackId>>) -> Self {
        Self::of(profile, stacks, profile.frame_ids().len() as u32, |frame| frame.index() as u32)
    }

    /// Merges stacks by a label of their frames. Labels are less than `functions`.
    fn of(
        profile: &Profile,
        sampled: impl Iterator<Item = Option<StackId>>,
        functions: u32,
        label: impl Fn(FrameId) -> u32,
    ) -> Self {
        let stacks = profile.stack_ids().len();
        let needs = needed_stacks(profile, sampled);
        let mut nodes = StackTable::default();
        let mut node_of_stack = profile.stack_rows().derive(|id, stack, parent| match needs[id.index()] {
            Need::None => None,
            _ => child(&mut nodes, parent.flatten(), label(stack.frame)),
        });
        let no_stack = if needs[stacks] == Need::None { None } else { child(&mut nodes, None, functions) };
        node_of_stack.push(no_stack);
        let is_sampled: RankedBits = needs.iter().map(|need| *need == Need::Samples).collect();
        let sampled = node_of_stack.iter().zip(needs).filter(|(_, need)| *need == Need::Samples);
        let node_of_sampled = sampled.map(|(&node, _)| node).collect();
        drop(node_of_stack);
        Self::arrange(nodes, (is_sampled, node_of_sampled), functions)
    }

    /// Merges forests and renumbers their labels. Each forest comes with a function that maps its labels to numbers below `labels`. The result's
    /// stacks are the knots of all forests, concatenated ([`knots`](Self::knots)).
    pub(crate) fn merged(forests: &[(&Self, &dyn Fn(Label) -> u32)], labels: u32) -> Self {
        let mut nodes = StackTable::default();
        let mut node_of_knot = Vec::new();
        for (forest, number) in forests {
            let mut places = vec![None; forest.len()];
            for node in 1..forest.len() as u32 {
                let above = places[forest.parent(node) as usize];
                places[node as usize] = child(&mut nodes, above, number(forest.label(node)));
            }
            node_of_knot.extend(forest.knots.iter().map(|knot| places[knot.node as usize]));
        }
        let is_sampled = node_of_knot.iter().map(|_| true).collect();
        Self::arrange(nodes, (is_sampled, node_of_knot), labels)
    }

    /// Sorts nodes into preorder and links knots. `node_of_sampled` has the node of each sampled stack. Each list is freed as early as possible,
    /// since this is the peak of an interactive page's memory use.
    fn arrange(
        nodes: StackTable,
        (is_sampled, node_of_sampled): (RankedBits, Vec<Option<StackId>>),
        functions: u32,
    ) -> Self {
        let nodes = nodes.finish();
        let preorder = Preorder::new(&nodes);
        let labels = preorder.labels(NONE);
        let mut is_knot = vec![false; labels.len()];
        let places: Vec<u32> = node_of_sampled.into_iter().map(|node| preorder.place(node)).collect();
        let forks = preorder.forks;
        drop(nodes);
        for &node in places.iter().chain(forks.iter().map(|(node, _)| node)).chain(&[0]) {
            is_knot[node as usize] = true;
        }
        let is_knot: RankedBits = is_knot.into_iter().collect();
        let knot_of_sampled = places.into_iter().map(|node| is_knot.before(node as usize) as u32).collect();
        let knots = tie_knots(&is_knot, &forks);
        let mut forest =
            Self { labels, is_outermost: Vec::new(), is_knot, knots, is_sampled, knot_of_sampled, functions };
        forest.is_outermost = forest.outermost(functions as usize + 1, |label| label as usize);
        forest
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// True if the forest contains only the root.
    pub fn is_empty(&self) -> bool {
        self.len() == 1
    }

    /// Returns the label of a node.
    pub fn label(&self, node: u32) -> Label {
        if node == 0 { Label::Root } else { self.label_of(self.labels[node as usize]) }
    }

    fn label_of(&self, number: u32) -> Label {
        FunctionId::from_index(number as usize)
            .filter(|_| number < self.functions)
            .map_or(Label::NoStack, Label::Function)
    }

    /// Returns the label number of a node: the function index, or the number of functions for samples without a stack.
    pub(crate) fn label_number(&self, node: u32) -> usize {
        self.labels[node as usize] as usize
    }

    pub(super) fn numbered_label(&self, number: usize) -> Label {
        self.label_of(number as u32)
    }

    pub(super) fn label_count(&self) -> usize {
        self.functions as usize + 1
    }

    /// Returns the parent of a node. The root is its own parent.
    pub fn parent(&self, node: u32) -> u32 {
        let before = node.saturating_sub(1);
        if self.is_knot.contains(before as usize) {
            // No node is between this node and the knot above, so that knot is the parent.
            self.knots[self.knots[self.knot_at(node)].above as usize].node
        } else {
            before
        }
    }

    /// The node after the subtree of a node.
    fn end(&self, node: u32) -> u32 {
        self.knots[self.knot_at(node)].end
    }

    /// Returns the children of a node, in an unspecified order.
    pub fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.end(node);
        let first = Some(node + 1).filter(|&child| child < end);
        std::iter::successors(first, move |&child| Some(self.end(child)).filter(|&next| next < end))
    }

    /// Sums weights from the leaves to the root.
    pub fn weigh<'w>(&self, weights: impl IntoIterator<Item = &'w StackWeight>) -> ForestWeights {
        let mut sums = vec![KeySums::default(); self.knots.len()];
        for row in weights {
            sums[self.knot_of(row.stack)].add_self(row.weight, row.samples);
        }
        for knot in (0..sums.len()).rev() {
            let KeySums { self_weight, self_samples, .. } = sums[knot];
            sums[knot].add_all(self_weight, self_samples);
            let KeySums { all_weight, all_samples, .. } = sums[knot];
            if knot > 0 && all_samples > 0 {
                sums[self.knots[knot].above as usize].add_all(all_weight, all_samples);
            }
        }
        ForestWeights { sums }
    }

    pub(crate) fn knots(&self) -> usize {
        self.knots.len()
    }

    /// Returns the knot that a node belongs to, and true if the node is that knot. Samples end only in knots.
    pub(crate) fn knot_of_node(&self, node: u32) -> (usize, bool) {
        (self.is_knot.before(node as usize), self.is_knot.contains(node as usize))
    }

    /// The knot that a node belongs to: the node itself, or the next knot below it.
    fn knot_at(&self, node: u32) -> usize {
        self.is_knot.before(node as usize)
    }

    /// Returns each knot except the root, with the knot above it, from last to first.
    pub(crate) fn knots_upwards(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.knots.iter().enumerate().skip(1).rev().map(|(knot, &Knot { above, .. })| (knot, above as usize))
    }

    /// Returns the nodes of a knot: the knot, then the nodes above it up to the next knot. Node 0 belongs to no knot.
    pub(crate) fn nodes_of_knot(&self, knot: usize) -> impl Iterator<Item = u32> + use<> {
        let before = knot.checked_sub(1).map_or(0, |before| self.knots[before].node);
        (before + 1..=self.knots[knot].node).rev()
    }

    /// Returns the node of a knot.
    pub(super) fn node_of_knot(&self, knot: usize) -> u32 {
        self.knots[knot].node
    }

    /// True if no ancestor has the same label.
    pub(crate) fn is_outermost(&self, node: u32) -> bool {
        self.is_outermost[node as usize]
    }

    /// By node: true if no ancestor has the same key. `key_of_label` maps labels to keys.
    pub(crate) fn outermost_of(&self, key_of_label: &[u32], keys: usize) -> Vec<bool> {
        self.outermost(keys, |label| key_of_label.get(label as usize).map_or(0, |&key| key as usize))
    }

    fn outermost(&self, keys: usize, key_of_label: impl Fn(u32) -> usize) -> Vec<bool> {
        let mut on_path = vec![0_u32; keys];
        // The end of each ancestor's subtree, and its key.
        let mut path: Vec<(u32, usize)> = Vec::new();
        let mut found = vec![false; self.len()];
        for knots in self.knots.windows(2) {
            let (first, Knot { node, end, .. }) = (knots[0].node + 1, knots[1]);
            while let Some((_, key)) = path.pop_if(|&mut (end, _)| end <= first) {
                on_path[key] -= 1;
            }
            let nodes = first as usize..node as usize + 1;
            for (is_outermost, &label) in found[nodes.clone()].iter_mut().zip(&self.labels[nodes]) {
                let key = key_of_label(label);
                *is_outermost = on_path[key] == 0;
                on_path[key] += 1;
                path.push((end, key));
            }
        }
        found
    }

    /// Returns the knot in which the samples of a stack end. In merged forests, `place` is a knot of the original forests.
    pub(crate) fn knot_of_place(&self, place: usize) -> usize {
        self.knot_of_sampled[self.is_sampled.before(place)] as usize
    }

    /// Returns the knot in which the samples of a stack end.
    pub(crate) fn knot_of(&self, stack: Option<StackId>) -> usize {
        stack.map_or_else(
            // Samples without a stack come last.
            || self.knot_of_sampled.last().map_or(0, |&knot| knot as usize),
            |stack| self.knot_of_place(stack.index()),
        )
    }

    /// Visits the paths of a forest created [by frame](Self::by_frame). Returns the sums of samples without a stack.
    pub(super) fn walk(&self, weights: &ForestWeights, visitor: &mut impl PathVisitor) -> KeySums {
        let mut no_stack = KeySums::default();
        // The path's nodes: the end of each subtree, its frame and its weights.
        let mut path: Vec<(u32, FrameId, u64, u64)> = Vec::new();
        let mut node = 1;
        let end = self.len() as u32;
        while node <= end {
            while let Some((_, frame, weight, samples)) = path.pop_if(|&mut (until, ..)| until <= node) {
                visitor.leave(frame, weight, samples);
            }
            if node == end {
                break;
            }
            let sums = weights.of_knot(self.knot_at(node));
            let Some(frame) = FrameId::from_index(self.label_number(node)).filter(|_| sums.all_samples > 0) else {
                node = self.end(node);
                continue;
            };
            if self.labels[node as usize] == self.functions {
                no_stack = *sums;
                node += 1;
                continue;
            }
            visitor.enter(frame);
            if sums.self_samples > 0 && self.is_knot.contains(node as usize) {
                visitor.end(frame, sums.self_weight, sums.self_samples);
            }
            path.push((self.end(node), frame, sums.all_weight, sums.all_samples));
            node += 1;
        }
        no_stack
    }

    /// By node: true if its subtree contains samples of a chosen function. A search can skip all other nodes.
    pub fn towards(&self, weights: &ForestWeights, is_chosen: impl Fn(Label) -> bool) -> Vec<bool> {
        let is_chosen: Vec<bool> = (0..=self.functions).map(|number| is_chosen(self.label_of(number))).collect();
        let mut found = vec![false; self.len()];
        for node in (1..self.len()).rev() {
            let is_match =
                is_chosen[self.labels[node] as usize] && weights.of_knot(self.knot_at(node as u32)).all_samples > 0;
            if found[node] || is_match {
                found[node] = true;
                found[self.parent(node as u32) as usize] = true;
            }
        }
        found
    }

    /// By node: true if an ancestor has a chosen function. In the inverted tree, that ancestor is below the node.
    pub fn under(&self, is_chosen: impl Fn(Label) -> bool) -> Vec<bool> {
        let mut found = vec![false; self.len()];
        for node in 1..self.len() {
            let parent = self.parent(node as u32);
            found[node] = found[parent as usize] || parent > 0 && is_chosen(self.label(parent));
        }
        found
    }
}

/// The weights of the nodes of a forest ([`Forest::weigh`]).
#[derive(Clone, Debug)]
pub struct ForestWeights {
    /// Indexed by knot. A knot's self weight is the weight of stacks that end in it.
    sums: Vec<KeySums>,
}

impl ForestWeights {
    fn of_knot(&self, knot: usize) -> &KeySums {
        &self.sums[knot]
    }

    pub(crate) fn of_knots(&self) -> &[KeySums] {
        &self.sums
    }

    /// Returns the sums of all stacks.
    pub fn total(&self) -> KeySums {
        self.sums[0]
    }
}

/// A forest with weights, which is the call tree of the weighted stacks. Nodes are created on demand.
#[derive(Clone, Copy, Debug)]
pub struct WeighedForest<'f> {
    /// Supplies function names to sort nodes of equal weight.
    pub profile: &'f Profile,
    /// The nodes.
    pub forest: &'f Forest,
    /// The weights of the nodes.
    pub weights: &'f ForestWeights,
}

impl WeighedForest<'_> {
    /// Returns the sums of a node.
    pub fn sums(&self, node: u32) -> KeySums {
        let (knot, ends_there) = self.forest.knot_of_node(node);
        let sums = *self.weights.of_knot(knot);
        if ends_there { sums } else { KeySums { self_weight: 0, self_samples: 0, ..sums } }
    }

    /// Returns the children of a node that have samples and at least the weight `least`, heaviest first.
    pub fn children(&self, node: u32, least: f64) -> Vec<u32> {
        let key = |child: u32| {
            let sums = self.weights.of_knot(self.forest.knot_at(child));
            (sums.all_weight, sums.all_samples)
        };
        let is_shown = |&child: &u32| key(child).1 > 0 && key(child).0 as f64 >= least;
        let mut children: Vec<u32> = self.forest.children(node).filter(is_shown).collect();
        children.sort_unstable_by(|&a, &b| {
            key(b).cmp(&key(a)).then_with(|| order_labels(self.profile, self.forest.label(a), self.forest.label(b)))
        });
        children
    }

    /// Returns the knots in which samples end, with their nodes.
    pub(super) fn ends(&self) -> impl Iterator<Item = (u32, u32)> {
        let knots = (0..).zip(&self.forest.knots).zip(&self.weights.sums);
        knots.filter(|(_, sums)| sums.self_samples > 0).map(|((number, knot), _)| (number, knot.node))
    }

    pub(super) fn own(&self, knot: u32) -> &KeySums {
        self.weights.of_knot(knot as usize)
    }
}

/// The node for a label called from another node or the root. There are no more nodes than stacks, so they fit.
fn child(nodes: &mut StackTable, parent: Option<StackId>, label: u32) -> Option<StackId> {
    FrameId::from_index(label as usize).and_then(|label| nodes.child(parent, label).ok())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    None,
    /// A sampled stack contains it.
    Path,
    /// Samples end in it.
    Samples,
}

/// Returns which stacks are needed, by stack and followed by samples without a stack.
fn needed_stacks(profile: &Profile, sampled: impl Iterator<Item = Option<StackId>>) -> Vec<Need> {
    let stacks = profile.stack_ids().len();
    let mut needs = vec![Need::None; stacks + 1];
    for stack in sampled {
        needs[stack.map_or(stacks, |stack| stack.index())] = Need::Samples;
    }
    for index in (0..stacks).rev() {
        if needs[index] != Need::None
            && let Some(parent) = StackId::from_index(index).and_then(|id| profile.stack_rows().parent(id))
            && needs[parent.index()] == Need::None
        {
            needs[parent.index()] = Need::Path;
        }
    }
    needs
}

/// Links the knots. `forks` has the end of each subtree whose node does not have exactly one child.
fn tie_knots(is_knot: &RankedBits, forks: &[(u32, u32)]) -> Vec<Knot> {
    let mut knots: Vec<Knot> = is_knot.members().map(|node| Knot { node: node as u32, end: 0, above: 0 }).collect();
    for &(node, end) in forks {
        knots[is_knot.before(node as usize)].end = end;
    }
    // With one child, the subtree ends where that of the next knot ends.
    let mut below = 0;
    for knot in knots.iter_mut().rev() {
        knot.end = if knot.end > 0 { knot.end } else { below };
        below = knot.end;
    }
    let mut above = 0;
    for knot in 1..knots.len() {
        while above > 0 && knots[above].end <= knots[knot].node {
            above = knots[above].above as usize;
        }
        knots[knot].above = above as u32;
        above = knot;
    }
    knots
}

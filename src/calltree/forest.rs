//! The merged shape of all stacks, made once, to which each selection adds weights.
//!
//! [`Merger`](super::Merger) makes the tree of some stacks, which is the cheapest for one answer. Where the same recording is asked many
//! times, as in the interactive page, the shape stays: a selection of 1.2 million samples with 300,000 stacks then takes 15 ms, not 250.
//!
//! Most nodes have one child and no self weight, so they weigh what the child weighs. Only *knots* are summed: nodes where samples end or
//! paths split. Every other node belongs to the knot below it, and directly precedes its child. So the nodes between two knots belong to the
//! second one, and only knots need to know where they end and what is above them:
//!
//! ```text
//! node   label     knot   end   knot above
//!    0   (root)       0     5            –
//!    1   main
//!    2   run          1     5            0
//!    3   read         2     4            1
//!    4   write        3     5            1
//! ```

use super::FunctionRow;
use super::functions::sort_functions;
use super::keyed::{KeySums, PathVisitor};
use super::tree::{Label, order_labels};
use super::weights::StackWeight;
use crate::hash::HashMap;
use crate::profile::{FrameId, FunctionId, Profile, StackId};
use crate::ranked_bits::RankedBits;

/// No number.
const NONE: u32 = u32::MAX;

/// The merged stacks of a profile, without weights: nodes in preorder, where node 0 is the root.
#[derive(Debug)]
pub struct Forest {
    /// By node: the number of its function, or the number of functions for samples without a stack. The entry of the root is unused.
    labels: Vec<u32>,
    /// By node: true if its function is not above it.
    is_outermost: Vec<bool>,
    /// The nodes that are knots.
    is_knot: RankedBits,
    knots: Vec<Knot>,
    /// By stack, and then for samples without a stack: true if samples end in it.
    is_sampled: RankedBits,
    /// By sampled stack: the knot in which its samples end.
    knot_of_sampled: Vec<u32>,
    /// The number of labels, without the one for samples without a stack.
    functions: u32,
}

#[derive(Clone, Copy, Debug)]
struct Knot {
    node: u32,
    /// The node after the last one below it.
    end: u32,
    /// The knot above; the root's is its own.
    above: u32,
}

/// Nodes in the order in which stacks need them.
struct Nodes {
    parents: Vec<u32>,
    labels: Vec<u32>,
    /// The children that do not directly follow their parent.
    others: HashMap<(u32, u32), u32>,
}

impl Nodes {
    /// A root, and room for the largest number of nodes that are needed: lists that grow exist twice.
    fn with_capacity(most: usize) -> Self {
        let (mut parents, mut labels) = (Vec::with_capacity(most + 1), Vec::with_capacity(most + 1));
        parents.push(0);
        labels.push(NONE);
        Self { parents, labels, others: HashMap::default() }
    }

    fn child(&mut self, parent: u32, label: u32) -> u32 {
        let next = parent as usize + 1;
        let new = self.parents.len() as u32;
        // The newest node has no children, and the first child usually follows its parent.
        if next < self.parents.len() {
            if (self.parents[next], self.labels[next]) == (parent, label) {
                return next as u32;
            }
            let known = *self.others.entry((parent, label)).or_insert(new);
            if known != new {
                return known;
            }
        }
        self.parents.push(parent);
        self.labels.push(label);
        new
    }
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

    /// Merges stacks by a label of their frames, which is below `labels`.
    fn of(
        profile: &Profile,
        sampled: impl Iterator<Item = Option<StackId>>,
        functions: u32,
        label: impl Fn(FrameId) -> u32,
    ) -> Self {
        let stacks = profile.stack_ids().len();
        let needs = needed_stacks(profile, sampled);
        let mut nodes = Nodes::with_capacity(needs.iter().filter(|need| **need != Need::None).count());
        let mut node_of_stack = vec![0; stacks + 1];
        for id in profile.stack_ids().filter(|id| needs[id.index()] != Need::None) {
            let stack = profile.stack(id);
            let parent = stack.parent.map_or(0, |parent| node_of_stack[parent.index()]);
            node_of_stack[id.index()] = nodes.child(parent, label(stack.frame));
        }
        if needs[stacks] != Need::None {
            node_of_stack[stacks] = nodes.child(0, functions);
        }
        let is_sampled: RankedBits = needs.iter().map(|need| *need == Need::Samples).collect();
        let sampled = node_of_stack.iter().zip(needs).filter(|(_, need)| *need == Need::Samples);
        let node_of_sampled = sampled.map(|(&node, _)| node).collect();
        drop(node_of_stack);
        Self::arrange(nodes, (is_sampled, node_of_sampled), functions)
    }

    /// Merges forests whose labels have other numbers, below `labels`. Each takes its forest, and the number of each of its labels. The
    /// stacks of the result are the knots of all of them, one after the other ([`knots`](Self::knots)).
    pub(crate) fn merged(forests: &[(&Self, &dyn Fn(Label) -> u32)], labels: u32) -> Self {
        let mut nodes = Nodes::with_capacity(forests.iter().map(|(forest, _)| forest.len()).sum());
        let mut node_of_knot = Vec::new();
        for (forest, number) in forests {
            let mut places = vec![0; forest.len()];
            for node in 1..forest.len() as u32 {
                let above = places[forest.parent(node) as usize];
                places[node as usize] = nodes.child(above, number(forest.label(node)));
            }
            node_of_knot.extend(forest.knots.iter().map(|knot| places[knot.node as usize]));
        }
        let is_sampled = node_of_knot.iter().map(|_| true).collect();
        Self::arrange(nodes, (is_sampled, node_of_knot), labels)
    }

    /// Puts nodes in preorder and ties knots. `node_of_sampled` has the node of each sampled stack. Each list is freed as early as possible:
    /// this is where an interactive page needs the most memory.
    fn arrange(nodes: Nodes, (is_sampled, node_of_sampled): (RankedBits, Vec<u32>), functions: u32) -> Self {
        let Nodes { parents, labels, others } = nodes;
        drop(others);
        let (places, ends) = preorder(&parents);
        drop(parents);
        let labels = permuted(labels, &places);
        let ends = permuted(ends, &places);
        // A node with one child ends where the child ends.
        let has_one_child = |node: usize| ends.get(node + 1) == Some(&ends[node]) && ends[node] as usize > node + 1;
        let mut is_knot: Vec<bool> = (0..ends.len()).map(|node| node == 0 || !has_one_child(node)).collect();
        for &node in &node_of_sampled {
            is_knot[places[node as usize] as usize] = true;
        }
        let is_knot: RankedBits = is_knot.into_iter().collect();
        let knot_of_sampled =
            node_of_sampled.iter().map(|&node| is_knot.before(places[node as usize] as usize) as u32).collect();
        drop(places);
        let knots = tie_knots(&ends, &is_knot);
        drop(ends);
        let mut forest =
            Self { labels, is_outermost: Vec::new(), is_knot, knots, is_sampled, knot_of_sampled, functions };
        forest.is_outermost = forest.outermost(functions as usize + 1, |label| label as usize);
        forest
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// True if there is only the root.
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

    /// Returns the number of its label: functions by their index, then samples without a stack.
    pub(crate) fn label_number(&self, node: u32) -> usize {
        self.labels[node as usize] as usize
    }

    pub(super) fn numbered_label(&self, number: usize) -> Label {
        self.label_of(number as u32)
    }

    pub(super) fn label_count(&self) -> usize {
        self.functions as usize + 1
    }

    /// Returns the parent of a node; the root is its own.
    pub fn parent(&self, node: u32) -> u32 {
        let before = node.saturating_sub(1);
        if self.is_knot.contains(before as usize) {
            // Nothing is between the node and the knot above.
            self.knots[self.knots[self.knot_at(node)].above as usize].node
        } else {
            before
        }
    }

    /// The node after the last one below a node.
    fn end(&self, node: u32) -> u32 {
        self.knots[self.knot_at(node)].end
    }

    /// Returns the nodes from a node down, as its number and the one after the last.
    pub(crate) fn range(&self, node: u32) -> (u32, u32) {
        (node, self.end(node))
    }

    /// Returns the node in which the samples of a stack end.
    pub(crate) fn node_of(&self, stack: Option<StackId>) -> u32 {
        self.knots[self.knot_of(stack)].node
    }

    /// Returns the children of a node, in no useful order.
    pub fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.end(node);
        let first = Some(node + 1).filter(|&child| child < end);
        std::iter::successors(first, move |&child| Some(self.end(child)).filter(|&next| next < end))
    }

    /// Adds up weights, from the leaves to the root.
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

    /// Returns the number of knots.
    pub(crate) fn knots(&self) -> usize {
        self.knots.len()
    }

    /// Returns the knot of a node, and whether it ends there; otherwise nothing ends in the node.
    pub(crate) fn knot_of_node(&self, node: u32) -> (usize, bool) {
        (self.is_knot.before(node as usize), self.is_knot.contains(node as usize))
    }

    /// The knot of a node: itself, or the first one below.
    fn knot_at(&self, node: u32) -> usize {
        self.is_knot.before(node as usize)
    }

    /// Returns each knot below the root, from the last one to the first, with the knot above.
    pub(crate) fn knots_upwards(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.knots.iter().enumerate().skip(1).rev().map(|(knot, &Knot { above, .. })| (knot, above as usize))
    }

    /// Returns the nodes that belong to a knot: its own, then those above it on the way to the next knot. The root belongs to none.
    pub(crate) fn nodes_of_knot(&self, knot: usize) -> impl Iterator<Item = u32> + use<> {
        let before = knot.checked_sub(1).map_or(0, |before| self.knots[before].node);
        (before + 1..=self.knots[knot].node).rev()
    }

    /// True if no node above has the label of a node.
    pub(crate) fn is_outermost(&self, node: u32) -> bool {
        self.is_outermost[node as usize]
    }

    /// By node: true if no node above has its key, by label.
    pub(crate) fn outermost_of(&self, key_of_label: &[u32], keys: usize) -> Vec<bool> {
        self.outermost(keys, |label| key_of_label.get(label as usize).map_or(0, |&key| key as usize))
    }

    fn outermost(&self, keys: usize, key_of_label: impl Fn(u32) -> usize) -> Vec<bool> {
        let mut on_path = vec![0_u32; keys];
        // The end of each node on the path, and its key.
        let mut path: Vec<(u32, usize)> = Vec::new();
        let mut found = vec![false; self.len()];
        for node in 1..self.len() as u32 {
            while let Some((_, key)) = path.pop_if(|&mut (end, _)| end <= node) {
                on_path[key] -= 1;
            }
            let key = key_of_label(self.labels[node as usize]);
            found[node as usize] = on_path[key] == 0;
            on_path[key] += 1;
            path.push((self.end(node), key));
        }
        found
    }

    /// Returns the knot in which the samples of a stack end; of merged forests, of a knot of theirs.
    pub(crate) fn knot_of_place(&self, place: usize) -> usize {
        self.knot_of_sampled[self.is_sampled.before(place)] as usize
    }

    /// Returns the knot in which the samples of a stack end.
    pub(crate) fn knot_of(&self, stack: Option<StackId>) -> usize {
        stack.map_or_else(
            // They come last.
            || self.knot_of_sampled.last().map_or(0, |&knot| knot as usize),
            |stack| self.knot_of_place(stack.index()),
        )
    }

    /// Visits the paths of a forest by frame. Returns the sums of samples without a stack.
    pub(super) fn walk(&self, weights: &ForestWeights, visitor: &mut impl PathVisitor) -> KeySums {
        let mut no_stack = KeySums::default();
        // The nodes on the path: the end of each, its frame and its weights.
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

    /// By node: true if it, or a node below it, has samples and a chosen function. A search need not look at other nodes.
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

    /// By node: true if a node above it has a chosen function. In the tree from the leaves up, that node is below it.
    pub fn under(&self, is_chosen: impl Fn(Label) -> bool) -> Vec<bool> {
        let mut found = vec![false; self.len()];
        for node in 1..self.len() {
            let parent = self.parent(node as u32);
            found[node] = found[parent as usize] || parent > 0 && is_chosen(self.label(parent));
        }
        found
    }
}

/// The weights of a forest's nodes ([`Forest::weigh`]).
#[derive(Clone, Debug)]
pub struct ForestWeights {
    /// By knot. The weights of stacks that end in it are its self weight.
    sums: Vec<KeySums>,
}

impl ForestWeights {
    fn of_knot(&self, knot: usize) -> &KeySums {
        &self.sums[knot]
    }

    /// Returns the sums of each knot.
    pub(crate) fn of_knots(&self) -> &[KeySums] {
        &self.sums
    }

    /// Returns the sums of all stacks.
    pub fn total(&self) -> KeySums {
        self.sums[0]
    }
}

/// A forest with weights: the call tree of the weighed stacks, whose nodes are made when they are looked at.
#[derive(Clone, Copy, Debug)]
pub struct WeighedForest<'f> {
    /// The names of functions, which order nodes of equal weight.
    pub profile: &'f Profile,
    /// The nodes.
    pub forest: &'f Forest,
    /// Their weights.
    pub weights: &'f ForestWeights,
}

impl WeighedForest<'_> {
    /// Returns the sums of a node.
    pub fn sums(&self, node: u32) -> KeySums {
        let (knot, ends_there) = self.forest.knot_of_node(node);
        let sums = *self.weights.of_knot(knot);
        if ends_there { sums } else { KeySums { self_weight: 0, self_samples: 0, ..sums } }
    }

    /// Returns the children of a node that have samples and at least this weight, heaviest first.
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

    /// Returns the sums of a knot.
    pub(super) fn own(&self, knot: u32) -> &KeySums {
        self.weights.of_knot(knot as usize)
    }

    /// Returns the functions, by self weight, then all weight, then name.
    pub fn functions(&self) -> Vec<FunctionRow> {
        let Forest { labels, is_outermost, knots, functions, .. } = self.forest;
        let mut sums = vec![KeySums::default(); *functions as usize + 1];
        for (number, (knot, own)) in knots.iter().zip(&self.weights.sums).enumerate().skip(1) {
            if own.all_samples == 0 {
                continue;
            }
            sums[labels[knot.node as usize] as usize].add_self(own.self_weight, own.self_samples);
            for at in self.forest.nodes_of_knot(number).filter(|&at| is_outermost[at as usize]) {
                sums[labels[at as usize] as usize].add_all(own.all_weight, own.all_samples);
            }
        }
        let labelled = (0..).zip(sums).filter(|(_, sums)| sums.all_samples > 0);
        let mut rows: Vec<FunctionRow> =
            labelled.map(|(number, sums)| FunctionRow { label: self.forest.label_of(number), sums }).collect();
        sort_functions(self.profile, &mut rows);
        rows
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    None,
    /// A sampled stack passes through it.
    Path,
    /// Samples end in it.
    Samples,
}

/// By stack, and then for samples without a stack.
fn needed_stacks(profile: &Profile, sampled: impl Iterator<Item = Option<StackId>>) -> Vec<Need> {
    let stacks = profile.stack_ids().len();
    let mut needs = vec![Need::None; stacks + 1];
    for stack in sampled {
        needs[stack.map_or(stacks, |stack| stack.index())] = Need::Samples;
    }
    let mut ids: Vec<StackId> = profile.stack_ids().collect();
    while let Some(id) = ids.pop() {
        if let Some(parent) = profile.stack(id).parent
            && needs[id.index()] != Need::None
            && needs[parent.index()] == Need::None
        {
            needs[parent.index()] = Need::Path;
        }
    }
    needs
}

/// By node: its place in preorder, and the place after the last node below it. Children stay in the order in which they were made.
fn preorder(parents: &[u32]) -> (Vec<u32>, Vec<u32>) {
    // The number of nodes from each node down, and later its place.
    let mut places = vec![1_u32; parents.len()];
    for node in (1..parents.len()).rev() {
        places[parents[node] as usize] += places[node];
    }
    // The place of the next child, which is the end after the last child.
    let mut ends = vec![0_u32; parents.len()];
    for node in 0..parents.len() {
        let size = std::mem::take(&mut places[node]);
        if node > 0 {
            let next = &mut ends[parents[node] as usize];
            places[node] = *next;
            *next += size;
        }
        ends[node] = places[node] + 1;
    }
    (places, ends)
}

/// Puts the values of nodes at their places.
fn permuted(values: Vec<u32>, places: &[u32]) -> Vec<u32> {
    let mut at_places = vec![0; values.len()];
    for (value, &place) in values.into_iter().zip(places) {
        at_places[place as usize] = value;
    }
    at_places
}

/// Returns the knots. `ends` has the end of each node.
fn tie_knots(ends: &[u32], is_knot: &RankedBits) -> Vec<Knot> {
    let mut knots: Vec<Knot> = Vec::with_capacity(is_knot.up_to(ends.len() - 1));
    let mut above = 0;
    for (node, &end) in (0..).zip(ends).filter(|(node, _)| is_knot.contains(*node as usize)) {
        while above > 0 && knots[above as usize].end <= node {
            above = knots[above as usize].above;
        }
        knots.push(Knot { node, end, above });
        above = knots.len() as u32 - 1;
    }
    knots
}

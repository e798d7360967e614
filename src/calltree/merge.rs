//! Merges stacks into a tree, level by level.

use std::hash::BuildHasher as _;
use std::hint::black_box;
use std::sync::Arc;

use hashbrown::HashTable;

use super::draft::{Draft, NameOrder};
use super::stack_runs::StackRuns;
use super::tree::{CallTree, Pruning};
use super::weights::StackWeight;
use crate::hash::BuildHasher;
use crate::profile::{FrameId, FunctionId, Profile, StackId};

/// Builds call trees of one profile, one after another.
///
/// A stack's node is found from its parent's node. For each tree, each distinct stack is visited once, regardless of its samples and depth. A
/// merger uses four bytes for each piece of stacks (`stack_runs.rs`).
#[derive(Debug)]
pub struct Merger<'p> {
    plan: Arc<MergePlan<'p>>,
    /// For each piece of stacks, the node number of its last stack in the latest tree that contains it. Numbers continue from tree to tree.
    number_of_piece: Vec<u32>,
    /// The number of the current tree's root. Lower numbers belong to previous trees.
    root_number: u32,
    /// Nodes that do not directly follow their parent, by parent and function, which the draft stores.
    child_of: HashTable<u32>,
    hasher: BuildHasher,
    draft: Draft,
    /// The frames of the current stack, leaf first, in slices. A slice that is a complete piece also has the piece's number.
    path: Vec<(&'p [FrameId], Option<usize>)>,
}

/// The data shared by all mergers of a profile.
#[derive(Debug)]
pub(crate) struct MergePlan<'p> {
    profile: &'p Profile,
    function_of_frame: Vec<FunctionId>,
    pieces: StackRuns,
    names: NameOrder<'p>,
}

/// The number of stacks to prefetch together. They are far apart in memory, and several concurrent cache misses take no longer than one.
const BATCH: usize = 16;

/// The number of frames in a cache line.
const CACHE_LINE: usize = 64 / size_of::<FrameId>();

impl<'p> MergePlan<'p> {
    pub(crate) fn new(profile: &'p Profile) -> Self {
        Self {
            profile,
            function_of_frame: profile.frame_ids().map(|id| profile.frame(id).function).collect(),
            pieces: StackRuns::new(profile),
            names: NameOrder::new(profile),
        }
    }
}

impl<'p> Merger<'p> {
    /// Creates a merger for the stacks of `profile`.
    pub fn new(profile: &'p Profile) -> Self {
        Self::with_plan(Arc::new(MergePlan::new(profile)))
    }

    /// Creates one of several mergers that share a plan.
    pub(crate) fn with_plan(plan: Arc<MergePlan<'p>>) -> Self {
        Self {
            number_of_piece: vec![0; plan.pieces.count()],
            plan,
            root_number: 1,
            child_of: HashTable::new(),
            hasher: BuildHasher::default(),
            draft: Draft::default(),
            path: Vec::new(),
        }
    }

    /// Builds the tree of these stacks. Their series should have the same unit.
    pub fn tree<'w>(&mut self, weights: impl IntoIterator<Item = &'w StackWeight>) -> CallTree {
        self.pruned_tree(weights, &Pruning::default())
    }

    /// Builds the tree of these stacks, without allocating memory for nodes that `pruning` hides.
    pub fn pruned_tree<'w>(
        &mut self,
        weights: impl IntoIterator<Item = &'w StackWeight>,
        pruning: &Pruning,
    ) -> CallTree {
        let spare = std::mem::take(&mut self.draft);
        self.draft = self.draft_into(spare, weights, pruning);
        self.draft.call_tree()
    }

    /// Like [`pruned_tree`](Self::pruned_tree), but returns a draft to walk. Reuses the memory of `spare`.
    pub(crate) fn draft_into<'w>(
        &mut self,
        spare: Draft,
        weights: impl IntoIterator<Item = &'w StackWeight>,
        pruning: &Pruning,
    ) -> Draft {
        self.draft = spare;
        self.child_of.clear();
        self.draft.clear();
        let mut weights = weights.into_iter().peekable();
        let mut batch: Vec<&StackWeight> = Vec::with_capacity(BATCH);
        while weights.peek().is_some() {
            batch.extend(weights.by_ref().take(BATCH));
            self.fetch(&batch);
            for row in batch.drain(..) {
                let node = match row.stack {
                    Some(id) => self.node_of(id),
                    None => self.child(0, None),
                };
                self.draft.add_weight(node, row.weight, row.samples);
            }
        }
        self.number_next_tree();
        self.draft.sum_up();
        self.draft.arrange(pruning, &self.plan.names);
        std::mem::take(&mut self.draft)
    }

    /// Prefetches memory for these stacks: their frames, those of their callers, which usually directly precede them, and the node number of the
    /// caller where they branch off.
    fn fetch(&mut self, rows: &[&StackWeight]) {
        let MergePlan { profile, pieces, .. } = &*self.plan;
        let stacks = profile.stack_rows();
        let ids = rows.iter().filter_map(|row| row.stack);
        // Few instructions between loads let many loads overlap.
        for id in ids.clone() {
            for before in [0, CACHE_LINE, 2 * CACHE_LINE] {
                black_box(stacks.frame_at(id.index().saturating_sub(before)));
            }
        }
        for id in ids {
            let piece = pieces.of(id);
            black_box(self.number_of_piece[piece.number]);
            let mut first = piece.first;
            for _ in 0..3 {
                let Some(parent) = StackId::from_index(first).and_then(|first| stacks.parent(first)) else { break };
                let piece = pieces.of(parent);
                if parent.index() + 1 != first {
                    black_box(self.number_of_piece[piece.number]);
                    break;
                }
                first = piece.first;
            }
        }
    }

    /// Chooses the root's number so that all nodes of the next tree have higher numbers than previous ones. If the numbers run out, discards the
    /// previous trees.
    fn number_next_tree(&mut self) {
        let most = self.plan.profile.stack_ids().len().saturating_add(2);
        let next = self.root_number as usize + self.draft.parents.len();
        match u32::try_from(next) {
            Ok(next) if next as usize <= (u32::MAX as usize).saturating_sub(most) => self.root_number = next,
            _ => {
                self.number_of_piece.fill(0);
                self.root_number = 1;
            }
        }
    }

    fn node_of(&mut self, id: StackId) -> u32 {
        self.path.clear();
        let MergePlan { profile, pieces, .. } = &*self.plan;
        let (mut node, mut above) = (0, Some(id));
        while let Some(id) = above {
            let piece = pieces.of(id);
            let number = self.number_of_piece[piece.number];
            if piece.is_whole && number >= self.root_number {
                node = number - self.root_number;
                break;
            }
            let frames = profile.stack_rows().frames(piece.first..id.index() + 1);
            self.path.push((frames, Some(piece.number).filter(|_| piece.is_whole)));
            above = StackId::from_index(piece.first).and_then(|first| profile.stack_rows().parent(first));
        }
        while let Some((frames, piece)) = self.path.pop() {
            node = self.descend(node, frames);
            if let Some(piece) = piece {
                self.number_of_piece[piece] = self.root_number + node;
            }
        }
        node
    }

    /// Returns the node reached from `node` through these frames, outermost first.
    fn descend(&mut self, mut node: u32, frames: &[FrameId]) -> u32 {
        for (index, frame) in frames.iter().enumerate() {
            let functions = &self.plan.function_of_frame;
            // The newest node has no children, so everything from here on is new.
            if node as usize + 1 == self.draft.parents.len() {
                return self.draft.add_chain(node, frames[index..].iter().map(|frame| functions[frame.index()]));
            }
            node = self.child(node, Some(functions[frame.index()]));
        }
        node
    }

    /// Returns the child of a node with this function, and adds it if necessary.
    fn child(&mut self, parent: u32, function: Option<FunctionId>) -> u32 {
        let next = parent as usize + 1;
        let Self { child_of, draft, hasher, .. } = self;
        // Two cases need no lookup: the newest node has no children, and the first child usually directly follows its parent. Such children are
        // not in the table.
        if next == draft.parents.len() {
            return draft.add_node(parent, function);
        }
        if (draft.parents[next], draft.functions[next]) == (parent, function) {
            return next as u32;
        }
        let hash = |parent: u32, function: Option<FunctionId>| hasher.hash_one((parent, function));
        let key = |node: u32| (draft.parents[node as usize], draft.functions[node as usize]);
        if let Some(&node) = child_of.find(hash(parent, function), |&node| key(node) == (parent, function)) {
            return node;
        }
        draft.knot_at(parent);
        let node = draft.add_node(parent, function);
        child_of.insert_unique(hash(parent, function), node, |&node| {
            hash(draft.parents[node as usize], draft.functions[node as usize])
        });
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Doing, FrameKey, ProfileBuilder, Run, SeriesId, ThreadId};
    use crate::units::{Address, Unit};

    /// Returns a profile with a chain of `count` functions, and a row for each stack.
    fn chain(count: u64) -> (Profile, Vec<StackWeight>) {
        let mut builder = ProfileBuilder::new();
        let name = builder.string("name").unwrap();
        let run = builder.run(Run { input: name, document: 0, number: 1 }).unwrap();
        let series = crate::profile::Series::new(run, name, 0, Unit::Cycles);
        let series: SeriesId = builder.series(series).unwrap();
        let process = builder.process(run, None, name).unwrap();
        let thread: ThreadId = builder.thread(process, None, name).unwrap();
        let mut stack = None;
        let mut rows = Vec::new();
        for number in 0..count {
            let name = builder.string(&number.to_string()).unwrap();
            let function = builder.function(name, None, true).unwrap();
            let address = Address::new(number);
            let key = FrameKey { function, binary: None, address, source: None, is_inlined: false, group: 0 };
            let frame = builder.frame(key).unwrap();
            stack = Some(builder.stack(stack, frame).unwrap());
            rows.push(StackWeight { series, thread, stack, doing: Doing::Runs, weight: 1, samples: 1 });
        }
        (builder.finish(), rows)
    }

    #[test]
    fn trees_do_not_depend_on_how_many_came_before() {
        let (profile, rows) = chain(5);
        let parts = [&rows[..1], &rows[2..], &rows[..3], &rows, &rows[..2]];
        let fresh: Vec<_> = parts.iter().map(|rows| Merger::new(&profile).tree(*rows)).collect();
        let mut merger = Merger::new(&profile);
        // The numbers run out in the third tree.
        merger.root_number = u32::MAX - 17;
        let first_number = merger.root_number;
        let again: Vec<_> = parts.iter().map(|rows| merger.tree(*rows)).collect();
        assert!(merger.root_number < first_number, "numbers began again");
        assert_eq!(again, fresh);
        assert_eq!(fresh[3].nodes().iter().map(|node| node.all_weight).collect::<Vec<_>>(), [5, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn samples_may_end_anywhere_in_a_long_row_of_stacks() {
        let (profile, rows) = chain(200);
        let ends = [150, 3, 199, 64, 63, 0, 3, 127, 128, 62];
        let tree = Merger::new(&profile).tree(ends.map(|end| &rows[end]));
        assert_eq!(tree.nodes().len(), 201);
        for (depth, node) in tree.nodes().iter().enumerate() {
            let is_above = |end: &&usize| **end + 1 >= depth;
            assert_eq!(node.all_weight, ends.iter().filter(is_above).count() as u64, "{depth}");
            let own = ends.iter().filter(|&&end| end + 1 == depth).count();
            assert_eq!((node.depth as usize, node.self_weight), (depth, own as u64));
        }
    }
}

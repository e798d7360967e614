//! Merging levels: from the weights of stacks to a tree.

use std::cmp::Ordering;
use std::hash::BuildHasher as _;

use hashbrown::HashTable;

use super::tree::{CallTree, Label, Node, Pruning, set_ends};
use super::weights::StackWeight;
use crate::hash::BuildHasher;
use crate::profile::{Profile, StackId};

/// Makes trees of one profile, one after the other.
///
/// A stack knows its parent, so its node is found from its parent's node; each distinct stack is looked at once in a
/// tree, however many samples it has and however deep it is.
#[derive(Debug)]
pub struct Merger<'p> {
    profile: &'p Profile,
    /// For each stack the tree (by number) that saw it last, and its node there.
    node_of_stack: Vec<(u32, u32)>,
    tree: u32,
    /// The nodes by parent and label, which stand in `draft`.
    child_of: HashTable<u32>,
    hasher: BuildHasher,
    draft: Vec<Draft>,
    path: Vec<StackId>,
}

/// A node whose children are not known yet.
#[derive(Clone, Copy, Debug)]
struct Draft {
    label: Label,
    parent: u32,
    child_count: u32,
    self_weight: u64,
    all_weight: u64,
    self_samples: u64,
    all_samples: u64,
}

impl<'p> Merger<'p> {
    /// A merger for the stacks of `profile`.
    pub fn new(profile: &'p Profile) -> Self {
        Self {
            profile,
            node_of_stack: vec![(0, 0); profile.stack_ids().len()],
            tree: 0,
            child_of: HashTable::new(),
            hasher: BuildHasher::default(),
            draft: Vec::new(),
            path: Vec::new(),
        }
    }

    /// The tree of these stacks. Their series should have one unit; threads may differ.
    pub fn tree<'w>(&mut self, weights: impl IntoIterator<Item = &'w StackWeight>) -> CallTree {
        self.pruned_tree(weights, &Pruning::default())
    }

    /// The tree of these stacks without what `pruning` hides, which then takes no room.
    pub fn pruned_tree<'w>(
        &mut self,
        weights: impl IntoIterator<Item = &'w StackWeight>,
        pruning: &Pruning,
    ) -> CallTree {
        self.tree += 1;
        self.child_of.clear();
        self.draft.clear();
        self.draft.push(Draft::new(Label::Root, 0));
        for row in weights {
            let node = match row.stack {
                Some(stack) => self.node_of(stack),
                None => self.child(0, Label::NoStack),
            };
            let node = &mut self.draft[node as usize];
            // The weights of one series fit; those of several are not to be added, but must not wrap either.
            node.self_weight = node.self_weight.saturating_add(row.weight);
            node.self_samples += row.samples;
        }
        self.sum_up();
        self.finish(pruning)
    }

    fn node_of(&mut self, stack: StackId) -> u32 {
        self.path.clear();
        let mut node = 0;
        let mut next = Some(stack);
        while let Some(stack) = next {
            let (tree, known) = self.node_of_stack[stack.index()];
            if tree == self.tree {
                node = known;
                break;
            }
            self.path.push(stack);
            next = self.profile.stack(stack).parent;
        }
        while let Some(stack) = self.path.pop() {
            let function = self.profile.frame(self.profile.stack(stack).frame).function;
            node = self.child(node, Label::Function(function));
            self.node_of_stack[stack.index()] = (self.tree, node);
        }
        node
    }

    fn child(&mut self, parent: u32, label: Label) -> u32 {
        let Self { child_of, draft, hasher, .. } = self;
        let hash = |parent: u32, label: Label| hasher.hash_one((parent, label));
        let is_it = |&node: &u32| (draft[node as usize].parent, draft[node as usize].label) == (parent, label);
        if let Some(&node) = child_of.find(hash(parent, label), is_it) {
            return node;
        }
        let node = draft.len() as u32;
        draft.push(Draft::new(label, parent));
        draft[parent as usize].child_count += 1;
        child_of.insert_unique(hash(parent, label), node, |&node| {
            let Draft { parent, label, .. } = draft[node as usize];
            hash(parent, label)
        });
        node
    }

    /// Adds every node to its parent; children come after their parents, so from the last to the first.
    fn sum_up(&mut self) {
        for index in (0..self.draft.len()).rev() {
            let node = &mut self.draft[index];
            node.all_weight = node.all_weight.saturating_add(node.self_weight);
            node.all_samples += node.self_samples;
            let Draft { parent, all_weight, all_samples, .. } = *node;
            if index > 0 {
                let parent = &mut self.draft[parent as usize];
                parent.all_weight = parent.all_weight.saturating_add(all_weight);
                parent.all_samples += all_samples;
            }
        }
    }

    /// Puts the nodes in the order they are read, without those that `pruning` hides.
    fn finish(&self, pruning: &Pruning) -> CallTree {
        let (total, max_depth) = (self.draft[0].all_weight, pruning.max_depth());
        // A child weighs no more than its parent, so a heavy node has heavy ancestors only.
        let is_kept = |&node: &u32| pruning.shows(self.draft[node as usize].all_weight, total);
        let mut children: Vec<u32> = (1..self.draft.len() as u32).filter(is_kept).collect();
        children.sort_unstable_by(|&a, &b| self.order(a, b));
        // Children of one parent lie together now, from `starts[parent]` on.
        let mut starts = vec![0_u32; self.draft.len()];
        for (position, &child) in children.iter().enumerate().rev() {
            starts[self.draft[child as usize].parent as usize] = position as u32;
        }
        let mut nodes = Vec::new();
        let mut todo = vec![(0_u32, 0_u32)];
        while let Some((index, depth)) = todo.pop() {
            let draft = &self.draft[index as usize];
            let own = children[starts[index as usize] as usize..].iter();
            let own = own.take_while(|&&child| depth < max_depth && self.draft[child as usize].parent == index);
            let first = todo.len();
            todo.extend(own.map(|&child| (child, depth + 1)));
            todo[first..].reverse();
            let shown = todo[first..].iter().map(|&(child, _)| self.draft[child as usize].all_weight).sum::<u64>();
            nodes.push(Node {
                hidden_weight: draft.all_weight.saturating_sub(draft.self_weight).saturating_sub(shown),
                hidden_children: draft.child_count - (todo.len() - first) as u32,
                ..draft.node(depth)
            });
        }
        set_ends(&mut nodes);
        CallTree { nodes }
    }

    /// By parent, then the order of children.
    fn order(&self, a: u32, b: u32) -> Ordering {
        let (a, b) = (&self.draft[a as usize], &self.draft[b as usize]);
        let by_weight = a.parent.cmp(&b.parent).then(b.all_weight.cmp(&a.all_weight));
        by_weight.then(b.all_samples.cmp(&a.all_samples)).then_with(|| order_labels(self.profile, a.label, b.label))
    }
}

/// The order of labels of equal weight: by name, then binary, then as first seen.
pub(super) fn order_labels(profile: &Profile, a: Label, b: Label) -> Ordering {
    let (Label::Function(first), Label::Function(second)) = (a, b) else { return a.cmp(&b) };
    let key = |id| (profile.function_name(id), profile.binary_name(id), id);
    key(first).cmp(&key(second))
}

impl Draft {
    fn new(label: Label, parent: u32) -> Self {
        Self { label, parent, child_count: 0, self_weight: 0, all_weight: 0, self_samples: 0, all_samples: 0 }
    }

    fn node(&self, depth: u32) -> Node {
        Node {
            label: self.label,
            depth,
            self_weight: self.self_weight,
            all_weight: self.all_weight,
            self_samples: self.self_samples,
            all_samples: self.all_samples,
            hidden_weight: 0,
            hidden_children: 0,
            end: 0,
        }
    }
}

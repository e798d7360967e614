//! Sorts the nodes of a forest into preorder, many at a time.

use std::cmp::Reverse;

use crate::profile::{StackId, StackRows};

/// Nodes in order of creation, each the first child of the one before. They also follow each other in preorder:
///
/// ```text
/// created   main run read | write flush | close        (below: run, run)
/// preorder  main run read   write flush   close
/// ```
struct Run {
    /// The node created first.
    first: u32,
    /// Its parent.
    parent: u32,
    /// Its position in preorder.
    place: u32,
    /// The number of nodes in its subtree.
    size: u32,
}

/// The positions of nodes in preorder; siblings keep the order of creation. Node 0 is the root, and node `i + 1` is stack `i`.
pub(super) struct Preorder<'s> {
    stacks: &'s StackRows,
    runs: Vec<Run>,
    /// The positions of all nodes without children or with several, and the position after the subtree of each.
    pub(super) forks: Vec<(u32, u32)>,
}

impl<'s> Preorder<'s> {
    pub(super) fn new(stacks: &'s StackRows) -> Self {
        let run = |first, parent| Run { first, parent, place: 0, size: 0 };
        let mut runs = vec![run(0, 0)];
        runs.extend(stacks.runs().map(|(rows, parent)| run(rows.start as u32 + 1, node_of(parent))));
        // The lowest parent first: functions called later in a run come earlier in preorder.
        let mut turns: Vec<(Reverse<u32>, u32)> =
            (1..).zip(&runs[1..]).map(|(number, run)| (Reverse(run.parent), number)).collect();
        turns.sort_unstable();
        let (mut turns, mut end) = (turns.into_iter().peekable(), stacks.len() as u32 + 1);
        let mut forks = Vec::new();
        for number in (0..runs.len()).rev() {
            let Run { first, .. } = runs[number];
            let (length, mut size, mut has_leaf) = (end - first, end - first, true);
            while let Some(&(Reverse(parent), _)) = turns.peek().filter(|(Reverse(parent), _)| *parent >= first) {
                let is_last = parent == end - 1;
                let mut children = u32::from(!is_last);
                while let Some((_, child)) = turns.next_if(|turn| turn.0.0 == parent) {
                    // Relative to this run, whose place is not yet known.
                    runs[child as usize].place = size;
                    size += runs[child as usize].size;
                    children += 1;
                }
                has_leaf &= !is_last;
                if children > 1 {
                    forks.push((number, parent - first, size));
                }
            }
            if has_leaf {
                forks.push((number, length - 1, length));
            }
            (runs[number].size, end) = (size, first);
        }
        for number in 1..runs.len() {
            let parent = run_of(stacks, runs[number].parent);
            runs[number].place += runs[parent].place;
        }
        let forks = forks.into_iter().map(|(run, node, end)| (runs[run].place + node, runs[run].place + end)).collect();
        Self { stacks, runs, forks }
    }

    /// Returns the position of the node of a stack, or of the root.
    pub(super) fn place(&self, stack: Option<StackId>) -> u32 {
        let node = node_of(stack);
        let Run { first, place, .. } = self.runs[run_of(self.stacks, node)];
        place + node - first
    }

    /// Returns the indices of the frames, in preorder. The first is `root`.
    pub(super) fn labels(&self, root: u32) -> Vec<u32> {
        let mut labels = vec![root; self.stacks.len() + 1];
        for (run, (rows, _)) in self.runs[1..].iter().zip(self.stacks.runs()) {
            let mut place = run.place as usize;
            for frames in self.stacks.frames_of(rows) {
                labels[place..].iter_mut().zip(frames).for_each(|(label, frame)| *label = frame.index() as u32);
                place += frames.len();
            }
        }
        labels
    }
}

/// The node of a stack, or the root.
fn node_of(stack: Option<StackId>) -> u32 {
    stack.map_or(0, |stack| stack.index() as u32 + 1)
}

/// The number of the run with a node. Each turn of the stacks starts a run after that of the root.
fn run_of(stacks: &StackRows, node: u32) -> usize {
    (node as usize).checked_sub(1).and_then(StackId::from_index).map_or(0, |stack| stacks.turns_up_to(stack))
}

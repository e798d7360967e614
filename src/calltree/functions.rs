//! Sums a tree by function.

use super::keyed::{KeySums, WeighedStacks, sum_stacks_by_key};
use super::tree::order_labels;
use super::tree::{CallTree, Label};
use crate::hash::HashMap;
use crate::profile::Profile;

/// The weights of a function, over all its occurrences in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    /// The function, or samples without stack.
    pub label: Label,
    /// The weight of samples with this function as their leaf.
    pub self_weight: u64,
    /// The weight of samples with this function anywhere in their stack. Each is counted once, even if the function recurs.
    pub all_weight: u64,
    /// The number of samples with this function as their leaf.
    pub self_samples: u64,
    /// The number of samples with this function anywhere in their stack.
    pub all_samples: u64,
}

impl FunctionRow {
    pub(super) fn new(label: Label, sums: KeySums) -> Self {
        let KeySums { self_weight, all_weight, self_samples, all_samples } = sums;
        Self { label, self_weight, all_weight, self_samples, all_samples }
    }
}

/// Returns the functions of a tree, by self weight, then all weight, then name. Weights hidden by pruning are not included.
pub(crate) fn functions(profile: &Profile, tree: &CallTree) -> Vec<FunctionRow> {
    let mut rows: Vec<FunctionRow> = Vec::new();
    let mut row_of: HashMap<Label, usize> = HashMap::default();
    // For each row, how often it occurs between the root and the current node.
    let mut on_path: Vec<u32> = Vec::new();
    let mut path: Vec<usize> = Vec::new();
    for node in &tree.nodes()[1..] {
        for row in path.drain(node.depth as usize - 1..) {
            on_path[row] -= 1;
        }
        let row = *row_of.entry(node.label).or_insert_with(|| {
            let (label, self_weight, all_weight, self_samples, all_samples) = (node.label, 0, 0, 0, 0);
            rows.push(FunctionRow { label, self_weight, all_weight, self_samples, all_samples });
            on_path.push(0);
            rows.len() - 1
        });
        rows[row].self_weight += node.self_weight;
        rows[row].self_samples += node.self_samples;
        if on_path[row] == 0 {
            rows[row].all_weight += node.all_weight;
            rows[row].all_samples += node.all_samples;
        }
        on_path[row] += 1;
        path.push(row);
    }
    sort_functions(profile, &mut rows);
    rows
}

/// Returns the functions of stacks: the same as [`functions`] of their [`tree`](super::Merger::tree), but without making a tree, so memory
/// grows with the functions and not with the nodes. If there are very many stacks, they are divided among `jobs` threads.
pub(crate) fn functions_of_stacks(profile: &Profile, stacks: WeighedStacks<'_>) -> Vec<FunctionRow> {
    let key_of_frame: Vec<usize> = profile.frame_ids().map(|id| profile.frame(id).function.index()).collect();
    let (sums, no_stack) = sum_stacks_by_key(profile, stacks, &key_of_frame, profile.function_ids().len());
    let of_functions = profile.function_ids().map(Label::Function).zip(sums);
    let found = of_functions.chain([(Label::NoStack, no_stack)]).filter(|(_, sums)| sums.all_samples > 0);
    let mut rows: Vec<FunctionRow> = found.map(|(label, sums)| FunctionRow::new(label, sums)).collect();
    sort_functions(profile, &mut rows);
    rows
}

pub(super) fn sort_functions(profile: &Profile, rows: &mut [FunctionRow]) {
    rows.sort_unstable_by(|a, b| {
        let by_weight = b.self_weight.cmp(&a.self_weight).then(b.all_weight.cmp(&a.all_weight));
        by_weight.then_with(|| order_labels(profile, a.label, b.label))
    });
}

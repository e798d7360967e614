//! A tree summed by function.

use super::merge::order_labels;
use super::tree::{CallTree, Label};
use crate::hash::HashMap;
use crate::profile::Profile;

/// What a function weighs over all places of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    /// The function, or samples without stack.
    pub label: Label,
    /// Weight of samples whose leaf it is.
    pub self_weight: u64,
    /// Weight of samples that have it anywhere in their stack; once each, however often it recurs.
    pub all_weight: u64,
    /// Samples whose leaf it is.
    pub self_samples: u64,
    /// Samples that have it anywhere in their stack.
    pub all_samples: u64,
}

/// The functions of a whole tree, by self weight, then all weight, then name. What pruning hid in a tree is missing here.
pub fn functions(profile: &Profile, tree: &CallTree) -> Vec<FunctionRow> {
    let mut rows: Vec<FunctionRow> = Vec::new();
    let mut row_of: HashMap<Label, usize> = HashMap::default();
    // How often each row is on the path from the root to the node at hand.
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
    rows.sort_unstable_by(|a, b| {
        let by_weight = b.self_weight.cmp(&a.self_weight).then(b.all_weight.cmp(&a.all_weight));
        by_weight.then_with(|| order_labels(profile, a.label, b.label))
    });
    rows
}

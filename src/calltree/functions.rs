//! Sums stacks by function.

use super::forest::WeighedForest;
use super::key_sums::KeySums;
use super::keyed::{WeighedStacks, sum_stacks_by_key};
use super::tree::{Label, order_labels};
use crate::profile::Profile;

/// The weights of a function. Recursion is counted once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    /// The function, or [`Label::NoStack`] for samples without a stack.
    pub label: Label,
    /// The weights of the function.
    pub sums: KeySums,
}

/// Returns the functions of stacks, sorted by self weight, then all weight, then name. Memory grows with the number of functions, not of tree
/// nodes.
pub(crate) fn functions_of_stacks(profile: &Profile, stacks: WeighedStacks<'_>) -> Vec<FunctionRow> {
    let key_of_frame: Vec<usize> = profile.frame_ids().map(|id| profile.frame(id).function.index()).collect();
    let (sums, no_stack) = sum_stacks_by_key(profile, stacks, &key_of_frame, profile.function_ids().len());
    let of_functions = profile.function_ids().map(Label::Function).zip(sums);
    let found = of_functions.chain([(Label::NoStack, no_stack)]).filter(|(_, sums)| sums.all_samples > 0);
    let mut rows: Vec<FunctionRow> = found.map(|(label, sums)| FunctionRow { label, sums }).collect();
    sort_functions(profile, &mut rows);
    rows
}

impl WeighedForest<'_> {
    /// Returns the functions, sorted by self weight, then all weight (both descending), then name.
    pub fn functions(&self) -> Vec<FunctionRow> {
        let forest = self.forest;
        let mut sums = vec![KeySums::default(); forest.label_count()];
        for (knot, own) in self.weights.of_knots().iter().enumerate().skip(1) {
            if own.all_samples == 0 {
                continue;
            }
            sums[forest.label_number(forest.node_of_knot(knot))].add_self(own.self_weight, own.self_samples);
            for at in forest.nodes_of_knot(knot).filter(|&at| forest.is_outermost(at)) {
                sums[forest.label_number(at)].add_all(own.all_weight, own.all_samples);
            }
        }
        let labelled = sums.into_iter().enumerate().filter(|(_, sums)| sums.all_samples > 0);
        let mut rows: Vec<FunctionRow> =
            labelled.map(|(number, sums)| FunctionRow { label: forest.numbered_label(number), sums }).collect();
        sort_functions(self.profile, &mut rows);
        rows
    }
}

fn sort_functions(profile: &Profile, rows: &mut [FunctionRow]) {
    rows.sort_unstable_by(|a, b| {
        a.sums.heaviest_first().cmp(&b.sums.heaviest_first()).then_with(|| order_labels(profile, a.label, b.label))
    });
}

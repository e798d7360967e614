//! Sums stacks by function.

use super::keyed::{KeySums, WeighedStacks, sum_stacks_by_key};
use super::tree::{Label, order_labels};
use crate::profile::Profile;

/// The weights of a function. Recursion counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    /// The function, or samples without stack.
    pub label: Label,
    /// Its weights.
    pub sums: KeySums,
}

/// Returns the functions of stacks, by self weight, then all weight, then name. Memory grows with the functions, and not with the nodes of a
/// tree.
pub(crate) fn functions_of_stacks(profile: &Profile, stacks: WeighedStacks<'_>) -> Vec<FunctionRow> {
    let key_of_frame: Vec<usize> = profile.frame_ids().map(|id| profile.frame(id).function.index()).collect();
    let (sums, no_stack) = sum_stacks_by_key(profile, stacks, &key_of_frame, profile.function_ids().len());
    let of_functions = profile.function_ids().map(Label::Function).zip(sums);
    let found = of_functions.chain([(Label::NoStack, no_stack)]).filter(|(_, sums)| sums.all_samples > 0);
    let mut rows: Vec<FunctionRow> = found.map(|(label, sums)| FunctionRow { label, sums }).collect();
    sort_functions(profile, &mut rows);
    rows
}

pub(super) fn sort_functions(profile: &Profile, rows: &mut [FunctionRow]) {
    rows.sort_unstable_by(|a, b| {
        a.sums.heaviest_first().cmp(&b.sums.heaviest_first()).then_with(|| order_labels(profile, a.label, b.label))
    });
}

//! The weights of categories of code, and the calls from the program's own code into the others.
//!
//! ```text
//! main (user) ─► sort (system) ─► compare (user) ─► release (runtime)
//!      └ transition ┘                  └── transition ──┘
//! ```
//!
//! Here the first transition has no self weight, since the sample came back to the program's code; the second one has. Both have the sample
//! in their all weight.

use super::keyed::{KeySums, sum_stacks_by_key};
use super::tree::Label;
use super::tree::order_labels;
use super::weights::StackWeight;
use crate::hash::HashMap;
use crate::profile::{Category, FunctionId, Profile, StackId};

/// The weights of a category of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CategoryRow {
    /// The category; `None` is samples without stack.
    pub category: Option<Category>,
    /// Self weight is of samples whose leaf is of the category, all weight of samples that have it anywhere in their stack.
    pub sums: KeySums,
}

/// A call from the program's own code ([`Category::User`]) into any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransitionRow {
    /// The function of the program.
    pub caller: FunctionId,
    /// The function that it calls.
    pub callee: FunctionId,
    /// The category of the callee.
    pub category: Category,
    /// Self weight is of samples that went into the callee and did not come back to the program's code: the caller is the innermost
    /// user frame of their stack. All weight is of samples whose leaf is in or below the callee, in whatever code; a sample counts
    /// once, however often the transition recurs in its stack.
    pub sums: KeySums,
}

/// The categories that stacks have, in the order of [`Category::ALL`], and at last samples without stack.
pub(crate) fn categories_of_stacks(profile: &Profile, weights: &[StackWeight]) -> Vec<CategoryRow> {
    let of_function = Category::of_functions(profile);
    let place = |category| Category::ALL.iter().position(|&other| other == category).unwrap_or_default();
    let key_of_frame: Vec<usize> =
        profile.frame_ids().map(|id| place(of_function[profile.frame(id).function.index()])).collect();
    let (sums, no_stack) = sum_stacks_by_key(profile, weights, &key_of_frame, Category::ALL.len(), 1);
    let rows = Category::ALL.into_iter().map(Some).zip(sums).chain([(None, no_stack)]);
    let rows = rows.filter(|(_, sums)| sums.all_samples > 0);
    rows.map(|(category, sums)| CategoryRow { category, sums }).collect()
}

/// The transitions of stacks, by self weight, then all weight, then caller and callee.
pub(crate) fn transitions_of_stacks(profile: &Profile, weights: &[StackWeight]) -> Vec<TransitionRow> {
    let of_function = Category::of_functions(profile);
    let mut rows: Vec<TransitionRow> = Vec::new();
    let mut row_of: HashMap<(FunctionId, FunctionId), usize> = HashMap::default();
    // By row: the last stack that was counted in it, from 1.
    let mut counted: Vec<usize> = Vec::new();
    for (number, weight) in (1..).zip(weights) {
        let mut is_outside = true;
        for (caller, callee) in calls_leaf_first(profile, weight.stack) {
            is_outside &= of_function[callee.index()] != Category::User;
            let category = of_function[callee.index()];
            if category == Category::User || of_function[caller.index()] != Category::User {
                continue;
            }
            let row = *row_of.entry((caller, callee)).or_insert_with(|| {
                rows.push(TransitionRow { caller, callee, category, sums: KeySums::default() });
                counted.push(0);
                rows.len() - 1
            });
            // The weights of one series fit; those of several are not to be added, but must not wrap either.
            let sums = &mut rows[row].sums;
            if std::mem::replace(&mut counted[row], number) != number {
                sums.all_weight = sums.all_weight.saturating_add(weight.weight);
                sums.all_samples += weight.samples;
            }
            // Only the first transition is met without a user frame below.
            if is_outside {
                sums.self_weight = sums.self_weight.saturating_add(weight.weight);
                sums.self_samples += weight.samples;
            }
        }
    }
    sort(profile, &mut rows);
    rows
}

/// The calls of a stack, from the innermost on: caller and callee.
fn calls_leaf_first(profile: &Profile, stack: Option<StackId>) -> impl Iterator<Item = (FunctionId, FunctionId)> {
    let mut frames = profile.frames_leaf_first(stack).map(|frame| frame.function);
    let mut callee = frames.next();
    frames.filter_map(move |caller| callee.replace(caller).map(|callee| (caller, callee)))
}

fn sort(profile: &Profile, rows: &mut [TransitionRow]) {
    let order = |a, b| order_labels(profile, Label::Function(a), Label::Function(b));
    rows.sort_unstable_by(|a, b| {
        let by_self = b.sums.self_weight.cmp(&a.sums.self_weight);
        let by_weight = by_self.then(b.sums.all_weight.cmp(&a.sums.all_weight));
        by_weight.then_with(|| order(a.caller, b.caller)).then_with(|| order(a.callee, b.callee))
    });
}

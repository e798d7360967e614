//! Weights of code categories, and calls from app code into other code.
//!
//! ```text
//! main (user) ─► sort (system) ─► compare (user) ─► release (runtime)
//!      └ transition ┘                  └── transition ──┘
//! ```
//!
//! In this example, the first transition has no self weight, since the sample returned to app code; the second one has. Both have the
//! sample in their all weight.

use super::keyed::{KeySums, sum_stacks_by_key};
use super::tree::Label;
use super::tree::order_labels;
use super::weights::StackWeight;
use crate::hash::HashMap;
use crate::profile::{Category, FunctionId, Profile, StackId};

/// The weights of a code category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CategoryRow {
    /// The category; `None` for samples without a stack.
    pub category: Option<Category>,
    /// Self weight includes samples whose leaf is in the category, all weight samples with any frame in it.
    pub sums: KeySums,
}

/// A call from app code ([`Category::User`]) into any other code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransitionRow {
    /// The calling app function.
    pub caller: FunctionId,
    /// The called function.
    pub callee: FunctionId,
    /// The category of the callee.
    pub category: Category,
    /// Self weight includes samples that did not return from the callee to app code: the caller is the innermost app frame of their stack.
    /// All weight includes samples whose leaf is in or below the callee, in any code. A sample is counted once, even if its stack contains
    /// the transition several times.
    pub sums: KeySums,
}

/// Returns the categories of stacks, in the order of [`Category::ALL`], followed by samples without a stack.
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

/// Returns the transitions of stacks, by self weight, then all weight, then caller and callee.
pub(crate) fn transitions_of_stacks(profile: &Profile, weights: &[StackWeight]) -> Vec<TransitionRow> {
    let of_function = Category::of_functions(profile);
    let mut rows: Vec<TransitionRow> = Vec::new();
    let mut row_of: HashMap<(FunctionId, FunctionId), usize> = HashMap::default();
    // For each row, the last stack that was counted, from 1.
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
            let sums = &mut rows[row].sums;
            if std::mem::replace(&mut counted[row], number) != number {
                sums.add_all(weight.weight, weight.samples);
            }
            // Only the innermost transition has no app frame below it.
            if is_outside {
                sums.add_self(weight.weight, weight.samples);
            }
        }
    }
    sort(profile, &mut rows);
    rows
}

/// Returns the pairs of caller and callee in a stack, from the leaf.
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

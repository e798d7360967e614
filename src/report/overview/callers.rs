//! How the heaviest function is called.

use std::cmp::Reverse;

use super::owners::Owners;
use crate::calltree::StackWeight;
use crate::hash::HashMap;
use crate::profile::{FunctionId, Profile, StackId};
use crate::report::Amount;
use crate::units::Unit;

/// The maximum number of callers listed.
const MOST: usize = 2;
/// The outer caller has this share of the calls below it.
pub(super) const NEARLY_ALL: f64 = 0.9;

/// A function, and the samples of its calls.
pub(super) type Caller = (FunctionId, Amount);

/// Finds the app functions that call a function, heaviest first, and the outermost one with nearly all samples of the function below it. `rows` are
/// the rows that contain the function. If it recurs, these are the callers of its outermost calls.
pub(super) fn callers<'r>(
    profile: &Profile,
    owners: &Owners,
    function: FunctionId,
    rows: impl Iterator<Item = &'r StackWeight>,
    unit: Unit,
) -> (Vec<Caller>, Option<Caller>) {
    let mut nearest: HashMap<FunctionId, Amount> = HashMap::default();
    let mut outer: HashMap<FunctionId, Amount> = HashMap::default();
    let mut all = Amount::none(unit);
    for row in rows {
        all.add(row.weight, row.samples);
        let Some(place) = row.stack.and_then(|stack| outermost(profile, stack, function)) else { continue };
        let above = std::iter::successors(owners.caller(profile, place), |&at| owners.caller(profile, at));
        let above = above.map(|at| profile.function_of_stack(at)).filter(|&id| !owners.is_entry_point(id));
        for (sums, caller) in [(&mut nearest, above.clone().next()), (&mut outer, above.last())] {
            if let Some(caller) = caller {
                sums.entry(caller).or_insert(Amount::none(unit)).add(row.weight, row.samples);
            }
        }
    }
    let mut nearest: Vec<_> = nearest.into_iter().collect();
    nearest
        .sort_unstable_by_key(|&(id, sum)| (Reverse((sum.weight.value, sum.samples)), profile.function_name(id), id));
    nearest.truncate(MOST);
    let is_nearest = |id: FunctionId| nearest.iter().any(|(caller, _)| *caller == id);
    let has_nearly_all = |sum: Amount| sum.weight.value as f64 >= NEARLY_ALL * all.weight.value as f64;
    let outer = outer.into_iter().find(|&(id, sum)| has_nearly_all(sum) && !is_nearest(id));
    (nearest, outer)
}

/// The part of a stack that ends in the outermost frame of a function.
pub(super) fn outermost(profile: &Profile, stack: StackId, function: FunctionId) -> Option<StackId> {
    let stacks = std::iter::successors(Some(stack), |&at| profile.stack(at).parent);
    stacks.filter(|&at| profile.function_of_stack(at) == function).last()
}

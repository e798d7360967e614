//! The heaviest stack of a thread.

use std::collections::BTreeMap;

use crate::profile::{Category, FunctionId, Profile, StackId, ThreadId};
use crate::report::overview::{is_entry_point, is_nameless_run_loop};

/// The heaviest stack of a thread in a period: each function is the heaviest callee of the previous one. It ends where more samples stop than
/// continue to the heaviest callee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HangStack {
    /// The thread.
    pub thread: ThreadId,
    /// The weight of its samples in nanoseconds or cycles, or their number.
    pub weight: u64,
    /// The functions from root to leaf, each with the weight of the samples on the path so far.
    pub functions: Vec<(FunctionId, u64)>,
}

impl HangStack {
    /// The heaviest of these weighted stacks; `None` if there are none.
    pub(super) fn of(profile: &Profile, thread: ThreadId, stacks: Vec<(Option<StackId>, u64)>) -> Option<Self> {
        if stacks.is_empty() {
            return None;
        }
        let weight = stacks.iter().map(|(_, weight)| weight).sum();
        let path = |stack| {
            let mut path: Vec<FunctionId> = profile.frames_leaf_first(stack).map(|frame| frame.function).collect();
            path.reverse();
            path
        };
        let mut paths: Vec<(Vec<FunctionId>, u64)> =
            stacks.into_iter().map(|(stack, weight)| (path(stack), weight)).collect();
        let mut functions = Vec::new();
        for depth in 0.. {
            let mut callees: BTreeMap<FunctionId, u64> = BTreeMap::new();
            for (path, weight) in paths.iter().filter(|(path, _)| path.len() > depth) {
                *callees.entry(path[depth]).or_default() += weight;
            }
            // Ties are broken by name, so the result does not depend on input order.
            let below: u64 = callees.values().sum();
            let own = functions.last().map_or(0, |(_, in_it)| in_it - below);
            let rank = |&(id, weight): &(FunctionId, u64)| (weight, std::cmp::Reverse(profile.function_name(id)));
            let Some((heaviest, weight)) = callees.into_iter().max_by(|one, other| rank(one).cmp(&rank(other))) else {
                break;
            };
            if own > weight {
                break;
            }
            paths.retain(|(path, _)| path.get(depth) == Some(&heaviest));
            functions.push((heaviest, weight));
        }
        Some(Self { thread, weight, functions })
    }

    /// The most informative function: the innermost app function in at least half of the samples, or else the innermost of all functions in
    /// at least half. Entry points do not count as app code here, since everything in an app runs below them.
    pub(crate) fn place(&self, profile: &Profile) -> Option<FunctionId> {
        let is_own = |id: FunctionId| Category::of_function(profile, id) == Category::User;
        let functions: Vec<FunctionId> = self.functions.iter().map(|&(id, _)| id).collect();
        let callers = |depth: usize| functions[..depth].iter().rev().copied();
        let is_loop = |&depth: &usize| is_nameless_run_loop(profile, functions[depth], is_own, callers(depth));
        // The frames that start the run loop do not request its events.
        let first = (0..functions.len()).find(is_loop).unwrap_or(0);
        let is_heavy = |depth: &usize| self.functions[*depth].1.saturating_mul(2) >= self.weight;
        let mut heavy = (first..functions.len()).filter(is_heavy).map(|depth| functions[depth]);
        let innermost = heavy.clone().next_back();
        heavy.rfind(|&id| is_own(id) && !is_entry_point(profile.function_name(id))).or(innermost)
    }
}

//! The callers of a function, and its callees.

use super::keyed::KeySums;
use super::operations::FunctionSet;
use super::tree::Label;
use super::tree::order_labels;
use super::weights::StackWeight;
use crate::hash::HashMap;
use crate::profile::{FunctionId, Profile};

/// Some functions, taken as one, between their callers and their callees.
///
/// If they are in a stack several times, the part above the outermost one belongs to the callers, and the part below the innermost one to
/// the callees. So each sample has one caller and one callee at most, and
///
/// ```text
/// all weight = Σ callers + that of samples without caller = Σ callees + self weight
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandwich {
    /// The weights of the functions themselves.
    pub own: KeySums,
    /// Their callers, heaviest first, with the weight and the number of the samples in which this caller calls them; `None` if there is no
    /// caller: they are the outermost functions of the stack.
    pub callers: Vec<(Option<FunctionId>, u64, u64)>,
    /// Their callees, heaviest first, with the weight and the number of samples.
    pub callees: Vec<(FunctionId, u64, u64)>,
}

impl Sandwich {
    /// The sandwich of the chosen functions in these stacks. Its cost follows the stacks, not the samples.
    pub fn new(profile: &Profile, weights: &[StackWeight], chosen: &FunctionSet) -> Self {
        let mut own = KeySums::default();
        let mut callers: HashMap<Option<FunctionId>, (u64, u64)> = HashMap::default();
        let mut callees: HashMap<FunctionId, (u64, u64)> = HashMap::default();
        for row in weights {
            let Some((caller, callee)) = neighbours(profile, row, chosen) else { continue };
            own.all_weight = own.all_weight.saturating_add(row.weight);
            own.all_samples += row.samples;
            add(callers.entry(caller).or_default(), row);
            match callee {
                Some(callee) => add(callees.entry(callee).or_default(), row),
                None => {
                    own.self_weight = own.self_weight.saturating_add(row.weight);
                    own.self_samples += row.samples;
                }
            }
        }
        let mut callers: Vec<_> = callers.into_iter().map(|(id, (weight, samples))| (id, weight, samples)).collect();
        let mut callees: Vec<_> = callees.into_iter().map(|(id, (weight, samples))| (id, weight, samples)).collect();
        let label = |id: Option<FunctionId>| id.map_or(Label::Root, Label::Function);
        callers.sort_unstable_by(|a, b| {
            (b.1, b.2).cmp(&(a.1, a.2)).then_with(|| order_labels(profile, label(a.0), label(b.0)))
        });
        callees.sort_unstable_by(|a, b| {
            (b.1, b.2).cmp(&(a.1, a.2)).then_with(|| order_labels(profile, label(Some(a.0)), label(Some(b.0))))
        });
        Self { own, callers, callees }
    }
}

fn add(sum: &mut (u64, u64), row: &StackWeight) {
    *sum = (sum.0.saturating_add(row.weight), sum.1 + row.samples);
}

/// The caller of the outermost chosen function in a stack, and the callee of the innermost; `None` without any in the stack.
fn neighbours(
    profile: &Profile,
    row: &StackWeight,
    chosen: &FunctionSet,
) -> Option<(Option<FunctionId>, Option<FunctionId>)> {
    let mut below = None;
    let mut found: Option<(Option<FunctionId>, Option<FunctionId>)> = None;
    // Whether the frame before was the outermost one so far.
    let mut is_caller = false;
    for frame in profile.frames_leaf_first(row.stack) {
        let function = frame.function;
        if let Some((caller, _)) = found.as_mut().filter(|_| is_caller) {
            *caller = Some(function);
        }
        is_caller = chosen.contains(function);
        if is_caller {
            let callee = found.map_or(below, |(_, callee)| callee);
            found = Some((None, callee));
        }
        below = Some(function);
    }
    found
}

//! Finds changes of functions that may come from code without names: one recording may lack symbols, stacks or binaries that the other has.

use super::change_and_noise::{Change, Sides};
use super::matching::{Function, FunctionKey};
use crate::hash::IndexMap;

/// If the unnamed weight of a binary changed by less than this share of its weight, its functions can be compared.
const LEAST: f64 = 0.05;
/// An unnamed weight that changed by fewer standard deviations may have changed by chance.
const DEVIATIONS: f64 = 3.0;
/// With as many samples on each side, of which one side has all named and the other none, the names are missing.
const SAMPLES: u64 = 3;
/// A change of unnamed code that is a smaller part of the opposite change of a function does not explain it.
const PART: f64 = 0.5;

/// The unnamed code of a binary, if its weight changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LackingNames {
    /// The binary; `None` for samples without a binary or a stack, among which there may be any function.
    pub(crate) binary: Option<String>,
    /// Its shares of the binary's weight before and after.
    pub(crate) shares: [f64; 2],
    /// The change of its weight.
    pub(crate) change: f64,
}

impl LackingNames {
    /// True if a function is part of this code, or if the code may have been that of a function whose weight changed in the other direction.
    pub(super) fn may_explain(&self, function: &Function, change: &Change, has_binaries: bool) -> bool {
        let is_opposite = self.change * change.weight < 0.0 && self.change.abs() >= PART * change.weight.abs();
        match &self.binary {
            None => is_opposite || is_lost(function, has_binaries),
            // The weight of a binary does not depend on the names of its functions.
            binary if function.name.is_empty() || *binary != function.binary => false,
            Some(_) => is_opposite || is_unnamed(function),
        }
    }
}

fn is_unnamed(function: &Function) -> bool {
    function.key != FunctionKey::Named
}

/// True for code that may belong to any binary. Without binaries on a side (`has_binaries`), only names are matched.
fn is_lost(function: &Function, has_binaries: bool) -> bool {
    if has_binaries { function.binary.is_none() } else { is_unnamed(function) }
}

/// Compares the unnamed weights of all functions by binary. `factor` scales weights after.
pub(super) fn lacking_names<'f>(
    functions: impl Iterator<Item = (&'f Function, &'f Sides)>,
    (factor, has_binaries): (f64, bool),
) -> Vec<LackingNames> {
    // All weights, and those without a name.
    let mut sums: IndexMap<Option<&str>, [Sides; 2]> = IndexMap::default();
    for (function, sides) in functions {
        let mut add = |binary, is_lost| {
            let [all, lost] = sums.entry(binary).or_default();
            all.add_own(sides);
            if is_lost {
                lost.add_own(sides);
            }
        };
        add(None, is_lost(function, has_binaries));
        if let Some(binary) = function.binary.as_deref().filter(|_| has_binaries) {
            add(Some(binary), is_unnamed(function));
        }
    }
    let lacking = |(binary, [all, lost]): (Option<&str>, [Sides; 2])| {
        let weights = |sides: &Sides| [sides.before.sums.self_weight as f64, sides.after.sums.self_weight as f64];
        let ([all_before, all_after], [before, after]) = (weights(&all), weights(&lost));
        let change = Change::new(lost.before.own(), lost.after.own(), factor);
        let is_large = change.weight.abs() > LEAST * all_before.max(all_after * factor);
        let shares = [before / all_before, after / all_after];
        let samples = all.before.sums.self_samples.min(all.after.sums.self_samples);
        let are_missing = samples >= SAMPLES && (shares == [0.0, 1.0] || shares == [1.0, 0.0]);
        let is_sure = change.weight.abs() > DEVIATIONS * change.noise || are_missing;
        let binary = binary.map(str::to_owned);
        (all_before > 0.0 && all_after > 0.0 && is_large && is_sure).then_some(LackingNames {
            binary,
            shares,
            change: change.weight,
        })
    };
    sums.into_iter().filter_map(lacking).collect()
}

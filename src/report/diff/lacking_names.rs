//! Finds binaries whose functions cannot be compared, since more of their code has names on one side than on the other.

use super::change_and_noise::Sides;
use super::matching::{Function, FunctionKey};
use crate::hash::IndexMap;
use crate::profile::unnamed_differ;

/// A binary whose unnamed shares differ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LackingNames {
    /// The binary; `None` for samples without a binary or a stack, among which there may be any function.
    pub(crate) binary: Option<String>,
    /// The shares of the samples before and after that have no name.
    pub(crate) shares: [f64; 2],
}

/// Compares the unnamed shares of all functions by binary. Without binaries on a side (`has_binaries`), only names are matched.
pub(super) fn lacking_names<'f>(
    functions: impl Iterator<Item = (&'f Function, &'f Sides)>,
    has_binaries: bool,
) -> Vec<LackingNames> {
    // By side: all samples, and those without a name.
    let mut counts: IndexMap<Option<&str>, [[u64; 2]; 2]> = IndexMap::default();
    for (function, sides) in functions {
        let is_unnamed = function.key != FunctionKey::Named;
        let binary = function.binary.as_deref().filter(|_| has_binaries);
        let samples = [sides.before, sides.after].map(|side| side.sums.self_samples);
        let mut add = |binary, is_lost| {
            for (counts, samples) in counts.entry(binary).or_default().iter_mut().zip(samples) {
                counts[0] += samples;
                counts[1] += if is_lost { samples } else { 0 };
            }
        };
        add(None, if has_binaries { binary.is_none() } else { is_unnamed });
        binary.into_iter().for_each(|binary| add(Some(binary), is_unnamed));
    }
    let lacking = |(binary, sides): (Option<&str>, [[u64; 2]; 2])| {
        let shares = sides.map(|[all, lost]| lost as f64 / all.max(1) as f64);
        unnamed_differ(sides).then(|| LackingNames { binary: binary.map(str::to_owned), shares })
    };
    counts.into_iter().filter_map(lacking).collect()
}

//! Checks whether the fall of related functions explains the growth of a function.
//!
//! A function that is renamed, split or inlined takes over the cost of others, and nothing becomes slower. An apparently unchanged caller does
//! not prove that, since the growth of a light function is invisible in a heavy caller. Related functions must therefore have fallen, and the
//! function together with them must not have grown.

use std::collections::{BTreeMap, BTreeSet};

use super::weights::{FunctionValues, Weights};
use crate::fleet::scope::ScopeName;

/// The probability that any unchanged related function appears to have fallen.
const FALL: f64 = 0.05;
/// If a function with its partners grew significantly at this level, it is slower.
const SUM: f64 = 0.005;
/// Falls below this fraction of the growth do not explain it.
const LEAST: f64 = 0.5;

/// Falls of functions that do not explain any growth yet.
pub(super) struct Falls<'w> {
    weights: &'w BTreeMap<ScopeName, Weights>,
    /// For each name, the p-value of its fall, and the unused part of the fall.
    falls: BTreeMap<&'w ScopeName, (f64, f64)>,
}

impl<'w> Falls<'w> {
    pub(super) fn new(weights: &'w BTreeMap<ScopeName, Weights>, values: &FunctionValues<'_>) -> Self {
        let fall = |(name, weights): (&'w ScopeName, &Weights)| {
            let [base, new] = values.means(weights);
            let p = values.effect(weights)?.p_below();
            (base > new).then_some((name, (p, base - new)))
        };
        Self { weights, falls: weights.iter().filter_map(fall).collect() }
    }

    /// The related functions whose cost a function took over. Empty if it is slower.
    pub(super) fn partners(
        &mut self,
        (weights, growth): (&Weights, f64),
        related: &BTreeSet<&ScopeName>,
        values: &FunctionValues<'_>,
    ) -> Vec<ScopeName> {
        let limit = FALL / related.len().max(1) as f64;
        let fell = self.falls.iter().filter(|(name, (p, fall))| *p <= limit && *fall > 0.0 && related.contains(*name));
        let mut fell: Vec<(&ScopeName, f64)> = fell.map(|(name, (_, fall))| (*name, *fall)).collect();
        fell.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (mut sum, mut fallen, mut partners) = (weights.clone(), 0.0, Vec::new());
        for (name, fall) in fell {
            if fallen >= growth {
                break;
            }
            fallen += fall;
            sum.add(&self.weights[name]);
            partners.push(name.clone());
        }
        let is_slower = fallen < LEAST * growth || values.effect(&sum).is_none_or(|effect| effect.p_above() <= SUM);
        if is_slower {
            return Vec::new();
        }
        self.use_up(&partners, growth);
        partners
    }

    fn use_up(&mut self, partners: &[ScopeName], growth: f64) {
        let mut left = growth;
        for name in partners {
            if let Some((_, fall)) = self.falls.get_mut(name) {
                let used = fall.min(left);
                *fall -= used;
                left -= used;
            }
        }
    }
}

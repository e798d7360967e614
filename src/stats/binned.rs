//! Values known only as a histogram, for example from another program.

use std::collections::BTreeMap;

use super::Quantile;

/// Values whose exact numbers are unknown. Each bin has an inclusive lower bound, an inclusive upper bound, and a number of values. Bins may
/// overlap or leave gaps, and may have no upper bound.
///
/// A quantile (nearest rank) is an interval that certainly contains the true one: from the quantile of the lower bounds to that of the upper
/// bounds. No narrower interval is correct for all values with these bins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BinnedValues {
    count: u64,
    /// The number of values with each bound; [`u64::MAX`] for no upper bound.
    lower: BTreeMap<u64, u64>,
    upper: BTreeMap<u64, u64>,
}

impl BinnedValues {
    /// Adds the values of a bin, with `None` for no upper bound. Reversed bounds are swapped.
    pub fn add(&mut self, lower: u64, upper: Option<u64>, count: u64) {
        if count == 0 {
            return;
        }
        let upper = upper.unwrap_or(u64::MAX);
        self.count = self.count.saturating_add(count);
        for (bounds, bound) in [(&mut self.lower, lower.min(upper)), (&mut self.upper, lower.max(upper))] {
            let known = bounds.entry(bound).or_default();
            *known = known.saturating_add(count);
        }
    }

    /// Adds the values of other bins.
    pub fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        for (bounds, others) in [(&mut self.lower, &other.lower), (&mut self.upper, &other.upper)] {
            for (&bound, &count) in others {
                let known = bounds.entry(bound).or_default();
                *known = known.saturating_add(count);
            }
        }
    }

    /// The approximate memory use in bytes.
    pub(crate) fn memory(&self) -> u64 {
        ((self.lower.len() + self.upper.len()) * 4 * size_of::<u64>()) as u64
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The interval of a quantile, whose upper end is `None` if unknown; `None` without values.
    pub fn quantile(&self, quantile: Quantile) -> Option<(u64, Option<u64>)> {
        let rank = quantile.nearest_rank(self.count);
        // Without values, there are no bounds.
        let lower = bound_at(&self.lower, rank)?;
        let upper = bound_at(&self.upper, rank)?;
        Some((lower, Some(upper).filter(|&upper| upper < u64::MAX)))
    }
}

/// The bound with this rank, from 1.
fn bound_at(bounds: &BTreeMap<u64, u64>, rank: u64) -> Option<u64> {
    let mut before = 0_u64;
    bounds.iter().find_map(|(&bound, &count)| {
        before = before.saturating_add(count);
        (before >= rank).then_some(bound)
    })
}

//! Weights over time in bounded memory: bins of equal length, which doubles whenever there would be too many.
//!
//! Bins are 2ⁿ/512 s long, and bin i begins at i times the length. A second is therefore a whole number of bins, and bins can be merged into
//! longer ones exactly.

use crate::memory::of_vec;
use crate::units::Nanos;

/// The shortest length of a bin: 1/512 s, a whole number of nanoseconds.
const SHORTEST: u64 = 1_953_125;
/// The maximum number of bins: enough for half an hour in seconds, and for 20 per block of a timeline.
const MOST: u64 = 2_048;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BinLength(u32);

impl BinLength {
    pub(crate) const SECOND: Self = Self(9);

    /// Returns the shortest length at which the time from `first` to `last` does not need too many bins.
    pub(crate) fn of_span(first: Nanos, last: Nanos) -> Self {
        let [first, last] = [first, last].map(|time| time.as_nanos() / SHORTEST);
        let is_enough = |shift: &u32| (last >> shift) - (first.min(last) >> shift) < MOST;
        Self((0..64).find(is_enough).unwrap_or(63))
    }

    /// Returns twice the length.
    pub(crate) fn doubled(self) -> Self {
        Self((self.0 + 1).min(63))
    }

    pub(crate) fn nanos(self) -> Nanos {
        Nanos::from_nanos(u64::try_from(u128::from(SHORTEST) << self.0).unwrap_or(u64::MAX))
    }

    /// Returns the number of the bin that contains a time.
    pub(crate) fn bin_of(self, time: Nanos) -> u64 {
        (time.as_nanos() / SHORTEST) >> self.0
    }
}

/// The weights of some samples over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimeBins {
    length: BinLength,
    first: u64,
    weights: Vec<u64>,
}

impl TimeBins {
    /// Adds the weight of a sample. Returns by how many bytes the bins grew.
    #[inline]
    pub(super) fn add(&mut self, time: Nanos, weight: u64) -> u64 {
        let bin = self.length.bin_of(time);
        match self.weights.get_mut(bin.wrapping_sub(self.first) as usize) {
            Some(sum) => {
                *sum += weight;
                0
            }
            None => self.add_outside(time, weight),
        }
    }

    fn add_outside(&mut self, time: Nanos, weight: u64) -> u64 {
        let before = of_vec(&self.weights);
        if self.weights.is_empty() {
            self.first = self.length.bin_of(time);
        }
        loop {
            let (bin, end) = (self.length.bin_of(time), self.first + self.weights.len() as u64);
            let (first, last) = (self.first.min(bin), end.max(bin + 1));
            if last - first <= MOST {
                self.weights.splice(0..0, std::iter::repeat_n(0, (self.first - first) as usize));
                self.weights.resize((last - first) as usize, 0);
                self.first = first;
                self.weights[(bin - first) as usize] += weight;
                return of_vec(&self.weights) - before;
            }
            self.double();
        }
    }

    fn double(&mut self) {
        let mut halved = Vec::with_capacity(self.weights.capacity());
        let longer = self.length.doubled();
        for (bin, weight) in self.bins(longer) {
            match halved.get_mut((bin - (self.first >> 1)) as usize) {
                Some(sum) => *sum += weight,
                None => halved.push(weight),
            }
        }
        *self = Self { length: longer, first: self.first >> 1, weights: halved };
    }

    /// Returns the numbers and weights of bins of length `length`, in order. A number may occur several times. The length must be at least the
    /// samples' [`BinLength::of_span`].
    pub(crate) fn bins(&self, length: BinLength) -> impl Iterator<Item = (u64, u64)> {
        let shift = length.0.saturating_sub(self.length.0);
        (self.first..).zip(&self.weights).map(move |(bin, &weight)| (bin >> shift, weight))
    }

    pub(super) fn memory(&self) -> u64 {
        of_vec(&self.weights)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_second_is_a_whole_number_of_bins() {
        assert_eq!(BinLength::SECOND.nanos(), Nanos::from_millis(1_000));
        assert_eq!(BinLength::default().nanos().as_nanos() * 512, 1_000_000_000);
    }

    proptest! {
        #[test]
        fn bins_hold_the_weights_of_their_time(
            samples in prop::collection::vec((0..63_u32, any::<u64>(), 0..1_000_u64), 1..300),
        ) {
            let samples: Vec<(Nanos, u64)> =
                samples.into_iter().map(|(bits, time, weight)| (Nanos::from_nanos(time >> bits), weight)).collect();
            let mut bins = TimeBins::default();
            let grown: u64 = samples.iter().map(|&(time, weight)| bins.add(time, weight)).sum();
            prop_assert_eq!(grown, bins.memory());
            prop_assert!(bins.weights.len() as u64 <= MOST);
            let (first, last) = (samples.iter().min().unwrap().0, samples.iter().max().unwrap().0);
            let mut length = BinLength::of_span(first, last);
            prop_assert_eq!(bins.length, length);
            for _ in 0..3 {
                let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
                for &(time, weight) in &samples {
                    *expected.entry((u128::from(time.as_nanos()) / (u128::from(SHORTEST) << length.0)) as u64).or_default() += weight;
                }
                let mut found: BTreeMap<u64, u64> = BTreeMap::new();
                bins.bins(length).for_each(|(bin, weight)| *found.entry(bin).or_default() += weight);
                expected.retain(|_, weight| *weight > 0);
                found.retain(|_, weight| *weight > 0);
                prop_assert_eq!(found, expected);
                length = length.doubled();
            }
        }
    }
}

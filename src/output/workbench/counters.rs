//! The values of performance counters, by row.
//!
//! A counter whose values in all rows add up to more than 64 bits is left out: no sum of it could be compared with the command's, which
//! refuses it as well.

use crate::profile::Profile;

/// The values of a sample, or the sums of several samples.
#[derive(Clone, Copy, Debug)]
pub(super) enum Values<'p> {
    Each(&'p [u64]),
    Summed(&'p [u128]),
}

impl<'p> Values<'p> {
    /// The values of a sample, by its index.
    pub(super) fn of_sample(profile: &'p Profile, index: usize) -> Self {
        Self::Each(profile.counters(index))
    }

    /// The values of a sum, by its index.
    pub(super) fn of_sum(profile: &'p Profile, index: usize) -> Self {
        Self::Summed(profile.sum_counters(index))
    }

    fn len(self) -> usize {
        match self {
            Self::Each(values) => values.len(),
            Self::Summed(values) => values.len(),
        }
    }

    fn get(self, counter: usize) -> u128 {
        match self {
            Self::Each(values) => values.get(counter).map_or(0, |&value| u128::from(value)),
            Self::Summed(values) => values.get(counter).copied().unwrap_or(0),
        }
    }
}

/// The values of all rows.
#[derive(Clone, Debug, Default)]
pub(super) struct RowCounters {
    /// By series of the report: the sums of its counters.
    pub(super) sums: Vec<Vec<u128>>,
    /// The counters that are kept, from 0.
    kept: Vec<usize>,
    /// By row: the values of those.
    values: Vec<u64>,
}

impl RowCounters {
    /// The counters of this many series and rows. Each part of the input has the position of its series, its row, and its values.
    pub(super) fn new<'p>(
        series: usize,
        rows: usize,
        parts: impl Iterator<Item = (Option<usize>, usize, Values<'p>)> + Clone,
    ) -> Self {
        let mut sums = vec![Vec::new(); series];
        for (place, _, values) in parts.clone() {
            let Some(sums) = place.and_then(|place| sums.get_mut(place)) else { continue };
            sums.resize(sums.len().max(values.len()), 0);
            (0..).zip(sums).for_each(|(counter, sum)| *sum += values.get(counter));
        }
        let most = sums.iter().map(Vec::len).max().unwrap_or(0);
        let total = |counter: usize| sums.iter().filter_map(|sums| sums.get(counter)).sum::<u128>();
        let kept: Vec<usize> = (0..most).filter(|&counter| total(counter) <= u128::from(u64::MAX)).collect();
        let mut all = Self { sums, values: vec![0; rows * kept.len()], kept };
        for (_, row, values) in parts {
            for (place, &counter) in all.kept.iter().enumerate() {
                // What all of them add up to fits.
                all.values[row * all.kept.len() + place] += values.get(counter) as u64;
            }
        }
        all
    }

    /// The counters that have a column, from 0.
    pub(super) fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// The values of the kept counter at this position, by row.
    pub(super) fn of(&self, place: usize) -> impl Iterator<Item = u64> + '_ {
        self.values.iter().skip(place).step_by(self.kept.len().max(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_add_up_their_parts() {
        let (first, second, third): ([u64; 2], [u64; 1], [u128; 2]) = ([1, 10], [2], [4, 40]);
        let parts = [
            (Some(0), 1, Values::Each(&first)),
            (Some(0), 1, Values::Each(&second)),
            (Some(1), 0, Values::Summed(&third)),
        ];
        let counters = RowCounters::new(3, 2, parts.into_iter());
        assert_eq!(counters.kept(), [0, 1]);
        assert_eq!(counters.of(0).collect::<Vec<_>>(), [4, 3]);
        assert_eq!(counters.of(1).collect::<Vec<_>>(), [40, 10]);
        assert_eq!(counters.sums, [vec![3, 10], vec![4, 40], vec![]]);
    }

    #[test]
    fn counters_beyond_64_bits_are_left_out() {
        let (first, second) = ([u64::MAX, 5, u64::MAX], [1, 6, 0]);
        let parts = [(Some(0), 0, Values::Each(&first)), (Some(1), 1, Values::Each(&second))];
        let counters = RowCounters::new(2, 2, parts.into_iter());
        assert_eq!(counters.kept(), [1, 2]);
        assert_eq!(counters.of(0).collect::<Vec<_>>(), [5, 6]);
        assert_eq!(counters.of(1).collect::<Vec<_>>(), [u64::MAX, 0]);
        assert_eq!(counters.sums[0], [u128::from(u64::MAX), 5, u128::from(u64::MAX)]);
    }
}

//! Counts sample weights in each series as samples are added, since sums do not keep individual weights.

use std::cmp::Reverse;

/// The maximum number of distinct weights counted per series. Recordings with a fixed interval have one; others have few.
const MOST: usize = 64;

/// The number of samples with each weight, for the first [`MOST`] distinct nonzero weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct SampleWeights {
    counts: Vec<(u64, u64)>,
    /// The index of the last weight, since the next one is usually the same.
    last: usize,
}

impl SampleWeights {
    #[inline(always)]
    pub(crate) fn add(&mut self, weight: u64, samples: u64) {
        match self.counts.get_mut(self.last) {
            Some((last, count)) if *last == weight => *count += samples,
            _ => self.add_other(weight, samples),
        }
    }

    fn add_other(&mut self, weight: u64, samples: u64) {
        let found = self.counts.iter().position(|&(counted, _)| counted == weight);
        match found {
            Some(index) => {
                self.counts[index].1 += samples;
                self.last = index;
            }
            None if weight > 0 && self.counts.len() < MOST => {
                self.last = self.counts.len();
                self.counts.push((weight, samples));
            }
            None => {}
        }
    }

    /// Returns the most frequent weight, and the smallest one in a tie.
    pub(crate) fn most_frequent(&self) -> Option<u64> {
        self.counts.iter().max_by_key(|&&(weight, count)| (count, Reverse(weight))).map(|&(weight, _)| weight)
    }
}

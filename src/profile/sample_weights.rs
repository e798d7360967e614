//! The weights of the samples of each series, counted while samples are added: sums no longer have them.

use std::cmp::Reverse;

/// The most different weights that are counted of a series. Recordings at a fixed interval have one; others, few.
const MOST: usize = 64;

/// How often each weight occurred, for the first [`MOST`] different weights other than 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct SampleWeights {
    counts: Vec<(u64, u64)>,
    /// The index of the weight that was counted last: most often, the next one is the same.
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

    /// The most frequent weight; of equally frequent ones, the smallest.
    pub(crate) fn most_frequent(&self) -> Option<u64> {
        self.counts.iter().max_by_key(|&&(weight, count)| (count, Reverse(weight))).map(|&(weight, _)| weight)
    }
}

//! The sums of stacks by a key of their frames.

use std::cmp::Reverse;

/// The weights of a key, over all stacks that contain it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeySums {
    /// The weight of samples whose leaf has the key.
    pub self_weight: u64,
    /// The weight of samples with the key anywhere in their stack. Each sample is counted once, even if the key recurs.
    pub all_weight: u64,
    /// The number of samples whose leaf has the key.
    pub self_samples: u64,
    /// The number of samples with the key anywhere in their stack; 0 if no stack has the key.
    pub all_samples: u64,
}

impl KeySums {
    /// A sort key: by self weight, then all weight, both descending.
    pub(crate) fn heaviest_first(&self) -> Reverse<(u64, u64)> {
        Reverse((self.self_weight, self.all_weight))
    }

    /// Adds samples whose leaf has the key. Saturates: the weights of one series never overflow, and the sum of several is meaningless but must
    /// not wrap around.
    pub(crate) fn add_self(&mut self, weight: u64, samples: u64) {
        self.self_weight = self.self_weight.saturating_add(weight);
        self.self_samples += samples;
    }

    /// Adds samples with the key in their stack.
    pub(crate) fn add_all(&mut self, weight: u64, samples: u64) {
        self.all_weight = self.all_weight.saturating_add(weight);
        self.all_samples += samples;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.add_self(other.self_weight, other.self_samples);
        self.add_all(other.all_weight, other.all_samples);
    }
}

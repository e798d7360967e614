//! The weights on both sides of a comparison, their changes, and how much of a change may be chance.

use crate::calltree::KeySums;
use crate::noise;

/// The weights of one subject on one side of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// The weights and numbers of samples.
    pub sums: KeySums,
    /// The sum of the squared weights of samples in which the subject is the leaf.
    pub self_squares: u128,
    /// The sum of the squared weights of samples that pass through the subject.
    pub all_squares: u128,
}

impl Side {
    pub(super) fn add_self(&mut self, weight: u64, samples: u64, squares: u128) {
        self.sums.add_self(weight, samples);
        self.self_squares = self.self_squares.saturating_add(squares);
    }

    pub(super) fn add_all(&mut self, weight: u64, samples: u64, squares: u128) {
        self.sums.add_all(weight, samples);
        self.all_squares = self.all_squares.saturating_add(squares);
    }

    /// Replaces the self weight.
    pub(super) fn with_self(self, other: Self) -> Self {
        let KeySums { self_weight, self_samples, .. } = other.sums;
        let sums = KeySums { self_weight, self_samples, ..self.sums };
        Self { sums, self_squares: other.self_squares, ..self }
    }

    /// The self weight, and the sum of its squared sample weights.
    pub(super) fn own(&self) -> (u64, u128) {
        (self.sums.self_weight, self.self_squares)
    }

    /// The total weight, and the sum of its squared sample weights.
    pub(super) fn all(&self) -> (u64, u128) {
        (self.sums.all_weight, self.all_squares)
    }
}

/// The weights of one subject on both sides of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// The weights in the first recording.
    pub before: Side,
    /// The weights in the second recording.
    pub after: Side,
}

/// The sides on which a subject has samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// On both sides.
    Both,
    /// Only in the second recording.
    New,
    /// Only in the first recording.
    Vanished,
}

impl Sides {
    /// Adds the self weights of another subject.
    pub(super) fn add_own(&mut self, other: &Self) {
        for (side, other) in [(&mut self.before, &other.before), (&mut self.after, &other.after)] {
            side.add_self(other.sums.self_weight, other.sums.self_samples, other.self_squares);
        }
    }

    /// True if at least one side has samples.
    pub fn has_samples(&self) -> bool {
        self.before.sums.all_samples + self.after.sums.all_samples > 0
    }

    /// The larger of the two total weights.
    pub(crate) fn heavier(&self) -> u64 {
        self.before.sums.all_weight.max(self.after.sums.all_weight)
    }

    /// The sides that have samples.
    pub fn presence(&self) -> Presence {
        Presence::of([self.before.sums.all_samples, self.after.sums.all_samples])
    }
}

impl Presence {
    /// Returns the sides that have samples, given the number of samples on each side.
    pub(crate) const fn of(samples: [u64; 2]) -> Self {
        match samples {
            [0, _] => Self::New,
            [_, 0] => Self::Vanished,
            _ => Self::Both,
        }
    }

    /// The name in machine-readable formats: `both`, `new`, `vanished`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::New => "new",
            Self::Vanished => "vanished",
        }
    }
}

/// The change of a weight and its noise, in the unit of the recordings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// After × factor − before.
    pub weight: f64,
    /// The standard deviation of the change; infinite if unknown.
    pub noise: f64,
}

impl Change {
    /// Changes beyond this number of standard deviations are marked. Of 100 changes that are pure chance, 95 are smaller.
    pub const BEYOND_NOISE: f64 = noise::BEYOND_NOISE;

    /// Computes the change from two pairs of a weight and its sum of squares.
    pub(super) fn new(before: (u64, u128), after: (u64, u128), factor: f64) -> Self {
        Self {
            weight: after.0 as f64 * factor - before.0 as f64,
            noise: noise::sampling_noise(before.1, after.1, factor),
        }
    }

    pub(super) fn with_noise_times(self, factor: f64) -> Self {
        let noise = if factor.is_finite() { self.noise * factor } else { factor };
        Self { noise, ..self }
    }

    /// True if the change is larger than chance explains.
    pub fn is_beyond_noise(&self) -> bool {
        self.weight.abs() > Self::BEYOND_NOISE * self.noise
    }
}

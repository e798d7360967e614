//! The weights on both sides of a comparison, their changes, and how much of a change may be chance.

use crate::calltree::KeySums;
use crate::noise;

/// The weights of something on one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Its weights and samples.
    pub sums: KeySums,
    /// Sum of the squared weights of samples in which it is the leaf.
    pub self_squares: u128,
    /// Sum of the squared weights of samples that pass through it.
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

    /// The same with the self weight of another.
    pub(super) fn with_self(self, other: Self) -> Self {
        let KeySums { self_weight, self_samples, .. } = other.sums;
        let sums = KeySums { self_weight, self_samples, ..self.sums };
        Self { sums, self_squares: other.self_squares, ..self }
    }

    /// Weight of samples in which it is the leaf, and the sum of their squares.
    pub(super) fn own(&self) -> (u64, u128) {
        (self.sums.self_weight, self.self_squares)
    }

    /// The same of all samples that pass through it.
    pub(super) fn all(&self) -> (u64, u128) {
        (self.sums.all_weight, self.all_squares)
    }
}

/// The weights on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// In the first recording.
    pub before: Side,
    /// In the second one.
    pub after: Side,
}

/// The sides on which something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// On both sides.
    Both,
    /// Only the second recording has samples of it.
    New,
    /// Only the first one has.
    Vanished,
}

impl Sides {
    /// True if a side has samples of it.
    pub fn has_samples(&self) -> bool {
        self.before.sums.all_samples + self.after.sums.all_samples > 0
    }

    /// The larger all weight.
    pub(crate) fn heavier(&self) -> u64 {
        self.before.sums.all_weight.max(self.after.sums.all_weight)
    }

    /// The sides on which it is.
    pub fn presence(&self) -> Presence {
        Presence::of([self.before.sums.all_samples, self.after.sums.all_samples])
    }
}

impl Presence {
    /// The sides that have samples of something, from the samples of the first and the second side.
    pub(crate) const fn of(samples: [u64; 2]) -> Self {
        match samples {
            [0, _] => Self::New,
            [_, 0] => Self::Vanished,
            _ => Self::Both,
        }
    }

    /// The name in machine formats: `both`, `new`, `vanished`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::New => "new",
            Self::Vanished => "vanished",
        }
    }
}

/// The change of something, and the part of it that may be chance; in the unit of the recordings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// After × factor − before.
    pub weight: f64,
    /// One standard deviation of the change; infinite if it is unknown.
    pub noise: f64,
}

impl Change {
    /// The number of standard deviations from which a change is marked: 95 of 100 changes by chance alone are smaller.
    pub const BEYOND_NOISE: f64 = noise::BEYOND_NOISE;

    /// The change of a weight whose sum of squares is also known.
    pub(super) fn new(before: (u64, u128), after: (u64, u128), factor: f64) -> Self {
        Self {
            weight: after.0 as f64 * factor - before.0 as f64,
            noise: noise::sampling_noise(before.1, after.1, factor),
        }
    }

    /// The same change with noise multiplied by this factor.
    pub(super) fn with_noise_times(self, factor: f64) -> Self {
        let noise = if factor.is_finite() { self.noise * factor } else { factor };
        Self { noise, ..self }
    }

    /// True if it is larger than chance would explain.
    pub fn is_beyond_noise(&self) -> bool {
        self.weight.abs() > Self::BEYOND_NOISE * self.noise
    }
}

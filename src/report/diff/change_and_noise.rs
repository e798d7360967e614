//! The weights on both sides of a comparison, their changes, and how much of a change may be chance.

/// Weight and samples on one side, of samples that end in something and of all that pass through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Weight of samples in which it is the leaf.
    pub self_weight: u64,
    /// Weight of samples that pass through it, once each.
    pub all_weight: u64,
    /// Samples in which it is the leaf.
    pub self_samples: u64,
    /// Samples that pass through it.
    pub all_samples: u64,
    /// Sum of the squared weights of samples in which it is the leaf.
    pub self_squares: u128,
    /// Sum of the squared weights of samples that pass through it.
    pub all_squares: u128,
}

impl Side {
    pub(super) fn add_self(&mut self, weight: u64, samples: u64, squares: u128) {
        self.self_weight = self.self_weight.saturating_add(weight);
        self.self_samples += samples;
        self.self_squares = self.self_squares.saturating_add(squares);
    }

    pub(super) fn add_all(&mut self, weight: u64, samples: u64, squares: u128) {
        self.all_weight = self.all_weight.saturating_add(weight);
        self.all_samples += samples;
        self.all_squares = self.all_squares.saturating_add(squares);
    }

    /// The same with the self weight of another.
    pub(super) fn with_self(self, other: Self) -> Self {
        let Self { self_weight, self_samples, self_squares, .. } = other;
        Self { self_weight, self_samples, self_squares, ..self }
    }

    /// Weight of samples in which it is the leaf, and the sum of their squares.
    pub(super) fn own(&self) -> (u64, u128) {
        (self.self_weight, self.self_squares)
    }

    /// The same of all samples that pass through it.
    pub(super) fn all(&self) -> (u64, u128) {
        (self.all_weight, self.all_squares)
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
    /// The sides on which it is.
    pub fn presence(&self) -> Presence {
        match (self.before.all_samples, self.after.all_samples) {
            (0, _) => Presence::New,
            (_, 0) => Presence::Vanished,
            _ => Presence::Both,
        }
    }
}

/// The change of something, and the part of it that may be chance; in the unit of the recordings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// After × factor − before.
    pub weight: f64,
    /// One standard deviation of the change.
    pub noise: f64,
}

impl Change {
    /// The number of standard deviations from which a change is marked: 95 of 100 changes by chance alone are smaller.
    pub const BEYOND_NOISE: f64 = 1.96;

    /// The change of a weight whose sum of squares is also known.
    pub(super) fn new(before: (u64, u128), after: (u64, u128), factor: f64) -> Self {
        let deviation = |squares: u128| (squares as f64).sqrt();
        Self {
            weight: after.0 as f64 * factor - before.0 as f64,
            noise: deviation(before.1).hypot(deviation(after.1) * factor),
        }
    }

    /// True if it is larger than chance would explain.
    pub fn is_beyond_noise(&self) -> bool {
        self.weight.abs() > Self::BEYOND_NOISE * self.noise
    }
}

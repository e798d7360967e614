//! A change of weight, and how much of it may be chance.

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

    /// The change of a weight, of which the sum of squares is known, too.
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

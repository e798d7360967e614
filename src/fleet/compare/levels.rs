//! Divides the error probability among the claims of a comparison.

/// One-sided significance levels. They add up to at most alpha, so any false claim about identical sides has a probability of at most alpha.
///
/// A smaller share for slowdowns would cost power: at 1.5 % instead of 2.5 %, +5 % is detected in 37 % instead of 44 % of comparisons of ten
/// runs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Levels {
    /// For the claim that the total is slower.
    pub slower: f64,
    /// For the claim that the total is faster.
    pub faster: f64,
    /// For the claim that any function is slower.
    pub functions: f64,
}

impl Levels {
    /// Splits alpha: half of it for "slower", a tenth for "faster", and the rest for functions. All quantities share the first two.
    pub fn new(alpha: f64, quantities: usize) -> Self {
        let each = alpha / quantities.max(1) as f64;
        Self { slower: 0.5 * each, faster: 0.1 * each, functions: 0.4 * alpha }
    }

    /// The levels for one of several tests that share those of the total.
    pub(super) fn shared(self, tests: f64) -> Self {
        Self { slower: self.slower / tests, faster: self.faster / tests, ..self }
    }
}

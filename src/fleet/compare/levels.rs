//! The probability of a wrong claim, split among all claims of a comparison.

/// One-sided levels. Their sum is at most alpha, so any claim on identical sides is wrong with at most this probability.
///
/// A smaller part for slowdowns would find less: with 1.5 % instead of 2.5 %, +5 % is found in 37 instead of 44 % of comparisons of ten runs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Levels {
    /// The total is slower.
    pub slower: f64,
    /// The total is faster.
    pub faster: f64,
    /// Any function is slower.
    pub functions: f64,
}

impl Levels {
    /// Splits alpha: half of it for "slower", a tenth for "faster", and the rest for functions. All quantities share the first two.
    pub fn new(alpha: f64, quantities: usize) -> Self {
        let each = alpha / quantities.max(1) as f64;
        Self { slower: 0.5 * each, faster: 0.1 * each, functions: 0.4 * alpha }
    }

    /// The levels of one of this many tests that share those of the total.
    pub(super) fn shared(self, tests: f64) -> Self {
        Self { slower: self.slower / tests, faster: self.faster / tests, ..self }
    }
}

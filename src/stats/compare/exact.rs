//! Exact tests for the number of values beyond a limit.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::stats::interval::Counts;

/// The number of values of a block beyond a limit, and the number of all values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exceedance {
    /// The number of base values beyond the limit.
    pub base: u64,
    /// The number of all base values.
    pub of_base: u64,
    /// The number of new values beyond the limit.
    pub new: u64,
    /// The number of all new values.
    pub of_new: u64,
}

impl Exceedance {
    /// The upper bound for the share of new values beyond the limit, relative to that of the base, with a probability of about 1 − alpha.
    /// Returned as a logarithm.
    ///
    /// Uses the Mantel–Haenszel ratio over blocks, with the variance of Greenland and Robins; with one block, this is the Katz interval. `None`
    /// if a side has no value beyond the limit.
    pub fn ratio_bound(blocks: &[Self], alpha: f64) -> Option<f64> {
        let (mut new, mut base, mut variance) = (0.0, 0.0, 0.0);
        for block in blocks.iter().filter(|block| block.of_base > 0 && block.of_new > 0) {
            let [a, c, n, m] = [block.new, block.base, block.of_new, block.of_base].map(|count| count as f64);
            let all = n + m;
            new += a * m / all;
            base += c * n / all;
            variance += ((a + c) * n * m - a * c * all) / (all * all);
        }
        let error = (variance / (new * base)).sqrt();
        (new > 0.0 && base > 0.0).then(|| (new / base).ln() + Normal::standard().inverse_cdf(1.0 - alpha) * error)
    }
}

/// The p-values for the numbers of values beyond a limit, if both sides are the same in each block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// The probability of at least this many new values beyond the limit.
    pub more: f64,
    /// The probability of at most this many.
    pub fewer: f64,
    /// The probability of all numbers that are at most as likely.
    pub two_sided: f64,
}

impl Exact {
    /// Tests whether the numbers of values beyond the limit differ by more than chance.
    ///
    /// Given the number of values beyond the limit in each block, the number of new ones among them is hypergeometric, and the distribution of
    /// the sum over blocks is their convolution. With one block, this is Fisher's exact test; with several, the exact Cochran–Mantel–Haenszel
    /// test.
    pub fn of(blocks: &[Exceedance]) -> Self {
        let (mut first, mut weights) = (0, vec![1.0]);
        for block in blocks {
            let counts = Counts::hypergeometric(block.of_new, block.of_base, block.base + block.new);
            first += counts.first();
            weights = convolved(&weights, counts.weights());
        }
        let seen: u64 = blocks.iter().map(|block| block.new).sum();
        let all: f64 = weights.iter().sum();
        let share = |weights: &[f64]| (weights.iter().sum::<f64>() / all).min(1.0);
        // Counts without a weight are too unlikely for a double.
        let (below, above) =
            (Self { more: 1.0, fewer: 0.0, two_sided: 0.0 }, Self { more: 0.0, fewer: 1.0, two_sided: 0.0 });
        let Some(place) = seen.checked_sub(first).map(|place| place as usize) else { return below };
        let Some(of_seen) = weights.get(place) else { return above };
        // Equal probabilities may differ in their last digits.
        let at_most = of_seen * (1.0 + 1e-7);
        let unlikely: Vec<f64> = weights.iter().copied().filter(|weight| *weight <= at_most).collect();
        Self { more: share(&weights[place..]), fewer: share(&weights[..=place]), two_sided: share(&unlikely) }
    }

    /// The larger p-values of two tests, for claims that need both.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            more: self.more.max(other.more),
            fewer: self.fewer.max(other.fewer),
            two_sided: self.two_sided.max(other.two_sided),
        }
    }
}

fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; a.len() + b.len() - 1];
    for (index, a) in a.iter().enumerate() {
        sums[index..].iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
    }
    sums
}

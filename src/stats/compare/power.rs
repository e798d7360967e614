//! Computes how many values are needed to detect a difference.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::beta_reg;
use statrs::function::gamma::ln_gamma;

use super::blocks::Block;
use super::effect::{Cells, StandardError};

/// The required probability of detecting a difference.
const POWER: f64 = 0.9;
/// The largest factor to consider.
const MOST: f64 = 1e9;

impl Block {
    /// The factor, at least 1, by which the number of values in every block and side must grow to claim a difference in nine out of ten cases at
    /// this one-sided level. Only an estimate, like the variances: with ten values per side, half of the estimates are off by a third or more.
    ///
    /// `None` if the values do not reveal how much they vary, or if no number suffices.
    pub fn needed_factor(blocks: &[Self], difference: f64, level: f64) -> Option<f64> {
        if difference <= 0.0 {
            return None;
        }
        let cells = Cells::of(blocks);
        let is_enough = |factor: f64| {
            let errors = cells.errors(factor)?;
            let power = errors.iter().map(|error| power(error, difference, level)).fold(1.0, f64::min);
            Some(power >= POWER)
        };
        if is_enough(1.0)? {
            return Some(1.0);
        }
        let (mut few, mut enough) = (1.0, 2.0);
        while !is_enough(enough)? {
            (few, enough) = (enough, enough * 2.0);
            if enough > MOST {
                return None;
            }
        }
        while enough - few > 1e-9 * enough {
            let middle = f64::midpoint(few, enough);
            *(if is_enough(middle)? { &mut enough } else { &mut few }) = middle;
        }
        Some(enough)
    }
}

/// The probability that a difference is claimed.
fn power(error: &StandardError, difference: f64, level: f64) -> f64 {
    let critical = StudentsT::new(0.0, 1.0, error.degrees).expect("degrees are positive").inverse_cdf(1.0 - level);
    1.0 - noncentral_t(critical, error.degrees, difference / error.error)
}

/// The probability that noncentral t is at most `t`, which must be positive (Lenth 1989, algorithm AS 243).
fn noncentral_t(t: f64, degrees: f64, noncentrality: f64) -> f64 {
    // The series underflows, so return 0, which is exact to many decimals.
    if noncentrality > 37.0 {
        return 0.0;
    }
    let (x, half) = (t * t / (t * t + degrees), noncentrality * noncentrality / 2.0);
    let term = |index: f64| {
        let even = (index * half.ln() - half - ln_gamma(index + 1.0)).exp();
        let odd = noncentrality / std::f64::consts::SQRT_2 * (index * half.ln() - half - ln_gamma(index + 1.5)).exp();
        even * beta_reg(index + 0.5, degrees / 2.0, x) + odd * beta_reg(index + 1.0, degrees / 2.0, x)
    };
    // Beyond ten standard deviations of a Poisson distribution, terms are negligible.
    let last = half + 10.0 * half.sqrt() + 20.0;
    let sum: f64 = (0..last as u32).map(f64::from).map(term).sum();
    (Normal::standard().cdf(-noncentrality) + 0.5 * sum).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noncentral_t_matches_scipy() {
        // t, degrees, noncentrality, and the result of scipy.stats.nct.cdf.
        let cases = [
            (2.101, 18.0, 3.2, 0.143_375_971_076_044_7),
            (1.96, 1e6, 3.2415, 0.100_009_179_975_345_68),
            (2.776, 4.0, 0.5, 0.941_211_619_784_971_1),
            (12.706, 1.0, 0.3, 0.964_498_153_942_233_7),
            (2.0, 7.5, 8.0, 5.816_760_115_969_572_4e-8),
            (4.303, 2.0, 30.0, 8.430_091_252_470_396e-20),
        ];
        for (t, degrees, noncentrality, scipys) in cases {
            let ours = noncentral_t(t, degrees, noncentrality);
            assert!((ours - scipys).abs() < 1e-11, "{t} {degrees} {noncentrality}: {ours}, but {scipys} by scipy");
        }
    }

    #[test]
    fn finds_no_number_of_values_that_shows_no_difference() {
        let block = Block { base: vec![1.0, 1.1, 1.2], new: vec![1.0, 1.3], floors: [0.0; 2] };
        assert_eq!(Block::needed_factor(std::slice::from_ref(&block), 0.0, 0.025), None);
        assert!(Block::needed_factor(&[block], 0.1, 0.025).is_some_and(|factor| factor > 1.0));
    }
}

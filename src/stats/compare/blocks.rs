//! Values in blocks, and a rank test within blocks.

use statrs::distribution::{ContinuousCDF, Normal};

/// The values of a block, such as a device, on both sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The values of the base.
    pub base: Vec<f64>,
    /// The values of the new version.
    pub new: Vec<f64>,
    /// The smallest possible variance of a value, for the base and the new version: the variance that rounding and sampling add even if all
    /// values are equal.
    pub floors: [f64; 2],
}

impl Block {
    /// Other blocks contain no information about a difference.
    pub fn has_both(&self) -> bool {
        !self.base.is_empty() && !self.new.is_empty()
    }

    /// The van Elteren rank test, with ranks within blocks weighted by 1 / (n + 1). Returns z, which is positive if new values are higher, and p.
    pub fn rank_test(blocks: &[Self]) -> Option<(f64, f64)> {
        let (mut statistic, mut variance) = (0.0, 0.0);
        for block in blocks.iter().filter(|block| block.has_both()) {
            let [base, new] = [block.base.len() as f64, block.new.len() as f64];
            let all = base + new;
            let mut values: Vec<(f64, bool)> = block.base.iter().map(|&value| (value, false)).collect();
            values.extend(block.new.iter().map(|&value| (value, true)));
            values.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (mut ranks, mut ties, mut before) = (0.0, 0.0, 0.0);
            for equal in values.chunk_by(|a, b| a.0 == b.0) {
                let count = equal.len() as f64;
                ranks += equal.iter().filter(|(_, is_new)| *is_new).count() as f64 * (before + (count + 1.0) / 2.0);
                ties += count * count * count - count;
                before += count;
            }
            statistic += (ranks - new * (all + 1.0) / 2.0) / (all + 1.0);
            if all > 1.0 {
                variance +=
                    base * new / 12.0 * ((all + 1.0) - ties / (all * (all - 1.0))) / ((all + 1.0) * (all + 1.0));
            }
        }
        if variance <= 0.0 {
            return None;
        }
        let z = statistic / variance.sqrt();
        Some((z, (2.0 * Normal::standard().sf(z.abs())).min(1.0)))
    }
}

//! Series of values whose true changes are known, to count how often change points are wrong.

use traceparse::stats::{CellMean, PERSISTENCE, change_points};

use crate::random::Rng;

/// How the values of a series vary. The standard deviation is 1, without outliers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Normal, as the logarithm of log-normal CPU use is.
    Normal,
    /// Student's t with 3 degrees of freedom.
    HeavyTails,
    /// Log-normal even after the logarithm.
    Skewed,
    /// Normal, with one value that is 8 standard deviations off.
    Outlier,
    /// Normal, plus a fifth of the value before. Tests that assume independent values are wrong here.
    Correlated,
    /// Two blocks that differ by 10 standard deviations, of which each point has one or both.
    MixOfBlocks,
}

impl Noise {
    pub const ALL: [Self; 6] =
        [Self::Normal, Self::HeavyTails, Self::Skewed, Self::Outlier, Self::Correlated, Self::MixOfBlocks];

    fn values(self, numbers: &mut Rng, count: usize) -> Vec<f64> {
        let skewed = ((0.25_f64.exp() - 1.0) * 0.25_f64.exp()).sqrt();
        let value = |numbers: &mut Rng| match self {
            Self::HeavyTails => {
                let squares: f64 = (0..3).map(|_| normal(numbers).powi(2)).sum();
                normal(numbers) / squares.sqrt()
            }
            Self::Skewed => (0.5 * normal(numbers)).exp() / skewed,
            _ => normal(numbers),
        };
        let mut values: Vec<f64> = (0..count).map(|_| value(numbers)).collect();
        match self {
            Self::Outlier => {
                let at = numbers.below(count as u64) as usize;
                values[at] += if numbers.below(2) == 0 { 8.0 } else { -8.0 };
            }
            Self::Correlated => (1..count).for_each(|at| values[at] += 0.2 * values[at - 1]),
            _ => {}
        }
        values
    }

    /// A series of `count` points, the last `after` of which are `step` higher.
    pub fn series(self, numbers: &mut Rng, count: usize, after: usize, step: f64) -> Vec<CellMean> {
        let is_mixed = self == Self::MixOfBlocks;
        let mut cells = Vec::new();
        for block in 0..=usize::from(is_mixed) {
            for (point, value) in self.values(numbers, count).into_iter().enumerate() {
                let level = if point >= count - after { step } else { 0.0 };
                // The second block is rare at first, and then the first one is.
                let is_late = 2 * point >= count;
                if !is_mixed || numbers.below(4) == 0 || (block == 1) == is_late {
                    cells.push(CellMean { point, block, mean: value + level + 10.0 * block as f64 });
                }
            }
        }
        cells
    }
}

fn normal(numbers: &mut Rng) -> f64 {
    let mut share = || (numbers.below(1 << 53) as f64 + 0.5) / (1_u64 << 53) as f64;
    (-2.0 * share().ln()).sqrt() * (std::f64::consts::TAU * share()).cos()
}

fn positions(cells: &[CellMean]) -> Vec<usize> {
    change_points(cells, 0.01, |_| true).changes.iter().map(|change| change.position).collect()
}

/// The share of series without a change that have a change point.
pub fn false_alarms(noise: Noise, points: usize, series: u64) -> f64 {
    let mut numbers = Rng::new(points as u64 * 7_919);
    let alarms = (0..series).filter(|_| !positions(&noise.series(&mut numbers, points, 0, 0.0)).is_empty()).count();
    alarms as f64 / series as f64
}

/// The shares of steps of two standard deviations that are found at most eight points later: anywhere, and at most two points off. The
/// history has `before` points before the step, and is tested after each point after it.
pub fn found_steps(noise: Noise, before: usize, series: u64) -> [f64; 2] {
    const AFTER: usize = 8;
    let mut numbers = Rng::new(before as u64 * 104_729);
    let mut found = [0_u64; 2];
    for _ in 0..series {
        let cells = noise.series(&mut numbers, before + AFTER, AFTER, 2.0);
        let look = |after| {
            let seen: Vec<CellMean> = cells.iter().filter(|cell| cell.point < before + after).copied().collect();
            positions(&seen)
        };
        let seen: Vec<usize> = (PERSISTENCE..=AFTER).flat_map(look).collect();
        found[0] += u64::from(!seen.is_empty());
        found[1] += u64::from(seen.iter().any(|at| at.abs_diff(before) <= 2));
    }
    found.map(|count| count as f64 / series as f64)
}

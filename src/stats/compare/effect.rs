//! The mean difference within blocks, with its interval.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::blocks::Block;

/// How far the new values are above those of the base: a mean difference, with what is known about its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The mean over blocks of the difference of means. The ratio of use is its exponential.
    pub difference: f64,
    /// The standard error of the difference.
    pub error: f64,
    /// The degrees of freedom of the error (Welch and Satterthwaite).
    pub degrees: f64,
    /// The variance of one value within its block and side.
    pub variance: f64,
    /// The blocks with values on both sides.
    pub blocks: usize,
}

/// What the runs of one side say about the variance.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    count: f64,
    mean: f64,
    /// The sum of the squares of the distances from the mean.
    squares: f64,
}

impl Cell {
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        Self { count, mean, squares: values.iter().map(|value| (value - mean) * (value - mean)).sum() }
    }

    fn degrees(&self) -> f64 {
        self.count - 1.0
    }
}

impl Effect {
    /// The effect within blocks; `None` if no block has values on both sides, or if the values cannot show how much they vary.
    ///
    /// The variance of a mean is that of its own block and side. If one of them has a single value, all blocks of its side share one
    /// variance; if a side has no block with two values, both sides do; if neither has, blocks are pairs.
    pub fn of(blocks: &[Block]) -> Option<Self> {
        let cells = blocks.iter().filter(|block| block.has_both());
        let cells: Vec<[Cell; 2]> = cells.map(|block| [Cell::of(&block.base), Cell::of(&block.new)]).collect();
        let count = cells.len() as f64;
        if cells.is_empty() {
            return None;
        }
        let difference = cells.iter().map(|[base, new]| new.mean - base.mean).sum::<f64>() / count;
        let both = [0, 1].map(|side| pooled(cells.iter().map(|cells| cells[side])));
        let all = pooled(cells.iter().flatten().copied());
        let effect = |error: f64, degrees, variance| {
            Some(Self { difference, error: error.sqrt() / count, degrees, variance, blocks: cells.len() })
        };
        let Some(all) = all else {
            let rest = Cell::of(&cells.iter().map(|[base, new]| new.mean - base.mean).collect::<Vec<_>>());
            let variance = rest.squares / rest.degrees();
            return (rest.degrees() > 0.0).then(|| effect(variance * count, rest.degrees(), variance / 2.0)).flatten();
        };
        // Independent parts of the variance, each with its degrees of freedom.
        let mut parts: Vec<(f64, f64)> = Vec::new();
        let over = |side: usize| cells.iter().map(move |cells| 1.0 / cells[side].count).sum::<f64>();
        match both {
            [Some(_), Some(_)] => {
                for side in [0, 1] {
                    let own = cells.iter().map(|cells| cells[side]);
                    match both[side] {
                        Some((variance, degrees)) if own.clone().any(|cell| cell.count < 2.0) => {
                            parts.push((variance * over(side), degrees));
                        }
                        _ => parts.extend(own.map(|cell| (cell.squares / cell.degrees() / cell.count, cell.degrees()))),
                    }
                }
            }
            _ => parts.push((all.0 * (over(0) + over(1)), all.1)),
        }
        let sum: f64 = parts.iter().map(|(variance, _)| variance).sum();
        let squares: f64 = parts.iter().map(|(variance, degrees)| variance * variance / degrees).sum();
        effect(sum, if squares > 0.0 { sum * sum / squares } else { all.1 }, all.0)
    }

    /// The probability of a difference at least this far from `of` if it were the true one.
    pub fn p(&self, of: f64) -> f64 {
        2.0 * self.tail((self.difference - of).abs())
    }

    /// The interval that has the true difference with a probability of 1 − alpha.
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let half = self.half_width(alpha / 2.0);
        (self.difference - half, self.difference + half)
    }

    /// The true difference is below this with a probability of 1 − alpha.
    pub fn upper_bound(&self, alpha: f64) -> f64 {
        self.difference + self.half_width(alpha)
    }

    fn half_width(&self, tail: f64) -> f64 {
        self.error * students(self.degrees).inverse_cdf(1.0 - tail)
    }

    fn tail(&self, distance: f64) -> f64 {
        if distance == 0.0 {
            return 0.5;
        }
        students(self.degrees).sf(distance / self.error)
    }
}

fn students(degrees: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, degrees).expect("degrees of freedom are positive")
}

/// The variance of one value, and its degrees of freedom; `None` without two values in any cell.
fn pooled(cells: impl Iterator<Item = Cell>) -> Option<(f64, f64)> {
    let (squares, degrees) =
        cells.fold((0.0, 0.0), |(squares, degrees), cell| (squares + cell.squares, degrees + cell.degrees()));
    (degrees > 0.0).then(|| (squares / degrees, degrees))
}

/// The runs that each side needs so that a difference is found nine times in ten: 2 (z₀.₉₇₅ + z₀.₉)² variance / difference².
pub fn needed_runs(variance: f64, difference: f64) -> u64 {
    let z = |p| Normal::standard().inverse_cdf(p);
    (2.0 * (z(0.975) + z(0.9)).powi(2) * variance / (difference * difference)).ceil() as u64
}

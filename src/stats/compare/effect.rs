//! The mean difference within blocks, tested by Welch's and by Student's test.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::blocks::Block;

/// How much higher the new values are: a mean difference, with its error from two tests.
///
/// Blocks are weighted by n₁n₂/(n₁+n₂), and never by estimated variances, which would make identical sides differ in 6 to 26 % of comparisons. A
/// claim needs both tests: a p-value is the larger of two, and an interval the wider. Welch's test alone is wrong if one side has few values, and
/// Student's test alone is wrong if the side with fewer values varies more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The difference of means, averaged over blocks by their weight. Its exponential is a ratio.
    pub difference: f64,
    /// The error with a separate variance for each block and side (Welch and Satterthwaite).
    pub welch: StandardError,
    /// The error with a common variance (Student).
    pub pooled: StandardError,
    /// The variance of a single value within its block and side.
    pub variance: f64,
    /// The number of blocks with values on both sides.
    pub blocks: usize,
}

/// A standard error and its precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandardError {
    /// The standard error of the difference.
    pub error: f64,
    /// The degrees of freedom.
    pub degrees: f64,
}

impl StandardError {
    /// `variance` is that of the difference.
    fn new(variance: f64, degrees: f64) -> Self {
        Self { error: variance.sqrt(), degrees }
    }

    fn students(&self) -> StudentsT {
        StudentsT::new(0.0, 1.0, self.degrees).expect("degrees of freedom are positive")
    }

    /// Half the width of an interval that misses with this probability on each side.
    fn half_width(&self, tail: f64) -> f64 {
        self.error * self.students().inverse_cdf(1.0 - tail)
    }
}

/// The values of one side of a block.
#[derive(Clone, Copy, Debug)]
struct Cell {
    count: f64,
    mean: f64,
    /// The variance of a value, at least `floor`; `None` for a single value.
    variance: Option<f64>,
    /// The smallest possible variance of a value.
    floor: f64,
}

impl Cell {
    fn of(values: &[f64], floor: f64) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        let variance = (values.len() > 1).then(|| (squares / (count - 1.0)).max(floor));
        Self { count, mean, variance, floor }
    }
}

/// The cells of blocks with values on both sides.
pub(super) struct Cells(Vec<[Cell; 2]>);

impl Cells {
    pub(super) fn of(blocks: &[Block]) -> Self {
        let both = blocks.iter().filter(|block| block.has_both());
        let cells = |block: &Block| [Cell::of(&block.base, block.floors[0]), Cell::of(&block.new, block.floors[1])];
        Self(both.map(cells).collect())
    }

    /// The weight of each block. The weights add up to 1.
    fn weights(&self) -> Vec<f64> {
        let weight = |[base, new]: &[Cell; 2]| base.count * new.count / (base.count + new.count);
        let sum: f64 = self.0.iter().map(weight).sum();
        self.0.iter().map(|cells| weight(cells) / sum).collect()
    }

    fn difference(&self) -> f64 {
        self.0.iter().zip(self.weights()).map(|([base, new], weight)| weight * (new.mean - base.mean)).sum()
    }

    /// The errors by Welch and by Student if each cell had `factor` times as many values; `None` if the values do not reveal how much they vary.
    pub(super) fn errors(&self, factor: f64) -> Option<[StandardError; 2]> {
        let degrees = |cell: &Cell| cell.count * factor - 1.0;
        let known = || self.0.iter().flatten().filter_map(|cell| Some((cell, cell.variance?)));
        let all_degrees: f64 = known().map(|(cell, _)| degrees(cell)).sum();
        if all_degrees <= 0.0 {
            return self.error_of_pairs(factor).map(|error| [error, error]);
        }
        // The variance of a single value does not depend on the number of values.
        let pooled = self.variance();
        // Independent parts of Welch's variance, and the sum of squares for its degrees of freedom.
        let (mut sum, mut squares, mut of_single, mut of_pooled) = (0.0, 0.0, 0.0, 0.0);
        for (cells, weight) in self.0.iter().zip(self.weights()) {
            for cell in cells {
                let share = weight * weight / (cell.count * factor);
                of_pooled += share * pooled;
                match cell.variance {
                    Some(variance) => {
                        sum += share * variance;
                        squares += (share * variance).powi(2) / degrees(cell);
                    }
                    None => of_single += share * pooled,
                }
            }
        }
        sum += of_single;
        squares += of_single * of_single / all_degrees;
        let welch = StandardError::new(sum, if squares > 0.0 { sum * sum / squares } else { all_degrees });
        Some([welch, StandardError::new(of_pooled, all_degrees)])
    }

    /// The error if every cell has a single value: blocks are pairs of equal weight.
    fn error_of_pairs(&self, factor: f64) -> Option<StandardError> {
        let count = self.0.len() as f64;
        let differences: Vec<f64> = self.0.iter().map(|[base, new]| new.mean - base.mean).collect();
        let floor = self.0.iter().flatten().map(|cell| cell.floor).sum::<f64>() / count;
        let variance = Cell::of(&differences, floor).variance?;
        Some(StandardError::new(variance / (count * factor), count * factor - 1.0))
    }

    fn variance(&self) -> f64 {
        let known = || self.0.iter().flatten().filter_map(|cell| Some((cell.count - 1.0, cell.variance?)));
        let degrees: f64 = known().map(|(degrees, _)| degrees).sum();
        match degrees > 0.0 {
            true => known().map(|(degrees, variance)| degrees * variance).sum::<f64>() / degrees,
            false => self.error_of_pairs(1.0).map_or(0.0, |error| error.error.powi(2) * self.0.len() as f64 / 2.0),
        }
    }
}

impl Effect {
    /// The effect within blocks. `None` if no block has values on both sides, or the values do not reveal how much they vary.
    ///
    /// A block with a single value on a side uses the variance of all blocks. If every block has one value on each side, blocks are treated as
    /// pairs. If values do not vary and have no [floor](Block::floors), the errors are 0.
    pub fn of(blocks: &[Block]) -> Option<Self> {
        let cells = Cells::of(blocks);
        let [welch, pooled] = cells.errors(1.0)?;
        let (difference, variance) = (cells.difference(), cells.variance());
        Some(Self { difference, welch, pooled, variance, blocks: cells.0.len() })
    }

    /// True if the values vary, so standard errors are positive.
    pub fn has_error(&self) -> bool {
        self.errors().iter().all(|error| error.error > 0.0)
    }

    fn errors(&self) -> [StandardError; 2] {
        [self.welch, self.pooled]
    }

    /// The one-sided p-value for a difference above 0.
    pub fn p_above(&self) -> f64 {
        self.p_beyond(self.difference)
    }

    /// The one-sided p-value for a difference below 0.
    pub fn p_below(&self) -> f64 {
        self.p_beyond(-self.difference)
    }

    fn p_beyond(&self, distance: f64) -> f64 {
        if distance == 0.0 {
            return 0.5;
        }
        let of = |error: StandardError| error.students().sf(distance / error.error);
        self.errors().into_iter().map(of).fold(0.0, f64::max)
    }

    /// The two-sided p-value if the true difference were `of`.
    pub fn p(&self, of: f64) -> f64 {
        2.0 * self.p_beyond((self.difference - of).abs())
    }

    /// The interval that contains the true difference with a probability of 1 − alpha.
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let half = self.half_width(alpha / 2.0);
        (self.difference - half, self.difference + half)
    }

    /// The upper bound for the true difference, with a probability of 1 − alpha.
    pub fn upper_bound(&self, alpha: f64) -> f64 {
        self.difference + self.half_width(alpha)
    }

    fn half_width(&self, tail: f64) -> f64 {
        self.errors().into_iter().map(|error| error.half_width(tail)).fold(0.0, f64::max)
    }
}

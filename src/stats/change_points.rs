//! Changes of level in a series of values, such as the mean CPU use of each version of an app.
//!
//! The procedure follows Apache Otava. A weak test splits the series in two where Student's t is largest, and then both parts in the same
//! way. The weakest splits are removed until all others pass the strict test. There are no random numbers, so a series always has the same
//! change points. Two rules are added. The probability of a split allows for the search for the best split, so the rate of false alarms is
//! known. And a level has to last for [`PERSISTENCE`] values: a shorter deviation is an outlier.
//! `docs/statistics.md` has the formulas, their sources, and the rates of false alarms and of found changes.
//!
//! ```
//! use traceparse::stats::{CellMean, change_points};
//!
//! // Eight versions near 10, and six near 11.
//! let use_of = [10.1, 9.9, 10.0, 10.2, 9.8, 10.1, 9.9, 10.0, 11.1, 10.9, 11.0, 11.2, 10.8, 11.1];
//! let cells: Vec<CellMean> =
//!     use_of.iter().enumerate().map(|(point, value): (_, &f64)| CellMean { point, block: 0, mean: value.ln() }).collect();
//! let found = change_points(&cells, 0.01, |difference| difference.abs() > 0.03);
//! let change = &found.changes[0];
//! assert_eq!((found.changes.len(), change.position), (1, 8));
//! assert_eq!(format!("{:.3}", change.effect.difference.exp()), "1.102");
//! ```

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::compare::{Block, Effect};

/// The least number of values of a level. A change is therefore confirmed by at least this number of values after it.
pub const PERSISTENCE: usize = 5;

/// Values that are farther from the median around them than this number of standard deviations are moved to this distance.
const OUTLYING: f64 = 4.0;
/// The least number of values that show how far is far.
const SHOW_OUTLIERS: usize = 3 * PERSISTENCE + 1;
/// The standard deviation of a normal distribution, in median absolute deviations.
const DEVIATION: f64 = 1.482_602_218_505_602;
/// Moving outliers, and testing parts of a series, makes false alarms more frequent than the bound of one test by less than 1 / this.
const MARGIN: f64 = 0.82;
/// The steps after which levels and blocks are no longer fitted to each other.
const FITS: usize = 5;

/// The mean of the values that a block, such as a device, has at a point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellMean {
    /// The index of the point. Every point up to the last has a cell.
    pub point: usize,
    /// The index of the block.
    pub block: usize,
    /// The mean.
    pub mean: f64,
}

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The index of the first value of the new level.
    pub position: usize,
    /// The index of the first value of the level before it.
    pub start: usize,
    /// The index after the last value of the new level.
    pub end: usize,
    /// The difference of the levels.
    pub effect: Effect,
    /// An upper bound of the probability that values without a change have such a split anywhere between `start` and `end`.
    pub p: f64,
}

/// The values of a series and where their level changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangePoints {
    /// The value of each point: the mean over its blocks, each less what it differs from the mean block.
    pub values: Vec<f64>,
    /// The changes in their order.
    pub changes: Vec<ChangePoint>,
}

/// Finds the changes of level in a series.
///
/// If all values come from one normal distribution, the probability of any change point is at most `alpha`. Changes are left out if
/// `is_material` is false for the difference of their levels.
///
/// The difference of each block from the mean block is fitted together with the levels: at first with one level, then with the levels found
/// so far. A different mix of blocks is therefore not a change.
pub fn change_points(cells: &[CellMean], alpha: f64, is_material: impl Fn(f64) -> bool) -> ChangePoints {
    let mut found = ChangePoints::default();
    for _ in 0..FITS {
        let before: Vec<usize> = found.changes.iter().map(|change| change.position).collect();
        let values = without_blocks(cells, &before);
        let changes = of_values(&values, alpha, &is_material);
        let is_stable = changes.iter().map(|change| change.position).eq(before);
        found = ChangePoints { values, changes };
        if is_stable {
            break;
        }
    }
    found
}

/// The value of each point without the differences of blocks. Levels begin at these positions.
fn without_blocks(cells: &[CellMean], changes: &[usize]) -> Vec<f64> {
    let count = |of: fn(&CellMean) -> usize| cells.iter().map(of).max().map_or(0, |last| last + 1);
    let (points, blocks) = (count(|cell| cell.point), count(|cell| cell.block));
    let level_of = |cell: &CellMean| changes.partition_point(|&change| change <= cell.point);
    let mut levels = vec![0.0; changes.len() + 1];
    let mut offsets = vec![0.0; blocks];
    // Repeating both steps converges to the least squares. One level needs a single round.
    for _ in 0..1000 {
        let last = offsets.clone();
        offsets = means(cells, blocks, |cell| (cell.block, cell.mean - levels[level_of(cell)]));
        levels = means(cells, levels.len(), |cell| (level_of(cell), cell.mean - offsets[cell.block]));
        if last.iter().zip(&offsets).all(|(last, offset)| (last - offset).abs() < 1e-13) {
            break;
        }
    }
    let middle = offsets.iter().sum::<f64>() / blocks.max(1) as f64;
    means(cells, points, |cell| (cell.point, cell.mean - offsets[cell.block] + middle))
}

/// The means of the values of each group.
fn means(cells: &[CellMean], groups: usize, of: impl Fn(&CellMean) -> (usize, f64)) -> Vec<f64> {
    let mut sums = vec![(0.0, 0_u32); groups];
    for (group, value) in cells.iter().map(of) {
        sums[group].0 += value;
        sums[group].1 += 1;
    }
    sums.into_iter().map(|(sum, count)| sum / f64::from(count.max(1))).collect()
}

/// The change points of values that are comparable.
fn of_values(values: &[f64], alpha: f64, is_material: &impl Fn(f64) -> bool) -> Vec<ChangePoint> {
    let values = without_outliers(values);
    let mut splits = Vec::new();
    split(&values, 0, alpha.cbrt(), &mut splits);
    loop {
        let found: Vec<ChangePoint> = (0..splits.len()).map(|index| change_point(&values, &splits, index)).collect();
        let indexed = || found.iter().enumerate();
        let weakest = indexed().max_by(|(_, a), (_, b)| a.p.total_cmp(&b.p)).filter(|(_, change)| change.p > alpha);
        let size = |change: &ChangePoint| change.effect.difference.abs();
        let smallest = || {
            let small = indexed().filter(|(_, change)| !is_material(change.effect.difference));
            small.min_by(|(_, a), (_, b)| size(a).total_cmp(&size(b)))
        };
        match weakest.or_else(smallest) {
            Some((index, _)) => splits.remove(index),
            None => return found,
        };
    }
}

/// Adds the best splits of these values, of which the first has the index `start`, in their order.
fn split(values: &[f64], start: usize, limit: f64, splits: &mut Vec<usize>) {
    let candidates = PERSISTENCE..(values.len() + 1).saturating_sub(PERSISTENCE);
    let of = |at: usize| (at, students_t(&values[..at], &values[at..]));
    let Some((at, t)) = candidates.map(of).max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
    if p_of(t, values.len()) <= limit {
        split(&values[..at], start, limit, splits);
        splits.push(start + at);
        split(&values[at..], start + at, limit, splits);
    }
}

/// A split between its neighbours.
fn change_point(values: &[f64], splits: &[usize], index: usize) -> ChangePoint {
    let start = index.checked_sub(1).map_or(0, |before| splits[before]);
    let (position, end) = (splits[index], splits.get(index + 1).copied().unwrap_or(values.len()));
    let [base, new] = [start..position, position..end].map(|range| values[range].to_vec());
    let p = p_of(students_t(&base, &new), end - start);
    let effect = Effect::of(&[Block { base, new, floors: [0.0; 2] }]).expect("both sides have several values");
    ChangePoint { position, start, end, effect, p }
}

/// Student's t of two groups with one variance, without its sign: infinite if the values of each group are equal, and 0 if all are.
pub fn students_t(base: &[f64], new: &[f64]) -> f64 {
    let moments = |values: &[f64]| {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        (count, mean, values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>())
    };
    let [(n, mean, squares), (m, new_mean, new_squares)] = [base, new].map(moments);
    let difference = (new_mean - mean).abs();
    // Sums of equal values differ in their last digits.
    if difference <= 1e-12 * mean.abs().max(new_mean.abs()) {
        return 0.0;
    }
    difference / ((squares + new_squares) / (n + m - 2.0) * (1.0 / n + 1.0 / m)).sqrt()
}

fn p_of(t: f64, values: usize) -> f64 {
    (p_of_largest_t(t, values) / MARGIN).min(1.0)
}

/// The positive nodes of the Gauss–Legendre quadrature of twenty nodes, with their weights.
const NODES: [(f64, f64); 10] = [
    (0.076_526_521_133_497_34, 0.152_753_387_130_726_28),
    (0.227_785_851_141_645_07, 0.149_172_986_472_604_24),
    (0.373_706_088_715_419_55, 0.142_096_109_318_382_4),
    (0.510_867_001_950_827_1, 0.131_688_638_449_176_9),
    (0.636_053_680_726_515, 0.118_194_531_961_518_6),
    (0.746_331_906_460_150_8, 0.101_930_119_817_240_7),
    (0.839_116_971_822_218_8, 0.083_276_741_576_704_71),
    (0.912_234_428_251_326, 0.062_672_048_334_108_79),
    (0.963_971_927_277_913_8, 0.040_601_429_800_386_446),
    (0.993_128_599_185_095, 0.017_614_007_139_150_893),
];

/// An upper bound of the probability that the largest [t](students_t) is above `t`, over all splits of this number of values from one normal
/// distribution. Both parts of a split have at least [`PERSISTENCE`] values.
///
/// The bound adds up the probability that the first split exceeds `t`, and for each other split the probability that it exceeds `t` although
/// the split before it does not. If several separate splits exceed `t`, they are counted several times, which is rare for a small bound.
pub fn p_of_largest_t(t: f64, values: usize) -> f64 {
    if values < 2 * PERSISTENCE || t <= 0.0 {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    let n = values as f64;
    let first = StudentsT::new(0.0, 1.0, n - 2.0).expect("degrees of freedom are positive").sf(t);
    // Without their mean, the values are a random direction in n − 1 dimensions, and t is a function of the angle between this direction and
    // the contrast of the split. The integral covers the directions that are nearer to this contrast than to the one before.
    let correlation = t * t / (t * t + n - 2.0);
    let density = |angle: f64| (1.0 - correlation / angle.cos().powi(2)).max(0.0).powf((n - 3.0) / 2.0);
    // The density is zero from here on. Integrating over the arc sine makes it smooth up to there.
    let widest = correlation.sqrt().acos();
    let next = |at: usize| {
        let at = at as f64;
        let half = (at * (n - at - 1.0) / ((at + 1.0) * (n - at))).sqrt().acos() / 2.0;
        let most = (half / widest).min(1.0).asin();
        // The density is symmetric, so one half of the nodes is enough.
        let term = |(node, weight): &(f64, f64)| {
            let (sine, cosine) = (most * node).sin_cos();
            weight * widest * cosine * density(widest * sine)
        };
        most / std::f64::consts::PI * NODES.iter().map(term).sum::<f64>()
    };
    (2.0 * (first + (PERSISTENCE..values - PERSISTENCE).map(next).sum::<f64>())).min(1.0)
}

/// The values, with outliers moved towards the median around them. A level that lasts is unchanged: its values are the majority there.
fn without_outliers(values: &[f64]) -> Vec<f64> {
    if values.len() < SHOW_OUTLIERS {
        return values.to_vec();
    }
    let around = |at: usize| {
        let window = at.saturating_sub(PERSISTENCE - 1)..(at + PERSISTENCE).min(values.len());
        median(values[window].to_vec())
    };
    let medians: Vec<f64> = (0..values.len()).map(around).collect();
    let distances = values.iter().zip(&medians).map(|(value, median)| (value - median).abs());
    let most = OUTLYING * DEVIATION * median(distances.collect());
    values.iter().zip(&medians).map(|(value, median)| value.clamp(median - most, median + most)).collect()
}

/// The median of at least one value.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let upper = values.len() / 2;
    if values.len() % 2 == 1 { values[upper] } else { f64::midpoint(values[upper - 1], values[upper]) }
}

//! Finds changes of level in a series of values, such as the mean CPU use of each version of an app.
//!
//! Persistence decides whether there is a change, as in Apache Otava. A weak test splits the series in two where Student's t is largest, and then
//! splits both parts in the same way. The weakest splits are removed until all others pass the strict test. A level must last for
//! [`ChangePoints::PERSISTENCE`] values; a shorter deviation is an outlier. The p-value of a split accounts for the search for the best split and
//! for autocorrelation. Least squares then determine the position of each change, and which other positions are plausible. A straight line
//! replaces the changes if it fits the values better. Nothing is random, so a series always gives the same result. `docs/statistics.md` has the
//! formulas, their sources, and the rates of false alarms and detected changes.
//!
//! ```
//! use traceparse::stats::{CellMean, ChangePoints, Looks};
//!
//! // Eight versions near 10, and six near 11.
//! let use_of = [10.1, 9.9, 10.0, 10.2, 9.8, 10.1, 9.9, 10.0, 11.1, 10.9, 11.0, 11.2, 10.8, 11.1];
//! let cells: Vec<CellMean> =
//!     use_of.iter().enumerate().map(|(point, value): (_, &f64)| CellMean { point, block: 0, mean: value.ln() }).collect();
//! let alpha = Looks::EveryPoint.alpha(0.05, cells.len());
//! let found = ChangePoints::find(&cells, alpha, Looks::EveryPoint, |difference| difference.abs() > 0.03);
//! let change = &found.changes[0];
//! assert_eq!((found.changes.len(), &change.plausible[..]), (1, &[8][..]));
//! assert_eq!(format!("{:.3}", change.shift.difference.exp()), "1.102");
//! ```

use std::ops::Range;

use statrs::distribution::{ContinuousCDF, StudentsT};

const PERSISTENCE: usize = ChangePoints::PERSISTENCE;

/// Values more than this many standard deviations from the local median are outliers, and are clamped to this distance.
const OUTLYING: f64 = 4.0;
/// The minimum number of values for recognising outliers.
const SHOW_OUTLIERS: usize = 3 * PERSISTENCE + 1;
/// The ratio between the standard deviation and the median absolute deviation of a normal distribution.
const DEVIATION: f64 = 1.482_602_218_505_602;
/// Clamping outliers and testing parts of a series raise the false-alarm rate above the bound for a single test, but by less than a factor of 1 /
/// `MARGIN`.
const MARGIN: f64 = 0.82;
/// The maximum number of iterations for fitting changes to their neighbours, and levels to blocks.
const FITS: usize = 5;
/// The likelihood ratio up to which positions are plausible: −2 ln(1 − √0.95), its 95 % quantile at the true position (Hansen 2000).
const PLAUSIBLE: f64 = 7.35;

/// When a series is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// After each new point, for example every night.
    EveryPoint,
    /// Once, with all points.
    Once,
}

impl Looks {
    /// The alpha of [`ChangePoints::find`] for a series with this many points.
    ///
    /// If the series is tested after every point, all tests share `alpha`. Each may use at most a fifth of it, and less below 60 points, where
    /// the autocorrelation estimate is unreliable.
    pub fn alpha(self, alpha: f64, points: usize) -> f64 {
        let n = points as f64;
        match self {
            Self::EveryPoint => alpha * (2 * PERSISTENCE) as f64 / (n * (n + 1.0)),
            Self::Once => alpha / 5.0 * (n / 60.0).powi(2).min(1.0),
        }
    }
}

/// The mean of a block's values at one point of a series. A block may be a device, for example.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellMean {
    /// The index of the point. Every point up to the last must have a cell.
    pub point: usize,
    /// The index of the block.
    pub block: usize,
    /// The mean.
    pub mean: f64,
}

/// The difference of two levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The later level minus the earlier one.
    pub difference: f64,
    /// The standard error of the difference.
    pub error: f64,
    /// The degrees of freedom of the error.
    pub degrees: f64,
}

impl Shift {
    /// The interval that contains the true difference with a probability of 1 − alpha.
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let half = self.error * students(self.degrees).inverse_cdf(1.0 - alpha / 2.0);
        (self.difference - half, self.difference + half)
    }

    /// The two-sided p-value of the difference.
    fn p(&self) -> f64 {
        2.0 * students(self.degrees).sf(self.difference.abs() / self.error)
    }
}

/// A change of level.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangePoint {
    /// The index of the most likely first value of the new level.
    pub position: usize,
    /// The indices of all plausible first values in order, including `position`.
    pub plausible: Vec<usize>,
    /// The index of the first value of the previous level.
    pub start: usize,
    /// The index after the last value of the new level.
    pub end: usize,
    /// The difference of the levels.
    pub shift: Shift,
    /// An upper bound for the probability that values without a change have such a split anywhere between `start` and `end`.
    pub p: f64,
}

/// The values of a series, and where their level changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangePoints {
    /// The value of each point: the mean over its blocks, without each block's offset from the average block.
    pub values: Vec<f64>,
    /// The changes, in order.
    pub changes: Vec<ChangePoint>,
    /// The shift from each point to the next, if a straight line fits the values better than changes do.
    pub slope: Option<Shift>,
    /// The tested values, without the newest ones if they would hide a change before them.
    tested: Vec<f64>,
}

impl ChangePoints {
    /// The minimum number of values on a level. A change is therefore confirmed only when this many values follow it.
    pub const PERSISTENCE: usize = 5;

    /// Finds the changes of level in a series.
    ///
    /// If all values come from one normal distribution, a change is found with a probability of at most `alpha`. Changes are dropped if
    /// `is_material` returns false for the difference of their levels.
    ///
    /// The offset of each block from the average block is fitted together with the levels: first with one level, then with the levels found so
    /// far. A different mix of blocks is therefore not reported as a change.
    ///
    /// Up to four new values on another level are too few for a change, but can hide an earlier one. If so, and if the series is tested after
    /// every point, they are excluded.
    pub fn find(cells: &[CellMean], alpha: f64, looks: Looks, is_material: impl Fn(f64) -> bool) -> Self {
        let mut found = of_cells(cells, alpha, &is_material);
        let points = found.values.len();
        let without = |newest: usize| {
            let earlier: Vec<CellMean> = cells.iter().filter(|cell| cell.point + newest < points).copied().collect();
            of_cells(&earlier, alpha, &is_material)
        };
        const MOST: usize = PERSISTENCE - 1;
        if looks == Looks::EveryPoint && points > MOST && without(MOST).changes.len() > found.changes.len() {
            for earlier in (1..=MOST).map(without) {
                let newest = median(found.values[earlier.tested()..].to_vec());
                if earlier.confirmed() > found.confirmed() && earlier.lasts(newest) {
                    found = Self { values: found.values, ..earlier };
                }
            }
        }
        found
    }

    /// An upper bound for the probability that the largest Student's t over all splits of `values` values from one normal distribution exceeds
    /// `t`. Both parts of a split have at least [`PERSISTENCE`](Self::PERSISTENCE) values.
    ///
    /// The bound is the probability that the first split exceeds `t`, plus, for each other split, the probability that it exceeds `t` although
    /// the previous split does not. Several separate splits above `t` count several times, which is rare if the bound is small.
    pub fn p_of_largest_t(t: f64, values: usize) -> f64 {
        if values < 2 * PERSISTENCE || t <= 0.0 {
            return 1.0;
        }
        if t.is_infinite() {
            return 0.0;
        }
        let n = values as f64;
        let first = students(n - 2.0).sf(t);
        // Without their mean, the values have a random direction in n − 1 dimensions, and t is a function of the angle between this direction and
        // the contrast of the split. The integral covers the directions that are closer to this contrast than to the previous one.
        let correlation = t * t / (t * t + n - 2.0);
        let density = |angle: f64| (1.0 - correlation / angle.cos().powi(2)).max(0.0).powf((n - 3.0) / 2.0);
        // The density is zero beyond this angle. Integrating over the arc sine makes it smooth up to there.
        let widest = correlation.sqrt().acos();
        let next = |at: usize| {
            let at = at as f64;
            let half = (at * (n - at - 1.0) / ((at + 1.0) * (n - at))).sqrt().acos() / 2.0;
            let most = (half / widest).min(1.0).asin();
            // The density is symmetric, so half of the nodes suffice.
            let term = |(node, weight): &(f64, f64)| {
                let (sine, cosine) = (most * node).sin_cos();
                weight * widest * cosine * density(widest * sine)
            };
            most / std::f64::consts::PI * NODES.iter().map(term).sum::<f64>()
        };
        (2.0 * (first + (PERSISTENCE..values - PERSISTENCE).map(next).sum::<f64>())).min(1.0)
    }

    /// The shift from one point to a later one: along the line if there is a [`slope`](Self::slope), otherwise between their levels. `None` if
    /// both are on the same level.
    pub fn shift(&self, from: usize, to: usize) -> Option<Shift> {
        if let Some(Shift { difference, error, degrees }) = self.slope {
            let steps = to as f64 - from as f64;
            return Some(Shift { difference: steps * difference, error: steps.abs() * error, degrees });
        }
        let [base, new] = [from, to].map(|point| self.level(point));
        (base != new).then(|| Levels::of(&self.tested[base], &self.tested[new]).shift())
    }

    /// The indices of the values on the same level as a point.
    pub fn level(&self, point: usize) -> Range<usize> {
        let after = self.changes.partition_point(|change| change.position <= point);
        let start = after.checked_sub(1).map_or(0, |before| self.changes[before].position);
        start..self.changes.get(after).map_or(self.tested.len(), |change| change.position)
    }

    /// The number of tested points. The newest ones are excluded if they would hide a change before them.
    pub fn tested(&self) -> usize {
        self.tested.len()
    }

    /// True if a later value is at least as close to the last level as to the one before it.
    fn lasts(&self, value: f64) -> bool {
        self.changes.last().is_none_or(|change| {
            let [before, after] = [change.start..change.position, change.position..change.end];
            let [before, after] = [before, after].map(|level| mean(&self.tested[level]));
            (value - after).abs() <= (value - before).abs()
        })
    }

    /// The number of changes followed by enough points.
    fn confirmed(&self) -> usize {
        self.changes.iter().filter(|change| change.position + PERSISTENCE <= self.tested.len()).count()
    }
}

fn of_cells(cells: &[CellMean], alpha: f64, is_material: &impl Fn(f64) -> bool) -> ChangePoints {
    let mut found = ChangePoints::default();
    for _ in 0..FITS {
        let before: Vec<usize> = found.changes.iter().map(|change| change.position).collect();
        let values = without_blocks(cells, &before);
        let changes = of_values(&values, alpha, is_material);
        let is_stable = changes.iter().map(|change| change.position).eq(before);
        found = ChangePoints { tested: values.clone(), values, changes, slope: None };
        if is_stable {
            break;
        }
    }
    found.slope = slope(&found, alpha, is_material);
    found
}

/// The value of each point without block offsets. `changes` are the positions where levels begin.
fn without_blocks(cells: &[CellMean], changes: &[usize]) -> Vec<f64> {
    let count = |of: fn(&CellMean) -> usize| cells.iter().map(of).max().map_or(0, |last| last + 1);
    let (points, blocks) = (count(|cell| cell.point), count(|cell| cell.block));
    let level_of = |cell: &CellMean| changes.partition_point(|&change| change <= cell.point);
    let mut levels = vec![0.0; changes.len() + 1];
    let mut offsets = vec![0.0; blocks];
    // Alternating least squares: repeating both steps converges. One level needs one round.
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

fn means(cells: &[CellMean], groups: usize, of: impl Fn(&CellMean) -> (usize, f64)) -> Vec<f64> {
    let mut sums = vec![(0.0, 0_u32); groups];
    for (group, value) in cells.iter().map(of) {
        sums[group].0 += value;
        sums[group].1 += 1;
    }
    sums.into_iter().map(|(sum, count)| sum / f64::from(count.max(1))).collect()
}

/// Finds the change points of values that need no block correction.
fn of_values(values: &[f64], alpha: f64, is_material: &impl Fn(f64) -> bool) -> Vec<ChangePoint> {
    let without_outliers = without_outliers(values);
    let mut splits = Vec::new();
    split(&without_outliers, 0, alpha.cbrt(), &mut splits);
    loop {
        // Removing a neighbour moves the best position of a split.
        splits = fitted(&splits, values.len(), PERSISTENCE, |place| -t_of_split(&without_outliers, place));
        let ps: Vec<f64> = around(&splits, values.len()).map(|place| p_of_split(&without_outliers, place)).collect();
        let weakest = (0..ps.len()).max_by(|&a, &b| ps[a].total_cmp(&ps[b])).filter(|&index| ps[index] > alpha);
        if let Some(index) = weakest {
            splits.remove(index);
            continue;
        }
        let located = fitted(&splits, values.len(), 1, |[start, at, end]| {
            Levels::of(&values[start..at], &values[at..end]).squares
        });
        let changes: Vec<ChangePoint> =
            around(&located, values.len()).zip(&ps).map(|(place, &p)| change_point(values, place, p)).collect();
        let size = |index: &usize| changes[*index].shift.difference.abs();
        let small = (0..changes.len()).filter(|&index| !is_material(changes[index].shift.difference));
        match small.min_by(|a, b| size(a).total_cmp(&size(b))) {
            Some(index) => splits.remove(index),
            None => return changes,
        };
    }
}

/// Appends the best splits of these values in order. The index of the first value is `start`.
fn split(values: &[f64], start: usize, limit: f64, splits: &mut Vec<usize>) {
    let candidates = PERSISTENCE..(values.len() + 1).saturating_sub(PERSISTENCE);
    let of = |at: usize| (at, t_of_split(values, [0, at, values.len()]));
    let Some((at, t)) = candidates.map(of).max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
    if p_of(t, values.len()) <= limit {
        split(&values[..at], start, limit, splits);
        splits.push(start + at);
        split(&values[at..], start + at, limit, splits);
    }
}

/// Each split with its neighbours.
fn around(splits: &[usize], values: usize) -> impl Iterator<Item = [usize; 3]> {
    (0..splits.len()).map(move |index| {
        let start = index.checked_sub(1).map_or(0, |before| splits[before]);
        [start, splits[index], splits.get(index + 1).copied().unwrap_or(values)]
    })
}

fn t_of_split(values: &[f64], [start, at, end]: [usize; 3]) -> f64 {
    Levels::of(&values[start..at], &values[at..end]).students_t()
}

fn p_of_split(values: &[f64], [start, at, end]: [usize; 3]) -> f64 {
    let levels = |at: usize| Levels::of(&values[start..at], &values[at..end]);
    // The change may really be a few values away, which would make the values in between look correlated.
    let near = (at + 1).saturating_sub(PERSISTENCE).max(start + 1)..(at + PERSISTENCE).min(end);
    let best = near.map(levels).min_by(|a, b| a.squares.total_cmp(&b.squares)).expect("the split is near");
    let line = Line::of(&values[start..end]);
    let correlation = if line.squares < best.squares { lag_correlation(&line.rest) } else { best.lag_correlation() };
    p_of(levels(at).students_t() / levels(at).inflation(correlation), end - start)
}

fn p_of(t: f64, values: usize) -> f64 {
    (ChangePoints::p_of_largest_t(t, values) / MARGIN).min(1.0)
}

/// Moves each split between its neighbours to minimise `cost`, leaving at least `least` values on each side.
fn fitted(splits: &[usize], values: usize, least: usize, cost: impl Fn([usize; 3]) -> f64) -> Vec<usize> {
    let mut fitted = splits.to_vec();
    for _ in 0..FITS {
        let before = fitted.clone();
        for index in 0..fitted.len() {
            let [start, at, end] = around(&fitted, values).nth(index).expect("there is such a split");
            let cost_at = |at: &usize| cost([start, *at, end]);
            let best = (start + least..=end - least).min_by(|a, b| cost_at(a).total_cmp(&cost_at(b)));
            fitted[index] = best.unwrap_or(at);
        }
        if fitted == before {
            break;
        }
    }
    fitted
}

fn change_point(values: &[f64], [start, position, end]: [usize; 3], p: f64) -> ChangePoint {
    let levels = |at: usize| Levels::of(&values[start..at], &values[at..end]);
    let best = levels(position);
    let correlation = best.correlation().clamp(0.0, MOST_CORRELATED);
    let most = best.squares * (1.0 + PLAUSIBLE * (1.0 + correlation) / (1.0 - correlation) / best.degrees());
    let plausible = (start + 1..end).filter(|&at| at == position || levels(at).squares <= most).collect();
    ChangePoint { position, plausible, start, end, shift: best.shift(), p }
}

/// A ramp without changes is tested at α divided by this.
const RAMP: f64 = 5.0;

/// The slope of a straight line through all values, if its Bayesian information criterion is smaller than that of the changes. Without changes, a
/// slow rise may still be significant: the line must then fit better than the best split, and the p-value of its slope must be at most a fifth of
/// `alpha`.
fn slope(found: &ChangePoints, alpha: f64, is_material: &impl Fn(f64) -> bool) -> Option<Shift> {
    let ChangePoints { changes, .. } = found;
    // Two new values on another level are not a ramp.
    let values = &without_outliers(&found.tested);
    // A short series does not reveal its autocorrelation.
    if changes.is_empty() && values.len() <= 3 * PERSISTENCE {
        return None;
    }
    let starts = [0].into_iter().chain(changes.iter().map(|change| change.position));
    let levels: f64 = match changes.is_empty() {
        true => {
            (1..values.len()).map(|at| Levels::of(&values[..at], &values[at..]).squares).fold(f64::INFINITY, f64::min)
        }
        false => starts.map(|start| squares(deviations(&values[found.level(start)]))).sum(),
    };
    let n = values.len() as f64;
    let line = Line::of(values);
    let criterion = |squares: f64, parameters: usize| n * squares.ln() + parameters as f64 * n.ln();
    if criterion(line.squares, 3) >= criterion(levels, 3 * changes.len().max(1) + 2) {
        return None;
    }
    let correlation = cautious(lag_correlation(&line.rest), n);
    let inflation = ((1.0 + correlation) / (1.0 - correlation)).sqrt();
    let error = inflation * (line.squares / (n - 2.0) / line.spread).sqrt();
    let (shift, rise) = (Shift { difference: line.slope, error, degrees: n - 2.0 }, line.slope * (n - 1.0));
    let is_clear = match changes.is_empty() {
        true => shift.p() <= alpha / RAMP && is_material(rise),
        false => shift.p() <= 0.05,
    };
    is_clear.then_some(shift)
}

/// The least-squares line through values.
struct Line {
    slope: f64,
    /// The sum of squared distances of the points from their middle.
    spread: f64,
    rest: Vec<f64>,
    /// The sum of squares of `rest`.
    squares: f64,
}

impl Line {
    fn of(values: &[f64]) -> Self {
        let middle = (values.len() as f64 - 1.0) / 2.0;
        let points = || (0..).zip(deviations(values)).map(|(point, y)| (f64::from(point) - middle, y));
        let spread = squares(points().map(|(x, _)| x));
        let slope = points().map(|(x, y)| x * y).sum::<f64>() / spread;
        let rest: Vec<f64> = points().map(|(x, y)| y - slope * x).collect();
        Self { slope, spread, squares: squares(rest.iter().copied()), rest }
    }
}

/// The maximum correlation between neighbours that is assumed.
const MOST_CORRELATED: f64 = 0.8;

fn squares(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum()
}

fn deviations(values: &[f64]) -> impl Iterator<Item = f64> {
    let mean = mean(values);
    values.iter().map(move |value| value - mean)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The lag-1 correlation of residuals; 0 if all are 0.
fn lag_correlation(rest: &[f64]) -> f64 {
    let squares = squares(rest.iter().copied());
    let products: f64 = rest.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

/// The correlation of `n` values, given the estimate `r` from their residuals, which is too small on average.
fn unbiased(r: f64, n: f64) -> f64 {
    r + 2.0 * (1.0 + 2.0 * r) / n
}

/// The correlation to assume: the estimate plus its standard error, since the true one may be larger.
fn cautious(r: f64, n: f64) -> f64 {
    let estimate = unbiased(r, n);
    let error = ((1.0 - estimate * estimate).max(0.0) / n).sqrt();
    (estimate + error).clamp(0.0, MOST_CORRELATED)
}

/// The values of two adjacent levels.
struct Levels<'v> {
    values: [&'v [f64]; 2],
    counts: [f64; 2],
    means: [f64; 2],
    /// The sum of squared deviations from the two means.
    squares: f64,
}

impl<'v> Levels<'v> {
    fn of(base: &'v [f64], new: &'v [f64]) -> Self {
        let values = [base, new];
        Self {
            values,
            counts: values.map(|values| values.len() as f64),
            means: values.map(mean),
            squares: values.into_iter().map(|values| squares(deviations(values))).sum(),
        }
    }

    /// The lag-1 correlation of the residuals.
    fn lag_correlation(&self) -> f64 {
        lag_correlation(&self.values.into_iter().flat_map(deviations).collect::<Vec<_>>())
    }

    fn difference(&self) -> f64 {
        self.means[1] - self.means[0]
    }

    fn degrees(&self) -> f64 {
        self.counts[0] + self.counts[1] - 2.0
    }

    /// The standard error of the difference, assuming independent values.
    fn error(&self) -> f64 {
        (self.squares / self.degrees() * (1.0 / self.counts[0] + 1.0 / self.counts[1])).sqrt()
    }

    /// The absolute value of Student's t with a pooled variance. Infinite if the values on each level are equal; 0 if all values are.
    fn students_t(&self) -> f64 {
        // Sums of equal values may differ in their last digits.
        let is_zero = self.difference().abs() <= 1e-12 * self.means[0].abs().max(self.means[1].abs());
        if is_zero { 0.0 } else { self.difference().abs() / self.error() }
    }

    /// The most likely correlation of consecutive values.
    fn correlation(&self) -> f64 {
        unbiased(self.lag_correlation(), self.counts[0] + self.counts[1])
    }

    /// The factor by which autocorrelation increases the difference's standard error.
    fn inflation(&self, lag_correlation: f64) -> f64 {
        let n = self.counts[0] + self.counts[1];
        let r = cautious(lag_correlation, n);
        // The variance of the mean of `m` values.
        let of_mean = |m: f64| ((1.0 + r) / (1.0 - r) - 2.0 * r * (1.0 - r.powf(m)) / (m * (1.0 - r) * (1.0 - r))) / m;
        let [a, b] = self.counts;
        let (of_base, of_new) = (of_mean(a), of_mean(b));
        // Correlated values vary less around their mean.
        let shrunk = (n - a * of_base - b * of_new) / (n - 2.0);
        ((of_base + of_new) / (1.0 / a + 1.0 / b) / shrunk.max(0.2)).sqrt()
    }

    fn shift(&self) -> Shift {
        // Two values do not reveal how much values vary.
        let (error, degrees) = match self.degrees() {
            0.0 => (f64::INFINITY, 1.0),
            degrees => (self.error() * self.inflation(self.lag_correlation()), degrees),
        };
        Shift { difference: self.difference(), error, degrees }
    }
}

fn students(degrees: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, degrees).expect("degrees of freedom are positive")
}

/// The positive nodes and weights of the 20-point Gauss–Legendre quadrature.
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

/// Clamps outliers to the local median. A lasting level does not change, since its values are the majority there.
fn without_outliers(values: &[f64]) -> Vec<f64> {
    if values.len() < SHOW_OUTLIERS {
        return values.to_vec();
    }
    let last = values.len();
    let around = |at: usize| {
        let window = at.saturating_sub(PERSISTENCE - 1)..(at + PERSISTENCE).min(last);
        let middle = median(values[window].to_vec());
        // The level at either end may be shorter than five values.
        let end = match at {
            at if at + PERSISTENCE > last => median(values[last - PERSISTENCE..].to_vec()),
            at if at < PERSISTENCE - 1 => median(values[..PERSISTENCE].to_vec()),
            _ => middle,
        };
        let distance = |median: f64| (values[at] - median).abs();
        if distance(end) < distance(middle) { end } else { middle }
    };
    let medians: Vec<f64> = (0..last).map(around).collect();
    let distances = values.iter().zip(&medians).map(|(value, median)| (value - median).abs());
    // Rounded values often equal the local median. Such zero distances do not reveal how much values vary.
    let distances: Vec<f64> = distances.filter(|distance| *distance > 0.0).collect();
    if distances.is_empty() {
        return values.to_vec();
    }
    let most = OUTLYING * DEVIATION * median(distances);
    values.iter().zip(&medians).map(|(value, median)| value.clamp(median - most, median + most)).collect()
}

/// The median of a non-empty list.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let upper = values.len() / 2;
    if values.len() % 2 == 1 { values[upper] } else { f64::midpoint(values[upper - 1], values[upper]) }
}

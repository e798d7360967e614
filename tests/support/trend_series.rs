//! Series of values whose true changes are known, to count how often change points are wrong.

use traceparse::stats::{CellMean, ChangePoints, Looks};

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
    /// Normal, with a correlation of 0.2 between neighbours. Tests that assume independent values are wrong here.
    Correlated,
    /// Normal, with a correlation of 0.5 between neighbours.
    StronglyCorrelated,
    /// Two blocks that differ by 10 standard deviations, of which each point has one or both.
    MixOfBlocks,
}

impl Noise {
    pub const ALL: [Self; 7] = [
        Self::Normal,
        Self::HeavyTails,
        Self::Skewed,
        Self::Outlier,
        Self::Correlated,
        Self::StronglyCorrelated,
        Self::MixOfBlocks,
    ];

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
            Self::Correlated | Self::StronglyCorrelated => {
                let share: f64 = if self == Self::Correlated { 0.2 } else { 0.5 };
                let rest = (1.0 - share * share).sqrt();
                (1..count).for_each(|at| values[at] = share * values[at - 1] + rest * values[at]);
            }
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

/// The changes of the first points of a history, with `--alpha 0.05`.
fn look(cells: &[CellMean], points: usize, looks: Looks) -> ChangePoints {
    let seen: Vec<CellMean> = cells.iter().filter(|cell| cell.point < points).copied().collect();
    ChangePoints::find(&seen, looks.alpha(0.05, points), looks, |_| true)
}

fn has_change(cells: &[CellMean], points: usize, looks: Looks) -> bool {
    is_alarm(&look(cells, points, looks))
}

fn is_alarm(found: &ChangePoints) -> bool {
    !found.changes.is_empty() || found.slope.is_some()
}

/// The share of series without a change that have a change point, or are ramps.
pub fn false_alarms(noise: Noise, points: usize, looks: Looks, series: u64) -> f64 {
    let mut numbers = Rng::new(points as u64 * 7_919);
    let alarms = (0..series).filter(|_| has_change(&noise.series(&mut numbers, points, 0, 0.0), points, looks)).count();
    alarms as f64 / series as f64
}

/// The share of series without a change that have a change point in any night: after 10, 11, … 100 points.
pub fn false_alarms_over_nights(noise: Noise, looks: Looks, series: u64) -> f64 {
    const NIGHTS: usize = 100;
    let mut numbers = Rng::new(15_485_863);
    let has_alarm =
        |cells: &[CellMean]| (2 * ChangePoints::PERSISTENCE..=NIGHTS).any(|points| has_change(cells, points, looks));
    let alarms = (0..series).filter(|_| has_alarm(&noise.series(&mut numbers, NIGHTS, 0, 0.0))).count();
    alarms as f64 / series as f64
}

/// The first alarms of histories with a step that are tested after each point after the step.
#[derive(Debug)]
pub struct FirstAlarms {
    /// The share of histories with an alarm at most 30 points later.
    pub found: f64,
    /// The points after the step until the alarm: the median, and the 90 % quantile.
    pub points: [usize; 2],
    /// The shares of alarms that name the right point, whose plausible points contain it, and that have at most four plausible points.
    pub right: f64,
    pub contains: f64,
    pub at_most_four: f64,
    /// The median number of plausible points.
    pub plausible: usize,
}

/// Invents histories with a step after `before` points, in standard deviations, and finds their first alarms.
pub fn first_alarms(noise: Noise, before: usize, step: f64, looks: Looks, series: u64) -> FirstAlarms {
    const AFTER: usize = 30;
    let mut numbers = Rng::new(before as u64 * 104_729);
    let (mut points, mut plausible, mut counts) = (Vec::new(), Vec::new(), [0_u64; 3]);
    for _ in 0..series {
        let cells = noise.series(&mut numbers, before + AFTER, AFTER, step);
        let mut nights = (1..=AFTER).map(|after| (after, look(&cells, before + after, looks)));
        let Some((after, mut found)) = nights.find(|(_, found)| is_alarm(found)) else { continue };
        points.push(after);
        // A ramp has no points.
        let Some(change) = found.changes.pop() else { continue };
        plausible.push(change.plausible.len());
        let is = [change.position == before, change.plausible.contains(&before), change.plausible.len() <= 4];
        counts.iter_mut().zip(is).for_each(|(count, is)| *count += u64::from(is));
    }
    let alarms = points.len();
    let [right, contains, at_most_four] = counts.map(|count| count as f64 / alarms as f64);
    points.sort_unstable();
    plausible.sort_unstable();
    let quantile = |values: &[usize], percent: usize| values.get(alarms * percent / 100).copied().unwrap_or_default();
    FirstAlarms {
        found: alarms as f64 / series as f64,
        points: [quantile(&points, 50), quantile(&points, 90)],
        right,
        contains,
        at_most_four,
        plausible: quantile(&plausible, 50),
    }
}

/// Invents histories that rise by `rise` standard deviations from point `from` to the end. Returns the share with a change, and the share of
/// these that are ramps.
pub fn ramps(points: usize, from: usize, rise: f64, series: u64) -> [f64; 2] {
    let mut numbers = Rng::new(rise as u64 * 32_452_843);
    let (mut changes, mut ramps) = (0_u64, 0_u64);
    for _ in 0..series {
        let mut cells = Noise::Normal.series(&mut numbers, points, 0, 0.0);
        for cell in &mut cells[from..] {
            cell.mean += rise * (cell.point - from) as f64 / (points - 1 - from) as f64;
        }
        let found = look(&cells, points, Looks::EveryPoint);
        changes += u64::from(is_alarm(&found));
        ramps += u64::from(found.slope.is_some());
    }
    [changes as f64 / series as f64, ramps as f64 / changes as f64]
}

/// How often the 95 % interval of a step contains it, among histories whose step is found `after` points later.
pub fn coverage(noise: Noise, before: usize, after: usize, step: f64, series: u64) -> f64 {
    let mut numbers = Rng::new(before as u64 * 86_028_121);
    let mut shifts = (0..series).filter_map(|_| {
        let cells = noise.series(&mut numbers, before + after, after, step);
        let found = look(&cells, before + after, Looks::EveryPoint);
        found.changes.first().map(|change| change.shift.interval(0.05))
    });
    let (mut covered, mut all) = (0_u64, 0_u64);
    for (lower, upper) in shifts.by_ref() {
        all += 1;
        covered += u64::from((lower..=upper).contains(&step));
    }
    covered as f64 / all as f64
}

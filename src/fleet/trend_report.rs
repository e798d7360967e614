//! Where the CPU use of an app changes over its versions or over time.

use std::collections::{BTreeMap, BTreeSet};

use super::label_order::compare_labels;
use super::options::FleetOptions;
use super::report::{FleetReport, RunRow, TrendOver};
use super::trend::{Period, by_date, why_unordered};
use crate::stats::{CellMean, ChangePoints, PERSISTENCE, change_points};
use crate::units::{Unit, counted, first_of, several};

/// The confidence of the intervals of changes.
const CONFIDENCE: f64 = 0.95;

/// The question of a [`TrendReport`].
#[derive(Clone, Debug, PartialEq)]
pub struct TrendOptions {
    /// The label whose values are the points of the series; `None` for the dates of runs.
    pub label: Option<String>,
    /// The label whose values are compared with themselves, such as `device`.
    pub block: Option<String>,
    /// The probability of any change in a series without changes.
    pub alpha: f64,
    /// Smaller changes do not matter: 0.03 is 3 %.
    pub min_effect: f64,
}

impl TrendOptions {
    /// The options of the fleet report that has the runs of the trend.
    pub fn fleet(&self) -> FleetOptions {
        let by = self.label.iter().chain(&self.block).cloned().collect();
        FleetOptions { by, scopes: Vec::new(), is_approximate: true, ..FleetOptions::default() }
    }
}

/// The answer to the question whether an app became slower over its versions, or over time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TrendReport<'r> {
    /// The report that has the runs.
    pub fleet: &'r FleetReport,
    /// The question.
    pub options: TrendOptions,
    /// The meaning of the points.
    pub over: TrendOver,
    /// The unit of the runs.
    pub unit: Unit,
    /// The points in order.
    pub points: Vec<TrendValue>,
    /// The changes in order.
    pub changes: Vec<TrendChange>,
    /// The reason why changes cannot be found, in a sentence.
    pub problem: Option<String>,
    /// What the values leave out, in sentences.
    pub notes: Vec<String>,
}

/// The runs of one version, day or week.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrendValue {
    /// The value of the label, or the first day.
    pub name: String,
    /// The number of runs.
    pub runs: u64,
    /// The number of idle runs among them, which are not in the value.
    pub idle: u64,
    /// The number of blocks in the value.
    pub blocks: u64,
    /// The CPU use: the mean over blocks of the geometric mean of their runs, as if all blocks had runs. `None` if no run or block counts.
    pub value: Option<f64>,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrendChange {
    /// The position of the first point of the new level.
    pub point: usize,
    /// The CPU use of the new level divided by that of the level before it.
    pub ratio: f64,
    /// The interval of the ratio.
    pub interval: (f64, f64),
    /// The confidence of the interval.
    pub confidence: f64,
    /// An upper bound of the probability that runs without a change show one that is this clear.
    pub p: f64,
    /// The number of runs in the values before and after it.
    pub runs: [u64; 2],
}

/// The answer in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrendVerdict {
    /// Since the last change, the app is slower.
    Slower,
    /// Since the last change, the app is faster.
    Faster,
    /// There is no change.
    NoChange,
    /// Changes cannot be found.
    CannotTell,
}

impl TrendVerdict {
    /// The name in machine formats.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::NoChange => "no-change",
            Self::CannotTell => "cannot-tell",
        }
    }
}

impl<'r> TrendReport<'r> {
    /// Finds the changes among the runs of a report with the [options](TrendOptions::fleet) of this question.
    pub fn new(fleet: &'r FleetReport, options: TrendOptions) -> Self {
        let unit = most_frequent_unit(fleet);
        let mut notes = Vec::new();
        let mut leave_out = |count: u64, why: &str| {
            notes
                .extend((count > 0).then(|| format!("{} {why} {} left out.", several(count, "run"), is_or_are(count))));
        };
        let of_unit: Vec<usize> =
            (0..fleet.runs.len()).filter(|&run| unit_of(fleet, &fleet.runs[run]) == unit).collect();
        leave_out((fleet.runs.len() - of_unit.len()) as u64, "in another unit");
        let (over, periods) = match &options.label {
            Some(label) => {
                let (periods, without) = by_label(fleet, &of_unit);
                leave_out(without, &format!("without {label}"));
                (TrendOver::Label(label.clone()), periods)
            }
            None => {
                let starts = of_unit.iter().map(|&run| (run, fleet.runs[run].start.as_deref()));
                let (over, periods, undated) = by_date(starts, 2 * PERSISTENCE);
                leave_out(undated, "without a known date");
                (over, periods)
            }
        };
        let mut series = Series::new(fleet, &options, periods);
        leave_out(series.without_block, &format!("without {}", options.block.as_deref().unwrap_or_default()));
        let idle: u64 = series.points.iter().map(|point| point.idle).sum();
        if idle > 0 {
            notes.push(format!(
                "{} (0 % CPU) {} counted, but not in the values.",
                several(idle, "idle run"),
                is_or_are(idle)
            ));
        }
        notes.extend(series.alone.take());
        let problem = series.problem(fleet, &over);
        let mut changes = series.changes(&options);
        changes.retain(|_| problem.is_none());
        Self { fleet, options, over, unit, points: series.points, changes, problem, notes }
    }

    /// The answer, which the last change decides.
    pub fn verdict(&self) -> TrendVerdict {
        match self.changes.last() {
            Some(change) if change.ratio > 1.0 => TrendVerdict::Slower,
            Some(_) => TrendVerdict::Faster,
            None if self.problem.is_some() => TrendVerdict::CannotTell,
            None => TrendVerdict::NoChange,
        }
    }
}

const fn is_or_are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn unit_of(fleet: &FleetReport, run: &RunRow) -> Unit {
    fleet.cohorts[run.cohort].cohort.unit
}

fn most_frequent_unit(fleet: &FleetReport) -> Unit {
    let mut counts = BTreeMap::<Unit, u64>::new();
    fleet.runs.iter().for_each(|run| *counts.entry(unit_of(fleet, run)).or_default() += 1);
    // The first of equally frequent units.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map_or(Unit::Nanoseconds, |(unit, _)| unit)
}

/// The runs of each value of the first label, in their order, and the number of runs without one.
fn by_label(fleet: &FleetReport, runs: &[usize]) -> (Vec<Period>, u64) {
    let (mut periods, mut without) = (BTreeMap::<&str, Vec<usize>>::new(), 0);
    for &run in runs {
        match fleet.cohorts[fleet.runs[run].cohort].cohort.labels[0].1.as_deref() {
            Some(value) => periods.entry(value).or_default().push(run),
            None => without += 1,
        }
    }
    let mut periods: Vec<Period> = periods.into_iter().map(|(name, runs)| (name.to_owned(), runs)).collect();
    periods.sort_by(|a, b| compare_labels(&a.0, &b.0));
    (periods, without)
}

/// The points, and the means of their blocks.
struct Series {
    points: Vec<TrendValue>,
    /// `point` is a position in `counted`.
    cells: Vec<CellMean>,
    /// The positions of the points that have a value.
    counted: Vec<usize>,
    without_block: u64,
    /// A sentence about points whose blocks occur nowhere else.
    alone: Option<String>,
}

impl Series {
    fn new(fleet: &FleetReport, options: &TrendOptions, periods: Vec<Period>) -> Self {
        let mut series =
            Self { points: Vec::new(), cells: Vec::new(), counted: Vec::new(), without_block: 0, alone: None };
        let means: Vec<_> = periods.into_iter().map(|(name, runs)| series.add(fleet, options, name, &runs)).collect();
        let mut points_of = BTreeMap::<&str, u64>::new();
        means.iter().flatten().for_each(|(block, _)| *points_of.entry(*block).or_default() += 1);
        // The only value of a block shows nothing after subtracting the block.
        let is_used = |block: &str| options.block.is_none() || points_of[block] > 1;
        let names: BTreeSet<&str> = points_of.keys().copied().filter(|block| is_used(block)).collect();
        let index: BTreeMap<&str, usize> = names.into_iter().zip(0..).collect();
        let mut alone = Vec::new();
        for (position, means) in means.iter().enumerate() {
            let used: Vec<_> = means.iter().filter_map(|(block, mean)| Some((*index.get(block)?, *mean))).collect();
            series.points[position].blocks = used.len() as u64;
            if used.is_empty() {
                alone.extend((!means.is_empty()).then(|| series.points[position].name.clone()));
                continue;
            }
            let point = series.counted.len();
            series.counted.push(position);
            series.cells.extend(used.into_iter().map(|(block, mean)| CellMean { point, block, mean }));
        }
        if let Some(block) = options.block.as_ref().filter(|_| !alone.is_empty()) {
            let (points, are) = (several(alone.len(), "point"), is_or_are(alone.len() as u64));
            series.alone = Some(format!(
                "{points} {are} left out, since no other point has the same {block}: {}.",
                first_of(&alone)
            ));
        }
        series
    }

    /// Adds a point, and returns the mean logarithm of the runs of each block.
    fn add<'r>(
        &mut self,
        fleet: &'r FleetReport,
        options: &TrendOptions,
        name: String,
        runs: &[usize],
    ) -> Vec<(&'r str, f64)> {
        let mut logarithms = BTreeMap::<&str, (f64, f64)>::new();
        let mut point = TrendValue { name, runs: 0, idle: 0, blocks: 0, value: None };
        for run in runs.iter().map(|&run| &fleet.runs[run]) {
            let labels = &fleet.cohorts[run.cohort].cohort.labels;
            let block = options.block.as_ref().map_or(Some(""), |_| labels.last()?.1.as_deref());
            let Some(block) = block else {
                self.without_block += 1;
                continue;
            };
            point.runs += 1;
            if run.rate.get() == 0 {
                point.idle += 1;
                continue;
            }
            let (sum, count) = logarithms.entry(block).or_default();
            *sum += run.rate.as_f64().ln();
            *count += 1.0;
        }
        self.points.push(point);
        logarithms.into_iter().map(|(block, (sum, count))| (block, sum / count)).collect()
    }

    /// The reason why changes cannot be found.
    fn problem(&self, fleet: &FleetReport, over: &TrendOver) -> Option<String> {
        let (needed, found) = (2 * PERSISTENCE, counted(self.counted.len()));
        if self.counted.len() < needed {
            return Some(format!(
                "Too few points: {found}; a change needs {PERSISTENCE} before it and {PERSISTENCE} after it."
            ));
        }
        match over {
            TrendOver::Label(_) => why_unordered(&fleet.cohorts, 0).map(|why| format!("Cannot tell: {why}")),
            TrendOver::Day | TrendOver::Week => None,
        }
    }

    /// Finds the changes, and sets the values of the points.
    fn changes(&mut self, options: &TrendOptions) -> Vec<TrendChange> {
        let is_material = |difference: f64| (difference.exp() - 1.0).abs() >= options.min_effect;
        let ChangePoints { values, changes } = change_points(&self.cells, options.alpha, is_material);
        for (&position, value) in self.counted.iter().zip(&values) {
            self.points[position].value = Some(value.exp());
        }
        let runs = |points: std::ops::Range<usize>| {
            let points = self.counted[points].iter().map(|&position| &self.points[position]);
            points.map(|point| point.runs - point.idle).sum()
        };
        let change = |change: &crate::stats::ChangePoint| {
            let (lower, upper) = change.effect.interval(1.0 - CONFIDENCE);
            TrendChange {
                point: self.counted[change.position],
                ratio: change.effect.difference.exp(),
                interval: (lower.exp(), upper.exp()),
                confidence: CONFIDENCE,
                p: change.p,
                runs: [runs(change.start..change.position), runs(change.position..change.end)],
            }
        };
        changes.iter().map(change).collect()
    }
}

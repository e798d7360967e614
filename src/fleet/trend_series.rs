//! The series of a trend: its points, the means of their blocks, and the changes of their level.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::report::{FleetReport, RunRow};
use super::trend::Period;
use super::trend_report::{ENVIRONMENT, TrendChange, TrendOptions, TrendShift, TrendValue, is_or_are, label_of};
use crate::stats::{CellMean, ChangePoint, ChangePoints, PERSISTENCE, Shift, change_points};
use crate::units::{counted, first_of, several};

/// The confidence of the intervals of changes.
const CONFIDENCE: f64 = 0.95;

/// The runs on each side of a recommended comparison, which tests functions only if there are enough runs.
const COMPARED: u64 = 5;

/// The logarithm of the measure of a run; `None` if it is idle.
fn value_of(run: &RunRow) -> Option<f64> {
    (run.rate.get() > 0).then(|| run.rate.as_f64().ln())
}

/// The points, and the means of their blocks.
pub(super) struct Series<'r> {
    fleet: &'r FleetReport,
    pub(super) points: Vec<TrendValue>,
    /// The runs of each point, by position.
    runs: Vec<Vec<usize>>,
    /// `point` is a position in `counted`.
    cells: Vec<CellMean>,
    /// The positions of the points that have a value.
    counted: Vec<usize>,
    pub(super) without_block: u64,
    /// A sentence about points whose blocks occur nowhere else.
    pub(super) alone: Option<String>,
}

impl<'r> Series<'r> {
    pub(super) fn new(fleet: &'r FleetReport, options: &TrendOptions, periods: Vec<Period>) -> Self {
        let mut series = Self {
            fleet,
            points: Vec::new(),
            runs: Vec::new(),
            cells: Vec::new(),
            counted: Vec::new(),
            without_block: 0,
            alone: None,
        };
        let means: Vec<_> = periods.into_iter().map(|(name, runs)| series.add(options, name, runs)).collect();
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
    fn add(&mut self, options: &TrendOptions, name: String, runs: Vec<usize>) -> Vec<(&'r str, f64)> {
        let mut logarithms = BTreeMap::<&str, (f64, f64)>::new();
        let mut point = TrendValue { name, runs: 0, idle: 0, blocks: 0, value: None };
        for run in runs.iter().map(|&run| &self.fleet.runs[run]) {
            let Some(block) = options.block.as_ref().map_or(Some(""), |key| label_of(self.fleet, run, key)) else {
                self.without_block += 1;
                continue;
            };
            point.runs += 1;
            let Some(value) = value_of(run) else {
                point.idle += 1;
                continue;
            };
            let (sum, count) = logarithms.entry(block).or_default();
            *sum += value;
            *count += 1.0;
        }
        self.points.push(point);
        self.runs.push(runs);
        logarithms.into_iter().map(|(block, (sum, count))| (block, sum / count)).collect()
    }

    /// The reason why changes cannot be found yet.
    pub(super) fn too_few_points(&self) -> Option<String> {
        let (needed, found) = (2 * PERSISTENCE, counted(self.counted.len()));
        (self.counted.len() < needed).then(|| {
            format!("Too few points: {found}; a change needs {PERSISTENCE} before it and {PERSISTENCE} after it.")
        })
    }

    /// Finds the changes, and sets the values of the points.
    pub(super) fn find(&mut self, options: &TrendOptions) -> ChangePoints {
        let is_material = |difference: f64| (difference.exp() - 1.0).abs() >= options.min_effect;
        let alpha = options.looks.alpha(options.alpha, self.counted.len());
        let found = change_points(&self.cells, alpha, is_material);
        for (&position, value) in self.counted.iter().zip(&found.values) {
            self.points[position].value = Some(value.exp());
        }
        found
    }

    /// The changes, and the newest level against the first or accepted one.
    pub(super) fn changes(
        &self,
        found: &ChangePoints,
        options: &TrendOptions,
    ) -> (Vec<TrendChange>, Option<TrendShift>) {
        let accepted = options.accepted.as_deref().map(|accepted| self.accepted(accepted, options));
        let is_accepted = |change: &&ChangePoint| accepted.is_some_and(|accepted| change.plausible[0] <= accepted);
        let known = found.changes.iter().filter(is_accepted).last().map_or(0, |change| change.position);
        let last = self.counted.len() - 1;
        if found.slope.is_some() {
            let from = accepted.unwrap_or(0);
            let points = || from..last + 1;
            let since = found.shift(from, last).filter(|_| from < last);
            let shift = |shift| self.shift(shift, [points(), points()], [&mut points(), &mut points().rev()], options);
            return (Vec::new(), since.map(shift));
        }
        let from = accepted.unwrap_or(0).max(known);
        let [base, new] = [from, last].map(|point| found.level(point));
        let since = found.shift(from, last).map(|shift| {
            self.shift(shift, [base.clone(), new.clone()], [&mut base.clone().rev(), &mut new.clone().rev()], options)
        });
        let change = |change: &ChangePoint| {
            let &ChangePoint { position, start, end, p, .. } = change;
            let [first, last] = [change.plausible[0], change.plausible[change.plausible.len() - 1]];
            let nearest: [&mut dyn Iterator<Item = usize>; 2] = [&mut (start..first).rev(), &mut (last..end)];
            TrendChange {
                point: self.counted[position],
                plausible: change.plausible.iter().map(|&point| self.counted[point]).collect(),
                is_provisional: self.counted.len() - position < PERSISTENCE,
                is_accepted: is_accepted(&change),
                shift: self.shift(change.shift, [start..position, position..end], nearest, options),
                p,
                confounders: self.confounders(change, options),
            }
        };
        (found.changes.iter().map(change).collect(), since)
    }

    /// The last point up to the accepted one.
    fn accepted(&self, accepted: &str, options: &TrendOptions) -> usize {
        let is_before = |point: &TrendValue| match options.label {
            Some(_) => false,
            None => point.name.as_str() <= accepted,
        };
        let after = match self.points.iter().position(|point| point.name == accepted) {
            Some(point) => point + 1,
            None => self.points.iter().take_while(|point| is_before(point)).count(),
        };
        self.counted.partition_point(|&position| position < after).saturating_sub(1)
    }

    /// A difference of these levels. `nearest` has the points to compare, the best first.
    fn shift(
        &self,
        shift: Shift,
        levels: [Range<usize>; 2],
        nearest: [&mut dyn Iterator<Item = usize>; 2],
        options: &TrendOptions,
    ) -> TrendShift {
        let (lower, upper) = shift.interval(1.0 - CONFIDENCE);
        TrendShift {
            from: self.counted[levels[0].start],
            ratio: shift.difference.exp(),
            interval: (lower.exp(), upper.exp()),
            confidence: CONFIDENCE,
            runs: levels.map(|points| points.map(|point| self.runs_in_value(point)).sum()),
            comparison: self.comparison(nearest, options).unwrap_or_default(),
        }
    }

    fn runs_in_value(&self, point: usize) -> u64 {
        let point = &self.points[self.counted[point]];
        point.runs - point.idle
    }

    /// `--base app_version=1.29 --new app_version=1.30`: as many points on each side as are needed to compare functions; `None` if runs have
    /// no such label.
    fn comparison(&self, nearest: [&mut dyn Iterator<Item = usize>; 2], options: &TrendOptions) -> Option<Vec<String>> {
        let mut words = Vec::new();
        for (points, option) in nearest.into_iter().zip(["--base", "--new"]) {
            let (mut runs, mut values) = (0, BTreeSet::new());
            while let Some(point) = points.next().filter(|_| runs < COMPARED) {
                runs += self.runs_in_value(point);
                for &run in &self.runs[self.counted[point]] {
                    values.insert(label_of(self.fleet, &self.fleet.runs[run], options.key())?);
                }
            }
            words.extend(values.iter().flat_map(|value| [option.to_owned(), format!("{}={value}", options.key())]));
        }
        words.extend(options.block.iter().flat_map(|block| ["--block".to_owned(), block.clone()]));
        Some(words)
    }

    /// The labels of the environment of which no value is on both sides of a plausible point.
    fn confounders(&self, change: &ChangePoint, options: &TrendOptions) -> Vec<(String, [Vec<String>; 2])> {
        let keys = ENVIRONMENT.into_iter().filter(|key| *key != options.key() && options.block.as_deref() != Some(key));
        let values = |key: &str, points: Range<usize>| -> BTreeSet<&str> {
            let runs = points.flat_map(|point| &self.runs[self.counted[point]]);
            runs.filter_map(|&run| label_of(self.fleet, &self.fleet.runs[run], key)).collect()
        };
        let confounder = |key: &str| {
            let sides = change.plausible.iter().map(|&at| [values(key, change.start..at), values(key, at..change.end)]);
            let separate = |[before, after]: &[BTreeSet<&str>; 2]| {
                !before.is_empty() && !after.is_empty() && before.is_disjoint(after)
            };
            let owned = |values: BTreeSet<&str>| values.into_iter().map(str::to_owned).collect();
            sides.into_iter().find(separate).map(|sides| (key.to_owned(), sides.map(owned)))
        };
        keys.filter_map(confounder).collect()
    }
}

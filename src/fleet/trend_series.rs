//! The series of a trend: its points, the means of their blocks, and changes of level.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::compare::{FUNCTION_UNITS, Quantity, QuantityValues};
use super::report::{FleetReport, RunRow};
use super::trend_options::{ENVIRONMENT, TrendOptions};
use crate::settings::{self, BASE, BLOCK, MEASURE, NEW};
use crate::stats::{CellMean, ChangePoint, ChangePoints, Shift};
use crate::units::{counted, first_of, several};

/// A known change may appear this many points later without being a new one.
const LATER: usize = 2;
const PERSISTENCE: usize = ChangePoints::PERSISTENCE;

/// The confidence of the intervals of changes.
const CONFIDENCE: f64 = 0.95;

/// The runs of one version, or one day.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrendValue {
    /// The value of the label, or the first day of the period.
    pub name: String,
    /// The number of runs.
    pub runs: u64,
    /// The number of idle runs, which the value excludes.
    pub idle: u64,
    /// The number of blocks that contribute to the value.
    pub blocks: u64,
    /// The value of the quantity: the geometric mean of the runs in each block, averaged over blocks as if every block had runs. `None` if
    /// nothing contributes.
    pub value: Option<f64>,
}

/// The difference of two levels.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrendShift {
    /// The index of the first point of the earlier level or the ramp.
    pub from: usize,
    /// The later level divided by the earlier one.
    pub ratio: f64,
    /// The interval of the ratio.
    pub interval: (f64, f64),
    /// The confidence of the interval.
    pub confidence: f64,
    /// The number of runs on each level. For a ramp, both are the total.
    pub runs: [u64; 2],
    /// The options of `traceparse compare` for runs of both levels, those nearest to the change. Empty without a
    /// [command](crate::settings::Program::command).
    pub comparison: Vec<String>,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrendChange {
    /// The index of the most likely first point of the new level.
    pub point: usize,
    /// The indices of all plausible first points.
    pub plausible: Vec<usize>,
    /// True if the new level has too few points to be confirmed.
    pub is_provisional: bool,
    /// True if the change is at or before the accepted point.
    pub is_accepted: bool,
    /// The shift from the previous level.
    pub shift: TrendShift,
    /// An upper bound for the probability of such a clear change in runs without one.
    pub p: f64,
    /// Environment labels that change completely at a plausible point, with their values before and after.
    pub confounders: Vec<(String, [Vec<String>; 2])>,
}

/// The points, and the means of their blocks.
pub(super) struct Series<'r> {
    fleet: &'r FleetReport,
    options: &'r TrendOptions,
    /// The quantity named in recommended comparisons, if any.
    measure: Option<&'r Quantity>,
    pub(super) points: Vec<TrendValue>,
    /// For each point, its runs.
    runs: &'r [Vec<usize>],
    /// In a cell, `point` is an index of `counted`.
    cells: Vec<CellMean>,
    /// The indices of points with a value.
    counted: Vec<usize>,
    /// A sentence about points whose blocks have no other points.
    pub(super) alone: Option<String>,
}

impl<'r> Series<'r> {
    /// Creates a series of `values` for the points in `names` and `runs`. Recommended comparisons include `measure`.
    pub(super) fn new(
        (fleet, options): (&'r FleetReport, &'r TrendOptions),
        (names, runs): (&[String], &'r [Vec<usize>]),
        values: &QuantityValues,
        measure: Option<&'r Quantity>,
    ) -> Self {
        let mut series = Self {
            fleet,
            options,
            measure,
            points: Vec::new(),
            runs,
            cells: Vec::new(),
            counted: Vec::new(),
            alone: None,
        };
        let means: Vec<_> = names.iter().zip(runs).map(|(name, runs)| series.add(name, runs, values)).collect();
        let mut points_of = BTreeMap::<&str, u64>::new();
        means.iter().flatten().for_each(|(block, _)| *points_of.entry(*block).or_default() += 1);
        // A block with a single value reveals nothing once its offset is subtracted.
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

    /// Adds a point. Returns the mean logarithm of the runs in each block.
    fn add(&mut self, name: &str, runs: &[usize], values: &QuantityValues) -> Vec<(&'r str, f64)> {
        let mut logarithms = BTreeMap::<&str, (f64, f64)>::new();
        let mut point = TrendValue { name: name.to_owned(), runs: 0, idle: 0, blocks: 0, value: None };
        for &run in runs {
            let row = &self.fleet.runs[run];
            let Some(block) = self.options.block.as_ref().map_or(Some(""), |key| label_of(self.fleet, row, key)) else {
                continue;
            };
            point.runs += u64::from(values.get(run).is_some());
            let Some(value) = values.logarithm(run) else {
                point.idle += u64::from(values.get(run).is_some());
                continue;
            };
            let (sum, count) = logarithms.entry(block).or_default();
            *sum += value;
            *count += 1.0;
        }
        self.points.push(point);
        logarithms.into_iter().map(|(block, (sum, count))| (block, sum / count)).collect()
    }

    /// Explains why the values of points cannot be compared, without a full stop.
    pub(super) fn unusable(&self) -> Option<String> {
        let newest = self.points.last()?;
        if self.counted.last().is_none_or(|&position| position + 1 < self.points.len()) {
            let why = match newest {
                TrendValue { runs: 0, .. } => "none of its inputs could be used".to_owned(),
                TrendValue { runs, idle, .. } if runs == idle => "all of its runs are idle".to_owned(),
                _ => format!("no other point has the same {}", self.options.block.as_deref().unwrap_or_default()),
            };
            return Some(format!("the newest point, {}, has no value: {why}", newest.name));
        }
        let block = self.options.block.as_ref()?;
        let alone = &self.points[self.counted[self.unlinked()?]].name;
        Some(format!("no {block} links {alone} with {}, so a change may come from the {block}", newest.name))
    }

    /// A point that no chain of blocks links to the newest one. Two blocks are linked if they have at least five common points.
    fn unlinked(&self) -> Option<usize> {
        let mut spans = BTreeMap::<usize, [usize; 2]>::new();
        for cell in &self.cells {
            let span = spans.entry(cell.block).or_insert([cell.point; 2]);
            *span = [span[0].min(cell.point), span[1].max(cell.point)];
        }
        let newest = self.counted.len() - 1;
        let mut linked: BTreeSet<usize> =
            spans.iter().filter(|(_, span)| span[1] == newest).map(|(block, _)| *block).collect();
        let overlap = |a: &[usize; 2], b: &[usize; 2]| (a[1].min(b[1]) + 1).saturating_sub(a[0].max(b[0]));
        loop {
            let is_linked = |span: &[usize; 2]| linked.iter().any(|block| overlap(&spans[block], span) >= PERSISTENCE);
            let found: Vec<usize> = spans.iter().filter(|(_, span)| is_linked(span)).map(|(block, _)| *block).collect();
            let known = linked.len();
            linked.extend(found);
            if linked.len() == known {
                break;
            }
        }
        let points: BTreeSet<usize> =
            self.cells.iter().filter(|cell| linked.contains(&cell.block)).map(|cell| cell.point).collect();
        (0..self.counted.len()).find(|point| !points.contains(point))
    }

    /// A sentence about the newest points, if they were excluded because they hide an earlier change.
    pub(super) fn untested(&self, found: &ChangePoints) -> Option<String> {
        let names: Vec<&str> =
            self.counted[found.tested()..].iter().map(|&point| self.points[point].name.as_str()).collect();
        let (first, last) = (names.first()?, names.last()?);
        let (which, are) =
            if first == last { (first.to_string(), "is") } else { (format!("{first} to {last}"), "are") };
        Some(format!(
            "{which} {are} not in these numbers: another change may begin there, which {PERSISTENCE} points would confirm."
        ))
    }

    /// Explains that there are too few points to find changes.
    pub(super) fn too_few_points(&self) -> Option<String> {
        let (needed, found) = (2 * PERSISTENCE, counted(self.counted.len()));
        (self.counted.len() < needed).then(|| {
            format!("Too few points: {found}; a change needs {PERSISTENCE} before it and {PERSISTENCE} after it.")
        })
    }

    /// Finds the changes, and sets the points' values.
    pub(super) fn find(&mut self, alpha: f64) -> ChangePoints {
        let is_material = |difference: f64| (difference.exp() - 1.0).abs() >= self.options.min_effect;
        let alpha = self.options.looks.alpha(alpha, self.counted.len());
        let found = ChangePoints::find(&self.cells, alpha, self.options.looks, is_material);
        for (&position, value) in self.counted.iter().zip(&found.values) {
            self.points[position].value = Some(value.exp());
        }
        found
    }

    /// The changes, and the shift from the first (or accepted) level to the newest.
    pub(super) fn changes(&self, found: &ChangePoints) -> (Vec<TrendChange>, Option<TrendShift>) {
        let accepted = self.options.accepted.as_deref().map(|accepted| self.accepted(accepted));
        // A known change may appear a little later than before.
        let is_known = |change: &ChangePoint, accepted: usize| {
            change.position <= accepted || change.plausible[0] <= accepted && change.position <= accepted + LATER
        };
        let is_accepted = |change: &&ChangePoint| accepted.is_some_and(|accepted| is_known(change, accepted));
        let known = found.changes.iter().rfind(is_accepted).map_or(0, |change| change.position);
        let last = found.tested() - 1;
        if found.slope.is_some() {
            let from = accepted.unwrap_or(0).min(last);
            let points = || from..last + 1;
            let since = found.shift(from, last).filter(|_| from < last);
            let shift = |shift| self.shift(shift, [points(), points()], [&mut points(), &mut points().rev()]);
            return (Vec::new(), since.map(shift));
        }
        let from = accepted.unwrap_or(0).max(known).min(last);
        let [base, new] = [from, last].map(|point| found.level(point));
        let since = found.shift(from, last).map(|shift| {
            self.shift(shift, [base.clone(), new.clone()], [&mut base.clone().rev(), &mut new.clone().rev()])
        });
        let change = |change: &ChangePoint| {
            let &ChangePoint { position, start, end, p, .. } = change;
            let [first, last] = [change.plausible[0], change.plausible[change.plausible.len() - 1]];
            let nearest: [&mut dyn Iterator<Item = usize>; 2] = [&mut (start..first).rev(), &mut (last..end)];
            TrendChange {
                point: self.counted[position],
                plausible: change.plausible.iter().map(|&point| self.counted[point]).collect(),
                is_provisional: found.tested() - position < PERSISTENCE,
                is_accepted: is_accepted(&change),
                shift: self.shift(change.shift, [start..position, position..end], nearest),
                p,
                confounders: self.confounders(change),
            }
        };
        (found.changes.iter().map(change).collect(), since)
    }

    /// The last point at or before the accepted one.
    fn accepted(&self, accepted: &str) -> usize {
        let is_before = |point: &TrendValue| match self.options.label {
            Some(_) => false,
            None => point.name.as_str() <= accepted,
        };
        let after = match self.points.iter().position(|point| point.name == accepted) {
            Some(point) => point + 1,
            None => self.points.iter().take_while(|point| is_before(point)).count(),
        };
        self.counted.partition_point(|&position| position < after).saturating_sub(1)
    }

    /// Converts a difference of two levels. `nearest` are the points to compare on each side, best first.
    fn shift(
        &self,
        shift: Shift,
        levels: [Range<usize>; 2],
        nearest: [&mut dyn Iterator<Item = usize>; 2],
    ) -> TrendShift {
        let (lower, upper) = shift.interval(1.0 - CONFIDENCE);
        TrendShift {
            from: self.counted[levels[0].start],
            ratio: shift.difference.exp(),
            interval: (lower.exp(), upper.exp()),
            confidence: CONFIDENCE,
            runs: levels.map(|points| points.map(|point| self.runs_in_value(point)).sum()),
            comparison: self.comparison(nearest).unwrap_or_default(),
        }
    }

    fn runs_in_value(&self, point: usize) -> u64 {
        let point = &self.points[self.counted[point]];
        point.runs - point.idle
    }

    /// The arguments that compare both sides of a shift, with enough points on each side to test functions. `None` if runs have no such label, or
    /// there is no command.
    fn comparison(&self, nearest: [&mut dyn Iterator<Item = usize>; 2]) -> Option<Vec<String>> {
        let options = self.options;
        settings::command()?;
        let mut words = Vec::new();
        for (points, setting) in nearest.into_iter().zip([BASE, NEW]) {
            let (mut runs, mut values) = (0, BTreeSet::new());
            while let Some(point) = points.next().filter(|_| runs < FUNCTION_UNITS) {
                runs += self.runs_in_value(point);
                for &run in &self.runs[self.counted[point]] {
                    values.insert(label_of(self.fleet, &self.fleet.runs[run], options.key())?);
                }
            }
            words.extend(values.iter().flat_map(|value| [setting.to_string(), format!("{}={value}", options.key())]));
        }
        words.extend(options.block.iter().flat_map(|block| [BLOCK.to_string(), block.clone()]));
        words.extend(self.measure.iter().flat_map(|measure| [MEASURE.to_string(), measure.to_string()]));
        Some(words)
    }

    /// The environment labels without a common value on both sides of a plausible point, and the device label if many runs are on new devices.
    fn confounders(&self, change: &ChangePoint) -> Vec<(String, [Vec<String>; 2])> {
        let options = self.options;
        let keys = ENVIRONMENT.into_iter().filter(|key| *key != options.key() && options.block.as_deref() != Some(key));
        let values = |key: &str, points: Range<usize>| -> BTreeMap<&str, usize> {
            let runs = points.flat_map(|point| &self.runs[self.counted[point]]);
            let mut counts = BTreeMap::new();
            runs.filter_map(|&run| label_of(self.fleet, &self.fleet.runs[run], key))
                .for_each(|value| *counts.entry(value).or_default() += 1);
            counts
        };
        let confounder = |key: &str| {
            let sides = change.plausible.iter().map(|&at| [values(key, change.start..at), values(key, at..change.end)]);
            let is_apart = |[before, after]: &[BTreeMap<&str, usize>; 2]| {
                let least = if key == "device" { NEW_DEVICES } else { 1.0 };
                !before.is_empty()
                    && !after.is_empty()
                    && f64::max(unshared(before, after), unshared(after, before)) >= least
            };
            let owned = |values: BTreeMap<&str, usize>| values.into_keys().map(str::to_owned).collect();
            sides.into_iter().find(is_apart).map(|sides| (key.to_owned(), sides.map(owned)))
        };
        keys.filter_map(confounder).collect()
    }
}

/// If at least this share of a level's runs is on devices that the other level lacks, the devices may explain the change.
const NEW_DEVICES: f64 = 0.2;

/// The share of these values that `others` lacks.
fn unshared(values: &BTreeMap<&str, usize>, others: &BTreeMap<&str, usize>) -> f64 {
    let only: usize = values.iter().filter(|(value, _)| !others.contains_key(*value)).map(|(_, count)| count).sum();
    only as f64 / values.values().sum::<usize>() as f64
}

pub(super) const fn is_or_are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// A run's value of a label, by which the report must have cohorts.
pub(super) fn label_of<'r>(fleet: &'r FleetReport, run: &RunRow, key: &str) -> Option<&'r str> {
    let labels = &fleet.cohorts[run.cohort].cohort.labels;
    labels.iter().find(|(name, _)| name == key)?.1.as_deref()
}

//! Where the CPU use of an app changes over its versions or over time.

use std::collections::{BTreeMap, BTreeSet};

use super::label_order::compare_labels;
use super::options::FleetOptions;
use super::report::{FleetReport, RunRow, TrendOver};
use super::trend::{Period, by_date, day_of, why_unordered};
use super::trend_series::Series;
use crate::stats::{Looks, PERSISTENCE};
use crate::units::{Unit, several};

/// Labels of the environment: if one of them changes together with the app, either can be the cause.
pub(super) const ENVIRONMENT: [&str; 3] = ["device", "os", "instruments"];

/// The label of a manifest that replaces the start of recordings.
const DATE: &str = "date";

/// If more than this share of the inputs failed, there is no answer: the rest may differ from them.
const MOST_FAILED: f64 = 0.1;

/// The question of a [`TrendReport`].
#[derive(Clone, Debug, PartialEq)]
pub struct TrendOptions {
    /// The label whose values are the points of the series; `None` for the dates of runs.
    pub label: Option<String>,
    /// The label whose values are compared with themselves, such as `device`.
    pub block: Option<String>,
    /// The probability of any false change in all tests of a series, as [`Looks::alpha`] spends it.
    pub alpha: f64,
    /// When the series is tested.
    pub looks: Looks,
    /// Smaller changes do not matter: 0.03 is 3 %.
    pub min_effect: f64,
    /// The point whose level is accepted: the answer compares the newest level with it, instead of with the first level.
    pub accepted: Option<String>,
    /// The inputs as words of a command line, for the recommended command; empty for no such command.
    pub inputs: Vec<String>,
}

impl TrendOptions {
    /// The options of the fleet report that has the runs of the trend.
    pub fn fleet(&self) -> FleetOptions {
        let by: Vec<String> = self.label.iter().chain(&self.block).cloned().collect();
        let date = self.label.is_none().then_some(DATE);
        let others = ENVIRONMENT.into_iter().chain(date).filter(|key| !by.iter().any(|known| known == key));
        let by_if_known = others.map(str::to_owned).collect();
        FleetOptions { by, by_if_known, scopes: Vec::new(), is_approximate: true, ..FleetOptions::default() }
    }

    /// The label that the points come from.
    pub(super) fn key(&self) -> &str {
        self.label.as_deref().unwrap_or(DATE)
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
    /// The changes in order; empty if the change `is_gradual`.
    pub changes: Vec<TrendChange>,
    /// The newest level against the first one, or against the accepted one; `None` if they are the same.
    pub since: Option<TrendShift>,
    /// True if a straight line explains the values better than changes do.
    pub is_gradual: bool,
    /// The reason why changes cannot be found, in a sentence.
    pub problem: Option<String>,
    /// True if the problem is the input, and not too few points.
    pub is_invalid: bool,
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

/// The difference of two levels.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrendShift {
    /// The position of the first point of the earlier level, or of the ramp.
    pub from: usize,
    /// The later level divided by the earlier one.
    pub ratio: f64,
    /// The interval of the ratio.
    pub interval: (f64, f64),
    /// The confidence of the interval.
    pub confidence: f64,
    /// The number of runs in the values of both levels. In a ramp, both are all its runs.
    pub runs: [u64; 2],
    /// The options of `traceparse compare` that compare runs of both levels, those nearest to the change.
    pub comparison: Vec<String>,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrendChange {
    /// The position of the most likely first point of the new level.
    pub point: usize,
    /// The positions of all plausible first points.
    pub plausible: Vec<usize>,
    /// True if fewer points than a level needs follow it.
    pub is_provisional: bool,
    /// True if the change is at or before the accepted point.
    pub is_accepted: bool,
    /// The difference from the level before it.
    pub shift: TrendShift,
    /// An upper bound of the probability that runs without a change show one that is this clear.
    pub p: f64,
    /// Labels of the environment that change completely at a plausible point, with their values before and after.
    pub confounders: Vec<(String, [Vec<String>; 2])>,
}

/// The answer in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrendVerdict {
    /// The newest level is slower than the first one, or than the accepted one.
    Slower,
    /// The newest level is faster.
    Faster,
    /// There is no change, or changes cancel each other.
    NoChange,
    /// There are too few points.
    Unknown,
    /// The input does not allow an answer.
    Invalid,
}

impl TrendVerdict {
    /// The name in machine formats.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::NoChange => "no-change",
            Self::Unknown => "unknown",
            Self::Invalid => "invalid",
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
                let (periods, without) = by_label(fleet, &of_unit, label);
                leave_out(without, &format!("without {label}"));
                (TrendOver::Label(label.clone()), periods)
            }
            None => {
                let date = |run: &'r RunRow| label_of(fleet, run, DATE).or(run.start.as_deref());
                let dates = of_unit.iter().map(|&run| (run, date(&fleet.runs[run])));
                let (over, periods, undated) = by_date(dates, 2 * PERSISTENCE);
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
        let invalid = too_many_failed(fleet)
            .or_else(|| unusable(fleet, &series.points, &over, &options))
            .map(|why| format!("Invalid: {why}."));
        let (is_invalid, problem) = (invalid.is_some(), invalid.or_else(|| series.too_few_points()));
        let found = series.find(&options);
        let (changes, since) =
            problem.as_ref().map_or_else(|| series.changes(&found, &options), |_| (Vec::new(), None));
        let is_gradual = problem.is_none() && found.slope.is_some();
        let points = series.points;
        Self { fleet, options, over, unit, points, changes, since, is_gradual, problem, is_invalid, notes }
    }

    /// The answer: the newest level against the first one, or against the accepted one.
    ///
    /// A single change was tested before. For several changes, or a ramp, the interval must also exclude 1, since changes can cancel each other.
    pub fn verdict(&self) -> TrendVerdict {
        let Some(TrendShift { ratio, interval: (lower, upper), .. }) = self.since else {
            return match (self.is_invalid, &self.problem) {
                (true, _) => TrendVerdict::Invalid,
                (false, Some(_)) => TrendVerdict::Unknown,
                (false, None) => TrendVerdict::NoChange,
            };
        };
        let is_tested = self.only_change().is_some() || lower > 1.0 || upper < 1.0;
        match is_tested && (ratio - 1.0).abs() >= self.options.min_effect {
            true if ratio > 1.0 => TrendVerdict::Slower,
            true => TrendVerdict::Faster,
            false => TrendVerdict::NoChange,
        }
    }

    /// The change that is not accepted, if it is the only one.
    pub(crate) fn only_change(&self) -> Option<&TrendChange> {
        let mut changes = self.changes.iter().filter(|change| !change.is_accepted);
        changes.next().filter(|_| changes.next().is_none())
    }
}

pub(super) const fn is_or_are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn unit_of(fleet: &FleetReport, run: &RunRow) -> Unit {
    fleet.cohorts[run.cohort].cohort.unit
}

/// The value of a label that the report has cohorts by.
pub(super) fn label_of<'r>(fleet: &'r FleetReport, run: &RunRow, key: &str) -> Option<&'r str> {
    let labels = &fleet.cohorts[run.cohort].cohort.labels;
    labels.iter().find(|(name, _)| name == key)?.1.as_deref()
}

fn most_frequent_unit(fleet: &FleetReport) -> Unit {
    let mut counts = BTreeMap::<Unit, u64>::new();
    fleet.runs.iter().for_each(|run| *counts.entry(unit_of(fleet, run)).or_default() += 1);
    // The first of equally frequent units.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map_or(Unit::Nanoseconds, |(unit, _)| unit)
}

/// The runs of each value of a label, in their order, and the number of runs without one.
fn by_label(fleet: &FleetReport, runs: &[usize], label: &str) -> (Vec<Period>, u64) {
    let (mut periods, mut without) = (BTreeMap::<&str, Vec<usize>>::new(), 0);
    for &run in runs {
        match label_of(fleet, &fleet.runs[run], label) {
            Some(value) => periods.entry(value).or_default().push(run),
            None => without += 1,
        }
    }
    let mut periods: Vec<Period> = periods.into_iter().map(|(name, runs)| (name.to_owned(), runs)).collect();
    periods.sort_by(|a, b| compare_labels(&a.0, &b.0));
    (periods, without)
}

/// Why the inputs that were measured may differ from the others.
fn too_many_failed(fleet: &FleetReport) -> Option<String> {
    let failed = fleet.inputs.unmeasured();
    let all = failed + fleet.runs.len();
    (failed as f64 > MOST_FAILED * all as f64).then(|| {
        format!("{failed} of {} could not be measured, and the others may differ from them", several(all, "input"))
    })
}

/// Why these runs have no series.
fn unusable(fleet: &FleetReport, points: &[TrendValue], over: &TrendOver, options: &TrendOptions) -> Option<String> {
    let known: BTreeSet<&str> = points.iter().map(|point| point.name.as_str()).collect();
    if points.is_empty() {
        return Some(match &options.label {
            Some(label) => format!("no run has {label}"),
            None => "no run has a known date".to_owned(),
        });
    }
    if points.iter().all(|point| point.runs == point.idle) {
        return Some("all runs are idle".to_owned());
    }
    if let TrendOver::Label(label) = over {
        if let Some(why) = why_unordered(&fleet.cohorts, 0) {
            return Some(why.trim_end_matches('.').to_owned());
        }
        let missing = options.accepted.as_ref().filter(|accepted| !known.contains(accepted.as_str()));
        return missing.map(|accepted| format!("no run has {label} {accepted}, which --accepted names"));
    }
    let accepted = options.accepted.as_ref().filter(|accepted| day_of(accepted).is_none());
    accepted.map(|accepted| format!("--accepted {accepted} is not a date such as 2026-01-31"))
}

//! Where an app changes over its versions or over time.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::{Choice, Comparison, Quantity, QuantityValues, Side};
use super::label_order::compare_labels;
use super::options::FleetOptions;
use super::report::{FleetReport, RunRow, TrendOver};
use super::trend::{Period, by_date, day_of, why_unordered};
use super::trend_series::Series;
use super::unmeasured::too_many_unmeasured;
use crate::stats::Looks;
use crate::units::{Unit, several};

/// Labels of the environment: if one of them changes together with the app, either can be the cause.
pub(super) const ENVIRONMENT: [&str; 3] = ["device", "os", "instruments"];

/// The label of a run whose app exited by itself.
const EXIT_STATUS: &str = "exit_status";

/// The label of a manifest that replaces the start of recordings.
const DATE: &str = "date";

/// The question of a [`TrendReport`].
#[derive(Clone, Debug, PartialEq)]
pub struct TrendOptions {
    /// The quantities, which share alpha; the recordings decide if there are none.
    pub measures: Vec<Quantity>,
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
        let others =
            ENVIRONMENT.into_iter().chain([EXIT_STATUS]).chain(date).filter(|key| !by.iter().any(|known| known == key));
        let by_if_known = others.map(str::to_owned).collect();
        FleetOptions { by, by_if_known, scopes: Vec::new(), is_approximate: true, ..FleetOptions::default() }
    }

    /// The label that the points come from.
    pub(super) fn key(&self) -> &str {
        self.label.as_deref().unwrap_or(DATE)
    }
}

/// The answer to the question whether an app became slower over its versions, or over time.
#[derive(Debug)]
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
    /// Why the first quantity is measured.
    pub choice: Choice,
    /// The series of each quantity; at least one.
    pub series: Vec<TrendSeries>,
    /// What the values leave out, in sentences.
    pub notes: Vec<String>,
    /// The runs nearest to the [newest change](Self::newest_shift), with their functions, if it was made.
    pub comparison: Option<Comparison>,
}

/// A quantity over the points.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrendSeries {
    /// The quantity.
    pub quantity: Quantity,
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
    /// What makes the answer unknown.
    pub doubt: Option<TrendDoubt>,
    /// Smaller changes do not matter.
    min_effect: f64,
}

/// What lengths of recordings say about an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum TrendDoubt {
    /// Lengths of recordings changed by the first shift, and CPU time does not agree with CPU use: it changed by the second one, if at all.
    Lengths(TrendShift, Option<TrendShift>),
    /// Recordings became shorter by this, as after a crash.
    Shorter(TrendShift),
}

/// The runs of one version, or one day.
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
    /// The quantity: the mean over blocks of the geometric mean of their runs, as if all blocks had runs. `None` if no run or block counts.
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
    /// Finds the changes among the runs of a builder [for trends](super::FleetBuilder::for_trend).
    pub fn new(side: &'r Side, options: TrendOptions) -> Self {
        let fleet = &side.report;
        let unit = most_frequent_unit(fleet);
        let mut notes = Vec::new();
        let mut leave_out = |count: u64, why: &str| {
            notes
                .extend((count > 0).then(|| format!("{} {why} {} left out.", several(count, "run"), is_or_are(count))));
        };
        let (over, mut periods, without) = points_of(fleet, &options);
        leave_out(without, &format!("without {}", options.label.as_deref().unwrap_or("a known date")));
        let mut leave_out_if = |why: &str, is: &dyn Fn(&RunRow) -> bool| {
            let before: usize = periods.iter().map(|(_, runs)| runs.len()).sum();
            periods.iter_mut().for_each(|(_, runs)| runs.retain(|&run| !is(&fleet.runs[run])));
            let left_out = before - periods.iter().map(|(_, runs)| runs.len()).sum::<usize>();
            leave_out(left_out as u64, why);
            left_out
        };
        leave_out_if("in another unit", &|run| unit_of(fleet, run) != unit);
        if let Some(block) = &options.block {
            leave_out_if(&format!("without {block}"), &|run| label_of(fleet, run, block).is_none());
        }
        let status = |run: &'r RunRow| label_of(fleet, run, EXIT_STATUS);
        // If all fail, they are alike.
        let may_succeed = fleet.runs.iter().any(|run| status(run).is_none_or(|status| status == "0"));
        let has_failed =
            |run: &RunRow| may_succeed && label_of(fleet, run, EXIT_STATUS).is_some_and(|status| status != "0");
        let failed = leave_out_if("whose app exited with another status than 0", &has_failed);
        let (names, runs): (Vec<String>, Vec<Vec<usize>>) = periods.into_iter().unzip();
        let (choice, quantities) = match options.measures.as_slice() {
            [] => {
                let choice = Choice::of_series(side, &in_order(fleet, &runs, &options));
                (choice, vec![choice.quantity()])
            }
            requested => (Choice::Requested, requested.to_vec()),
        };
        let points = Points { side, over: &over, names: &names, runs: &runs, failed, choice };
        let alpha = options.alpha / quantities.len() as f64;
        let mut series = Vec::new();
        for quantity in &quantities {
            let mut found = Vec::new();
            series.push(points.series(quantity, &options, alpha, &mut found));
            found.retain(|note| !notes.contains(note));
            notes.append(&mut found);
        }
        Self { fleet, options, over, unit, choice, series, notes, comparison: None }
    }

    /// The answer about all quantities: slower if one is.
    pub fn verdict(&self) -> TrendVerdict {
        let verdicts: Vec<TrendVerdict> = self.series.iter().map(TrendSeries::verdict).collect();
        let is = |verdict: &TrendVerdict| verdicts.contains(verdict);
        use TrendVerdict::{Faster, Invalid, Slower, Unknown};
        [Invalid, Slower, Unknown, Faster].into_iter().find(is).unwrap_or(TrendVerdict::NoChange)
    }

    /// The newest change of the first quantity that has one: the one to look at, if it is not accepted.
    pub fn newest_shift(&self) -> Option<&TrendShift> {
        self.series.iter().find_map(TrendSeries::newest_shift)
    }
}

/// The points of all series.
struct Points<'a> {
    side: &'a Side,
    over: &'a TrendOver,
    names: &'a [String],
    /// By point.
    runs: &'a [Vec<usize>],
    /// The number of runs whose app failed.
    failed: usize,
    choice: Choice,
}

impl Points<'_> {
    /// Finds the changes of a quantity, and what lengths say about them.
    fn series(&self, quantity: &Quantity, options: &TrendOptions, alpha: f64, notes: &mut Vec<String>) -> TrendSeries {
        let found = self.tested(quantity, options, alpha, notes);
        TrendSeries { doubt: self.doubt(&found, options, alpha), ..found }
    }

    /// Finds the changes of a quantity. Sentences about what is left out are added to `notes`.
    fn tested(&self, quantity: &Quantity, options: &TrendOptions, alpha: f64, notes: &mut Vec<String>) -> TrendSeries {
        let fleet = &self.side.report;
        let values = QuantityValues::new(quantity, self.side);
        // Reports have one.
        let measure = Some(quantity).filter(|_| self.choice != Choice::Report);
        let mut series = Series::new((fleet, options), (self.names, self.runs), &values, measure);
        let runs = self.runs.iter().flatten();
        let missing = runs.clone().filter(|&&run| values.get(run).is_none()).count();
        let idle: u64 = series.points.iter().map(|point| point.idle).sum();
        let left_out = (missing > 0)
            .then(|| format!("{} without {quantity} {} left out.", several(missing, "run"), is_or_are(missing as u64)));
        let counted = (idle > 0).then(|| {
            format!("{} (0 % CPU) {} counted, but not in the values.", several(idle, "idle run"), is_or_are(idle))
        });
        notes.extend(left_out.into_iter().chain(counted));
        notes.extend(series.alone.take());
        let unmeasured = fleet.inputs.unmeasured();
        let all = unmeasured + fleet.runs.len();
        let invalid = unusable(fleet, &series.points, self.over, options)
            .or_else(|| (missing == runs.count()).then(|| format!("no run has the quantity {quantity}")))
            .or_else(|| too_many_unmeasured(unmeasured + self.failed + missing, all, ""))
            .or_else(|| series.unusable())
            .map(|why| format!("Invalid: {why}."));
        let (is_invalid, problem) = (invalid.is_some(), invalid.or_else(|| series.too_few_points()));
        let found = series.find(alpha);
        let (changes, since) = problem.as_ref().map_or_else(|| series.changes(&found), |_| (Vec::new(), None));
        if problem.is_none() {
            notes.extend(series.untested(&found));
        }
        let is_gradual = problem.is_none() && found.slope.is_some();
        let (points, min_effect, quantity) = (series.points, options.min_effect, quantity.clone());
        TrendSeries { quantity, points, changes, since, is_gradual, problem, is_invalid, doubt: None, min_effect }
    }

    /// What lengths say about an answer: whether CPU time agrees with CPU use, and whether apps may have crashed.
    fn doubt(&self, series: &TrendSeries, options: &TrendOptions, alpha: f64) -> Option<TrendDoubt> {
        let verdict = series.verdict();
        let is_good = matches!(verdict, TrendVerdict::NoChange | TrendVerdict::Faster);
        let is_asked = self.choice == Choice::Requested;
        let needs_time = series.quantity == Quantity::CpuUse
            && !options.measures.contains(&Quantity::CpuTime)
            && (is_good || !is_asked && verdict == TrendVerdict::Slower);
        let may_have_failed = is_good && self.choice.may_have_failed(&[self.side]);
        if self.choice == Choice::Report || !(needs_time || may_have_failed) {
            return None;
        }
        let of = |quantity| self.tested(&quantity, options, alpha, &mut Vec::new());
        let lengths = of(Quantity::Elapsed);
        let since = lengths.since.clone()?;
        if lengths.verdict() == TrendVerdict::Faster && may_have_failed {
            return Some(TrendDoubt::Shorter(since));
        }
        let time = Some(Quantity::CpuTime).filter(|_| needs_time).map(of)?;
        let agrees = match (verdict, time.verdict()) {
            (TrendVerdict::NoChange, time) => time != TrendVerdict::Slower,
            (TrendVerdict::Faster, time) if is_asked => time != TrendVerdict::Slower,
            (verdict, time) => time == verdict,
        };
        (!agrees).then_some(TrendDoubt::Lengths(since, time.since))
    }
}

impl TrendSeries {
    /// The answer: the newest level against the first one, or against the accepted one.
    ///
    /// A single change was tested before. For several changes, or a ramp, the interval must also exclude 1, since changes can cancel each other.
    pub fn verdict(&self) -> TrendVerdict {
        if self.doubt.is_some() {
            return TrendVerdict::Unknown;
        }
        let Some(TrendShift { ratio, interval: (lower, upper), .. }) = self.since else {
            return match (self.is_invalid, &self.problem) {
                (true, _) => TrendVerdict::Invalid,
                (false, Some(_)) => TrendVerdict::Unknown,
                (false, None) => TrendVerdict::NoChange,
            };
        };
        let is_tested = self.only_change().is_some() || lower > 1.0 || upper < 1.0;
        match is_tested && (ratio - 1.0).abs() >= self.min_effect {
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

    /// The newest change that is not accepted, or the ramp.
    pub(crate) fn newest_shift(&self) -> Option<&TrendShift> {
        let newest = self.changes.iter().rfind(|change| !change.is_accepted);
        newest.map(|change| &change.shift).or_else(|| self.since.as_ref().filter(|_| self.is_gradual))
    }
}

/// The runs by block, then in order of points.
fn in_order(fleet: &FleetReport, runs: &[Vec<usize>], options: &TrendOptions) -> Vec<usize> {
    let block = |run: &usize| options.block.as_ref().and_then(|key| label_of(fleet, &fleet.runs[*run], key));
    let mut runs = runs.concat();
    runs.sort_by_key(|run| block(run));
    runs
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

/// The points with all of their runs, and the number of runs that have none.
fn points_of<'r>(fleet: &'r FleetReport, options: &TrendOptions) -> (TrendOver, Vec<Period>, u64) {
    if let Some(label) = &options.label {
        let (periods, without) = by_label(fleet, label);
        return (TrendOver::Label(label.clone()), periods, without);
    }
    let date = |run: &'r RunRow| label_of(fleet, run, DATE).or(run.start.as_deref());
    let dates = fleet.runs.iter().enumerate().map(|(index, run)| (Some(index), date(run)));
    let failed = failed_labels(fleet, DATE).map(|date| (None, Some(date)));
    // A change in weeks would need five of them.
    by_date(dates.chain(failed), usize::MAX)
}

/// The values of a label of inputs that could not be measured.
fn failed_labels<'r>(fleet: &'r FleetReport, key: &str) -> impl Iterator<Item = &'r str> {
    let failed = fleet.inputs.failed.iter().filter(|failed| failed.kind.is_unmeasured());
    failed.flat_map(|failed| &failed.labels).filter(move |(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// The runs of each value of a label, in their order, and the number of runs without one. Values that only failed inputs have are without runs.
fn by_label(fleet: &FleetReport, label: &str) -> (Vec<Period>, u64) {
    let (mut periods, mut without) = (BTreeMap::<&str, Vec<usize>>::new(), 0);
    for (index, run) in fleet.runs.iter().enumerate() {
        match label_of(fleet, run, label) {
            Some(value) => periods.entry(value).or_default().push(index),
            None => without += 1,
        }
    }
    for value in failed_labels(fleet, label) {
        periods.entry(value).or_default();
    }
    let mut periods: Vec<Period> = periods.into_iter().map(|(name, runs)| (name.to_owned(), runs)).collect();
    periods.sort_by(|a, b| compare_labels(&a.0, &b.0));
    (periods, without)
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
    let has_runs = points.iter().any(|point| point.runs > 0);
    if has_runs && points.iter().all(|point| point.runs == point.idle) {
        return Some("all runs are idle".to_owned());
    }
    if let TrendOver::Label(label) = over {
        if let Some(why) = why_unordered(&fleet.cohorts, 0).filter(|_| known.len() > 2) {
            return Some(why.trim_end_matches('.').to_owned());
        }
        let missing = options.accepted.as_ref().filter(|accepted| !known.contains(accepted.as_str()));
        return missing.map(|accepted| format!("no run has {label} {accepted}, which --accepted names"));
    }
    let accepted = options.accepted.as_ref()?;
    let newest = &points[points.len() - 1].name;
    match day_of(accepted) {
        None => Some(format!("--accepted {accepted} is not a date such as 2026-01-31")),
        day if day > day_of(newest) => Some(format!("--accepted {accepted} is after the newest day, {newest}")),
        _ => None,
    }
}

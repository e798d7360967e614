//! Finds changes in an app's performance by version or over time.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::{Choice, Comparison, Quantity, QuantityValues, Side};
use super::label_order::compare_labels;
use super::report::{FleetReport, RunRow, TrendOver};
use super::trend::{Period, by_date, day_of, why_unordered};
use super::trend_options::{DATE, EXIT_STATUS, TrendOptions};
use super::trend_series::{Series, TrendChange, TrendShift, TrendValue, is_or_are, label_of};
use crate::alert::too_many_unmeasured;
use crate::settings::ACCEPTED;
use crate::units::{Unit, several};

/// Whether an app became slower over its versions, or over time.
#[derive(Debug)]
#[non_exhaustive]
pub struct TrendReport<'r> {
    /// The report that contains the runs.
    pub fleet: &'r FleetReport,
    /// The options.
    pub options: TrendOptions,
    /// The unit of the points.
    pub over: TrendOver,
    /// The unit of the runs.
    pub unit: Unit,
    /// Why the first quantity was chosen.
    pub choice: Choice,
    /// One series per quantity; at least one.
    pub series: Vec<TrendSeries>,
    /// Sentences about omitted runs and values.
    pub notes: Vec<String>,
    /// The comparison of runs on both sides of the [newest change](Self::newest_shift), with their functions, if requested.
    pub comparison: Option<Comparison>,
}

/// The values of one quantity at each point.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrendSeries {
    /// The quantity.
    pub quantity: Quantity,
    /// The points in order.
    pub points: Vec<TrendValue>,
    /// The changes in order; empty if `is_gradual`.
    pub changes: Vec<TrendChange>,
    /// The shift from the first (or accepted) level to the newest; `None` if they are the same level.
    pub since: Option<TrendShift>,
    /// True if a straight line fits the values better than separate changes.
    pub is_gradual: bool,
    /// A sentence that explains why changes cannot be found.
    pub problem: Option<String>,
    /// True if the problem is invalid input rather than too few points.
    pub is_invalid: bool,
    /// Why the verdict is unknown.
    pub doubt: Option<TrendDoubt>,
    /// The smallest relevant change.
    pub(crate) min_effect: f64,
}

/// Why recorded lengths cast doubt on a verdict.
#[derive(Clone, Debug, PartialEq)]
pub enum TrendDoubt {
    /// Recording lengths changed by the first shift, and CPU time disagrees with CPU use: it changed by the second shift, or not at all.
    Lengths(TrendShift, Option<TrendShift>),
    /// Recordings became shorter by this shift, as after crashes.
    Shorter(TrendShift),
}

/// The verdict of a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrendVerdict {
    /// The newest level is slower than the first (or accepted) one.
    Slower,
    /// The newest level is faster than the first (or accepted) one.
    Faster,
    /// Nothing changed, or changes cancel each other.
    NoChange,
    /// There are too few points, or the recorded lengths cast [doubt](TrendDoubt) on the answer.
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
        // If all runs failed, they are comparable.
        let may_succeed = fleet.runs.iter().any(|run| status(run).is_none_or(|status| status == "0"));
        let has_failed =
            |run: &RunRow| may_succeed && label_of(fleet, run, EXIT_STATUS).is_some_and(|status| status != "0");
        let failed = leave_out_if("whose app exited with a status other than 0", &has_failed);
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

    /// The overall verdict: slower if any quantity is slower, unless one is invalid.
    pub fn verdict(&self) -> TrendVerdict {
        let verdicts: Vec<TrendVerdict> = self.series.iter().map(TrendSeries::verdict).collect();
        let is = |verdict: &TrendVerdict| verdicts.contains(verdict);
        use TrendVerdict::{Faster, Invalid, Slower, Unknown};
        [Invalid, Slower, Unknown, Faster].into_iter().find(is).unwrap_or(TrendVerdict::NoChange)
    }

    /// The newest change that is not accepted, of the first quantity with one.
    pub fn newest_shift(&self) -> Option<&TrendShift> {
        self.series.iter().find_map(TrendSeries::newest_shift)
    }
}

/// The points that all series share.
struct Points<'a> {
    side: &'a Side,
    over: &'a TrendOver,
    names: &'a [String],
    /// For each point, its runs.
    runs: &'a [Vec<usize>],
    /// The number of runs omitted because the app failed.
    failed: usize,
    choice: Choice,
}

impl Points<'_> {
    /// Finds the changes of a quantity, and checks them against the recorded lengths.
    fn series(&self, quantity: &Quantity, options: &TrendOptions, alpha: f64, notes: &mut Vec<String>) -> TrendSeries {
        let found = self.tested(quantity, options, alpha, notes);
        TrendSeries { doubt: self.doubt(&found, options, alpha), ..found }
    }

    /// Finds the changes of a quantity. Adds sentences about omitted values to `notes`.
    fn tested(&self, quantity: &Quantity, options: &TrendOptions, alpha: f64, notes: &mut Vec<String>) -> TrendSeries {
        let fleet = &self.side.report;
        let values = QuantityValues::new(quantity, self.side);
        // Reports from the field have a single quantity, so the recommended command need not name it.
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

    /// Checks with the recorded lengths whether CPU time agrees with CPU use, and whether apps may have crashed.
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
    /// The verdict of comparing the newest level with the first (or accepted) one.
    ///
    /// A single change has already been tested. With several changes or a ramp, the interval must also exclude 1, since changes can cancel each
    /// other.
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

    /// The only change that is not accepted; `None` if there are several.
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

/// All runs, sorted by block and then by point.
fn in_order(fleet: &FleetReport, runs: &[Vec<usize>], options: &TrendOptions) -> Vec<usize> {
    let block = |run: &usize| options.block.as_ref().and_then(|key| label_of(fleet, &fleet.runs[*run], key));
    let mut runs = runs.concat();
    runs.sort_by_key(|run| block(run));
    runs
}

fn unit_of(fleet: &FleetReport, run: &RunRow) -> Unit {
    fleet.cohorts[run.cohort].cohort.unit
}

fn most_frequent_unit(fleet: &FleetReport) -> Unit {
    let mut counts = BTreeMap::<Unit, u64>::new();
    fleet.runs.iter().for_each(|run| *counts.entry(unit_of(fleet, run)).or_default() += 1);
    // The first one in a tie.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map_or(Unit::Nanoseconds, |(unit, _)| unit)
}

/// The points with their runs, and the number of runs without a point.
fn points_of<'r>(fleet: &'r FleetReport, options: &TrendOptions) -> (TrendOver, Vec<Period>, u64) {
    if let Some(label) = &options.label {
        let (periods, without) = by_label(fleet, label);
        return (TrendOver::Label(label.clone()), periods, without);
    }
    let date = |run: &'r RunRow| label_of(fleet, run, DATE).or(run.start.as_deref());
    let dates = fleet.runs.iter().enumerate().map(|(index, run)| (Some(index), date(run)));
    let failed = failed_labels(fleet, DATE).map(|date| (None, Some(date)));
    // Never by week, since a confirmed change would need five weeks.
    by_date(dates.chain(failed), usize::MAX)
}

/// The values of a label in inputs that could not be measured.
fn failed_labels<'r>(fleet: &'r FleetReport, key: &str) -> impl Iterator<Item = &'r str> {
    let failed = fleet.inputs.failed.iter().filter(|failed| failed.kind.is_unmeasured());
    failed.flat_map(|failed| &failed.labels).filter(move |(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// The runs by label value, in order, and the number of runs without a value. Values of failed inputs only have no runs.
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

/// Explains why a series cannot be tested.
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
        return missing.map(|accepted| format!("no run has {label} {accepted}, which {ACCEPTED} names"));
    }
    let accepted = options.accepted.as_ref()?;
    let newest = &points[points.len() - 1].name;
    match day_of(accepted) {
        None => Some(format!("{ACCEPTED} {accepted} is not a date such as 2026-01-31")),
        day if day > day_of(newest) => Some(format!("{ACCEPTED} {accepted} is after the newest day, {newest}")),
        _ => None,
    }
}

//! The findings of a report as sentences, the same for text and HTML; and alerts as single lines for logs.

use std::collections::{BTreeMap, BTreeSet};

use super::comparison::sentences::{self, change};
use super::measures::{Measures, measure_name, noun};
use super::opening::name_of;
use super::{many, thousands};
use crate::alert::AlertOutcome;
use crate::fleet::{
    Cohort, CohortDifference, CohortReport, Contrast, Finding, FleetOptions, FleetReport, FleetScope, ScopeName,
    SortKey,
};
use crate::output::alerts::{self, AlertLine};
use crate::output::text::style::fit;
use crate::settings::BEYOND;
use crate::stats::{Estimate, Quantile, Support};
use crate::units::{Unit, capitalized};

/// The maximum width of a name in a sentence.
const NAME: usize = 44;

/// How a reader should take a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    Bad,
    Doubtful,
    Good,
    Plain,
}

impl Mood {
    /// The name in the document of the page.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Doubtful => "doubtful",
            Self::Good => "good",
            Self::Plain => "plain",
        }
    }
}

/// The maximum number of points: more would not fit the first screen of a phone.
const MOST: usize = 6;

#[derive(Debug)]
pub(super) struct Point {
    kind: Kind,
    pub(super) mood: Mood,
    pub(super) text: String,
}

/// The findings, most urgent first. Strings from the input are verbatim.
pub(super) fn points(report: &FleetReport) -> Vec<Point> {
    let mut points: Vec<Point> = crashes(report).into_iter().collect();
    for finding in &report.findings {
        let last = points.last_mut();
        let is_further_use = last.as_ref().is_some_and(|point| point.kind == Kind::Uses);
        let (kind, mood, text) = Sentences { report }.of(finding, is_further_use);
        match last.filter(|point| point.kind == kind && matches!(kind, Kind::Differences | Kind::Uses)) {
            Some(point) => {
                let between = if kind == Kind::Uses { "" } else { " " };
                point.text = format!("{}{between}{text}", point.text);
                point.mood = if point.mood == Mood::Plain { mood } else { point.mood };
            }
            None => points.push(Point { kind, mood, text }),
        }
    }
    // If there are too many points, drop them in this order: points without a finding before actual findings.
    let plain = |kind| move |point: &Point| point.kind == kind && point.mood == Mood::Plain;
    let any = |kind| move |point: &Point| point.kind == kind;
    let less: [&dyn Fn(&Point) -> bool; 5] =
        [&any(Kind::Row), &any(Kind::Uses), &plain(Kind::Differences), &plain(Kind::Other), &any(Kind::Differences)];
    for is_less in less {
        while let Some(last) = points.iter().rposition(is_less).filter(|_| points.len() > MOST) {
            points.remove(last);
        }
    }
    points.truncate(MOST);
    points.iter_mut().filter(|point| !point.text.ends_with('.')).for_each(|point| point.text.push('.'));
    points
}

/// The kinds of points. Consecutive differences and uses are merged into one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Differences,
    Row,
    Uses,
    Other,
}

/// The number of crashes, and the most frequent location.
fn crashes(report: &FleetReport) -> Option<Point> {
    let mut places: BTreeMap<&str, u64> = BTreeMap::new();
    report.crashes.iter().for_each(|(_, place, count)| *places.entry(place).or_default() += count);
    // `max_by_key` returns the last of equal locations, so go backwards to get the first by name.
    let (place, count) = places.iter().rev().max_by_key(|(_, count)| **count)?;
    // Unnamed code may be in several functions.
    let place =
        place.strip_prefix("(unnamed)").map_or(place.to_string(), |binary| format!("code without names{binary}"));
    // Shorten the name only: the words after it qualify the sentence.
    let (name, rest) = place.split_at(place.rfind(" (").unwrap_or(place.len()));
    let (all, place) = (all_crashes(report), cut(name) + rest);
    let text = match places.len() {
        1 => format!("{all}, in {place}"),
        places => format!("{all} in {} places; {} in {place}", thousands(places as u64), thousands(*count)),
    };
    Some(Point { kind: Kind::Other, mood: Mood::Plain, text })
}

/// `4 crashes`.
pub(super) fn all_crashes(report: &FleetReport) -> String {
    many(report.crashes.iter().map(|(.., count)| count).sum::<u64>(), "crash").replace("crashs", "crashes")
}

struct Sentences<'r> {
    report: &'r FleetReport,
}

impl Sentences<'_> {
    fn of(&self, finding: &Finding, is_further_use: bool) -> (Kind, Mood, String) {
        match finding {
            Finding::Alerts { fired, undecided, quiet, first } => {
                let mood = match (fired, undecided) {
                    (0, 0) => Mood::Good,
                    (0, _) => Mood::Doubtful,
                    _ => Mood::Bad,
                };
                (Kind::Other, mood, self.alerts(*fired, *undecided, *quiet, *first))
            }
            Finding::Level { .. } => (Kind::Other, Mood::Plain, self.level(finding)),
            Finding::Difference { from, to, difference, values, idle } => {
                (Kind::Differences, Mood::Plain, self.difference((*from, *to), *difference, *values, *idle))
            }
            Finding::NoDifference { cohorts, is_newest, is_testable } => {
                (Kind::Differences, Mood::Plain, self.no_difference(cohorts, *is_newest, *is_testable))
            }
            Finding::RowDifference { scope, name, quantile, low, high } => {
                let name = row_name(*scope, name);
                (Kind::Row, Mood::Plain, self.row_difference(&name, *quantile, *low, *high))
            }
            Finding::MostUsed { cohort, scope, name, share, percentile } => {
                let name = row_name(*scope, name);
                (Kind::Uses, Mood::Plain, self.most_used(*cohort, *scope, (&name, *share), *percentile, is_further_use))
            }
            Finding::Tail { .. } => (Kind::Other, Mood::Plain, self.tail(finding)),
            Finding::Inputs { .. } => (Kind::Other, Mood::Doubtful, inputs(finding)),
        }
    }

    /// The number format for a unit in a sentence, and the suffix of numbers. Units and decimals are the same as in tables.
    fn measures(&self, unit: Unit, largest: f64) -> (Measures, String) {
        let measures = Measures::of(unit, largest);
        (measures, if unit == Unit::Nanoseconds { " %".to_owned() } else { format!(" {}", measures.unit()) })
    }

    fn unit(&self, cohort: usize) -> Unit {
        self.report.cohorts.get(cohort).map_or(Unit::Nanoseconds, |cohort| cohort.cohort.unit)
    }

    fn cohort(&self, cohort: usize) -> String {
        self.report.cohorts.get(cohort).map_or_else(String::new, |cohort| values_of(&cohort.cohort))
    }

    fn alerts(&self, fired: u64, undecided: u64, quiet: u64, first: Option<usize>) -> String {
        let all = fired + undecided + quiet;
        let first = first.and_then(|first| self.report.alerts.get(first));
        let Some(alert) = first else {
            return match all {
                1 => "The alert did not fire.".to_owned(),
                _ => format!("None of {} alerts fired.", thousands(all)),
            };
        };
        let whose = match self.report.cohorts.len() {
            0 | 1 => String::new(),
            _ => format!(" in {}", self.cohort(alert.cohort)),
        };
        let (rule, found) = (&alert.rule.text, alert_found(self.report, alert, None));
        let note = alert.note.as_ref().map_or_else(String::new, |note| format!("; {note}"));
        let counts = match (fired, undecided) {
            (0, undecided) => {
                format!("No alert fired, but {} of {} could not be decided", thousands(undecided), thousands(all))
            }
            (fired, 0) => format!("{} of {} fired", thousands(fired), many(all, "alert")),
            _ => format!(
                "{} of {} fired, and {} could not be decided",
                thousands(fired),
                many(all, "alert"),
                thousands(undecided)
            ),
        };
        format!("{counts}: {rule}{whose}: {found}{note}.")
    }

    fn level(&self, finding: &Finding) -> String {
        let &Finding::Level { unit, runs, median, tail, lacking, max } = finding else { return String::new() };
        let Some((max, run)) = max else {
            return match self.report.histograms.is_empty() {
                true if !self.report.crashes.is_empty() => "No other report has a measure.".to_owned(),
                true => "No run could be used, so there are no numbers.".to_owned(),
                false => "Only binned hang and launch times are known.".to_owned(),
            };
        };
        let (measures, unit_name) = self.measures(unit, max);
        let of_core = measures.unit();
        let source = self.report.runs.get(run).map_or_else(String::new, |run| cut(&run.title()));
        if runs == 1 {
            let (value, inside) = (measures.text(max), subject(self.report, unit));
            let noun = noun(unit);
            return format!("One {noun}: its {inside} is {value} {of_core} ({source}). Percentiles need more runs.");
        }
        let median =
            median.map_or_else(String::new, |value| format!("{} {of_core} at the median", measures.text(value)));
        let tail = tail.map_or_else(String::new, |(quantile, value)| {
            format!(" and {}{unit_name} at {quantile}", measures.text(value))
        });
        let largest = format!("the largest is {}{unit_name}, in {source}", measures.text(max));
        let lacking = lacking.map_or_else(String::new, |(quantile, needed)| match runs < needed {
            true => format!(" Too few runs for {quantile}, which needs {}.", thousands(needed)),
            false => {
                let needed = thousands(needed);
                format!(" Their weights make them count as fewer than the {needed} that {quantile} needs.")
            }
        });
        let (runs, name) = (many(runs, noun(unit)), subject_title(self.report, unit));
        let of_run = if unit.is_of_reports() { "" } else { " of a run" };
        if median.is_empty() && tail.is_empty() {
            return format!("{name} of {runs}: {largest}.{lacking}");
        }
        format!("{name}{of_run} is {median}{tail} ({runs}); {largest}.{lacking}")
    }

    fn difference(
        &self,
        (from, to): (usize, usize),
        difference: CohortDifference,
        values: (f64, f64),
        idle: (f64, f64),
    ) -> String {
        let unit = self.unit(to);
        let (confidence, assumption) = (self.report.options.confidence, self.report.assumption());
        let (from, to) = (self.cohort(from), self.cohort(to));
        let CohortDifference::Typical { ratio, interval } = difference else {
            let [before, after] = [idle.0, idle.1].map(|share| format!("{:.1} %", 100.0 * share));
            return format!("{after} of the runs of {to} are idle, and {before} of {from}{assumption}.");
        };
        let (measures, name) = self.measures(unit, values.0.max(values.1));
        let uses = match unit.is_of_reports() {
            true => {
                let (more, subject) = (if ratio > 1.0 { "more" } else { "less" }, subject(self.report, unit));
                let more = if unit == Unit::Exits && ratio < 1.0 { "fewer" } else { more };
                format!("has {more} {}", subject.strip_prefix("number of ").unwrap_or(subject))
            }
            false => format!("uses {} CPU", if ratio > 1.0 { "more" } else { "less" }),
        };
        let (before, after) = (measures.text(values.0), measures.text(values.1));
        let (change, interval) = (change(ratio), sentences::interval(interval));
        let runs = match idle {
            (0.0, 0.0) => String::new(),
            (of_from, of_to) => {
                format!(" of runs that are not idle; {:.1} and {:.1} % are idle", 100.0 * of_from, 100.0 * of_to)
            }
        };
        format!(
            "{to} {uses} than {from}: {change} ({confidence}: {interval}{assumption}), from {before} to {after}{name} (geometric means{runs})."
        )
    }

    fn no_difference(&self, cohorts: &[usize], is_newest: bool, is_testable: bool) -> String {
        // If there are several measures, the sentence names the one it is about.
        let own = cohorts.first().map(|&cohort| self.unit(cohort));
        let is_other = |cohort: &CohortReport| Some(cohort.cohort.unit) != own;
        let of_measure = match own {
            Some(unit) if self.report.cohorts.iter().any(is_other) => format!(" in {}", subject(self.report, unit)),
            _ => String::new(),
        };
        match (cohorts, is_testable) {
            (&[from, to], true) => {
                format!("No difference{of_measure} was shown between {} and {}.", self.cohort(from), self.cohort(to))
            }
            (&[from, to], false) => {
                format!("Too few runs to decide if {} differs from {}{of_measure}.", self.cohort(to), self.cohort(from))
            }
            (_, true) if is_newest => {
                format!("No difference{of_measure} was shown between a newest cohort and the previous one.")
            }
            (_, false) if is_newest => {
                format!("Too few runs to decide if the newest cohorts differ from the previous ones{of_measure}.")
            }
            (all, true) => {
                format!("No difference{of_measure} was shown between the {} cohorts.", thousands(all.len() as u64))
            }
            (all, false) => {
                format!("Too few runs to decide if the {} cohorts differ{of_measure}.", thousands(all.len() as u64))
            }
        }
    }

    fn row_difference(&self, name: &str, quantile: Quantile, low: (usize, f64), high: (usize, f64)) -> String {
        let (measures, unit) = self.measures(self.unit(high.0), high.1);
        let (least, most) = (measures.text(low.1), measures.text(high.1));
        let (low, high) = (self.cohort(low.0), self.cohort(high.0));
        format!("{name} differs most: {quantile} is {least}{unit} in {low} and {most}{unit} in {high}.")
    }

    /// What the shares of functions refer to.
    fn time(&self, unit: Unit) -> &'static str {
        match unit {
            Unit::Nanoseconds => "CPU time",
            Unit::Cycles => "cycles",
            Unit::PmcEvents => "events",
            Unit::Samples => "samples",
            Unit::Elapsed => "elapsed time",
            Unit::Bytes => "bytes",
            unit => subject(self.report, unit),
        }
    }

    fn tail(&self, finding: &Finding) -> String {
        let Finding::Tail { unit, quantile, name, shares, runs, limit, high } = finding else { return String::new() };
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let [share, others, limit] = [shares.0, shares.1, *limit].map(percent);
        let (name, time) = (row_name(FleetScope::Function, name), self.time(*unit));
        let [of_high, of_runs, others_high, other_runs] = [high.0, runs.0, high.1, runs.1].map(thousands);
        let units: BTreeSet<Unit> = self.report.cohorts.iter().map(|cohort| cohort.cohort.unit).collect();
        // Trees of several units cannot be summed.
        let see =
            if units.len() > 1 { String::new() } else { format!("; see fleet tree {BEYOND} {}", quantile.name()) };
        let of_all = if self.report.cohorts.len() > 1 { " of all runs" } else { "" };
        format!(
            "At or beyond {quantile}{of_all}, {name} has {share} of the {time}, in other runs {others} ({limit} or more in {of_high} of \
             {of_runs} and {others_high} of {other_runs} runs){see}."
        )
    }

    fn most_used(
        &self,
        cohort: usize,
        scope: FleetScope,
        (name, share): (&str, f64),
        percentile: Option<(Quantile, f64)>,
        is_further: bool,
    ) -> String {
        let is_labelled = self.report.cohorts.iter().any(|cohort| !cohort.cohort.labels.is_empty());
        let (of, its) = match self.report.cohorts.len() {
            2.. if is_labelled => (format!(" of {}", self.cohort(cohort)), "its"),
            _ => (String::new(), "the"),
        };
        let time = self.time(self.unit(cohort));
        let (measures, unit) = self.measures(self.unit(cohort), percentile.map_or(0.0, |(_, value)| value));
        let unit = if unit == " %" { " % of one core".to_owned() } else { unit };
        let value = percentile.filter(|(quantile, _)| scope == FleetScope::Function && *quantile > Quantile::P50);
        let value = value.map(|(quantile, value)| format!(" ({quantile} {}{unit})", measures.text(value)));
        let (what, value, share) = (most(scope), value.unwrap_or_default(), share * 100.0);
        match is_further {
            false => format!("The {what}{of} is {name}, with {share:.0} % of {its} {time}{value}"),
            true => format!("; the {what} is {name}, with {share:.0} %{value}"),
        }
    }
}

fn inputs(finding: &Finding) -> String {
    let &Finding::Inputs { failed, files, without_time, damaged, estimated_time, rejected_rows } = finding else {
        return String::new();
    };
    let parts = [
        (failed, format!("{} of {} produced no run", thousands(failed), many(files, "file"))),
        (without_time, format!("{} left out because the recorded time is unknown", many(without_time, "run"))),
        (damaged, format!("{} could not be read", many(damaged, "damaged run"))),
        (rejected_rows, format!("{} or values could not be read", many(rejected_rows, "row"))),
        (
            estimated_time,
            format!("the time of {} is estimated, so that CPU use may be too high", many(estimated_time, "run")),
        ),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
    if parts.is_empty() { String::new() } else { capitalized(&parts.join("; ")) + "." }
}

/// The noun for the heaviest row. Unnamed functions are not called a function, since they may be several.
const fn most(scope: FleetScope) -> &'static str {
    match scope {
        FleetScope::Run => "busiest run",
        FleetScope::Process => "busiest process",
        FleetScope::Thread => "busiest thread",
        FleetScope::Binary => "busiest binary",
        FleetScope::Function => "heaviest named function",
    }
}

/// The label values of a cohort with their keys; without the key if there is only one label.
fn values_of(cohort: &Cohort) -> String {
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    match &cohort.labels[..] {
        [] => cut(&cohort.name()),
        [(key, value)] => cut(&format!("{key} {}", known(value))),
        labels => cut(&labels.iter().map(|(_, value)| known(value)).collect::<Vec<_>>().join(" · ")),
    }
}

/// `Main Thread of Orchard`, `Cache::evict (Orchard)`.
fn row_name(scope: FleetScope, name: &ScopeName) -> String {
    let (own, owner) = name_of(name);
    match (scope, owner.as_str()) {
        (_, "") => cut(&own),
        (FleetScope::Thread, owner) => format!("{} of {}", cut(&own), cut(owner)),
        (_, owner) => format!("{} ({})", cut(&own), cut(owner)),
    }
}

/// Shortens a name for a sentence.
fn cut(name: &str) -> String {
    fit(name, Some(NAME))
}

/// The measure of a run, as a noun within a sentence: `CPU use`, `thread time` if threads that do not run are included, or the measure of a report.
pub(super) fn subject(report: &FleetReport, unit: Unit) -> &'static str {
    if report.selection.counts_waiting() && !unit.is_of_reports() { "thread time" } else { measure_name(unit) }
}

/// A sentence that explains the measure of reports from the field; `None` if runs are recordings.
pub(super) fn measure_of_reports(report: &FleetReport) -> Option<&'static str> {
    let is_of_reports = |cohort: &CohortReport| cohort.cohort.unit.is_of_reports();
    (!report.cohorts.is_empty() && report.cohorts.iter().all(is_of_reports)).then_some(
        "A run is a report, not a user: reports do not identify their device. Its measure is the number in the report: the length of a hang or launch, the CPU time of an exception, \
         or the bytes written; for binaries and functions, the share of its samples",
    )
}

/// What the numbers of a report measure, as a noun.
pub(super) fn noun_of_all(report: &FleetReport) -> &'static str {
    match measure_of_reports(report) {
        // A report of metrics contains several values.
        Some(_) if report.cohorts.iter().any(|cohort| cohort.cohort.unit.is_of_metrics()) => "reported value",
        Some(_) => "report",
        None => "run",
    }
}

/// The same noun for a title.
pub(super) fn subject_title(report: &FleetReport, unit: Unit) -> String {
    capitalized(subject(report, unit))
}

/// The measure of all runs, if they have the same one.
pub(super) fn subject_of_all(report: &FleetReport) -> &'static str {
    let mut subjects = report.cohorts.iter().map(|cohort| subject(report, cohort.cohort.unit));
    let first = subjects.next().unwrap_or_else(|| subject(report, Unit::Nanoseconds));
    if subjects.all(|other| other == first) { first } else { "measures" }
}

/// The selected threads of a report; `listed` formats their names. `None` if all are selected.
pub(super) fn counted_threads(options: &FleetOptions, listed: impl Fn(&[String]) -> String) -> Option<String> {
    match (&options.threads, options.only_main_threads) {
        (None, false) => None,
        (None, true) => Some("main threads".to_owned()),
        (Some(names), false) => Some(listed(names)),
        (Some(names), true) => Some(format!("main threads named {}", listed(names))),
    }
}

/// A sentence about the cohorts that have too few runs for the compared percentile. `name` formats the name of a cohort.
pub(super) fn too_few_to_compare(
    report: &FleetReport,
    contrast: &Contrast,
    name: impl Fn(&Cohort) -> String,
) -> Option<String> {
    let SortKey::Quantile(quantile) = report.options.sort else { return None };
    let needed = quantile.needed_count();
    let cohorts = contrast.cohorts.iter().filter_map(|&cohort| report.cohorts.get(cohort));
    // Unequal weights make runs count as fewer.
    let is_few = |cohort: &&CohortReport| {
        let mut estimates = cohort.across_runs.estimates.iter();
        let is_unsupported = |estimate: &Estimate| matches!(estimate.support, Support::TooFew { .. });
        estimates.any(|estimate| estimate.quantile == quantile && is_unsupported(estimate))
    };
    let few = cohorts.filter(is_few);
    let few: Vec<String> = few.map(|few| format!("{} ({})", name(&few.cohort), many(few.runs, "run"))).collect();
    let all = contrast.cohorts.len();
    let names = match few.len() {
        0 => return None,
        1..=6 => few.join(", "),
        some if some == all => format!("all {all} cohorts"),
        some => format!("{some} of {all} cohorts"),
    };
    let (needed, equal) = (thousands(needed), if report.options.is_weighted { " of equal weight" } else { "" });
    Some(format!(
        "Too few runs for {quantile}, which needs {needed}{equal}: {names}. Their {quantile} is nearly their largest run."
    ))
}

impl FleetReport {
    /// A line for each alert that fired or is undecided.
    pub fn alert_lines(&self) -> Vec<String> {
        self.alerts.iter().filter_map(|alert| alert_line(self, alert).log()).collect()
    }
}

/// The outcome of a rule: its value, the run or name behind it, and its reliability.
pub(super) fn alert_line(report: &FleetReport, alert: &AlertOutcome) -> AlertLine {
    let cohort = report.cohorts.get(alert.cohort).filter(|_| report.cohorts.len() > 1);
    let whose = cohort.map(|cohort| cohort.cohort.name());
    let interval = interval(report, alert);
    AlertLine::new(alert, whose.as_deref(), Some(alert_found(report, alert, interval)))
}

fn alert_found(report: &FleetReport, alert: &AlertOutcome, interval: Option<String>) -> String {
    let measures = alert_measures(report, alert);
    alerts::found(alert, "run", &|value| measures.text(value), &format!(" {}", measures.unit()), interval)
}

/// The number format for the value of a rule.
pub(super) fn alert_measures(report: &FleetReport, alert: &AlertOutcome) -> Measures {
    let unit = report.cohorts.get(alert.cohort).map_or(Unit::Nanoseconds, |cohort| cohort.cohort.unit);
    Measures::of(alert.rule.value_unit(unit), alert.value.unwrap_or(0.0).max(alert.rule.limit))
}

/// The interval of the value in words; `None` if neither of its ends is known.
fn interval(report: &FleetReport, alert: &AlertOutcome) -> Option<String> {
    let measures = alert_measures(report, alert);
    let scope =
        if alert.judged > 1 { format!(" for {} names together", thousands(alert.judged)) } else { String::new() };
    let interval = alert.estimate.as_ref()?.interval;
    let end = |end: Option<f64>| end.map_or_else(|| "unknown".to_owned(), |end| measures.text(end));
    let (confidence, assumption) = (report.options.confidence, report.assumption());
    let (lower, upper) = (end(interval.lower), end(interval.upper));
    let is_known = interval.lower.is_some() || interval.upper.is_some();
    is_known.then(|| format!("{confidence} interval{scope} from {lower} to {upper}{assumption}"))
}

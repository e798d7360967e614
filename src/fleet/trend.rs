//! CPU use by version or over time: percentiles over the runs at each point.
//!
//! A label has an order if its values differ only in their numbers, after a common prefix: `1.9`, `1.10`, `1.11 beta 2`; `2025-10-01`,
//! `2025-10-02`; `build 7`, `build 8`. Dates in several forms have no order, which a note reports. For each combination of the other labels, the
//! cohorts of such a label form a trend. Without labels, runs with a known start are grouped by day, or by week if there are many days.

use std::collections::{BTreeMap, BTreeSet};

use super::label_order::unordered_dates;
use super::options::FleetOptions;
use super::report::{Cohort, CohortReport, FleetReport, RunRow, Trend, TrendOver, TrendPoint};
use crate::calendar;
use crate::settings::OVER;
use crate::stats::Distribution;
use crate::units::Millionths;

/// The minimum number of points in a trend.
const LEAST: usize = 3;

/// The maximum number of days. With more, runs are grouped by week.
const MOST_DAYS: usize = 45;

/// The trends formed by cohorts, in cohort order.
pub(super) fn of_cohorts(cohorts: &[CohortReport]) -> Vec<Trend> {
    let mut trends = Vec::new();
    for cohorts in cohorts.chunk_by(|a, b| a.cohort.unit == b.cohort.unit) {
        let keys = cohorts[0].cohort.labels.len();
        let Some(label) = (0..keys).find(|&label| has_order(cohorts, label)) else { continue };
        let mut groups: BTreeMap<Cohort, Vec<&CohortReport>> = BTreeMap::new();
        for cohort in cohorts.iter().filter(|cohort| cohort.cohort.labels[label].1.is_some()) {
            let mut others = cohort.cohort.clone();
            others.labels.remove(label);
            groups.entry(others).or_default().push(cohort);
        }
        let groups = groups.into_iter().filter(|(_, cohorts)| cohorts.len() >= LEAST);
        trends.extend(groups.map(|(others, cohorts)| trend(&others, label, &cohorts)));
    }
    trends
}

fn trend(others: &Cohort, label: usize, cohorts: &[&CohortReport]) -> Trend {
    let point = |cohort: &&CohortReport| TrendPoint {
        name: cohort.cohort.labels[label].1.clone().unwrap_or_default(),
        runs: cohort.runs,
        estimates: cohort.across_runs.estimates.clone(),
        max: cohort.across_runs.max,
    };
    Trend {
        unit: others.unit,
        over: TrendOver::Label(cohorts[0].cohort.labels[label].0.clone()),
        labels: others.labels.clone(),
        points: cohorts.iter().map(point).collect(),
        undated: 0,
    }
}

/// Consecutive cohorts that differ only in this label, as pairs of positions (earlier, later). Cohorts must be sorted.
pub(super) fn same_but_for(cohorts: &[&CohortReport], key: &str) -> Vec<(usize, usize)> {
    let mut last: BTreeMap<Cohort, usize> = BTreeMap::new();
    let mut pairs = Vec::new();
    for (index, cohort) in cohorts.iter().enumerate() {
        let mut others = cohort.cohort.clone();
        let is_known = others.labels.iter().any(|(name, value)| name == key && value.is_some());
        others.labels.retain(|(name, _)| name != key);
        if is_known {
            pairs.extend(last.insert(others, index).map(|before| (before, index)));
        }
    }
    pairs
}

/// Without cohorts by label, the trend of each unit over the dates of all its runs.
pub(super) fn of_dates(report: &FleetReport) -> Vec<Trend> {
    if !report.options.by.is_empty() {
        return Vec::new();
    }
    let of_cohort = |(position, cohort): (usize, &CohortReport)| {
        let runs = report.runs.iter().enumerate().filter(move |(_, run)| run.cohort == position);
        let (over, periods, undated) = by_date(runs.map(|(index, run)| (Some(index), run.start.as_deref())), LEAST);
        if periods.len() < LEAST {
            return None;
        }
        let points = periods.into_iter().map(|(name, runs)| point(report, name, &runs)).collect();
        Some(Trend { unit: cohort.cohort.unit, over, labels: Vec::new(), points, undated })
    };
    report.cohorts.iter().enumerate().filter_map(of_cohort).collect()
}

fn point(report: &FleetReport, name: String, runs: &[usize]) -> TrendPoint {
    let FleetOptions { quantiles, method, confidence, .. } = &report.options;
    let runs = distribution(&report.options, runs.iter().map(|&run| &report.runs[run]));
    TrendPoint {
        name,
        runs: runs.count(),
        estimates: quantiles.iter().map(|&quantile| runs.estimate(quantile, *method, *confidence)).collect(),
        max: runs.max().map(Millionths::as_f64),
    }
}

/// The distribution of some runs, weighted if the options require it.
pub(super) fn distribution<'r>(options: &FleetOptions, runs: impl Iterator<Item = &'r RunRow>) -> Distribution {
    options.distribution(runs.map(|run| (run.rate, run.run_weight)).collect(), 0, 0)
}

/// True if a label's values have an order, and are enough for a trend.
fn has_order(cohorts: &[CohortReport], label: usize) -> bool {
    let values = values_of(cohorts, label);
    is_numbered(cohorts, label, &values) && unordered_dates(values.iter().copied()).is_none()
}

/// Explains why a label of these cohorts has no order; `None` if it has one.
pub(super) fn why_unordered(cohorts: &[CohortReport], label: usize) -> Option<String> {
    let key = &cohorts.first()?.cohort.labels[label].0;
    let values = values_of(cohorts, label);
    if let Some([first, other]) = unordered_dates(values.iter().copied()) {
        return Some(format!(
            "{key} has no order, since {first} and {other} are not dates in one form; write all as 2026-01-31."
        ));
    }
    let (first, last) = values.first().zip(values.last())?;
    (!is_numbered(cohorts, label, &values)).then(|| {
        format!("{key} has no order, since values such as {first} and {last} differ in more than their numbers; pass {OVER} date.")
    })
}

/// Sentences about labels with dates that have no order.
pub(super) fn unordered(cohorts: &[CohortReport]) -> Vec<String> {
    let keys = cohorts.first().map_or(&[][..], |cohort| &cohort.cohort.labels);
    let sentence = |(label, (key, _)): (usize, &(String, _))| {
        let [first, other] = unordered_dates(values_of(cohorts, label).iter().copied())?;
        Some(format!(
            "Cohorts by {key} have no order, since {first} and {other} are not written as dates in one form; write all as 2026-01-31."
        ))
    };
    keys.iter().enumerate().filter_map(sentence).collect()
}

fn values_of(cohorts: &[CohortReport], label: usize) -> BTreeSet<&str> {
    cohorts.iter().filter_map(|cohort| cohort.cohort.labels[label].1.as_deref()).collect()
}

/// True if values differ only in their numbers. Device models (`iPhone14,5`) contain numbers, but have no order.
fn is_numbered(cohorts: &[CohortReport], label: usize, values: &BTreeSet<&str>) -> bool {
    let is_model = |value: &&str| value.starts_with(|c: char| c.is_ascii_alphabetic()) && value.contains(',');
    if cohorts.iter().any(|cohort| cohort.cohort.labels[label].0 == "device") || values.iter().any(is_model) {
        return false;
    }
    let beginning = |value: &str| value.find(|c: char| c.is_ascii_digit()).map(|end| value[..end].to_owned());
    let beginnings: BTreeSet<Option<String>> = values.iter().map(|value| beginning(value)).collect();
    values.len() >= LEAST && beginnings.len() == 1 && !beginnings.contains(&None)
}

/// The first day of a period, and the positions of its runs.
pub(super) type Period = (String, Vec<usize>);

/// Groups runs by start date. Returns the periods in order, and the number of undated runs. Weeks are used only if there are at least
/// `least_weeks`.
pub(super) fn by_date<'r>(
    starts: impl Iterator<Item = (Option<usize>, Option<&'r str>)>,
    least_weeks: usize,
) -> (TrendOver, Vec<Period>, u64) {
    let (mut days, mut undated) = (BTreeMap::<i64, Vec<usize>>::new(), 0);
    for (run, start) in starts {
        match start.and_then(day_of) {
            Some(day) => days.entry(day).or_default().extend(run),
            None => undated += 1,
        }
    }
    let weeks: BTreeSet<i64> = days.keys().map(|&day| monday_of(day)).collect();
    let over = if days.len() > MOST_DAYS && weeks.len() >= least_weeks { TrendOver::Week } else { TrendOver::Day };
    let mut periods = BTreeMap::<i64, Vec<usize>>::new();
    for (day, runs) in days {
        let first = if over == TrendOver::Week { monday_of(day) } else { day };
        periods.entry(first).or_default().extend(runs);
    }
    (over, periods.into_iter().map(|(day, runs)| (date_of(day), runs)).collect(), undated)
}

/// The day of an ISO 8601 time, in days since 1970-01-01, by the recording's local date.
pub(super) fn day_of(start: &str) -> Option<i64> {
    let date = start.get(..10)?;
    let number = |range: std::ops::Range<usize>| {
        let digits = &date[range];
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i64>().ok()).flatten()
    };
    let is_date = date.is_ascii() && &date[4..5] == "-" && &date[7..8] == "-";
    let (year, month, day) = is_date.then(|| Some((number(0..4)?, number(5..7)?, number(8..10)?))).flatten()?;
    // Rejects days after the end of their month, which would be converted to another date.
    let days = calendar::days_since_1970(year, month, day);
    ((1..=12).contains(&month) && date_of(days) == date).then_some(days)
}

/// Formats a day, such as `2025-10-01`.
fn date_of(days: i64) -> String {
    let (year, month, day) = calendar::date_of(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The Monday of a day's week. 1970-01-01 was a Thursday.
const fn monday_of(day: i64) -> i64 {
    day - (day + 3).rem_euclid(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_of_the_calendar() {
        for (date, days) in [("1970-01-01", 0), ("2000-02-29", 11_016), ("2024-12-31", 20_088), ("2026-11-23", 20_780)]
        {
            assert_eq!((day_of(date), date_of(days)), (Some(days), date.to_owned()));
            assert_eq!(day_of(&format!("{date}T23:59:59.5+02:00")), Some(days));
        }
        for no_date in ["", "2025", "2025-02-30", "2025-13-01", "2025-00-10", "2025-1-001", "20251001T10", "é025-10-01"]
        {
            assert_eq!(day_of(no_date), None, "{no_date}");
        }
        // 2026-11-23 is a Monday.
        assert_eq!([20_779, 20_780, 20_786, 20_787].map(monday_of), [20_773, 20_780, 20_780, 20_787]);
    }

    #[test]
    fn many_days_are_weeks() {
        let starts: Vec<String> = (0..200).map(|day| format!("{}T10:00:00Z", date_of(20_780 + day / 2))).collect();
        let of = |runs: usize, least: usize| {
            let starts = starts.iter().take(runs).map(|start| Some(start.as_str()));
            by_date(starts.enumerate().map(|(run, start)| (Some(run), start)), least)
        };
        let (over, days, _) = of(90, LEAST);
        assert_eq!((&over, days.len()), (&TrendOver::Day, 45));
        assert_eq!(days[1], ("2026-11-24".to_owned(), vec![2, 3]));
        let (over, weeks, _) = of(92, LEAST);
        assert_eq!((&over, weeks.len()), (&TrendOver::Week, 7));
        assert_eq!((weeks[1].0.as_str(), weeks[1].1.len()), ("2026-11-30", 14));
        let few_weeks = of(92, 8);
        assert_eq!((&few_weeks.0, few_weeks.1.len()), (&TrendOver::Day, 46));
    }
}

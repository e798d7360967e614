//! The beginning of fleet reports: findings and trends, which `tests/oracle/fleet_findings.py` recomputes from the runs in the same JSON;
//! how often chance alone causes a finding; and the order of versions.

use std::fs;

use libtest_mimic::{Failed, Trial};
use support::fleet_reports::{by, every_kind, failure, plain_run, report, rules, run_of};
use support::page::payload;
use support::{Rng, fleet};
use traceparse::fleet::{
    CohortDifference, FailedInput, Finding, FleetBuilder, FleetOptions, FleetReport, RunMeasures, SortKey, TrendOver,
};
use traceparse::output::{self, Format};
use traceparse::stats::{Quantile, QuantileMethod};

use crate::programs::{oracle, python, runs};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![
        text_and_pages_begin_alike,
        versions_are_in_the_order_of_people,
        chance_is_no_finding,
        rows_differ_by_their_intervals,
        dates_are_a_trend,
        labels_without_an_order_are_no_trend,
        dates_in_several_forms_have_no_order,
        a_version_without_runs_is_compared_with_none,
    ];
    let has_packages = runs(python().args(["-c", "import scipy.stats"]));
    trials.extend(trials![if has_packages; findings_follow_from_the_runs]);
    trials
}

/// Runs of several versions, `each` runs per version, with a random CPU use between 10 and 30 % of one core, times a factor per version.
fn versions(seed: u64, each: u32, factors: &[(&str, u64)]) -> Vec<RunMeasures> {
    let mut rng = Rng::new(seed);
    let mut runs = Vec::new();
    for (number, (version, factor)) in factors.iter().enumerate() {
        for index in 0..each {
            let mut run = plain_run(number as u32 * each + index, (1_000 + rng.below(2_000)) * factor / 10);
            run.record.labels = vec![("app_version".to_owned(), (*version).to_owned())];
            run.record.start = Some(format!("2026-0{}-{:02}T08:30:00Z", 1 + number % 9, 1 + index % 28));
            runs.push(run);
        }
    }
    runs
}

fn names(report: &FleetReport) -> Vec<&str> {
    report.cohorts.iter().map(|cohort| cohort.cohort.labels[0].1.as_deref().unwrap_or("?")).collect()
}

fn versions_are_in_the_order_of_people() -> Result<(), Failed> {
    let given = ["1.10.1", "2.0", "1.9", "1.10", "2.0 beta 10", "2.0 beta 9", "1.11", "0.9"];
    let factors = given.map(|version| (version, 10));
    let runs = versions(1, 3, &factors);
    let of_all = report(&runs, by(&["app_version"]));
    let sorted = ["0.9", "1.9", "1.10", "1.10.1", "1.11", "2.0 beta 9", "2.0 beta 10", "2.0"];
    ensure!(names(&of_all) == sorted, "{:?}", names(&of_all));
    let trend: Vec<&str> = of_all.trends[0].points.iter().map(|point| point.name.as_str()).collect();
    ensure!(trend == sorted, "{trend:?}");
    let only = vec![("app_version".to_owned(), "3".to_owned())];
    let of_none = report(&runs, FleetOptions { only, ..by(&[]) });
    let values = &of_none.inputs.left_out_values[0].1;
    ensure!(values == &sorted, "{values:?}");
    // In every format with cohorts.
    for format in [Format::Json, Format::Csv(output::Cells::AsTheyAre), Format::Html(&[]), text()] {
        let written = written(&of_all, &format);
        let start =
            if matches!(format, Format::Json | Format::Html(_)) { written.find("\"cohorts\":").unwrap() } else { 0 };
        let at = |version: &str| match format {
            Format::Csv(_) => written.find(&format!("\n{version},ns,run")),
            Format::Json | Format::Html(_) => written[start..].find(&format!("\"name\":\"app_version {version}\"")),
            _ => written.find(&format!("  {version}\n")),
        };
        let places: Vec<Option<usize>> = sorted.map(at).to_vec();
        ensure!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} in {written}");
    }
    Ok(())
}

fn text() -> Format<'static> {
    Format::Text(output::Style::default())
}

fn written(report: &FleetReport, format: &Format<'_>) -> String {
    let mut out = Vec::new();
    output::write(report, format, &mut out).expect("a vector takes everything");
    let text = String::from_utf8(out).expect("text is UTF-8");
    match format {
        Format::Html(_) => String::from_utf8(payload("report", &text)).expect("JSON is UTF-8"),
        _ => text,
    }
}

/// The differences in a report: the versions, and the minimum increase from the earlier to the later version.
fn differences(report: &FleetReport) -> Vec<(String, String, f64)> {
    let version = |cohort: usize| report.cohorts[cohort].cohort.labels[0].1.clone().unwrap_or_default();
    let difference = |finding: &Finding| match finding {
        Finding::Difference { from, to, difference: CohortDifference::Typical { interval, .. }, .. } => {
            let bound = if interval.0 > 1.0 { interval.0 } else { interval.1 };
            Some((version(*from), version(*to), bound))
        }
        _ => None,
    };
    report.findings.iter().filter_map(difference).collect()
}

/// If all versions are the same, about 5 % of fleets report a difference between them.
fn chance_is_no_finding() -> Result<(), Failed> {
    let (mut told, mut rows, all) = (0, 0, 200);
    for seed in 0..all {
        let factors = [("1.8", 10), ("1.9", 10), ("1.10", 10), ("1.11", 10)];
        let report = report(&versions(seed, 40, &factors), by(&["app_version"]));
        told += usize::from(!differences(&report).is_empty());
        let is_of_row = |finding: &Finding| matches!(finding, Finding::RowDifference { .. });
        rows += usize::from(report.findings.iter().any(is_of_row));
    }
    println!("of {all} fleets of alike versions, {told} tell of a difference, and {rows} of one of a row");
    // Ten are expected; a count above this limit occurs once in a thousand series.
    ensure!(told <= 20 && rows * 20 <= all as usize, "{told} and {rows} of {all}");
    Ok(())
}

/// P(B < rank) for a binomial distribution, summed term by term.
fn below(count: u64, quantile: f64, rank: u64) -> f64 {
    let mut mass = (1.0 - quantile).powi(count as i32);
    let mut sum = 0.0;
    for hits in 0..rank {
        sum += mass;
        mass *= (count - hits) as f64 / (hits + 1) as f64 * quantile / (1.0 - quantile);
    }
    sum
}

/// The ends of the interval for a quantile of sorted values, found by trying every rank.
fn slow_interval(sorted: &[f64], quantile: f64, tail: f64) -> (Option<f64>, Option<f64>) {
    let count = sorted.len() as u64;
    let lower = (1..=count).rev().find(|&rank| below(count, quantile, rank) <= tail);
    let upper = (1..=count).find(|&rank| 1.0 - below(count, quantile, rank) <= tail);
    let at = |rank: Option<u64>| rank.map(|rank| sorted[rank as usize - 1]);
    (at(lower), at(upper))
}

fn rows_differ_by_their_intervals() -> Result<(), Failed> {
    let runs = fleet::runs(7, 1_200);
    let p75 = SortKey::Quantile(Quantile::P75);
    let report = report(&runs, FleetOptions { sort: p75, ..by(&["app_version"]) });
    let contrast = report.contrasts.last().ok_or("no functions")?;
    let rates = |version: u32, function: (&str, &str)| -> Vec<f64> {
        let of_version = runs.iter().enumerate().filter(|(index, _)| *index as u32 % 4 == version);
        let rate = |run: &RunMeasures| {
            let is_it = |row: &&traceparse::fleet::FrameRow| (run.name(row.binary), run.name(row.function)) == function;
            let weight = run.frames.iter().filter(is_it).map(|row| row.self_weight).sum();
            run.record.rate(weight).unwrap().as_f64()
        };
        let mut rates: Vec<f64> = of_version.map(|(_, run)| rate(run)).collect();
        rates.sort_by(f64::total_cmp);
        rates
    };
    // If nothing is left out, every function of the fleet has a row, including functions without a difference.
    let all: std::collections::BTreeSet<(&str, &str)> = runs
        .iter()
        .flat_map(|run| {
            run.frames
                .iter()
                .filter(|row| row.self_weight > 0)
                .map(|row| (run.name(row.binary), run.name(row.function)))
        })
        .collect();
    let tail = 0.025 / (all.len() * 4) as f64;
    let mut certain = 0;
    for row in &contrast.rows {
        let name = (row.name.binary.as_deref().unwrap_or(""), row.name.function.as_deref().unwrap_or(""));
        let cohorts: Vec<Vec<f64>> = (0..4).map(|version| rates(version, name)).collect();
        let p75 = |cohort: &Vec<f64>| cohort[(cohort.len() * 3).div_ceil(4) - 1];
        let high = cohorts.iter().max_by(|a, b| p75(a).total_cmp(&p75(b))).ok_or("none")?;
        let low = cohorts.iter().min_by(|a, b| p75(a).total_cmp(&p75(b))).ok_or("none")?;
        let lower = slow_interval(high, 0.75, tail).0.zip(slow_interval(low, 0.75, tail).1).map(|(a, b)| a - b);
        ensure!(row.at_least == lower, "{name:?}: {:?} and not {lower:?}", row.at_least);
        certain += usize::from(lower.is_some_and(|lower| lower > 0.0));
    }
    ensure!(contrast.rows.len() > 15 && certain == 0, "{certain} of {} alike rows", contrast.rows.len());
    let report = with_new_function();
    let is_new = |finding: &Finding| {
        matches!(finding, Finding::RowDifference { name, high: (3, _), .. }
            if name.function.as_deref() == Some("New::work()"))
    };
    ensure!(report.findings.iter().any(is_new), "{:?}", report.findings);
    ensure!(written(&report, &text()).contains("New::work() (Orchard) differs most: P75 is 0 % in"), "not told");
    Ok(())
}

/// A function that occurs only in most runs of the last version is reported as a difference.
fn with_new_function() -> FleetReport {
    let mut runs = fleet::runs(7, 1_200);
    for (index, run) in runs.iter_mut().enumerate().filter(|(index, _)| index % 4 == 3) {
        if index % 3 > 0 {
            let (row, name) = (run.frames[3], run.names.len() as u32);
            run.names.push("New::work()".to_owned());
            run.frames.push(traceparse::fleet::FrameRow { function: traceparse::fleet::NameId(name), ..row });
        }
    }
    report(&runs, FleetOptions { sort: SortKey::Quantile(Quantile::P75), ..by(&["app_version"]) })
}

fn text_and_pages_begin_alike() -> Result<(), Failed> {
    for (name, report) in reports() {
        let text = written(&report, &text());
        let points: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("• ")).collect();
        ensure!((1..=6).contains(&points.len()), "{name}: {points:?}");
        let first: Vec<&str> = text.lines().skip(1).take(points.len()).collect();
        ensure!(first.iter().all(|line| line.starts_with("• ")), "{name} begins with {first:?}");
        ensure!(points.iter().all(|point| point.ends_with('.') && point.chars().count() < 360), "{name}: {points:?}");
        let page = written(&report, &Format::Html(&[]));
        let page: serde_json::Value = serde_json::from_str(&page)?;
        let findings = page["words"]["findings"].as_array().ok_or("no findings")?;
        let items: Vec<&str> = findings.iter().filter_map(|finding| finding[1].as_str()).collect();
        ensure!(items == points, "{name}: {items:?} and {points:?}");
    }
    Ok(())
}

fn dates_are_a_trend() -> Result<(), Failed> {
    let mut runs = versions(5, 28, &[("1", 10), ("1", 10)]);
    runs[0].record.start = None;
    runs[1].record.start = Some("yesterday".to_owned());
    let report = report(&runs, by(&[]));
    let trend = report.trends.first().ok_or("no trend")?;
    // 28 days of January and 28 of February are complete weeks.
    ensure!(trend.over == TrendOver::Week && trend.undated == 2, "{trend:?}");
    let weeks: Vec<(&str, u64)> = trend.points.iter().map(|point| (point.name.as_str(), point.runs)).collect();
    // January 1, 2026 was a Thursday; the first two days here have no known date.
    ensure!(weeks[0] == ("2025-12-29", 2) && weeks[1] == ("2026-01-05", 7), "{weeks:?}");
    ensure!(weeks.iter().map(|week| week.1).sum::<u64>() == 54, "{weeks:?}");
    let text = written(&report, &text());
    ensure!(text.contains("trend over weeks (from Monday)"), "{text}");
    ensure!(text.contains("2 runs without a known date are not in it"), "{text}");
    let days = self::report(&runs[..28], by(&[]));
    ensure!(days.trends[0].over == TrendOver::Day && days.trends[0].points.len() == 26, "{:?}", days.trends[0].over);
    ensure!(self::report(&runs[..28], by(&["app_version"])).trends.is_empty(), "cohorts have no dates");
    Ok(())
}

fn labels_without_an_order_are_no_trend() -> Result<(), Failed> {
    let trends = |labels: [&str; 4]| {
        let factors = labels.map(|label| (label, 10));
        report(&versions(2, 5, &factors), by(&["app_version"])).trends.len()
    };
    ensure!(trends(["iPhone 15", "iPad", "iPhone SE", "x"]) == 0, "devices have no order");
    ensure!(trends(["iPhone14,5", "iPhone15,2", "iPhone16,1", "iPhone17,3"]) == 0, "models have no order");
    ensure!(trends(["1.0", "1.1", "1.0", "1.1"]) == 0, "two are no trend");
    for ordered in
        [["v1", "v2", "v10", "v3"], ["2026-01-01", "2026-01-09", "2025-12-31", "2026-02-01"], ["9", "10", "11", "8"]]
    {
        ensure!(trends(ordered) == 1, "{ordered:?}");
    }
    // There is a trend for each value of the other label.
    let runs = fleet::runs(6, 240);
    let report = report(&runs, by(&["device", "app_version"]));
    let others: Vec<_> = report.trends.iter().map(|trend| trend.labels[0].1.clone().unwrap_or_default()).collect();
    ensure!(others == ["iPad Air", "iPhone 15", "iPhone SE"], "{others:?}");
    ensure!(report.trends.iter().all(|trend| trend.points.len() == 4), "four versions each");
    Ok(())
}

/// Sorted by numbers, 03.01.2026 came before 2026-01-02, and the report claimed that the newest cohort used less.
fn dates_in_several_forms_have_no_order() -> Result<(), Failed> {
    let of = |labels: [&str; 3]| {
        let factors = [(labels[0], 10), (labels[1], 10), (labels[2], 30)];
        report(&versions(3, 100, &factors), by(&["app_version"]))
    };
    for labels in [["2026-01-02", "2026-1-3", "2026-01-14"], ["2025/12/31", "2026/1/2", "2026/1/10"]] {
        let report = of(labels);
        let found = differences(&report);
        ensure!(found.len() == 1 && (found[0].0.as_str(), found[0].1.as_str()) == (labels[1], labels[2]), "{found:?}");
        ensure!(found[0].2 > 1.0 && report.trends.len() == 1 && report.notes.is_empty(), "{:?}", report.notes);
    }
    for labels in [["2026-01-02", "2026-01-14", "03.02.2026"], ["29.01.2026", "30.01.2026", "01.02.2026"]] {
        let report = of(labels);
        ensure!(report.trends.is_empty(), "{labels:?}");
        let text = written(&report, &text());
        ensure!(text.contains("Cohorts by app_version have no order, since "), "{text}");
        // Differences are reported nevertheless, including which cohort uses more.
        let is_right = |(from, to, least): &(String, String, f64)| (to == labels[2]) == (*least > 1.0) && from != to;
        let found = differences(&report);
        ensure!(found.len() == 2 && found.iter().all(is_right), "{found:?}");
    }
    Ok(())
}

/// A version in which every file failed is not treated as a version without CPU use.
fn a_version_without_runs_is_compared_with_none() -> Result<(), Failed> {
    let mut builder = FleetBuilder::new(by(&["app_version"]));
    versions(4, 60, &[("1.0", 10), ("1.1", 10), ("1.2", 10)]).iter().for_each(|run| builder.add(run));
    let labels = vec![("app_version".to_owned(), "1.3".to_owned())];
    builder.add_failure(FailedInput { labels, ..failure(0) });
    let report = builder.finish();
    ensure!(names(&report) == ["1.0", "1.1", "1.2", "1.3"] && report.cohorts[3].runs == 0, "{:?}", names(&report));
    ensure!(report.contrasts.iter().all(|contrast| contrast.cohorts == [0, 1, 2]), "1.3 is compared");
    let text = written(&report, &text());
    ensure!(text.contains("No difference was shown between app_version 1.1 and app_version 1.2."), "{text}");
    // The version has no zeros as values, and is not the busiest version.
    let row = text.lines().find(|line| line.ends_with("  1.3")).ok_or("no row")?;
    let cells: Vec<&str> = row.split_whitespace().collect();
    ensure!(cells[0] == "0" && cells.len() > 5 && cells[1..cells.len() - 1].iter().all(|cell| *cell == "n/a"), "{row}");
    Ok(())
}

/// Reports of all kinds, and fleets with something to find.
fn reports() -> Vec<(String, FleetReport)> {
    let mut reports: Vec<(String, FleetReport)> =
        every_kind().into_iter().map(|(name, report)| (name.to_owned(), report)).collect();
    let linear = FleetOptions { method: QuantileMethod::Linear, ..by(&["app_version"]) };
    let factors = [("1.8", 10), ("1.9", 12), ("1.10", 30), ("1.11", 11)];
    for seed in 0..6 {
        let runs = versions(seed, 30 + 50 * seed as u32, &factors);
        reports.push((format!("versions {seed}"), report(&runs, by(&["app_version"]))));
        reports.push((format!("linear {seed}"), report(&runs, linear.clone())));
        reports.push((format!("dates {seed}"), report(&runs[..60], by(&[]))));
    }
    let alerts = rules(&["cpu.p50 > 1", "cpu.p99.9 > 1"]);
    let device = FleetOptions { alerts, ..by(&["device"]) };
    reports.push(("devices".to_owned(), report(&fleet::runs(8, 400), device)));
    reports.push(("new function".to_owned(), with_new_function()));
    let names: Vec<String> = (0..120).map(|number| format!("{}-{number}", ["a", "b"][number % 2])).collect();
    let factors: Vec<(&str, u64)> =
        names.iter().zip([10, 30, 8, 12].into_iter().cycle()).map(|(name, factor)| (name.as_str(), factor)).collect();
    reports.push(("many cohorts".to_owned(), report(&versions(9, 30, &factors), by(&["app_version"]))));
    reports.push(("two labels".to_owned(), report(&fleet::runs(8, 400), by(&["device", "app_version"]))));
    let names = |thread| ["App", thread, "App", "work()"];
    let threads =
        (0..90).map(|index| run_of(index, 300, names(["Main Thread", "Worker", "Worker"][index as usize % 3])));
    reports.push(("threads".to_owned(), report(&threads.collect::<Vec<_>>(), by(&[]))));
    reports
}

fn findings_follow_from_the_runs() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut paths = Vec::new();
    for (index, (name, report)) in reports().iter().enumerate() {
        paths.push(folder.path().join(format!("{index}-{}.json", name.replace(' ', "-"))));
        fs::write(&paths[index], written(report, &Format::Json))?;
    }
    let said = oracle("fleet_findings.py", paths)?;
    // Each kind of finding occurred, so each was checked.
    for what in [
        "pair=",
        "no-difference=",
        "first-alert=",
        "certain=",
        "share=",
        "failed=",
        "periods=",
        "interval-of-point=",
        "is-noise=",
    ] {
        ensure!(said.contains(what), "nothing of {what} in {said}");
    }
    Ok(())
}

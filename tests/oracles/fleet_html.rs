//! Pages of invented fleets: their content, and how Chromium shows them.

mod browser;

use std::process::Command;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use support::fleet_reports::{by, failure as failed_file, report, rules};
use support::page::payload;
use support::{Rng, fleet};
use traceparse::fleet::{
    FailedInput, FailureKind, FleetBuilder, FleetOptions, FleetReport, FrameRow, NameId, RunMeasures, SortKey,
};
use traceparse::output::{self, Format};
use traceparse::recording::TimeSource;
use traceparse::stats::Quantile;
use traceparse::units::Unit;

use crate::hostile::ACTING;
use crate::programs::{chromium, full_disks_are_errors, runs};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![
        a_page_is_one_file_that_loads_nothing,
        names_from_input_are_text,
        what_is_cut_is_counted,
        large_fleets_make_pages_of_bounded_size,
        a_writer_that_fails_is_told_of,
    ];
    trials.extend(trials![if runs(Command::new(chromium()).arg("--version"));
        browser::pages_fit_every_screen,
        browser::tables_sort_and_filter,
        browser::names_are_shown_and_do_nothing,
        browser::links_open_the_pages_of_runs]);
    trials
}

fn page(report: &FleetReport) -> String {
    let mut out = Vec::new();
    output::write(report, &Format::Html(&[]), &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("a page is UTF-8")
}

/// Four versions, alerts in every state, and files that failed.
fn usual(count: u32) -> FleetReport {
    let alerts = rules(&[
        "cpu.p95 > 80",
        "function(\"Cache::evict\").self.p99 > 5",
        "cpu.p99.9 > 300",
        "system-cpu-limit",
        "function(\"nobody\").self.max > 1",
        "function(*).self.max > 5",
    ]);
    let sort = SortKey::Quantile(Quantile::P99);
    let mut builder = FleetBuilder::new(FleetOptions { alerts, sort, ..by(&["app_version"]) });
    for run in fleet::runs(7, count) {
        builder.add(&run);
    }
    for (index, kind) in FailureKind::ALL.into_iter().enumerate() {
        builder.add_failure(failure(&format!("runs/broken-{index}.xml"), kind, "it ends inside of a row"));
    }
    builder.add_note("3 runs have no table of contents".to_owned());
    builder.finish()
}

fn failure(source: &str, kind: FailureKind, reason: &str) -> FailedInput {
    FailedInput { source: source.to_owned(), kind, reason: reason.to_owned(), ..failed_file(0) }
}

/// Reports of every shape: their names, and how many cohorts they have.
fn shapes() -> Vec<(&'static str, FleetReport, usize)> {
    let mut mixed = fleet::runs(9, 300);
    for (index, run) in mixed.iter_mut().enumerate() {
        run.record.unit = if index < 200 { Unit::Cycles } else { Unit::Nanoseconds };
        if index % 5 == 0 {
            run.record.wall_source = TimeSource::Samples;
        }
    }
    let mut failed = FleetBuilder::new(FleetOptions::default());
    failed.add_failure(failure("a.xml", FailureKind::Empty, "it is empty"));
    vec![
        ("usual", usual(2_000), 4),
        ("one run", report(&fleet::runs(7, 1), FleetOptions { alerts: rules(&["cpu.p50 > 1"]), ..by(&[]) }), 1),
        ("no run", failed.finish(), 0),
        ("twelve cohorts", report(&fleet::runs(7, 240), by(&["app_version", "device"])), 12),
        ("two units", report(&mixed, by(&["app_version"])), 8),
        ("nothing asked", report(&fleet::runs(7, 30), FleetOptions { quantiles: Vec::new(), ..by(&[]) }), 1),
        ("weighted", report(&fleet::runs(7, 300), FleetOptions { is_weighted: true, ..by(&[]) }), 1),
    ]
}

/// The document of a page.
fn document(page: &str) -> Result<Value, Failed> {
    Ok(serde_json::from_slice(&payload("report", page))?)
}

fn a_page_is_one_file_that_loads_nothing() -> Result<(), Failed> {
    for (name, report, _) in shapes() {
        let page = page(&report);
        ensure!(page.starts_with("<!doctype html>\n<html lang=\"en\">"), "{name}: no doctype");
        for part in ["<meta name=\"viewport\"", "default-src 'none'", "<title>CPU use across "] {
            ensure!(page.contains(part), "{name}: no {part}");
        }
        for part in ["https:", "src=", "url(", "@import", "<link", "fetch("] {
            ensure!(!page.contains(part), "{name}: {part}");
        }
        ensure!(page == self::page(&report), "{name}: equal reports give unequal pages");
    }
    Ok(())
}

const HOSTILE: [&str; 7] = [
    "</script><script>window.hacked = 1</script>",
    "\"><img alt=x onerror=window.hacked=2>",
    "' onclick='window.hacked=3",
    "<!-- <style>*{display:none}</style> &amp; &#60;b>",
    "a\u{202e}gnp.exe\u{2066}\0\n\u{1b}[31m",
    ACTING,
    "]]></td></tr></table></svg><h1>out</h1>",
];

/// Hostile text in all places where text comes from inputs.
fn hostile() -> FleetReport {
    let mut runs = fleet::runs(5, 60);
    for (index, run) in runs.iter_mut().enumerate() {
        let text = |offset: usize| HOSTILE[(index + offset) % HOSTILE.len()];
        for (at, name) in run.names.iter_mut().enumerate() {
            *name = format!("{}{name}", HOSTILE[at % HOSTILE.len()]);
        }
        run.record.source = format!("{}/{index}", text(0));
        run.record.labels = vec![(HOSTILE[0].to_owned(), text(1).to_owned())];
    }
    let rule = format!("function({:?}).self.max > 1", HOSTILE[1]).replace("\\u{", "u{");
    let mut options = by(&[HOSTILE[0]]);
    options.alerts = rules(&[&rule, "cpu.max > 1"]);
    let mut builder = FleetBuilder::new(options);
    for run in &runs {
        builder.add(run);
    }
    for text in HOSTILE {
        builder.add_failure(failure(text, FailureKind::Malformed, text));
        builder.add_note(text.to_owned());
    }
    builder.finish()
}

fn names_from_input_are_text() -> Result<(), Failed> {
    let page = page(&hostile());
    ensure!(page.matches("<script").count() == 2 && page.matches("</script").count() == 2, "another script");
    ensure!(page.matches("<style").count() == 1, "a second style");
    let (shell, _) = page.split_once("<script>").ok_or("no script")?;
    for part in ["<img", "<h1>out", "<!--", " onerror=window.hacked=2>", "\u{202e}", "\u{2066}", "\0", "\u{1b}"] {
        ensure!(!shell.contains(part), "{part:?}");
    }
    ensure!(!ACTING.chars().any(|c| shell.contains(c)), "a character that acts");
    Ok(())
}

fn report_of(runs: &[RunMeasures]) -> FleetReport {
    report(runs, FleetOptions::default())
}

/// Adds functions of long names to runs.
fn with_functions(runs: &mut [RunMeasures], count: u64) {
    for (seed, run) in runs.iter_mut().enumerate() {
        let mut rng = Rng::new(seed as u64);
        for index in 0..count {
            let name = NameId(run.names.len() as u32);
            run.names.push(format!("company::module{}::Container<std::string, int>::method{index}() const", index % 7));
            let own = 1_000_000 * (1 + rng.below(40));
            let frame = FrameRow {
                function: name,
                self_weight: own,
                all_weight: own,
                self_samples: own / 1_000_000,
                all_samples: own / 1_000_000,
                ..run.frames[0]
            };
            run.frames.push(frame);
        }
    }
}

fn what_is_cut_is_counted() -> Result<(), Failed> {
    let mut runs = fleet::runs(3, 2_100);
    with_functions(&mut runs[..40], 260);
    let report = report_of(&runs);
    let shown = document(&page(&report))?;
    let rates: Vec<f64> = of(&shown["report"]["runs"]).filter_map(|run| run["value"].as_f64()).collect();
    ensure!(rates.len() == 2_000 && shown["words"]["hidden_runs"] == 100, "{} runs", rates.len());
    let mut sorted: Vec<f64> = report.runs.iter().map(|run| run.rate.as_f64()).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    ensure!(rates == sorted[..2_000], "the runs with the highest values");
    let functions = |shown: &Value| {
        let table = of(&shown["report"]["cohorts"][0]["tables"]).find(|table| table["scope"] == "function").cloned();
        let table = table.unwrap_or_default();
        (of(&table["rows"]).count(), table["hidden"].as_u64().unwrap_or(0) as usize)
    };
    let all = report.cohorts[0].tables.iter().map(|table| table.rows.len()).max().unwrap_or(0);
    ensure!(functions(&shown) == (200, all - 200) && all > 260, "{:?} of {all}", functions(&shown));
    // Rows that the report itself left out are also counted.
    let cut = document(&page(&report_with_top(&runs, 20)))?;
    ensure!(functions(&cut) == (20, all - 20), "{:?} of {all}", functions(&cut));
    // Cohorts beyond the limit have no plots.
    let mut runs = fleet::runs(3, 60);
    for (index, run) in runs.iter_mut().enumerate() {
        run.record.labels = vec![("build".to_owned(), format!("{:02}", index / 2))];
    }
    let shown = document(&page(&self::report(&runs, by(&["build"]))))?;
    let with_bins = of(&shown["report"]["cohorts"]).filter(|cohort| of(&cohort["bins"]).count() > 0).count();
    ensure!(with_bins == 24 && of(&shown["report"]["cohorts"]).count() == 30, "{with_bins} cohorts with bins");
    Ok(())
}

/// The elements of an array.
fn of(array: &Value) -> impl Iterator<Item = &Value> {
    array.as_array().into_iter().flatten()
}

fn report_with_top(runs: &[RunMeasures], top: usize) -> FleetReport {
    report(runs, FleetOptions { top: Some(top), ..FleetOptions::default() })
}

fn large_fleets_make_pages_of_bounded_size() -> Result<(), Failed> {
    let mut runs = fleet::runs(3, 2_000);
    with_functions(&mut runs, 300);
    let size = page(&report(&runs, by(&["app_version"]))).len();
    println!("2,000 runs, 4 cohorts, more than 300 functions: {size} bytes");
    ensure!(size < 1_000_000, "{size} bytes");
    // Ten times the runs are no larger page.
    let size = page(&report(&fleet::runs(3, 20_000), by(&["app_version"]))).len();
    ensure!(size < 600_000, "{size} bytes");
    Ok(())
}

fn a_writer_that_fails_is_told_of() -> Result<(), Failed> {
    let report = usual(100);
    full_disks_are_errors(|mut out| output::write(&report, &Format::Html(&[]), &mut out))
}

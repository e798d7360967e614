//! Approximate reports: percentiles of windows are within their error, timelines are absent, and everything else is as in the exact report.

use serde_json::{Value, json};
use support::fleet;
use support::page::payload;
use traceparse::fleet::{FleetBuilder, FleetOptions, RunMeasures};
use traceparse::output::{self, Format, Style};
use traceparse::units::{Millionths, Unit};

fn runs() -> Vec<RunMeasures> {
    let mut runs = fleet::runs(11, 150);
    for (index, run) in runs.iter_mut().enumerate() {
        match index % 10 {
            0 => run.record.unit = Unit::Cycles,
            1 => run.windows.clear(),
            2 => run.record.run_weight = Millionths::new(2_500_000),
            _ => {}
        }
    }
    runs
}

fn builder(runs: &[RunMeasures], is_approximate: bool, options: &FleetOptions) -> FleetBuilder {
    let mut builder = FleetBuilder::new(FleetOptions { is_approximate, ..options.clone() });
    runs.iter().for_each(|run| builder.add(run));
    builder
}

fn report(runs: &[RunMeasures], is_approximate: bool, options: &FleetOptions) -> Value {
    let mut out = Vec::new();
    output::write(&builder(runs, is_approximate, options).finish(), &Format::Json, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn questions() -> Vec<FleetOptions> {
    let by = |labels: &[&str]| labels.iter().map(|&label| label.to_owned()).collect();
    vec![
        FleetOptions::default(),
        FleetOptions { by: by(&["app_version", "device"]), ..FleetOptions::default() },
        FleetOptions { by: by(&["device"]), is_weighted: true, ..FleetOptions::default() },
    ]
}

/// Removes the parts of a report that may differ, and returns the percentiles of windows.
fn take_windows(report: &mut Value) -> Vec<f64> {
    report["options"]["is_approximate"].take();
    let mut values = Vec::new();
    for cohort in report["cohorts"].as_array_mut().unwrap() {
        cohort["timeline"].take();
        let pooled = &mut cohort["within_runs"]["pooled"];
        [pooled["is_exact"].take(), pooled["relative_error"].take()].iter().for_each(drop);
        for percentile in pooled["percentiles"].as_array_mut().into_iter().flatten() {
            values.push(percentile["value"].take().as_f64().unwrap());
        }
    }
    values
}

#[test]
fn windows_are_within_their_error_and_all_else_is_exact() {
    let runs = runs();
    for options in questions() {
        let [mut exact, mut approximate] = [false, true].map(|is_approximate| report(&runs, is_approximate, &options));
        for cohort in approximate["cohorts"].as_array().unwrap() {
            assert_eq!(cohort["timeline"], json!([]));
            let pooled = &cohort["within_runs"]["pooled"];
            assert_eq!((&pooled["is_exact"], &pooled["relative_error"]), (&json!(false), &json!(0.00544)));
        }
        assert!(exact["cohorts"].as_array().unwrap().iter().any(|cohort| cohort["timeline"] != json!([])));
        let [values, buckets] = [&mut exact, &mut approximate].map(take_windows);
        assert!(values.len() >= 10 && values.len() == buckets.len());
        for (value, bucket) in values.iter().zip(&buckets) {
            assert!((value - bucket).abs() <= 0.00544 * value, "{value} {bucket}");
        }
        assert!(values.iter().zip(&buckets).any(|(value, bucket)| value != bucket), "nothing was counted in buckets");
        assert_eq!(exact, approximate);
    }
}

#[test]
fn memory_does_not_grow_with_the_length_of_runs() {
    let long = |seconds: u32| {
        let mut runs = fleet::runs(3, 40);
        for run in &mut runs {
            run.record.wall = Some(traceparse::units::Nanos::from_millis(u64::from(seconds) * 1_000));
            let first = run.windows[0];
            run.windows = (0..seconds).map(|second| traceparse::fleet::WindowRow { second, ..first }).collect();
        }
        runs
    };
    let memory = |seconds, is_approximate| builder(&long(seconds), is_approximate, &FleetOptions::default()).memory();
    assert_eq!(memory(100, true), memory(10_000, true));
    assert!(memory(10_000, false) > memory(100, false) + 40 * 9_900);
}

#[test]
fn people_are_told_the_error() {
    let report = builder(&runs(), true, &FleetOptions::default()).finish();
    let mut text = Vec::new();
    output::write(&report, &Format::Text(Style::default()), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("within runs: 1 s windows · % of one core · within 0.55 %, counted in buckets"), "{text}");
    let mut page = Vec::new();
    output::write(&report, &Format::Html(&[]), &mut page).unwrap();
    let page = payload("report", &String::from_utf8(page).unwrap());
    assert!(String::from_utf8(page).unwrap().contains("\"within\":\"within 0.55 %, counted in buckets\""));
}

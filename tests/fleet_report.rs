//! Reports on invented fleets.

mod support;

use support::fleet;
use traceparse::fleet::{FleetBuilder, FleetOptions, FleetReport, FleetScope, RunMeasures};
use traceparse::units::Millionths;

fn report(runs: &[RunMeasures], options: FleetOptions) -> FleetReport {
    let mut builder = FleetBuilder::new(options);
    for run in runs {
        builder.add(run);
    }
    builder.finish()
}

fn by_version() -> FleetOptions {
    FleetOptions { by: vec!["app_version".to_owned()], ..FleetOptions::default() }
}

#[test]
fn a_regression_in_a_tail_is_the_largest_contrast() {
    let runs = fleet::runs(7, 2_000);
    let report = report(&runs, by_version());
    assert_eq!(report.cohorts.len(), 4);
    let functions = report.contrasts.iter().find(|contrast| contrast.scope == FleetScope::Function).unwrap();
    let first = &functions.rows[0];
    assert_eq!(
        (first.name.binary.as_deref(), first.name.function.as_deref()),
        (Some(fleet::SLOW.0), Some(fleet::SLOW.1))
    );
    assert!(!first.is_noise && first.values[3] > 8.0 && first.values[..3].iter().all(|&value| value < 0.1));
    // The mean does not show it half as well.
    let mean = |cohort: usize| report.cohorts[cohort].across_runs.mean;
    assert!((mean(3) - mean(0)).abs() < 2.0);
}

#[test]
fn every_row_counts_every_run_of_its_cohort() {
    let runs = fleet::runs(3, 400);
    let report = report(&runs, by_version());
    for (index, cohort) in report.cohorts.iter().enumerate() {
        let members: Vec<&RunMeasures> =
            runs.iter().enumerate().filter(|(run, _)| run % 4 == index).map(|(_, run)| run).collect();
        assert_eq!(cohort.runs, 100);
        assert_eq!(cohort.across_runs.count, 100);
        let functions = cohort.tables.iter().find(|table| table.scope == FleetScope::Function).unwrap();
        assert!(functions.rows.len() > 10);
        for row in &functions.rows {
            let (binary, function) = (row.name.binary.as_deref().unwrap(), row.name.function.as_deref().unwrap());
            let values: Vec<Millionths> = members.iter().map(|run| slow_rate(run, binary, function)).collect();
            let zeros = values.iter().filter(|value| value.get() == 0).count();
            assert_eq!((row.summary.count, row.summary.zeros), (100, zeros as u64), "{function}");
            let sum: u128 = values.iter().map(|value| u128::from(value.get())).sum();
            assert_eq!(row.summary.mean, Millionths::of_ratio(sum, 100_000_000).unwrap().as_f64(), "{function}");
            let mut sorted = values.clone();
            sorted.sort();
            for (estimate, rank) in row.summary.estimates.iter().zip([50, 90, 95, 99, 100]) {
                assert_eq!(estimate.value, Some(sorted[rank - 1].as_f64()), "{function} {}", estimate.quantile);
            }
        }
    }
}

/// The self rate of a function in a run, added up row by row.
fn slow_rate(run: &RunMeasures, binary: &str, function: &str) -> Millionths {
    let is_it =
        |row: &&traceparse::fleet::FrameRow| (run.name(row.binary), run.name(row.function)) == (binary, function);
    let weight = run.frames.iter().filter(is_it).map(|row| row.self_weight).sum();
    run.record.rate(weight).unwrap()
}

#[test]
fn the_order_of_runs_does_not_show() {
    let mut runs = fleet::runs(11, 60);
    let first = format!("{:?}", report(&runs, by_version()));
    runs.reverse();
    assert_eq!(format!("{:?}", report(&runs, by_version())), first);
    runs.rotate_left(17);
    assert_eq!(format!("{:?}", report(&runs, by_version())), first);
}

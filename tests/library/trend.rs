//! Change points: steps that are there, steps that are not, and how often they are wrong.

use support::runs;
use support::trend_series::{Noise, false_alarms, found_steps};
use traceparse::fleet::{FleetBuilder, RunMeasures, TrendOptions, TrendOver, TrendReport, TrendVerdict};
use traceparse::stats::{CellMean, ChangePoints, change_points, p_of_largest_t, students_t};
use traceparse::units::{Nanos, Unit};

/// Deviations of a hundredth that are the same in every series, and have no pattern.
const DEVIATIONS: [f64; 12] = [0.3, -1.1, 0.7, -0.2, 1.4, -0.6, 0.1, -1.3, 0.9, 0.4, -0.8, 0.2];

/// One block: levels with their numbers of points.
fn series(levels: &[(usize, f64)]) -> Vec<CellMean> {
    let levels = levels.iter().flat_map(|(count, level)| std::iter::repeat_n(*level, *count));
    let deviations = DEVIATIONS.iter().cycle();
    let value = |(point, (level, deviation)): (usize, (f64, &f64))| CellMean {
        point,
        block: 0,
        mean: level + deviation / 100.0,
    };
    levels.zip(deviations).enumerate().map(value).collect()
}

fn found(cells: &[CellMean]) -> ChangePoints {
    change_points(cells, 0.01, |difference| difference.abs() >= 0.03)
}

const NONE: [usize; 0] = [];

fn positions(cells: &[CellMean]) -> Vec<usize> {
    found(cells).changes.iter().map(|change| change.position).collect()
}

#[test]
fn finds_each_level_and_its_neighbours() {
    let found = found(&series(&[(12, 0.0), (9, 0.1), (11, 0.04), (5, 0.2)]));
    let places: Vec<_> = found.changes.iter().map(|change| (change.start, change.position, change.end)).collect();
    assert_eq!(places, [(0, 12, 21), (12, 21, 32), (21, 32, 37)]);
    let first = found.changes[0].effect;
    let (lower, upper) = first.interval(0.05);
    assert!((first.difference - 0.1).abs() < 0.01 && lower < first.difference && first.difference < upper, "{first:?}");
    assert!(found.changes.iter().all(|change| change.p < 1e-4));
}

#[test]
fn finds_nothing_in_few_equal_or_outlying_values() {
    assert_eq!(positions(&[]), NONE);
    assert_eq!(positions(&series(&[(4, 0.0), (5, 1.0)])), NONE, "five on each side");
    assert_eq!(positions(&series(&[(5, 0.0), (5, 1.0)])), [5]);
    let equal: Vec<CellMean> = (0..30).map(|point| CellMean { point, block: 0, mean: 0.1 + 0.2 }).collect();
    assert_eq!(positions(&equal), NONE);
    assert_eq!(positions(&series(&[(40, 0.0)])), NONE);
    assert_eq!(positions(&series(&[(20, 0.0), (4, 1.0), (20, 0.0)])), NONE, "it does not last");
    assert_eq!(positions(&series(&[(20, 0.0), (20, 0.02)])), NONE, "it does not matter");
    // Without noise, nothing is left to estimate a variance from.
    let step: Vec<CellMean> =
        (0..12).map(|point| CellMean { point, block: 0, mean: f64::from(u8::from(point > 5)) }).collect();
    let found = found(&step);
    assert_eq!((found.changes[0].position, found.changes[0].p), (6, 0.0));
}

#[test]
fn ignores_a_change_in_the_mix_of_blocks() {
    // Three devices: one is replaced by another, and the third one by nothing.
    let blocks = |point: usize| match point {
        0..10 => vec![0, 2],
        10..14 => vec![0, 1, 2],
        _ => vec![1],
    };
    let cells = |step: f64, from: usize| -> Vec<CellMean> {
        let level = |point: usize| if point >= from { step } else { 0.0 };
        let deviation = |point: usize, block: usize| DEVIATIONS[(point + 5 * block) % 12] / 100.0;
        let cell =
            |point, block| CellMean { point, block, mean: level(point) + block as f64 + deviation(point, block) };
        (0..30).flat_map(|point| blocks(point).into_iter().map(move |block| cell(point, block))).collect()
    };
    assert_eq!(positions(&cells(0.0, 0)), NONE);
    let found = found(&cells(0.1, 20));
    let change = &found.changes[0];
    assert_eq!((found.changes.len(), change.position), (1, 20));
    assert!((change.effect.difference - 0.1).abs() < 0.02, "{change:?}");
    // Values refer to the mean block.
    assert!(found.values[..20].iter().all(|value| (value - 1.0).abs() < 0.05), "{:?}", found.values);
}

#[test]
fn the_probability_of_the_largest_t_is_a_bound() {
    // One split: Student's t, with 8 degrees of freedom.
    assert!((p_of_largest_t(2.306_004_135_204_166, 10) - 0.05).abs() < 1e-12);
    assert_eq!([p_of_largest_t(100.0, 9), p_of_largest_t(0.0, 30), p_of_largest_t(f64::INFINITY, 30)], [1.0, 1.0, 0.0]);
    let falling: Vec<f64> = (0..100).map(|t| p_of_largest_t(f64::from(t) / 5.0, 30)).collect();
    assert!(falling.is_sorted_by(|a, b| a >= b), "{falling:?}");
    assert_eq!(students_t(&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0]), 1.0 / (2.0_f64 / 3.0).sqrt());
}

/// `benches/trend` has more series, and other noise.
#[test]
fn false_alarms_are_rare_and_steps_are_found() {
    for points in [10, 30, 60] {
        let rate = false_alarms(Noise::Normal, points, 1_000);
        assert!(rate <= 0.01, "{points} points: {rate}");
    }
    assert!(false_alarms(Noise::MixOfBlocks, 30, 500) <= 0.02);
    let [found, near] = found_steps(Noise::Normal, 22, 400);
    assert!(found >= 0.85 && near >= 0.83, "{found} {near}");
}

/// A run of a second on this day of November.
fn run(day: u64, number: u64, unit: Unit, weight: u64) -> RunMeasures {
    let mut run = runs::run(2 * day + number, 0);
    let (run_id, start) = (format!("{day}.{number}"), Some(format!("2026-11-{:02}T09:00:00Z", day + 1)));
    let (samples, wall) = (weight / 1_000_000, Some(Nanos::from_millis(1_000)));
    let source = format!("{run_id}.xml");
    let labels = Vec::new();
    run.record =
        traceparse::fleet::RunRecord { run_id, source, start, labels, unit, weight, samples, wall, ..run.record };
    run
}

#[test]
fn dates_are_points_and_idle_runs_have_no_value() {
    let options = TrendOptions { label: None, block: None, alpha: 0.01, min_effect: 0.03 };
    let mut fleet = FleetBuilder::new(options.fleet());
    for day in 0..14 {
        let typical = if day >= 8 { 110_000_000 } else { 100_000_000 };
        (0..2).for_each(|number| {
            fleet.add(&run(day, number, Unit::Nanoseconds, typical + 700_000 * ((day + number) % 3)))
        });
    }
    fleet.add(&run(3, 7, Unit::Nanoseconds, 0));
    fleet.add(&run(3, 8, Unit::Cycles, 5_000_000_000));
    let mut undated = run(3, 9, Unit::Nanoseconds, 100_000_000);
    undated.record.start = None;
    fleet.add(&undated);
    let fleet = fleet.finish();
    let trend = TrendReport::new(&fleet, options);
    assert_eq!((&trend.over, trend.verdict(), trend.points.len()), (&TrendOver::Day, TrendVerdict::Slower, 14));
    let change = &trend.changes[0];
    assert_eq!((trend.points[change.point].name.as_str(), change.runs), ("2026-11-09", [16, 12]));
    assert!((change.ratio - 1.1).abs() < 0.01, "{change:?}");
    assert_eq!((trend.points[3].runs, trend.points[3].idle), (3, 1));
    let notes = [
        "1 run in another unit is left out.",
        "1 run without a known date is left out.",
        "1 idle run (0 % CPU) is counted, but not in the values.",
    ];
    assert_eq!(trend.notes, notes);
    // Geometric means of two runs.
    let value = trend.points[0].value.unwrap();
    assert!((value - (10.0_f64 * 10.07).sqrt()).abs() < 1e-9, "{value}");
}

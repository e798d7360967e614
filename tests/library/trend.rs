//! Change points: series with and without steps, and how often the result is wrong.

use support::runs;
use support::trend_series::{Noise, false_alarms, false_alarms_over_nights, first_alarms, ramps};
use traceparse::fleet::compare::{Choice, Quantity, Side};
use traceparse::fleet::{FleetBuilder, RunMeasures, TrendDoubt, TrendOptions, TrendOver, TrendReport, TrendVerdict};
use traceparse::recording::TimeSource;
use traceparse::stats::{CellMean, ChangePoints, Looks};
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
    ChangePoints::find(cells, 0.01, Looks::EveryPoint, |difference| difference.abs() >= 0.03)
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
    let first = found.changes[0].shift;
    let (lower, upper) = first.interval(0.05);
    assert!((first.difference - 0.1).abs() < 0.01 && lower < first.difference && first.difference < upper, "{first:?}");
    assert!(found.changes.iter().all(|change| change.p < 0.01 && change.plausible.contains(&change.position)));
    assert_eq!(found.slope, None);
    let since = found.shift(3, 36).unwrap();
    assert!((since.difference - 0.2).abs() < 0.01, "{since:?}");
    assert_eq!(found.shift(12, 20), None);
}

#[test]
fn small_steps_have_several_plausible_points() {
    let places = |step: f64| {
        let found = ChangePoints::find(&series(&[(20, 0.0), (20, step)]), 0.01, Looks::EveryPoint, |_| true);
        found.changes.into_iter().map(|change| (change.position, change.plausible)).collect::<Vec<_>>()
    };
    assert_eq!(places(0.1), [(20, vec![20])]);
    let [(position, plausible)] = &places(0.012)[..] else { panic!("one change") };
    assert!(plausible.contains(&20) && plausible.contains(position) && plausible.len() > 1, "{plausible:?}");
}

#[test]
fn a_straight_line_is_a_ramp() {
    let rising = |from: usize| -> Vec<CellMean> {
        let rise = |cell: CellMean| cell.mean + cell.point.saturating_sub(from) as f64 / 100.0;
        series(&[(40, 0.0)]).into_iter().map(|cell| CellMean { mean: rise(cell), ..cell }).collect()
    };
    let found = found(&rising(0));
    let (slope, all) = (found.slope.unwrap(), found.shift(0, 39).unwrap());
    assert!((slope.difference - 0.01).abs() < 0.001 && (all.difference - 0.39).abs() < 0.02, "{slope:?}");
    let (lower, upper) = all.interval(0.05);
    assert!(lower > 0.35 && lower < 0.39 && upper > 0.39 && upper < 0.43, "{lower} {upper}");
}

#[test]
fn a_clear_change_is_found_before_five_points_confirm_it() {
    let nightly = |cells: &[CellMean]| -> Vec<usize> {
        let found = ChangePoints::find(cells, Looks::EveryPoint.alpha(0.05, cells.len()), Looks::EveryPoint, |_| true);
        found.changes.iter().map(|change| change.position).collect()
    };
    let cells = series(&[(30, 0.0), (3, 0.7)]);
    assert_eq!(nightly(&cells), [30]);
    for outliers in [1, 2] {
        assert_eq!(nightly(&series(&[(30, 0.0), (outliers, 0.7)])), NONE);
        assert_eq!(nightly(&series(&[(90, 0.0), (outliers, 7.0)])), NONE);
    }
    assert_eq!(nightly(&series(&[(1, 7.0), (90, 0.0)])), NONE);
    // Most values equal the median around them.
    let ties: Vec<CellMean> =
        (cells.iter()).map(|cell| CellMean { mean: (cell.mean * 10.0).round(), ..*cell }).collect();
    assert_eq!(nightly(&ties), [30]);
}

#[test]
fn alpha_is_spent_over_all_nights() {
    let nights: f64 = (10..100_000).map(|points| Looks::EveryPoint.alpha(0.05, points)).sum();
    assert!((nights - 0.05).abs() < 1e-5, "{nights}");
    assert_eq!([30, 60, 90].map(|points| Looks::Once.alpha(0.05, points)), [0.0025, 0.01, 0.01]);
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
    assert!((change.shift.difference - 0.1).abs() < 0.02, "{change:?}");
    // Values refer to the mean block.
    assert!(found.values[..20].iter().all(|value| (value - 1.0).abs() < 0.05), "{:?}", found.values);
}

#[test]
fn the_probability_of_the_largest_t_is_a_bound() {
    // One split: Student's t, with 8 degrees of freedom.
    assert!((ChangePoints::p_of_largest_t(2.306_004_135_204_166, 10) - 0.05).abs() < 1e-12);
    assert_eq!(
        [
            ChangePoints::p_of_largest_t(100.0, 9),
            ChangePoints::p_of_largest_t(0.0, 30),
            ChangePoints::p_of_largest_t(f64::INFINITY, 30)
        ],
        [1.0, 1.0, 0.0]
    );
    let falling: Vec<f64> = (0..100).map(|t| ChangePoints::p_of_largest_t(f64::from(t) / 5.0, 30)).collect();
    assert!(falling.is_sorted_by(|a, b| a >= b), "{falling:?}");
}

/// `benches/trend` has more series, and other noise.
#[test]
fn false_alarms_are_rare_and_steps_are_found() {
    for looks in [Looks::EveryPoint, Looks::Once] {
        for points in [10, 30, 60] {
            let rate = false_alarms(Noise::Normal, points, looks, 500);
            assert!(rate <= 0.01, "{looks:?}, {points} points: {rate}");
        }
        assert!(false_alarms(Noise::StronglyCorrelated, 30, looks, 500) <= 0.03);
        assert!(false_alarms(Noise::MixOfBlocks, 30, looks, 300) <= 0.02);
    }
    let rate = false_alarms_over_nights(Noise::Normal, Looks::EveryPoint, 100);
    assert!(rate <= 0.04, "{rate}");
    let alarms = first_alarms(Noise::Normal, 30, 4.0, Looks::EveryPoint, 60);
    let are_right = alarms.contains >= 0.97 && alarms.at_most_four >= 0.9 && alarms.right >= 0.85;
    assert!(are_right && alarms.found == 1.0 && alarms.points[1] <= 6, "{alarms:?}");
    let [changed, ramp] = ramps(60, 0, 6.0, 60);
    assert!(changed > 0.4 && ramp > 0.95, "{changed} {ramp}");
}

fn options(label: Option<&str>) -> TrendOptions {
    let label = label.map(str::to_owned);
    let (alpha, looks) = (0.05, Looks::EveryPoint);
    TrendOptions {
        measures: Vec::new(),
        label,
        block: None,
        alpha,
        looks,
        min_effect: 0.03,
        accepted: None,
        inputs: Vec::new(),
    }
}

/// A fleet with one run of each version, 1.0, 1.1 …, with these CPU times in milliseconds and more labels.
fn versions(options: &TrendOptions, uses: &[f64], labels: impl Fn(usize) -> Vec<(&'static str, String)>) -> Side {
    let mut fleet = FleetBuilder::for_trend(options.fleet(), &[]);
    for (index, (milliseconds, deviation)) in uses.iter().zip(DEVIATIONS.iter().cycle()).enumerate() {
        let weight = milliseconds * 1e6 * (deviation / 100.0).exp();
        let mut run = run(index as u64 % 28, index as u64 / 28, Unit::Nanoseconds, weight as u64);
        let version = [("app_version", format!("1.{index}"))];
        let labels = version.into_iter().chain(labels(index));
        run.record.labels = labels.map(|(key, value)| (key.to_owned(), value)).collect();
        fleet.add(&run);
    }
    Side::new(fleet).unwrap()
}

fn names(trend: &TrendReport<'_>) -> Vec<(String, bool)> {
    let name = |point: usize| trend.series[0].points[point].name.clone();
    trend.series[0].changes.iter().map(|change| (name(change.point), change.is_accepted)).collect()
}

#[test]
fn the_answer_is_the_change_since_the_start_or_the_accepted_version() {
    let levels = [[100.0; 12], [120.0; 12], [115.2; 12]].concat();
    let report = |accepted: Option<&str>| {
        let options = TrendOptions { accepted: accepted.map(str::to_owned), ..options(Some("app_version")) };
        let fleet = versions(&options, &levels, |_| Vec::new());
        let trend = TrendReport::new(&fleet, options);
        let since = trend.series[0].since.as_ref().map(|since| (since.from, since.ratio, since.runs));
        (trend.verdict(), since, names(&trend))
    };
    let change = |name: &str, is_accepted| (name.to_owned(), is_accepted);
    let (verdict, since, changes) = report(None);
    let (from, ratio, runs) = since.unwrap();
    assert_eq!((verdict, from, runs), (TrendVerdict::Slower, 0, [12, 12]));
    assert!((ratio - 1.152).abs() < 0.01, "{ratio}");
    assert_eq!(changes, [change("1.12", false), change("1.24", false)]);
    let (verdict, since, changes) = report(Some("1.12"));
    assert_eq!((verdict, since.unwrap().0), (TrendVerdict::Faster, 12));
    assert_eq!(changes, [change("1.12", true), change("1.24", false)]);
    let (verdict, since, _) = report(Some("1.30"));
    assert_eq!((verdict, since), (TrendVerdict::NoChange, None));
    assert_eq!(report(Some("1.99")).0, TrendVerdict::Invalid);
}

#[test]
fn a_fixed_slowdown_does_not_change_the_answer() {
    let options = options(Some("app_version"));
    let fleet = versions(&options, &[[100.0; 12], [120.0; 12], [100.0; 12]].concat(), |_| Vec::new());
    let trend = TrendReport::new(&fleet, options);
    assert_eq!((trend.verdict(), trend.series[0].changes.len()), (TrendVerdict::NoChange, 2));
    let (lower, upper) = trend.series[0].since.as_ref().unwrap().interval;
    assert!(lower < 1.0 && upper > 1.0);
}

#[test]
fn a_device_that_changes_with_the_version_is_reported() {
    let options = options(Some("app_version"));
    let levels = [[100.0; 12], [120.0; 12]].concat();
    let labels = |index: usize| {
        let (device, os) = (["iPhone 14", "iPhone 15"][usize::from(index >= 12)], ["iOS 18", "iOS 26"][index % 2]);
        vec![("device", device.to_owned()), ("os", os.to_owned())]
    };
    let fleet = versions(&options, &levels, labels);
    let trend = TrendReport::new(&fleet, options);
    let device = ("device".to_owned(), [vec!["iPhone 14".to_owned()], vec!["iPhone 15".to_owned()]]);
    assert_eq!(trend.series[0].changes[0].confounders, [device]);
    assert_eq!(trend.series[0].points.len(), 24, "devices do not divide a point");
    // The five runs on each side that are nearest to the change.
    let expected: Vec<String> = [["--base"; 5], ["--new"; 5]]
        .concat()
        .iter()
        .zip(7..)
        .map(|(side, version)| format!("{side} app_version=1.{version}"))
        .collect();
    let mut pairs: Vec<String> =
        trend.series[0].changes[0].shift.comparison.chunks(2).map(|words| words.join(" ")).collect();
    pairs.sort_by_key(|pair| pair.rsplit('.').next().and_then(|version| version.parse::<u32>().ok()));
    assert_eq!(pairs.remove(0), "--measure cpu-use");
    assert_eq!(pairs, expected);
}

#[test]
fn a_manifest_may_have_the_date_of_a_run() {
    let options = options(None);
    let levels = [[100.0; 12], [120.0; 12]].concat();
    let fleet = versions(&options, &levels, |index| vec![("date", format!("2026-10-{:02}", 30 - index))]);
    let trend = TrendReport::new(&fleet, options);
    assert_eq!((&trend.over, trend.series[0].points.len()), (&TrendOver::Day, 24));
    assert_eq!((trend.verdict(), names(&trend)), (TrendVerdict::Faster, vec![("2026-10-19".to_owned(), false)]));
    assert_eq!(trend.series[0].since.as_ref().unwrap().comparison[..2], ["--base", "date=2026-10-14"]);
}

#[test]
fn is_invalid_if_inputs_failed_or_all_runs_are_idle() {
    let options = options(Some("app_version"));
    let mut fleet = versions(&options, &[100.0; 20], |_| Vec::new());
    assert_eq!(TrendReport::new(&fleet, options.clone()).verdict(), TrendVerdict::NoChange);
    fleet.report.inputs.excluded_runs = 2;
    assert_eq!(TrendReport::new(&fleet, options.clone()).verdict(), TrendVerdict::NoChange);
    fleet.report.inputs.excluded_runs = 3;
    let trend = TrendReport::new(&fleet, options.clone());
    assert_eq!((trend.verdict(), trend.series[0].changes.len()), (TrendVerdict::Invalid, 0));
    let expected = "Invalid: 3 of 23 inputs could not be measured, and the others may not be like them.";
    assert_eq!(trend.series[0].problem.as_deref(), Some(expected));
    let idle = versions(&options, &[0.0; 20], |_| Vec::new());
    assert_eq!(TrendReport::new(&idle, options.clone()).verdict(), TrendVerdict::Invalid);
    let few = versions(&options, &[100.0; 9], |_| Vec::new());
    assert_eq!(TrendReport::new(&few, options).verdict(), TrendVerdict::Unknown);
}

/// A run of a second on this day of November.
fn run(day: u64, number: u64, unit: Unit, weight: u64) -> RunMeasures {
    let mut run = runs::run(2 * day + number, 0);
    let (run_id, start) = (format!("{day}.{number}"), Some(format!("2026-11-{:02}T09:00:00Z", day + 1)));
    let (samples, wall) = (weight / 1_000_000, Some(Nanos::from_millis(1_000)));
    let source = format!("{run_id}.xml");
    let labels = Vec::new();
    let record = run.record;
    let (rejected, unread_runs, excluded_runs) = (0, 0, 0);
    run.record = traceparse::fleet::RunRecord {
        run_id,
        source,
        start,
        labels,
        unit,
        weight,
        samples,
        wall,
        rejected,
        unread_runs,
        excluded_runs,
        wall_source: TimeSource::Toc,
        ..record
    };
    run
}

#[test]
fn dates_are_points_and_idle_runs_have_no_value() {
    let options = options(None);
    let mut fleet = FleetBuilder::for_trend(options.fleet(), &[]);
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
    let fleet = Side::new(fleet).unwrap();
    let trend = TrendReport::new(&fleet, options);
    assert_eq!(
        (&trend.over, trend.verdict(), trend.series[0].points.len()),
        (&TrendOver::Day, TrendVerdict::Slower, 14)
    );
    let change = &trend.series[0].changes[0];
    assert_eq!((trend.series[0].points[change.point].name.as_str(), change.shift.runs), ("2026-11-09", [16, 12]));
    assert!((change.shift.ratio - 1.1).abs() < 0.01, "{change:?}");
    assert_eq!((trend.series[0].points[3].runs, trend.series[0].points[3].idle), (3, 1));
    let notes = [
        "1 run without a known date is left out.",
        "1 run in another unit is left out.",
        "1 idle run (0 % CPU) is counted, but not in the values.",
    ];
    assert_eq!(trend.notes, notes);
    // Geometric means of two runs.
    let value = trend.series[0].points[0].value.unwrap();
    assert!((value - (10.0_f64 * 10.07).sqrt()).abs() < 1e-9, "{value}");
}

/// Recordings of these lengths in seconds, in which an app is busy for three tenths of the time.
fn of_lengths(options: &TrendOptions, lengths: impl IntoIterator<Item = f64>) -> Side {
    let mut fleet = FleetBuilder::for_trend(options.fleet(), &[]);
    for (index, (length, deviation)) in lengths.into_iter().zip(DEVIATIONS.iter().cycle()).enumerate() {
        let nanos = length * 1e9 * (deviation / 100.0).exp();
        let mut run = run(index as u64 % 28, index as u64 / 28, Unit::Nanoseconds, (nanos * 0.3) as u64);
        run.record.wall = Some(Nanos::from_nanos(nanos as u64));
        run.record.labels = vec![("app_version".to_owned(), format!("1.{index}"))];
        fleet.add(&run);
    }
    Side::new(fleet).unwrap()
}

#[test]
fn work_that_takes_longer_is_slower_although_cpu_use_is_the_same() {
    let options = options(Some("app_version"));
    let lengths = [[1.0; 12], [2.0; 12]].concat();
    let side = of_lengths(&options, lengths);
    let trend = TrendReport::new(&side, options.clone());
    let quantity = |trend: &TrendReport<'_>| (trend.choice, trend.series[0].quantity.clone());
    assert_eq!(quantity(&trend), (Choice::Work, Quantity::CpuTime));
    assert_eq!((trend.verdict(), names(&trend)), (TrendVerdict::Slower, vec![("1.12".to_owned(), false)]));
    assert!((trend.series[0].since.as_ref().unwrap().ratio - 2.0).abs() < 0.02);
    // CPU use alone is not conclusive.
    let asked = |measures: &[Quantity]| TrendOptions { measures: measures.to_vec(), ..options.clone() };
    let trend = TrendReport::new(&side, asked(&[Quantity::CpuUse]));
    assert_eq!((trend.choice, trend.verdict()), (Choice::Requested, TrendVerdict::Unknown));
    let Some(TrendDoubt::Lengths(_, Some(time))) = &trend.series[0].doubt else {
        panic!("{:?}", trend.series[0].doubt)
    };
    assert!((time.ratio - 2.0).abs() < 0.02);
    let trend = TrendReport::new(&side, asked(&[Quantity::CpuTime, Quantity::CpuUse, Quantity::Elapsed]));
    let verdicts: Vec<_> = trend.series.iter().map(|series| series.verdict()).collect();
    assert_eq!(verdicts, [TrendVerdict::Slower, TrendVerdict::NoChange, TrendVerdict::Slower]);
    assert_eq!(trend.verdict(), TrendVerdict::Slower);
    let trend = TrendReport::new(&side, asked(&[Quantity::Interval("Checkout".to_owned())]));
    assert_eq!(trend.verdict(), TrendVerdict::Invalid);
    // With a window, CPU use is meant.
    let side = versions(&options, &[100.0; 24], |_| Vec::new());
    assert_eq!(quantity(&TrendReport::new(&side, options)), (Choice::OneLength, Quantity::CpuUse));
}

#[test]
fn a_second_change_does_not_hide_the_first() {
    let levels = [vec![100.0; 20], vec![120.0; 20], vec![156.0; 3]].concat();
    let options = options(Some("app_version"));
    for newest in 0..=3 {
        let side = versions(&options, &levels[..40 + newest], |_| Vec::new());
        let trend = TrendReport::new(&side, options.clone());
        assert_eq!((trend.verdict(), trend.series[0].is_gradual), (TrendVerdict::Slower, false), "{newest}");
        assert_eq!(names(&trend)[0], ("1.20".to_owned(), false));
    }
}

#[test]
fn a_point_that_cannot_be_compared_is_no_good_news() {
    let over_versions = options(Some("app_version"));
    let verdict = |options: &TrendOptions, uses: &[f64], labels: &dyn Fn(usize) -> Vec<(&'static str, String)>| {
        let side = versions(options, uses, labels);
        let trend = TrendReport::new(&side, options.clone());
        (trend.verdict(), trend.series[0].problem.clone().unwrap_or_default())
    };
    let none = |_: usize| Vec::new();
    let (word, problem) = verdict(&over_versions, &[vec![100.0; 19], vec![0.0]].concat(), &none);
    assert_eq!((word, problem.contains("all of its runs are idle")), (TrendVerdict::Invalid, true), "{problem}");
    // Each device has one half of the versions.
    let by_device = TrendOptions { block: Some("device".to_owned()), ..over_versions.clone() };
    let device = |index: usize| vec![("device", format!("iPhone {}", index / 10))];
    let (word, problem) = verdict(&by_device, &[[100.0; 10], [150.0; 10]].concat(), &device);
    assert_eq!((word, problem.contains("no device links")), (TrendVerdict::Invalid, true), "{problem}");
    let status = |index: usize| vec![("exit_status", ["0", "134"][index / 10].to_owned())];
    let (word, problem) = verdict(&over_versions, &[[100.0; 10], [50.0; 10]].concat(), &status);
    assert_eq!((word, problem.contains("10 of 20 inputs")), (TrendVerdict::Invalid, true), "{problem}");
    let always_one = |_: usize| vec![("exit_status", "1".to_owned())];
    assert_eq!(verdict(&over_versions, &[100.0; 20], &always_one).0, TrendVerdict::NoChange);
    // Dates are days, regardless of their number.
    let late = TrendOptions { accepted: Some("2027-01-01".to_owned()), ..options(None) };
    let (word, problem) = verdict(&late, &[100.0; 20], &none);
    assert_eq!((word, problem.contains("is after the newest day")), (TrendVerdict::Invalid, true), "{problem}");
}

#[test]
fn shorter_recordings_may_be_crashes() {
    let options = options(Some("app_version"));
    let side = of_lengths(&options, [[2.0; 12], [1.0; 12]].concat());
    let trend = TrendReport::new(&side, options.clone());
    assert_eq!((trend.choice, trend.verdict()), (Choice::Work, TrendVerdict::Unknown));
    let asked = TrendOptions { measures: vec![Quantity::CpuTime], ..options };
    assert_eq!(TrendReport::new(&side, asked).verdict(), TrendVerdict::Faster);
}

#[test]
fn a_slow_rise_is_no_good_news_and_a_short_spike_no_change() {
    let options = options(Some("app_version"));
    let verdict = |uses: &[f64]| {
        let side = versions(&options, uses, |_| Vec::new());
        let trend = TrendReport::new(&side, options.clone());
        (trend.verdict(), trend.series[0].is_gradual)
    };
    for noise in [0.0, 1.0] {
        let rising = |index: usize| 300.0 + 3.0 * index as f64 + noise * DEVIATIONS[index % 12];
        assert_eq!(verdict(&(0..30).map(rising).collect::<Vec<_>>()), (TrendVerdict::Slower, true), "{noise}");
    }
    let spike = [vec![100.0; 20], vec![200.0; 3], vec![100.0; 9]].concat();
    for night in 26..=32 {
        assert_eq!(verdict(&spike[..night]), (TrendVerdict::NoChange, false), "{night}");
    }
    // A single slow point after a step leaves the step.
    let step = [vec![100.0; 20], vec![120.0; 5], vec![240.0], vec![120.0; 4]].concat();
    for night in 25..=30 {
        assert_eq!(verdict(&step[..night]).0, TrendVerdict::Slower, "{night}");
    }
}

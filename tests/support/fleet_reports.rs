//! Reports on invented fleets: simple ones that can be computed by hand, and all the unusual ones that writers must handle.

use super::fleet;
use traceparse::alert::AlertRule;
use traceparse::fleet::{
    FailedInput, FailureKind, FleetBuilder, FleetOptions, FleetReport, FleetScope, FrameRow, NameId, NamesBuilder,
    RunMeasures, SortKey, WindowRow,
};
use traceparse::recording::TimeSource;
use traceparse::stats::{Quantile, QuantileMethod};
use traceparse::units::{Nanos, Unit};

/// A second in nanoseconds, and the number of seconds in these runs.
const SECOND: u64 = 1_000_000_000;
const SECONDS: u64 = 100;

/// A run that uses this many hundredths of a percent of one core, all in one function.
pub fn run_of(index: u32, hundredths: u64, names: [&str; 4]) -> RunMeasures {
    let mut run = fleet::run(1, index);
    let mut builder = NamesBuilder::default();
    let [process, thread, binary, function] = names.map(|name| builder.id(name));
    let weight = hundredths * SECONDS * SECOND / 10_000;
    let samples = weight / 1_000_000;
    let (self_weight, all_weight, self_samples, all_samples) = (weight, weight, samples, samples);
    let is_main_thread = names[1] == "Main Thread";
    run.frames = vec![FrameRow {
        process,
        thread,
        is_main_thread,
        binary,
        function,
        self_weight,
        all_weight,
        self_samples,
        all_samples,
    }];
    run.binaries = vec![FrameRow { function: NameId::NONE, ..run.frames[0] }];
    let (weight, samples) = (weight / SECONDS, samples / SECONDS);
    let window = |second| WindowRow { process, thread, is_main_thread, second, weight, samples };
    run.windows = (0..SECONDS as u32).map(window).collect();
    run.names = builder.finish();
    run.record.wall = Some(Nanos::from_nanos(SECONDS * SECOND));
    (run.record.weight, run.record.samples, run.record.effective_samples) = (self_weight, self_samples, self_samples);
    run
}

pub fn plain_run(index: u32, hundredths: u64) -> RunMeasures {
    run_of(index, hundredths, ["App", "Main Thread", "App", "work()"])
}

/// Runs with 1 %, 2 % … of one core.
pub fn ascending(count: u32) -> Vec<RunMeasures> {
    (0..count).map(|index| plain_run(index, u64::from(index + 1))).collect()
}

/// 99 runs at 1 % and one at 99 %.
pub fn one_heavy() -> Vec<RunMeasures> {
    (0..100).map(|index| plain_run(index, if index == 61 { 9_900 } else { 100 })).collect()
}

/// The default options, with cohorts by these labels.
pub fn by(labels: &[&str]) -> FleetOptions {
    FleetOptions { by: labels.iter().map(|&label| label.to_owned()).collect(), ..FleetOptions::default() }
}

pub fn rules(texts: &[&str]) -> Vec<AlertRule> {
    texts.iter().map(|text| AlertRule::of_runs(text).unwrap_or_else(|error| panic!("{text}: {error}"))).collect()
}

pub fn report(runs: &[RunMeasures], options: FleetOptions) -> FleetReport {
    let mut builder = FleetBuilder::new(options);
    runs.iter().for_each(|run| builder.add(run));
    builder.finish()
}

/// A report with everything that a report can contain.
pub fn rich() -> FleetReport {
    let alerts = rules(&[
        "cpu.p95 > 80",
        "cpu.p99.9 > 80",
        "function(\"Cache::evict\").self.p95 > 0.01",
        "window(60s).max > 80",
        "process(\"nobody\").cpu.max < 3",
        "function(*).self.p50 > 0.01",
        "binary(*).all.max > 5",
        "function(*).all.p90.lower > 5000",
        "system-cpu-limit",
    ]);
    let options = FleetOptions {
        top: Some(5),
        // Tests this key also with too few runs for it.
        sort: SortKey::Quantile(Quantile::P99),
        alerts,
        ..by(&["app_version", "device"])
    };
    let mut builder = FleetBuilder::new(options);
    let mut runs = fleet::runs(5, 600);
    runs[3].record.wall_source = TimeSource::Samples;
    runs[4].record.wall = None;
    runs[5].record.rejected = 1_234;
    runs[6].record.unread_runs = 2;
    runs[7].record.unread_runs = 1;
    runs.iter().for_each(|run| builder.add(run));
    for index in 0..12 {
        builder.add_failure(failure(index));
    }
    builder.add_note("the manifest has no duration of 3 runs".to_owned());
    builder.finish()
}

pub fn failure(index: u32) -> FailedInput {
    FailedInput {
        source: format!("a folder with a rather long name/and another/broken-{index:02}.xml"),
        source_bytes: 7,
        run_id: None,
        fingerprint: "f".to_owned(),
        kind: FailureKind::Truncated,
        reason: "it ends inside of <row>, which starts at byte 123456; export it again".to_owned(),
        labels: Vec::new(),
    }
}

/// Runs with time as weight, and runs with cycles.
pub fn two_units() -> FleetReport {
    let mut runs = ascending(40);
    for (index, run) in runs.iter_mut().enumerate().take(15) {
        run.record.unit = Unit::Cycles;
        run.record.source = format!("cycles/{index}.xml");
    }
    report(&runs, FleetOptions::default())
}

pub fn odd_names() -> FleetReport {
    let long = format!("std::map<{}>::operator[](unsigned long const&)", "std::basic_string<char>, ".repeat(12));
    let names = [
        ["App\x1b[31m", "Main\nThread", "a\tb", "f\r\n()"],
        ["App", "日本語のスレッド", "libsomething.dylib", long.as_str()],
        ["", "", "", ""],
    ];
    let mut runs: Vec<RunMeasures> = (0..30).map(|index| run_of(index, 100, names[index as usize % 3])).collect();
    for run in &mut runs {
        run.record.source = format!("runs\x07/{}", run.record.source);
        run.record.labels[1].1 = format!("1.0\r\n-beta {}", "x".repeat(90));
    }
    let alerts = rules(&["cpu.p50 > 0.5", "function(*).self.max > 0.5", "binary(*).self.mean > 0.1"]);
    report(&runs, FleetOptions { alerts, ..by(&["app_version"]) })
}

/// The reports that every writer must handle.
pub fn every_kind() -> Vec<(&'static str, FleetReport)> {
    let many_quantiles = ["0", "1", "25", "50", "75", "90", "95", "97.5", "99", "99.5", "99.9", "99.99", "100"];
    let quantiles = many_quantiles.map(|text| Quantile::from_percent(text).unwrap()).to_vec();
    let of_devices = || by(&["device", "app_version"]);
    let weighted = FleetOptions { is_weighted: true, ..of_devices() };
    let linear = FleetOptions { method: QuantileMethod::Linear, sort: SortKey::Mean, ..FleetOptions::default() };
    let alert = rules(&["cpu.max > 5"]);
    let many = FleetOptions { quantiles, sort: SortKey::Quantile(Quantile::P75), ..of_devices() };
    let only_functions = FleetOptions { scopes: vec![FleetScope::Function], ..FleetOptions::default() };
    vec![
        ("no runs", report(&[], FleetOptions { alerts: alert.clone(), ..FleetOptions::default() })),
        ("one run", report(&ascending(1), FleetOptions { alerts: alert, ..FleetOptions::default() })),
        ("one idle run", report(&[plain_run(0, 0)], FleetOptions::default())),
        ("two units", two_units()),
        ("odd names", odd_names()),
        ("one heavy run", report(&one_heavy(), FleetOptions::default())),
        ("everything", rich()),
        ("many percentiles", report(&fleet::runs(2, 150), many)),
        ("weighted", report(&fleet::runs(2, 50), weighted)),
        ("linear", report(&fleet::runs(2, 50), linear)),
        ("functions only", report(&fleet::runs(2, 50), only_functions)),
        ("no percentiles", report(&ascending(9), FleetOptions { quantiles: Vec::new(), ..FleetOptions::default() })),
    ]
}

//! Counts how often `traceparse compare` is wrong, and how often it finds what is there: `benches/compare/README.md`.
//!
//! ```text
//! cargo run --release --example simulate-compare -- COMPARISONS [SCENARIO]
//! ```

use std::process::ExitCode;

use support::compared_runs::{Outcome, Scenario, Truth, compared};

/// Scenarios of identical sides, and the units a side.
fn identical() -> Vec<(Scenario, Vec<u64>)> {
    use Scenario::{Devices, Functions, HeavyTails, Idle, LogNormal, MixOfDevices, Outliers, UnequalVariances};
    let all = || vec![10, 30, 100, 1_000];
    vec![
        (LogNormal, all()),
        (HeavyTails, all()),
        (Outliers, all()),
        (UnequalVariances, all()),
        (Idle(10), all()),
        (Idle(50), all()),
        (Devices(2), all()),
        (Devices(50), all()),
        (MixOfDevices, all()),
        (Functions(160), vec![10, 30]),
        (Functions(600), vec![10]),
    ]
}

/// Sides that differ.
fn different() -> Vec<(Scenario, Truth, u64)> {
    let growth = |growth: f64| Truth { growth, factor: 0.0 };
    let factor = |factor: f64| Truth { growth: 0.0, factor };
    vec![
        (Scenario::LogNormal, growth(0.05), 10),
        (Scenario::LogNormal, growth(0.05), 30),
        (Scenario::LogNormal, growth(0.10), 10),
        (Scenario::LogNormal, growth(0.10), 30),
        (Scenario::Functions(160), factor(1.5), 10),
        (Scenario::Functions(160), factor(2.0), 10),
        (Scenario::Functions(600), factor(2.0), 10),
        (Scenario::Tail, growth(1e-12), 5_000),
    ]
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(count) = arguments.next().and_then(|count| count.parse::<u64>().ok()) else {
        eprintln!("usage: simulate-compare COMPARISONS [SCENARIO]");
        return ExitCode::from(2);
    };
    let only = arguments.next().unwrap_or_default();
    let is_asked = |scenario: &Scenario| format!("{scenario:?}").starts_with(&only);
    println!(
        "{:<44} {:>6} {:>6} {:>7} {:>7} {:>9} {:>6} {:>7}",
        "scenario", "n", "count", "claims", "slower", "functions", "first", "bounded"
    );
    for (scenario, units) in identical().into_iter().filter(|(scenario, _)| is_asked(scenario)) {
        units.into_iter().for_each(|n| row(scenario, Truth::default(), n, count));
    }
    for (scenario, truth, n) in different().into_iter().filter(|(scenario, ..)| is_asked(scenario)) {
        row(scenario, truth, n, count);
    }
    ExitCode::SUCCESS
}

/// Shares of comparisons, in percent.
fn row(scenario: Scenario, truth: Truth, n: u64, count: u64) {
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let part = |worker: u64| {
        (worker..count).step_by(workers as usize).map(|seed| compared(scenario, truth, n, seed + 1)).collect::<Vec<_>>()
    };
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|worker| scope.spawn(move || part(worker))).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("a comparison does not panic")).collect()
    });
    let percent = |is: &dyn Fn(&Outcome) -> bool| {
        100.0 * outcomes.iter().filter(|outcome| is(outcome)).count() as f64 / count as f64
    };
    let truth = match truth {
        Truth { growth, .. } if growth > 1e-9 => format!(" {:+.0} %", 100.0 * growth),
        Truth { factor, .. } if factor > 0.0 => format!(" × {factor}"),
        _ => String::new(),
    };
    println!(
        "{:<44} {n:>6} {count:>6} {:>7.2} {:>7.2} {:>9.2} {:>6.1} {:>7.2}",
        format!("{scenario:?}{truth}"),
        percent(&|outcome| outcome.claims_total),
        percent(&|outcome| outcome.is_slower),
        percent(&|outcome| outcome.claims_function),
        percent(&|outcome| outcome.names_first),
        percent(&|outcome| outcome.is_bounded != Some(false)),
    );
}

//! Comparisons of invented runs by the library. `tests/cli/compare.rs` counts how often verdicts are wrong.

use support::compared_runs::{Change, FIRST, Sides, Work};
use support::rounds;
use traceparse::fleet::compare::{CompareOptions, Comparison, Side, Verdict};
use traceparse::fleet::{FleetBuilder, FleetOptions, RunMeasures};

fn comparison(sides: Sides, seed: u64) -> Comparison {
    let side = |runs: Vec<RunMeasures>| {
        let mut builder = FleetBuilder::for_comparison(FleetOptions::default(), &[]);
        runs.iter().for_each(|run| builder.add(run));
        Side::new(builder).expect("nothing is spilled")
    };
    Comparison::new(&mut sides.runs(seed).map(side), CompareOptions::default()).expect("both sides are in nanoseconds")
}

#[test]
fn finds_a_longer_tail_in_many_runs() {
    let sides = Sides { runs: [5_000, 5_000], functions: 1, share: 0.997, work: Work::Tail, ..Sides::default() };
    let is_found = |seed: &u64| matches!(comparison(sides, *seed).verdict, Verdict::Slower(_));
    assert!((1..=rounds(60)).filter(is_found).count() as f64 > 0.8 * rounds(60) as f64);
}

#[test]
fn one_run_per_side_shows_nothing() {
    // Nothing is known about the next run.
    let sides = Sides { runs: [1, 1], change: Change::Everything(2.0), ..Sides::default() };
    let comparison = comparison(sides, 1);
    assert!(comparison.measures[0].total.effect.is_none());
    assert!(matches!(comparison.verdict, Verdict::Unknown { could_hide: None, .. }), "{:?}", comparison.verdict);
}

#[test]
fn estimates_how_much_a_function_grew() {
    let change = Change::First(30.0);
    let comparison = comparison(Sides { runs: [8, 8], functions: 20, share: 0.01, change, ..Sides::default() }, 3);
    let functions = comparison.functions.as_ref().unwrap();
    assert!(functions.tested.iter().all(|function| function.samples.iter().all(|samples| *samples > 0)));
    let first = comparison.slower_functions().next().unwrap();
    assert_eq!(first.name.function.as_deref(), Some(FIRST));
    assert!((25.0..35.0).contains(&first.ratio), "{first:?}");
    assert!(first.interval.0 < first.ratio && first.ratio < first.interval.1 && first.p_holm >= first.p);
}

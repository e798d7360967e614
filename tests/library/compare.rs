//! How often comparisons of invented runs are wrong, and how often they find what is there: a small version of `benches/compare`.

use support::compared_runs::{Outcome, Scenario, Truth, compared, comparison};
use support::rounds;
use traceparse::fleet::compare::Verdict;

/// Outcomes of comparisons with different seeds.
fn outcomes(scenario: Scenario, truth: Truth, count: u64, all: u64) -> Vec<Outcome> {
    (0..rounds(all)).map(|seed| compared(scenario, truth, count, seed + 1)).collect()
}

fn share(outcomes: &[Outcome], is: impl Fn(&Outcome) -> bool) -> f64 {
    outcomes.iter().filter(|outcome| is(outcome)).count() as f64 / outcomes.len() as f64
}

/// A share that is only exceeded once in ten thousand series of this length if `limit` is true.
fn at_most(limit: f64, count: usize) -> f64 {
    limit + 3.7 * (limit * (1.0 - limit) / count as f64).sqrt()
}

#[test]
fn identical_sides_are_rarely_claimed_to_differ() {
    let scenarios = [
        Scenario::LogNormal,
        Scenario::HeavyTails,
        Scenario::Outliers,
        Scenario::UnequalVariances,
        Scenario::Idle(10),
        Scenario::Idle(50),
        Scenario::Devices(5),
        Scenario::MixOfDevices,
    ];
    for scenario in scenarios {
        for count in [10, 30] {
            let outcomes = outcomes(scenario, Truth::default(), count, 800);
            let claims = share(&outcomes, |outcome| outcome.claims_total);
            assert!(claims <= at_most(0.055, outcomes.len()), "{scenario:?}, n = {count}: {claims}");
            let missed = share(&outcomes, |outcome| outcome.is_bounded == Some(false));
            assert!(missed <= at_most(0.055, outcomes.len()), "{scenario:?}, n = {count}: the bound misses {missed}");
        }
    }
    let outcomes = outcomes(Scenario::Functions(160), Truth::default(), 10, 300);
    let claims = share(&outcomes, |outcome| outcome.claims_function);
    assert!(claims <= at_most(0.06, outcomes.len()), "functions: {claims}");
}

#[test]
fn what_is_slower_is_found() {
    let growth = |growth: f64| Truth { growth, factor: 0.0 };
    let found = |truth, count| share(&outcomes(Scenario::LogNormal, truth, count, 800), |outcome| outcome.is_slower);
    assert!(found(growth(0.05), 10) > 0.40 && found(growth(0.05), 30) > 0.85);
    assert!(found(growth(0.10), 10) > 0.90 && found(growth(0.10), 30) > 0.99);
    let doubled = Truth { growth: 0.0, factor: 2.0 };
    let outcomes = outcomes(Scenario::Functions(160), doubled, 10, 200);
    assert!(share(&outcomes, |outcome| outcome.names_first) > 0.95);
}

#[test]
fn a_longer_tail_is_found_if_there_are_many_runs() {
    let found = (1..=rounds(60))
        .filter(|seed| compared(Scenario::Tail, Truth { growth: 1e-12, factor: 0.0 }, 5_000, *seed).is_slower);
    assert!(found.count() as f64 > 0.8 * rounds(60) as f64);
}

#[test]
fn runs_that_do_not_vary_show_nothing() {
    // One run a side: nothing is known about the next one.
    let comparison = comparison(Scenario::LogNormal, Truth { growth: 1.0, factor: 0.0 }, 1, 1);
    assert!(comparison.total.effect.is_none());
    assert!(matches!(comparison.verdict, Verdict::CannotTell { could_hide: None, needed: None, because: None }));
}

#[test]
fn a_function_of_one_side_appeared() {
    let comparison = comparison(Scenario::Functions(20), Truth { growth: 0.0, factor: 30.0 }, 8, 3);
    let functions = comparison.functions.as_ref().unwrap();
    assert!(functions.tested.iter().all(|function| function.samples.iter().all(|samples| *samples > 0)));
    let first = comparison.slower_functions().next().unwrap();
    assert_eq!(first.name.function.as_deref(), Some("f0"));
    assert!((25.0..35.0).contains(&first.ratio), "{first:?}");
    assert!(first.interval.0 < first.ratio && first.ratio < first.interval.1 && first.p_holm >= first.p);
}

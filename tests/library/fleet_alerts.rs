//! Alert rules about any function or binary, compared with a rule for each name, and with the effect of chance on many names.

use std::collections::BTreeSet;

use support::{Rng, fleet, fleet_reports};
use traceparse::alert::{AlertCause, AlertOutcome, AlertRule, AlertState};
use traceparse::fleet::{
    FailedInput, FailureKind, FleetBuilder, FleetOptions, FleetReport, FrameRow, NamesBuilder, RunMeasures,
};
use traceparse::output;
use traceparse::units::{Millionths, Nanos};

fn report(runs: &[RunMeasures], rules: &[&str], options: FleetOptions) -> FleetReport {
    fleet_reports::report(runs, FleetOptions { alerts: fleet_reports::rules(rules), ..options })
}

fn alerts(runs: &[RunMeasures], rules: &[&str]) -> Vec<AlertOutcome> {
    report(runs, rules, FleetOptions::default()).alerts
}

fn alert(runs: &[RunMeasures], rule: &str) -> AlertOutcome {
    alerts(runs, &[rule]).remove(0)
}

const UNDECIDED: AlertState = AlertState::Undecided { needed: None };

/// The names of functions or binaries, without placeholders for unnamed code and missing stacks.
fn names(runs: &[RunMeasures], is_function: bool) -> BTreeSet<String> {
    let all = runs.iter().flat_map(|run| {
        let ids: Vec<_> = if is_function {
            run.frames.iter().map(|row| row.function).collect()
        } else {
            run.binaries.iter().map(|row| row.binary).collect()
        };
        ids.into_iter().map(|id| run.name(id).to_owned()).collect::<Vec<_>>()
    });
    all.filter(|name| !matches!(name.as_str(), "" | FrameRow::UNNAMED | FrameRow::STACKLESS)).collect()
}

/// The outcomes of a rule about each name, by name.
fn named(runs: &[RunMeasures], kind: &str, rest: &str) -> Vec<(String, AlertOutcome)> {
    let names: Vec<String> = names(runs, kind == "function").into_iter().collect();
    let rules: Vec<String> = names.iter().map(|name| format!("{kind}(\"{name}\").{rest}")).collect();
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    names.into_iter().zip(alerts(runs, &rules)).collect()
}

#[test]
fn statistics_of_the_runs_fire_as_if_named() {
    let runs = fleet::runs(5, 200);
    for (kind, rest) in [
        ("function", "self.mean > 0.02"),
        ("function", "self.max > 5"),
        ("function", "all.min >= 0.1"),
        ("function", "self.min < 0.001"),
        ("binary", "all.max > 20"),
        ("binary", "self.mean <= 5"),
        ("function", "self.max > 5000"),
    ] {
        let any = alert(&runs, &format!("{kind}(*).{rest}"));
        let named = named(&runs, kind, rest);
        let fired: Vec<&(String, AlertOutcome)> =
            named.iter().filter(|(_, outcome)| outcome.state == AlertState::Fired).collect();
        assert_eq!(any.state == AlertState::Fired, !fired.is_empty(), "{kind} {rest}");
        assert_eq!(any.causes_count, fired.len() as u64, "{kind} {rest}: {:?}", any.causes);
        let first = &named.iter().find(|(name, _)| *name == any.causes[0].name).expect("a name of a run").1;
        assert_eq!((any.value, any.beyond_count, &any.beyond), (first.value, first.beyond_count, &first.beyond));
        for AlertCause { name, value, .. } in any.causes.iter().take(fired.len()) {
            assert!(fired.iter().any(|(fired, outcome)| fired == name && outcome.value == Some(*value)), "{name}");
        }
        assert!(any.judged as usize >= named.len() && any.count == 200 && any.note.is_none());
    }
}

/// P(B < rank), B binomial.
fn below(rank: u64, count: u64, share: f64) -> f64 {
    let mut term = (1.0 - share).powi(i32::try_from(count).unwrap());
    let mut sum = 0.0;
    for hits in 0..rank {
        sum += term;
        term *= (count - hits) as f64 / (hits + 1) as f64 * share / (1.0 - share);
    }
    sum
}

#[test]
fn percentiles_fire_where_the_interval_of_all_names_is_beyond() {
    let runs = fleet::runs(5, 200);
    let rates = |name: &str| -> Vec<f64> {
        let rate = |run: &RunMeasures| {
            let rows = run.frames.iter().filter(|row| run.name(row.function) == name);
            run.record.rate(rows.map(|row| row.self_weight).sum()).unwrap().as_f64()
        };
        let mut rates: Vec<f64> = runs.iter().map(rate).collect();
        rates.sort_by(f64::total_cmp);
        rates
    };
    for threshold in ["0.02", "0.5", "3", "8", "20", "500"] {
        let any = alert(&runs, &format!("function(*).self.p90 > {threshold}"));
        let limit: f64 = threshold.parse().unwrap();
        let tail = 0.025 / any.judged as f64;
        let rank = (1..=200).rev().find(|&rank| below(rank, 200, 0.9) <= tail).expect("there are runs enough");
        let (mut sure, mut maybe) = (Vec::new(), 0);
        for name in names(&runs, true) {
            let rates = rates(&name);
            maybe += u64::from(rates[179] > limit);
            if rates[rank as usize - 1] > limit {
                sure.push(name);
            }
        }
        let (state, count) = match (sure.len() as u64, maybe) {
            (0, 0) => (AlertState::Quiet, 0),
            (0, maybe) => (UNDECIDED, maybe),
            (sure, _) => (AlertState::Fired, sure),
        };
        assert_eq!((any.state, any.causes_count), (state, count), "{threshold}: {:?}", any.causes);
        let first = rates(&any.causes[0].name);
        assert_eq!(
            (any.value, any.estimate.unwrap().interval.lower),
            (Some(first[179]), Some(first[rank as usize - 1]))
        );
        // The lower end says the same, and leaves nothing undecided.
        let lower = alert(&runs, &format!("function(*).self.p90.lower > {threshold}"));
        assert_eq!(lower.state == AlertState::Fired, !sure.is_empty());
        assert!(!matches!(lower.state, AlertState::Undecided { .. }));
    }
}

/// 100 runs of functions that use 0 % to 10 % of a core, each share as likely; P90 of all of them is 9 %. The first one uses more.
fn alike(seed: u64, functions: usize, more: f64) -> Vec<RunMeasures> {
    let mut rng = Rng::new(seed);
    let mut names = NamesBuilder::default();
    let ids: Vec<_> = (0..functions).map(|index| names.id(&format!("function {index}"))).collect();
    let [process, thread, binary] = ["App", "Main Thread", "App"].map(|name| names.id(name));
    let names = names.finish();
    let run = |index: u32| {
        let mut run = fleet_reports::plain_run(index, 0);
        let wall = run.record.wall.unwrap().as_nanos() as f64;
        run.names.clone_from(&names);
        let frame = |(index, function): (usize, &_)| {
            let share = rng.below(1_000_000) as f64 / 1e7 + if index == 0 { more } else { 0.0 };
            let weight = (wall * share) as u64;
            let [self_weight, all_weight] = [weight; 2];
            let [self_samples, all_samples] = [weight / 1_000_000; 2];
            let function = *function;
            let is_main_thread = false;
            FrameRow {
                process,
                thread,
                is_main_thread,
                binary,
                function,
                self_weight,
                all_weight,
                self_samples,
                all_samples,
            }
        };
        run.frames = ids.iter().enumerate().map(frame).collect();
        run.binaries.clear();
        run.record.weight = run.frames.iter().map(|row| row.self_weight).sum();
        run
    };
    (0..100).map(run).collect()
}

#[test]
fn false_alarms_are_as_rare_as_of_one_function() {
    let fired = |outcome: &AlertOutcome| outcome.state == AlertState::Fired;
    let (mut false_alarms, mut named_alarms, mut found) = (0, 0, 0);
    for seed in 0..200 {
        let runs = alike(seed, 20, 0.0);
        let any = alert(&runs, "function(*).self.p90 > 9");
        false_alarms += u32::from(fired(&any));
        assert!(fired(&any) || any.state == UNDECIDED || any.causes_count == 0);
        named_alarms += u32::from(named(&runs, "function", "self.p90 > 9").iter().any(|(_, outcome)| fired(outcome)));
        let any = alert(&alike(seed, 20, 0.02), "function(*).self.p90 > 9");
        found += u32::from(fired(&any) && any.causes[0].name == "function 0");
    }
    assert!(false_alarms <= 10, "{false_alarms} of 200 where 5 are allowed");
    assert!(named_alarms > 190, "{named_alarms}: without the interval, some function fires nearly always");
    assert!(found > 190, "{found} of 200 that are there");
}

#[test]
fn code_without_names_fires_nothing_and_is_not_passed_over() {
    let mut runs = fleet_reports::ascending(100);
    for run in &mut runs {
        let id = run.names.iter().position(|name| name == "work()").unwrap();
        run.names[id] = FrameRow::UNNAMED.to_owned();
    }
    let outcome = alert(&runs, "function(*).self.p50 > 0.01");
    assert_eq!((outcome.state, outcome.causes.len()), (UNDECIDED, 1));
    assert!(outcome.note.unwrap().contains("\"(unnamed)\" is code that may belong to any function"));
    assert_eq!(alert(&runs, "function(*).self.p50 > 90").state, AlertState::Quiet);
    assert_eq!(alert(&runs, "function(*).self.max > 0.01").state, UNDECIDED);
    assert_eq!(alert(&runs, "binary(*).self.p50 > 0.01").state, AlertState::Fired);
}

#[test]
fn too_few_runs_decide_nothing() {
    let runs = fleet::runs(5, 40);
    let outcome = alert(&runs, "function(*).self.p99 > 500");
    assert_eq!(outcome.state, AlertState::Undecided { needed: Some(100) });
    // (1/2)ⁿ is below the n-th part of 2.5 % from more runs on than below 2.5 %.
    let few = alert(&runs[..6], "function(*).self.p50 > 0.01");
    let AlertState::Undecided { needed: Some(needed) } = few.state else { panic!("{few:?}") };
    assert!(0.5_f64.powi(needed as i32) <= 0.025 / few.judged as f64);
    assert!(0.5_f64.powi(needed as i32 - 1) > 0.025 / few.judged as f64);
    assert!(few.note.unwrap().contains("names at once needs this many runs"));
    assert_eq!(alert(&runs[..6], "function(*).self.p50 > 500").state, AlertState::Quiet);
    let ends = alert(&runs[..6], "function(*).self.p50.lower > 500");
    assert_eq!((ends.state, ends.value), (AlertState::Undecided { needed: Some(needed) }, None));
}

#[test]
fn nothing_to_judge_is_undecided() {
    let mut runs = fleet::runs(5, 10);
    runs.iter_mut().for_each(|run| run.frames.clear());
    let outcome = alert(&runs, "function(*).self.max > 5");
    assert_eq!((outcome.state, outcome.judged), (AlertState::Undecided { needed: Some(1) }, 0));
    assert_eq!(outcome.note.as_deref(), Some("no run has a selected function"));
    let nobody = FleetOptions { processes: vec!["Nobody".to_owned()], ..FleetOptions::default() };
    let outcome = report(&fleet::runs(5, 10), &["binary(*).self.max > 5"], nobody).alerts.remove(0);
    assert_eq!(outcome.note.as_deref(), Some("no run has a selected binary"));
}

#[test]
fn a_cohort_of_failed_files_is_undecided() {
    let rules = ["function(*).self.max > 500", "function(*).self.p50 > 500"];
    let alerts = rules.map(|rule| AlertRule::of_runs(rule).unwrap()).to_vec();
    let by = vec!["app_version".to_owned()];
    let mut builder = FleetBuilder::new(FleetOptions { alerts, by, ..FleetOptions::default() });
    fleet::runs(5, 40).iter().for_each(|run| builder.add(run));
    let labels = vec![("app_version".to_owned(), "9.9".to_owned())];
    builder.add_failure(FailedInput { labels, kind: FailureKind::Truncated, ..fleet_reports::failure(1) });
    let outcomes = builder.finish().alerts;
    assert_eq!(outcomes.len(), 10);
    for (outcome, needed) in [(&outcomes[4], 1), (&outcomes[9], 2)] {
        assert_eq!(outcome.state, AlertState::Undecided { needed: Some(needed) });
        assert!(outcome.note.as_deref().unwrap().contains("none of the files"), "{:?}", outcome.note);
    }
    assert!(outcomes[..4].iter().all(|outcome| outcome.state == AlertState::Quiet));
}

/// Runs of four versions, ten each, with failed files: their kind, their version, and how many.
fn with_failures(failures: &[(FailureKind, Option<&str>, u32)], decides: bool) -> Vec<AlertOutcome> {
    let rules = ["cpu.max > 500", "cpu.mean > 0.001", "function(*).self.max > 500", "process(*).cpu.max > 500"];
    let options = FleetOptions {
        alerts: fleet_reports::rules(&rules),
        by: vec!["app_version".to_owned()],
        ..FleetOptions::default()
    };
    let mut builder = FleetBuilder::new(options);
    fleet::runs(5, 40).iter().for_each(|run| builder.add(run));
    for &(kind, version, count) in failures {
        for index in 0..count {
            let labels = version.map(|version| ("app_version".to_owned(), version.to_owned())).into_iter().collect();
            builder.add_failure(FailedInput { labels, kind, ..fleet_reports::failure(index) });
        }
    }
    if decides {
        builder.decide_incomplete();
    }
    builder.finish().alerts
}

/// The cohorts in which nothing is decided.
fn undecided(outcomes: &[AlertOutcome]) -> BTreeSet<usize> {
    outcomes.iter().filter(|outcome| outcome.state == UNDECIDED).map(|outcome| outcome.cohort).collect()
}

#[test]
fn alerts_are_undecided_if_more_than_a_tenth_of_a_cohort_was_not_measured() {
    let kinds = [FailureKind::Malformed, FailureKind::NoSamples, FailureKind::Unreadable];
    for kind in kinds {
        assert_eq!(undecided(&with_failures(&[(kind, Some("1.0"), 1)], false)), BTreeSet::new());
        let outcomes = with_failures(&[(kind, Some("1.0"), 2)], false);
        assert_eq!(undecided(&outcomes), BTreeSet::from([0]), "{kind:?}");
        let note = "2 of 12 inputs could not be measured, and the others may not be like them";
        let own = outcomes.iter().filter(|outcome| outcome.cohort == 0);
        assert_eq!(own.filter(|outcome| outcome.note.as_deref() == Some(note)).count(), 4);
    }
    assert_eq!(undecided(&with_failures(&[(FailureKind::Malformed, None, 2)], false)).len(), 4, "of any version");
    assert_eq!(undecided(&with_failures(&[(FailureKind::Malformed, Some("1.0"), 2)], true)), BTreeSet::new());
    for kind in [FailureKind::Duplicate, FailureKind::NotSelected] {
        assert_eq!(undecided(&with_failures(&[(kind, None, 30)], false)), BTreeSet::new(), "{kind:?}");
    }
}

#[test]
fn a_tenth_of_a_cohort_may_be_missing() {
    let rules = fleet_reports::rules(&["cpu.max > 500"]);
    for (failures, is_decided) in [(4, true), (5, false)] {
        let mut builder = FleetBuilder::new(FleetOptions { alerts: rules.clone(), ..FleetOptions::default() });
        let mut runs = fleet::runs(1, 40);
        // A run of unknown length has no measure.
        runs[0].record.wall = None;
        runs.iter().for_each(|run| builder.add(run));
        (1..failures).for_each(|index| builder.add_failure(fleet_reports::failure(index)));
        assert_eq!(
            builder.finish().alerts[0].state == AlertState::Quiet,
            is_decided,
            "{failures} of {}",
            39 + failures
        );
    }
}

#[test]
fn weighted_percentiles_have_no_intervals_and_decide_nothing() {
    let mut runs = fleet::runs(5, 200);
    runs.iter_mut().step_by(3).for_each(|run| run.record.run_weight = Millionths::new(1_300_000));
    runs[7].record.run_weight = Millionths::new(0);
    let weighted = || FleetOptions { is_weighted: true, ..FleetOptions::default() };
    let rules = ["function(*).self.p50 > 0.01", "function(*).self.p50 > 500", "function(*).self.mean > 0.02"];
    let outcomes = report(&runs, &rules, weighted()).alerts;
    assert_eq!(outcomes[0].state, UNDECIDED);
    assert!(outcomes[0].note.as_deref().unwrap().contains("weighted percentiles have no intervals"));
    assert_eq!((outcomes[1].state, outcomes[2].state), (AlertState::Quiet, AlertState::Fired));
    for outcome in &outcomes {
        let AlertCause { name, value, .. } = &outcome.causes[0];
        let rest = outcome.rule.text.strip_prefix("function(*)").unwrap();
        let named = report(&runs, &[&format!("function(\"{name}\"){rest}")], weighted()).alerts.remove(0);
        assert_eq!((named.value, named.count), (Some(*value), outcome.count), "{}", outcome.rule);
        assert_eq!((named.beyond_count, named.beyond), (outcome.beyond_count, outcome.beyond.clone()));
    }
}

/// A limit has all digits that were typed.
#[test]
fn limits_are_not_rounded() {
    let mut runs = fleet::runs(5, 1);
    (runs[0].record.weight, runs[0].record.wall) = (100_000_000, Some(Nanos::from_millis(1_000)));
    let state = |rule: &str| alert(&runs, rule).state.name();
    for (rule, expected) in [
        ("cpu.min <= 10", "fired"),
        ("cpu.min <= 9.9999999", "quiet"),
        ("cpu.max > 9.9999999", "fired"),
        ("cpu.max > 10", "quiet"),
        ("elapsed.max >= 1000.0000001 ms", "quiet"),
        ("elapsed.max >= 1000 ms", "fired"),
    ] {
        assert_eq!(state(rule), expected, "{rule}");
    }
    let near = report(&runs, &["cpu.max > 9.9999999", "cpu.min < 10.0000001"], FleetOptions::default());
    let lines = near.alert_lines();
    assert!(lines[0].ends_with("just above the limit 10.00 %"), "{lines:?}");
    assert!(lines[1].ends_with("just below the limit 10.00 %"), "{lines:?}");
}

#[test]
fn runs_of_unequal_weight_count_as_fewer() {
    let mut runs = fleet::runs(5, 120);
    runs.iter_mut().skip(1).for_each(|run| run.record.run_weight = Millionths::new(1));
    let weighted = FleetOptions { is_weighted: true, ..FleetOptions::default() };
    let report = report(&runs, &["cpu.p90 > 5"], weighted);
    let mut text = Vec::new();
    output::write(&report, &output::Format::Text(output::Style::default()), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(!text.contains("Too few runs for P90, which needs 10.") && !text.contains("at the median"), "{text}");
    for words in [
        "Their weights make them count as fewer than the 10 that P90 needs.",
        "P90 needs 10 runs of equal weight and has 120 of unequal weight",
        "n/a: too few runs. P50 needs 2 runs of equal weight",
    ] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
}

#[test]
fn the_order_of_runs_does_not_show() {
    let mut runs = fleet::runs(11, 120);
    let by = || fleet_reports::by(&["app_version"]);
    let rules = ["function(*).self.p90 > 0.5", "binary(*).all.max > 20", "function(*).all.mean < 3"];
    let first = format!("{:?}", report(&runs, &rules, by()).alerts);
    runs.reverse();
    assert_eq!(format!("{:?}", report(&runs, &rules, by()).alerts), first);
    runs.rotate_left(17);
    assert_eq!(format!("{:?}", report(&runs, &rules, by()).alerts), first);
}

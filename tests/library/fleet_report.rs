//! Reports on invented fleets.

use support::fleet;
use support::fleet_reports::{by, plain_run, report, rules};
use support::page::payload;
use traceparse::alert::{AlertOutcome, AlertState};
use traceparse::fleet::{FailureKind, Finding, FleetOptions, FleetReport, FleetScope, FrameRow, NameId, RunMeasures};
use traceparse::output::{self, Format, OverviewContext, Style};
use traceparse::stats::Quantile;
use traceparse::units::{Millionths, Unit};

/// Runs of one device are similar, so every interval reports that it assumes independence.
#[test]
fn intervals_of_repeated_labels_say_what_they_assume() {
    let by_ring = || by(&["ring"]);
    let of = |devices: usize, options: FleetOptions| {
        let mut runs = fleet::runs(3, 400);
        for (index, run) in runs.iter_mut().enumerate() {
            let ring = if index % 2 == 0 { "alpha" } else { "beta" };
            let labels = [
                ("device_id", format!("{}", index % devices)),
                ("os", format!("iOS {}", index % 3)),
                ("ring", ring.to_owned()),
            ];
            run.record.labels = labels.map(|(key, value)| (key.to_owned(), value)).to_vec();
            if ring == "beta" {
                run.record.weight /= 3;
            }
        }
        runs.iter_mut().filter(|_| devices > 400).for_each(|run| run.record.labels.retain(|(key, _)| key != "os"));
        report(&runs, options)
    };
    let text = |report: &FleetReport, format: &Format<'_>| {
        let mut out = Vec::new();
        output::write(report, format, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        match format {
            Format::Html(_) => String::from_utf8(payload("report", &text)).unwrap(),
            _ => text,
        }
    };
    let (text_format, page) = (Format::Text(Style::default()), Format::Html(&[]));
    let repeated = of(20, by_ring());
    assert_eq!(repeated.assumption(), ", if runs are independent");
    let said = text(&repeated, &text_format);
    for words in [
        "from, to: the 95 % interval, if runs are independent.",
        ", if runs are independent), from",
        "400 runs have only 20 values of device_id",
    ] {
        assert!(said.contains(words), "{words:?} is not in {said}");
    }
    assert!(text(&repeated, &page).contains("\"assumption\":\", if runs are independent\""));
    let json: serde_json::Value = serde_json::from_str(&text(&repeated, &Format::Json)).unwrap();
    assert_eq!(json["shared_label"], serde_json::json!({"key": "device_id", "runs": 400, "values": 20}));
    assert_eq!(json["cohorts"][0]["across_runs"]["percentiles"][0]["assumes_independent_runs"], true);
    // A label with the same value in each cohort does not show the origin of runs.
    let by_device = by(&["device_id"]);
    let mut each = fleet::runs(2, 40);
    for (index, run) in each.iter_mut().enumerate() {
        let device = format!("{}", index % 2);
        run.record.labels = vec![("device_id".to_owned(), device.clone()), ("ring".to_owned(), format!("of {device}"))];
    }
    assert_eq!(report(&each, by_device).assumption(), "");
    // One run per device, and no other label that repeats.
    for once in [of(401, by_ring()), of(401, FleetOptions { is_weighted: true, ..by_ring() })] {
        let all = [&text_format, &page, &Format::Json].map(|format| text(&once, format)).concat();
        assert!(once.assumption().is_empty() && !all.contains("if runs are independent"));
    }
}

/// A function with one sample in each run has a minimum, even if weights differ slightly. Once, its share of each run's effective samples was
/// rounded down to zero.
#[test]
fn effective_samples_are_not_rounded() {
    let mut runs = fleet::runs(3, 40);
    runs.iter_mut().for_each(|run| run.record.effective_samples = run.record.samples * 99 / 100);
    let report = report(&runs, FleetOptions::default());
    let functions = report.cohorts[0].tables.iter().find(|table| table.scope == FleetScope::Function).unwrap();
    for row in &functions.rows {
        let share = row.effective_samples / row.samples as f64;
        assert!((share - 0.99).abs() < 0.001, "{share} of {row:?}");
        assert!(row.noise.iter().all(Option::is_some));
    }
}

/// A row of a run can have samples without weight.
#[test]
fn samples_without_weight_are_samples() {
    let mut runs = fleet::runs(3, 2);
    let name = "Orchard::run()";
    let samples_of = |run: &RunMeasures| -> u64 {
        run.frames.iter().filter(|row| run.name(row.function) == name).map(|row| row.self_samples).sum()
    };
    let id = runs[0].names.iter().position(|known| known == name).unwrap();
    for row in runs[0].frames.iter_mut().filter(|row| row.function == NameId(id as u32)) {
        (row.self_weight, row.all_weight) = (0, 0);
    }
    let expected: u64 = runs.iter().map(samples_of).sum();
    assert!(samples_of(&runs[0]) > 0);
    let of_both = report(&runs, FleetOptions::default());
    let table = |report: &FleetReport| {
        let tables = &report.cohorts[0].tables;
        let functions = tables.iter().find(|table| table.scope == FleetScope::Function).unwrap();
        functions.rows.iter().find(|row| row.name.function.as_deref() == Some(name)).cloned()
    };
    let row = table(&of_both).unwrap();
    assert_eq!((row.samples, row.summary.count, row.summary.zeros), (expected, 2, 1));
    assert!(table(&report(&runs[..1], FleetOptions::default())).is_none(), "it weighs nothing in any run");
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
    let first = format!("{:?}", report(&runs, by(&["app_version"])));
    runs.reverse();
    assert_eq!(format!("{:?}", report(&runs, by(&["app_version"]))), first);
    runs.rotate_left(17);
    assert_eq!(format!("{:?}", report(&runs, by(&["app_version"]))), first);
}

fn alerts(runs: &[RunMeasures], texts: &[&str]) -> Vec<AlertOutcome> {
    report(runs, FleetOptions { alerts: rules(texts), ..FleetOptions::default() }).alerts
}

#[test]
fn rules_fire_on_what_they_name() {
    let runs = fleet::runs(5, 400);
    let outcomes = alerts(
        &runs,
        &[
            r#"function("Cache::evict").self.p99 > 5"#,
            r#"function("Cache::evict").all.max > 5"#,
            r#"function("Cache::evict").self.p50 > 5"#,
            r#"process("Orchard").cpu.min > 0"#,
            r#"process("Pear").cpu.max > 0"#,
            r#"thread("Render").cpu.mean > 100"#,
            r#"binary("UIKitCore").all.p90 >= 0.001"#,
            "cpu.p99.9 > 1",
            "process(*).window(5s).max > 1",
            "window(60s).max > 80",
            "cpu.p95 < 1000",
        ],
    );
    let states: Vec<AlertState> = outcomes.iter().map(|outcome| outcome.state).collect();
    let (fired, quiet) = (AlertState::Fired, AlertState::Quiet);
    let short = AlertState::Undecided { needed: Some(1) };
    let few = AlertState::Undecided { needed: Some(1_000) };
    assert_eq!(states[1..], [fired, quiet, fired, short, quiet, fired, few, fired, short, fired]);
    // Four of 400 runs are slow, and P99 does not include them: its rank is 396.
    let slow = runs.iter().filter(|run| slow_rate(run, fleet::SLOW.0, fleet::SLOW.1).as_f64() > 5.0).count();
    assert_eq!(states[0], if slow > 4 { fired } else { quiet }, "{slow} slow runs");
    assert_eq!((outcomes[0].beyond_count, outcomes[0].beyond.len()), (slow as u64, slow));
    let values: Vec<Millionths> = outcomes[0].beyond.iter().map(|run| run.1).collect();
    assert!(values.is_sorted_by(|a, b| a >= b) && !values.is_empty());
    assert!(outcomes[4].note.as_deref().unwrap().contains("no run has a process"), "{:?}", outcomes[4].note);
    assert!(outcomes[9].note.as_deref().unwrap().contains("shorter than 60 s"), "{:?}", outcomes[9].note);
    assert_eq!(outcomes[9].count, 0);
}

#[test]
fn the_largest_stretch_of_a_process_is_found_slowly_too() {
    let runs = fleet::runs(9, 50);
    let outcome = &alerts(&runs, &["process(*).window(5s).max > 0"])[0];
    let slowest = |run: &RunMeasures| {
        let seconds = run.record.whole_seconds().remove(0);
        let of = |second: u32| run.windows.iter().filter(|row| row.second == second).map(|row| row.weight).sum::<u64>();
        (seconds.start..=seconds.end - 5).map(|start| (start..start + 5).map(of).sum::<u64>()).max().unwrap()
    };
    let max = runs.iter().map(slowest).max().unwrap();
    assert_eq!(outcome.value, Some(Millionths::of_ratio(u128::from(max) * 100, 5_000_000_000).unwrap().as_f64()));
}

#[test]
fn runs_of_one_content_count_once() {
    let mut runs = fleet::runs(2, 4);
    let mut copy = runs[1].clone();
    copy.record.source = "elsewhere.xml".to_owned();
    runs.push(copy);
    let mut timeless = runs[2].clone();
    (timeless.record.run_id, timeless.record.wall) = ("ff".to_owned(), None);
    runs.push(timeless);
    let report = report(&runs, FleetOptions::default());
    assert_eq!((report.inputs.runs, report.runs.len(), report.cohorts[0].runs), (4, 4, 4));
    assert_eq!(report.inputs.failed[0].kind, FailureKind::Duplicate);
    assert!(report.inputs.failed[0].reason.contains("runs/00001.xml"));
    assert_eq!(report.inputs.without_time, ["runs/00002.xml"]);
}

#[test]
fn rules_are_asked_of_runs_in_their_unit() {
    let mut runs = fleet::runs(2, 40);
    runs[..20].iter_mut().for_each(|run| run.record.unit = Unit::Cycles);
    let rules = ["cpu.max > 500", "cpu.max > 0.001 Gcycles/s", "system-cpu-limit", "cpu.max > 5 events/s"];
    let outcomes = alerts(&runs, &rules);
    let of = |rule: &str| {
        let states = outcomes.iter().filter(|outcome| outcome.rule.text == rule);
        states.map(|outcome| (outcome.cohort, outcome.state)).collect::<Vec<_>>()
    };
    assert_eq!(of(rules[0]), [(0, AlertState::Quiet)], "cycles are no percent");
    assert_eq!(of(rules[1]), [(1, AlertState::Fired)]);
    assert_eq!(of(rules[2]), [(0, AlertState::Undecided { needed: Some(1) })], "runs are shorter than a minute");
    // No cohort has such runs, and all cohorts have the same labels.
    assert_eq!(of(rules[3]).len(), 1);
    assert!(outcomes.last().unwrap().note.as_deref().unwrap().contains("events/s"));
}

#[test]
fn ends_of_intervals_ask_for_more() {
    let runs = fleet::runs(5, 400);
    let estimate = report(&runs, FleetOptions::default()).cohorts[0].across_runs.estimates[2];
    let (p95, lower) = (estimate.value.unwrap(), estimate.interval.lower.unwrap());
    assert!(lower < p95);
    let between = (p95 + lower) / 2.0;
    let rules =
        [format!("cpu.p95 > {between}"), format!("cpu.p95.lower > {between}"), "cpu.p99.9.upper > 1".to_owned()];
    let outcomes = alerts(&runs, &rules.each_ref().map(String::as_str));
    assert_eq!((outcomes[0].state, outcomes[1].state), (AlertState::Fired, AlertState::Quiet));
    assert!(outcomes[0].note.as_deref().unwrap().contains("chance"));
    assert_eq!(outcomes[1].value, Some(lower));
    assert_eq!(outcomes[2].state, AlertState::Undecided { needed: Some(3_688) });
}

#[test]
fn names_that_no_run_has_leave_a_rule_undecided() {
    let runs = fleet::runs(5, 40);
    let outcomes = alerts(&runs, &[r#"function("cache::EVICT").self.p50 > 5"#, r#"thread("Nobody").cpu.p50 > 5"#]);
    assert!(outcomes.iter().all(|outcome| matches!(outcome.state, AlertState::Undecided { .. })));
    assert!(outcomes[0].note.as_deref().unwrap().ends_with("there is \"Cache::evict\""), "{:?}", outcomes[0].note);
    let only = FleetOptions { processes: vec!["Orchad".to_owned()], ..FleetOptions::default() };
    let report = report(&runs, only);
    assert_eq!(
        (report.inputs.missing_processes, report.inputs.processes),
        (vec!["Orchad".to_owned()], vec!["Orchard".to_owned()])
    );
}

/// A run with these milliseconds in the functions `f7` and `work`.
fn run_with(index: u32, milliseconds: [u64; 2]) -> RunMeasures {
    let mut run = plain_run(index, 1);
    let names = ["f7", "work"].map(|name| {
        run.names.push(name.to_owned());
        NameId(run.names.len() as u32 - 1)
    });
    let row = |(function, samples): (NameId, u64)| {
        let (self_weight, all_weight) = (samples * 1_000_000, samples * 1_000_000);
        FrameRow { function, self_weight, all_weight, self_samples: samples, all_samples: samples, ..run.frames[0] }
    };
    run.frames = names.into_iter().zip(milliseconds).map(row).filter(|row| row.self_samples > 0).collect();
    let samples = milliseconds.iter().sum();
    run.record.weight = samples * 1_000_000;
    (run.record.samples, run.record.effective_samples) = (samples, samples);
    run
}

fn tails(report: &FleetReport) -> Vec<&Finding> {
    report.findings.iter().filter(|finding| matches!(finding, Finding::Tail { .. })).collect()
}

#[test]
fn names_the_function_that_makes_the_tail() {
    // Of 120 runs, 7 are at or beyond P95. Six of them spend 120 of 200 ms in `f7`.
    let usual: Vec<[u64; 2]> = (0..113).map(|index| [3, 90 + index % 10]).collect();
    let all: u64 = usual.iter().flatten().sum();
    let runs = usual.into_iter().chain([[0, 200]]).chain([[120, 80]; 6]);
    let runs: Vec<RunMeasures> = runs.enumerate().map(|(index, weights)| run_with(index as u32, weights)).collect();
    let report = report(&runs, FleetOptions::default());
    let [Finding::Tail { quantile, name, shares, runs, high, .. }] = tails(&report)[..] else {
        panic!("{:?}", report.findings);
    };
    assert_eq!((*quantile, name.function.as_deref()), (Quantile::P95, Some("f7")));
    assert_eq!((*shares, *runs, *high), ((720.0 / 1_400.0, 339.0 / all as f64), (7, 113), (6, 0)));
    let mut text = Vec::new();
    output::write(&report, &Format::Overview(Style::default(), OverviewContext::default()), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let sentence = "At or beyond P95, f7 (App) has 51 % of the CPU time, in other runs 3 % (27 % or more in 6 of 7 and 0 of 113 runs); see \
         fleet tree --beyond p95.";
    assert!(text.contains(sentence), "{text}");
    let mut json = Vec::new();
    output::write(&report, &Format::Json, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let found = json["findings"].as_array().unwrap().iter().find(|finding| finding["kind"] == "tail").unwrap();
    assert_eq!(found["beyond"], serde_json::json!({"share": 720.0 / 1_400.0, "runs": 7, "high_runs": 6}));
}

#[test]
fn says_nothing_about_a_tail_of_few_runs_or_of_chance() {
    let of = |slow: &[[u64; 2]], usual: u32| {
        let runs = (0..usual).map(|_| [3, 90]).chain(slow.iter().copied()).enumerate();
        let runs: Vec<RunMeasures> = runs.map(|(index, weights)| run_with(index as u32, weights)).collect();
        tails(&report(&runs, FleetOptions::default())).len()
    };
    // P95 of 80 runs is the fifth largest, and of 79 the fourth.
    assert_eq!(of(&[[120, 80]; 5], 75), 1);
    assert_eq!(of(&[[120, 80]; 4], 75), 0, "four runs are too few");
    assert_eq!(of(&[[6, 180]; 7], 113), 0, "the same functions take twice as long");
    let one = [[600, 90], [3, 200], [3, 200], [3, 200], [3, 200], [3, 200], [3, 200]];
    assert_eq!(of(&one, 113), 0, "a single run has the function");
    let few = [[120, 80], [120, 80], [120, 80], [3, 200], [3, 200], [3, 200], [3, 200]];
    assert_eq!(of(&few, 113), 0, "a minority of the tail has it");
    let slower = |is_weighted, usual: &[[u64; 2]]| {
        let runs = usual.iter().copied().chain([[120, 80]; 7]).enumerate();
        let runs: Vec<RunMeasures> = runs.map(|(index, weights)| run_with(index as u32, weights)).collect();
        tails(&report(&runs, FleetOptions { is_weighted, ..FleetOptions::default() })).len()
    };
    let [fast, idle, newer] = [[3, 90], [0, 0], [70, 60]];
    assert_eq!(slower(false, &[fast; 113]), 1);
    assert_eq!(slower(true, &[fast; 113]), 0, "the tail is not that of the weighted P95");
    assert_eq!(slower(false, &[[fast; 70], [newer; 70]].concat()), 0, "most runs are at or beyond P95");
    let newer: Vec<[u64; 2]> = (0..70).map(|index| [70 + index % 9, 60]).collect();
    assert_eq!(slower(false, &[vec![fast; 70], newer].concat()), 0, "a version has the function in all of its runs");
    let newer = [70, 60];
    // The limit is 28 %, which has no exact binary representation.
    let at_limit = [vec![[28, 72]; 20], vec![[0, 100]; 74], vec![[100, 100]; 6]].concat();
    assert_eq!(
        tails(&report(
            &at_limit.into_iter().enumerate().map(|(index, of)| run_with(index as u32, of)).collect::<Vec<_>>(),
            FleetOptions::default()
        ))
        .len(),
        0,
        "a fifth of the others are at the limit"
    );
    // Idle runs have no share, so they do not show that the function is rare.
    assert_eq!(slower(false, &[vec![idle; 110], vec![newer; 3]].concat()), 0);
}

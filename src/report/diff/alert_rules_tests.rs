//! Checks that alert rules of comparisons and fleets share one grammar, and are read back as they were written.

use super::DiffAlert;
use super::alert::{DiffLimit, DiffMeasure, DiffSubject};
use crate::fleet::{
    AlertBound, AlertMeasure, AlertRule, AlertStatistic, AlertSubject, Comparison, FleetScope, Measure,
};
use crate::stats::Quantile;
use crate::units::{Millionths, Unit};
use proptest::prelude::*;

/// The words of a rule, which may be separated by spaces.
type Words = Vec<String>;

fn words(texts: &[&str]) -> Words {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Joins the words, with or without a space for each number.
fn spaced(words: &[String], spaces: &[u8]) -> String {
    let space = |index: usize| ["", "", " ", "\t ", "\u{2003}"][usize::from(spaces[index % spaces.len()]) % 5];
    words.iter().enumerate().map(|(index, word)| format!("{}{word}", space(index))).collect::<String>()
        + space(words.len())
}

fn spaces() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 1..9)
}

fn scopes() -> impl Strategy<Value = FleetScope> {
    prop::sample::select(FleetScope::ALL[1..].to_vec())
}

fn fleet_subjects() -> impl Strategy<Value = (AlertSubject, Words)> {
    let each = [FleetScope::Process, FleetScope::Binary, FleetScope::Function];
    prop_oneof![
        Just((AlertSubject::Run, Words::new())),
        (scopes(), any::<String>().prop_filter("a name", |name| !name.is_empty())).prop_map(|(scope, name)| {
            let words = words(&[scope.name(), "(", &quoted(&name), ")", "."]);
            (AlertSubject::Named(scope, name), words)
        }),
        prop::sample::select(each.to_vec())
            .prop_map(|scope| (AlertSubject::Each(scope), words(&[scope.name(), "(", "*", ")", "."]))),
    ]
}

fn measures() -> impl Strategy<Value = (AlertMeasure, Words)> {
    let whole = [Measure::Cpu, Measure::SelfWeight, Measure::AllWeight].to_vec();
    prop_oneof![
        prop::sample::select(whole).prop_map(|measure| (AlertMeasure::Whole(measure), words(&[measure.name()]))),
        (1..100_000_u32, any::<bool>()).prop_map(|(seconds, has_unit)| {
            let number = format!("{seconds}{}", if has_unit { "s" } else { "" });
            (AlertMeasure::Window { seconds }, words(&["window", "(", &number, ")"]))
        }),
    ]
}

fn statistics() -> impl Strategy<Value = (AlertStatistic, AlertBound, Words)> {
    let fixed = [("mean", AlertStatistic::Mean), ("min", AlertStatistic::Min), ("max", AlertStatistic::Max)];
    let fixed = prop::sample::select(fixed.to_vec());
    let bounds = [("", AlertBound::Estimate), ("lower", AlertBound::Lower), ("upper", AlertBound::Upper)];
    prop_oneof![
        fixed.prop_map(|(name, statistic)| (statistic, AlertBound::Estimate, words(&[name]))),
        (0..=1_000_000_u32, prop::sample::select(bounds.to_vec())).prop_map(|(parts, (end, bound))| {
            let quantile = Quantile::from_parts_per_million(parts).expect("at most a million");
            let end = if end.is_empty() { Words::new() } else { words(&[".", end]) };
            (AlertStatistic::Quantile(quantile), bound, [words(&[&quantile.name()]), end].concat())
        }),
    ]
}

fn comparisons() -> impl Strategy<Value = (&'static str, Comparison)> {
    let all =
        [(">", Comparison::Above), (">=", Comparison::AtLeast), ("<", Comparison::Below), ("<=", Comparison::AtMost)];
    prop::sample::select(all.to_vec())
}

fn thresholds() -> impl Strategy<Value = (Millionths, Unit, Words)> {
    let units = [
        ("", Unit::Nanoseconds, 1.0),
        ("%", Unit::Nanoseconds, 1.0),
        ("kcycles/s", Unit::Cycles, 1e3),
        ("Mevents/s", Unit::PmcEvents, 1e6),
        ("samples/s", Unit::Samples, 1.0),
    ];
    (0..1_000_000_u32, 0..1_000_u32, prop::sample::select(units.to_vec())).prop_map(
        |(whole, parts, (name, unit, scale))| {
            let text = format!("{whole}.{parts:03}");
            let number: f64 = text.parse().expect("a number");
            (Millionths::from_f64(number * scale).expect("not below zero"), unit, words(&[&text, name]))
        },
    )
}

fn diff_subjects() -> impl Strategy<Value = (DiffSubject, Words)> {
    let name = any::<Option<String>>().prop_filter("a name", |name| name.as_deref() != Some(""));
    prop_oneof![
        Just((DiffSubject::Total, words(&["total"]))),
        (any::<bool>(), name).prop_map(|(is_function, name)| {
            let text = name.as_deref().map_or("*".to_owned(), quoted);
            let kind = if is_function { "function" } else { "binary" };
            let subject = if is_function { DiffSubject::Functions(name) } else { DiffSubject::Binaries(name) };
            (subject, words(&[kind, "(", &text, ")"]))
        }),
    ]
}

fn limits() -> impl Strategy<Value = (DiffLimit, Words)> {
    let weights = [("us", Unit::Nanoseconds, 1e3), ("s", Unit::Nanoseconds, 1e9), ("Gcycles", Unit::Cycles, 1e9)];
    (0..1_000_000_u32, 0..1_000_u32, prop::option::of(prop::sample::select(weights.to_vec()))).prop_map(
        |(whole, parts, weight)| {
            let text = format!("{whole}.{parts:03}");
            let number: f64 = text.parse().expect("a number");
            match weight {
                None => (DiffLimit::Percent(number), words(&[&text, "%"])),
                Some((name, unit, scale)) => (DiffLimit::Weight(number * scale, unit), words(&[&text, name])),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn rules_of_fleets_are_read_as_they_are_written(
        (subject, subject_words) in fleet_subjects(),
        (measure, measure_words) in measures(),
        (statistic, bound, statistic_words) in statistics(),
        (sign, comparison) in comparisons(),
        (threshold, unit, threshold_words) in thresholds(),
        spaces in spaces(),
    ) {
        let dot = words(&["."]);
        let all = [subject_words, measure_words, dot, statistic_words, words(&[sign]), threshold_words].concat();
        let text = spaced(&all, &spaces);
        let has_no_windows = matches!(
            &subject,
            AlertSubject::Named(scope, _) | AlertSubject::Each(scope)
                if matches!(scope, FleetScope::Binary | FleetScope::Function)
        );
        if has_no_windows && matches!(measure, AlertMeasure::Window { .. }) {
            prop_assert!(AlertRule::parse(&text).is_err(), "{text}");
            return Ok(());
        }
        let written = text.trim().to_owned();
        let expected = AlertRule { text: written, subject, measure, statistic, bound, comparison, threshold, unit };
        let read = AlertRule::parse(&text);
        prop_assert_eq!(read.as_ref(), Ok(&expected));
        prop_assert_eq!(AlertRule::parse(&expected.to_string()), read);
    }

    #[test]
    fn rules_of_comparisons_are_read_as_they_are_written(
        (subject, subject_words) in diff_subjects(),
        is_self in any::<bool>(),
        (limit, limit_words) in limits(),
        spaces in spaces(),
    ) {
        let (measure, word) =
            if is_self { (DiffMeasure::SelfWeight, "self") } else { (DiffMeasure::AllWeight, "all") };
        let all = [subject_words, words(&[".", word, ">"]), limit_words].concat();
        let text = spaced(&all, &spaces);
        let expected = DiffAlert { text: text.trim().to_owned(), subject, measure, limit };
        let read = DiffAlert::parse(&text);
        prop_assert_eq!(read.as_ref(), Ok(&expected));
        prop_assert_eq!(DiffAlert::parse(&expected.to_string()), read);
    }

    /// A string that only one command accepts is rejected by the other, either as invalid or with the name of the right command.
    #[test]
    fn each_command_names_the_command_of_other_rules(
        (subject, subject_words) in diff_subjects(),
        (_, limit_words) in limits(),
        (_, _, statistic_words) in statistics(),
        spaces in spaces(),
    ) {
        let growth = [subject_words.clone(), words(&[".", "all", ">"]), limit_words.clone()].concat();
        let error = AlertRule::parse(&spaced(&growth, &spaces)).expect_err("growth").to_string();
        prop_assert!(error.contains("`traceparse diff` has"), "{}", error);
        let statistic = [subject_words, words(&[".", "all", "."]), statistic_words, words(&[">"]), limit_words].concat();
        let error = DiffAlert::parse(&spaced(&statistic, &spaces)).expect_err("a statistic").to_string();
        prop_assert!(error.contains("`traceparse fleet report` has"), "{:?} {}", subject, error);
    }
}

#[test]
fn rejects_empty_names() {
    for kind in ["function", "binary", "process", "thread"] {
        let text = format!("{kind}(\"\").cpu.p99 > 5");
        let error = AlertRule::parse(&text).expect_err(&text).to_string();
        assert!(error.contains("is not a name in double quotes"), "{error}");
        let text = format!("{kind}(\"\").self > 5%");
        let error = DiffAlert::parse(&text).expect_err(&text).to_string();
        assert!(error.contains("is not a name in double quotes"), "{error}");
    }
}

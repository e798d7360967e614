//! Checks that alert rules for comparisons and fleets share one grammar, and that rules are parsed back as they were written.

use super::comparison::Comparison;
use super::{AlertBound, AlertMeasure, AlertRule, AlertStatistic, AlertSubject, Kind};
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

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(Kind::ALL[..4].to_vec())
}

fn fleet_subjects() -> impl Strategy<Value = (AlertSubject, Words)> {
    let each = [Kind::Process, Kind::Binary, Kind::Function];
    prop_oneof![
        Just((AlertSubject::Run, Words::new())),
        (kinds(), any::<String>().prop_filter("a part", |name| !name.is_empty())).prop_map(|(kind, name)| {
            let words = words(&[kind.name(), "(", &quoted(&name), ")", "."]);
            (AlertSubject::Named(kind, name), words)
        }),
        prop::sample::select(each.to_vec())
            .prop_map(|kind| (AlertSubject::Each(kind), words(&[kind.name(), "(", "*", ")", "."]))),
    ]
}

fn measures() -> impl Strategy<Value = (AlertMeasure, Words)> {
    let whole = [AlertMeasure::Cpu, AlertMeasure::SelfWeight, AlertMeasure::AllWeight].to_vec();
    prop_oneof![
        prop::sample::select(whole).prop_map(|measure| (measure, words(&[measure.name(Unit::Nanoseconds)]))),
        (1..100_000_u32, any::<bool>()).prop_map(|(seconds, has_unit)| {
            let number = format!("{seconds}{}", if has_unit { "s" } else { "" });
            (AlertMeasure::Window(seconds), words(&["window", "(", &number, ")"]))
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

/// A number with thousandths, times a factor, in integers before it is rounded to a double.
fn scaled(whole: u32, parts: u32, factor: u64) -> f64 {
    let thousandths = u64::from(whole) * 1_000 + u64::from(parts);
    if factor == 1 { thousandths as f64 / 1_000.0 } else { (thousandths * (factor / 1_000)) as f64 }
}

fn thresholds() -> impl Strategy<Value = (f64, Unit, Words)> {
    let units = [
        ("", Unit::Nanoseconds, 1),
        ("%", Unit::Nanoseconds, 1),
        ("kcycles/s", Unit::Cycles, 1_000),
        ("Mevents/s", Unit::PmcEvents, 1_000_000),
        ("samples/s", Unit::Samples, 1),
    ];
    (0..1_000_000_u32, 0..1_000_u32, prop::sample::select(units.to_vec())).prop_map(
        |(whole, parts, (name, unit, scale))| {
            let text = format!("{whole}.{parts:03}");
            let number = scaled(whole, parts, scale);
            (Millionths::from_f64(number).expect("not below zero").as_f64(), unit, words(&[&text, name]))
        },
    )
}

fn diff_subjects() -> impl Strategy<Value = (AlertSubject, Words)> {
    let name = any::<Option<String>>().prop_filter("a part", |name| name.as_deref() != Some(""));
    prop_oneof![
        Just((AlertSubject::Total, words(&["total"]))),
        (any::<bool>(), name).prop_map(|(is_function, name)| {
            let text = name.as_deref().map_or("*".to_owned(), quoted);
            let kind = if is_function { Kind::Function } else { Kind::Binary };
            (
                name.map_or(AlertSubject::Each(kind), |name| AlertSubject::Named(kind, name)),
                words(&[kind.name(), "(", &text, ")"]),
            )
        }),
    ]
}

/// The limit of growth; a percentage has no unit.
fn limits() -> impl Strategy<Value = (f64, Option<Unit>, Words)> {
    let weights = [
        ("us", Unit::Nanoseconds, 1_000),
        ("s", Unit::Nanoseconds, 1_000_000_000),
        ("Gcycles", Unit::Cycles, 1_000_000_000),
    ];
    (0..1_000_000_u32, 0..1_000_u32, prop::option::of(prop::sample::select(weights.to_vec()))).prop_map(
        |(whole, parts, weight)| {
            let text = format!("{whole}.{parts:03}");
            match weight {
                None => (scaled(whole, parts, 1), None, words(&[&text, "%"])),
                Some((name, unit, scale)) => (scaled(whole, parts, scale), Some(unit), words(&[&text, name])),
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
        (limit, unit, threshold_words) in thresholds(),
        spaces in spaces(),
    ) {
        let dot = words(&["."]);
        let all = [subject_words, measure_words, dot, statistic_words, words(&[sign]), threshold_words].concat();
        let text = spaced(&all, &spaces);
        if subject.is_code() && matches!(measure, AlertMeasure::Window(_)) {
            prop_assert!(AlertRule::of_runs(&text).is_err(), "{text}");
            return Ok(());
        }
        let written = text.trim().to_owned();
        let expected = AlertRule { text: written, subject, measure, statistic, bound, comparison, limit, unit, is_share: false };
        let read = AlertRule::of_runs(&text);
        prop_assert_eq!(read.as_ref(), Ok(&expected));
        prop_assert_eq!(AlertRule::of_runs(&expected.to_string()), read);
    }

    #[test]
    fn rules_of_comparisons_are_read_as_they_are_written(
        (subject, subject_words) in diff_subjects(),
        is_self in any::<bool>(),
        (limit, unit, limit_words) in limits(),
        spaces in spaces(),
    ) {
        let (measure, word) =
            if is_self { (AlertMeasure::SelfWeight, "self") } else { (AlertMeasure::AllWeight, "all") };
        let all = [subject_words, words(&[".", word, ">"]), limit_words].concat();
        let text = spaced(&all, &spaces);
        let (statistic, bound, comparison) = (AlertStatistic::Growth, AlertBound::Estimate, Comparison::Above);
        let (is_share, unit) = (unit.is_none(), unit.unwrap_or(Unit::Nanoseconds));
        let text = text.trim().to_owned();
        let expected = AlertRule { text, subject, measure, statistic, bound, comparison, limit, unit, is_share };
        let text = &expected.text;
        let read = AlertRule::of_growth(text);
        prop_assert_eq!(read.as_ref(), Ok(&expected));
        prop_assert_eq!(AlertRule::of_growth(&expected.to_string()), read);
    }

    /// A string that only one command accepts is rejected by the other, either as invalid or with the name of the right command.
    #[test]
    fn each_command_names_the_command_of_other_rules(
        (subject, subject_words) in diff_subjects().prop_filter("a part", |(subject, _)| *subject != AlertSubject::Total),
        (_, _, limit_words) in limits(),
        (_, _, statistic_words) in statistics(),
        spaces in spaces(),
    ) {
        let growth = [subject_words.clone(), words(&[".", "all", ">"]), limit_words.clone()].concat();
        let error = AlertRule::of_runs(&spaced(&growth, &spaces)).expect_err("growth").to_string();
        prop_assert!(error.contains("`traceparse diff` judges"), "{}", error);
        let statistic = [subject_words, words(&[".", "all", "."]), statistic_words, words(&[">"]), limit_words].concat();
        let error = AlertRule::of_growth(&spaced(&statistic, &spaces)).expect_err("a statistic").to_string();
        prop_assert!(error.contains("`traceparse fleet report` judges"), "{:?} {}", subject, error);
    }
}

#[test]
fn rejects_empty_names() {
    for kind in ["function", "binary", "process", "thread"] {
        let text = format!("{kind}(\"\").cpu.p99 > 5");
        let error = AlertRule::of_runs(&text).expect_err(&text).to_string();
        assert!(error.contains("is not a name in double quotes"), "{error}");
        let text = format!("{kind}(\"\").self > 5%");
        let error = AlertRule::of_growth(&text).expect_err(&text).to_string();
        assert!(error.contains("is not a name in double quotes"), "{error}");
    }
}

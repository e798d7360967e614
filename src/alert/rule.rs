//! Alert rules, and their parser.

use std::fmt;

use super::comparison::Comparison;
use super::lexer::{Lexer, Part};
use super::measure::AlertMeasure;
use super::statistic::{AlertBound, AlertStatistic};
use super::subject::{AlertSubject, Kind};
use super::topic::{AlertError, Topic};
use super::unit::LimitUnit;
use crate::units::{Millionths, Unit};

/// The preset for the CPU limit above which iOS terminates apps: its name, and its rule.
const PRESET: (&str, &str) = ("system-cpu-limit", "process(*).window(60s).max > 80");

/// An alert rule: compares a measured number with a limit, and fires if the comparison is true.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertRule {
    /// The rule as typed, without surrounding white space.
    pub text: String,
    pub(crate) subject: AlertSubject,
    /// The number that is measured for a recording, a run or an interval.
    pub(crate) measure: AlertMeasure,
    /// The statistic over these numbers.
    pub(crate) statistic: AlertStatistic,
    /// The percentile itself, or an end of its confidence interval; [`AlertBound::Estimate`] for other statistics.
    pub(crate) bound: AlertBound,
    /// The side of the limit on which the rule fires.
    pub(crate) comparison: Comparison,
    /// The limit: a percentage, a weight, a weight per second, or for measures with a fixed unit, milliseconds, megabytes or a count.
    pub(crate) limit: f64,
    /// The unit of the runs, recordings or intervals to which the rule applies; nanoseconds if the limit is a percentage.
    pub(crate) unit: Unit,
    /// True if the limit is a percentage of the first recording.
    pub(crate) is_share: bool,
}

impl fmt::Display for AlertRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl AlertRule {
    /// Parses a rule about growth between two recordings; see the [module](super) for examples.
    ///
    /// # Errors
    /// If the text is not such a rule. The error names the part that was not understood and what is allowed there. For a rule of another
    /// kind, it names the command that evaluates that kind.
    pub fn of_growth(text: &str) -> Result<Self, AlertError> {
        Self::parse(text, &Topic::GROWTH)
    }

    /// Parses a rule about many runs.
    ///
    /// # Errors
    /// The same as for [`Self::of_growth`].
    pub fn of_runs(text: &str) -> Result<Self, AlertError> {
        Self::parse(text, &Topic::RUNS)
    }

    /// Parses a rule about the durations of intervals.
    ///
    /// # Errors
    /// The same as for [`Self::of_growth`].
    pub fn of_intervals(text: &str) -> Result<Self, AlertError> {
        Self::parse(text, &Topic::INTERVALS)
    }

    fn parse(text: &str, topic: &Topic) -> Result<Self, AlertError> {
        let text = text.trim();
        let mut lexer = Lexer::new(if text == PRESET.0 { PRESET.1 } else { text }, topic);
        let (subject, parts, comparison) = lexer.beginning()?;
        let (measure, stated, rest) = measure(&subject, &parts, topic)?;
        let (statistic, bound) = AlertStatistic::parse(rest, topic)?;
        let is_growth = statistic == AlertStatistic::Growth;
        let is_weight = matches!(measure, AlertMeasure::SelfWeight | AlertMeasure::AllWeight);
        let own = match subject.kind() {
            Some(Kind::Interval) => &Topic::INTERVALS,
            _ if subject == AlertSubject::Total || is_growth && is_weight && subject.is_code() => &Topic::GROWTH,
            _ => &Topic::RUNS,
        };
        if own != topic {
            return Err(topic.elsewhere(text, own));
        }
        let word = parts.last().map_or(text, |part| part.word());
        match (is_growth, topic == &Topic::GROWTH) {
            (true, false) => return Err(topic.error(word, "complete; add a statistic such as .p99, .mean or .max")),
            (false, true) => {
                return Err(
                    topic.error(word, "allowed here: a rule about growth has no statistic, only a comparison with >")
                );
            }
            _ => {}
        }
        if topic == &Topic::INTERVALS && bound != AlertBound::Estimate {
            return Err(topic.error(text, "supported: only percentiles of runs have confidence intervals"));
        }
        check(&subject, measure).map_err(|(found, wanted)| topic.error(found, wanted))?;
        let (limit, unit) = lexer.limit(limits(topic, stated), |number, unit| limit(number, unit, topic, stated))?;
        if is_growth && comparison != Comparison::Above {
            return Err(topic.error(text, "a valid rule about growth: growth can only be compared with >"));
        }
        let (is_share, unit) = (unit.is_none(), unit.unwrap_or(Unit::Nanoseconds));
        let text = text.to_owned();
        Ok(Self { text, subject, measure, statistic, bound, comparison, limit, unit, is_share })
    }

    /// True for the CPU limit above which iOS terminates apps.
    #[cfg(feature = "fleet")]
    pub(crate) fn is_of_system(&self) -> bool {
        self.text == PRESET.0
    }

    /// The statistic for display: `P99`, `lower end of P99`, `max`.
    #[cfg(feature = "fleet")]
    pub(crate) fn statistic_title(&self) -> String {
        let end = self.bound.end().map_or_else(String::new, |end| format!("{end} end of "));
        format!("{end}{}", self.statistic.title())
    }

    /// True if a value is on the side of the limit on which the rule fires.
    pub fn is_broken_by(&self, value: f64) -> bool {
        self.comparison.holds(value, self.limit)
    }
}

/// Checks that the subject has the measure. The error is the offending part, and the end of the sentence "PART is not …".
fn check(subject: &AlertSubject, measure: AlertMeasure) -> Result<(), (&'static str, &'static str)> {
    match (subject, measure) {
        (AlertSubject::Each(Kind::Thread), _) => {
            Err(("thread(*)", "supported; use process(*), binary(*) or function(*)"))
        }
        (AlertSubject::Each(Kind::Interval), _) => Err(("interval(*)", "supported; name the intervals")),
        (_, AlertMeasure::Window(_)) if subject.is_code() => Err(("window", "available for binaries and functions")),
        (AlertSubject::Named(..) | AlertSubject::Each(_), AlertMeasure::Elapsed) => {
            Err(("elapsed", "available for parts of a run; it is the time of a complete recording"))
        }
        (AlertSubject::Each(_), AlertMeasure::CpuTime) => Err(("cpu-time", "available for (*); give one name")),
        _ => Ok(()),
    }
}

type MeasureAndRest<'p, 't> = (AlertMeasure, Option<Unit>, &'p [Part<'t>]);

/// Parses the measure: the first part, or implied for intervals and for `total` alone. Returns it with the unit of its limits, if that is
/// fixed, and the remaining parts.
fn measure<'p, 't>(
    subject: &AlertSubject,
    parts: &'p [Part<'t>],
    topic: &Topic,
) -> Result<MeasureAndRest<'p, 't>, AlertError> {
    match (subject, parts) {
        (AlertSubject::Named(Kind::Interval, _) | AlertSubject::Each(Kind::Interval), _) => {
            Ok((AlertMeasure::Duration, None, parts))
        }
        (AlertSubject::Total, []) => Ok((AlertMeasure::AllWeight, None, parts)),
        (_, [Part::Window(seconds), rest @ ..]) => Ok((AlertMeasure::Window(*seconds), None, rest)),
        (_, [Part::Word(word), rest @ ..]) => {
            let wanted = if *subject == AlertSubject::Run { topic.beginning } else { topic.measures };
            let (measure, unit) = AlertMeasure::parse(word).ok_or_else(|| topic.error(word, wanted))?;
            Ok((measure, unit, rest))
        }
        (_, []) => Err(topic.error("", topic.measures)),
    }
}

/// Describes the limits of a measure, whose unit may be fixed.
fn limits(topic: &Topic, stated: Option<Unit>) -> &'static str {
    match stated {
        None => topic.limits,
        Some(Unit::Exits) => "a number, such as 3",
        Some(Unit::WrittenBytes | Unit::PeakBytes) => "a size, such as 1.5GB",
        Some(_) => "a time, such as 300ms",
    }
}

/// Converts a limit to the unit of the rule's values. Returns it with the unit of the runs or recordings, which is `None` for a percentage of
/// the first recording. `None` if the measure cannot have a limit with this unit.
fn limit(number: f64, unit: LimitUnit, topic: &Topic, stated: Option<Unit>) -> Option<(f64, Option<Unit>)> {
    if topic != &Topic::RUNS {
        let is_growth = topic == &Topic::GROWTH;
        return match unit {
            LimitUnit::Percent if is_growth => Some((number, None)),
            LimitUnit::Weight(unit) if is_growth || unit == Unit::Nanoseconds => Some((number, Some(unit))),
            _ => None,
        };
    }
    // Times become milliseconds and sizes megabytes, the units in which runs are measured.
    let (number, unit) = match (stated, unit) {
        (None, LimitUnit::Plain | LimitUnit::Percent) => (number, Unit::Nanoseconds),
        (None, LimitUnit::Rate(unit)) => (number, unit),
        (Some(unit @ Unit::Exits), LimitUnit::Plain) => (number, unit),
        (Some(unit), LimitUnit::Weight(Unit::Nanoseconds)) if unit.is_time() => (number / 1e6, unit),
        (Some(unit @ (Unit::WrittenBytes | Unit::PeakBytes)), LimitUnit::Weight(Unit::Bytes)) => (number / 1e6, unit),
        _ => return None,
    };
    // Values are millionths. None of them can reach a limit that is too large for millionths.
    Millionths::from_f64(number).map(|_| (number, Some(unit)))
}

#[cfg(all(test, feature = "fleet"))]
mod tests {
    use super::*;
    use crate::stats::Quantile;

    fn parse(text: &str) -> AlertRule {
        AlertRule::of_runs(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn rules_of_the_documentation_are_read() {
        let rule = parse("cpu.p95 > 80");
        assert_eq!(
            (&rule.subject, rule.measure, rule.statistic, rule.comparison, rule.limit),
            (&AlertSubject::Run, AlertMeasure::Cpu, AlertStatistic::Quantile(Quantile::P95), Comparison::Above, 80.0)
        );
        let rule = parse(r#"function("-[X y]").self.p99 > 5"#);
        assert_eq!(rule.subject, AlertSubject::Named(Kind::Function, "-[X y]".to_owned()));
        assert_eq!(rule.measure, AlertMeasure::SelfWeight);
        let rule = parse(r#" thread( "a \"b\" \\ c" ).cpu.median<=0.5% "#);
        assert_eq!(rule.subject, AlertSubject::Named(Kind::Thread, r#"a "b" \ c"#.to_owned()));
        assert_eq!((rule.comparison, rule.limit), (Comparison::AtMost, 0.5));
        assert_eq!(rule.statistic, AlertStatistic::Quantile(Quantile::P50));
        assert_eq!(rule.text, r#"thread( "a \"b\" \\ c" ).cpu.median<=0.5%"#);
        let rule = parse("window(60s).max >= 80");
        assert_eq!((rule.measure, rule.statistic), (AlertMeasure::Window(60), AlertStatistic::Max));
        assert_eq!(parse(r#"process("X").window(15).p99.9 > 60"#).statistic, AlertStatistic::Quantile(Quantile::P999));
        let rule = parse("cpu.p95.lower > 2.5 Gcycles/s");
        assert_eq!((rule.bound, rule.unit), (AlertBound::Lower, Unit::Cycles));
        assert_eq!(rule.limit, 2.5e9);
        assert_eq!(parse("cpu.p95 > 3 events/s").unit, Unit::PmcEvents);
        let hang = parse("hang.p95 > 2 s");
        assert_eq!((hang.unit, hang.limit), (Unit::HangTime, 2000.0));
        let writes = parse(r#"function("save").writes.max > 1.5 GB"#);
        assert_eq!((writes.unit, writes.limit), (Unit::WrittenBytes, 1500.0));
        let elapsed = parse("elapsed.p95 > 2 s");
        assert_eq!((elapsed.measure, elapsed.limit), (AlertMeasure::Elapsed, 2000.0));
        let time = parse(r#"process("X").cpu-time.max > 300 ms"#);
        assert_eq!((time.measure, time.unit, time.limit), (AlertMeasure::CpuTime, Unit::Nanoseconds, 300.0));
        for wrong in [
            "elapsed.p95 > 2",
            "cpu-time.p95 > 2 Gcycles",
            r#"process("X").elapsed.p95 > 2 s"#,
            "function(*).cpu-time.p95 > 2 s",
        ] {
            AlertRule::of_runs(wrong).unwrap_err();
        }
        let memory = parse("memory.max > 1.5 GB");
        assert_eq!((memory.unit, memory.limit), (Unit::PeakBytes, 1500.0));
        let exits = parse("exits.max >= 3");
        assert_eq!((exits.unit, exits.limit), (Unit::Exits, 3.0));
        for wrong in [
            "exits.max > 2 s",
            "memory.max > 3",
            "hang.p95 > 2",
            "hang.p95 > 2 MB",
            "writes.p95 > 2 s",
            "cpu.p95 > 2 s",
        ] {
            AlertRule::of_runs(wrong).unwrap_err();
        }
        assert_eq!(parse("cpu.p99.9.upper < 3").statistic, AlertStatistic::Quantile(Quantile::P999));
        assert_eq!(parse("function( * ).self.p99 > 5").subject, AlertSubject::Each(Kind::Function));
        assert_eq!(parse("binary(*).all.max > 5").subject, AlertSubject::Each(Kind::Binary));
        let preset = parse(PRESET.0);
        assert_eq!((preset.subject, preset.limit), (AlertSubject::Each(Kind::Process), 80.0));
    }

    #[test]
    fn what_is_no_rule_is_refused_with_a_reason() {
        for (text, part) in [
            ("", "a measure"),
            ("cpu", "a comparison"),
            ("cpu.p95", "a comparison"),
            ("cpu.p95 = 80", "a comparison"),
            ("cpu.p101 > 80", "a statistic"),
            ("cpu.q95 > 80", "a statistic"),
            ("cpu.p95 > eighty", "not a percentage"),
            ("cpu.p95 > -1", "not a percentage"),
            ("cpu.p95 > NaN", "not a percentage"),
            ("gpu.p95 > 80", "a measure"),
            ("function(x y).self.p99 > 5", "double quotes"),
            ("function(\"x\".self.p99 > 5", "double quotes"),
            ("function(\"x\")self.p99 > 5", "a dot"),
            ("function(\"x\").window(60s).max > 5", "window"),
            ("procces(\"X\").cpu.max > 5", "process, thread"),
            ("function(\"X\").p90 > 3", "a measure"),
            ("cpu.mean.lower > 3", "only percentiles"),
            ("cpu.p95 > 3 Gbananas/s", "not a percentage"),
            ("cpu.p95 > 3k", "not a percentage"),
            ("window(0s).max > 5", "seconds"),
            ("window(60s)max > 5", "a dot"),
            ("cpu.pp95 > 80", "a statistic"),
            ("cpu.p95.middle > 80", "an end of an interval"),
            ("function(\"\").self.p99 > 5", "double quotes"),
            ("process(\"\").cpu.p99 > 5", "double quotes"),
            ("thread(*).cpu.p99 > 5", "process(*)"),
            ("function(*).window(60s).max > 5", "window"),
            ("cpu.p99 > 3ms", "only cpu-time, elapsed"),
            ("cpu.p95 >", "incomplete: it needs a percentage"),
            ("hang.p95 > 3", "a time, such as 300ms"),
            ("memory.max > 3", "a size, such as 1.5GB"),
            ("exits.max > 3s", "a number, such as 3"),
        ] {
            let error = AlertRule::of_runs(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn rules_of_other_commands_are_refused_with_the_command_that_judges_them() {
        for text in ["total > 5%", "total.self > 5ms", "function(*).self > 2%", "binary(\"X\").all > 2"] {
            let error = AlertRule::of_runs(text).expect_err(text).to_string();
            assert!(error.contains("about growth between two recordings, which `traceparse diff` judges"), "{error}");
        }
        for text in [
            "cpu.p95 > 80",
            "window(60s).max > 80",
            PRESET.0,
            r#"process("X").cpu.p99 > 5"#,
            "process(*).cpu.p99 > 5",
            r#"thread("X").cpu.p99 > 5"#,
            r#"function("X").self.p99 > 5"#,
            "function(*).cpu.max > 5",
            r#"binary("X").all.mean > 5"#,
        ] {
            let error = AlertRule::of_growth(text).expect_err(text).to_string();
            assert!(error.contains("about many runs, which `traceparse fleet report` judges"), "{error}");
        }
    }

    #[test]
    fn comparisons_are_what_they_say() {
        assert!(Comparison::Above.holds(2.0, 1.0) && !Comparison::Above.holds(1.0, 1.0));
        assert!(Comparison::AtLeast.holds(1.0, 1.0) && !Comparison::AtLeast.holds(0.9, 1.0));
        assert!(Comparison::Below.holds(0.5, 1.0) && !Comparison::Below.holds(1.0, 1.0));
        assert!(Comparison::AtMost.holds(1.0, 1.0) && !Comparison::AtMost.holds(1.1, 1.0));
    }

    #[test]
    fn rules_about_growth_are_read() {
        let parse = |text: &str| AlertRule::of_growth(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let parts = |text: &str| {
            let rule = parse(text);
            (rule.subject, rule.measure, (rule.limit, if rule.is_share { None } else { Some(rule.unit) }))
        };
        let (own, all) = (AlertMeasure::SelfWeight, AlertMeasure::AllWeight);
        let function = |name: &str| AlertSubject::Named(Kind::Function, name.to_owned());
        let time = |nanos| (nanos, Some(Unit::Nanoseconds));
        assert_eq!(parts("total > 5%"), (AlertSubject::Total, all, (5.0, None)));
        assert_eq!(parts(" total.all>0.5 % "), (AlertSubject::Total, all, (0.5, None)));
        assert_eq!(parts("total > 200ms"), (AlertSubject::Total, all, time(2e8)));
        assert_eq!(parts(r#"function("-[X y]").self > 1.5s"#), (function("-[X y]"), own, time(1.5e9)));
        assert_eq!(parts("total > 5μs").2, parts("total > 5µs").2);
        assert_eq!(parts(r#"function( "a > \"b\"" ).all>7 µs"#), (function("a > \"b\""), all, time(7_000.0)));
        let cycles = (3e6, Some(Unit::Cycles));
        assert_eq!(parts("function(*).self > 3Mcycles"), (AlertSubject::Each(Kind::Function), own, cycles));
        let binary = AlertSubject::Named(Kind::Binary, "UIKitCore".to_owned());
        assert_eq!(parts(r#"binary("UIKitCore").all > 2 kevents"#), (binary, all, (2e3, Some(Unit::PmcEvents))));
        let samples = (100.0, Some(Unit::Samples));
        assert_eq!(parts("binary(*).all > 100samples"), (AlertSubject::Each(Kind::Binary), all, samples));
        assert_eq!(parse(" total > 5% ").to_string(), "total > 5%");
    }

    #[test]
    fn what_is_no_rule_about_growth_is_refused_with_a_reason() {
        for (text, part) in [
            ("", "one of total, function"),
            ("gpu > 5%", "one of total, function"),
            ("totals > 5%", "one of total, function"),
            ("total", "a comparison"),
            ("total < 5%", "growth"),
            ("total >= 5%", "growth"),
            ("total.q95 > 5%", ".self or .all"),
            ("total.p95 > 5%", ".self or .all"),
            ("total > 3 Mcycles/s", "a percentage"),
            ("total.all.lower > 5%", "a statistic"),
            ("total.all.p95 > 5%", "a comparison"),
            ("total > 5", "a percentage"),
            ("total > -5%", "a percentage"),
            ("total > x%", "a percentage"),
            ("total > 1.2.3%", "a percentage"),
            ("total > 5 ds", "a percentage"),
            ("total > 5 Xcycles", "a percentage"),
            ("total > 5 Mms", "a percentage"),
            (&format!("total > {}%", "9".repeat(400)), "a percentage"),
            (r#"function("").self > 5%"#, "double quotes"),
            (r#"function("a \ b").self > 5%"#, "double quotes"),
            ("function > 5%", "double quotes"),
            ("function(x y).self > 5%", "double quotes"),
            (r#"function("x".self > 5%"#, "double quotes"),
            (r#"function("x) > 5%"#, "double quotes"),
            (r#"function("x") > 5%"#, ".self or .all"),
        ] {
            let error = AlertRule::of_growth(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

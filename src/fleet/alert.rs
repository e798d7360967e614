//! Alert rules, on which a CI job can fail.
//!
//! ```text
//! cpu.p95 > 80                              P95 across runs of the CPU use of a run
//! cpu.mean > 20    cpu.max >= 300           the mean, the largest run
//! process("Finder").cpu.p99 > 5             of one process
//! thread("Main Thread").cpu.p50 > 30        of threads of that name, in any process
//! binary("UIKitCore").all.p90 > 10          samples with the binary anywhere in their stack
//! function("-[X y]").self.p99 > 5           samples whose leaf is the function
//! process(*).cpu.p99 > 50                   the busiest process of each run
//! function(*).self.p99 > 5                  any function, beyond what chance explains among so many; also binary(*)
//! window(60s).max > 80                      each run's busiest 60 s; also process("X").window(60s).max
//! system-cpu-limit                          the limit at which iOS ends apps: a process above 80 % over 60 s
//! cpu.p95.lower > 80                        the lower end of the interval of P95: above 80 whatever chance does
//! cpu.p95 > 2.5 Gcycles/s                   of runs that were recorded in cycles
//! cpu-time.p95 > 300 ms                     the CPU time of a run; also process("X").cpu-time.max
//! elapsed.p95 > 2 s                         the recorded time of a run, such as of a benchmark that was recorded until it exited
//! ```
//!
//! Names must match completely. A function or binary is zero in runs without it; a name that no run has is usually a
//! mistake in the rule, so the rule is undecided. A threshold without a unit is a percentage of one core, and does not
//! apply to runs that were recorded in other units.

use std::fmt;

use super::measures::Measure;
use super::scope::FleetScope;
pub use crate::alert_grammar::AlertError;
pub(crate) use crate::alert_grammar::Comparison;
use crate::alert_grammar::{self, Dialect, Kind, Limit, LimitUnit, Part, Subject};
pub(crate) use crate::stats::AlertStatistic;
use crate::units::{Millionths, Unit};

/// The subject of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AlertSubject {
    /// The whole run.
    Run,
    /// All items with one name. A function is summed over binaries, and a thread over processes.
    Named(FleetScope, String),
    /// Each process, function or binary by itself: for processes, the largest one in a run counts; for functions and binaries, each name
    /// has its own distribution, as if the rule named it.
    Each(FleetScope),
}

impl AlertSubject {
    /// True for functions and binaries, which are kept for whole runs only.
    fn has_no_windows(&self) -> bool {
        let (Self::Named(scope, _) | Self::Each(scope)) = self else { return false };
        matches!(scope, FleetScope::Binary | FleetScope::Function)
    }
}

/// The number of a run that a rule takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AlertMeasure {
    /// The whole recording.
    Whole(Measure),
    /// The busiest window of this many seconds.
    Window {
        /// Their number.
        seconds: u32,
    },
    /// The CPU time of the whole recording, in milliseconds.
    CpuTime,
    /// The recorded time, in milliseconds.
    Elapsed,
}

impl AlertMeasure {
    /// True if its values are times, whatever the runs were recorded in.
    pub(crate) const fn is_time(self) -> bool {
        matches!(self, Self::CpuTime | Self::Elapsed)
    }
}

/// The percentile itself, or an end of its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum AlertBound {
    /// The percentile of the runs.
    #[default]
    Estimate,
    /// The lower end of its interval: the percentile of the population is at least that, with the confidence of the interval.
    Lower,
    /// The upper end of its interval.
    Upper,
}

/// A rule: it fires where the comparison holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlertRule {
    /// The rule as typed.
    pub text: String,
    /// The subject of the rule.
    pub(crate) subject: AlertSubject,
    /// The number of a run.
    pub(crate) measure: AlertMeasure,
    /// The number across runs.
    pub(crate) statistic: AlertStatistic,
    /// The percentile itself or an end of its interval; [`AlertBound::Estimate`] for other statistics.
    pub(crate) bound: AlertBound,
    /// The side of the threshold on which it fires.
    pub(crate) comparison: Comparison,
    /// The number it is compared with: percent of one core, or units per second.
    pub(crate) threshold: Millionths,
    /// The unit of the runs that it applies to; nanoseconds if the threshold is in percent.
    pub(crate) unit: Unit,
}

impl fmt::Display for AlertRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for AlertRule {
    type Err = AlertError;

    fn from_str(text: &str) -> Result<Self, AlertError> {
        Self::parse(text)
    }
}

impl AlertRule {
    /// True if a value is on the side of the threshold on which the rule fires.
    pub fn is_broken_by(&self, value: f64) -> bool {
        self.comparison.holds(value, self.threshold.as_f64())
    }

    /// True if it is about runs of this unit.
    pub(super) fn is_about(&self, unit: Unit) -> bool {
        match self.measure {
            AlertMeasure::Elapsed => !unit.is_of_reports(),
            _ => unit == self.unit,
        }
    }

    /// The unit of its values among runs of this one. Times are those of reports, which state milliseconds.
    pub(crate) const fn value_unit(&self, unit: Unit) -> Unit {
        if self.measure.is_time() { Unit::HangTime } else { unit }
    }

    /// The name of the same.
    pub(crate) const fn value_name(&self, unit: Unit) -> &'static str {
        if self.measure.is_time() { "ms" } else { unit.rate_name() }
    }

    /// The number of runs that the statistic needs, if an end of its interval may miss with the probability `tail`.
    pub(super) fn needed(&self, tail: f64) -> u64 {
        match (self.statistic.quantile(), self.bound) {
            (Some(quantile), AlertBound::Estimate) => quantile.needed_count(),
            (Some(quantile), _) => quantile.needed_with_tail(tail),
            (None, _) => 1,
        }
    }

    /// True if it stays fired, whatever more runs show: the largest is above, or the smallest below the threshold.
    pub(super) fn is_settled(&self) -> bool {
        match self.statistic {
            AlertStatistic::Max => self.comparison.is_upper(),
            AlertStatistic::Min => !self.comparison.is_upper(),
            _ => false,
        }
    }

    /// Reads a rule, as the module shows them.
    ///
    /// # Errors
    /// If the text is not a rule; the error names the part that is not understood and the parts that could be there, or says that the rule
    /// is one for comparisons.
    pub fn parse(text: &str) -> Result<Self, AlertError> {
        let text = text.trim();
        if text == alert_grammar::SYSTEM_CPU_LIMIT {
            return Ok(Self::system_cpu_limit());
        }
        let rule = alert_grammar::parse(text, &DIALECT)?;
        let subject = subject(rule.subject)?;
        let stated = rule.parts.first().and_then(|part| stated(part.word()));
        let (measure, parts) = measure(&subject, &rule.parts)?;
        let (statistic, bound) = statistic(parts)?;
        let (threshold, unit) = match stated {
            Some(unit) => (stated_threshold(&rule.limit, unit)?, unit),
            None => threshold(&rule.limit)?,
        };
        let (text, comparison) = (text.to_owned(), rule.comparison);
        Ok(Self { text, subject, measure, statistic, bound, comparison, threshold, unit })
    }

    fn system_cpu_limit() -> Self {
        Self {
            text: alert_grammar::SYSTEM_CPU_LIMIT.to_owned(),
            subject: AlertSubject::Each(FleetScope::Process),
            measure: AlertMeasure::Window { seconds: 60 },
            statistic: AlertStatistic::Max,
            bound: AlertBound::Estimate,
            comparison: Comparison::Above,
            threshold: Millionths::new(80_000_000),
            unit: Unit::Nanoseconds,
        }
    }
}

const DIALECT: Dialect = Dialect {
    examples: "cpu.p95 > 80, or function(\"-[X y]\").self.p99 > 5",
    subjects: "a measure (cpu, cpu-time, elapsed, window(60s)), nor what a rule is about: process, thread, binary or function, with a name",
    limits: "a number of percent, or one with cycles/s, events/s or samples/s; of cpu-time, elapsed, hang, launch and exception a time, and of writes bytes",
    input: "many runs",
    other: "traceparse diff",
};

/// Without a subject the rule is about runs.
fn subject(subject: Option<Subject>) -> Result<AlertSubject, AlertError> {
    let scope = |kind| match kind {
        Kind::Process => Some(FleetScope::Process),
        Kind::Thread => Some(FleetScope::Thread),
        Kind::Binary => Some(FleetScope::Binary),
        Kind::Function => Some(FleetScope::Function),
        Kind::Interval => None,
    };
    let scope = |kind| {
        scope(kind)
            .ok_or_else(|| DIALECT.error("interval", "known here; `traceparse fleet intervals` judges intervals"))
    };
    match subject {
        None => Ok(AlertSubject::Run),
        Some(Subject::Named(kind, name)) => Ok(AlertSubject::Named(scope(kind)?, name)),
        Some(Subject::Each(Kind::Thread)) => {
            Err(DIALECT.error("thread(*)", "known: process(*), binary(*) and function(*) are"))
        }
        Some(Subject::Each(kind)) => Ok(AlertSubject::Each(scope(kind)?)),
        Some(Subject::Total) => Err(DIALECT.elsewhere("total", GROWTH)),
    }
}

const GROWTH: &str = "growth between two recordings";

/// The unit of a measure of times, or of one that reports from the field state.
fn stated(word: &str) -> Option<Unit> {
    match word {
        "cpu-time" | "elapsed" => Some(Unit::Nanoseconds),
        "hang" => Some(Unit::HangTime),
        "launch" => Some(Unit::LaunchTime),
        "exception" => Some(Unit::ExceptionTime),
        "writes" => Some(Unit::WrittenBytes),
        "memory" => Some(Unit::PeakBytes),
        "exits" => Some(Unit::Exits),
        _ => None,
    }
}

/// Parses the measure, which is the first part, and the parts after it.
fn measure<'p, 't>(
    subject: &AlertSubject,
    parts: &'p [Part<'t>],
) -> Result<(AlertMeasure, &'p [Part<'t>]), AlertError> {
    let wanted = "a measure, which comes first: cpu, self, all, cpu-time, elapsed or window(60s); of reports hang, launch, exception or writes; \
                  of metrics memory or exits";
    let (first, rest) = parts.split_first().ok_or_else(|| DIALECT.error("", wanted))?;
    let measure = match *first {
        Part::Window(_) if subject.has_no_windows() => {
            return Err(DIALECT.error("window", "kept of binaries and functions"));
        }
        Part::Window(seconds) => AlertMeasure::Window { seconds },
        Part::Word("elapsed") if *subject == AlertSubject::Run => AlertMeasure::Elapsed,
        Part::Word("elapsed") => {
            return Err(DIALECT.error("elapsed", "known of parts of a run; it is the time of a recording"));
        }
        Part::Word("cpu-time") if !matches!(subject, AlertSubject::Each(_)) => AlertMeasure::CpuTime,
        Part::Word("cpu-time") => return Err(DIALECT.error("cpu-time", "known of each name; name one")),
        Part::Word(word) => {
            let measures = [Measure::Cpu, Measure::SelfWeight, Measure::AllWeight];
            let of_reports = stated(word).map(|_| Measure::Cpu);
            let found = of_reports.or_else(|| measures.into_iter().find(|measure| measure.name() == word));
            AlertMeasure::Whole(found.ok_or_else(|| DIALECT.error(word, wanted))?)
        }
    };
    match (rest, first.word()) {
        ([], word @ ("self" | "all")) if subject.has_no_windows() => Err(DIALECT.elsewhere(word, GROWTH)),
        ([], word) => Err(DIALECT.error(word, "complete; add a statistic such as .p99, .mean or .max")),
        _ => Ok((measure, rest)),
    }
}

/// `p95`, `mean`, `p95.lower`.
fn statistic(parts: &[Part<'_>]) -> Result<(AlertStatistic, AlertBound), AlertError> {
    let words: Vec<&str> = parts.iter().map(|part| part.word()).collect();
    let (name, end) = words.split_first().map_or(("", &words[..]), |(name, end)| (*name, end));
    let statistic = AlertStatistic::parse(name).ok_or_else(|| DIALECT.error(name, AlertStatistic::WANTED))?;
    let bound = match end {
        [] => AlertBound::Estimate,
        &["lower"] => AlertBound::Lower,
        &["upper"] => AlertBound::Upper,
        &[word, ..] => return Err(DIALECT.error(word, "an end of an interval, .lower or .upper, and the last word")),
    };
    if bound != AlertBound::Estimate && !matches!(statistic, AlertStatistic::Quantile(_)) {
        return Err(DIALECT.error(&words.join("."), "known: only percentiles have intervals"));
    }
    Ok((statistic, bound))
}

/// `80`, `80 %`, `2.5 Gcycles/s`.
fn threshold(limit: &Limit<'_>) -> Result<(Millionths, Unit), AlertError> {
    let unit = match limit.unit {
        LimitUnit::Plain | LimitUnit::Percent => Unit::Nanoseconds,
        LimitUnit::Rate(unit) => unit,
        LimitUnit::Weight(Unit::Nanoseconds) => {
            return Err(
                DIALECT.error(limit.text, "a limit of CPU use, which is in percent; cpu-time and elapsed have times")
            );
        }
        LimitUnit::Weight(_) => return Err(DIALECT.elsewhere(limit.text, GROWTH)),
    };
    let threshold = Millionths::from_f64(limit.number).ok_or_else(|| DIALECT.error(limit.text, DIALECT.limits))?;
    Ok((threshold, unit))
}

/// `2 s` of a hang, `500 MB` of writes, `3` exits: milliseconds, megabytes or numbers, as measures are.
fn stated_threshold(limit: &Limit<'_>, unit: Unit) -> Result<Millionths, AlertError> {
    let is_right = match limit.unit {
        LimitUnit::Weight(Unit::Nanoseconds) => unit.is_time(),
        LimitUnit::Weight(Unit::Bytes) => matches!(unit, Unit::WrittenBytes | Unit::PeakBytes),
        LimitUnit::Plain => unit == Unit::Exits,
        _ => false,
    };
    let divisor = if unit == Unit::Exits { 1.0 } else { 1e6 };
    let threshold = Millionths::from_f64(limit.number / divisor).filter(|_| is_right);
    threshold.ok_or_else(|| DIALECT.error(limit.text, DIALECT.limits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Quantile;

    fn parse(text: &str) -> AlertRule {
        AlertRule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn rules_of_the_documentation_are_read() {
        let rule = parse("cpu.p95 > 80");
        assert_eq!(
            (&rule.subject, rule.measure, rule.statistic, rule.comparison, rule.threshold),
            (
                &AlertSubject::Run,
                AlertMeasure::Whole(Measure::Cpu),
                AlertStatistic::Quantile(Quantile::P95),
                Comparison::Above,
                Millionths::new(80_000_000)
            )
        );
        let rule = parse(r#"function("-[X y]").self.p99 > 5"#);
        assert_eq!(rule.subject, AlertSubject::Named(FleetScope::Function, "-[X y]".to_owned()));
        assert_eq!(rule.measure, AlertMeasure::Whole(Measure::SelfWeight));
        let rule = parse(r#" thread( "a \"b\" \\ c" ).cpu.median<=0.5% "#);
        assert_eq!(rule.subject, AlertSubject::Named(FleetScope::Thread, r#"a "b" \ c"#.to_owned()));
        assert_eq!((rule.comparison, rule.threshold), (Comparison::AtMost, Millionths::new(500_000)));
        assert_eq!(rule.statistic, AlertStatistic::Quantile(Quantile::P50));
        assert_eq!(rule.text, r#"thread( "a \"b\" \\ c" ).cpu.median<=0.5%"#);
        let rule = parse("window(60s).max >= 80");
        assert_eq!((rule.measure, rule.statistic), (AlertMeasure::Window { seconds: 60 }, AlertStatistic::Max));
        assert_eq!(parse(r#"process("X").window(15).p99.9 > 60"#).statistic, AlertStatistic::Quantile(Quantile::P999));
        let rule = parse("cpu.p95.lower > 2.5 Gcycles/s");
        assert_eq!((rule.bound, rule.unit), (AlertBound::Lower, Unit::Cycles));
        assert_eq!(rule.threshold, Millionths::from_f64(2.5e9).unwrap());
        assert_eq!(parse("cpu.p95 > 3 events/s").unit, Unit::PmcEvents);
        let hang = parse("hang.p95 > 2 s");
        assert_eq!((hang.unit, hang.threshold), (Unit::HangTime, Millionths::new(2_000_000_000)));
        let writes = parse(r#"function("save").writes.max > 1.5 GB"#);
        assert_eq!((writes.unit, writes.threshold), (Unit::WrittenBytes, Millionths::new(1_500_000_000)));
        let elapsed = parse("elapsed.p95 > 2 s");
        assert_eq!((elapsed.measure, elapsed.threshold), (AlertMeasure::Elapsed, Millionths::new(2_000_000_000)));
        let time = parse(r#"process("X").cpu-time.max > 300 ms"#);
        assert_eq!(
            (time.measure, time.unit, time.threshold),
            (AlertMeasure::CpuTime, Unit::Nanoseconds, Millionths::new(300_000_000))
        );
        for wrong in [
            "elapsed.p95 > 2",
            "cpu-time.p95 > 2 Gcycles",
            r#"process("X").elapsed.p95 > 2 s"#,
            "function(*).cpu-time.p95 > 2 s",
        ] {
            AlertRule::parse(wrong).unwrap_err();
        }
        let memory = parse("memory.max > 1.5 GB");
        assert_eq!((memory.unit, memory.threshold), (Unit::PeakBytes, Millionths::new(1_500_000_000)));
        let exits = parse("exits.max >= 3");
        assert_eq!((exits.unit, exits.threshold), (Unit::Exits, Millionths::new(3_000_000)));
        for wrong in [
            "exits.max > 2 s",
            "memory.max > 3",
            "hang.p95 > 2",
            "hang.p95 > 2 MB",
            "writes.p95 > 2 s",
            "cpu.p95 > 2 s",
        ] {
            AlertRule::parse(wrong).unwrap_err();
        }
        assert_eq!(parse("cpu.p99.9.upper < 3").statistic, AlertStatistic::Quantile(Quantile::P999));
        assert_eq!(parse("function( * ).self.p99 > 5").subject, AlertSubject::Each(FleetScope::Function));
        assert_eq!(parse("binary(*).all.max > 5").subject, AlertSubject::Each(FleetScope::Binary));
        let preset = parse(alert_grammar::SYSTEM_CPU_LIMIT);
        assert_eq!(
            (preset.subject, preset.threshold),
            (AlertSubject::Each(FleetScope::Process), Millionths::new(80_000_000))
        );
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
            ("cpu.p95 > eighty", "a number"),
            ("cpu.p95 > -1", "a number"),
            ("cpu.p95 > NaN", "a number"),
            ("gpu.p95 > 80", "a measure"),
            ("function(x y).self.p99 > 5", "double quotes"),
            ("function(\"x\".self.p99 > 5", "double quotes"),
            ("function(\"x\")self.p99 > 5", "a dot"),
            ("function(\"x\").window(60s).max > 5", "window"),
            ("procces(\"X\").cpu.max > 5", "process, thread"),
            ("function(\"X\").p90 > 3", "a measure"),
            ("cpu.mean.lower > 3", "only percentiles"),
            ("cpu.p95 > 3 Gbananas/s", "a number"),
            ("cpu.p95 > 3k", "a number"),
            ("window(0s).max > 5", "seconds"),
            ("window(60s)max > 5", "a dot"),
            ("cpu.pp95 > 80", "a statistic"),
            ("cpu.p95.middle > 80", "an end of an interval"),
            ("function(\"\").self.p99 > 5", "double quotes"),
            ("process(\"\").cpu.p99 > 5", "double quotes"),
            ("thread(*).cpu.p99 > 5", "process(*)"),
            ("function(*).window(60s).max > 5", "window"),
            ("cpu.p99 > 3ms", "cpu-time and elapsed have times"),
        ] {
            let error = AlertRule::parse(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn rules_of_comparisons_are_refused_with_the_command_that_knows_them() {
        for text in ["total > 5%", "total.self > 5ms", "function(*).self > 2%", "binary(\"X\").all > 2"] {
            let error = AlertRule::parse(text).expect_err(text).to_string();
            assert!(error.contains(" does not apply to many runs; `traceparse diff` has growth"), "{text}: {error}");
        }
    }

    #[test]
    fn comparisons_are_what_they_say() {
        assert!(Comparison::Above.holds(2.0, 1.0) && !Comparison::Above.holds(1.0, 1.0));
        assert!(Comparison::AtLeast.holds(1.0, 1.0) && !Comparison::AtLeast.holds(0.9, 1.0));
        assert!(Comparison::Below.holds(0.5, 1.0) && !Comparison::Below.holds(1.0, 1.0));
        assert!(Comparison::AtMost.holds(1.0, 1.0) && !Comparison::AtMost.holds(1.1, 1.0));
    }
}

//! Alert rules: what a CI job fails on.
//!
//! ```text
//! cpu.p95 > 80                              P95 across runs of the CPU use of a run
//! cpu.mean > 20    cpu.max >= 300           the mean, the largest run
//! process("Finder").cpu.p99 > 5             of one process
//! thread("Main Thread").cpu.p50 > 30        of threads of that name, in any process
//! binary("UIKitCore").all.p90 > 10          samples with the binary anywhere in their stack
//! function("-[X y]").self.p99 > 5           samples whose leaf is the function
//! process(*).cpu.p99 > 50                   the busiest process of each run
//! window(60s).max > 80                      each run's busiest 60 s; process("X").window(60s).max too
//! system-cpu-limit                          what iOS ends apps for: a process above 80 % over 60 s
//! cpu.p95.lower > 80                        the lower end of the interval of P95: above 80 for all that chance can do
//! cpu.p95 > 2.5 Gcycles/s                   of runs that were recorded in cycles
//! ```
//!
//! Names are whole names. A function or binary that a run does not have is zero there; one that no run has is a mistake in
//! the rule, most often, and the rule is undecided. A threshold without a unit is in percent of one core, and asks nothing of runs
//! that were recorded in other units.

use std::fmt;

use super::options::{FleetScope, Measure};
use crate::quoted::parse_quoted;
use crate::stats::Quantile;
use crate::units::{Millionths, Unit};

/// What a rule looks at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AlertSubject {
    /// The whole run.
    Run,
    /// Everything of one name. Binaries of a function and processes of a thread are added up.
    Named(FleetScope, String),
    /// Every process, each on its own; the largest of a run counts.
    EveryProcess,
}

/// Which number of a run a rule takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlertMeasure {
    /// The whole recording.
    Whole(Measure),
    /// The busiest so many seconds in a row.
    Window {
        /// How many.
        seconds: u32,
    },
}

/// Which number of the distribution across runs a rule takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlertStatistic {
    /// A percentile.
    Quantile(Quantile),
    /// The mean.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

/// Which of the numbers that are known of a percentile a rule takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AlertBound {
    /// The percentile of the runs.
    #[default]
    Estimate,
    /// The lower end of its interval: what the percentile of the population is at least, for all that chance can do.
    Lower,
    /// The upper end of its interval.
    Upper,
}

/// How the number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

/// A rule: it fires where the comparison holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlertRule {
    /// As it was typed.
    pub text: String,
    /// What it looks at.
    pub subject: AlertSubject,
    /// Which number of a run.
    pub measure: AlertMeasure,
    /// Which number across runs.
    pub statistic: AlertStatistic,
    /// Which end of its interval, if not itself; [`AlertBound::Estimate`] for what is no percentile.
    pub bound: AlertBound,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what: percent of one core, or units per second.
    pub threshold: Millionths,
    /// The unit of the runs that it is asked of; nanoseconds where the threshold is in percent.
    pub unit: Unit,
}

/// The preset for the limit that iOS sets on apps: 80 % CPU over 60 seconds, for each process.
pub const SYSTEM_CPU_LIMIT: &str = "system-cpu-limit";

impl Comparison {
    const ALL: [(&'static str, Self); 4] =
        [(">=", Self::AtLeast), ("<=", Self::AtMost), (">", Self::Above), ("<", Self::Below)];

    /// Whether `value` is beyond `threshold`.
    pub fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Self::Above => value > threshold,
            Self::AtLeast => value >= threshold,
            Self::Below => value < threshold,
            Self::AtMost => value <= threshold,
        }
    }

    /// Whether large values are the bad ones.
    pub const fn is_upper(self) -> bool {
        matches!(self, Self::Above | Self::AtLeast)
    }
}

impl AlertStatistic {
    /// The name: `p99`, `mean`, `min`, `max`.
    pub fn name(self) -> String {
        match self {
            Self::Quantile(quantile) => quantile.name(),
            Self::Mean => "mean".to_owned(),
            Self::Min => "min".to_owned(),
            Self::Max => "max".to_owned(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "mean" => Some(Self::Mean),
            "min" => Some(Self::Min),
            "max" => Some(Self::Max),
            "median" => Some(Self::Quantile(Quantile::P50)),
            _ => Quantile::from_percent(text.strip_prefix('p')?).map(Self::Quantile),
        }
    }
}

/// Why a text is no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertError(String);

impl fmt::Display for AlertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AlertError {}

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
    /// Reads a rule, as the module shows them.
    ///
    /// # Errors
    /// Where the text is no rule; the error says which part is not understood, and what could stand there.
    pub fn parse(text: &str) -> Result<Self, AlertError> {
        let text = text.trim();
        if text == SYSTEM_CPU_LIMIT {
            return Ok(Self::system_cpu_limit());
        }
        let (subject, rest) = parse_subject(text)?;
        let (measure, rest) = parse_measure(&subject, rest)?;
        let (statistic, comparison, number) = split_comparison(rest)?;
        let (statistic, bound) = parse_statistic(statistic)?;
        let (threshold, unit) = parse_threshold(number.trim())?;
        Ok(Self { text: text.to_owned(), subject, measure, statistic, bound, comparison, threshold, unit })
    }

    fn system_cpu_limit() -> Self {
        Self {
            text: SYSTEM_CPU_LIMIT.to_owned(),
            subject: AlertSubject::EveryProcess,
            measure: AlertMeasure::Window { seconds: 60 },
            statistic: AlertStatistic::Max,
            bound: AlertBound::Estimate,
            comparison: Comparison::Above,
            threshold: Millionths::new(80_000_000),
            unit: Unit::Nanoseconds,
        }
    }
}

fn error(found: &str, wanted: &str) -> AlertError {
    AlertError(format!("{found:?} is not {wanted}; a rule is like: cpu.p95 > 80, or function(\"-[X y]\").self.p99 > 5"))
}

/// `p95`, `mean`, `p95.lower`.
fn parse_statistic(text: &str) -> Result<(AlertStatistic, AlertBound), AlertError> {
    let ends = [(".lower", AlertBound::Lower), (".upper", AlertBound::Upper)];
    let end = ends.into_iter().find_map(|(end, bound)| Some((text.strip_suffix(end)?, bound)));
    let (name, bound) = end.unwrap_or((text, AlertBound::Estimate));
    let statistic =
        AlertStatistic::parse(name).ok_or_else(|| error(name, "a statistic: p50, p99.9, median, mean, min or max"))?;
    if bound != AlertBound::Estimate && !matches!(statistic, AlertStatistic::Quantile(_)) {
        return Err(error(text, "known: only percentiles have intervals"));
    }
    Ok((statistic, bound))
}

/// `80`, `80 %`, `2.5 Gcycles/s`.
fn parse_threshold(text: &str) -> Result<(Millionths, Unit), AlertError> {
    let units = [
        ("cycles/s", Unit::Cycles),
        ("events/s", Unit::PmcEvents),
        ("samples/s", Unit::Samples),
        ("%", Unit::Nanoseconds),
    ];
    let found = units.into_iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?.trim_end(), unit)));
    let (number, unit) = found.unwrap_or((text, Unit::Nanoseconds));
    let prefixes = [("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9)];
    let scaled = prefixes.into_iter().filter(|_| unit != Unit::Nanoseconds);
    let (number, scale) =
        scaled.into_iter().find_map(|(name, scale)| Some((number.strip_suffix(name)?, scale))).unwrap_or((number, 1.0));
    let threshold = number.trim_end().parse().ok().and_then(|number: f64| Millionths::from_f64(number * scale));
    let threshold =
        threshold.ok_or_else(|| error(text, "a number of percent, or one with cycles/s, events/s or samples/s"))?;
    Ok((threshold, unit))
}

/// `process("Finder").` and what follows; without a subject the rule is about runs.
fn parse_subject(text: &str) -> Result<(AlertSubject, &str), AlertError> {
    let scopes = [FleetScope::Process, FleetScope::Thread, FleetScope::Binary, FleetScope::Function];
    let Some((scope, rest)) = scopes.into_iter().find_map(|scope| {
        let rest = text.strip_prefix(scope.name())?.trim_start();
        rest.strip_prefix('(').map(|rest| (scope, rest.trim_start()))
    }) else {
        let word = text.split(['(', '.', ' ']).next().unwrap_or("");
        let is_unknown = text[word.len()..].starts_with('(') && word != "window";
        return if is_unknown {
            Err(error(word, "what a rule is about: process, thread, binary or function, with a name, or window(60s)"))
        } else {
            Ok((AlertSubject::Run, text))
        };
    };
    if let Some(rest) = rest.strip_prefix("*)").filter(|_| scope == FleetScope::Process) {
        let rest = rest.strip_prefix('.').ok_or_else(|| error(rest, "a dot and a measure: cpu or window(60s)"))?;
        return Ok((AlertSubject::EveryProcess, rest));
    }
    let wanted = "a name in double quotes and parentheses";
    let (name, rest) = parse_quoted(rest).ok_or_else(|| error(rest, wanted))?;
    let rest = rest.trim_start().strip_prefix(')').ok_or_else(|| error(rest, wanted))?;
    let rest =
        rest.strip_prefix('.').ok_or_else(|| error(rest, "a dot and a measure: cpu, self, all or window(60s)"))?;
    Ok((AlertSubject::Named(scope, name), rest))
}

fn parse_measure<'t>(subject: &AlertSubject, text: &'t str) -> Result<(AlertMeasure, &'t str), AlertError> {
    if let Some(rest) = text.strip_prefix("window(") {
        let wanted = "a number of seconds, such as window(60s)";
        let (seconds, rest) = rest.split_once(')').ok_or_else(|| error(rest, wanted))?;
        let number = seconds.trim().trim_end_matches('s').parse().ok();
        let seconds = number.filter(|&number: &u32| number > 0).ok_or_else(|| error(seconds, wanted))?;
        if matches!(subject, AlertSubject::Named(FleetScope::Binary | FleetScope::Function, _)) {
            return Err(error("window", "kept of binaries and functions"));
        }
        let rest = rest.strip_prefix('.').ok_or_else(|| error(rest, "a dot and a statistic"))?;
        return Ok((AlertMeasure::Window { seconds }, rest));
    }
    let measures = [Measure::Cpu, Measure::SelfWeight, Measure::AllWeight];
    let (name, rest) = text.split_once('.').unwrap_or((text, ""));
    let name = name.split(['<', '>', ' ']).next().unwrap_or(name);
    let found = measures.into_iter().find(|measure| measure.name() == name);
    let measure = found.ok_or_else(|| error(name, "a measure, which comes first: cpu, self, all or window(60s)"))?;
    Ok((AlertMeasure::Whole(measure), rest))
}

fn split_comparison(text: &str) -> Result<(&str, Comparison, &str), AlertError> {
    let at = text.find(['<', '>']).ok_or_else(|| error(text, "a comparison with >, >=, < or <="))?;
    let (statistic, rest) = text.split_at(at);
    let found = Comparison::ALL.iter().find_map(|&(sign, comparison)| Some((comparison, rest.strip_prefix(sign)?)));
    let (comparison, number) = found.ok_or_else(|| error(rest, "a comparison with >, >=, < or <="))?;
    Ok((statistic.trim(), comparison, number))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(parse("cpu.p99.9.upper < 3").statistic, AlertStatistic::Quantile(Quantile::P999));
        let preset = parse(SYSTEM_CPU_LIMIT);
        assert_eq!((preset.subject, preset.threshold), (AlertSubject::EveryProcess, Millionths::new(80_000_000)));
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
            ("function(x).self.p99 > 5", "double quotes"),
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
        ] {
            let error = AlertRule::parse(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
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

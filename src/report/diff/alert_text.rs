//! Parses rules about changes.

use std::fmt;

use super::alert::{DiffAlert, DiffLimit, DiffMeasure, DiffSubject};
use crate::alert_grammar::{
    AlertError, Comparison, Dialect, Kind, Limit, LimitUnit, Part, Rule, SYSTEM_CPU_LIMIT, Subject, parse,
};

const DIALECT: Dialect = Dialect {
    examples: "total > 5%, or function(\"-[X y]\").self > 20ms",
    subjects: "what a rule is about: total, function or binary",
    limits: "a percentage of the first recording, or a weight: 5%, 200ms, 3Mcycles, 2Kevents, 100samples",
    input: "two recordings",
    other: "traceparse fleet report",
};

impl fmt::Display for DiffAlert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for DiffAlert {
    type Err = AlertError;

    fn from_str(text: &str) -> Result<Self, AlertError> {
        Self::parse(text)
    }
}

impl DiffAlert {
    /// Parses a rule of the form shown in the module.
    ///
    /// # Errors
    /// If it is not a rule. The error names the invalid part and what is valid there, or reports that the rule is for fleets.
    pub fn parse(text: &str) -> Result<Self, AlertError> {
        let text = text.trim();
        if text == SYSTEM_CPU_LIMIT {
            return Err(DIALECT.elsewhere(text, "limits of systems"));
        }
        let rule = parse(text, &DIALECT)?;
        let subject = subject(&rule)?;
        let measure = measure(&subject, &rule.parts)?;
        if rule.comparison != Comparison::Above {
            return Err(DIALECT.error(text, "a rule about growth, which is compared with >"));
        }
        Ok(Self { text: text.to_owned(), subject, measure, limit: limit(&rule.limit)? })
    }
}

fn subject(rule: &Rule<'_>) -> Result<DiffSubject, AlertError> {
    match &rule.subject {
        Some(Subject::Total) => Ok(DiffSubject::Total),
        Some(Subject::Named(Kind::Function, name)) => Ok(DiffSubject::Functions(Some(name.clone()))),
        Some(Subject::Each(Kind::Function)) => Ok(DiffSubject::Functions(None)),
        Some(Subject::Named(Kind::Binary, name)) => Ok(DiffSubject::Binaries(Some(name.clone()))),
        Some(Subject::Each(Kind::Binary)) => Ok(DiffSubject::Binaries(None)),
        Some(Subject::Named(Kind::Process, _) | Subject::Each(Kind::Process)) => {
            Err(DIALECT.elsewhere("process", "processes"))
        }
        Some(Subject::Named(Kind::Thread, _) | Subject::Each(Kind::Thread)) => {
            Err(DIALECT.elsewhere("thread", "threads"))
        }
        None => Err(match rule.parts.first().map_or("", |part| part.word()) {
            word @ ("cpu" | "self" | "all" | "window") => DIALECT.elsewhere(word, "measures of whole runs"),
            word => DIALECT.error(word, DIALECT.subjects),
        }),
    }
}

fn measure(subject: &DiffSubject, parts: &[Part<'_>]) -> Result<DiffMeasure, AlertError> {
    let (measure, more) = match (subject, parts) {
        (DiffSubject::Total, []) => return Ok(DiffMeasure::AllWeight),
        (_, [Part::Word("self"), more @ ..]) => (DiffMeasure::SelfWeight, more),
        (_, [Part::Word("all"), more @ ..]) => (DiffMeasure::AllWeight, more),
        (_, more) => {
            let word = more.first().map_or("", |part| part.word());
            let is_of_fleets = matches!(word, "cpu" | "window") || is_statistic(word);
            return Err(if is_of_fleets {
                of_runs(word)
            } else {
                DIALECT.error(word, "a dot and a weight: .self or .all")
            });
        }
    };
    match more.first().map(|part| part.word()) {
        None => Ok(measure),
        Some(word) if is_statistic(word) => Err(of_runs(word)),
        Some(word) => Err(DIALECT.error(word, "a comparison with >")),
    }
}

fn of_runs(word: &str) -> AlertError {
    let what = if is_statistic(word) { "statistics over many runs" } else { "measures of runs" };
    DIALECT.elsewhere(word, what)
}

/// True of the statistics of fleets: `p99.9`, `mean`.
fn is_statistic(word: &str) -> bool {
    let is_percentile = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    matches!(word, "median" | "mean" | "min" | "max") || word.strip_prefix('p').is_some_and(is_percentile)
}

fn limit(limit: &Limit<'_>) -> Result<DiffLimit, AlertError> {
    match limit.unit {
        LimitUnit::Percent => Ok(DiffLimit::Percent(limit.number)),
        LimitUnit::Weight(unit) => Ok(DiffLimit::Weight(limit.number, unit)),
        LimitUnit::Plain => Err(DIALECT.error(limit.text, DIALECT.limits)),
        LimitUnit::Rate(_) => Err(DIALECT.elsewhere(limit.text, "rates of runs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Unit;

    #[test]
    fn rules_of_the_documentation_are_read() {
        let parse = |text: &str| DiffAlert::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let parts = |text: &str| {
            let alert = parse(text);
            (alert.subject, alert.measure, alert.limit)
        };
        let (own, all) = (DiffMeasure::SelfWeight, DiffMeasure::AllWeight);
        let function = |name: &str| DiffSubject::Functions(Some(name.to_owned()));
        let time = |nanos| DiffLimit::Weight(nanos, Unit::Nanoseconds);
        assert_eq!(parts("total > 5%"), (DiffSubject::Total, all, DiffLimit::Percent(5.0)));
        assert_eq!(parts(" total.all>0.5 % "), (DiffSubject::Total, all, DiffLimit::Percent(0.5)));
        assert_eq!(parts("total > 200ms"), (DiffSubject::Total, all, time(2e8)));
        assert_eq!(parts(r#"function("-[X y]").self > 1.5s"#), (function("-[X y]"), own, time(1.5e9)));
        assert_eq!(parts("total > 5μs").2, parts("total > 5µs").2);
        assert_eq!(parts(r#"function( "a > \"b\"" ).all>7 µs"#), (function("a > \"b\""), all, time(7_000.0)));
        let cycles = DiffLimit::Weight(3e6, Unit::Cycles);
        assert_eq!(parts("function(*).self > 3Mcycles"), (DiffSubject::Functions(None), own, cycles));
        let (binary, events) =
            (DiffSubject::Binaries(Some("UIKitCore".to_owned())), DiffLimit::Weight(2e3, Unit::PmcEvents));
        assert_eq!(parts(r#"binary("UIKitCore").all > 2 kevents"#), (binary, all, events));
        let samples = DiffLimit::Weight(100.0, Unit::Samples);
        assert_eq!(parts("binary(*).all > 100samples"), (DiffSubject::Binaries(None), all, samples));
        assert_eq!(parse(" total > 5% ").to_string(), "total > 5%");
    }

    #[test]
    fn rejects_invalid_rules_with_a_reason() {
        for (text, part) in [
            ("", "what a rule is about"),
            ("gpu > 5%", "what a rule is about"),
            ("totals > 5%", "what a rule is about"),
            ("total", "a comparison"),
            ("total < 5%", "growth"),
            ("total >= 5%", "growth"),
            ("total.q95 > 5%", ".self or .all"),
            ("total.all.lower > 5%", "a comparison"),
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
            ("function(x).self > 5%", "double quotes"),
            (r#"function("x".self > 5%"#, "double quotes"),
            (r#"function("x) > 5%"#, "double quotes"),
            (r#"function("x") > 5%"#, ".self or .all"),
        ] {
            let error = DiffAlert::parse(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn rejects_rules_of_fleets_with_the_right_command() {
        for text in [
            "cpu.p95 > 80",
            "window(60s).max > 80",
            SYSTEM_CPU_LIMIT,
            r#"process("X").cpu.p99 > 5"#,
            "process(*).cpu.p99 > 5",
            r#"thread("X").cpu.p99 > 5"#,
            r#"function("X").self.p99 > 5"#,
            "function(*).cpu.max > 5",
            r#"binary("X").all.mean > 5"#,
            "total.p95 > 5%",
            "total > 3 Mcycles/s",
        ] {
            let error = DiffAlert::parse(text).expect_err(text).to_string();
            assert!(error.contains("`traceparse fleet report` has "), "{text}: {error}");
            assert!(error.contains(" does not apply to two recordings"), "{text}: {error}");
        }
    }
}

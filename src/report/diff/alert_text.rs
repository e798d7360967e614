//! Rules about changes as they are typed.

use std::fmt;

use super::alert::{DiffAlert, DiffLimit, DiffMeasure, DiffSubject};
use crate::quoted::parse_quoted;
use crate::units::Unit;

/// Why a text is no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffAlertError(String);

impl fmt::Display for DiffAlertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DiffAlertError {}

impl fmt::Display for DiffAlert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for DiffAlert {
    type Err = DiffAlertError;

    fn from_str(text: &str) -> Result<Self, DiffAlertError> {
        Self::parse(text)
    }
}

impl DiffAlert {
    /// Reads a rule, as the module shows them.
    ///
    /// # Errors
    /// Where the text is no rule; the error says which part is not understood, and what could stand there.
    pub fn parse(text: &str) -> Result<Self, DiffAlertError> {
        let text = text.trim();
        let (subject, rest) = parse_subject(text)?;
        let (measure, limit) = rest.split_once('>').ok_or_else(|| error(rest, "a comparison with >"))?;
        let measure = match (&subject, measure.trim()) {
            (DiffSubject::Total, "") | (_, ".all") => DiffMeasure::AllWeight,
            (_, ".self") => DiffMeasure::SelfWeight,
            (_, other) => return Err(error(other, "a dot and a weight: .self or .all")),
        };
        Ok(Self { text: text.to_owned(), subject, measure, limit: parse_limit(limit.trim())? })
    }
}

fn error(found: &str, wanted: &str) -> DiffAlertError {
    DiffAlertError(format!(
        "{found:?} is not {wanted}; a rule is like: total > 5%, or function(\"-[X y]\").self > 20ms"
    ))
}

/// `total`, `function("-[X y]")`, `binary(*)`, and what follows.
fn parse_subject(text: &str) -> Result<(DiffSubject, &str), DiffAlertError> {
    if let Some(rest) = text.strip_prefix("total") {
        return Ok((DiffSubject::Total, rest));
    }
    let kind = |word: &str| text.strip_prefix(word).map(str::trim_start);
    let (is_function, rest) = match (kind("function"), kind("binary")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => {
            let word = text.split(['(', '.', ' ', '>']).next().unwrap_or("");
            return Err(error(word, "what a rule is about: total, function or binary"));
        }
    };
    let wanted = "a name in double quotes and parentheses, with \\\" and \\\\ for \" and \\, or (*)";
    let inner = rest.strip_prefix('(').ok_or_else(|| error(rest, wanted))?.trim_start();
    let (name, rest) = match inner.strip_prefix('*') {
        Some(rest) => (None, rest),
        None => parse_quoted(inner).map(|(name, rest)| (Some(name), rest)).ok_or_else(|| error(inner, wanted))?,
    };
    if name.as_deref() == Some("") {
        return Err(error(inner, wanted));
    }
    let rest = rest.trim_start().strip_prefix(')').ok_or_else(|| error(rest, wanted))?;
    Ok((if is_function { DiffSubject::Functions(name) } else { DiffSubject::Binaries(name) }, rest))
}

/// `5%`, `200ms`, `2.5 Mcycles`, `100 samples`.
fn parse_limit(text: &str) -> Result<DiffLimit, DiffAlertError> {
    let wanted = "a percentage of the first recording, or a weight: 5%, 200ms, 3Mcycles, 2Kevents, 100samples";
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: Option<f64> = text[..at].parse().ok().filter(|number: &f64| number.is_finite());
    let number = number.ok_or_else(|| error(text, wanted))?;
    let unit = text[at..].trim_start();
    if unit == "%" {
        return Ok(DiffLimit::Percent(number));
    }
    let times = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("μs", 1e3), ("ms", 1e6), ("s", 1e9)];
    if let Some((_, scale)) = times.into_iter().find(|(name, _)| *name == unit) {
        return Ok(DiffLimit::Weight(number * scale, Unit::Nanoseconds));
    }
    let units = [("cycles", Unit::Cycles), ("events", Unit::PmcEvents), ("samples", Unit::Samples)];
    let scales = [("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
    let found = units.into_iter().find_map(|(name, unit_of)| {
        let prefix = unit.strip_suffix(name)?;
        let (_, scale) = scales.into_iter().find(|(name, _)| *name == prefix)?;
        Some(DiffLimit::Weight(number * scale, unit_of))
    });
    found.ok_or_else(|| error(text, wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_is_no_rule_is_refused_with_a_reason() {
        for (text, part) in [
            ("", "what a rule is about"),
            ("cpu > 5%", "what a rule is about"),
            ("total", "a comparison"),
            ("total < 5%", "a comparison"),
            ("total >= 5%", "a percentage"),
            ("total.p95 > 5%", ".self or .all"),
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
}

//! Alert rules about the durations of intervals with a name.
//!
//! ```text
//! interval("Checkout").p95 > 300ms      a percentile of all intervals of that name, by the nearest rank
//! interval(Checkout).mean >= 0.2s       also median, min and max; a name of letters and digits needs no quotes
//! ```

use std::fmt;

use crate::alert_grammar::{self, AlertError, Comparison, Dialect, Kind, LimitUnit, Subject};
use crate::stats::AlertStatistic;
use crate::units::{Nanos, Unit};

/// A rule about the durations of intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalAlert {
    text: String,
    name: String,
    statistic: AlertStatistic,
    comparison: Comparison,
    /// In nanoseconds.
    limit: f64,
}

/// The outcome of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalOutcome {
    /// The rule.
    pub rule: IntervalAlert,
    /// The value that was compared, in nanoseconds; `None` without intervals.
    pub value: Option<f64>,
    /// The number of intervals.
    pub count: u64,
    /// True if the rule fired, false if not; `None` if there are too few intervals for the percentile
    /// ([`Quantile::needed_count`](crate::stats::Quantile::needed_count)), or if intervals that were still open may decide it.
    pub is_fired: Option<bool>,
}

const DIALECT: Dialect = Dialect {
    examples: "interval(\"Checkout\").p95 > 300ms",
    subjects: "a rule about intervals, interval(NAME)",
    limits: "a duration, such as 300ms",
    input: "intervals",
    other: "traceparse fleet report",
};

impl IntervalAlert {
    /// Reads a rule, as the module shows them.
    ///
    /// # Errors
    /// If the text is not such a rule. The error names the part that is not understood, and what may be there instead.
    pub fn parse(text: &str) -> Result<Self, AlertError> {
        let text = text.trim();
        let rule = alert_grammar::parse(text, &DIALECT)?;
        let Some(Subject::Named(Kind::Interval, name)) = rule.subject else {
            return Err(DIALECT.error(text, DIALECT.subjects));
        };
        let words: Vec<&str> = rule.parts.iter().map(|part| part.word()).collect();
        let words = words.join(".");
        let statistic = AlertStatistic::parse(&words).ok_or_else(|| DIALECT.error(&words, AlertStatistic::WANTED))?;
        match rule.limit.unit {
            LimitUnit::Weight(Unit::Nanoseconds) => {}
            _ => return Err(DIALECT.error(rule.limit.text, DIALECT.limits)),
        }
        Ok(Self { text: text.to_owned(), name, statistic, comparison: rule.comparison, limit: rule.limit.number })
    }

    /// The name of the intervals.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Judges durations, which are sorted. If intervals were still open when their recording ended, a statistic within the limit is
    /// undecided: they may be longer.
    pub(crate) fn judge(&self, durations: &[Nanos], open: usize) -> IntervalOutcome {
        let count = durations.len() as u64;
        let nanos = |duration: &Nanos| duration.as_nanos() as f64;
        let mean = || (count > 0).then(|| durations.iter().map(nanos).sum::<f64>() / count as f64);
        let value = match self.statistic {
            AlertStatistic::Quantile(quantile) => {
                let rank = quantile.nearest_rank(count).checked_sub(1);
                rank.and_then(|rank| durations.get(rank as usize)).map(nanos)
            }
            AlertStatistic::Mean => mean(),
            AlertStatistic::Min => durations.first().map(nanos),
            AlertStatistic::Max => durations.last().map(nanos),
        };
        let judged = value.filter(|_| self.statistic.quantile().is_none_or(|quantile| quantile.lacks(count).is_none()));
        let is_fired = judged.map(|value| self.comparison.holds(value, self.limit));
        let is_upper = matches!(self.comparison, Comparison::Above | Comparison::AtLeast);
        let is_fired = is_fired.filter(|&is_fired| open == 0 || is_fired == is_upper);
        IntervalOutcome { rule: self.clone(), value, count, is_fired }
    }
}

impl fmt::Display for IntervalAlert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for IntervalAlert {
    type Err = AlertError;

    fn from_str(text: &str) -> Result<Self, AlertError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_judged() {
        let durations: Vec<Nanos> = (1..=40).map(Nanos::from_millis).collect();
        let outcome = |text: &str| {
            let outcome =
                IntervalAlert::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).judge(&durations, 0);
            (outcome.value.map(|value| value / 1e6), outcome.is_fired)
        };
        assert_eq!(outcome(r#"interval("Check out").p95 > 37ms"#), (Some(38.0), Some(true)));
        assert_eq!(outcome("interval(Checkout).p95 > 38ms"), (Some(38.0), Some(false)));
        assert_eq!(outcome("interval(Checkout).p99 > 1ms"), (Some(40.0), None));
        assert_eq!(outcome("interval(x).mean>=0.0205s"), (Some(20.5), Some(true)));
        assert_eq!((outcome("interval(x).min < 2ms").0, outcome("interval(x).max < 2ms").0), (Some(1.0), Some(40.0)));
        let nothing = IntervalAlert::parse("interval(x).max > 1s").unwrap().judge(&[], 0);
        assert_eq!((nothing.value, nothing.is_fired), (None, None));
        let open = |text: &str| IntervalAlert::parse(text).unwrap().judge(&durations, 1).is_fired;
        let rules =
            ["interval(x).max > 1s", "interval(x).max > 39ms", "interval(x).max < 1s", "interval(x).mean < 1ms"];
        assert_eq!(rules.map(open), [None, Some(true), None, Some(false)]);
    }

    #[test]
    fn other_rules_are_refused() {
        for text in [
            "cpu.p95 > 80",
            "interval(*).max > 1s",
            "interval(a b).max > 1s",
            "interval(x).p95 > 80",
            "interval(x).p95 > 80 %",
            "interval(x) > 80ms",
            "interval(x).p95.lower > 80ms",
            "function(x).max > 1s",
        ] {
            assert!(IntervalAlert::parse(text).is_err(), "{text}");
        }
    }
}

//! The kinds of rules that each command evaluates, and their descriptions for errors.

use std::fmt;

/// Why a string is not an alert rule for a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertError(String);

impl fmt::Display for AlertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AlertError {}

/// The kind of rules that a command evaluates.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Topic {
    name: &'static str,
    command: &'static str,
    /// Example rules for the command.
    examples: &'static str,
    /// Describes how its rules begin.
    pub(super) beginning: &'static str,
    /// Describes the measures of its rules.
    pub(super) measures: &'static str,
    /// Describes the limits of its rules, unless the measure has a fixed unit.
    pub(super) limits: &'static str,
}

impl Topic {
    pub(super) const GROWTH: Self = Self {
        name: "growth between two recordings",
        command: "traceparse diff",
        examples: "total > 5%, or function(\"-[X y]\").self > 20ms",
        beginning: "one of total, function(\"NAME\") and binary(\"NAME\")",
        measures: "a dot and a weight: .self or .all",
        limits: "a percentage of the first recording, or a weight: 5%, 200ms, 3Mcycles, 2kevents, 100samples",
    };
    pub(super) const RUNS: Self = Self {
        name: "many runs",
        command: "traceparse fleet report",
        examples: "cpu.p95 > 80, or function(\"-[X y]\").self.p99 > 5",
        beginning: "a measure (cpu, cpu-time, elapsed, window(60s)), or one of process, thread, binary and function with a name",
        measures: "a measure, which comes first: cpu, self, all, cpu-time, elapsed or window(60s); for MetricKit diagnostics hang, launch, \
                   exception or writes; for metrics memory or exits",
        limits: "a percentage, such as 80, or a rate in cycles/s, events/s or samples/s; only cpu-time, elapsed, hang, launch and \
                 exception are times",
    };
    pub(super) const INTERVALS: Self = Self {
        name: "intervals",
        command: "traceparse intervals",
        examples: "interval(\"Checkout\").p95 > 300ms",
        beginning: "interval(\"NAME\")",
        measures: "",
        limits: "a duration, such as 300ms",
    };

    /// The error for a string that no rule of this topic can contain, or for the end of an incomplete rule.
    pub(super) fn error(&self, found: &str, wanted: &str) -> AlertError {
        let problem = match found {
            "" => format!("the rule is incomplete: it needs {wanted}"),
            found => format!("{found:?} is not {wanted}"),
        };
        AlertError(format!("{problem}; write a rule such as: {}", self.examples))
    }

    /// The error for a rule of another topic.
    pub(super) fn elsewhere(&self, rule: &str, other: &Self) -> AlertError {
        let wanted = format!("a rule about {}, but about {}, which `{}` judges", self.name, other.name, other.command);
        self.error(rule, &wanted)
    }
}

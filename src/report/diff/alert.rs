//! Rules about changes, on which a CI job fails.
//!
//! ```text
//! total > 5%                          the total grew by more than 5 % of the first recording
//! total > 200ms                       by more than 200 ms
//! function("-[X y]").self > 1%        the self weight of the function, by more than 1 % of the first recording
//! function("-[X y]").all > 3Mcycles   with what it calls
//! function(*).self > 2%               any function
//! binary("UIKitCore").all > 30ms      samples with the binary anywhere in their stack; binary(*) is any
//! ```
//!
//! Percentages are relative to the first recording's total weight. Functions with the same name in two binaries are two functions. A
//! rule **fires** if its subject grew by more than the limit, and by more than chance explains. A rule that does not fire is
//! **undecided** in these cases:
//!
//! - Its subject grew by more than the limit, but chance may explain the growth.
//! - Neither recording has a sample of its subject, which is most often a mistake in the rule.
//! - The unit of its limit differs from the unit of the recordings.
//! - The recordings cannot be scaled, because a length or weight is missing.
//!
//! # What chance explains
//!
//! Chance explains a change of up to z standard deviations of its [noise](Change::noise). For one function, z is
//! [`Change::BEYOND_NOISE`]: among 40 pairs of recordings of the same program, one has a larger growth. A rule that covers n functions has
//! n chances to find such a growth, so its z is computed for this probability divided by n (Bonferroni): 3.0 for 20 functions, 3.9 for
//! 500.

use std::cmp::Ordering;
use std::fmt;

use super::super::NO_STACK;
use super::{Change, Diff, DiffRow, Function, FunctionKey};
use crate::alert_grammar::{
    AlertError, Comparison, Dialect, Kind, Limit, LimitUnit, Part, Rule, SYSTEM_CPU_LIMIT, Subject, parse,
};
use crate::units::Unit;

/// The subject of a rule. Without a name, it is each function or binary separately.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum DiffSubject {
    /// The total weight.
    Total,
    /// Functions.
    Functions(Option<String>),
    /// Binaries.
    Binaries(Option<String>),
}

/// The weight of it that a rule takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum DiffMeasure {
    /// Of samples whose leaf is the subject.
    SelfWeight,
    /// Of samples whose stack contains the subject.
    AllWeight,
}

/// The growth that a rule allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DiffLimit {
    /// A percentage of the first recording's total weight.
    Percent(f64),
    /// A weight in a unit.
    Weight(f64, Unit),
}

/// A rule.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffAlert {
    /// The rule as typed.
    pub text: String,
    /// The subject of the limit.
    pub(super) subject: DiffSubject,
    /// The weight of it.
    pub(super) measure: DiffMeasure,
    /// The growth of that weight which it allows.
    pub(super) limit: DiffLimit,
}

/// The outcome of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DiffAlertState {
    /// Something grew by more than the limit, and by more than chance would explain.
    Fired,
    /// Chance may explain what grew by more than the limit.
    WithinNoise,
    /// Neither recording has a sample of what it names.
    Unknown,
    /// The unit of the limit differs from the unit of the recordings.
    OtherUnit,
    /// The recordings cannot be scaled, because a length or weight is missing.
    NotScaled,
    /// Nothing grew by more than the limit.
    Quiet,
}

impl DiffAlertState {
    /// True if the rule could not be decided.
    pub const fn is_undecided(self) -> bool {
        matches!(self, Self::WithinNoise | Self::Unknown | Self::OtherUnit | Self::NotScaled)
    }
}

/// A rule, and what became of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DiffAlertOutcome<'a> {
    /// The rule.
    pub alert: &'a DiffAlert,
    /// The outcome of the rule.
    pub state: DiffAlertState,
    /// The limit in the unit of the recordings; `None` if its unit differs.
    pub limit: Option<f64>,
    /// The reasons: the changes above the limit, largest first. If chance explains some of them, only the others are listed. If no change
    /// is above the limit, it is the largest change that the rule covers. The total has no function.
    pub causes: Vec<(Option<&'a Function>, Change)>,
}

impl DiffAlert {
    /// The outcome of the rule with these changes.
    pub fn judge<'a>(&'a self, diff: &'a Diff) -> DiffAlertOutcome<'a> {
        let limit = match self.limit {
            DiffLimit::Percent(percent) => Some(diff.total.before.sums.all_weight as f64 * percent / 100.0),
            DiffLimit::Weight(weight, unit) => (unit == diff.unit).then_some(weight),
        };
        let undecided = |state| DiffAlertOutcome { alert: self, state, limit, causes: Vec::new() };
        let Some(most) = limit else { return undecided(DiffAlertState::OtherUnit) };
        if !diff.is_scaled {
            return undecided(DiffAlertState::NotScaled);
        }
        let mut changes = self.changes(diff);
        changes.sort_by(|(_, a), (_, b)| b.weight.partial_cmp(&a.weight).unwrap_or(Ordering::Equal));
        // Weights that are scaled to be equal may differ by the rounding of the factor.
        let rounding = diff.total.before.sums.all_weight as f64 * 1e-12;
        let above = |change: &Change| change.weight > most + rounding;
        let deviations = deviations(changes.len());
        let is_real = |change: &Change| above(change) && change.weight > deviations * change.noise;
        let state = if changes.iter().any(|(_, change)| is_real(change)) {
            changes.retain(|(_, change)| is_real(change));
            DiffAlertState::Fired
        } else if changes.iter().any(|(_, change)| above(change)) {
            changes.retain(|(_, change)| above(change));
            DiffAlertState::WithinNoise
        } else {
            changes.truncate(1);
            if changes.is_empty() { DiffAlertState::Unknown } else { DiffAlertState::Quiet }
        };
        DiffAlertOutcome { alert: self, state, limit, causes: changes }
    }

    /// The changes that the rule looks at.
    fn changes<'d>(&self, diff: &'d Diff) -> Vec<(Option<&'d Function>, Change)> {
        let is_self = self.measure == DiffMeasure::SelfWeight;
        let of = |row: &'d DiffRow| (Some(&row.function), if is_self { row.self_change } else { row.all_change });
        // The name of a binary is its file name.
        let rows = |rows: &'d [DiffRow], wanted: &Option<String>, name: fn(&Function) -> Option<&str>| {
            let is_wanted = |row: &&DiffRow| wanted.as_deref().is_none_or(|wanted| name(&row.function) == Some(wanted));
            rows.iter().filter(is_wanted).map(of).collect()
        };
        match &self.subject {
            DiffSubject::Total if is_self => vec![(None, diff.self_change(&diff.total))],
            DiffSubject::Total => vec![(None, diff.all_change(&diff.total))],
            DiffSubject::Functions(name) => rows(&diff.functions, name, |function| match function.key {
                FunctionKey::NoStack => Some(NO_STACK),
                _ => Some(&function.name),
            }),
            DiffSubject::Binaries(name) => rows(&diff.binaries, name, |function| function.binary.as_deref()),
        }
    }
}

/// The number of standard deviations that something must grow by, of so many that are looked at, to be more than chance.
fn deviations(count: usize) -> f64 {
    if count <= 1 {
        return Change::BEYOND_NOISE;
    }
    // Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23: off by less than 0.00045.
    let t = (-2.0 * (0.025 / count as f64).ln()).sqrt();
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - numerator / denominator
}

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
        Some(Subject::Named(Kind::Interval, _) | Subject::Each(Kind::Interval)) => {
            Err(DIALECT.error("interval", "known here; `traceparse intervals` judges intervals"))
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
    use super::super::tree::WeighedTree;
    use super::super::{Side, Sides};
    use super::*;
    use crate::units::Unit;

    fn side(weight: u64, samples: u64) -> Side {
        let squares = u128::from(weight) * u128::from(weight) / u128::from(samples.max(1));
        let mut side = Side::default();
        side.add_self(weight, samples, squares);
        side.add_all(weight, samples, squares);
        side
    }

    /// In milliseconds, of which each is a sample.
    fn row(name: &str, before: u64, after: u64) -> DiffRow {
        let of = |count: u64| side(count * 1_000_000, count);
        let sides = Sides { before: of(before), after: of(after) };
        let function = Function { name: name.to_owned(), binary: Some("Orchard".to_owned()), key: FunctionKey::Named };
        let change = Change::new(sides.before.own(), sides.after.own(), 1.0);
        // What it calls took twice as long.
        let all_change = Change { weight: 2.0 * change.weight, noise: 2.0 * change.noise };
        DiffRow { number: 0, function, sides, self_change: change, all_change }
    }

    fn diff(rows: Vec<DiffRow>) -> Diff {
        let sum = |of: fn(&Sides) -> Side| {
            let weights = rows.iter().map(|row| of(&row.sides));
            weights.fold(Side::default(), |mut all, side| {
                all.add_self(side.sums.self_weight, side.sums.self_samples, side.self_squares);
                all.add_all(side.sums.all_weight, side.sums.all_samples, side.all_squares);
                all
            })
        };
        let total = Sides { before: sum(|sides| sides.before), after: sum(|sides| sides.after) };
        let binary = |row: &DiffRow| DiffRow {
            function: Function { name: String::new(), ..row.function.clone() },
            ..row.clone()
        };
        let binaries = rows.iter().take(1).map(binary).collect();
        let unit = Unit::Nanoseconds;
        Diff {
            unit,
            factor: 1.0,
            is_scaled: true,
            noise_factor: 1.0,
            total,
            functions: rows,
            own_functions: Vec::new(),
            binaries,
            nodes: Vec::new(),
            weighed: WeighedTree::empty(),
        }
    }

    /// The outcome of a rule, the limit in milliseconds, and the names of what it was.
    fn judged(diff: &Diff, rule: &str) -> (DiffAlertState, Option<f64>, Vec<String>) {
        let alert = DiffAlert::parse(rule).unwrap();
        let outcome = alert.judge(diff);
        let name =
            |(function, _): &(Option<&Function>, Change)| function.map_or("total".to_owned(), |it| it.name.clone());
        (outcome.state, outcome.limit.map(|limit| limit / 1e6), outcome.causes.iter().map(name).collect())
    }

    #[test]
    fn rules_fire_where_something_grew_and_chance_does_not_explain_it() {
        use DiffAlertState::{Fired, OtherUnit, Quiet, Unknown, WithinNoise};
        // Noise of the total: √(1000 + 1197) = 47 ms; 1.96 of those are 92 ms.
        let diff = diff(vec![row("press", 800, 900), row("sort", 100, 200), row("pack", 100, 92), row("new", 0, 5)]);
        assert_eq!(judged(&diff, "total > 19%"), (Fired, Some(190.0), vec!["total".to_owned()]));
        assert_eq!(judged(&diff, "total > 197ms").0, Quiet);
        assert_eq!(judged(&diff, "total > 196.9ms").0, Fired);
        // 100 ms more, of which 1.96 × √1700 = 81 ms may be chance, and of any of four functions 2.5 × √1700 = 103; another
        // 100 ms, with 34 and 43 ms.
        assert_eq!(judged(&diff, "function(\"press\").self > 1%").0, Fired);
        assert_eq!(judged(&diff, "function(*).self > 1%"), (Fired, Some(10.0), vec!["sort".to_owned()]));
        assert_eq!(judged(&diff, "function(*).self > 10%").0, Quiet);
        assert_eq!(judged(&diff, "function(*).all > 10%").0, Fired);
        assert_eq!(judged(&diff, "function(\"sort\").self > 99ms").0, Fired);
        assert_eq!(judged(&diff, "function(\"pack\").self > 0%"), (Quiet, Some(0.0), vec!["pack".to_owned()]));
        assert_eq!(judged(&diff, "binary(\"Orchard\").self > 5%").0, Fired);
        // New, and 5 samples more: 1.96 × √5 = 4.4.
        assert_eq!(judged(&diff, "function(\"new\").self > 4ms").0, Fired);
        assert_eq!(judged(&diff, "function(\"press \").self > 4ms"), (Unknown, Some(4.0), Vec::new()));
        assert_eq!(judged(&diff, "binary(\"press\").all > 4ms").0, Unknown);
        assert_eq!(judged(&diff, "total > 3Mcycles"), (OtherUnit, None, Vec::new()));
        let noisy = self::diff(vec![row("press", 800, 840), row("sort", 100, 103)]);
        assert_eq!(judged(&noisy, "total > 1%"), (WithinNoise, Some(9.0), vec!["total".to_owned()]));
        assert_eq!(judged(&noisy, "function(*).self > 1ms").2, ["press", "sort"]);
        assert!(judged(&noisy, "function(*).self > 1ms").0.is_undecided());
        assert!(Unknown.is_undecided() && OtherUnit.is_undecided() && !Fired.is_undecided() && !Quiet.is_undecided());
    }

    #[test]
    fn more_functions_have_more_chances() {
        // scipy.stats.norm.isf(0.025 / n)
        for (count, expected) in
            [(1, 1.959_964), (2, 2.241_403), (20, 3.023_341), (500, 3.890_592), (100_000, 5.026_312)]
        {
            assert!((deviations(count) - expected).abs() < 6e-4, "{count}: {}", deviations(count));
        }
        assert_eq!(deviations(0), Change::BEYOND_NOISE);
    }

    #[test]
    fn what_could_not_be_scaled_is_undecided() {
        let diff = Diff { is_scaled: false, ..diff(vec![row("press", 100, 900)]) };
        assert_eq!(judged(&diff, "total > 5%"), (DiffAlertState::NotScaled, Some(5.0), Vec::new()));
        assert!(DiffAlertState::NotScaled.is_undecided());
    }

    #[test]
    fn ignores_growth_by_rounding() {
        let mut diff = diff(vec![row("press", 900, 900)]);
        diff.factor = 1.0 + f64::EPSILON;
        assert!(diff.all_change(&diff.total).weight > 0.0);
        assert_eq!(judged(&diff, "total > 0%").0, DiffAlertState::Quiet);
    }

    #[test]
    fn nothing_before_is_a_limit_of_nothing() {
        let diff = diff(vec![row("new", 0, 9)]);
        assert_eq!(judged(&diff, "total > 5%"), (DiffAlertState::Fired, Some(0.0), vec!["total".to_owned()]));
        assert_eq!(judged(&self::diff(Vec::new()), "total > 5%").0, DiffAlertState::Quiet);
    }

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
            ("function(x y).self > 5%", "double quotes"),
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

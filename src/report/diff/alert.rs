//! Evaluates alert rules about growth between two recordings.
//!
//! Percentages are relative to the first recording's total weight. Functions with the same name in two binaries are two functions. A rule
//! **fires** if its subject grew by more than the limit, and by more than chance explains. It is **undecided** if:
//!
//! - its subject grew by more than the limit, but chance may explain the growth;
//! - neither recording has a sample of its subject, which is most often a mistake in the rule;
//! - the unit of its limit differs from the unit of the recordings;
//! - the recordings cannot be scaled, because a length or weight is missing;
//! - the outcome would change if all unreadable rows belonged to its subject and had the mean weight;
//! - the weight of code without names changed, which may explain or hide the change of a function, and no other function fires.
//!
//! # What chance explains
//!
//! Chance explains a change of up to z standard deviations of its [noise](Change::noise). For one function, z is [`Change::BEYOND_NOISE`]: one in
//! 40 pairs of recordings of the same program shows a larger growth. A rule that covers n functions has n chances of such a growth, so its z is
//! computed for that probability divided by n (Bonferroni): 3.0 for 20 functions, 3.9 for 500.

use super::super::NO_STACK;
use super::{Change, Diff, DiffRow, Function, FunctionKey};
use crate::alert::{
    AlertCause, AlertMeasure, AlertOutcome, AlertRule, AlertState, AlertSubject, Candidate, Kind, UNREAD_ROWS, judge,
};
use crate::units::Unit;

impl Diff {
    /// Evaluates a rule [about growth](AlertRule::of_growth).
    pub fn judge(&self, rule: &AlertRule) -> AlertOutcome {
        let total = self.total.before.sums.all_weight as f64;
        let limit = match rule.is_share {
            true => Some(total * rule.limit / 100.0),
            false => (rule.unit == self.unit).then_some(rule.limit),
        };
        let undecided = |note: String| AlertOutcome { limit, ..AlertOutcome::undecided(rule, None, Some(note)) };
        let Some(most) = limit else {
            let unit = if self.unit == Unit::Nanoseconds { "seconds" } else { self.unit.name() };
            return undecided(format!("the recordings are in {unit}"));
        };
        if !self.is_scaled {
            return undecided("a length or weight to scale by is missing".to_owned());
        }
        let (changes, explained) = self.changes_of(rule);
        // Growth may be hidden in code without names.
        let is_lacking = match &rule.subject {
            AlertSubject::Named(..) => !explained.is_empty(),
            AlertSubject::Each(_) => {
                let hidden = self.lacking_names.iter().map(|lacking| lacking.change);
                explained.iter().map(|change| change.weight).chain(hidden).any(|change| change > most)
            }
            _ => false,
        };
        let deviations = deviations(changes.len());
        let candidate = |(of, change): (Option<&Function>, Change)| {
            let (value, noise) = (change.weight, change.noise);
            let name = of.map_or("total", Function::title).to_owned();
            let binary = of.and_then(Function::owner).map(str::to_owned);
            let of = AlertCause { name, binary, value, noise: Some(noise) };
            Candidate { of, value, is_sure: value > deviations * noise }
        };
        let mut candidates: Vec<Candidate<AlertCause>> = changes.into_iter().map(candidate).collect();
        let judged = candidates.len() as u64;
        // Weights that scaling should make equal may differ by a rounding error of the factor.
        let (state, causes_count) = judge(rule, most + total * 1e-12, &mut candidates);
        let causes: Vec<AlertCause> = candidates.into_iter().map(|candidate| candidate.of).collect();
        let Some(first) = causes.first() else {
            let why = if is_lacking { LACKING_NAMES } else { "neither recording has a sample of it" };
            return undecided(why.to_owned());
        };
        // All unreadable rows may belong to the subject.
        let [before, after] = self.unread;
        let is_open = match state {
            AlertState::Fired => before > 0.0 && first.value - before <= most,
            AlertState::Quiet => after > 0.0 && first.value + after > most,
            AlertState::Undecided { .. } => false,
        };
        let is_lacking = is_lacking && state == AlertState::Quiet;
        let why = match () {
            () if is_open => UNREAD_ROWS,
            () if is_lacking => LACKING_NAMES,
            () => "sampling alone may explain that",
        };
        let state = if is_open || is_lacking { AlertState::UNSURE } else { state };
        let note = state.is_undecided().then(|| why.to_owned());
        let (value, causes_count) = (Some(first.value), causes_count as u64);
        AlertOutcome { state, value, causes, causes_count, judged, note, ..undecided(String::new()) }
    }

    /// The changes that a rule covers, and those that names may explain which one recording lacks. The total has no function.
    fn changes_of(&self, rule: &AlertRule) -> (Vec<(Option<&Function>, Change)>, Vec<Change>) {
        let is_self = rule.measure == AlertMeasure::SelfWeight;
        let name = match &rule.subject {
            AlertSubject::Named(_, name) => Some(name.as_str()),
            AlertSubject::Each(_) => None,
            // Self weights add up to the total, so both measures are the same.
            _ => return (vec![(None, self.all_change(&self.total))], Vec::new()),
        };
        let is_binary = rule.subject.kind() == Some(Kind::Binary);
        let is_wanted = |row: &&DiffRow| {
            let function = &row.function;
            match name {
                // Samples without a stack are no function, unless they are named.
                None => function.key != FunctionKey::NoStack,
                // Binaries are identified by file name.
                Some(name) if is_binary => function.binary.as_deref() == Some(name),
                Some(name) => function.name == name || function.key == FunctionKey::NoStack && name == NO_STACK,
            }
        };
        let rows = if is_binary { &self.binaries } else { &self.functions };
        let change = |row: &DiffRow| if is_self { row.self_change } else { row.all_change };
        let is_own = |row: &&DiffRow| self.is_comparable(row) || row.function.key == FunctionKey::NoStack;
        let (own, explained): (Vec<_>, Vec<_>) = rows.iter().filter(is_wanted).partition(is_own);
        let own = own.into_iter().map(|row| (Some(&row.function), change(row)));
        (own.collect(), explained.into_iter().map(change).collect())
    }
}

/// Why a rule about functions is undecided.
const LACKING_NAMES: &str = "names are missing in one recording";

/// The number of standard deviations that growth must exceed if `count` subjects are tested.
fn deviations(count: usize) -> f64 {
    if count <= 1 {
        return Change::BEYOND_NOISE;
    }
    // Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23: the error is below 0.00045.
    let t = (-2.0 * (0.025 / count as f64).ln()).sqrt();
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - numerator / denominator
}

#[cfg(test)]
mod tests {
    use super::super::tree::WeighedTree;
    use super::super::{Side, Sides};
    use super::*;
    use crate::alert::AlertState;
    use crate::units::Unit;

    fn side(weight: u64, samples: u64) -> Side {
        let squares = u128::from(weight) * u128::from(weight) / u128::from(samples.max(1));
        let mut side = Side::default();
        side.add_self(weight, samples, squares);
        side.add_all(weight, samples, squares);
        side
    }

    /// A row with weights in milliseconds, where each millisecond is one sample.
    fn row(name: &str, before: u64, after: u64) -> DiffRow {
        let of = |count: u64| side(count * 1_000_000, count);
        let sides = Sides { before: of(before), after: of(after) };
        let function = Function { name: name.to_owned(), binary: Some("Orchard".to_owned()), key: FunctionKey::Named };
        let change = Change::new(sides.before.own(), sides.after.own(), 1.0);
        // The all weight changed by twice as much.
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
            unread: [0.0; 2],
            lacking_names: Vec::new(),
            total,
            functions: rows,
            own_functions: Vec::new(),
            binaries,
            weighed: WeighedTree::empty(),
        }
    }

    /// The state of a rule, its limit in milliseconds, and the names of its causes.
    fn judged(diff: &Diff, rule: &str) -> (AlertState, Option<f64>, Vec<String>) {
        let outcome = diff.judge(&AlertRule::of_growth(rule).unwrap());
        let names = outcome.causes.iter().map(|cause| cause.name.clone());
        (outcome.state, outcome.limit.map(|limit| limit / 1e6), names.collect())
    }

    #[test]
    fn rules_fire_where_something_grew_and_chance_does_not_explain_it() {
        let (fired, quiet, unsure) = (AlertState::Fired, AlertState::Quiet, AlertState::UNSURE);
        // Noise of the total: √(1000 + 1197) = 47 ms; 1.96 × 47 = 92 ms.
        let diff = diff(vec![row("press", 800, 900), row("sort", 100, 200), row("pack", 100, 92), row("new", 0, 5)]);
        assert_eq!(judged(&diff, "total > 19%"), (fired, Some(190.0), vec!["total".to_owned()]));
        assert_eq!(judged(&diff, "total > 197ms").0, quiet);
        assert_eq!(judged(&diff, "total > 196.9ms").0, fired);
        // `press` grew by 100 ms. Chance explains 1.96 × √1700 = 81 ms for one function, and 2.5 × √1700 = 103 ms for any of four. `sort` also
        // grew by 100 ms, of which chance explains 34 and 43 ms.
        assert_eq!(judged(&diff, "function(\"press\").self > 1%").0, fired);
        assert_eq!(judged(&diff, "function(*).self > 1%"), (fired, Some(10.0), vec!["sort".to_owned()]));
        assert_eq!(judged(&diff, "function(*).self > 10%").0, quiet);
        assert_eq!(judged(&diff, "function(*).all > 10%").0, fired);
        assert_eq!(judged(&diff, "function(\"sort\").self > 99ms").0, fired);
        assert_eq!(judged(&diff, "function(\"pack\").self > 0%"), (quiet, Some(0.0), vec!["pack".to_owned()]));
        assert_eq!(judged(&diff, "binary(\"Orchard\").self > 5%").0, fired);
        // `new` is new, with 5 samples: 1.96 × √5 = 4.4.
        assert_eq!(judged(&diff, "function(\"new\").self > 4ms").0, fired);
        assert_eq!(judged(&diff, "function(\"press \").self > 4ms"), (unsure, Some(4.0), Vec::new()));
        assert_eq!(judged(&diff, "binary(\"press\").all > 4ms").0, unsure);
        assert_eq!(judged(&diff, "total > 3Mcycles"), (unsure, None, Vec::new()));
        let noisy = self::diff(vec![row("press", 800, 840), row("sort", 100, 103)]);
        assert_eq!(judged(&noisy, "total > 1%"), (unsure, Some(9.0), vec!["total".to_owned()]));
        assert_eq!(judged(&noisy, "function(*).self > 1ms").2, ["press", "sort"]);
        assert!(judged(&noisy, "function(*).self > 1ms").0.is_undecided());
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
        assert_eq!(judged(&diff, "total > 5%"), (AlertState::UNSURE, Some(5.0), Vec::new()));
    }

    #[test]
    fn rows_that_could_not_be_read_may_decide() {
        let state = |after: u64, unread: [f64; 2]| {
            let diff = Diff { unread, ..diff(vec![row("press", 1_000, after)]) };
            judged(&diff, "total > 200ms").0.name()
        };
        assert_eq!(
            [state(1_500, [0.0; 2]), state(1_500, [2e8, 0.0]), state(1_500, [4e8, 0.0])],
            ["fired", "fired", "undecided"]
        );
        assert_eq!(
            [state(1_100, [9e8, 0.0]), state(1_100, [0.0, 5e7]), state(1_100, [0.0, 2e8])],
            ["quiet", "quiet", "undecided"]
        );
    }

    #[test]
    fn ignores_growth_by_rounding() {
        let mut diff = diff(vec![row("press", 900, 900)]);
        diff.factor = 1.0 + f64::EPSILON;
        assert!(diff.all_change(&diff.total).weight > 0.0);
        assert_eq!(judged(&diff, "total > 0%").0, AlertState::Quiet);
    }

    #[test]
    fn nothing_before_is_a_limit_of_nothing() {
        let diff = diff(vec![row("new", 0, 9)]);
        assert_eq!(judged(&diff, "total > 5%"), (AlertState::Fired, Some(0.0), vec!["total".to_owned()]));
        assert_eq!(judged(&self::diff(Vec::new()), "total > 5%").0, AlertState::Quiet);
    }
}

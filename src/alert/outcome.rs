//! The outcome of a rule: its state, and the evidence.

use super::rule::AlertRule;
#[cfg(feature = "fleet")]
use super::statistic::AlertStatistic;
#[cfg(feature = "fleet")]
use crate::stats::Estimate;
#[cfg(feature = "fleet")]
use crate::units::{Millionths, several};

/// Why a rule is undecided if rows that could not be read may change its outcome.
pub(crate) const UNREAD_ROWS: &str = "rows that could not be read may decide it";

/// If more than this share of inputs or rows could not be measured, no conclusions are drawn: the measured ones may not be representative.
#[cfg(feature = "fleet")]
pub(crate) const MOST_UNMEASURED: f64 = 0.1;

/// Explains that too many inputs could not be measured. `of` is a phrase that follows their number.
#[cfg(feature = "fleet")]
pub(crate) fn too_many_unmeasured(unmeasured: usize, all: usize, of: &str) -> Option<String> {
    (unmeasured as f64 > MOST_UNMEASURED * all as f64).then(|| {
        let all = several(all, "input");
        format!("{unmeasured} of {all}{of} could not be measured, and the others may not be like them")
    })
}

/// The state of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertState {
    /// The value is beyond the limit.
    Fired,
    /// The value is not beyond the limit.
    Quiet,
    /// The rule cannot be decided.
    Undecided {
        /// The number of runs or intervals that are needed; `None` if more would not help, for example if chance may explain the value.
        needed: Option<u64>,
    },
}

impl AlertState {
    /// Undecided, and more runs would not help.
    pub(crate) const UNSURE: Self = Self::Undecided { needed: None };

    /// The name in all formats: `fired`, `quiet`, `undecided`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fired => "fired",
            Self::Quiet => "quiet",
            Self::Undecided { .. } => "undecided",
        }
    }

    /// True if the rule is undecided.
    pub const fn is_undecided(self) -> bool {
        matches!(self, Self::Undecided { .. })
    }
}

#[cfg(feature = "fleet")]
impl AlertState {
    /// The states, most urgent first.
    pub(crate) const ALL: [Self; 3] = [Self::Fired, Self::UNSURE, Self::Quiet];

    /// The number of outcomes [in each state](Self::ALL).
    pub(crate) fn count(outcomes: &[AlertOutcome]) -> [u64; 3] {
        let of = |state: Self| outcomes.iter().filter(|outcome| outcome.state.name() == state.name()).count() as u64;
        Self::ALL.map(of)
    }
}

/// The outcome of a rule. A rule about many runs has one outcome for each cohort.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AlertOutcome {
    /// The rule.
    pub rule: AlertRule,
    /// The state of the rule.
    pub state: AlertState,
    /// The value: for comparisons, the growth; for intervals, a duration in nanoseconds. `None` if there is nothing to measure.
    pub value: Option<f64>,
    /// The limit in the unit of the value; `None` if the recordings have another unit.
    pub limit: Option<f64>,
    /// The number of runs or intervals that the value was computed from; 0 in comparisons.
    pub count: u64,
    /// The causes of the alert, farthest beyond the limit first. If the rule is undecided, the possible causes. If nothing is beyond the limit, the
    /// nearest. `value` and the fields after it describe the first cause. Empty for rules about a single name in many runs or intervals.
    pub causes: Vec<AlertCause>,
    /// The total number of names that fired the rule or might have; `causes` contains those farthest beyond the limit.
    pub causes_count: u64,
    /// The number of names that were judged; 0 for rules without [causes](Self::causes).
    pub judged: u64,
    /// A sentence with a reason to doubt the outcome: a name that no run contains, an interval that includes the limit.
    pub note: Option<String>,
    /// The index of the cohort in the report on many runs.
    pub cohort: usize,
    /// The interval of the value, if it is a percentile of many runs.
    #[cfg(feature = "fleet")]
    pub estimate: Option<Estimate>,
    /// The runs beyond the limit, farthest first: their index in the report, and their value.
    #[cfg(feature = "fleet")]
    pub beyond: Vec<(usize, Millionths)>,
    /// The total number of runs beyond the limit; `beyond` contains those farthest beyond it.
    pub beyond_count: u64,
}

/// Something beyond a limit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AlertCause {
    /// The name of the function or binary; `total` for the total.
    pub name: String,
    /// The binary of the function, in comparisons.
    pub binary: Option<String>,
    /// The value that was compared with the limit.
    pub value: f64,
    /// One standard deviation of the noise, in comparisons.
    pub noise: Option<f64>,
}

#[cfg(feature = "fleet")]
impl AlertCause {
    /// The name for display.
    pub(crate) fn title(&self) -> &str {
        if self.name.is_empty() { "(no name)" } else { &self.name }
    }
}

impl AlertOutcome {
    /// Creates an undecided outcome without a value.
    pub(crate) fn undecided(rule: &AlertRule, needed: Option<u64>, note: Option<String>) -> Self {
        Self {
            rule: rule.clone(),
            state: AlertState::Undecided { needed },
            value: None,
            limit: Some(rule.limit),
            count: 0,
            causes: Vec::new(),
            causes_count: 0,
            judged: 0,
            note,
            cohort: 0,
            #[cfg(feature = "fleet")]
            estimate: None,
            #[cfg(feature = "fleet")]
            beyond: Vec::new(),
            beyond_count: 0,
        }
    }

    /// The outcome, undecided if there are too many inputs without a measure for this number of runs.
    #[cfg(feature = "fleet")]
    pub(crate) fn undecided_by(self, unmeasured: u64, runs: u64) -> Self {
        let all = (runs + unmeasured) as usize;
        match too_many_unmeasured(unmeasured as usize, all, "").filter(|_| !self.is_settled()) {
            Some(why) => Self { state: AlertState::UNSURE, note: Some(why), ..self },
            None => self,
        }
    }

    /// The outcome if rows could not be read: undecided, unless the most extreme values of these rows give the same state.
    #[cfg(feature = "fleet")]
    pub(crate) fn or_undecided(self, other: AlertState) -> Self {
        if self.state.is_undecided() || other == self.state {
            return self;
        }
        Self { state: AlertState::UNSURE, note: Some(UNREAD_ROWS.to_owned()), ..self }
    }

    /// True if more values cannot change the state: a maximum can only rise, and a minimum can only fall.
    #[cfg(feature = "fleet")]
    fn is_settled(&self) -> bool {
        let can_rise = match self.rule.statistic {
            AlertStatistic::Max => true,
            AlertStatistic::Min => false,
            _ => return self.state.is_undecided(),
        };
        let rises_to_fire = self.rule.comparison.is_upper();
        match self.state {
            AlertState::Fired => can_rise == rises_to_fire,
            AlertState::Quiet => can_rise != rises_to_fire,
            AlertState::Undecided { .. } => true,
        }
    }

    /// The number of runs or intervals that the rule needs, if there are too few.
    pub(crate) const fn needed(&self) -> Option<u64> {
        match self.state {
            AlertState::Undecided { needed } => needed,
            AlertState::Fired | AlertState::Quiet => None,
        }
    }
}

/// A value to compare with the limit.
pub(crate) struct Candidate<T> {
    /// Identifies what has the value.
    pub(crate) of: T,
    pub(crate) value: f64,
    /// True if chance cannot explain that the value is beyond the limit.
    pub(crate) is_sure: bool,
}

/// Compares values with a limit. Keeps the candidates that decide the state, farthest beyond the limit first, and returns how many are beyond it. If
/// none is, keeps the nearest candidate.
pub(crate) fn judge<T>(rule: &AlertRule, limit: f64, candidates: &mut Vec<Candidate<T>>) -> (AlertState, usize) {
    let is_beyond = |candidate: &Candidate<T>| rule.comparison.holds(candidate.value, limit);
    let is_upper = rule.comparison.is_upper();
    candidates.sort_by(|a, b| if is_upper { b.value.total_cmp(&a.value) } else { a.value.total_cmp(&b.value) });
    let state = if candidates.iter().any(|candidate| candidate.is_sure && is_beyond(candidate)) {
        candidates.retain(|candidate| candidate.is_sure);
        AlertState::Fired
    } else if candidates.is_empty() || candidates.iter().any(is_beyond) {
        AlertState::UNSURE
    } else {
        AlertState::Quiet
    };
    let beyond = candidates.iter().filter(|candidate| is_beyond(candidate)).count();
    candidates.truncate(beyond.max(1));
    (state, beyond)
}

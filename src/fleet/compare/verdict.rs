//! The verdict of a comparison.

use super::choice::Lengths;
use super::functions::Functions;
use super::measured::Measured;
use super::total::{ShareTest, Total};
use crate::stats::Quantile;

/// With fewer units per side, nothing is claimed about the total.
pub(crate) const TOTAL_UNITS: u64 = 3;

/// Whether the new side is slower.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The new side is slower, for these reasons.
    Slower(Vec<Reason>),
    /// The new side is faster, for these reasons, and nothing is slower. More idle units are not a reason, since they may have failed to start.
    Faster(Vec<Reason>),
    /// A slowdown of at least this fraction of the base is ruled out. The fraction is below the smallest relevant change.
    NoSlowdown {
        /// The fraction.
        above: f64,
    },
    /// The input is valid, but inconclusive.
    Unknown {
        /// A slowdown of this fraction of the base is possible; `None` if nothing is known.
        could_hide: Option<f64>,
        /// The approximate number of units that each side needs to detect the smallest relevant change in nine out of ten cases. `None` if unknown,
        /// also if idle units are what could hide it.
        needed: Option<[u64; 2]>,
        /// The reason, if it is not the number of units.
        because: Option<Obstacle>,
    },
    /// No comparison is possible.
    Invalid {
        /// The reason: a sentence without its full stop.
        because: String,
    },
}

/// An obstacle to any conclusion, regardless of the number of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A side has fewer than three units.
    FewUnits,
    /// New recordings are shorter, so they may have ended early.
    Shorter,
    /// A label other than the version separates the sides.
    Confounded,
    /// More new units are idle, so an app may have failed to start.
    MoreIdle,
    /// A whole number of cores was busy throughout, so CPU use could not grow.
    Saturated,
}

/// Why a side is slower or faster. The index refers to [`Comparison::measures`](super::Comparison::measures).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// A typical unit uses more (or less, if the side is faster).
    Total(usize),
    /// Fewer units are idle.
    Idle(usize),
    /// More units are beyond this percentile of all units.
    Tail(usize, Quantile),
    /// A function uses so much more that it slows the total.
    Function,
}

impl Reason {
    /// The name in machine-readable formats: `total`, `idle`, `p95`, `p99`, `function`.
    pub fn name(self) -> String {
        match self {
            Self::Total(_) => "total".to_owned(),
            Self::Idle(_) => "idle".to_owned(),
            Self::Tail(_, quantile) => quantile.to_string().to_lowercase(),
            Self::Function => "function".to_owned(),
        }
    }
}

/// The data that a verdict is derived from.
pub(super) struct Evidence<'e> {
    pub(super) measures: &'e [Measured],
    pub(super) functions: Option<&'e Functions>,
    pub(super) lengths: Option<&'e Lengths>,
    pub(super) may_have_failed: bool,
    pub(super) units: [u64; 2],
    pub(super) is_confounded: bool,
    pub(super) is_saturated: bool,
    pub(super) min_effect: f64,
}

impl Verdict {
    pub(super) fn new(evidence: &Evidence<'_>) -> Self {
        let of_functions = evidence.functions.is_some_and(|all| all.slower().any(|function| all.fails(function)));
        let has_units = evidence.units.iter().all(|count| *count >= TOTAL_UNITS);
        let mut slower = if has_units { evidence.reasons(true) } else { Vec::new() };
        slower.extend(of_functions.then_some(Reason::Function));
        let could_hide = evidence.could_hide();
        match evidence.obstacle(has_units) {
            _ if !slower.is_empty() => Self::Slower(slower),
            Some(because @ (Obstacle::FewUnits | Obstacle::Shorter | Obstacle::MoreIdle)) => {
                evidence.unknown(could_hide, Some(because))
            }
            obstacle => {
                let faster = evidence.reasons(false);
                match (obstacle, could_hide) {
                    _ if !faster.is_empty() => Self::Faster(faster),
                    (None, Some(above)) if above < evidence.min_effect => Self::NoSlowdown { above },
                    (obstacle, could_hide) => evidence.unknown(could_hide, obstacle),
                }
            }
        }
    }

    /// The name in machine-readable formats: `slower`, `faster`, `no-slowdown`, `unknown`, `invalid`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Slower(_) => "slower",
            Self::Faster(_) => "faster",
            Self::NoSlowdown { .. } => "no-slowdown",
            Self::Unknown { .. } => "unknown",
            Self::Invalid { .. } => "invalid",
        }
    }
}

impl Evidence<'_> {
    /// The reasons from all quantities' totals.
    fn reasons(&self, is_slower: bool) -> Vec<Reason> {
        let of_measure = |(index, measured): (usize, &Measured)| {
            let reasons = reasons((index, &measured.total), self.min_effect, is_slower);
            let is_confirmed = match measured.guard.as_ref().filter(|_| measured.needs_guard) {
                Some(guard) => !self::reasons((index, &guard.total), self.min_effect, is_slower).is_empty(),
                None => true,
            };
            if is_confirmed { reasons } else { Vec::new() }
        };
        self.measures.iter().enumerate().flat_map(of_measure).collect()
    }

    /// The largest slowdown of any quantity that is not ruled out.
    fn could_hide(&self) -> Option<f64> {
        let totals = self.measures.iter().flat_map(Measured::totals);
        let bounds = totals.map(|total| Some(total.upper_bound?.exp_m1().max(0.0)));
        bounds.reduce(|a, b| Some(a?.max(b?))).flatten()
    }

    fn obstacle(&self, has_units: bool) -> Option<Obstacle> {
        let are_shorter = self.may_have_failed && self.lengths.is_some_and(Lengths::are_shorter);
        match () {
            () if !has_units => Some(Obstacle::FewUnits),
            () if are_shorter => Some(Obstacle::Shorter),
            () if self.measures.iter().flat_map(Measured::totals).any(Total::has_more_idle) => Some(Obstacle::MoreIdle),
            () if self.is_confounded => Some(Obstacle::Confounded),
            () if self.is_saturated => Some(Obstacle::Saturated),
            () => None,
        }
    }

    fn unknown(&self, could_hide: Option<f64>, because: Option<Obstacle>) -> Verdict {
        let factors = self.measures.iter().flat_map(Measured::totals).map(|total| total.needed);
        let factor = factors.reduce(|a, b| Some(a?.max(b?))).flatten();
        let needed = factor.map(|factor| self.units.map(|count| (factor * count as f64).ceil() as u64));
        // Enough typical units are there, so what could hide is in the share of idle ones.
        let has_idle = self.measures.iter().flat_map(Measured::totals).any(|total| total.idle.is_some());
        let needed =
            needed.filter(|needed| !has_idle || needed.iter().zip(self.units).any(|(needed, count)| *needed > count));
        Verdict::Unknown { could_hide, needed, because }
    }
}

/// The reasons from one total why the new side is slower, or faster.
fn reasons((index, total): (usize, &Total), min_effect: f64, is_slower: bool) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let is_claimed_total = if is_slower { total.is_slower(min_effect) } else { total.is_faster(min_effect) };
    reasons.extend(is_claimed_total.then_some(Reason::Total(index)));
    if let Some(idle) = total.idle.filter(|idle| is_slower && idle.p.fewer <= total.levels.slower) {
        let [base, new] = [0, 1].map(|side| 1.0 - idle.counts[side] as f64 / idle.of[side] as f64);
        reasons.extend((new >= base * (1.0 + min_effect)).then_some(Reason::Idle(index)));
    }
    // A shorter tail alone does not make a version faster.
    let is_longer = |test: &&ShareTest| {
        is_slower && test.p.more <= total.levels.slower && test.values[1] >= test.values[0] * (1.0 + min_effect)
    };
    let longer = total.tail.iter().filter(is_longer).filter_map(|test| test.quantile);
    reasons.extend(longer.map(|quantile| Reason::Tail(index, quantile)));
    reasons
}

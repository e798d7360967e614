//! The answer of a comparison.

use super::CompareOptions;
use super::functions::Functions;
use super::total::{ShareTest, Total};
use crate::stats::Quantile;
use crate::stats::compare::needed_runs;

/// Whether the new side is slower.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It is, for these reasons.
    Slower(Vec<Reason>),
    /// It is faster, for these reasons, and nothing is slower.
    Faster(Vec<Reason>),
    /// A slowdown of this share of the base, or more, is excluded. It is less than the smallest change that matters.
    NoSlowdown {
        /// The share.
        above: f64,
    },
    /// The runs do not tell.
    CannotTell {
        /// A slowdown of this share of the base is possible; `None` if nothing is known.
        could_hide: Option<f64>,
        /// The units that each side needs, so that the smallest change that matters is found nine times in ten.
        needed: Option<u64>,
        /// Why, if not for lack of units: a sentence.
        because: Option<String>,
    },
}

/// What shows that a side is slower, or faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// A typical unit uses more.
    Total,
    /// Fewer units are idle.
    Idle,
    /// More units are beyond this percentile of all.
    Tail(Quantile),
    /// A function uses more.
    Function,
}

impl Reason {
    /// The name in machine formats: `total`, `idle`, `p95`, `p99`, `function`.
    pub fn name(self) -> String {
        match self {
            Self::Total => "total".to_owned(),
            Self::Idle => "idle".to_owned(),
            Self::Tail(quantile) => quantile.to_string().to_lowercase(),
            Self::Function => "function".to_owned(),
        }
    }
}

impl Verdict {
    pub(super) fn new(
        total: &Total,
        functions: Option<&Functions>,
        failure: Option<String>,
        options: &CompareOptions,
    ) -> Self {
        let limit = options.min_effect.ln_1p();
        let needed = total.effect.map(|effect| needed_runs(effect.variance, limit));
        let could_hide = total.upper_bound.map(|bound| bound.exp_m1().max(0.0));
        if failure.is_some() {
            return Self::CannotTell { could_hide: None, needed: None, because: failure };
        }
        let mut slower = reasons(total, options, true);
        slower.extend(functions.filter(|functions| functions.slower().next().is_some()).map(|_| Reason::Function));
        let faster = reasons(total, options, false);
        match could_hide {
            _ if !slower.is_empty() => Self::Slower(slower),
            _ if !faster.is_empty() => Self::Faster(faster),
            Some(above) if above.ln_1p() < limit => Self::NoSlowdown { above },
            _ => Self::CannotTell { could_hide, needed, because: None },
        }
    }

    /// The name in machine formats: `slower`, `faster`, `no-slowdown`, `cannot-tell`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Slower(_) => "slower",
            Self::Faster(_) => "faster",
            Self::NoSlowdown { .. } => "no-slowdown",
            Self::CannotTell { .. } => "cannot-tell",
        }
    }
}

/// What the total shows: that the new side is slower, or that it is faster.
fn reasons(total: &Total, options: &CompareOptions, is_slower: bool) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let Some((effect, (lower, upper))) = total.effect.zip(total.interval()) {
        let is_claimed = match is_slower {
            true => lower > 0.0 && effect.difference >= options.min_effect.ln_1p(),
            false => upper < 0.0 && effect.difference <= (-options.min_effect).ln_1p(),
        };
        reasons.extend(is_claimed.then_some(Reason::Total));
    }
    if let Some(idle) = total.idle.filter(|idle| idle.is_claimed() && idle.is_more() != is_slower) {
        let [base, new] = [0, 1].map(|side| 1.0 - idle.counts[side] as f64 / idle.of[side] as f64);
        reasons.extend(is_change(base, new, options, is_slower).then_some(Reason::Idle));
    }
    // A shorter tail alone does not make a version faster.
    let is_longer = |test: &&ShareTest| {
        is_slower && test.is_claimed() && test.is_more() && is_change(test.values[0], test.values[1], options, true)
    };
    reasons.extend(total.tail.iter().filter(is_longer).filter_map(|test| test.quantile).map(Reason::Tail));
    reasons
}

fn is_change(base: f64, new: f64, options: &CompareOptions, is_slower: bool) -> bool {
    if is_slower { new >= base * (1.0 + options.min_effect) } else { new <= base * (1.0 - options.min_effect) }
}

//! Classifies what a thread did during a hang.

use super::share::{BUSY, Share};

/// Up to this share of the time on the CPU, a thread was off the CPU; above it, at least partly busy.
const LITTLE: f64 = 0.2;
/// Cycles determine a share only if its bounds are no farther apart.
const CLOSE: f64 = 0.15;

/// What a thread did while an app did not respond, as far as the recording shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HangVerdict {
    /// On the CPU for at least 70 % of the time.
    Busy,
    /// Ready to run for at least half of the time, without a core to run on.
    Starved,
    /// Waiting, according to recorded states or its functions; on the CPU for at most 20 % of the time.
    Waiting,
    /// On the CPU for at most 20 % of the time: waiting or starved, since no states are recorded.
    OffCpu,
    /// On the CPU for 20 to 70 % of the time.
    PartlyBusy,
    /// On the CPU for at most half of the time. Nothing more is known.
    NotBusy,
    /// In code in at least 80 % of a report's samples: running or ready to run, since no states are recorded.
    InCode,
    /// Unknown, for the reason in [`HangActivity::reason`](super::HangActivity::reason).
    Unknown,
}

impl HangVerdict {
    /// The name in JSON.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Starved => "starved",
            Self::Waiting => "waiting",
            Self::OffCpu => "off-cpu",
            Self::PartlyBusy => "partly-busy",
            Self::NotBusy => "not-busy",
            Self::InCode => "in-code",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the first verdict whose condition holds.
    pub(super) fn of(share: &Share, has_states: bool, is_of_time: bool) -> Self {
        let Share { low, high, queued, .. } = *share;
        let is_between = low >= LITTLE && high <= BUSY;
        if low >= BUSY {
            Self::Busy
        } else if queued >= 0.5 {
            Self::Starved
        } else if high <= LITTLE {
            match has_states {
                false => Self::OffCpu,
                true if queued < LITTLE => Self::Waiting,
                true => Self::Unknown,
            }
        } else if is_between && (high - low <= CLOSE || is_of_time && !has_states) {
            Self::PartlyBusy
        } else if high <= 0.5 && queued < LITTLE {
            Self::NotBusy
        } else {
            Self::Unknown
        }
    }
}

//! The word for what a thread did in a hang.

use super::share::{BUSY, Share};

/// Up to this share of a time on the CPU, a thread was off it; from it on, it was partly busy.
const LITTLE: f64 = 0.2;
/// The distance of the bounds up to which cycles tell a share.
const CLOSE: f64 = 0.15;

/// What a thread did while an app did not respond, as far as the recording shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HangVerdict {
    /// On the CPU for 70 % of the time or more.
    Busy,
    /// Ready to run for half of the time or more, without a core to run on.
    Starved,
    /// Waiting, by its recorded states or the functions that it was in; on the CPU for 20 % of the time or less.
    Waiting,
    /// On the CPU for 20 % of the time or less: it waited, or was starved. No states are recorded.
    OffCpu,
    /// On the CPU for 20 to 70 % of the time.
    PartlyBusy,
    /// On the CPU for half of the time or less; nothing more is known.
    NotBusy,
    /// In code in 80 % of a report's samples or more: running, or ready to run. No states are recorded.
    InCode,
    /// Nothing is known: [`HangActivity::reason`](super::HangActivity::reason) says why.
    Unknown,
}

impl HangVerdict {
    /// Its name in JSON.
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

    /// The first word whose condition holds.
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

//! What a thread did in a stretch of time.

use super::stack::HangStack;
use super::verdict::HangVerdict;
use crate::profile::ThreadId;

/// What a thread did in a stretch of time.
#[derive(Clone, Debug)]
pub struct HangActivity {
    /// The verdict on what the thread did.
    pub verdict: HangVerdict,
    /// The reason if the verdict is [`Unknown`](HangVerdict::Unknown).
    pub reason: Option<String>,
    /// The minimum and maximum share of the time on the CPU, in percent. `None` if it is unknown.
    pub cpu_percent: Option<[f64; 2]>,
    /// The percentage of the time without samples that could show the thread.
    pub uncovered_percent: f64,
    /// The number of samples of the thread.
    pub samples: u64,
    /// The number of samples on the CPU; in a report without states, samples in code that does not wait.
    pub running: u64,
    /// The number of samples that waited.
    pub waiting: u64,
    /// The number of samples that were ready to run.
    pub queued: u64,
    /// The heaviest stack on the CPU.
    pub heaviest: Option<HangStack>,
    /// The heaviest stack off the CPU, if waiting threads were sampled.
    pub off_cpu: Option<HangStack>,
    /// What it waited for, as an object of "waits for", if four fifths of its waiting samples agree: `a lock`, `an event`, `I/O` and so on.
    pub waits_for: Option<&'static str>,
    /// True if some waiting samples wait for something else.
    pub has_other_waits: bool,
    /// The thread that may hold the lock: the only one that worked on it during the wait.
    pub holder: Option<ThreadId>,
    /// True if the report states that `holder` holds the lock.
    pub is_owner: bool,
    /// True if `holder` waits in most of its samples: for something else, or in a deadlock.
    pub holder_waits: bool,
    /// What blocked its samples, in the report's own words: `turnstile waiting for Press [518] thread 0x2b, 3 samples`.
    pub blocked_by: Vec<String>,
    /// Other threads of the process that were busy during that time, with their heaviest stacks.
    pub also_busy: Vec<HangStack>,
}

impl HangActivity {
    pub(super) fn unknown(reason: &str) -> Self {
        Self {
            verdict: HangVerdict::Unknown,
            reason: Some(reason.to_owned()),
            cpu_percent: None,
            uncovered_percent: 100.0,
            samples: 0,
            running: 0,
            waiting: 0,
            queued: 0,
            heaviest: None,
            off_cpu: None,
            waits_for: None,
            has_other_waits: false,
            holder: None,
            is_owner: false,
            holder_waits: false,
            blocked_by: Vec::new(),
            also_busy: Vec::new(),
        }
    }
}

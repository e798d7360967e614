//! What a thread did in a period.

use super::stack::HangStack;
use super::verdict::HangVerdict;
use crate::profile::ThreadId;

/// What a thread did in a period.
#[derive(Clone, Debug)]
pub struct HangActivity {
    /// The conclusion about what the thread did.
    pub verdict: HangVerdict,
    /// Why the verdict is [`Unknown`](HangVerdict::Unknown).
    pub reason: Option<String>,
    /// The minimum and maximum percentage of the time on the CPU; `None` if unknown.
    pub cpu_percent: Option<[f64; 2]>,
    /// The percentage of the time in which no sample could show the thread.
    pub uncovered_percent: f64,
    /// The number of samples of the thread.
    pub samples: u64,
    /// The number of samples on the CPU. In a report without states: in code that does not wait.
    pub running: u64,
    /// The number of samples that waited.
    pub waiting: u64,
    /// The number of samples that were ready to run.
    pub queued: u64,
    /// The heaviest stack on the CPU.
    pub heaviest: Option<HangStack>,
    /// The heaviest stack off the CPU, if waiting threads were sampled.
    pub off_cpu: Option<HangStack>,
    /// What the thread waits for, if at least four fifths of the waiting samples agree: `a lock`, `I/O` and so on.
    pub waits_for: Option<&'static str>,
    /// True if the waiting samples do not all agree.
    pub has_other_waits: bool,
    /// The thread that may hold the lock: the only one that worked on something for the duration of the wait.
    pub holder: Option<ThreadId>,
    /// True if the report itself names `holder` as the owner of the lock.
    pub is_owner: bool,
    /// True if `holder` waits in most of its samples, for something else or in a deadlock.
    pub holder_waits: bool,
    /// What blocked its samples, as worded by the report: `turnstile waiting for Press [518] thread 0x2b, 3 samples`.
    pub blocked_by: Vec<String>,
    /// Other threads of the process that were busy during the period, with their heaviest stacks.
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

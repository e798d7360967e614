//! One of the intervals of a summary.

use std::sync::Arc;

use crate::units::Nanos;

/// An interval with an end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IntervalInstance {
    /// The duration.
    pub duration: Nanos,
    /// The input, if there are several.
    pub input: Option<Arc<str>>,
    /// The run number, from 1.
    pub run: u32,
    /// The start, relative to the start of the run.
    pub start: Nanos,
    /// The process id.
    pub pid: Option<u64>,
    /// The thread id; for a signpost, the thread in which it began.
    pub tid: Option<u64>,
}

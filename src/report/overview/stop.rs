//! Crash and memory exception reports: what happened, and the stack of the affected thread. They show a single moment, so there are no shares.

use super::{OwnCode, is_own_binary};
use crate::profile::{FunctionId, Meaning, ThreadId};
use crate::recording::{STOP_FIELDS, TocRun};
use crate::report::{Report, SeriesReport};

/// How a process ended, as far as recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stop {
    /// Facts from the report, with their names.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// The thread that crashed or caused the exception; `None` if the report does not identify one.
    pub(crate) thread: Option<ThreadId>,
    /// The stack of this thread, innermost function first; empty if it is not selected.
    pub(crate) stack: Vec<FunctionId>,
    /// The index of the innermost app function in `stack`.
    pub(crate) own: Option<usize>,
}

impl Report<'_> {
    /// The crash or exception that a series describes; `None` for measurements.
    pub(super) fn stop(&self, series: &SeriesReport, toc: Option<&TocRun>) -> Option<Stop> {
        let profile = &self.recording.profile;
        if profile.series(series.series).meaning != Meaning::Stop {
            return None;
        }
        let fact = |key| toc.and_then(|toc| toc.summary_field(key));
        let facts = STOP_FIELDS.iter().filter_map(|&(key, name)| Some((name, fact(key)?.to_owned())));
        let mut stop = Stop { facts: facts.collect(), ..Stop::default() };
        let run = profile.series(series.series).run;
        stop.thread = self.recording.attributed_thread(run);
        let rows = self.weights.of_series(series.series);
        let row = stop.thread.and_then(|thread| rows.iter().find(|row| row.thread == thread));
        let mut next = row.and_then(|row| row.stack);
        let code = OwnCode::new(self);
        while let Some(stack) = next {
            stop.stack.push(code.function(stack));
            next = profile.stack(stack).parent;
        }
        let is_own = |id: &FunctionId| profile.function(*id).binary.is_some_and(|id| is_own_binary(profile, id));
        stop.own = stop.stack.iter().position(is_own);
        Some(stop)
    }
}

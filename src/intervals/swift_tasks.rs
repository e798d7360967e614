//! Swift tasks: how long each was in which state, and how many were alive at the same time.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::recording::{Interval, Intervals};
use crate::units::Nanos;

/// The Swift tasks of a recording, from its table of task states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwiftTasks {
    /// The tasks, those that ran longest first.
    pub tasks: Vec<SwiftTask>,
    /// The largest number of tasks of one run that were alive at the same time.
    pub most_alive: u64,
}

/// A Swift task. It is alive from the start of its first recorded state to the end of the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwiftTask {
    /// The number of its run, from 1.
    pub run: u32,
    /// The name of its process.
    pub process: Option<Arc<str>>,
    /// The number of its process.
    pub pid: Option<u64>,
    /// Its number in the process.
    pub id: u64,
    /// Its last priority, such as `High/User Initiated (25)`.
    pub priority: Option<Arc<str>>,
    /// The start of its first state.
    pub start: Nanos,
    /// The end of its last state; `None` if that was open when the recording ended.
    pub end: Option<Nanos>,
    /// The time in each state (`Creating`, `Enqueued`, `Running`, `Suspended`, `Continuation`, `Waiting`), without states that were open when
    /// the recording ended.
    pub states: BTreeMap<Arc<str>, Nanos>,
}

impl SwiftTask {
    /// Returns the time in a state.
    pub fn time_in(&self, state: &str) -> Nanos {
        self.states.get(state).copied().unwrap_or_default()
    }
}

impl Intervals {
    /// Returns the Swift tasks among these intervals, which must be those of [all tables](Intervals::read_all).
    pub fn swift_tasks(&self) -> SwiftTasks {
        let mut tasks: BTreeMap<(u32, Option<u64>, u64), SwiftTask> = BTreeMap::new();
        let mut states: Vec<&Interval> =
            self.intervals.iter().filter(|row| row.table.as_deref() == Some(Self::TASK_STATES)).collect();
        states.sort_by_key(|state| (state.run, state.start));
        for state in states {
            let Some(id) = state.identifier else { continue };
            let &Interval { run, pid, start, end, .. } = state;
            let task = tasks.entry((run, pid, id)).or_insert_with(|| SwiftTask {
                run,
                process: state.process.clone(),
                pid,
                id,
                priority: None,
                start,
                end: Some(start),
                states: BTreeMap::new(),
            });
            task.end = task.end.zip(end).map(|(one, other)| one.max(other));
            task.priority = state.category.clone().or(task.priority.take());
            if let (Some(name), Some(length)) = (&state.name, state.duration()) {
                let sum = task.states.entry(name.clone()).or_default();
                *sum = sum.saturating_add(length);
            }
        }
        let mut tasks: Vec<SwiftTask> = tasks.into_values().collect();
        let most_alive = most_alive(&tasks);
        tasks.sort_by_key(|task| std::cmp::Reverse(task.time_in("Running")));
        SwiftTasks { tasks, most_alive }
    }
}

/// The largest number of tasks of one run that were alive at the same time. They are sorted by run. A task that ends when another one starts
/// is not alive with it.
fn most_alive(tasks: &[SwiftTask]) -> u64 {
    let of_run = |tasks: &[SwiftTask]| {
        let start = tasks.iter().map(|task| (task.start, 1));
        let end = tasks.iter().filter_map(|task| Some((task.end.filter(|end| *end > task.start)?, -1)));
        let mut changes: Vec<(Nanos, i64)> = start.chain(end).collect();
        changes.sort_unstable();
        changes
            .iter()
            .scan(0, |alive, (_, change)| {
                Some({
                    *alive += change;
                    *alive
                })
            })
            .max()
            .unwrap_or(0)
    };
    tasks.chunk_by(|a, b| a.run == b.run).map(of_run).max().map_or(0, |most| most as u64)
}

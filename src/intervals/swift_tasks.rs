//! Swift tasks: how long each task was in each state, and how many were alive at the same time.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::recording::{Interval, Intervals};
use crate::units::Nanos;

/// A Swift task. It is alive from the start of its first recorded state to the end of its last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwiftTask {
    /// The run number, from 1.
    pub run: u32,
    /// The name of its process.
    pub process: Option<Arc<str>>,
    /// The process id.
    pub pid: Option<u64>,
    /// The number of the task within the process.
    pub id: u64,
    /// The last priority, such as `High/User Initiated (25)`.
    pub priority: Option<Arc<str>>,
    /// The start of the first state.
    pub start: Nanos,
    /// The end of the last state; `None` if it was open when the recording ended.
    pub end: Option<Nanos>,
    /// The time in each state (`Creating`, `Enqueued`, `Running`, `Suspended`, `Continuation`, `Waiting`), without states that were open when the
    /// recording ended.
    pub states: BTreeMap<Arc<str>, Nanos>,
}

impl SwiftTask {
    /// Returns the time in a state.
    pub fn time_in(&self, state: &str) -> Nanos {
        self.states.get(state).copied().unwrap_or_default()
    }

    /// Returns the maximum number of tasks alive at the same time in one run. A task that ends when another starts does not overlap it.
    pub fn most_alive(tasks: &[Self]) -> u64 {
        let mut changes: BTreeMap<u32, Vec<(Nanos, i64)>> = BTreeMap::new();
        for task in tasks {
            let of_run = changes.entry(task.run).or_default();
            of_run.push((task.start, 1));
            of_run.extend(task.end.filter(|end| *end > task.start).map(|end| (end, -1)));
        }
        let most = |mut changes: Vec<(Nanos, i64)>| {
            changes.sort_unstable();
            changes.iter().fold((0, 0), |(alive, most), (_, change)| (alive + change, most.max(alive + change))).1
        };
        changes.into_values().map(most).max().map_or(0, |most| most as u64)
    }
}

impl Intervals {
    /// Returns the Swift tasks among these intervals, which must come from [all tables](Intervals::read_all), by descending running time.
    pub fn swift_tasks(&self) -> Vec<SwiftTask> {
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
        tasks.sort_by_key(|task| std::cmp::Reverse(task.time_in("Running")));
        tasks
    }
}

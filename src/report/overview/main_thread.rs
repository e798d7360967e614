//! What the main thread does in recordings of waiting threads. In a hang report, this is the thread that hung.

use super::own_code::OwnCode;
use super::owners::Owner;
use crate::calltree::StackWeight;
use crate::hash::IndexMap;
use crate::profile::{Doing, FunctionId, Profile, StackId, ThreadId, Waits};
use crate::recording::{TocRun, lookup};
use crate::report::Amount;
use crate::report::hangs::{agreed, begins_as_main};
use crate::units::Unit;

/// What a main thread does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MainThread {
    /// The main thread with the most samples in the recorded process, or else the only main thread, or else the only thread whose stacks begin
    /// like a main thread's.
    pub thread: ThreadId,
    /// All samples of the thread.
    pub all: Amount,
    /// Samples in which it runs.
    pub runs: Amount,
    /// Samples in which it is ready to run, but has no core.
    pub queued: Amount,
    /// Samples in which it waits.
    pub waits: Amount,
    /// What it waits for, in words, if at least four fifths of the waiting samples agree.
    pub waits_for: Option<&'static str>,
    /// True if the waiting samples do not all agree.
    pub has_other_waits: bool,
    /// The app function with more than half of the running samples, if any.
    pub runs_in: Option<FunctionId>,
    /// The function with the most waiting samples.
    pub waits_in: Option<FunctionId>,
    /// The app function that called `waits_in` in the largest number of these samples, if any.
    pub asked_by: Option<FunctionId>,
}

/// Finds the [main thread](MainThread::thread) and determines its activity.
pub(super) fn main_thread(
    profile: &Profile,
    code: &OwnCode<'_>,
    (rows, toc): (&[StackWeight], Option<&TocRun>),
    unit: Unit,
) -> Option<MainThread> {
    let main = || rows.iter().filter(|row| profile.thread(row.thread).is_main);
    let pid: Option<u64> = toc.and_then(|toc| lookup(&toc.process, "pid")?.parse().ok());
    let is_about = |row: &&StackWeight| profile.process(profile.thread(row.thread).process).pid == pid;
    let of_thread = |row: &StackWeight| Some(row.thread);
    let about = most_sampled(main().filter(is_about).filter(|_| pid.is_some()), of_thread);
    // Of several processes, none is preferred.
    let only = || most_sampled(main(), of_thread).filter(|(thread, _)| main().all(|row| row.thread == *thread));
    let begins = || {
        let of_main = || {
            let of_process = rows.iter().filter(|row| pid.is_none() || is_about(row));
            of_process.filter(|row| begins_as_main(profile, row.stack))
        };
        most_sampled(of_main(), of_thread).filter(|(thread, _)| of_main().all(|row| row.thread == *thread))
    };
    let (thread, _) = about.or_else(only).or_else(begins)?;
    let amount = |doing: Option<Doing>| {
        let is_wanted = |row: &&StackWeight| row.thread == thread && doing.is_none_or(|doing| row.doing == doing);
        Amount::of_rows(rows.iter().filter(is_wanted), unit)
    };
    let waiting = || rows.iter().filter(|row| row.thread == thread && row.doing == Doing::Waits);
    let leaf = |row: &StackWeight| row.stack.map(|stack| code.function(stack));
    let waits_in = most_sampled(waiting(), leaf).map(|(function, _)| function);
    let asked_by = |stack: StackId| match code.owners.of(profile, stack) {
        Owner::Own(place) => Some(code.function(place)),
        Owner::Unknown(_) | Owner::System => None,
    };
    let running = || rows.iter().filter(|row| row.thread == thread && row.doing == Doing::Runs);
    let in_it = waiting().filter(|row| leaf(row) == waits_in);
    let (waits, of_stacks) = (amount(Some(Doing::Waits)), Waits::new(profile));
    let runs = amount(Some(Doing::Runs));
    let runs_in = most_sampled(running(), |row| Some(asked_by(row.stack?)));
    let runs_in = runs_in.filter(|&(_, samples)| 2 * samples > runs.samples).and_then(|(function, _)| function);
    let class = agreed(&of_stacks, waiting().map(|row| (row.stack, row.samples)));
    Some(MainThread {
        thread,
        all: amount(None),
        runs,
        queued: amount(Some(Doing::Queued)),
        waits,
        waits_for: class.map(|(wait, _)| wait.name()),
        has_other_waits: class.is_some_and(|(_, is_all)| !is_all),
        runs_in,
        waits_in,
        asked_by: most_sampled(in_it, |row| Some(asked_by(row.stack?))).and_then(|(function, _)| function),
    })
}

/// The key with the most samples, and their number; the first one in a tie.
fn most_sampled<'r, K: Eq + std::hash::Hash>(
    rows: impl Iterator<Item = &'r StackWeight>,
    key: impl Fn(&StackWeight) -> Option<K>,
) -> Option<(K, u64)> {
    let mut sums: IndexMap<K, u64> = IndexMap::default();
    for (row, key) in rows.filter_map(|row| Some((row, key(row)?))) {
        *sums.entry(key).or_default() += row.samples;
    }
    sums.into_iter().rev().max_by_key(|&(_, samples)| samples)
}

//! The function that the main thread waits in, which is the first question about a recording of waiting threads.

use super::own_code::OwnCode;
use super::owners::Owner;
use crate::calltree::StackWeight;
use crate::hash::IndexMap;
use crate::profile::{FunctionId, Profile, ThreadId};
use crate::report::Amount;
use crate::units::Unit;

/// A main thread that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// The main thread with most samples.
    pub thread: ThreadId,
    /// All samples of the thread.
    pub of_thread: Amount,
    /// Samples in which the thread waits.
    pub waiting: Amount,
    /// The function that it waits in most.
    pub function: FunctionId,
    /// The function of app code that called it in most of these samples; `None` if there is no such function.
    pub asked_by: Option<FunctionId>,
}

/// The main thread with most samples, if it waits.
pub(super) fn wait(profile: &Profile, code: &OwnCode<'_>, rows: &[StackWeight], unit: Unit) -> Option<Wait> {
    let of_thread = heaviest(rows.iter().filter(|row| profile.thread(row.thread).is_main), |row| Some(row.thread))?;
    let of_main = || rows.iter().filter(|row| row.thread == of_thread);
    let waits = |row: &&StackWeight| row.stack.is_some_and(|stack| code.waits(stack));
    let function = heaviest(of_main().filter(waits), |row| row.stack.map(|stack| code.function(stack)))?;
    let in_it = |row: &&StackWeight| row.stack.is_some_and(|stack| code.function(stack) == function);
    let asked_by = |row: &StackWeight| match code.owners.of(row.stack?) {
        Owner::Own(place) => Some(Some(code.function(place))),
        Owner::Unknown(_) | Owner::System => Some(None),
    };
    Some(Wait {
        thread: of_thread,
        of_thread: Amount::of_rows(of_main(), unit),
        waiting: Amount::of_rows(of_main().filter(waits), unit),
        function,
        asked_by: heaviest(of_main().filter(in_it), asked_by).flatten(),
    })
}

/// The key with the most samples; the first one among equal keys.
fn heaviest<'r, K: Copy + Eq + std::hash::Hash>(
    rows: impl Iterator<Item = &'r StackWeight>,
    key: impl Fn(&StackWeight) -> Option<K>,
) -> Option<K> {
    let mut sums: IndexMap<K, u64> = IndexMap::default();
    for (row, key) in rows.filter_map(|row| Some((row, key(row)?))) {
        *sums.entry(key).or_default() += row.samples;
    }
    sums.into_iter().rev().max_by_key(|&(_, samples)| samples).map(|(key, _)| key)
}

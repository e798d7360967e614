//! The share of its inputs that several datasets have together.

use std::collections::BTreeSet;

use traceparse::fleet::Completeness;

use super::super::store::Shards;

/// The shards that datasets have together; `None` if they are no shards.
pub(super) fn shards(all: &[Option<Shards>]) -> Option<Shards> {
    let count = all.iter().flatten().map(|shards| shards.count).next()?;
    if all.iter().any(|shards| shards.as_ref().is_none_or(|shards| shards.count != count)) {
        // Each of them is whole by itself.
        return None;
    }
    let have: BTreeSet<u64> = all.iter().flatten().flat_map(|shards| shards.have.iter().copied()).collect();
    let inputs = all.iter().flatten().filter_map(|shards| shards.inputs).max();
    let root = all.iter().flatten().find_map(|shards| shards.root.clone());
    Some(Shards { count, have, inputs, root })
}

/// The inputs of datasets that have so many files more than once.
pub(super) fn completeness(all: &[Completeness], shards: Option<&Shards>, repeated: u64) -> Completeness {
    let sum = |number: fn(&Completeness) -> Option<u64>| {
        let sum = all.iter().map(number).try_fold(0_u64, |sum, number| Some(sum.saturating_add(number?)));
        sum.map(|sum| sum.saturating_sub(repeated))
    };
    let (expected, done) = (sum(|it| it.inputs_expected), sum(|it| it.inputs_done));
    let is_part = shards.is_some_and(|shards| !shards.is_whole());
    let has_incomplete = all.iter().any(|it| it.is_complete == Some(false));
    let of_fleet = shards.and_then(|shards| shards.inputs);
    // A file that no shard has was there for some of them only.
    let is_short = of_fleet.zip(done).is_some_and(|(of_fleet, done)| done < of_fleet);
    let is_complete = if is_part || has_incomplete || is_short {
        Some(false)
    } else {
        all.iter().all(|it| it.is_complete == Some(true)).then_some(true)
    };
    let expected = match of_fleet {
        _ if is_complete == Some(true) => done,
        Some(of_fleet) if is_complete == Some(false) => Some(of_fleet.max(done.unwrap_or(0))),
        _ => expected,
    };
    Completeness { is_complete, inputs_expected: expected, inputs_done: done.min(expected.or(done)) }
}

//! The share of its inputs that several datasets have together.

use std::collections::BTreeSet;

use crate::fleet::Completeness;
use crate::fleet::error::{FleetError, Result, error};

use crate::fleet::store::Shards;

/// All shards of the datasets together; `None` if the datasets are not shards of one fleet, and each one is complete on
/// its own.
///
/// # Errors
/// When they are shards of recordings that none of them found like that.
pub(super) fn shards(all: &[(String, Option<Shards>)]) -> Result<Option<Shards>> {
    let of_each: Vec<&Shards> = all.iter().filter_map(|(_, shards)| shards.as_ref()).collect();
    let [first, ..] = of_each.as_slice() else { return Ok(None) };
    if of_each.len() < all.len() || of_each.iter().any(|shards| shards.count != first.count) {
        // The datasets have the same settings, so each one is complete on its own.
        return Ok(None);
    }
    // The newest, if recordings came or went between the extracts.
    let newest = of_each.iter().find(|newest| of_each.iter().all(|other| newest.knows(other)));
    let is_whole = of_each.iter().all(|shards| shards.is_whole());
    let newest = match newest {
        Some(newest) => newest,
        None if !is_whole => return Err(of_others(all)),
        // The same path means the same file: a file that changed is refused later.
        None if first.root.is_some() && of_each.iter().all(|shards| shards.root == first.root) => {
            of_each.iter().max_by_key(|shards| shards.inputs).unwrap_or(first)
        }
        None => return Ok(None),
    };
    let have: BTreeSet<u64> = of_each.iter().flat_map(|shards| shards.have.iter().copied()).collect();
    let root = of_each.iter().find_map(|shards| shards.root.clone());
    Ok(Some(Shards { have, root, ..(*newest).clone() }))
}

/// The error for shards of different recordings.
fn of_others(all: &[(String, Option<Shards>)]) -> FleetError {
    let name = |(name, shards): &(String, Option<Shards>)| {
        let shards = shards.as_ref().map(Shards::name).unwrap_or_default();
        format!("{name} ({shards})")
    };
    let knows = |(_, first): &(String, Option<Shards>), (_, other): &(String, Option<Shards>)| {
        first.as_ref().zip(other.as_ref()).is_some_and(|(first, other)| first.knows(other) && other.knows(first))
    };
    let [first, ..] = all else { return error!("no shards") };
    let other = all.iter().find(|other| !knows(first, other)).unwrap_or(first);
    error!(
        "{} and {} are shards of different recordings: names or lengths below their roots differ. If they are of one fleet, extract both \
         again with the same inputs; shards of different fleets cannot be put together: merge those of each fleet, then the results",
        name(first),
        name(other)
    )
}

/// The completeness of datasets that share this number of files.
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

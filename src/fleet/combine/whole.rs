//! Checks that datasets can be combined, which requires that their runs were measured in the same way. Also determines their completeness, and
//! what to print about incomplete datasets.

use std::collections::BTreeSet;

use crate::fleet::Completeness;
use crate::fleet::error::{FleetError, Result, bail, error};
use crate::fleet::store::{MadeWith, Shards, Store, described};
use crate::settings::{ALLOW_TRUNCATED, NO_BUNDLED_SYMBOLS, NO_INLINES, REMOVE_OTHERS, SCHEMA, SHARD, STACKS};
use crate::units::{counted, several};

/// All shards in the datasets together; `None` if they are not shards of one fleet, so each is complete by itself.
///
/// # Errors
/// If they are shards of different recordings.
pub(super) fn shards(all: &[(String, Option<Shards>)]) -> Result<Option<Shards>> {
    let of_each: Vec<&Shards> = all.iter().filter_map(|(_, shards)| shards.as_ref()).collect();
    let [first, ..] = of_each.as_slice() else { return Ok(None) };
    if of_each.len() < all.len() || of_each.iter().any(|shards| shards.count != first.count) {
        // The settings are the same, so each dataset is complete by itself.
        return Ok(None);
    }
    // The newest dataset, if recordings were added or removed between extracts.
    let newest = of_each.iter().find(|newest| of_each.iter().all(|other| newest.knows(other)));
    let is_whole = of_each.iter().all(|shards| shards.is_whole());
    let newest = match newest {
        Some(newest) => newest,
        None if !is_whole => return Err(of_others(all)),
        // The same path means the same file. If a file has changed, it is rejected later.
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
        "{} and {} are shards of different recordings: names or lengths below their roots differ. If they \
         belong to one fleet, extract both again with the same inputs; shards of different fleets cannot be combined: \
         first merge the shards of each fleet, then the results",
        name(first),
        name(other)
    )
}

/// The completeness of combined datasets, which have `repeated` files in common.
pub(super) fn completeness(all: &[Completeness], shards: Option<&Shards>, repeated: u64) -> Completeness {
    let sum = |number: fn(&Completeness) -> Option<u64>| {
        let sum = all.iter().map(number).try_fold(0_u64, |sum, number| Some(sum.saturating_add(number?)));
        sum.map(|sum| sum.saturating_sub(repeated))
    };
    let (expected, done) = (sum(|it| it.inputs_expected), sum(|it| it.inputs_done));
    let is_part = shards.is_some_and(|shards| !shards.is_whole());
    let has_incomplete = all.iter().any(|it| it.is_complete == Some(false));
    let of_fleet = shards.and_then(|shards| shards.inputs);
    // Files in no shard existed only during some of the extracts.
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

/// Checks that a dataset can be combined with the first one.
///
/// # Errors
/// Names the settings in which the two datasets differ.
pub(super) fn check_likeness(first: (&str, &Store), other: (&str, &Store)) -> Result<()> {
    let ((a, first), (b, other)) = (first, other);
    let [of_first, of_other] = [first.selection(), other.selection()];
    if of_first != of_other {
        let [of_first, of_other] = [of_first, of_other].map(|selection| described(&selection));
        bail!(
            "{b}: measured with a different selection ({of_other}) from {a} ({of_first}); extract one of them again with the selection of the other"
        );
    }
    let [of_first, of_other] = [first.made_with(), other.made_with()];
    if of_first.settings.is_some() && of_other.settings.is_some() && of_first.settings != of_other.settings {
        let [of_first, of_other] = [of_first, of_other].map(|made_with| symbols(&made_with));
        let [of_first, of_other] = match of_first == of_other {
            true => [String::new(), String::new()],
            false => [of_first, of_other].map(|symbols| format!(" ({symbols})")),
        };
        bail!(
            "{b}: measured with other settings{of_other} than {a}{of_first}: the symbols, {SCHEMA}, {ALLOW_TRUNCATED}, {NO_INLINES}, \
             {NO_BUNDLED_SYMBOLS}, {STACKS} or the version of traceparse differ; extract one of them again with the settings of the other"
        );
    }
    check_shards((a, first.shards().as_ref()), (b, other.shards().as_ref()))
}

fn check_shards((a, first): (&str, Option<&Shards>), (b, other): (&str, Option<&Shards>)) -> Result<()> {
    let is_part = |shards: &Option<&Shards>| shards.is_some_and(|shards| !shards.is_whole());
    if !is_part(&first) && !is_part(&other) {
        return Ok(());
    }
    match (first, other) {
        (Some(first), Some(other)) if first.count == other.count => Ok(()),
        _ => {
            let name = |shards: Option<&Shards>| shards.map_or("no shard".to_owned(), Shards::name);
            let (first, other) = (name(first), name(other));
            bail!(
                "{b}: {other}, but {a}: {first}; shards of different fleets cannot be combined: first merge the \
                 shards of each fleet, then the results"
            )
        }
    }
}

fn symbols(made_with: &MadeWith) -> String {
    match made_with.symbols.as_slice() {
        [] => "no symbols".to_owned(),
        paths => format!("symbols of {}", paths.join(", ")),
    }
}

/// Why a dataset is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack<'m> {
    /// Shards that are missing, such as `16/16`.
    Shards(&'m [String]),
    /// A merge did not finish.
    Merge,
    /// An extract did not finish.
    Extract,
    /// Files whose data files were deleted.
    Lost,
    /// Inputs that are in no dataset, although each dataset is complete by itself.
    Inputs,
}

/// Returns a sentence such as `fleet: incomplete: the last extract did not finish (49 of 250 files done); …`, with advice on how to get the
/// missing data.
pub(super) fn incomplete(name: &str, completeness: Completeness, lack: Lack<'_>) -> String {
    let Completeness { inputs_expected, inputs_done, .. } = completeness;
    let files = inputs_expected.map(|expected| match inputs_done {
        Some(done) => format!(" ({} of {} done)", counted(done), several(expected, "file")),
        None => format!(" ({})", several(expected, "file")),
    });
    let (why, advice) = match lack {
        Lack::Shards(shards) => {
            let shards = match shards {
                [shard] => format!("shard {shard} is missing"),
                shards => format!("shards {} are missing", shards.join(", ")),
            };
            (shards, format!("extract them with {SHARD}, then also pass them"))
        }
        Lack::Merge => ("the merge into it did not finish".to_owned(), "run the same `fleet merge` again".to_owned()),
        Lack::Extract => {
            ("the last extract did not finish".to_owned(), "run the same `fleet extract` to continue".to_owned())
        }
        Lack::Lost => (
            "it lost files with data files that are gone".to_owned(),
            format!("extract its previous inputs again, or give up the lost files with {REMOVE_OTHERS}"),
        ),
        Lack::Inputs => (
            "its parts lack inputs".to_owned(),
            "complete the extracts that it was merged from, with the same inputs for all shards, and merge them again"
                .to_owned(),
        ),
    };
    format!("{name}: incomplete: {why}{}; {advice}", files.unwrap_or_default())
}

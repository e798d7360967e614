//! Datasets that can be taken together, since their runs were measured in the same way; the share of the inputs that they
//! have, and the sentences about datasets that lack something.

use std::collections::BTreeSet;

use crate::fleet::Completeness;
use crate::fleet::error::{FleetError, Result, bail, error};
use crate::fleet::store::{MadeWith, Shards, Store, described};
use crate::units::{counted, several};

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
        "{} and {} are shards of different recordings: names or lengths below their roots differ. If they are of \
         one fleet, extract both again with the same inputs; shards of different fleets cannot be combined: first \
         merge the shards of each fleet, then the results",
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

/// Checks that a dataset can be taken together with the first one.
///
/// # Errors
/// Fails with the settings in which two datasets differ.
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
            "{b}: measured with other settings{of_other} than {a}{of_first}: the symbols, --schema, --allow-truncated, --no-inlines, \
             --no-bundled-symbols, --stacks or the version of traceparse differ; extract one of them again with the settings of the other"
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

/// The reason why a dataset lacks something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack<'m> {
    /// These shards, such as `16/16`.
    Shards(&'m [String]),
    /// The end of a merge.
    Merge,
    /// The end of an extract.
    Extract,
    /// Files of data files that are gone.
    Lost,
    /// Inputs that are in none of the datasets, although each of these is what it should be.
    Inputs,
}

/// `fleet: incomplete: the last extract did not finish (49 of 250 files done); …`, with advice on how to get what is
/// missing.
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
            (shards, "extract them with --shard, then also pass them")
        }
        Lack::Merge => ("the merge into it did not finish".to_owned(), "run the same `fleet merge` again"),
        Lack::Extract => ("the last extract did not finish".to_owned(), "run the same `fleet extract` to continue"),
        Lack::Lost => (
            "it lost files with data files that are gone".to_owned(),
            "extract its previous inputs again, or give up the lost files with --remove-others",
        ),
        Lack::Inputs => (
            "its parts lack inputs".to_owned(),
            "complete the extracts that it was merged from, with the same inputs for all shards, and merge them again",
        ),
    };
    format!("{name}: incomplete: {why}{}; {advice}", files.unwrap_or_default())
}

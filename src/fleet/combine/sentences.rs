//! The sentences about datasets that lack something.

use crate::fleet::Completeness;

use crate::units::{counted, several};

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

/// `fleet: incomplete: the last extract did not finish (49 of 250 files done)`.
pub(super) fn incomplete(name: &str, completeness: Completeness, lack: Lack<'_>) -> String {
    let Completeness { inputs_expected, inputs_done, .. } = completeness;
    let files = inputs_expected.map(|expected| match inputs_done {
        Some(done) => format!(" ({} of {} done)", counted(done), several(expected, "file")),
        None => format!(" ({})", several(expected, "file")),
    });
    let why = match lack {
        Lack::Shards([shard]) => format!("shard {shard} is missing"),
        Lack::Shards(shards) => format!("shards {} are missing", shards.join(", ")),
        Lack::Merge => "the merge into it did not finish".to_owned(),
        Lack::Extract => "the last extract did not finish".to_owned(),
        Lack::Lost => "it lost files with data files that are gone".to_owned(),
        Lack::Inputs => "its parts lack inputs".to_owned(),
    };
    format!("{name}: incomplete: {why}{}", files.unwrap_or_default())
}

/// Advice on how to get what is missing.
pub(super) const fn advice(lack: Lack<'_>) -> &'static str {
    match lack {
        Lack::Shards(_) => "extract them with --shard, then name them, too",
        Lack::Merge => "run the same `fleet merge` again",
        Lack::Extract => "run the same `fleet extract` to continue",
        Lack::Lost => "extract its previous inputs again, or give up the lost files with --remove-others",
        Lack::Inputs => {
            "complete the extracts that it was merged from, with the same inputs for all shards, and merge them again"
        }
    }
}

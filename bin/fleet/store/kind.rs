//! The kinds of datasets, by what tells which files belong to them.

/// The truth about which files belong to a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    /// The manifest lists them.
    Listed,
    /// All that are in the folder do: its version is below 4.
    Older,
    /// The same of files that an engine wrote, which have no ids and no manifest.
    Rewritten,
}

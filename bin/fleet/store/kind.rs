//! The kinds of datasets, by what tells which files belong to them.

/// The truth about which files belong to a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    /// The manifest lists them.
    Listed,
    /// All files in the folder belong to it: an engine wrote them, without IDs and without a manifest.
    Rewritten,
}

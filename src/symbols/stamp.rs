//! Identifies versions of files.

use std::path::Path;

use crate::files::{Entry, Files};

/// Identifies a version of a file. The default represents a missing file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The length in bytes.
    pub length: u64,
    /// The modification time, in nanoseconds since 1970; 0 if unknown, which never matches.
    pub modified: u64,
    /// The time of the last change according to the system; 0 if unknown.
    pub changed: u64,
}

impl Stamp {
    /// Returns the stamp of the file at a path.
    pub(super) fn of(files: &dyn Files, path: &Path) -> Self {
        match files.entry(path) {
            Ok(Entry::File { length, modified, changed }) => Self { length, modified, changed },
            _ => Self::default(),
        }
    }
}

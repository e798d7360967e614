//! The contents of an archive, counted against the limits while its names are read.

use std::fmt;
use std::path::Path;

use super::super::file::over_budget;
use super::folder_tree::{Item, Names};
use crate::error::{Error, ErrorKind};
use crate::memory::{MemoryBudget, Reservation};

/// Bounds on what archives may cost; real recordings stay far below the defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// The number of bytes that the files of an archive may have together, inflated. Default: 8 GiB.
    pub inflated_bytes: u64,
    /// The number of files and folders that an archive may have. Default: 1,000,000.
    pub entries: usize,
    /// The number of bytes that a compressed tar may take in memory, inflated. Default: 4 GiB.
    pub memory_bytes: u64,
    /// The memory that all archives may take together, with everything else that shares the budget. Default: as much as there is.
    pub memory: MemoryBudget,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        let memory = MemoryBudget::unlimited();
        Self { inflated_bytes: 8 << 30, entries: 1_000_000, memory_bytes: 4 << 30, memory }
    }
}

/// The names in an archive, and the memory that they take.
pub(super) struct ArchiveIndex {
    pub(super) names: Names,
    pub(super) _reserved: Reservation,
}

pub(super) fn malformed(archive: &Path, what: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Malformed(format!("{}: {what}", archive.display())), None)
}

pub(super) fn limit(archive: &Path, what: impl fmt::Display) -> Error {
    Error::limit(format!("{}: {what}", archive.display()))
}

/// Counts what an archive holds against its limits.
pub(super) struct Budget<'a> {
    archive: &'a Path,
    limits: &'a ArchiveLimits,
    names: Names,
    bytes: u64,
    /// About what the names take.
    reserved: Reservation,
}

/// About the memory of an entry in addition to its name, here and in the archive's own index.
const ENTRY_BYTES: u64 = 512;

impl<'a> Budget<'a> {
    pub(super) fn new(archive: &'a Path, limits: &'a ArchiveLimits) -> Self {
        Self { archive, limits, names: Names::default(), bytes: 0, reserved: limits.memory.nothing() }
    }

    pub(super) fn finish(self) -> ArchiveIndex {
        ArchiveIndex { names: self.names, _reserved: self.reserved }
    }

    /// Adds an entry of the archive; a folder has no item.
    pub(super) fn add(&mut self, name: &str, item: Option<Item>, position: u64) -> Result<(), Error> {
        let length = item.as_ref().map_or(0, |item| item.length);
        self.bytes = self.bytes.saturating_add(length);
        self.reserved.grow(ENTRY_BYTES + name.len() as u64).map_err(|over| over_budget(self.archive, over))?;
        if self.bytes > self.limits.inflated_bytes {
            let what = format!("what it holds is larger than {} bytes, unpacked", self.limits.inflated_bytes);
            return Err(limit(self.archive, what));
        }
        self.names.add(name, item).map_err(|what| {
            let name: String = name.chars().take(200).collect();
            malformed(self.archive, format!("the entry {name:?} at byte {position} {what}"))
        })?;
        if self.names.len() > self.limits.entries {
            return Err(limit(self.archive, format!("it holds more than {} files and folders", self.limits.entries)));
        }
        Ok(())
    }
}

//! The names in an archive, as a tree of folders.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::super::file::over_budget;
use crate::error::{Error, ErrorKind};
use crate::memory::{MemoryBudget, Reservation};

/// The maximum depth of folders; recordings have about a dozen levels.
const MAX_DEPTH: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Item {
    /// In bytes, inflated.
    pub(super) length: u64,
    /// The offset of its header in the archive, for error messages.
    pub(super) position: u64,
    pub(super) place: Place,
}

#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In a tar, from this offset.
    Range(u64),
    /// In a zip.
    Zipped(Zipped),
    /// The entry exists but cannot be read, for this reason.
    Refused(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Zipped {
    /// The offset of its local header, which precedes its bytes.
    pub(super) header: u64,
    /// The compressed size in bytes.
    pub(super) packed: u64,
    pub(super) is_deflated: bool,
    /// The checksum of the inflated bytes.
    pub(super) crc: u32,
}

#[derive(Debug, Default)]
pub(super) struct Node {
    /// `None` for a folder.
    pub(super) item: Option<Item>,
    /// Node indices by name.
    pub(super) children: BTreeMap<Box<str>, usize>,
}

/// All files and folders; the first node is the archive's root.
#[derive(Debug)]
pub(super) struct Names(Vec<Node>);

impl Default for Names {
    fn default() -> Self {
        Self(vec![Node::default()])
    }
}

impl Names {
    /// The number of files and folders.
    pub(super) fn len(&self) -> usize {
        self.0.len() - 1
    }

    /// Adds a file or folder, with its parent folders.
    ///
    /// # Errors
    /// If the name is invalid. The message completes a sentence about the entry.
    pub(super) fn add(&mut self, name: &str, item: Option<Item>) -> Result<(), &'static str> {
        let parts = parts(name)?;
        let Some((last, folders)) = parts.split_last() else {
            return if item.is_none() { Ok(()) } else { Err("has no name") };
        };
        let mut folder = 0;
        for part in folders {
            folder = self.child(folder, part)?;
        }
        let is_new = !self.0[folder].children.contains_key(*last);
        let node = self.child(folder, last)?;
        match item {
            Some(item) if is_new => self.0[node].item = Some(item),
            Some(_) => return Err("has the same name as another entry"),
            None if self.0[node].item.is_some() => return Err("is a folder, and has the name of a file"),
            None => {}
        }
        Ok(())
    }

    /// Returns a child of a folder, creating it as a folder if necessary.
    fn child(&mut self, folder: usize, name: &str) -> Result<usize, &'static str> {
        if self.0[folder].item.is_some() {
            return Err("is in a folder that is a file");
        }
        if let Some(&node) = self.0[folder].children.get(name) {
            return Ok(node);
        }
        let node = self.0.len();
        self.0.push(Node::default());
        self.0[folder].children.insert(name.into(), node);
        Ok(node)
    }

    pub(super) fn find(&self, parts: &[&str]) -> Option<(usize, &Node)> {
        let mut index = 0;
        for part in parts {
            index = *self.0[index].children.get(*part)?;
        }
        Some((index, &self.0[index]))
    }
}

/// Splits a name at slashes, dropping empty parts and `.`.
fn parts(name: &str) -> Result<Vec<&str>, &'static str> {
    if name.starts_with('/') {
        return Err("has an absolute name");
    }
    if name.contains('\0') {
        return Err("has a zero byte in its name");
    }
    let parts: Vec<&str> =
        name.split('/').filter(|part| !part.is_empty() && *part != ".").take(MAX_DEPTH + 1).collect();
    if parts.contains(&"..") {
        return Err("has a name that leads out of its folder");
    }
    if parts.len() > MAX_DEPTH { Err("is in too many folders") } else { Ok(parts) }
}

/// Limits for reading archives. Real recordings stay far below the defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// The maximum inflated size of all files of an archive in bytes. Default: 8 GiB.
    pub inflated_bytes: u64,
    /// The maximum number of files and folders in an archive. Default: 1,000,000.
    pub entries: usize,
    /// The maximum inflated size of a compressed tar, which is kept in memory, in bytes. Default: 4 GiB.
    pub memory_bytes: u64,
    /// The memory for all archives together, shared with everything else that uses this budget. Default: unlimited.
    pub memory: MemoryBudget,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        let memory = MemoryBudget::unlimited();
        Self { inflated_bytes: 8 << 30, entries: 1_000_000, memory_bytes: 4 << 30, memory }
    }
}

/// The names in an archive, with their memory reservation.
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

/// Charges archive contents against the limits.
pub(super) struct Budget<'a> {
    archive: &'a Path,
    limits: &'a ArchiveLimits,
    names: Names,
    bytes: u64,
    /// The approximate memory of the names.
    reserved: Reservation,
}

/// The approximate memory per entry in addition to its name, here and in the archive's index.
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
            let what = format!("its unpacked contents are larger than {} bytes", self.limits.inflated_bytes);
            return Err(limit(self.archive, what));
        }
        self.names.add(name, item).map_err(|what| {
            let name: String = name.chars().take(200).collect();
            malformed(self.archive, format!("the entry {name:?} at byte {position} {what}"))
        })?;
        if self.names.len() > self.limits.entries {
            return Err(limit(
                self.archive,
                format!("it contains more than {} files and folders", self.limits.entries),
            ));
        }
        Ok(())
    }
}

//! The names in an archive, as a tree of folders.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::super::file::over_budget;
use crate::error::{Error, ErrorKind};
use crate::memory::{MemoryBudget, Reservation};

/// The largest depth of folders; recordings have about a dozen levels.
const MAX_DEPTH: usize = 64;

/// A file in an archive.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Bytes, inflated.
    pub(super) length: u64,
    /// The byte of the archive at which its header starts, where a person would look.
    pub(super) position: u64,
    pub(super) place: Place,
}

/// The place of a file's bytes.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In a tar, from this byte on.
    Range(u64),
    /// In a zip.
    Zipped(Zipped),
    /// The entry exists but is not read, for this reason.
    Refused(&'static str),
}

/// An entry of a zip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zipped {
    /// The offset of its local header, which precedes its bytes.
    pub(super) header: u64,
    /// The number of bytes that it takes.
    pub(super) packed: u64,
    pub(super) is_deflated: bool,
    /// The checksum of the inflated bytes.
    pub(super) crc: u32,
}

/// A file or a folder.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// `None` for a folder.
    pub(super) item: Option<Item>,
    /// By name: indices of nodes.
    pub(super) children: BTreeMap<Box<str>, usize>,
}

/// All files and folders; the first one is the archive.
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

    /// Adds a file, or a folder, with the folders it is in.
    ///
    /// # Errors
    /// If the name is invalid; the text is the end of a sentence about it.
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
            Some(_) => return Err("has the name of another one"),
            None if self.0[node].item.is_some() => return Err("is a folder, and has the name of a file"),
            None => {}
        }
        Ok(())
    }

    /// The node of a name in a folder; a new folder if it does not exist.
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

    /// The node at these names, each in the folder before.
    pub(super) fn find(&self, parts: &[&str]) -> Option<(usize, &Node)> {
        let mut index = 0;
        for part in parts {
            index = *self.0[index].children.get(*part)?;
        }
        Some((index, &self.0[index]))
    }
}

/// The parts of a name, without empty parts and dots.
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

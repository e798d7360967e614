//! The files of a bundle in memory, as a file system for the library.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use traceparse::files::{Entry, Files as FileSystem};

use super::pack::Files;

/// The path of the bundle in [`Memory::of_bundle`].
pub const BUNDLE: &str = "/orchard.trace";

/// Files by path. Their parent paths are folders.
#[derive(Default)]
pub struct Memory<'a> {
    files: BTreeMap<PathBuf, Cow<'a, [u8]>>,
    folders: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

impl<'a> Memory<'a> {
    /// The files of a bundle. If two have the same path, the last one is used.
    pub fn of_bundle(files: &'a Files) -> Memory<'a> {
        let mut memory = Memory::default();
        memory.folders.entry(PathBuf::from(BUNDLE)).or_default();
        for (path, bytes) in files {
            memory.add(&Path::new(BUNDLE).join(path), bytes.as_slice().into());
        }
        memory
    }

    pub fn add(&mut self, path: &Path, bytes: Cow<'a, [u8]>) {
        self.files.insert(path.to_owned(), bytes);
        let mut child = path;
        while let Some(parent) = child.parent() {
            self.folders.entry(parent.to_owned()).or_default().insert(child.to_owned());
            child = parent;
        }
    }
}

impl FileSystem for Memory<'_> {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        match self.files.get(path) {
            Some(bytes) => Ok(Entry::File { length: bytes.len() as u64, modified: 0, changed: 0 }),
            None if self.folders.contains_key(path) => Ok(Entry::Folder),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.entry(path).map(|_| path.to_owned())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let children = self.folders.get(folder).ok_or(io::ErrorKind::NotFound)?;
        Ok(children.iter().cloned().collect())
    }

    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let bytes = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
        Ok(rest[..rest.len().min(length)].to_vec())
    }
}

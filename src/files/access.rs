//! Access to files in any file system.

use std::ffi::OsString;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::file_bytes::{FileBytes, Source, changed_meanwhile, cut};

/// The thing at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file, with its length and times in nanoseconds since 1970, 0 where unknown.
    File {
        /// Bytes.
        length: u64,
        /// The time of the last change of its content, according to the file; a program that copies a file may set it.
        modified: u64,
        /// The time of the last change of any kind, as recorded by the system; 0 if it records none.
        changed: u64,
    },
    /// A folder.
    Folder,
    /// Something else (a pipe, a device).
    Other,
}

/// The kind of a folder's entry, as listed in the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, or an entry that the file system does not distinguish from one: its target is unknown.
    Link,
    /// Something else (a pipe, a device).
    Other,
}

/// The times when the entries of a folder last changed, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderTimes {
    /// According to the folder; a program that copies it may set it.
    pub modified: u64,
    /// The change time recorded by the system; 0 if it records none.
    pub changed: u64,
}

/// A file system: on this machine, elsewhere, or in memory.
pub trait Files: Sync {
    /// The thing at `path`, through links.
    ///
    /// # Errors
    /// When there is nothing, or it may not be looked at.
    fn entry(&self, path: &Path) -> io::Result<Entry>;

    /// The canonical path of the file or folder at `path`, with links resolved: two paths to one folder have the same
    /// canonical path.
    ///
    /// # Errors
    /// As [`entry`](Self::entry).
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// The paths in a folder, in any order.
    ///
    /// # Errors
    /// When it is not a folder, or may not be read.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// The entries of a folder with their kinds, in any order. A file system that does not know the kinds calls all of them links,
    /// which costs a look at each.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    fn list_kinds(&self, folder: &Path) -> io::Result<Vec<(OsString, EntryKind)>> {
        let paths = self.list(folder)?;
        let named = |path: PathBuf| Some((path.file_name()?.to_owned(), EntryKind::Link));
        Ok(paths.into_iter().filter_map(named).collect())
    }

    /// The times when the entries of a folder last changed: as long as they stay the same, so do the names and kinds of the entries. `None`
    /// if they prove nothing: they are unknown, or so recent that another change might not show.
    fn folder_times(&self, folder: &Path) -> Option<FolderTimes> {
        let _ = folder;
        None
    }

    /// Up to `length` bytes of a file from `offset` on; fewer where it ends.
    ///
    /// # Errors
    /// When the file may not be read.
    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>>;

    /// Like [`read`](Self::read), but into the caller's buffer; returns the number of bytes read.
    ///
    /// # Errors
    /// When the file may not be read.
    fn read_into(&self, path: &Path, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        let bytes = self.read(path, offset, place.len())?;
        let count = bytes.len().min(place.len());
        place[..count].copy_from_slice(&bytes[..count]);
        Ok(count)
    }

    /// The bytes of a file or pipe from start to end.
    ///
    /// # Errors
    /// When there is no file, or it may not be read.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send + '_>> {
        if matches!(self.entry(path)?, Entry::Folder) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Box::new(FromStart { files: self, path: path.to_owned(), offset: 0 }))
    }

    /// Loads a part of a file of which only some pieces may be needed: they are read on request.
    ///
    /// # Errors
    /// When the file may not be read, or ends before the part does.
    fn load(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes<'_>> {
        let entry = self.entry(path)?;
        let source = OfFiles { files: self, path: path.to_owned(), entry };
        if !matches!(entry, Entry::File { length, .. } if range.end <= length) {
            return Err(cut());
        }
        Ok(FileBytes::new(Box::new(source), range))
    }
}

/// A file of any file system, which is found anew for each piece.
struct OfFiles<'f, F: ?Sized> {
    files: &'f F,
    path: PathBuf,
    entry: Entry,
}

impl<F: Files + ?Sized> Source for OfFiles<'_, F> {
    fn read_at(&mut self, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        self.files.read_into(&self.path, offset, place)
    }

    fn check(&self) -> io::Result<()> {
        if self.files.entry(&self.path)? == self.entry { Ok(()) } else { Err(changed_meanwhile()) }
    }
}

/// A file of any file system, which is found anew for each read, from its start to its end.
struct FromStart<'f, F: ?Sized> {
    files: &'f F,
    path: PathBuf,
    offset: u64,
}

impl<F: Files + ?Sized> Read for FromStart<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.files.read_into(&self.path, self.offset, buffer)?;
        self.offset += count as u64;
        Ok(count)
    }
}

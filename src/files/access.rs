//! Access to files in any file system.

use std::ffi::OsString;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::file_bytes::{FileBytes, Source, changed_meanwhile, cut};

/// The kind of file at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file. Its times are in nanoseconds since 1970, or 0 if unknown.
    File {
        /// The length in bytes.
        length: u64,
        /// The modification time of the content. Programs that copy files can set it.
        modified: u64,
        /// When anything about the file last changed, as recorded by the system; 0 if not recorded.
        changed: u64,
    },
    /// A folder.
    Folder,
    /// Something else (a pipe, a device).
    Other,
}

/// The kind of an entry, as its folder lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, or possibly one; its target is unknown.
    Link,
    /// Something else (a pipe, a device).
    Other,
}

/// When the entries of a folder last changed, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderTimes {
    /// The modification time. Programs that copy folders can set it.
    pub modified: u64,
    /// The change time recorded by the system; 0 if not recorded.
    pub changed: u64,
}

/// A file system: on this machine, elsewhere, or in memory.
pub trait Files: Sync {
    /// Returns the kind of file at `path`, following links.
    ///
    /// # Errors
    /// If it does not exist, or access is denied.
    fn entry(&self, path: &Path) -> io::Result<Entry>;

    /// Returns the canonical path of a file or folder, with links resolved. Two paths to the same folder have the same canonical path.
    ///
    /// # Errors
    /// As [`entry`](Self::entry).
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// Lists the paths in a folder, in any order.
    ///
    /// # Errors
    /// If it is not a folder, or cannot be read.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Lists the entries of a folder with their kinds, in any order. A file system that cannot list kinds returns links, and the caller then
    /// queries each target.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    fn list_kinds(&self, folder: &Path) -> io::Result<Vec<(OsString, EntryKind)>> {
        let paths = self.list(folder)?;
        let named = |path: PathBuf| Some((path.file_name()?.to_owned(), EntryKind::Link));
        Ok(paths.into_iter().filter_map(named).collect())
    }

    /// Returns when the entries of a folder last changed. As long as these times are the same, so are the names and kinds of the entries. `None`
    /// if the times prove nothing: they are unknown, or so recent that another change may not alter them.
    fn folder_times(&self, folder: &Path) -> Option<FolderTimes> {
        let _ = folder;
        None
    }

    /// Reads up to `length` bytes of a file from `offset` on; fewer at the end of the file.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>>;

    /// Like [`read`](Self::read), but into the caller's buffer. Returns the number of bytes read.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn read_into(&self, path: &Path, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        let bytes = self.read(path, offset, place.len())?;
        let count = bytes.len().min(place.len());
        place[..count].copy_from_slice(&bytes[..count]);
        Ok(count)
    }

    /// Opens a file or pipe for reading from start to end.
    ///
    /// # Errors
    /// If the file does not exist, or cannot be read.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send + '_>> {
        if matches!(self.entry(path)?, Entry::Folder) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Box::new(FromStart { files: self, path: path.to_owned(), offset: 0 }))
    }

    /// Opens a part of a file, which is then read in pieces on demand.
    ///
    /// # Errors
    /// If the file cannot be read, or ends before the part does.
    fn load(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes<'_>> {
        let entry = self.entry(path)?;
        let source = OfFiles { files: self, path: path.to_owned(), entry };
        if !matches!(entry, Entry::File { length, .. } if range.end <= length) {
            return Err(cut());
        }
        Ok(FileBytes::new(Box::new(source), range))
    }
}

/// A file in any file system, reopened for each piece.
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

/// A file in any file system, read sequentially and reopened for each read.
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

//! The files below the locator: the one place in the library that touches a file system, behind a trait.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file, with its length and when it changed (nanoseconds since 1970, 0 where unknown).
    File {
        /// Bytes.
        length: u64,
        /// When its content changed last.
        modified: u64,
    },
    /// A folder.
    Folder,
    /// Something else (a pipe, a device).
    Other,
}

/// What the locator of symbol files needs of a file system.
pub trait Files: Sync {
    /// What is at `path`, through links.
    ///
    /// # Errors
    /// When there is nothing, or it may not be looked at.
    fn entry(&self, path: &Path) -> io::Result<Entry>;

    /// The one path of what is at `path`, through links: two paths of one folder have the same.
    ///
    /// # Errors
    /// As [`entry`](Self::entry).
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// The paths in a folder, in any order.
    ///
    /// # Errors
    /// When it is no folder, or may not be read.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Up to `length` bytes of a file from `offset` on; fewer where it ends.
    ///
    /// # Errors
    /// When the file may not be read.
    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>>;
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl Files for FileSystem {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        let metadata = std::fs::metadata(path)?;
        if metadata.is_dir() {
            return Ok(Entry::Folder);
        }
        if !metadata.is_file() {
            return Ok(Entry::Other);
        }
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let modified = modified.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        Ok(Entry::File { length: metadata.len(), modified })
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
    }

    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(path)?;
        if offset > 0 {
            file.seek(SeekFrom::Start(offset))?;
        }
        let mut bytes = Vec::new();
        file.take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

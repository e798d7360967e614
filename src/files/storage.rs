//! Writable storage, for programs that keep datasets outside this machine's file system.

use std::any::Any;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::Path;

use super::access::Files;
use crate::memory::{MemoryBudget, Size};

/// An open file of a [`Storage`].
pub trait StorageFile: Read + Write + Seek + Send {
    /// Waits until the content is on disk.
    ///
    /// # Errors
    /// If it cannot be written.
    fn sync(&self) -> io::Result<()>;
}

/// A writable file system that contains the folder of a dataset.
///
/// # Errors
/// Every method fails with the storage's error if the storage rejects the change.
#[allow(clippy::missing_errors_doc)]
pub trait Storage: Files + Send {
    /// Called before each change: returns an error with the reason if a file must not be written, replaced or removed.
    fn check_change(&self, path: &Path) -> Result<(), String> {
        let _ = path;
        Ok(())
    }

    /// Opens a file for random-access reading.
    fn open_file(&self, path: &Path) -> io::Result<Box<dyn StorageFile>>;

    /// Creates an empty file, or truncates an existing one.
    fn create_file(&self, path: &Path) -> io::Result<Box<dyn StorageFile>>;

    /// Appends to a file, which is created if it does not exist.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Creates a folder and its parent folders, if they do not exist.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Renames a file, replacing any file with the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Waits until the names in a folder are on disk. Without this, a rename may be lost in a power failure.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Locks a file: exclusively if `is_alone`, otherwise shared. An exclusive lock creates the file. The lock is held until the result is
    /// dropped. If another process holds it, the error has the kind [`WouldBlock`](ErrorKind::WouldBlock). A storage without locks returns any
    /// value.
    fn lock(&self, path: &Path, is_alone: bool) -> io::Result<Box<dyn Any + Send + Sync>>;

    /// Reads a file of at most this many bytes.
    fn read_whole(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        MemoryBudget::unlimited().read_all(self.open_file(path)?, most)
    }
}

impl MemoryBudget {
    /// Reads everything, up to this many bytes, within the budget.
    ///
    /// # Errors
    /// If there is more, or reading fails.
    pub fn read_all(&self, source: impl Read, most: u64) -> io::Result<Vec<u8>> {
        const FIRST: usize = 64 << 10;
        let (mut source, mut bytes, mut reserved) = (source.take(most + 1), Vec::new(), self.nothing());
        loop {
            let more = FIRST.max(bytes.len() / 2);
            reserved.resize((bytes.len() + more) as u64).map_err(io::Error::other)?;
            bytes.reserve_exact(more);
            if source.by_ref().take(more as u64).read_to_end(&mut bytes)? < more {
                break;
            }
        }
        if bytes.len() as u64 > most {
            return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {}", Size(most))));
        }
        Ok(bytes)
    }
}

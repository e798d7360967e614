//! Changes of files, for programs that keep datasets outside the file system of this machine.

use std::any::Any;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::Path;

use super::access::Files;
use crate::memory::{MemoryBudget, Size};

/// An open file of a [`Storage`].
pub trait StorageFile: Read + Write + Seek + Send {
    /// Returns when the content is on the disk.
    ///
    /// # Errors
    /// When it cannot be written there.
    fn sync(&self) -> io::Result<()>;
}

/// A lock that is held until it is dropped; `None` if the storage has no locks.
pub type StorageLock = Option<Box<dyn Any + Send + Sync>>;

/// Files that can be changed: the folder of a dataset.
///
/// # Errors
/// Every method fails if the storage refuses the change, with the error of the storage.
#[allow(clippy::missing_errors_doc)]
pub trait Storage: Files + Send {
    /// Decides before each change whether a file may be written, replaced or removed; otherwise returns the reason.
    fn check_change(&self, path: &Path) -> Result<(), String> {
        let _ = path;
        Ok(())
    }

    /// Opens a file for reading at any place.
    fn open_file(&self, path: &Path) -> io::Result<Box<dyn StorageFile>>;

    /// Creates an empty file, or empties the file that exists.
    fn create_file(&self, path: &Path) -> io::Result<Box<dyn StorageFile>>;

    /// Appends to a file, which is created if it does not exist.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Creates a folder and those around it, if they do not exist.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Renames a file, and replaces any file with the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Returns when the names in a folder are on the disk: a renamed file keeps its name through a power failure only after that.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Locks a file, alone or with others. An error of the kind [`WouldBlock`](ErrorKind::WouldBlock) means that another process holds it.
    /// A lock that is held alone creates the file.
    fn lock(&self, path: &Path, is_alone: bool) -> io::Result<StorageLock>;

    /// Reads a file with at most this many bytes.
    fn read_whole(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        read_all(self.open_file(path)?, most, &MemoryBudget::unlimited())
    }
}

/// Everything that can be read, if it is at most this many bytes and fits in the budget.
///
/// # Errors
/// If it is larger, or cannot be read.
pub fn read_all(source: impl Read, most: u64, memory: &MemoryBudget) -> io::Result<Vec<u8>> {
    const FIRST: usize = 64 << 10;
    let (mut source, mut bytes, mut reserved) = (source.take(most + 1), Vec::new(), memory.nothing());
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

//! Files: the one door of the library to a file system, behind a trait.
//!
//! [`FileSystem`] is the one of this machine. Tests and other programs bring their own [`Files`]: an archive in which entries are files
//! (`bundle::BundleFiles`), a file system that notes what is read of it.

mod access;
mod adaptor;
mod entry;
mod file_bytes;
mod file_system;
mod storage;

pub use access::Files;
pub use adaptor::FilesAdaptor;
pub use entry::{Entry, EntryKind, FolderTimes};
pub use file_bytes::FileBytes;
pub use file_system::{CheckedFiles, FileSystem};
pub use storage::{Storage, StorageFile, StorageLock, read_all};

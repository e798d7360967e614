//! Access to file systems behind a trait. The library has no other.
//!
//! [`FileSystem`] is the file system of this machine. Tests and other programs can implement [`Files`], for example to read the entries of an
//! archive as files (`bundle::BundleFiles`), or to record what is read.

mod access;
mod adaptor;
mod file_bytes;
mod file_system;
mod shown;
mod storage;

pub use access::Files;
pub use access::{Entry, EntryKind, FolderTimes};
pub use adaptor::FilesAdaptor;
pub use file_bytes::FileBytes;
pub use file_system::FileSystem;
pub(crate) use shown::shown;
pub use storage::{Storage, StorageFile};

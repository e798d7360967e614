//! The library's only access to a file system, behind a trait.
//!
//! [`FileSystem`] is the file system of this machine. Tests and other programs can provide their own [`Files`], such as an
//! archive whose entries are files (`bundle::BundleFiles`), or a file system that records what is read.

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

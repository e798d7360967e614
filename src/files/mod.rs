//! Files: the only access of the library to a file system, behind a trait.
//!
//! [`FileSystem`] is the file system of this machine. Tests and other programs implement [`Files`] themselves, such as for archives
//! (`bundle::BundleFiles`) or to record which files are read.

mod access;
mod entry;
mod file_bytes;
mod file_system;

pub use access::Files;
pub use entry::{Entry, EntryKind, FolderTimes};
pub use file_bytes::FileBytes;
pub use file_system::FileSystem;

//! The things in a file system, and when they changed.

/// The thing at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file, with its length and times in nanoseconds since 1970, 0 where unknown.
    File {
        /// Bytes.
        length: u64,
        /// The time of the last change of its content, according to the file; a program that copies a file may set it.
        modified: u64,
        /// The time of the last change of any kind, as the system recorded it; 0 if unknown.
        changed: u64,
    },
    /// A folder.
    Folder,
    /// Something else (a pipe, a device).
    Other,
}

/// The kind of a folder's entry, according to the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, or an entry that the file system cannot distinguish from a link. It may lead to anything.
    Link,
    /// Something else (a pipe, a device).
    Other,
}

/// The times when the entries of a folder last changed, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderTimes {
    /// According to the folder; a program that copies it may set it.
    pub modified: u64,
    /// The time of the last change as the system recorded it; 0 if unknown.
    pub changed: u64,
}

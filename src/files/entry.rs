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
        /// The time of the last change of any kind, as the system saw it; 0 if the system does not tell.
        changed: u64,
    },
    /// A folder.
    Folder,
    /// Something else (a pipe, a device).
    Other,
}

/// The kind of an entry of a folder, as the folder tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, or what the file system does not tell apart from one: it may lead to anything, anywhere.
    Link,
    /// Something else (a pipe, a device).
    Other,
}

/// The times when the entries of a folder last changed, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderTimes {
    /// According to the folder; a program that copies it may set it.
    pub modified: u64,
    /// As the system saw it; 0 where the system does not tell.
    pub changed: u64,
}

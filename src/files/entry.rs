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
        /// The time of the last change of any kind, as recorded by the system; 0 if it records none.
        changed: u64,
    },
    /// A folder.
    Folder,
    /// Something else (a pipe, a device).
    Other,
}

/// The kind of a folder's entry, as listed in the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, or an entry that the file system does not distinguish from one: its target is unknown.
    Link,
    /// Something else (a pipe, a device).
    Other,
}

/// The times when the entries of a folder last changed, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderTimes {
    /// According to the folder; a program that copies it may set it.
    pub modified: u64,
    /// The change time recorded by the system; 0 if it records none.
    pub changed: u64,
}

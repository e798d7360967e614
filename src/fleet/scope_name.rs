//! The name of a process, thread, binary or function.

/// The name of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeName {
    /// The process; for processes and threads.
    pub process: Option<String>,
    /// The thread; for threads.
    pub thread: Option<String>,
    /// The binary; for binaries and functions.
    pub binary: Option<String>,
    /// The function; for functions.
    pub function: Option<String>,
}

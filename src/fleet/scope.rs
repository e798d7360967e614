//! The units of code that a report on a fleet measures, and their measures.

/// The units of code that get a distribution each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FleetScope {
    /// The whole run.
    Run,
    /// Each process, by name.
    Process,
    /// Each thread, by process and name.
    Thread,
    /// Each binary, by name.
    Binary,
    /// Each function, by binary and name.
    Function,
}

impl FleetScope {
    /// All scopes, the widest first.
    pub const ALL: [Self; 5] = [Self::Run, Self::Process, Self::Thread, Self::Binary, Self::Function];

    /// The name in machine formats and on the command line: `run`, `process`, `thread`, `binary`, `function`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Process => "process",
            Self::Thread => "thread",
            Self::Binary => "binary",
            Self::Function => "function",
        }
    }

    /// The noun for several of its rows.
    pub(crate) const fn plural(self) -> &'static str {
        match self {
            Self::Run => "runs",
            Self::Process => "processes",
            Self::Thread => "threads",
            Self::Binary => "binaries",
            Self::Function => "functions",
        }
    }
}

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

//! The units of code with distributions in a fleet report, and their measures.

/// A unit of code with a separate distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FleetScope {
    /// The complete run.
    Run,
    /// Each process, by name.
    Process,
    /// Each thread, by the names of process and thread.
    Thread,
    /// Each binary, by name.
    Binary,
    /// Each function, by the names of binary and function.
    Function,
}

impl FleetScope {
    /// All scopes, widest first.
    pub const ALL: [Self; 5] = [Self::Run, Self::Process, Self::Thread, Self::Binary, Self::Function];

    /// The name in machine-readable formats and on the command line: `run`, `process`, `thread`, `binary`, `function`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Process => "process",
            Self::Thread => "thread",
            Self::Binary => "binary",
            Self::Function => "function",
        }
    }

    /// The plural noun for its rows.
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
    /// The process, for processes and threads.
    pub process: Option<String>,
    /// The thread, for threads.
    pub thread: Option<String>,
    /// The binary, for binaries and functions.
    pub binary: Option<String>,
    /// The function, for functions.
    pub function: Option<String>,
}

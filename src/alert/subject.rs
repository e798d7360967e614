//! The subject of a rule.

/// The kinds of subjects that have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Process,
    Thread,
    Binary,
    Function,
    Interval,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Process, Self::Thread, Self::Binary, Self::Function, Self::Interval];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Thread => "thread",
            Self::Binary => "binary",
            Self::Function => "function",
            Self::Interval => "interval",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AlertSubject {
    /// Both recordings of a comparison.
    Total,
    /// A complete run.
    Run,
    /// Everything with this name, which is not empty. For runs, functions are summed over binaries, and threads over processes.
    Named(Kind, String),
    /// Each subject of a kind, separately. For processes, only the heaviest one of each run is judged.
    Each(Kind),
}

impl AlertSubject {
    pub(crate) const fn kind(&self) -> Option<Kind> {
        match self {
            Self::Total | Self::Run => None,
            Self::Named(kind, _) | Self::Each(kind) => Some(*kind),
        }
    }

    /// True for functions and binaries, whose weights are only kept for complete runs.
    pub(super) fn is_code(&self) -> bool {
        matches!(self.kind(), Some(Kind::Binary | Kind::Function))
    }
}

//! The measures of a scope in each run.

/// The measure of a scope in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Measure {
    /// CPU use: all samples of a run, process or thread; for a binary or function, the samples in which it is the leaf.
    #[default]
    Cpu,
    /// Samples whose leaf is in the scope, the same as cpu
    SelfWeight,
    /// Samples that have the binary or function anywhere in their stack, each counted once; otherwise the same as cpu
    AllWeight,
}

impl Measure {
    /// The name in machine formats and on the command line: `cpu`, `self`, `all`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::SelfWeight => "self",
            Self::AllWeight => "all",
        }
    }
}

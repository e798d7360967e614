//! Operations on stacks, as in Instruments: they make another profile, which every view and format then shows.
//!
//! Each operation changes stacks one by one, or leaves samples out because of their stacks. They apply in the given order, each to the
//! stacks that the one before it left. An operation that removes samples reports their weight, and one that moves weight to another
//! function reports how much; nothing else is lost, so
//!
//! ```text
//! weight before = weight after + Σ removed, by operation
//! ```
//!
//! | operation | of a stack `main run parse copy`, `parse` chosen |
//! |---|---|
//! | [`Focus`](Action::Focus) | `main run parse copy`; without `parse`, the sample is removed |
//! | [`FocusLeaves`](Action::FocusLeaves) | the sample is removed, since its leaf is `copy` |
//! | [`RootAt`](Action::RootAt) | `parse copy`; without `parse`, the sample is removed |
//! | [`Prune`](Action::Prune) | the sample is removed |
//! | [`PruneLeaves`](Action::PruneLeaves) | stays, since its leaf is `copy` |
//! | [`Charge`](Action::Charge) | `main run copy`; with `copy` chosen, its weight becomes that of `parse` |
//! | [`Hide`](Action::Hide) | the same, and a sample of chosen functions only is removed |
//! | [`Collapse`](Action::Collapse) | `main run parse`: what `parse` called is its own weight now |
//! | [`Flatten`](Action::Flatten) | with `parse` and `copy` chosen: `main run parse` |
//! | [`FlattenRecursion`](Action::FlattenRecursion) | `main run parse run copy` becomes `main run copy` |
//! | [`Invert`](Action::Invert) | `copy parse run main`: the tree is read from the leaf to its callers |
//!
//! A sample without a stack has no function: [`Focus`](Action::Focus), [`FocusLeaves`](Action::FocusLeaves) and
//! [`RootAt`](Action::RootAt) remove it, all others leave it unchanged.

mod apply;
mod idle;

pub(crate) use idle::is_idle;

use crate::profile::{Category, FunctionId, Matcher, Profile, SeriesId};

/// Functions of a profile that were chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSet {
    /// By function.
    chosen: Vec<bool>,
}

impl FunctionSet {
    /// The functions that `is_chosen` chooses.
    pub fn new(profile: &Profile, is_chosen: impl FnMut(FunctionId) -> bool) -> Self {
        Self { chosen: profile.function_ids().map(is_chosen).collect() }
    }

    /// The functions whose name, as shown, `is_chosen` chooses, such as those matching a regular expression.
    pub fn of_names(profile: &Profile, mut is_chosen: impl FnMut(&str) -> bool) -> Self {
        Self::new(profile, |id| is_chosen(profile.function_name(id)))
    }

    /// The functions of the binaries of this name.
    pub fn of_binary(profile: &Profile, name: &str) -> Self {
        Self::new(profile, |id| profile.binary_name(id) == Some(name))
    }

    /// The functions of the binaries that any of these matches.
    pub fn of_binaries(profile: &Profile, matchers: &[Matcher]) -> Self {
        let mut is_matched = vec![false; profile.binary_ids().len()];
        for id in matchers.iter().flat_map(|matcher| matcher.binaries(profile)) {
            is_matched[id.index()] = true;
        }
        Self::new(profile, |id| profile.function(id).binary.is_some_and(|binary| is_matched[binary.index()]))
    }

    /// The functions of the system, its runtimes and the kernel ([`Category`]). Functions in no known binary are not among
    /// them.
    pub fn of_system(profile: &Profile) -> Self {
        let is_system = |category| matches!(category, Category::System | Category::Runtime | Category::Kernel);
        Self { chosen: Category::of_functions(profile).into_iter().map(is_system).collect() }
    }

    /// The functions in which threads wait: system calls by name, such as `mach_msg2_trap`.
    pub fn idle(profile: &Profile) -> Self {
        Self::of_names(profile, idle::is_idle)
    }

    /// True if no function was chosen.
    pub fn is_empty(&self) -> bool {
        !self.chosen.contains(&true)
    }

    /// True if a function was chosen. Ask only for functions of the same profile: an id from another one may mean any function.
    pub fn contains(&self, function: FunctionId) -> bool {
        self.chosen.get(function.index()).copied().unwrap_or(false)
    }
}

/// The action of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Keeps samples with a chosen function anywhere in their stack.
    Focus(FunctionSet),
    /// Keeps samples whose leaf is a chosen function.
    FocusLeaves(FunctionSet),
    /// Keeps samples with a chosen function anywhere in their stack, which then starts at the outermost of them.
    RootAt(FunctionSet),
    /// Removes samples with a chosen function anywhere in their stack.
    Prune(FunctionSet),
    /// Removes samples whose leaf is a chosen function.
    PruneLeaves(FunctionSet),
    /// Removes chosen functions from stacks: their self weight and their callees go to their callers. If nothing would be left, the
    /// outermost function stays.
    Charge(FunctionSet),
    /// The same, but samples with nothing left are removed.
    Hide(FunctionSet),
    /// Ends stacks at the outermost chosen function: what it called becomes its self weight.
    Collapse(FunctionSet),
    /// Where chosen functions call each other, keeps only the first one, at which the stack enters them.
    Flatten(FunctionSet),
    /// If a function is called again below itself, removes everything from its first call down to its last one. The first call gets the
    /// address and line of the last one.
    FlattenRecursion,
    /// Inverts stacks: trees then start at the leaf functions, and go on to their callers. In
    /// such a tree the self weight of a node is that of samples whose outermost caller it is.
    Invert,
}

/// An operation, and its text on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The action.
    pub action: Action,
    /// The text on the command line, such as `--prune '^objc_'`, which reports use as its name.
    pub text: String,
}

/// The effect on samples that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The weight of removed samples, in the unit of the series; their number if samples are counted.
    pub removed_weight: u64,
    /// The number of samples that were removed.
    pub removed_samples: u64,
    /// The number of samples that stay with a shorter stack.
    pub changed_samples: u64,
    /// The weight of samples that have another function as their leaf.
    pub moved_weight: u64,
    /// The number of samples that have another function as their leaf.
    pub moved_samples: u64,
}

impl Change {
    /// True if nothing was removed, and no stack changed.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// The effect of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationSummary {
    /// Its text on the command line.
    pub text: String,
    /// True if it looks for functions and chose none at all: a misspelled name, maybe.
    pub is_without_function: bool,
    /// True if it is [`Action::Invert`].
    pub inverts: bool,
    /// By series: the effect on the samples that count. Series without change are not there.
    pub changes: Vec<(SeriesId, Change)>,
}

impl OperationSummary {
    /// The effect on the samples of a series.
    pub fn change(&self, series: SeriesId) -> Change {
        let found = self.changes.iter().find(|(id, _)| *id == series);
        found.map_or_else(Change::default, |(_, change)| *change)
    }
}

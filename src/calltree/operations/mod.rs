//! Operations on stacks, as in Instruments. They produce another profile, which every view and format then shows.
//!
//! Each operation changes stacks one by one, or removes samples because of their stacks. Operations apply in the given order, each to the
//! result of the one before. An operation that removes samples reports their weight, and one that moves weight to another function reports
//! how much. Nothing else is lost, so
//!
//! ```text
//! weight before = weight after + Σ removed, by operation
//! ```
//!
//! | operation | applied to a stack `main run parse copy`, with `parse` chosen |
//! |---|---|
//! | [`Focus`](Action::Focus) | `main run parse copy`; without `parse`, the sample is removed |
//! | [`FocusLeaves`](Action::FocusLeaves) | the sample is removed, since its leaf is `copy` |
//! | [`RootAt`](Action::RootAt) | `parse copy`; without `parse`, the sample is removed |
//! | [`Prune`](Action::Prune) | the sample is removed |
//! | [`PruneLeaves`](Action::PruneLeaves) | stays, since its leaf is `copy` |
//! | [`Charge`](Action::Charge) | `main run copy`; with `copy` chosen, its weight becomes the self weight of `parse` |
//! | [`Hide`](Action::Hide) | the same, and a sample of chosen functions only is removed |
//! | [`Collapse`](Action::Collapse) | `main run parse`: the weight of what `parse` called becomes its self weight |
//! | [`Flatten`](Action::Flatten) | with `parse` and `copy` chosen: `main run parse` |
//! | [`SkipIdle`](Action::SkipIdle) | the sample is removed if the thread waited |
//! | [`FlattenRecursion`](Action::FlattenRecursion) | `main run parse run copy` becomes `main run copy` |
//! | [`Invert`](Action::Invert) | `copy parse run main`: the tree is read from the leaf to its callers |
//!
//! A sample without a stack has no function: [`Focus`](Action::Focus), [`FocusLeaves`](Action::FocusLeaves) and
//! [`RootAt`](Action::RootAt) remove it, all others leave it unchanged.

mod apply;
mod place;

pub use apply::OperationEffects;
pub use place::{AtPlace, PlaceAction, TreeDirection};

use crate::profile::{Category, Doing, Doings, FunctionId, Matcher, Profile, SeriesId, StackId};

/// A set of functions of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSet {
    /// By function.
    chosen: Vec<bool>,
}

impl FunctionSet {
    /// Contains the functions for which `is_chosen` returns true.
    pub fn new(profile: &Profile, is_chosen: impl FnMut(FunctionId) -> bool) -> Self {
        Self { chosen: profile.function_ids().map(is_chosen).collect() }
    }

    /// Contains the functions for whose displayed names `is_chosen` returns true, such as names that match a regular expression.
    pub fn of_names(profile: &Profile, mut is_chosen: impl FnMut(&str) -> bool) -> Self {
        Self::new(profile, |id| is_chosen(profile.function_name(id)))
    }

    /// Contains the functions of binaries with this name.
    pub fn of_binary(profile: &Profile, name: &str) -> Self {
        Self::new(profile, |id| profile.binary_name(id) == Some(name))
    }

    /// Contains the functions of binaries that any of the matchers matches.
    pub fn of_binaries(profile: &Profile, matchers: &[Matcher]) -> Self {
        let mut is_matched = vec![false; profile.binary_ids().len()];
        for id in matchers.iter().flat_map(|matcher| matcher.binaries(profile)) {
            is_matched[id.index()] = true;
        }
        Self::new(profile, |id| profile.function(id).binary.is_some_and(|binary| is_matched[binary.index()]))
    }

    /// Contains the functions of the system, its runtimes and the kernel ([`Category`]), but not functions outside every known binary.
    pub fn of_system(profile: &Profile) -> Self {
        let is_system = |category| matches!(category, Category::System | Category::Runtime | Category::Kernel);
        Self { chosen: Category::of_functions(profile).into_iter().map(is_system).collect() }
    }

    /// Contains the functions in which threads wait: those in which most samples that end in them wait.
    pub fn idle(profile: &Profile) -> Self {
        let doings = Doings::new(profile);
        let rows = profile.sums_or_samples().map(|sum| (sum.stack, doings.of(&sum), sum.samples));
        Self::of_waits(profile, rows, false)
    }

    /// The same for stacks, what threads with them did, and their samples. Inverted stacks start in the function in which they ended.
    pub(crate) fn of_waits(
        profile: &Profile,
        rows: impl Iterator<Item = (Option<StackId>, Doing, u64)>,
        is_inverted: bool,
    ) -> Self {
        let mut sums = vec![(0, 0); profile.function_ids().len()];
        for (stack, doing, samples) in rows {
            let mut frames = profile.frames_leaf_first(stack);
            if let Some(leaf) = if is_inverted { frames.last() } else { frames.next() } {
                let (waits, all) = &mut sums[leaf.function.index()];
                *waits += if doing.is_idle() { samples } else { 0 };
                *all += samples;
            }
        }
        Self { chosen: sums.into_iter().map(|(waits, all)| 2 * waits > all).collect() }
    }

    /// True if the set is empty.
    pub fn is_empty(&self) -> bool {
        !self.chosen.contains(&true)
    }

    /// True if a function is in the set. An id from another profile gives a meaningless result.
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
    /// Removes chosen functions from stacks: their self weight and their callees are attributed to their callers. If nothing would be left,
    /// the outermost function is kept.
    Charge(FunctionSet),
    /// The same, but samples with nothing left are removed.
    Hide(FunctionSet),
    /// Ends stacks at the outermost chosen function, which gets the weight of everything it called as self weight.
    Collapse(FunctionSet),
    /// If chosen functions call each other, keeps only the first, through which the stack enters them.
    Flatten(FunctionSet),
    /// Does something at one place of the call tree only.
    AtPlace(AtPlace),
    /// Removes samples of waiting threads and idle cores.
    SkipIdle,
    /// If a function is called again below itself, removes everything from its first call to its last. The remaining call has the address
    /// and line of the last one.
    FlattenRecursion,
    /// Inverts stacks, so that trees start at the leaf functions and continue to their callers. The self weight of a node in such a tree is
    /// the weight of samples whose outermost caller it is.
    Invert,
}

/// An operation and its command-line text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The action.
    pub action: Action,
    /// The command-line text, such as `--prune '^objc_'`, which names the operation in reports.
    pub text: String,
}

/// The effect on the selected samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The weight of removed samples, in the unit of the series, or their number if samples are counted.
    pub removed_weight: u64,
    /// The number of removed samples.
    pub removed_samples: u64,
    /// The number of kept samples whose stack became shorter.
    pub changed_samples: u64,
    /// The weight of samples whose leaf is now another function.
    pub moved_weight: u64,
    /// The number of samples whose leaf is now another function.
    pub moved_samples: u64,
}

impl Change {
    /// True if no sample was removed and no stack was changed.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// The effect of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationSummary {
    /// The command-line text.
    pub text: String,
    /// True if the operation looks for functions and found none, for example because of a misspelled name.
    pub is_without_function: bool,
    /// True if the operation is [`Action::Invert`].
    pub inverts: bool,
    /// The effect on the selected samples of each series. Unchanged series are not listed.
    pub changes: Vec<(SeriesId, Change)>,
}

impl OperationSummary {
    /// Returns the effect on the samples of a series.
    pub fn change(&self, series: SeriesId) -> Change {
        let found = self.changes.iter().find(|(id, _)| *id == series);
        found.map_or_else(Change::default, |(_, change)| *change)
    }
}

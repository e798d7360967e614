//! Operations on stacks, as in Instruments. They produce a new profile that works with every view and format.
//!
//! Each operation changes stacks one by one, or removes samples because of their stack. Operations apply in order, each to the result of the
//! previous one. An operation reports how much weight it removes, and how much it moves to other functions. Nothing else is lost, so
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
//! | [`PruneLeaves`](Action::PruneLeaves) | unchanged, since its leaf is `copy` |
//! | [`Charge`](Action::Charge) | `main run copy`; with `copy` chosen, its weight becomes the self weight of `parse` |
//! | [`Hide`](Action::Hide) | like `Charge`, but a sample with only chosen functions is removed |
//! | [`Collapse`](Action::Collapse) | `main run parse`: the weight of everything that `parse` called becomes its self weight |
//! | [`Flatten`](Action::Flatten) | with `parse` and `copy` chosen: `main run parse` |
//! | [`SkipIdle`](Action::SkipIdle) | the sample is removed if the thread was waiting |
//! | [`FlattenRecursion`](Action::FlattenRecursion) | `main run parse run copy` becomes `main run copy` |
//! | [`Invert`](Action::Invert) | `copy parse run main`: the tree goes from the leaf to its callers |
//!
//! A sample without a stack has no function: [`Focus`](Action::Focus), [`FocusLeaves`](Action::FocusLeaves) and [`RootAt`](Action::RootAt) remove it,
//! all others leave it unchanged.

mod apply;
mod function_set;
mod place;

pub use apply::OperationEffects;
pub use function_set::FunctionSet;
pub use place::{AtPlace, PlaceAction, TreeDirection};

use crate::profile::SeriesId;

/// The action of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Keeps samples with a chosen function anywhere in their stack.
    Focus(FunctionSet),
    /// Keeps samples whose leaf is a chosen function.
    FocusLeaves(FunctionSet),
    /// Keeps samples with a chosen function anywhere in their stack, and cuts the stack above the outermost of them.
    RootAt(FunctionSet),
    /// Removes samples with a chosen function anywhere in their stack.
    Prune(FunctionSet),
    /// Removes samples whose leaf is a chosen function.
    PruneLeaves(FunctionSet),
    /// Removes chosen functions from stacks, so their callers get their self weight and callees. If nothing would be left, keeps the outermost
    /// function.
    Charge(FunctionSet),
    /// Like [`Charge`](Self::Charge), but removes samples whose stack would become empty.
    Hide(FunctionSet),
    /// Ends stacks at the outermost chosen function. The weight of everything it called becomes its self weight.
    Collapse(FunctionSet),
    /// If chosen functions call each other, keeps only the outermost one, which is the entry point.
    Flatten(FunctionSet),
    /// Applies an action at one place of the call tree only.
    AtPlace(AtPlace),
    /// Removes samples of waiting threads and idle cores.
    SkipIdle,
    /// If a function calls itself, directly or indirectly, removes everything from its first call up to its last. The remaining call has the
    /// address and line of the last call.
    FlattenRecursion,
    /// Inverts stacks: trees start at the leaf functions and continue to their callers. The self weight of a node is then the weight of the
    /// samples in which it is the outermost caller.
    Invert,
}

/// An operation and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The action.
    pub action: Action,
    /// The operation as the program writes it, such as `prune '^objc_'`.
    pub text: String,
}

/// The effect of an operation on the selected samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The weight of removed samples in the unit of the series, or their number if samples are counted.
    pub removed_weight: u64,
    /// The number of removed samples.
    pub removed_samples: u64,
    /// The number of kept samples whose stack became shorter.
    pub changed_samples: u64,
    /// The weight of samples that now have another leaf function.
    pub moved_weight: u64,
    /// The number of samples that now have another leaf function.
    pub moved_samples: u64,
}

impl Change {
    /// True if no sample was removed or changed.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// The effect of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationSummary {
    /// The name of the operation.
    pub text: String,
    /// True if the operation's functions do not exist, for example because of a misspelled name.
    pub is_without_function: bool,
    /// True if the operation is [`Action::Invert`].
    pub inverts: bool,
    /// The effect on the selected samples of each series; unchanged series are omitted.
    pub changes: Vec<(SeriesId, Change)>,
}

impl OperationSummary {
    /// Returns the effect on the samples of a series.
    pub fn change(&self, series: SeriesId) -> Change {
        let found = self.changes.iter().find(|(id, _)| *id == series);
        found.map_or_else(Change::default, |(_, change)| *change)
    }
}

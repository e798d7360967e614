//! App code in the stacks of a series, with the system code that it called.

use std::sync::Arc;

use super::owners::{Owner, Owners};
use crate::calltree::StackWeight;
use crate::profile::{BinaryId, Category, Doing, FunctionId, Profile, StackId};
use crate::report::Report;

/// App code in the stacks of a series.
pub(crate) struct OwnCode<'p> {
    profile: &'p Profile,
    pub(super) owners: Arc<Owners>,
}

/// Part of a stack, and its innermost function.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) stack: StackId,
    pub(super) function: FunctionId,
}

/// How a stack's samples are classified.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// The stack itself.
    pub(super) leaf: Place,
    /// What the thread did.
    pub(super) doing: Doing,
    /// The app function that a running thread's time belongs to ([`OwnCode::place`]).
    pub(super) place: Option<Place>,
    /// The owner of the stack's time.
    pub(super) owner: Owner,
}

impl Found {
    /// The unnamed code that hides the work of a running thread: the app function that the time belongs to, or else the leaf. `None` if both are
    /// named.
    pub(super) fn nameless(&self, profile: &Profile) -> Option<Place> {
        let is_nameless = |place: &Place| !profile.function(place.function).is_named;
        self.place.filter(is_nameless).or(Some(self.leaf).filter(is_nameless)).filter(|_| self.doing == Doing::Runs)
    }
}

impl<'p> OwnCode<'p> {
    pub(crate) fn new(report: &Report<'p>) -> Self {
        let profile = &report.recording.profile;
        let owners = report.cache.map_or(&report.owners, |cache| &cache.owners);
        let owners = Arc::clone(owners.get_or_init(|| Arc::new(Owners::new(profile))));
        Self { profile, owners }
    }

    /// The part of a stack that ends in the app function to which a running thread's time belongs. Everything in an app runs below its entry
    /// point, so an entry point only counts for its own work.
    pub(crate) fn place(&self, row: &StackWeight) -> Option<StackId> {
        Some(self.find(row)?.place?.stack)
    }

    /// Classifies the samples of a row; `None` without a stack.
    pub(super) fn find(&self, row: &StackWeight) -> Option<Found> {
        let stack = row.stack?;
        let at = |stack| Place { stack, function: self.function(stack) };
        let (leaf, owner) = (at(stack), self.owners.of(self.profile, stack));
        let place = match owner {
            Owner::Own(own) if own == stack => Some(leaf),
            Owner::Own(own) => Some(at(own)).filter(|place| !self.owners.is_entry_point(place.function)),
            Owner::Unknown(_) | Owner::System => None,
        };
        let place = place.filter(|_| row.doing == Doing::Runs);
        // Time below an entry point belongs to the system, unless other app code called it.
        let owner = match owner {
            Owner::Own(_) => place.map_or(Owner::System, |place| Owner::Own(place.stack)),
            other => other,
        };
        Some(Found { leaf, doing: row.doing, place, owner })
    }

    /// The innermost function of a stack.
    pub(crate) fn function(&self, stack: StackId) -> FunctionId {
        self.profile.function_of_stack(stack)
    }
}

/// True if a binary contains app code.
pub(crate) fn is_own_binary(profile: &Profile, binary: BinaryId) -> bool {
    Category::of_binary(profile, Some(binary)) == Category::User
}

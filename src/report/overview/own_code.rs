//! App code in the stacks of a series, and the system code that it called.

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

/// A stack, and the function that it ends in.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) stack: StackId,
    pub(super) function: FunctionId,
}

/// What is known of the samples of a stack.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// The stack itself.
    pub(super) leaf: Place,
    /// What the thread did.
    pub(super) doing: Doing,
    /// The function of app code that the time of a running thread belongs to ([`OwnCode::place`]).
    pub(super) place: Option<Place>,
    /// The owner of the stack's time.
    pub(super) owner: Owner,
}

impl Found {
    /// The code without a name that hides the work of a running thread: the function of app code that its time belongs to, or else the
    /// leaf. `None` if both have names.
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

    /// The stack that ends in the function of app code that the time of a running thread belongs to. Everything in an app runs below its
    /// entry point, so an entry point owns only its own work.
    pub(crate) fn place(&self, row: &StackWeight) -> Option<StackId> {
        let stack = row.stack.filter(|_| row.doing == Doing::Runs)?;
        let is_entry = |place| self.owners.is_entry_point(self.function(place));
        match self.owners.of(self.profile, stack) {
            Owner::Own(place) if place == stack || !is_entry(place) => Some(place),
            _ => None,
        }
    }

    /// All of this; `None` without a stack.
    pub(super) fn find(&self, row: &StackWeight) -> Option<Found> {
        let stack = row.stack?;
        let at = |stack| Place { stack, function: self.function(stack) };
        let (leaf, place) = (at(stack), self.place(row));
        let owner = match self.owners.of(self.profile, stack) {
            // Time below an entry point belongs to the system unless other app code called it.
            Owner::Own(_) => place.map_or(Owner::System, Owner::Own),
            other => other,
        };
        let place = place.map(|place| if place == stack { leaf } else { at(place) });
        Some(Found { leaf, doing: row.doing, place, owner })
    }

    /// The function that a stack ends in.
    pub(crate) fn function(&self, stack: StackId) -> FunctionId {
        self.profile.frame(self.profile.stack(stack).frame).function
    }
}

/// True if a binary is the program's own.
pub(crate) fn is_own_binary(profile: &Profile, binary: BinaryId) -> bool {
    Category::of_binary(profile, Some(binary)) == Category::User
}

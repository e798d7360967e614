//! App code in the stacks of a series, and the system code that it called.

use std::sync::{Arc, OnceLock};

use super::origin::{is_entry_point, is_run_loop};
use crate::calltree::FunctionSet;
use crate::profile::{BinaryId, Category, FunctionId, Meaning, Profile, StackId, StateFilter};
use crate::report::{Report, SeriesReport};

/// App code in the stacks of a series.
pub(crate) struct OwnCode<'p> {
    profile: &'p Profile,
    pub(super) owners: Arc<Owners>,
    /// True if samples of waiting threads may count.
    may_wait: bool,
}

impl<'p> OwnCode<'p> {
    pub(crate) fn new(report: &Report<'p>, series: &SeriesReport) -> Self {
        let profile = &report.recording.profile;
        // If only running threads are selected, a thread that is about to wait still uses CPU time, which has an owner.
        let may_wait = profile.series(series.series).meaning == Meaning::Presence
            || report.options.selection.states != StateFilter::Running;
        let owners = Arc::clone(report.owners.get_or_init(|| Arc::new(Owners::new(profile))));
        Self { profile, owners, may_wait }
    }

    /// True if a thread with this stack waits.
    pub(super) fn waits(&self, stack: StackId) -> bool {
        self.may_wait && self.owners.idle.get_or_init(|| FunctionSet::idle(self.profile)).contains(self.function(stack))
    }

    /// The stack that ends in the function of app code that a stack's time belongs to. Everything in an app runs below its entry point, so
    /// an entry point owns only its own work.
    pub(crate) fn place(&self, stack: StackId) -> Option<StackId> {
        let is_entry = |place| is_entry_point(self.profile.function_name(self.function(place)));
        match self.owners.of(stack) {
            Owner::Own(place) if !self.waits(stack) && (place == stack || !is_entry(place)) => Some(place),
            _ => None,
        }
    }

    /// The owner of a stack's time. Time below an entry point belongs to the system unless other app code called it.
    pub(super) fn owner(&self, stack: StackId) -> Owner {
        match self.owners.of(stack) {
            Owner::Own(_) => self.place(stack).map_or(Owner::System, Owner::Own),
            other => other,
        }
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

/// The owner of a stack's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The innermost frame of app code, including the system code that it called.
    Own(StackId),
    /// A frame in no known binary, and what it asked the system for.
    Unknown(StackId),
    /// The system, without a call from other code: no frame of other code is between it and the run loop or the start of the thread.
    System,
}

/// The owners of all stacks of a profile, which are the same for every series.
#[derive(Debug)]
pub(crate) struct Owners {
    of_stack: Vec<Owner>,
    /// Functions in which threads wait, computed when a series needs them.
    pub(super) idle: OnceLock<FunctionSet>,
}

impl Owners {
    /// Finds the owners of all stacks of a profile. Parents precede their children, so one pass is enough.
    pub(super) fn new(profile: &Profile) -> Self {
        let system = FunctionSet::of_system(profile);
        let is_loop: Vec<bool> =
            profile.function_ids().map(|id| system.contains(id) && is_run_loop(profile.function_name(id))).collect();
        let categories = Category::of_functions(profile);
        let mut of_stack: Vec<Owner> = Vec::with_capacity(profile.stack_ids().len());
        for id in profile.stack_ids() {
            let stack = profile.stack(id);
            let function = profile.frame(stack.frame).function;
            let owner = if categories[function.index()] == Category::User {
                Owner::Own(id)
            } else if !system.contains(function) {
                Owner::Unknown(id)
            } else if is_loop[function.index()] {
                Owner::System
            } else {
                stack.parent.map_or(Owner::System, |parent| of_stack[parent.index()])
            };
            of_stack.push(owner);
        }
        Self { of_stack, idle: OnceLock::new() }
    }

    /// The owner of a stack.
    pub(super) fn of(&self, stack: StackId) -> Owner {
        self.of_stack[stack.index()]
    }

    /// The innermost frame of app code above a stack, with only system code in between; `None` if the system called it.
    pub(super) fn caller(&self, profile: &Profile, stack: StackId) -> Option<StackId> {
        match self.of(profile.stack(stack).parent?) {
            Owner::Own(caller) => Some(caller),
            Owner::Unknown(_) | Owner::System => None,
        }
    }
}

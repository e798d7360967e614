//! The owner of each stack's time: the innermost function of app code, which called the system code below it.

use std::sync::OnceLock;

use crate::calltree::FunctionSet;
use crate::profile::{Category, FunctionId, Profile, StackId};

use super::origin::{is_entry_point, is_run_loop};

/// The owner of a stack's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The innermost frame of app code, including the system code that it called.
    Own(StackId),
    /// A frame in no known binary, and the system code that it called.
    Unknown(StackId),
    /// The system, without a call from other code: no frame of other code is between it and the run loop or the start of the thread.
    System,
}

/// The owners of all stacks of a profile, which are the same for every series.
#[derive(Debug)]
pub(crate) struct Owners {
    of_stack: Vec<Owner>,
    /// By function: true if programs start in it.
    is_entry_point: Vec<bool>,
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
        let is_entry_point = profile.function_ids().map(|id| is_entry_point(profile.function_name(id))).collect();
        Self { of_stack, is_entry_point, idle: OnceLock::new() }
    }

    /// The owner of a stack.
    pub(super) fn of(&self, stack: StackId) -> Owner {
        self.of_stack[stack.index()]
    }

    /// True if programs start in a function.
    pub(super) fn is_entry_point(&self, function: FunctionId) -> bool {
        self.is_entry_point[function.index()]
    }

    /// The innermost frame of app code above a stack, with only system code in between; `None` if the system called it.
    pub(super) fn caller(&self, profile: &Profile, stack: StackId) -> Option<StackId> {
        match self.of(profile.stack(stack).parent?) {
            Owner::Own(caller) => Some(caller),
            Owner::Unknown(_) | Owner::System => None,
        }
    }
}

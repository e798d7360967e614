//! The owner of each stack's time: the innermost function of app code, which called the system code below it.

use crate::calltree::FunctionSet;
use crate::profile::{Category, FunctionId, Profile, StackId};

use super::origin::{is_entry_point, is_nameless_run_loop, is_run_loop};

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
    /// By stack: the frame that owns its time, unless the system does.
    of_stack: Vec<Option<StackId>>,
    /// By function: true if it is app code, in contrast to code of no known binary.
    is_app_code: Vec<bool>,
    /// By function: true if programs start in it.
    is_entry_point: Vec<bool>,
}

impl Owners {
    /// Finds the owners of all stacks of a profile. Parents precede their children, so one pass is enough.
    pub(super) fn new(profile: &Profile) -> Self {
        let system = FunctionSet::of_system(profile);
        let is_loop: Vec<bool> =
            profile.function_ids().map(|id| system.contains(id) && is_run_loop(profile.function_name(id))).collect();
        let is_app_code: Vec<bool> =
            Category::of_functions(profile).iter().map(|category| *category == Category::User).collect();
        let is_entry_point: Vec<bool> =
            profile.function_ids().map(|id| is_entry_point(profile.function_name(id))).collect();
        let is_nameless_loop = |id: StackId| {
            let function_of = |id: StackId| profile.frame(profile.stack(id).frame).function;
            let mut next = profile.stack(id).parent;
            let callers = std::iter::from_fn(|| {
                let caller = next?;
                next = profile.stack(caller).parent;
                Some(function_of(caller))
            });
            is_nameless_run_loop(profile, function_of(id), |id| is_app_code[id.index()], callers)
        };
        let mut of_stack: Vec<Option<StackId>> = Vec::with_capacity(profile.stack_ids().len());
        for id in profile.stack_ids() {
            let stack = profile.stack(id);
            let function = profile.frame(stack.frame).function;
            let owner = if is_app_code[function.index()] || !system.contains(function) {
                Some(id)
            } else if is_loop[function.index()] || is_nameless_loop(id) {
                None
            } else {
                stack.parent.and_then(|parent| of_stack[parent.index()])
            };
            of_stack.push(owner);
        }
        Self { of_stack, is_app_code, is_entry_point }
    }

    /// The owner of a stack.
    pub(super) fn of(&self, profile: &Profile, stack: StackId) -> Owner {
        let is_app_code = |owner| self.is_app_code[profile.frame(profile.stack(owner).frame).function.index()];
        match self.of_stack[stack.index()] {
            Some(owner) if is_app_code(owner) => Owner::Own(owner),
            Some(owner) => Owner::Unknown(owner),
            None => Owner::System,
        }
    }

    /// True if programs start in a function.
    pub(super) fn is_entry_point(&self, function: FunctionId) -> bool {
        self.is_entry_point[function.index()]
    }

    /// The innermost frame of app code above a stack, with only system code in between; `None` if the system called it.
    pub(super) fn caller(&self, profile: &Profile, stack: StackId) -> Option<StackId> {
        match self.of(profile, profile.stack(stack).parent?) {
            Owner::Own(caller) => Some(caller),
            Owner::Unknown(_) | Owner::System => None,
        }
    }
}

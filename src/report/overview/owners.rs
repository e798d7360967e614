//! Who owns each stack's time: the innermost app function, which called the system code below it.

use crate::calltree::FunctionSet;
use crate::profile::{Category, FunctionId, Profile, Stack, StackId};

use super::origin::{is_entry_point, is_nameless_run_loop, is_run_loop};

/// The owner of a stack's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The innermost app frame, including the system code that it called.
    Own(StackId),
    /// A frame in no known binary, including the system code that it called.
    Unknown(StackId),
    /// The system: no other code is between the leaf and the run loop or the start of the thread.
    System,
}

/// The owners of all stacks in a profile, which are the same for every series.
#[derive(Debug)]
pub(crate) struct Owners {
    /// By stack: the frame that owns its time; `None` for the system.
    of_stack: Vec<Option<StackId>>,
    /// By function: true for app code. Other owners are in no known binary.
    is_app_code: Vec<bool>,
    /// By function: true if it is an entry point of a program.
    is_entry_point: Vec<bool>,
}

impl Owners {
    /// Finds the owners of all stacks of a profile.
    pub(super) fn new(profile: &Profile) -> Self {
        let system = FunctionSet::of_system(profile);
        let is_loop: Vec<bool> =
            profile.function_ids().map(|id| system.contains(id) && is_run_loop(profile.function_name(id))).collect();
        let is_app_code: Vec<bool> =
            Category::of_functions(profile).iter().map(|category| *category == Category::User).collect();
        let is_entry_point: Vec<bool> =
            profile.function_ids().map(|id| is_entry_point(profile.function_name(id))).collect();
        let is_nameless_loop = |function: FunctionId, parent: Option<StackId>| {
            let callers = std::iter::successors(parent, |&caller| profile.stack(caller).parent)
                .map(|id| profile.function_of_stack(id));
            is_nameless_run_loop(profile, function, |id| is_app_code[id.index()], callers)
        };
        let of_stack = profile.stack_rows().derive(|id, Stack { parent, frame }, above: Option<Option<StackId>>| {
            let function = profile.frame(frame).function;
            if is_app_code[function.index()] || !system.contains(function) {
                Some(id)
            } else if is_loop[function.index()] || is_nameless_loop(function, parent) {
                None
            } else {
                above.flatten()
            }
        });
        Self { of_stack, is_app_code, is_entry_point }
    }

    pub(super) fn of(&self, profile: &Profile, stack: StackId) -> Owner {
        match self.of_stack[stack.index()] {
            Some(owner) if self.is_app_code[profile.function_of_stack(owner).index()] => Owner::Own(owner),
            Some(owner) => Owner::Unknown(owner),
            None => Owner::System,
        }
    }

    pub(super) fn is_entry_point(&self, function: FunctionId) -> bool {
        self.is_entry_point[function.index()]
    }

    /// The innermost app frame that called a stack, with only system code in between; `None` if the system called it.
    pub(super) fn caller(&self, profile: &Profile, stack: StackId) -> Option<StackId> {
        match self.of(profile, profile.stack(stack).parent?) {
            Owner::Own(caller) => Some(caller),
            Owner::Unknown(_) | Owner::System => None,
        }
    }
}

//! The owner of each stack's time: the innermost app function, which called the system code below it.

use crate::calltree::FunctionSet;
use crate::profile::{Category, FunctionId, Profile, Stack, StackId};
use crate::ranked_bits::RankedBits;

use super::origin::{is_entry_point, is_nameless_run_loop, is_run_loop};

/// The owner of a stack's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The innermost frame of app code, including the system code that it called.
    Own(StackId),
    /// A frame in no known binary, including the system code that it called.
    Unknown(StackId),
    /// The system: no other code is between the leaf and the run loop or the start of the thread.
    System,
}

/// The owners of all stacks of a profile, which are the same for every series.
#[derive(Debug)]
pub(crate) struct Owners {
    /// By stack: the frame that owns its time; `None` for the system.
    of_stack: Vec<Option<StackId>>,
    /// By stack: true if the owner is app code, false if it is code in no known binary.
    is_own: RankedBits,
    /// By stack: true if its function, or the app function that owns its time, has no name. Bits of all stacks fit into a cache.
    is_nameless: RankedBits,
    /// By function: true if it is an entry point of a program.
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
        let count = profile.stack_ids().len();
        let mut of_stack: Vec<Option<StackId>> = Vec::with_capacity(count);
        // By stack: whether the owner is app code, and whether it is app code without a name.
        let mut owned: Vec<(bool, bool)> = Vec::with_capacity(count);
        let mut is_nameless: Vec<bool> = Vec::with_capacity(count);
        for id in profile.stack_ids() {
            let Stack { parent, frame } = profile.stack(id);
            let function = profile.frame(frame).function;
            let (is_own, is_named) = (is_app_code[function.index()], profile.function(function).is_named);
            let (owner, what) = if is_own || !system.contains(function) {
                (Some(id), (is_own, is_own && !is_named))
            } else if is_loop[function.index()] || is_nameless_loop(id) {
                (None, (false, false))
            } else {
                parent.map_or((None, (false, false)), |parent| (of_stack[parent.index()], owned[parent.index()]))
            };
            of_stack.push(owner);
            owned.push(what);
            is_nameless.push(!is_named || what.1);
        }
        let is_own = owned.iter().map(|(is_own, _)| *is_own).collect();
        Self { of_stack, is_own, is_nameless: is_nameless.into_iter().collect(), is_entry_point }
    }

    pub(super) fn of(&self, stack: StackId) -> Owner {
        match self.of_stack[stack.index()] {
            Some(owner) if self.is_own.contains(stack.index()) => Owner::Own(owner),
            Some(owner) => Owner::Unknown(owner),
            None => Owner::System,
        }
    }

    /// False if the function of a stack and the app function that owns its time have names.
    pub(super) fn may_be_nameless(&self, stack: StackId) -> bool {
        self.is_nameless.contains(stack.index())
    }

    pub(super) fn is_entry_point(&self, function: FunctionId) -> bool {
        self.is_entry_point[function.index()]
    }

    /// The innermost frame of app code that called a stack, with only system code in between; `None` if the system called it.
    pub(super) fn caller(&self, profile: &Profile, stack: StackId) -> Option<StackId> {
        match self.of(profile.stack(stack).parent?) {
            Owner::Own(caller) => Some(caller),
            Owner::Unknown(_) | Owner::System => None,
        }
    }
}

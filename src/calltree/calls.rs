//! What a function spends its time on: its own code, and the functions it calls.

use super::keyed::WeighedStacks;
use super::path_visitor::PathVisitor;
use crate::hash::HashMap;
use crate::profile::{FrameId, FunctionId, Profile};

/// The weights and samples of a function's outermost calls. Direct recursion belongs to the function itself.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// For each callee, all samples below these calls.
    pub(crate) callees: HashMap<FunctionId, (u64, u64)>,
}

impl Calls {
    /// Sums the calls of a function in these stacks.
    pub(crate) fn of(profile: &Profile, stacks: WeighedStacks<'_>, function: FunctionId) -> Self {
        let mut visitor = Visitor { profile, function, depth: 0, open: None, calls: Self::default() };
        stacks.walk(profile, &mut visitor);
        visitor.calls
    }
}

struct Visitor<'p> {
    profile: &'p Profile,
    function: FunctionId,
    /// The number of frames on the path.
    depth: usize,
    /// The depths of the outermost call on the path, and of the last recursive call directly below it.
    open: Option<(usize, usize)>,
    calls: Calls,
}

impl Visitor<'_> {
    fn function_of(&self, frame: FrameId) -> FunctionId {
        self.profile.frame(frame).function
    }
}

impl PathVisitor for Visitor<'_> {
    fn enter(&mut self, frame: FrameId) {
        self.depth += 1;
        if self.function_of(frame) == self.function {
            match &mut self.open {
                None => self.open = Some((self.depth, self.depth)),
                Some((_, last)) if *last + 1 == self.depth => *last = self.depth,
                Some(_) => {}
            }
        }
    }

    fn end(&mut self, _: FrameId, _: u64, _: u64) {}

    fn leave(&mut self, frame: FrameId, weight: u64, samples: u64) {
        match self.open {
            Some((first, last)) if last == self.depth => self.open = (last > first).then(|| (first, last - 1)),
            Some((_, last)) if last + 1 == self.depth => {
                add(self.calls.callees.entry(self.function_of(frame)).or_default(), weight, samples);
            }
            _ => {}
        }
        self.depth -= 1;
    }
}

fn add(sum: &mut (u64, u64), weight: u64, samples: u64) {
    *sum = (sum.0.saturating_add(weight), sum.1 + samples);
}

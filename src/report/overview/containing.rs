//! Finds the rows whose stacks contain a function.

use crate::calltree::StackWeight;
use crate::profile::{FunctionId, Profile, Stack};

/// The stacks that contain certain functions.
pub(super) struct Containing {
    /// By stack: one bit per function.
    functions: Vec<u8>,
}

impl Containing {
    /// Finds the stacks that contain any of at most eight functions.
    pub(super) fn new(profile: &Profile, functions: &[FunctionId]) -> Self {
        let mut bit_of = vec![0_u8; profile.function_ids().len()];
        functions.iter().enumerate().for_each(|(index, function)| bit_of[function.index()] |= 1 << index);
        let functions = profile
            .stack_rows()
            .derive(|_, Stack { frame, .. }, above| above.unwrap_or(0) | bit_of[profile.frame(frame).function.index()]);
        Self { functions }
    }

    /// The rows whose stack contains the function at this index.
    pub(super) fn rows(&self, rows: &[StackWeight], index: usize) -> Vec<StackWeight> {
        let is_in = |row: &&StackWeight| row.stack.is_some_and(|stack| self.functions[stack.index()] >> index & 1 > 0);
        rows.iter().filter(is_in).copied().collect()
    }
}

//! Symbolicates the stacks of an output, and numbers them.

use indexmap::IndexSet;

use super::{FieldValue, OutputColumn};
use crate::hash::HashMap;
use crate::profile::{Frame, Profile, StackId};

/// Names the frames of stacks that were read before they were symbolicated.
#[derive(Debug, Default)]
pub struct StackNames {
    profile: Profile,
    /// For each stack in the tables, the index of its sample in the profile.
    samples: HashMap<StackId, usize>,
    /// The stacks written so far, in the order of their numbers.
    written: IndexSet<StackId>,
}

impl StackNames {
    /// Creates the names of these stacks. `profile` has a sample for each of them ([`Profile::of_stacks`]).
    pub fn new(stacks: &[StackId], profile: Profile) -> Self {
        let samples = stacks.iter().enumerate().map(|(sample, stack)| (*stack, sample)).collect();
        Self { profile, samples, written: IndexSet::new() }
    }

    /// Returns the profile with the frames.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns the frames of a stack, leaf first.
    pub fn frames(&self, stack: StackId) -> impl Iterator<Item = &Frame> {
        let sample = self.samples.get(&stack).and_then(|&sample| self.profile.samples().get(sample));
        self.profile.frames_leaf_first(sample.and_then(|sample| sample.stack))
    }

    /// Returns the functions of a stack, leaf first.
    pub fn functions(&self, stack: StackId) -> impl Iterator<Item = &str> {
        self.frames(stack).map(|frame| self.profile.function_name(frame.function))
    }

    /// Replaces the stacks in a row by their numbers, in columns of stack numbers. Numbers start at 1, in order of first use.
    pub fn number_in(&mut self, row: &mut [FieldValue<'_>], columns: &[OutputColumn]) {
        for (value, column) in row.iter_mut().zip(columns) {
            if let FieldValue::Stack(stack) = *value {
                let number = self.written.insert_full(stack).0 as u64 + 1;
                if column.is_stack_number() {
                    *value = FieldValue::Number(number);
                }
            }
        }
    }

    /// Returns the numbered stacks, in order.
    pub fn written(&self) -> impl Iterator<Item = StackId> {
        self.written.iter().copied()
    }
}

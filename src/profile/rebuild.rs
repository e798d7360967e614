//! A profile again: with other frames, as symbolication makes one, or with other stacks, as operations on trees do.

use std::fmt;

use super::model::{FrameId, StackId};
use super::{Full, Profile, ProfileBuilder};
use crate::memory::{OverBudget, of_vec};

/// The reason why a profile could not be made of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RebuildError {
    /// It does not fit its tables.
    Full(Full),
    /// It takes more memory than its [budget](Profile::budget) has.
    Memory(OverBudget),
    /// Names or other weights were asked for after operations, which had chosen functions by the names before, and counted what they did.
    OutOfOrder,
}

impl fmt::Display for RebuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(full) => full.fmt(f),
            Self::Memory(over) => over.fmt(f),
            Self::OutOfOrder => {
                f.write_str("name functions and choose weights before applying operations, which choose functions by name and count weights")
            }
        }
    }
}

impl std::error::Error for RebuildError {}

impl From<Full> for RebuildError {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}

impl From<OverBudget> for RebuildError {
    fn from(over: OverBudget) -> Self {
        Self::Memory(over)
    }
}

/// After so many stacks the memory that they take is reserved.
const STACKS_BETWEEN: usize = 1 << 12;

/// The replacement of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replacement {
    /// The frames that stand for it, innermost first; never empty.
    pub frames: Vec<FrameId>,
    /// True if they are all functions of its address: then they also stand for callers that the recording lists as inlined at that address
    /// ([`Frame::is_inlined_beside`](super::Frame::is_inlined_beside)).
    pub covers_callers: bool,
}

impl Profile {
    /// This profile with every frame replaced by one or several others; everything else stays as it is, with the same
    /// ids for strings, runs, series, processes, threads, cores and binaries.
    ///
    /// `replace` is asked once for each frame, in order of their ids, and adds the rows it needs to the builder of the new profile. The
    /// marks of inlined frames change their meaning, so a profile is replaced only once.
    ///
    /// # Errors
    /// When a table of the new profile is full, or its memory is more than the budget has left.
    pub fn with_frames(
        &self,
        mut replace: impl FnMut(&mut ProfileBuilder, FrameId) -> Result<Replacement, Full>,
    ) -> Result<Self, RebuildError> {
        let mut reserved = self.budget.reserve(self.memory())?;
        let mut builder = ProfileBuilder::without_frames(self);
        let mut replacements = Vec::with_capacity(self.frames.len());
        for id in self.frame_ids() {
            replacements.push(replace(&mut builder, id)?);
        }
        let is_same = |(new, old): (&Replacement, FrameId)| !new.covers_callers && new.frames == [old];
        if replacements.iter().zip(self.frame_ids()).all(is_same) {
            // Each frame has another name at most, and stacks know frames by their ids.
            drop(reserved);
            return held(builder.finish_with_stacks_of(self));
        }
        // By old stack: the new one, and the new one without its frame, for a callee that covers it. A parent comes
        // before its children, so its new stacks are known.
        let mut stacks: Vec<(Option<StackId>, Option<StackId>)> = Vec::with_capacity(self.stacks.len());
        for (index, stack) in self.stacks.iter().enumerate() {
            if index.is_multiple_of(STACKS_BETWEEN) {
                reserved.resize(builder.memory() + of_vec(&stacks))?;
            }
            let frame = self.frame(stack.frame);
            let (parent, without_parent) = match stack.parent {
                Some(parent) if self.frame(self.stack(parent).frame).is_inlined_beside(frame) => stacks[parent.index()],
                Some(parent) => (stacks[parent.index()].0, stacks[parent.index()].0),
                None => (None, None),
            };
            let replacement = &replacements[stack.frame.index()];
            let mut new = if replacement.covers_callers { without_parent } else { parent };
            new = builder.stack_path(new, replacement.frames.iter().rev().copied())?;
            stacks.push((new, without_parent));
        }
        builder.copy_samples(self, |stack| Some(stack.and_then(|stack| stacks[stack.index()].0)))?;
        drop(reserved);
        held(builder.finish())
    }

    /// This profile with every stack that samples have replaced by another one of the same frames; everything else stays as
    /// it is, with the same ids.
    ///
    /// `shape` is asked once for each stack that a sample or sum has, in order of their ids, first of all for that of samples
    /// without stack where there are any. It gets the frames from the root to the leaf, none for no stack, and changes them;
    /// if it gives `false`, the samples of this stack are left out.
    ///
    /// # Errors
    /// As [`with_frames`](Self::with_frames).
    pub fn with_stacks(
        &self,
        mut shape: impl FnMut(Option<StackId>, &mut Vec<FrameId>) -> bool,
    ) -> Result<Self, RebuildError> {
        let mut reserved = self.budget.reserve(self.memory())?;
        let mut builder = ProfileBuilder::without_stacks(self);
        let mut is_used = vec![false; self.stacks.len() + 1];
        for sum in self.sums_or_samples() {
            is_used[place(sum.stack)] = true;
        }
        let mut stacks: Vec<Option<Option<StackId>>> = vec![None; is_used.len()];
        let mut path = Vec::new();
        for old in std::iter::once(None).chain(self.stack_ids().map(Some)) {
            if place(old).is_multiple_of(STACKS_BETWEEN) {
                reserved.resize(builder.memory() + of_vec(&stacks) + of_vec(&is_used))?;
            }
            if !is_used[place(old)] {
                continue;
            }
            path.clear();
            path.extend(std::iter::successors(old, |&id| self.stack(id).parent).map(|id| self.stack(id).frame));
            path.reverse();
            if shape(old, &mut path) {
                stacks[place(old)] = Some(builder.stack_path(None, path.iter().copied())?);
            }
        }
        builder.copy_samples(self, |stack| stacks[place(stack)])?;
        drop(reserved);
        held(builder.finish())
    }
}

/// A new profile, with what it takes of the budget.
fn held(mut profile: Profile) -> Result<Profile, RebuildError> {
    profile.hold()?;
    Ok(profile)
}

/// The place of a stack in a table that begins with that of no stack.
fn place(stack: Option<StackId>) -> usize {
    stack.map_or(0, |stack| stack.index() + 1)
}

//! Copies a profile with other frames (symbolication) or other stacks (operations).

use std::fmt;

use super::doing::Doings;
use super::model::{FrameId, StackId};
use super::wait::WAITS;
use super::{Full, Profile, ProfileBuilder, SampleSum};
use crate::memory::{OverBudget, of_vec};
use crate::ranked_bits::RankedBits;

/// Why a profile could not be rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RebuildError {
    /// A table is full.
    Full(Full),
    /// The new profile exceeds the memory [budget](Profile::budget).
    Memory(OverBudget),
    /// Names or weights cannot be replaced after operations, which selected functions by their old names and reported the old weights.
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

/// Memory is reserved once per this many stacks.
const STACKS_BETWEEN: usize = 1 << 12;

/// The replacement of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replacement {
    /// The frames that replace it, innermost first; must not be empty.
    pub frames: Vec<FrameId>,
    /// True if these are all functions at the frame's address. They then also replace its callers that the recording lists as inlined at the same
    /// address ([`Frame::is_inlined_beside`](super::Frame::is_inlined_beside)).
    pub covers_callers: bool,
}

impl Profile {
    /// Returns this profile with each frame replaced by one or more others. Everything else keeps its content and ids: strings, runs, series,
    /// processes, threads, cores and binaries.
    ///
    /// `replace` is called once per frame, in id order, and adds the rows that it needs to the new profile's builder. Frames can be replaced only
    /// once, since their inline marks then have another meaning.
    ///
    /// # Errors
    /// If a table of the new profile is full, or the memory budget is exceeded.
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
            // From here on, each frame needs at most one more name, and stacks refer to frames by id.
            drop(reserved);
            return held(builder.finish_with_stacks_of(self));
        }
        // For each old stack, the new stack with and without its frame; the latter if a callee covers the frame. Parents come first, so their new
        // stacks are available.
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
        builder.copy_samples(self, |sum| Some((sum.stack.and_then(|stack| stacks[stack.index()].0), sum.state)))?;
        drop(reserved);
        held(builder.finish())
    }

    /// Returns this profile with each sampled stack replaced by another one of the same frames. Everything else keeps its content and ids, with
    /// one exception: waiting samples without a state get one if their leaf changes, since the new leaf would not show that they wait.
    ///
    /// `shape` is called for samples without a stack, if any, and then for each stack of a sample or sum, in id order. It is called separately
    /// for samples that do not wait, and, with `true`, for those that do. It receives the frames from root to leaf (none without a stack) and may
    /// change them, or return false to drop these samples.
    ///
    /// # Errors
    /// See [`with_frames`](Self::with_frames).
    pub fn with_stacks(
        &self,
        mut shape: impl FnMut(Option<StackId>, bool, &mut Vec<FrameId>) -> bool,
    ) -> Result<Self, RebuildError> {
        let mut reserved = self.budget.reserve(self.memory())?;
        let mut builder = ProfileBuilder::without_stacks(self);
        let (mut is_used, mut needs_state) = (vec![false; 2 * (self.stacks.len() + 1)], false);
        let doings = Doings::new(self);
        let place_of = |sum: &SampleSum| place(sum.stack, doings.of(sum).is_idle());
        for sum in self.sums_or_samples() {
            let place = place_of(&sum);
            is_used[place] = true;
            needs_state |= place % 2 == 1 && sum.state.is_none();
        }
        let waits = if needs_state { Some(builder.string(WAITS)?) } else { None };
        let used: RankedBits = is_used.into_iter().collect();
        // For each used place, the new stack, and whether its leaf changed.
        let mut stacks: Vec<Option<(Option<StackId>, bool)>> = Vec::new();
        let mut path = Vec::new();
        for place in used.members() {
            if stacks.len().is_multiple_of(STACKS_BETWEEN) {
                reserved.resize(builder.memory() + of_vec(&stacks) + used.memory())?;
            }
            let old = (place / 2).checked_sub(1).and_then(StackId::from_index);
            match old {
                Some(old) => self.stacks.write_path(old, &mut path),
                None => path.clear(),
            }
            let leaf = path.last().copied();
            let is_kept = shape(old, place % 2 == 1, &mut path);
            let new = if is_kept { Some(builder.stack_path(None, path.iter().copied())?) } else { None };
            stacks.push(new.map(|new| (new, path.last().copied() != leaf)));
        }
        builder.copy_samples(self, |sum| {
            let place = place_of(sum);
            let (stack, is_other) = stacks[used.before(place)]?;
            Some((stack, sum.state.or(waits.filter(|_| is_other && place % 2 == 1))))
        })?;
        drop(reserved);
        held(builder.finish())
    }
}

/// Reserves the memory of a new profile from its budget.
pub(super) fn held(mut profile: Profile) -> Result<Profile, RebuildError> {
    profile.hold()?;
    Ok(profile)
}

/// The index of a stack in a table with two entries per stack: for samples that do not wait, and for those that do. The first two entries are for
/// samples without a stack.
pub(crate) fn place(stack: Option<StackId>, waits: bool) -> usize {
    2 * stack.map_or(0, |stack| stack.index() + 1) + usize::from(waits)
}

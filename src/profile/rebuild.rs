//! A profile again, with other frames: what symbolication makes of one.

use super::ids::{FrameId, StackId};
use super::{Full, Profile, ProfileBuilder};

/// What becomes of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replacement {
    /// The frames that stand for it, innermost first; never empty.
    pub frames: Vec<FrameId>,
    /// Whether they are all functions of its address: then they stand for callers, too, that the recording lists as
    /// inlined at that address ([`Frame::is_inlined_beside`](super::Frame::is_inlined_beside)).
    pub covers_callers: bool,
}

impl Profile {
    /// This profile with every frame replaced by one or several others; everything else stays as it is, with the same
    /// ids for strings, runs, series, processes, threads, cores and binaries.
    ///
    /// `replace` is asked once for each frame, in order of their ids, and adds what it needs to the builder of the new
    /// profile. Frames that mark what was inlined mean another thing before than after, so a profile is replaced once.
    ///
    /// # Errors
    /// [`Full`] when a table of the new profile is.
    pub fn with_frames(
        &self,
        mut replace: impl FnMut(&mut ProfileBuilder, FrameId) -> Result<Replacement, Full>,
    ) -> Result<Self, Full> {
        let mut builder = ProfileBuilder::without_frames(self);
        let mut replacements = Vec::with_capacity(self.frames.len());
        for id in self.frame_ids() {
            replacements.push(replace(&mut builder, id)?);
        }
        // By old stack: the new one, and the new one without its frame, for a callee that covers it. A parent comes
        // before its children, so its new stacks are known.
        let mut stacks: Vec<(Option<StackId>, Option<StackId>)> = Vec::with_capacity(self.stacks.len());
        for stack in self.stacks.iter() {
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
        builder.copy_samples(self, |stack| stacks[stack.index()].0)?;
        Ok(builder.finish())
    }
}

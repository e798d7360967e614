//! A profile again, with other frames: what symbolication makes of one.

use super::ids::{FrameId, StackId};
use super::{Full, Profile, ProfileBuilder};

/// What becomes of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replacement {
    /// The frames that stand for it, innermost first; never empty.
    pub frames: Vec<FrameId>,
    /// Whether the frame on its leaf side stands for it already: its recording listed inlined functions as frames of
    /// one address, and that frame's replacement has them all.
    pub is_covered: bool,
}

impl Profile {
    /// This profile with every frame replaced by one or several others; everything else stays as it is, with the same
    /// ids for strings, runs, series, processes, threads, cores and binaries.
    ///
    /// `replace` is asked once for each frame, in order of their ids, and adds what it needs to the builder of the new
    /// profile.
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
        // A parent comes before its children, so its new stack is known.
        let mut stacks: Vec<Option<StackId>> = Vec::with_capacity(self.stacks.len());
        for stack in &self.stacks {
            let mut new = stack.parent.and_then(|parent| stacks[parent.index()]);
            let replacement = &replacements[stack.frame.index()];
            if !replacement.is_covered {
                for &frame in replacement.frames.iter().rev() {
                    new = Some(builder.stack(new, frame)?);
                }
            }
            stacks.push(new);
        }
        builder.copy_samples(self, |stack| stacks[stack.index()])?;
        Ok(builder.finish())
    }
}

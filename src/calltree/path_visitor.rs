//! What visits the paths of stacks, whether they are rows or merged.

use crate::profile::FrameId;

/// Visits the paths of stacks: enters each frame after its caller, and leaves it after everything below it.
pub(super) trait PathVisitor {
    fn enter(&mut self, frame: FrameId);
    /// Called for samples that end in the frame that was entered last.
    fn end(&mut self, frame: FrameId, weight: u64, samples: u64);
    /// Called with the weight and number of all samples that passed through the frame since it was entered.
    fn leave(&mut self, frame: FrameId, weight: u64, samples: u64);
}

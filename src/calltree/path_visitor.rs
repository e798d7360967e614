//! Visits the paths of stacks in either form: rows or a merged forest.

use crate::profile::FrameId;

/// Enters each frame after its caller, and leaves it after everything below it.
pub(super) trait PathVisitor {
    fn enter(&mut self, frame: FrameId);
    /// Called for samples that end in the frame that was entered last.
    fn end(&mut self, frame: FrameId, weight: u64, samples: u64);
    /// Called with the weight and number of all samples that passed through the frame.
    fn leave(&mut self, frame: FrameId, weight: u64, samples: u64);
}

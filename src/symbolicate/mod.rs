//! Symbolicates a profile: every frame that symbol files contain gets its name, its inlined functions and its line.
//!
//! 1. The distinct (image, lookup address) pairs of all frames are collected, by UUID, relative to the load address.
//! 2. The files of each image are queried, best first, with sorted addresses (`cached_answers`); images are queried in parallel. Answers are kept
//!    for other exports in a batch ([`SymbolCache`]).
//! 3. A new profile is built, in which each frame is replaced by one frame per inlined function (`apply`).
//!
//! A frame named by the recording keeps its name, unless the symbols name another function. The symbols are then right, since the UUID matches,
//! and the disagreement is counted. Recorded inlined functions are kept if the files list only one function. The summary shows, for each binary,
//! how many frames have names now, and why others have no name.

mod answers;
mod apply;
mod cache;
mod cached_answers;
mod images;
mod same_function;
mod summary;

use std::collections::BTreeSet;

pub use cache::SymbolCache;
pub use images::{ImageSpec, SymbolicateOptions};
pub use summary::{BinarySummary, Missing, SymbolicationSummary};

use crate::profile::{Profile, RebuildError};
use crate::symbols::SymbolFinder;
use crate::units::Uuid;

impl Profile {
    /// Returns the recording with the names from symbol files, and a summary of its frames.
    ///
    /// # Errors
    /// If the new profile exceeds its tables, or the names exceed the memory [budget](Self::budget).
    pub fn symbolicate(
        &self,
        finder: &dyn SymbolFinder,
        options: &SymbolicateOptions,
    ) -> Result<(Self, SymbolicationSummary), RebuildError> {
        SymbolCache::new(finder).symbolicate(self, options)
    }
}

impl SymbolicateOptions {
    /// The images that [`Profile::symbolicate`] looks addresses up in: the binaries of the frames, and the images in the options.
    pub fn wanted_images(&self, profile: &Profile) -> BTreeSet<Uuid> {
        let binaries = profile.frame_ids().filter_map(|id| profile.frame(id).binary);
        let of_frames = binaries.filter_map(|id| profile.binary(id).uuid).filter(|uuid| !uuid.is_nil());
        of_frames.chain(self.images.iter().map(|image| image.uuid)).collect()
    }
}

//! Joins a profile with symbol files: every frame that they can name gets its name, its inlined callees and its line.
//!
//! 1. The distinct (image, lookup address) pairs of all frames are collected, by UUID, relative to the load address.
//! 2. The files of each image are asked, the best first (`remembered`); images in parallel, addresses sorted. What they
//!    answer is remembered, for other exports of a batch ([`SymbolCache`]).
//! 3. A new profile is made, in which a frame is one frame for each function that was inlined there (`apply`).
//!
//! A frame that the recording named keeps that name, unless the symbols say that it is another function: then the
//! symbols are right, since the UUID is the same, and the disagreement is counted. Inlined functions that the recording
//! lists itself stay where the files know one function only. The summary says for each binary how
//! many frames have names now, and why the others have none.

mod answers;
mod apply;
mod cache;
mod images;
mod names;
mod remembered;
mod summary;

use std::collections::BTreeSet;

pub use cache::SymbolCache;
pub use images::{ImageSpec, ImageSpecError};
pub use names::{MAX_DEMANGLED, NameDemangler, display_name};
pub use summary::{BinarySummary, Missing, SymbolicationSummary};

use crate::hash::HashMap;
use crate::profile::{BinaryId, Frame, Profile, RebuildError};
use crate::symbols::SymbolFinder;
use crate::units::{Address, Uuid};
use images::ImageMap;

/// The options of symbolication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicateOptions {
    /// True to add frames for inlined functions; otherwise only the function that holds the code gets one. Default: yes.
    pub with_inlines: bool,
    /// Images of documents whose stacks name none (Xcode 12 to 14.2, and `time-sample`).
    pub images: Vec<ImageSpec>,
}

impl Default for SymbolicateOptions {
    fn default() -> Self {
        Self { with_inlines: true, images: Vec::new() }
    }
}

/// Returns the same recording with the names from symbol files, and a summary of its frames.
///
/// # Errors
/// When the new profile does not fit its tables, or the names take more memory than the [budget](Profile::budget) has.
pub fn symbolicate(
    profile: &Profile,
    finder: &dyn SymbolFinder,
    options: &SymbolicateOptions,
) -> Result<(Profile, SymbolicationSummary), RebuildError> {
    SymbolCache::new(finder).symbolicate(profile, options)
}

/// The images that [`symbolicate`] looks addresses up in: those of the frames' binaries, and those that the options name.
pub fn wanted_images(profile: &Profile, options: &SymbolicateOptions) -> BTreeSet<Uuid> {
    let binaries = profile.frame_ids().filter_map(|id| profile.frame(id).binary);
    let of_frames = binaries.filter_map(|id| profile.binary(id).uuid).filter(|uuid| !uuid.is_nil());
    of_frames.chain(options.images.iter().map(|image| image.uuid)).collect()
}

/// The addresses to look up in one image.
#[derive(Clone, Debug)]
struct ImageAddresses {
    uuid: Uuid,
    /// Relative to the Mach-O header; sorted, distinct.
    addresses: Vec<u64>,
}

/// The key of a frame's look-up: the image, and the address relative to its Mach-O header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    uuid: Uuid,
    address: u64,
}

/// The key of a frame; `None` where the image is not known, or the address is before it.
fn key(profile: &Profile, map: &ImageMap, frame: &Frame) -> Option<Key> {
    let Some(binary) = frame.binary else { return map.key(frame.lookup_address) };
    let binary = profile.binary(binary);
    let address = relative(frame.lookup_address, binary.load_address)?;
    let uuid = binary.uuid.filter(|uuid| !uuid.is_nil())?;
    Some(Key { uuid, address })
}

fn relative(address: Address, load_address: Address) -> Option<u64> {
    address.get().checked_sub(load_address.get())
}

/// The distinct addresses of every image.
fn addresses(profile: &Profile, map: &ImageMap) -> Vec<ImageAddresses> {
    let mut by_uuid: HashMap<Uuid, Vec<u64>> = HashMap::default();
    for id in profile.frame_ids() {
        if let Some(Key { uuid, address }) = key(profile, map, profile.frame(id)) {
            by_uuid.entry(uuid).or_default().push(address);
        }
    }
    let mut images: Vec<ImageAddresses> = by_uuid
        .into_iter()
        .map(|(uuid, mut addresses)| {
            addresses.sort_unstable();
            addresses.dedup();
            ImageAddresses { uuid, addresses }
        })
        .collect();
    // The largest first, so that no core waits for one that began last.
    images.sort_unstable_by_key(|image| (std::cmp::Reverse(image.addresses.len()), image.uuid));
    images
}

/// Every binary of the profile that stands for a UUID: the one functions are attributed to.
fn first_binaries(profile: &Profile) -> HashMap<Uuid, BinaryId> {
    let mut first = HashMap::default();
    for id in profile.binary_ids() {
        if let Some(uuid) = profile.binary(id).uuid {
            first.entry(uuid).or_insert(id);
        }
    }
    first
}

//! The addresses of a profile to look up, image by image.

use super::images::ImageMap;
use super::images::{ImageAddresses, Key};
use crate::hash::HashMap;
use crate::profile::{BinaryId, Frame, Profile};
use crate::units::{Address, Uuid};

/// The key of a frame; `None` where the image is not known, or the address is before it.
pub(super) fn key(profile: &Profile, map: &ImageMap, frame: &Frame) -> Option<Key> {
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
pub(super) fn addresses(profile: &Profile, map: &ImageMap) -> Vec<ImageAddresses> {
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
    // The largest first, so that no thread starts a large image last.
    images.sort_unstable_by_key(|image| (std::cmp::Reverse(image.addresses.len()), image.uuid));
    images
}

/// For each UUID, the binary of the profile that functions are attributed to.
pub(super) fn first_binaries(profile: &Profile) -> HashMap<Uuid, BinaryId> {
    let mut first = HashMap::default();
    for id in profile.binary_ids() {
        if let Some(uuid) = profile.binary(id).uuid {
            first.entry(uuid).or_insert(id);
        }
    }
    first
}

//! Images that the user specifies for documents without images, the addresses to look up in each image, and the options of symbolication.

use std::path::PathBuf;

use crate::files::shown;
use crate::hash::HashMap;
use crate::profile::{BinaryId, Frame, Profile};
use crate::symbols::{Found, SymbolFinder};
use crate::units::{Address, Uuid};

/// A binary and its load address: `UUID@LOAD_ADDRESS` or, with the path of its symbols, `UUID@LOAD_ADDRESS=PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageSpec {
    /// The UUID.
    pub uuid: Uuid,
    /// The address of its Mach-O header in the recorded process.
    pub load_address: Address,
    /// The symbol file or bundle, if given.
    pub path: Option<PathBuf>,
}

impl std::str::FromStr for ImageSpec {
    /// Why the text is invalid.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: String| {
            format!("{what}; an image is UUID@LOAD_ADDRESS or UUID@LOAD_ADDRESS=PATH, such as 5F2C…@0x102af4000")
        };
        let (image, path) = match text.split_once('=') {
            Some((image, path)) => (image, Some(PathBuf::from(path))),
            None => (text, None),
        };
        let (uuid, address) = image.split_once('@').ok_or_else(|| wrong("there is no @".to_owned()))?;
        let uuid = Uuid::parse(uuid).ok_or_else(|| wrong(format!("{uuid:?} is not a UUID")))?;
        let digits = address.strip_prefix("0x").unwrap_or(address);
        let number = u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
        let load_address = number.ok_or_else(|| wrong(format!("{address:?} is not a hexadecimal address")))?;
        Ok(Self { uuid, load_address: Address::new(load_address), path })
    }
}

/// The specified images, by address.
#[derive(Debug, Default)]
pub(super) struct ImageMap {
    /// Start, end (exclusive), image; sorted by start.
    ranges: Vec<(u64, u64, Image)>,
}

/// An image for frames without a binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) uuid: Uuid,
    pub(super) load_address: Address,
    pub(super) name: String,
    pub(super) arch: String,
    pub(super) path: String,
}

impl ImageMap {
    /// Creates the map. The sizes of images come from their symbol files.
    pub(super) fn new(specs: &[ImageSpec], finder: &dyn SymbolFinder) -> Self {
        let mut specs: Vec<&ImageSpec> = specs.iter().collect();
        specs.sort_by_key(|spec| spec.load_address);
        let ranges = specs.iter().enumerate().map(|(index, spec)| {
            let found: Vec<Found> = finder.find(spec.uuid);
            let start = spec.load_address.get();
            let size = found.iter().find_map(|found| found.text_size);
            let next = specs.get(index + 1).map_or(u64::MAX, |next| next.load_address.get());
            // An image of unknown size contains nothing, since it would otherwise contain the rest of the process.
            let end = start.saturating_add(size.unwrap_or(0)).min(next);
            let best = found.first();
            let image = Image {
                uuid: spec.uuid,
                load_address: spec.load_address,
                name: best.map(|found| found.name.clone()).unwrap_or_default(),
                arch: best.map(|found| found.arch.clone()).unwrap_or_default(),
                path: best.map(|found| shown(&found.path)).unwrap_or_default(),
            };
            (start, end, image)
        });
        Self { ranges: ranges.collect() }
    }

    pub(super) fn image(&self, address: Address) -> Option<&Image> {
        let index = self.ranges.partition_point(|(start, ..)| *start <= address.get()).checked_sub(1)?;
        let (_, end, image) = &self.ranges[index];
        (address.get() < *end).then_some(image)
    }

    /// Returns the lookup key of a frame without a binary.
    pub(super) fn key(&self, address: Address) -> Option<Key> {
        let image = self.image(address)?;
        Some(Key { uuid: image.uuid, address: address.get() - image.load_address.get() })
    }
}

/// The addresses to look up in one image.
#[derive(Clone, Debug)]
pub(super) struct ImageAddresses {
    pub(super) uuid: Uuid,
    /// Relative to the Mach-O header; sorted, distinct.
    pub(super) addresses: Vec<u64>,
}

/// What to look up for a frame: the image, and the address relative to its Mach-O header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) uuid: Uuid,
    pub(super) address: u64,
}

/// Returns the lookup key of a frame; `None` if the image is unknown, or the address is below it.
pub(super) fn key(profile: &Profile, map: &ImageMap, frame: &Frame) -> Option<Key> {
    let Some(binary) = frame.binary else { return map.key(frame.lookup_address) };
    let binary = profile.binary(binary);
    let address = frame.lookup_address.get().checked_sub(binary.load_address.get())?;
    let uuid = binary.uuid.filter(|uuid| !uuid.is_nil())?;
    Some(Key { uuid, address })
}

/// Collects the distinct addresses in each image.
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
    // Largest first, so that no thread starts a large image last.
    images.sort_unstable_by_key(|image| (std::cmp::Reverse(image.addresses.len()), image.uuid));
    images
}

/// Returns the binary to which each UUID's functions are attributed.
pub(super) fn first_binaries(profile: &Profile) -> HashMap<Uuid, BinaryId> {
    let mut first = HashMap::default();
    for id in profile.binary_ids() {
        if let Some(uuid) = profile.binary(id).uuid {
            first.entry(uuid).or_insert(id);
        }
    }
    first
}

/// The options of symbolication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicateOptions {
    /// Whether to add frames for inlined functions. Otherwise only the function that contains the code gets a frame. Default: true.
    pub with_inlines: bool,
    /// Images for documents whose stacks have no images (Xcode 12 to 14.2, and `time-sample`).
    pub images: Vec<ImageSpec>,
}

impl Default for SymbolicateOptions {
    fn default() -> Self {
        Self { with_inlines: true, images: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_read_from_text() {
        let uuid = "C144ED77-219A-3695-845E-CA110204F8DB";
        let spec: ImageSpec = format!("{uuid}@0x102af4000=App.dSYM").parse().unwrap();
        assert_eq!((spec.uuid.to_string().as_str(), spec.load_address.get()), (uuid, 0x1_02af_4000));
        assert_eq!(spec.path, Some(PathBuf::from("App.dSYM")));
        assert_eq!(format!("{uuid}@102af4000").parse::<ImageSpec>().unwrap().path, None);
        for bad in ["", uuid, "x@0x1", &format!("{uuid}@"), &format!("{uuid}@zz"), &format!("{uuid}@0x+1")] {
            assert!(bad.parse::<ImageSpec>().is_err(), "{bad}");
        }
    }
}

//! The images loaded in a process, by address.
//!
//! A process has private images, images of a shared cache, and the kernel's images. Processes share the tables of the cache and the kernel. A
//! process only lists which images of the cache it has loaded.
//!
//! Images that were loaded at different times may have had the same address. Load times are recorded on another clock than samples, so such an
//! address is [`Found::Ambiguous`]: no image is better than a wrong one.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::hash::HashMap;
use crate::symbols::{Architecture, ListedImage};
use crate::units::{Address, Uuid};

/// Segments without code of one image: `__PAGEZERO` is below the image, and all images of a shared cache share `__LINKEDIT`.
const OTHER_SEGMENTS: [&[u8]; 2] = [b"__PAGEZERO", b"__LINKEDIT"];
const TEXT: &[u8] = b"__TEXT";

/// A loaded binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) uuid: Uuid,
    pub(super) architecture: Architecture,
    /// The path, or the name of a kernel extension; may be empty.
    pub(super) path: String,
    /// The start of `__TEXT`, relative to the start of the table.
    text: u64,
    /// The offset that identifies the image in its shared cache.
    cache_offset: u64,
}

/// An image with its load address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Located<'a> {
    pub(super) image: &'a Image,
    /// The start of its `__TEXT` in memory.
    pub(super) load_address: Address,
}

/// The result of an address lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    One(Located<'a>),
    /// Several images were loaded here at different times.
    Ambiguous,
    /// No known image contains the address.
    None,
}

impl Found<'_> {
    /// Merges two lookups of the same address.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Found::None, found) | (found, Found::None) => found,
            (Found::One(one), Found::One(two)) if one.is_same(two) => self,
            _ => Found::Ambiguous,
        }
    }
}

impl Located<'_> {
    /// True for the same binary, even from different lists.
    fn is_same(&self, other: Self) -> bool {
        (self.image.uuid, self.load_address) == (other.image.uuid, other.load_address)
    }
}

/// The images of a process.
#[derive(Clone, Debug, Default)]
pub(super) struct Images {
    /// The images that only this process has loaded.
    pub(super) own: ImageTable,
    /// The shared cache that it maps.
    pub(super) cache: Option<MappedCache>,
    pub(super) kernel: Option<Arc<ImageTable>>,
}

/// A shared cache mapped into a process.
#[derive(Clone, Debug)]
pub(super) struct MappedCache {
    table: Arc<ImageTable>,
    base: u64,
    // Sorted.
    loaded: Vec<u64>,
}

impl MappedCache {
    /// A cache mapped at `base`. `loaded` contains the cache offsets of the images that the process has loaded.
    pub(super) fn new(table: Arc<ImageTable>, base: u64, mut loaded: Vec<u64>) -> Self {
        loaded.sort_unstable();
        Self { table, base, loaded }
    }

    /// True if the cache lists all images that the process has loaded.
    pub(super) fn has_all(&self) -> bool {
        let known: HashSet<u64> = self.table.images.iter().map(|image| image.cache_offset).collect();
        self.loaded.iter().all(|offset| known.contains(offset))
    }

    fn find(&self, address: u64) -> Found<'_> {
        let Some(offset) = address.checked_sub(self.base) else {
            return Found::None;
        };
        match self.table.find(offset) {
            Found::One(Located { image, .. }) if self.loaded.binary_search(&image.cache_offset).is_err() => Found::None,
            Found::One(Located { image, load_address }) => match load_address.get().checked_add(self.base) {
                Some(load_address) => Found::One(Located { image, load_address: Address::new(load_address) }),
                None => Found::None,
            },
            found => found,
        }
    }
}

impl Images {
    /// Finds the image at an address that may have a pointer authentication code in its upper bits.
    ///
    /// If no image contains the address, the lookup is retried without the bits above 47, and then without the bits above 39. On a Mac, the last
    /// step requires a bit above 47 to be set: otherwise the address cannot contain an authentication code.
    pub(super) fn find(&self, address: Address, is_device: bool) -> Found<'_> {
        let plain = address.without_authentication();
        let mut found = self.find_exactly(address.get());
        if plain != address || is_device {
            for masked in [plain, address.without_device_authentication()] {
                found = if found == Found::None { self.find_exactly(masked.get()) } else { found };
            }
        }
        found
    }

    /// True if images or segments were left out.
    pub(super) fn are_incomplete(&self) -> bool {
        let cache = self.cache.iter().map(|cache| &cache.table);
        self.own.is_incomplete || cache.chain(&self.kernel).any(|table| table.is_incomplete)
    }

    fn find_exactly(&self, address: u64) -> Found<'_> {
        let cached = self.cache.as_ref().map_or(Found::None, |cache| cache.find(address));
        let kernel = self.kernel.as_ref().map_or(Found::None, |kernel| kernel.find(address));
        self.own.find(address).and(cached).and(kernel)
    }
}

/// Images by address.
#[derive(Clone, Debug, Default)]
pub(super) struct ImageTable {
    images: Vec<Image>,
    // Sorted, without overlaps.
    ranges: Vec<Range>,
    /// True if the address of an image is unknown, or only partly known.
    is_incomplete: bool,
}

/// An address range that belongs to one image, or that several images claim.
#[derive(Clone, Copy, Debug)]
struct Range {
    start: u64,
    // Exclusive; greater than `start`.
    end: u64,
    /// `None` if several images overlap here.
    image: Option<u32>,
}

impl ImageTable {
    /// Creates a table of images, each with its offset in its shared cache, or 0. Addresses in a cache are relative to its start.
    ///
    /// Images without a `__TEXT` have no load address and are left out, as are segments that end beyond 64 bits.
    pub(super) fn new<'i>(listed: impl IntoIterator<Item = (ListedImage<'i>, u64)>) -> Self {
        let (mut images, mut edges, mut known) = (Vec::new(), Vec::new(), HashMap::default());
        let mut is_incomplete = false;
        for (listed, cache_offset) in listed {
            let Some(image) = Image::new(&listed, cache_offset) else {
                is_incomplete = true;
                continue;
            };
            let index = *known.entry((image.uuid, image.text)).or_insert(images.len() as u32);
            if index as usize == images.len() {
                images.push(image);
            }
            let segments = listed.segments.iter().filter(|segment| !OTHER_SEGMENTS.contains(&short(&segment.name)));
            for segment in segments {
                let start = segment.address;
                let Some(end) = start.checked_add(segment.size) else {
                    is_incomplete = true;
                    continue;
                };
                edges.extend([
                    Edge { at: start, image: index, is_start: true },
                    Edge { at: end, image: index, is_start: false },
                ]);
            }
        }
        Self { images, ranges: ranges_between(edges), is_incomplete }
    }

    /// Finds the image at exactly this address.
    fn find(&self, address: u64) -> Found<'_> {
        let next = self.ranges.partition_point(|range| range.start <= address);
        let range = next.checked_sub(1).and_then(|index| self.ranges.get(index));
        match range.filter(|range| address < range.end).map(|range| range.image) {
            None => Found::None,
            Some(None) => Found::Ambiguous,
            Some(Some(index)) => self
                .images
                .get(index as usize)
                .map_or(Found::None, |image| Found::One(Located { image, load_address: Address::new(image.text) })),
        }
    }
}

impl Image {
    /// Returns `None` without a `__TEXT`.
    fn new(listed: &ListedImage<'_>, cache_offset: u64) -> Option<Self> {
        let text = listed.segments.iter().find(|segment| short(&segment.name) == TEXT)?;
        Some(Self {
            uuid: listed.image.uuid,
            architecture: Architecture::new(listed.image.cputype, listed.image.cpusubtype),
            path: listed.image.path.unwrap_or_default().to_owned(),
            text: text.address,
            cache_offset,
        })
    }
}

/// Trims trailing NULs from a segment name.
fn short(name: &[u8; 16]) -> &[u8] {
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    &name[..end]
}

/// The start or end of a segment.
struct Edge {
    at: u64,
    image: u32,
    is_start: bool,
}

/// Converts edges to ranges, each with its image, or without one if several images overlap.
fn ranges_between(mut edges: Vec<Edge>) -> Vec<Range> {
    // Starts sort first, so an empty segment starts before it ends.
    edges.sort_by_key(|edge| (edge.at, !edge.is_start));
    let (mut ranges, mut open, mut start) = (Vec::new(), BTreeMap::<u32, u32>::new(), 0);
    for edge in edges {
        if let Some((&image, _)) = open.first_key_value().filter(|_| start < edge.at) {
            ranges.push(Range { start, end: edge.at, image: (open.len() == 1).then_some(image) });
        }
        start = edge.at;
        let segments = open.entry(edge.image).or_default();
        if edge.is_start {
            *segments += 1;
        } else {
            *segments = segments.saturating_sub(1);
            if *segments == 0 {
                open.remove(&edge.image);
            }
        }
    }
    ranges
}

/// The first byte of the UUID of the image at an address; 0 for none, 255 for several.
#[cfg(test)]
pub(super) fn byte_at(images: &Images, address: u64) -> u8 {
    match images.find(Address::new(address), false) {
        Found::One(located) => located.image.uuid.as_bytes()[0],
        Found::Ambiguous => 255,
        Found::None => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{InventedImage, signature};
    use super::*;
    use crate::symbols::apple_signature;

    fn table(images: &[InventedImage<'_>]) -> ImageTable {
        let bytes = signature(images, None);
        let read = apple_signature(&bytes).unwrap();
        ImageTable::new(read.images.into_iter().map(|image| (image, 0)))
    }

    #[test]
    fn every_segment_counts_but_those_of_all() {
        let app = InventedImage {
            uuid: 1,
            path: "/App",
            segments: &[
                ("__PAGEZERO", 0, 0x1_0000_0000),
                ("__TEXT", 0x1_0000_0000, 0x4000),
                ("__DATA", 0x1_0000_8000, 0x4000),
                ("__LINKEDIT", 0x1_0000_c000, 0x9000),
            ],
        };
        let images = Images { own: table(&[app]), ..Images::default() };
        let asked = [0, 0xffff_ffff, 0x1_0000_0000, 0x1_0000_3fff, 0x1_0000_4000, 0x1_0000_8000, 0x1_0000_c000];
        assert_eq!(asked.map(|address| byte_at(&images, address)), [0, 0, 1, 1, 0, 1, 0]);
        let Found::One(Located { image, load_address }) = images.find(Address::new(0x1_0000_8abc), false) else {
            unreachable!()
        };
        assert_eq!((load_address.get(), image.path.as_str()), (0x1_0000_0000, "/App"));
        assert_eq!(image.architecture.name(), Some("arm64e"));
    }

    #[test]
    fn codes_in_the_upper_bits_are_masked_only_where_they_can_be() {
        let mac = InventedImage { uuid: 1, path: "", segments: &[("__TEXT", 0x7ff8_0000_0000, 0x1000)] };
        let phone = InventedImage { uuid: 2, path: "", segments: &[("__TEXT", 0x1_8000_0000, 0x1000)] };
        let kernel = InventedImage { uuid: 3, path: "", segments: &[("__TEXT", 0xffff_fe00_0700_0000, 0x1000)] };
        let images =
            Images { own: table(&[mac, phone]), kernel: Some(Arc::new(table(&[kernel]))), ..Images::default() };
        assert_eq!(byte_at(&images, 0x7ff8_0000_0abc), 1);
        assert_eq!(byte_at(&images, 0x6b59_fff8_0000_0abc), 1, "a code above 47 bits");
        assert_eq!(byte_at(&images, 0x9abc_de81_8000_0abc), 2, "a code above 39 bits, of which the highest is set");
        assert_eq!(byte_at(&images, 0x0000_7e81_8000_0abc), 0, "no code: this address is elsewhere");
        let of_device = images.find(Address::new(0x0000_7e81_8000_0abc), true);
        assert!(
            matches!(of_device, Found::One(located) if located.load_address.get() == 0x1_8000_0000),
            "a code on iOS"
        );
        assert_eq!(byte_at(&images, 0xffff_fe00_0700_0abc), 3);
        assert_eq!(byte_at(&images, 0x0000_7e00_0700_0abc), 0);
    }

    #[test]
    fn what_a_process_did_not_load_of_a_cache_is_not_there() {
        let at = |uuid, segments| InventedImage { uuid, path: "", segments };
        let bytes = signature(&[at(1, &[("__TEXT", 0x1000, 0x1000)]), at(2, &[("__TEXT", 0x2000, 0x1000)])], None);
        let cached =
            Arc::new(ImageTable::new(apple_signature(&bytes).unwrap().images.into_iter().zip([0x1000, 0x2000])));
        let process = |offsets: &[u64]| Images {
            cache: Some(MappedCache::new(Arc::clone(&cached), 0x1_8000_0000, offsets.to_vec())),
            ..Images::default()
        };
        let found = |offsets: &[u64]| [0x1_8000_1fff, 0x1_8000_2000].map(|address| byte_at(&process(offsets), address));
        assert_eq!((found(&[0x2000, 0x1000]), found(&[0x2000]), found(&[])), ([1, 2], [0, 2], [0, 0]));
        let both = Images { own: table(&[at(3, &[("__TEXT", 0x1_8000_1000, 0x10)])]), ..process(&[0x1000]) };
        assert_eq!(byte_at(&both, 0x1_8000_100f), 255, "the process and its cache disagree");
        assert_eq!(byte_at(&both, 0x1_8000_1010), 1);
    }

    #[test]
    fn segments_beyond_64_bits_are_left_out() {
        let high = InventedImage { uuid: 1, path: "", segments: &[("__TEXT", 0x1000, 8), ("__DATA", u64::MAX - 4, 8)] };
        let headless = InventedImage { uuid: 3, path: "", segments: &[("__DATA", 0x9000, 8)] };
        let table = table(&[high, headless]);
        assert_eq!((table.images.len(), table.find(0x1000) != Found::None, table.find(0x9000)), (1, true, Found::None));
        assert_eq!(table.find(u64::MAX - 2), Found::None);
    }

    proptest! {
        /// Generates overlapping segments of a few images, some listed twice, and checks every address.
        #[test]
        fn overlaps_are_ambiguous(
            segments in prop::collection::vec((1_u8..5, 0_u64..40, 0_u64..12), 0..12)
        ) {
            // Each image has an empty `__TEXT`, so only the generated segments contain addresses.
            let places: Vec<_> = segments.iter().map(|&(_, at, size)| [("__TEXT", 0_u64, 0_u64), ("__DATA", at, size)]).collect();
            let invented: Vec<_> = segments
                .iter()
                .zip(&places)
                .map(|(&(uuid, ..), segments)| InventedImage { uuid, path: "", segments })
                .collect();
            let images = Images { own: table(&invented), ..Images::default() };
            for address in 0..60 {
                let is_there = |&&(_, at, size): &&(u8, u64, u64)| (at..at + size).contains(&address);
                let mut there: Vec<u8> = segments.iter().filter(is_there).map(|&(uuid, ..)| uuid).collect();
                there.sort_unstable();
                there.dedup();
                let expected = match there[..] {
                    [] => 0,
                    [one] => one,
                    _ => 255,
                };
                prop_assert_eq!(byte_at(&images, address), expected);
            }
        }
    }
}

//! The lists of loaded images: signatures, which contain the segments of each image.
//!
//! ```text
//! u32 0xff01ff02, 1, pid, 0, 0x2000, number of images; images; 0x00c0ffee, 4, cache UUID, base, UUID, zeros, versions
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::super::recording::{Image, Invented};
use super::super::shape::Shape;

/// The times of an image that is loaded permanently: from the beginning to the end.
const ALWAYS: (u64, u64) = (0, i64::MAX as u64);

/// Images at these addresses come from the shared cache, if there is one.
pub const CACHE: std::ops::Range<u64> = 0x1_8000_0000..0x3_0000_0000;

/// The UUID of the shared cache. A process without a cache has counting bytes instead.
pub const CACHE_UUID: [u8; 16] = *b"shared-cache-uid";
const NO_CACHE_UUID: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// A segment to write.
struct Segment {
    name: &'static str,
    address: u64,
    size: u64,
}

/// The indices of the images in the stacks of each process.
pub fn images_by_process(recording: &Invented) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut images: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for row in &recording.rows {
        let loaded = images.entry(recording.thread_of(row).process).or_default();
        let frames = row.stack.iter().flatten().map(|&frame| &recording.frames[frame]);
        loaded.extend(frames.filter_map(|frame| frame.image));
    }
    images
}

/// The end of an image's code, and so of its `__TEXT`.
fn text_size(recording: &Invented, index: usize) -> u64 {
    let image = &recording.images[index];
    let of_image = recording.frames.iter().filter(|frame| frame.image == Some(index));
    let end = of_image.map(|frame| frame.pc + 8).max().unwrap_or(0);
    end.saturating_sub(image.load_address).next_multiple_of(0x4000).max(0x4000)
}

/// The segments of an image whose code was moved by `moved` from its running address.
fn segments(recording: &Invented, index: usize, moved: u64, is_cached: bool) -> Vec<Segment> {
    let text = recording.images[index].load_address - moved;
    let size = text_size(recording, index);
    let mut segments = vec![Segment { name: "__TEXT", address: text, size }];
    if is_cached {
        // In the cache, data is far from code, and all images share one `__LINKEDIT`.
        let data = 0x7000_0000 + index as u64 * 0x1_0000;
        segments.push(Segment { name: "__DATA_CONST", address: data, size: 0x1c70 });
        segments.push(Segment { name: "__LINKEDIT", address: 0x8000_0000, size: 0x4000_0000 });
        return segments;
    }
    if index.is_multiple_of(2) {
        segments.insert(0, Segment { name: "__PAGEZERO", address: 0, size: 0x1_0000_0000 });
    }
    segments.push(Segment { name: "__DATA", address: text + size, size: 0x4000 });
    segments.push(Segment { name: "__LINKEDIT", address: text + size + 0x4000, size: 0x4000 });
    segments
}

/// The processor type and subtype of an architecture.
pub fn processor(arch: &str) -> (u32, u32) {
    match arch {
        "arm64" => (0x0100_000c, 0),
        "arm64e" => (0x0100_000c, 2),
        "x86_64" => (0x0100_0007, 3),
        "x86_64h" => (0x0100_0007, 8),
        other => panic!("an architecture that recordings do not have: {other}"),
    }
}

/// The bytes of a UUID in text form.
pub fn uuid_bytes(text: &str) -> [u8; 16] {
    let digits: Vec<u8> = text.bytes().filter(|&byte| byte != b'-').collect();
    let byte = |index: usize| {
        let pair = std::str::from_utf8(&digits[2 * index..2 * index + 2]).expect("hexadecimal digits");
        u8::from_str_radix(pair, 16).expect("hexadecimal digits")
    };
    std::array::from_fn(byte)
}

fn words(bytes: &mut Vec<u8>, words: &[u32]) {
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

fn image_record(bytes: &mut Vec<u8>, image: &Image, segments: &[Segment]) {
    bytes.extend(uuid_bytes(&image.uuid));
    words(bytes, &[0, 0x0020_0421]);
    bytes.extend(ALWAYS.0.to_le_bytes());
    bytes.extend(ALWAYS.1.to_le_bytes());
    let (kind, variant) = processor(&image.arch);
    let length = (image.path.len() + 1).next_multiple_of(16);
    words(bytes, &[kind, variant, segments.len() as u32, length as u32]);
    bytes.extend(image.path.as_bytes());
    bytes.resize(bytes.len() + length - image.path.len(), 0);
    for segment in segments {
        let mut name = [0; 16];
        name[..segment.name.len()].copy_from_slice(segment.name.as_bytes());
        bytes.extend(name);
        bytes.extend(segment.address.to_le_bytes());
        bytes.extend(segment.size.to_le_bytes());
    }
}

/// Writes the end of a signature: the UUID of the cache, and its mapped address.
fn trailer(bytes: &mut Vec<u8>, base: Option<u64>) {
    words(bytes, &[0x00c0_ffee, 4]);
    bytes.extend(if base.is_some() { CACHE_UUID } else { NO_CACHE_UUID });
    bytes.extend(base.unwrap_or(0).to_le_bytes());
    bytes.extend(if base.is_some() { [0; 16] } else { NO_CACHE_UUID });
    bytes.extend([0; 16]);
    let versions = b"1286.10\x001.2.3\x00";
    words(bytes, &[versions.len() as u32]);
    bytes.extend(versions);
}

fn signature(pid: u32, is_kernel: bool, images: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    words(&mut bytes, &[0xff01_ff02, 1, if is_kernel { u32::MAX } else { pid }, u32::from(is_kernel), 0x2000, images]);
    bytes
}

/// The signature of a process: its separate images, and its cache.
pub fn process_signature(recording: &Invented, pid: u32, images: &[usize], base: Option<u64>) -> Vec<u8> {
    let mut bytes = signature(pid, pid == 0, images.len() as u32);
    for &index in images {
        image_record(&mut bytes, &recording.images[index], &segments(recording, index, 0, false));
    }
    trailer(&mut bytes, base);
    bytes
}

/// The signature of an image of the shared cache, with addresses in the cache.
pub fn cached_signature(recording: &Invented, pid: u32, index: usize, base: u64) -> Vec<u8> {
    let mut bytes = signature(pid, false, 1);
    image_record(&mut bytes, &recording.images[index], &segments(recording, index, base, true));
    trailer(&mut bytes, Some(base));
    bytes
}

/// The start of a recording's shared cache, below its lowest image.
pub fn cache_base(recording: &Invented) -> u64 {
    let cached = recording.images.iter().map(|image| image.load_address).filter(|address| CACHE.contains(address));
    cached.min().unwrap_or(CACHE.start).saturating_sub(0x23_0000)
}

/// The functions of an image in the symbol archives: start, end and name, relative to the image.
pub fn functions(recording: &Invented, uuid: &str) -> BTreeMap<u64, (u64, String)> {
    let mut functions: BTreeMap<u64, (u64, String)> = BTreeMap::new();
    for frame in &recording.frames {
        let image = frame.image.map(|image| &recording.images[image]).filter(|image| image.uuid == uuid);
        let (Some(image), Some(name)) = (image, &frame.function) else { continue };
        let start = frame.function_start.unwrap_or(frame.pc) - image.load_address;
        let end = frame.pc + 4 - image.load_address;
        let known = functions.entry(start).or_insert_with(|| (end, name.clone()));
        known.0 = known.0.max(end);
    }
    functions
}

/// The frames of samples in 26.2, leaf first, with or without authentication bits in callers.
pub fn addresses(recording: &Invented, row: usize, shape: Shape, is_signed: bool) -> Option<Vec<u64>> {
    let row = &recording.rows[row];
    let addresses =
        if is_signed { recording.signed_addresses(row, shape) } else { recording.recorded_addresses(row, shape) };
    addresses.map(|mut addresses| {
        addresses.reverse();
        addresses
    })
}

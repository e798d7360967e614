//! Archives: zip and tar, plain or packed with gzip or zstd, through `BundleFiles`.
//!
//! ```text
//! form archive      how the archive is packed, then its bytes
//! ```
//!
//! Form 0 is the bytes as they are. With 1 and 2 they are packed with gzip or zstd first, so that what is within is changed and not the
//! stream around it; a tar must then look as it does when it is not packed.

use std::io::Write;
use std::path::{Path, PathBuf};

use traceparse::bundle::{ArchiveLimits, Bundle, BundleFiles};
use traceparse::files::{Entry, Files};
use traceparse::recording::{Limits, Options};

use support::bundle::Memory;

/// Limits so small that a fuzzer reaches each of them.
fn limits() -> ArchiveLimits {
    ArchiveLimits { inflated_bytes: 1 << 20, entries: 64, memory_bytes: 1 << 18, ..ArchiveLimits::default() }
}

const ARCHIVE: &str = "/orchard.trace.zip";

/// # Panics
/// When something does not hold.
pub(crate) fn check(input: &[u8]) {
    let Some((form, archive)) = input.split_first() else { return };
    let found = match form % 3 {
        0 => contents(archive),
        1 => contents(&gzipped(archive)),
        _ => contents(&zstd::bulk::compress(archive, 1).expect("memory can be compressed")),
    };
    if form % 3 != 0 && archive.len() as u64 <= limits().memory_bytes && is_tar(archive) {
        assert_eq!(found, contents(archive), "a tar that is packed, and as it is");
    }
}

/// True if the bytes are treated as a tar archive when they are not packed.
fn is_tar(archive: &[u8]) -> bool {
    archive.get(257..262) == Some(b"ustar") && !archive.starts_with(b"PK")
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory can be compressed")
}

/// The contents of an archive: its files with their bytes, or `None` if there is no recording in it; `Err` if it was refused.
type Contents = Result<Option<Vec<(PathBuf, Option<Vec<u8>>)>>, ()>;

fn contents(archive: &[u8]) -> Contents {
    let mut memory = Memory::default();
    memory.add(Path::new(ARCHIVE), archive.into());
    let mut files = BundleFiles::with_limits(&memory, limits());
    let mounted = files.mount(Path::new(ARCHIVE)).map_err(|error| assert!(!error.to_string().is_empty()))?;
    let Some(bundle) = mounted else { return Ok(None) };
    assert!(bundle.starts_with(ARCHIVE), "{}", bundle.display());
    assert_eq!(files.mount(Path::new(ARCHIVE)).ok(), Some(Some(bundle.clone())), "the second time");
    let found = walk(&files);
    check_bounds(&found);
    open(&files, &bundle);
    Ok(Some(found))
}

/// Everything in the archive, in order.
fn walk(files: &BundleFiles<'_>) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(ARCHIVE)];
    while let Some(folder) = folders.pop() {
        let mut paths = files.list(&folder).expect("a folder has a list");
        paths.sort();
        for path in paths {
            assert_eq!(path.parent(), Some(folder.as_path()), "{}", path.display());
            assert!(path.components().all(|part| part.as_os_str() != ".."), "{}", path.display());
            assert!(files.canonical(&path).is_ok_and(|path| path.starts_with(ARCHIVE)), "{}", path.display());
            match files.entry(&path).expect("what is listed is there") {
                Entry::Folder => folders.push(path),
                Entry::File { length, .. } => found.push((path.clone(), read(files, &path, length))),
                Entry::Other => panic!("{}: neither a file nor a folder", path.display()),
            }
        }
        assert!(found.len() + folders.len() <= 1 << 16, "folders without end");
    }
    found
}

/// A file at once and in pieces; `None` where it cannot be read.
fn read(files: &BundleFiles<'_>, path: &Path, length: u64) -> Option<Vec<u8>> {
    let whole = files.read(path, 0, 2 << 20);
    let step = (length / 3).max(1);
    let mut pieces = Vec::new();
    for offset in (0..length).step_by(usize::try_from(step).expect("lengths are bounded")) {
        let Ok(piece) = files.read(path, offset, step as usize) else {
            assert!(whole.is_err(), "{}: it can be read at once, and not from {offset} on", path.display());
            return None;
        };
        pieces.extend(piece);
    }
    let whole = whole.ok()?;
    assert_eq!(whole.len() as u64, length, "{}", path.display());
    assert_eq!(pieces, whole, "{} in pieces", path.display());
    assert!(files.read(path, length, 10).is_ok_and(|rest| rest.is_empty()), "{}", path.display());
    let mut place = vec![0; whole.len()];
    assert_eq!(files.read_into(path, 0, &mut place).ok(), Some(whole.len()));
    assert_eq!(place, whole);
    let loaded = files.load(path, 0..length).ok();
    assert_eq!(loaded.as_ref().and_then(|bytes| bytes.get(0..length)), Some(whole.as_slice()));
    Some(whole)
}

/// The limits hold.
fn check_bounds(found: &[(PathBuf, Option<Vec<u8>>)]) {
    assert!(found.len() <= limits().entries, "{} files", found.len());
    let bytes: usize = found.iter().filter_map(|(_, bytes)| bytes.as_ref()).map(Vec::len).sum();
    assert!(bytes as u64 <= limits().inflated_bytes, "{bytes} bytes");
}

/// Checks that anything but a whole recording is refused.
fn open(files: &BundleFiles<'_>, bundle: &Path) {
    let limits = Limits { file_bytes: 1 << 20, ..Limits::default() };
    let opened = Bundle::open(files, bundle, &Options { limits, ..Options::default() });
    opened.err().into_iter().for_each(|error| assert!(!error.to_string().is_empty()));
}

//! Tests that the same files are read from a folder, a zip and a tar, and that broken and hostile archives are rejected.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{ArchiveLimits, BundleFiles};
use crate::error::{Error, ErrorKind};
use crate::files::{Entry, Files};

/// An in-memory file system that counts the bytes read.
#[derive(Default)]
struct Memory {
    files: BTreeMap<PathBuf, Vec<u8>>,
    bytes_read: AtomicU64,
}

impl Memory {
    fn of(files: &[(&str, &[u8])]) -> Self {
        let files = files.iter().map(|(path, bytes)| (PathBuf::from(path), bytes.to_vec())).collect();
        Self { files, ..Self::default() }
    }
}

impl Files for Memory {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        if let Some(bytes) = self.files.get(path) {
            return Ok(Entry::File { length: bytes.len() as u64, modified: 1, changed: 1 });
        }
        let is_folder = self.files.keys().any(|file| file.starts_with(path));
        if is_folder { Ok(Entry::Folder) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.entry(path).map(|_| path.to_owned())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let inside = self.files.keys().filter_map(|file| file.strip_prefix(folder).ok()?.components().next());
        let mut paths: Vec<PathBuf> = inside.map(|name| folder.join(name)).collect();
        paths.dedup();
        Ok(paths)
    }

    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let bytes = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        let bytes = bytes.get(offset as usize..).unwrap_or_default();
        let bytes = &bytes[..bytes.len().min(length)];
        self.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes.to_vec())
    }
}

/// Incompressible bytes.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// The files of a recording: small ones, an empty one, and one that is inflated in pieces.
fn recording() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("form.template", b"bplist00 and so on".to_vec()),
        ("corespace/run1/core/stores/indexed-store-1/bulkstore", [noise(1 << 20), vec![0; 3 << 20]].concat()),
        ("corespace/run1/core/stores/indexed-store-1/schema.xml", b"<schema/>".repeat(100)),
        ("corespace/run1/core/uniquing/arrayUniquer/integeruniquer.index", Vec::new()),
        ("symbols/stores/A.symbolsarchive", noise(3000)),
    ]
}

fn zip_of(files: &[(String, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(name.as_str(), SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn tar_of(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, bytes.as_slice()).unwrap();
    }
    builder.into_inner().unwrap()
}

/// A tar entry with an unsanitised name.
fn tar_entry(name: &str, kind: tar::EntryType, bytes: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_old();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_entry_type(kind);
    header.set_cksum();
    let mut tar = header.as_bytes().to_vec();
    tar.extend(bytes);
    tar.resize(tar.len().next_multiple_of(512), 0);
    tar
}

#[cfg(feature = "compression")]
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn below(folder: &str, files: &[(&str, Vec<u8>)]) -> Vec<(String, Vec<u8>)> {
    let join = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    files.iter().map(|(name, bytes)| (join(name), bytes.clone())).collect()
}

/// Every path below a folder, with its length; `None` for a folder.
fn all(files: &dyn Files, root: &Path) -> BTreeMap<PathBuf, Option<u64>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for path in files.list(&folder).unwrap() {
            let length = match files.entry(&path).unwrap() {
                Entry::File { length, .. } => Some(length),
                Entry::Folder => {
                    open.push(path.clone());
                    None
                }
                Entry::Other => unreachable!("nothing else was written"),
            };
            found.insert(path.strip_prefix(root).unwrap().to_owned(), length);
        }
    }
    found
}

fn is_kind(result: Result<Option<PathBuf>, Error>, word: &str) -> ErrorKind {
    let error = result.unwrap_err();
    assert!(error.to_string().contains(word), "{word:?} is not in {error}");
    error.kind
}

/// Mounts a file with this name and content.
fn mount(name: &str, bytes: Vec<u8>) -> Result<Option<PathBuf>, Error> {
    let memory = Memory::of(&[(name, &bytes)]);
    BundleFiles::new(&memory).mount(Path::new(name))
}

#[test]
fn folders_zips_and_tars_hold_the_same() {
    let recording = recording();
    let mut files = below("r/a.trace", &recording);
    for (name, folder) in [("top", ""), ("one", "a.trace"), ("two", "Desktop/a.trace"), ("dot", "./a.trace")] {
        let inside = below(folder, &recording);
        files.push((format!("{name}.zip"), zip_of(&inside, CompressionMethod::Deflated)));
        files.push((format!("{name}.stored"), zip_of(&inside, CompressionMethod::Stored)));
        files.push((format!("{name}.tar"), tar_of(&inside)));
        #[cfg(feature = "compression")]
        {
            files.push((format!("{name}.tgz"), gzip(&tar_of(&inside))));
            files.push((format!("{name}.tar.zst"), zstd::encode_all(tar_of(&inside).as_slice(), 1).unwrap()));
        }
    }
    let memory =
        Memory { files: files.into_iter().map(|(name, bytes)| (name.into(), bytes)).collect(), ..Memory::default() };
    let mut mounted = BundleFiles::new(&memory);
    let folder = mounted.mount(Path::new("r/a.trace")).unwrap().unwrap();
    assert_eq!(folder, Path::new("r/a.trace"));
    let expected = all(&mounted, &folder);
    assert_eq!(expected.values().flatten().count(), recording.len());
    let archives: Vec<PathBuf> = memory.files.keys().filter(|path| !path.starts_with("r")).cloned().collect();
    assert!(archives.len() >= 12);
    for archive in archives {
        let bundle = mounted.mount(&archive).unwrap().unwrap();
        assert!(bundle.starts_with(&archive));
        assert_eq!(mounted.mount(&archive).unwrap().as_ref(), Some(&bundle), "the second time is the same");
        assert_eq!(all(&mounted, &bundle), expected, "{}", archive.display());
        assert_eq!(mounted.canonical(&bundle.join("./form.template")).unwrap(), bundle.join("form.template"));
        assert!(mounted.read(&bundle, 0, 1).is_err(), "a folder");
        assert!(mounted.list(&bundle.join("form.template")).is_err(), "a file");
        assert!(mounted.entry(&bundle.join("form.template/x")).is_err());
        assert!(mounted.entry(&bundle.join("../x")).is_err(), "a path leads out of no archive");
        for (name, bytes) in &recording {
            let path = bundle.join(name);
            let length = bytes.len();
            assert_eq!(mounted.read(&path, 0, usize::MAX).unwrap(), *bytes, "{}", path.display());
            let loaded = mounted.load(&path, 0..length as u64).unwrap();
            assert_eq!(loaded.get(0..length as u64).unwrap(), *bytes);
            assert!(mounted.load(&path, 0..length as u64 + 1).is_err(), "it is no longer than that");
            for (offset, wanted) in [(0, 10), (length / 2, 100), (length / 3, 7), (length, 1), (length + 5, 1)] {
                let expected = &bytes[offset.min(length)..(offset + wanted).min(length)];
                assert_eq!(mounted.read(&path, offset as u64, wanted).unwrap(), expected, "{name} from {offset}");
            }
        }
    }
}

#[test]
fn who_reads_on_does_not_inflate_the_beginning_again() {
    let bulkstore = noise(8 << 20);
    let name = "a.trace/corespace/bulkstore";
    let zip = zip_of(&[(name.to_owned(), bulkstore.clone())], CompressionMethod::Deflated);
    let memory = Memory::of(&[("a.zip", &zip)]);
    let mut mounted = BundleFiles::new(&memory);
    let path = mounted.mount(Path::new("a.zip")).unwrap().unwrap().join("corespace/bulkstore");
    let mut bytes = Vec::new();
    while bytes.len() < bulkstore.len() {
        bytes.extend(mounted.read(&path, bytes.len() as u64, 100_000).unwrap());
    }
    assert!(bytes == bulkstore, "the pieces are the file");
    let read = memory.bytes_read.load(Ordering::Relaxed);
    assert!(read < 2 * zip.len() as u64, "{read} bytes were read of a zip of {}", zip.len());
}

#[test]
fn what_is_no_recording_is_left_to_others() {
    let files = [("README".to_owned(), b"x".to_vec()), ("export.xml".to_owned(), b"<x/>".to_vec())];
    for bytes in [
        Vec::new(),
        b"<?xml version=\"1.0\"?><trace-query-result/>".to_vec(),
        vec![0; 2048],
        zip_of(&files, CompressionMethod::Deflated),
        tar_of(&files),
        zip_of(&[], CompressionMethod::Stored),
        b"\x1f\x8b\x08 cut".to_vec(),
    ] {
        assert_eq!(mount("file", bytes).unwrap(), None);
    }
    let memory = Memory::of(&[("folder/export.xml", b"<x/>")]);
    assert_eq!(BundleFiles::new(&memory).mount(Path::new("folder")).unwrap(), None);
    assert_eq!(BundleFiles::new(&memory).mount(Path::new("missing")).unwrap(), None);
}

#[test]
fn what_macos_adds_does_not_count_and_two_recordings_are_one_too_many() {
    let mut files = below("a.trace", &recording());
    files.push(("__MACOSX/b.trace/form.template".to_owned(), b"x".to_vec()));
    files.push(("._b.trace/form.template".to_owned(), b"x".to_vec()));
    files.push((".DS_Store".to_owned(), b"x".to_vec()));
    for archive in [zip_of(&files, CompressionMethod::Deflated), tar_of(&files)] {
        assert_eq!(mount("x", archive).unwrap(), Some(PathBuf::from("x/a.trace")));
    }
    files.extend(below("old/c.trace", &[("form.template", b"x".to_vec())]));
    assert_eq!(mount("x", tar_of(&files)).unwrap(), Some(PathBuf::from("x/a.trace")), "that one is deeper");
    files.extend(below("b.trace", &[("empty", b"x".to_vec())]));
    for archive in [zip_of(&files, CompressionMethod::Deflated), tar_of(&files)] {
        let kind = is_kind(mount("x", archive), "several inputs in it: a.trace, b.trace;");
        assert!(matches!(kind, ErrorKind::NotAnExport(_)));
    }
}

#[test]
fn names_that_lead_out_of_an_archive_are_refused() {
    for (name, word) in [("../x", "leads out"), ("a/../../x", "leads out"), ("/etc/x", "absolute")] {
        let kind = is_kind(mount("x", tar_entry(name, tar::EntryType::Regular, b"x")), word);
        assert!(matches!(kind, ErrorKind::Malformed(_)));
        let zip = zip_of(&[(name.to_owned(), b"x".to_vec())], CompressionMethod::Stored);
        is_kind(mount("x", zip), word);
    }
    let deep = "a/".repeat(40) + "x";
    let deep = tar_entry(&deep, tar::EntryType::Regular, b"");
    assert_eq!(mount("x", [deep, END.to_vec()].concat()).unwrap(), None);
    let deep = vec![("a/".repeat(70) + "x", Vec::new())];
    is_kind(mount("x", zip_of(&deep, CompressionMethod::Stored)), "too many folders");
    for (first, second, word) in [
        ("a.trace/x", "a.trace/x", "has the same name as another entry"),
        ("a.trace/x", "a.trace/x/y", "is in a folder that is a file"),
        ("a.trace/x/y", "a.trace/x", "has the same name as another entry"),
    ] {
        let files = [(first.to_owned(), b"1".to_vec()), (second.to_owned(), b"2".to_vec())];
        is_kind(mount("x", tar_of(&files)), word);
        is_kind(mount("x", tar_of(&files)), "at byte 1024");
        if first != second {
            is_kind(mount("x", zip_of(&files, CompressionMethod::Stored)), word);
        }
    }
}

#[test]
fn links_and_encrypted_entries_are_there_and_are_not_read() {
    let mut tar = tar_entry("a.trace/form.template", tar::EntryType::Symlink, b"");
    tar.extend(tar_entry("a.trace/other", tar::EntryType::Regular, b"text"));
    tar.extend(END);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("a.trace/form.template", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    writer.start_file("a.trace/other", SimpleFileOptions::default()).unwrap();
    writer.write_all(b"text").unwrap();
    for archive in [tar, writer.finish().unwrap().into_inner()] {
        let memory = Memory::of(&[("x", &archive)]);
        let mut mounted = BundleFiles::new(&memory);
        let bundle = mounted.mount(Path::new("x")).unwrap().unwrap();
        assert_eq!(mounted.read(&bundle.join("other"), 0, 9).unwrap(), b"text");
        let error = mounted.read(&bundle.join("form.template"), 0, 9).unwrap_err().to_string();
        assert!(error.contains("it is a link") && error.contains("at byte"), "{error}");
    }
    let mut zip = zip_of(&below("a.trace", &[("form.template", b"secret".to_vec())]), CompressionMethod::Stored);
    // Sets bit 0 of the flags, in the local header and in the central directory.
    let central = zip.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    zip[6] |= 1;
    zip[central + 8] |= 1;
    let memory = Memory::of(&[("x", &zip)]);
    let mut mounted = BundleFiles::new(&memory);
    let bundle = mounted.mount(Path::new("x")).unwrap().unwrap();
    let error = mounted.read(&bundle.join("form.template"), 0, 9).unwrap_err().to_string();
    assert!(error.contains("encrypted"), "{error}");
}

#[test]
fn tars_that_do_not_end_are_refused() {
    let tar = tar_of(&below("a.trace", &recording()));
    let end = tar.len() - tar.iter().rev().position(|&byte| byte != 0).unwrap();
    let end = end.div_ceil(512) * 512;
    let kind = is_kind(mount("x", tar[..end].to_vec()), "truncated: no end follows its last entry");
    assert!(matches!(kind, ErrorKind::Malformed(_)));
    // A header that was zeroed, and two archives in one file.
    let entry = |name| tar_entry(name, tar::EntryType::Regular, b"x");
    let zeroed = [entry("a.xml"), vec![0; 512], b"x".to_vec(), vec![0; 511], entry("b.xml"), END.to_vec()].concat();
    is_kind(mount("x", zeroed), "has data after its end, at byte 1536");
    is_kind(mount("x", [tar.clone(), tar].concat()), "several archives in one file");
}

/// What ends a tar.
const END: [u8; 1024] = [0; 1024];

#[test]
fn bombs_are_refused() {
    let files = below("a.trace", &[("form.template", vec![0; 1 << 20]), ("other", vec![0; 1 << 20])]);
    let limits =
        ArchiveLimits { inflated_bytes: (2 << 20) - 1, entries: 3, memory_bytes: 1 << 20, ..ArchiveLimits::default() };
    let zip = zip_of(&files, CompressionMethod::Deflated);
    let mut archives = vec![zip.clone(), tar_of(&files)];
    assert!(zip.len() < 10_000);
    #[cfg(feature = "compression")]
    archives.push(gzip(&tar_of(&files)));
    for archive in &archives {
        let memory = Memory::of(&[("x", archive)]);
        let kind = is_kind(BundleFiles::with_limits(&memory, limits.clone()).mount(Path::new("x")), "larger than");
        assert!(matches!(kind, ErrorKind::Limit(_)));
        let few = ArchiveLimits { entries: 2, ..ArchiveLimits::default() };
        is_kind(BundleFiles::with_limits(&memory, few).mount(Path::new("x")), "more than 2 files");
        assert!(BundleFiles::new(&memory).mount(Path::new("x")).unwrap().is_some());
    }
    // More data than the directory records.
    let mut lying = zip;
    let central = lying.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    lying[central + 24..central + 28].copy_from_slice(&100_u32.to_le_bytes());
    let memory = Memory::of(&[("x", &lying)]);
    let mut mounted = BundleFiles::new(&memory);
    let path = mounted.mount(Path::new("x")).unwrap().unwrap().join("form.template");
    let error = mounted.read(&path, 0, usize::MAX).unwrap_err().to_string();
    assert!(error.contains("longer than the archive records"), "{error}");
}

#[test]
fn a_changed_byte_of_an_entry_is_noticed() {
    let noise = noise(2 << 20);
    let methods = [CompressionMethod::Deflated, CompressionMethod::Stored];
    for (length, method) in [1000, 2 << 20].into_iter().flat_map(|length| methods.map(|method| (length, method))) {
        let mut zip = zip_of(&below("a.trace", &[("form.template", noise[..length].to_vec())]), method);
        zip[length / 2] ^= 1;
        let memory = Memory::of(&[("x", &zip)]);
        let mut mounted = BundleFiles::new(&memory);
        let path = mounted.mount(Path::new("x")).unwrap().unwrap().join("form.template");
        assert!(mounted.read(&path, 0, usize::MAX).is_err());
    }
}

/// Reads all files; a broken archive may fail.
fn read_all(archive: &[u8]) {
    let memory = Memory::of(&[("x", archive)]);
    let limits =
        ArchiveLimits { inflated_bytes: 1 << 24, entries: 1000, memory_bytes: 1 << 24, ..ArchiveLimits::default() };
    let mut mounted = BundleFiles::with_limits(&memory, limits);
    if let Ok(Some(bundle)) = mounted.mount(Path::new("x")) {
        for (path, length) in all(&mounted, &bundle) {
            let read = mounted.read(&bundle.join(&path), 0, usize::MAX);
            if let (Ok(bytes), Some(length)) = (read, length) {
                assert_eq!(bytes.len() as u64, length);
            }
        }
    }
}

fn archives() -> Vec<Vec<u8>> {
    let files = below(
        "a.trace",
        &[("form.template", b"text".repeat(50)), ("corespace/x", noise(700)), ("corespace/run1/y", Vec::new())],
    );
    vec![zip_of(&files, CompressionMethod::Deflated), zip_of(&files, CompressionMethod::Stored), tar_of(&files)]
}

#[test]
fn cut_archives_are_errors_and_no_more() {
    for archive in archives() {
        for length in 0..archive.len() {
            read_all(&archive[..length]);
        }
    }
}

proptest! {
    #[test]
    fn mutated_archives_are_errors_and_no_more(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        insertion in prop::option::of((any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..40))),
    ) {
        for mut archive in archives() {
            for (index, byte) in &changes {
                let index = index.index(archive.len());
                archive[index] = *byte;
            }
            if let Some((index, bytes)) = &insertion {
                let index = index.index(archive.len());
                archive.splice(index..index, bytes.iter().copied());
            }
            read_all(&archive);
        }
    }
}

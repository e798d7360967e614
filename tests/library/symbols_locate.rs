//! Finds symbol files by content and UUID: each file once, the best first.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use traceparse::files::{Entry, EntryKind, FileSystem, Files, FolderTimes};
use traceparse::memory::MemoryBudget;
use traceparse::symbols::{Found, Index, Locator, SourceKind, SymbolFinder};
use traceparse::units::Uuid;

fn built() -> PathBuf {
    support::repository("fixtures/symbols/built")
}

fn copy(from: &str, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(built().join(from), to).unwrap();
}

const DEMO_DSYM: &str = "arm64-dwarf4/Demo.dSYM/Contents/Resources/DWARF/Demo";
const DEMO_BINARY: &str = "bare/Demo";

#[test]
fn files_are_known_by_content_and_the_best_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    // Named so that the order of the folder is not the order of preference.
    copy(DEMO_BINARY, &folder.path().join("a.txt"));
    copy(DEMO_DSYM, &folder.path().join("deep/er/z"));
    fs::write(folder.path().join("b.dSYM"), "nothing").unwrap();
    let mut locator = Locator::new(&FileSystem);
    assert_eq!(locator.add(folder.path(), &mut Index::default()).unwrap(), 2);
    let uuid = locator.found()[0].uuid;
    let kinds: Vec<SourceKind> = locator.find(uuid).iter().map(|found| found.kind).collect();
    assert_eq!(kinds, [SourceKind::Dsym, SourceKind::MachO]);
    assert!(locator.notes().is_empty(), "{:?}", locator.notes());
}

#[test]
fn a_fat_file_has_an_image_for_each_slice() {
    let mut locator = Locator::new(&FileSystem);
    let path = built().join("fat/FatDemo.dSYM");
    assert_eq!(locator.add(&path, &mut Index::default()).unwrap(), 2);
    let mut arches: Vec<&str> = locator.found().iter().map(|found| found.arch.as_str()).collect();
    arches.sort_unstable();
    assert_eq!(arches, ["arm64", "x86_64"]);
    for found in locator.found() {
        assert!(found.with_symbols(&FileSystem, &MemoryBudget::unlimited(), |_| Vec::new()).is_ok());
    }
}

#[test]
fn a_file_or_folder_is_looked_at_once() {
    let folder = tempfile::tempdir().unwrap();
    copy(DEMO_DSYM, &folder.path().join("a/Demo"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(folder.path(), folder.path().join("a/up")).unwrap();
        symlink("Demo", folder.path().join("a/again")).unwrap();
        symlink("nowhere", folder.path().join("a/dangling")).unwrap();
    }
    let mut locator = Locator::new(&FileSystem);
    assert_eq!(locator.add(folder.path(), &mut Index::default()).unwrap(), 1);
    assert_eq!(locator.add(&folder.path().join("a/Demo"), &mut Index::default()).unwrap(), 0, "it is known already");
}

#[test]
fn what_is_of_no_use_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, &[u8], &str); 6] = [
        ("breakpad.sym", b"MODULE Linux arm64 4C4C443B55553144A14B1553F2DDDC050 Demo\n", "Breakpad"),
        ("a.bcsymbolmap", b"BCSymbolMap Version: 2.0\n", "bitcode"),
        ("cache", b"SYMC\0\0\0\0", "SymCache"),
        ("lib.so", b"\x7fELF\x02\x01", "ELF"),
        ("all.zip", b"PK\x03\x04", "zip"),
        ("cut", &[0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1], "cut"),
    ];
    for (name, bytes, _) in cases {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    fs::write(folder.path().join("notes.txt"), "hello").unwrap();
    let mut locator = Locator::new(&FileSystem);
    assert_eq!(locator.add(folder.path(), &mut Index::default()).unwrap(), 0);
    let notes: Vec<String> = locator.notes().iter().map(ToString::to_string).collect();
    assert_eq!(notes.len(), cases.len(), "{notes:#?}");
    for (name, _, word) in cases {
        assert!(notes.iter().any(|note| note.contains(name) && note.contains(word)), "{name}: {notes:#?}");
    }
    // An explicitly named file always gets a note, regardless of its content.
    let mut named = Locator::new(&FileSystem);
    named.add(&folder.path().join("notes.txt"), &mut Index::default()).unwrap();
    assert_eq!(named.notes().len(), 1);
}

#[test]
fn an_index_spares_files_that_did_not_change() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Demo");
    copy(DEMO_DSYM, &file);
    let mut index = Index::default();
    let first = {
        let mut locator = Locator::new(&FileSystem);
        locator.add(folder.path(), &mut index).unwrap();
        locator.found().to_vec()
    };
    let mut kept = Index::from_bytes(index.to_bytes());
    let mut locator = Locator::new(&FileSystem);
    locator.add(folder.path(), &mut kept).unwrap();
    assert_eq!(locator.found(), first);
    assert!(!kept.is_changed(), "nothing was looked at again");
    // Same length and modification time, but different content, as tools that set times leave it: the time of the status change differs.
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, vec![0; fs::metadata(&file).unwrap().len() as usize]).unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    let mut locator = Locator::new(&FileSystem);
    locator.add(folder.path(), &mut kept).unwrap();
    assert!((locator.found().is_empty() && kept.is_changed()) || cfg!(not(unix)));
}

/// The file system, in which folder times are reliable immediately, and which counts calls.
#[derive(Default)]
struct Counted {
    lists: AtomicUsize,
    entries: AtomicUsize,
    canonicals: AtomicUsize,
}

impl Counted {
    /// The numbers of listed folders, examined paths and followed links since the last call.
    fn take(&self) -> [usize; 3] {
        [&self.lists, &self.entries, &self.canonicals].map(|count| count.swap(0, Ordering::Relaxed))
    }
}

impl Files for Counted {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        self.entries.fetch_add(1, Ordering::Relaxed);
        FileSystem.entry(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.canonicals.fetch_add(1, Ordering::Relaxed);
        FileSystem.canonical(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        FileSystem.list(folder)
    }

    fn list_kinds(&self, folder: &Path) -> io::Result<Vec<(OsString, EntryKind)>> {
        self.lists.fetch_add(1, Ordering::Relaxed);
        FileSystem.list_kinds(folder)
    }

    fn folder_times(&self, folder: &Path) -> Option<FolderTimes> {
        let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
        let metadata = fs::metadata(folder).ok()?;
        #[cfg(unix)]
        let changed = std::os::unix::fs::MetadataExt::ctime_nsec(&metadata) as u64;
        #[cfg(not(unix))]
        let changed = 0;
        Some(FolderTimes { modified: since(metadata.modified().ok()?), changed })
    }

    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        FileSystem.read(path, offset, length)
    }
}

fn uuid(number: u8) -> Uuid {
    Uuid::from_bytes([number; 16])
}

/// The header of a Mach-O file, an LC_UUID and an LC_SEGMENT_64 of an empty `__TEXT`.
fn macho(is_dsym: bool, number: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file_type = if is_dsym { 10 } else { 2 };
    for word in [0xfeed_facf, 0x0100_000c, 0, file_type, 2, 24 + 72, 0, 0, 0x1b, 24_u32] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend([number; 16]);
    bytes.extend([0x19_u32, 72].map(u32::to_le_bytes).concat());
    bytes.extend(*b"__TEXT\0\0\0\0\0\0\0\0\0\0");
    bytes.extend([0x1_0000_0000_u64, 0x4000, 0, 0].map(u64::to_le_bytes).concat());
    bytes.extend([5_u32, 5, 0, 0].map(u32::to_le_bytes).concat());
    bytes
}

fn write_bundle(path: &Path, number: u8) {
    let folder = path.join("Contents/Resources/DWARF");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("App"), macho(true, number)).unwrap();
    fs::write(path.join("Contents/Info.plist"), "<plist/>").unwrap();
}

/// The files found for each wanted image.
fn find_each(locator: &Locator<'_>, wanted: &BTreeSet<Uuid>) -> Vec<Vec<Found>> {
    wanted.iter().map(|&uuid| locator.find(uuid)).collect()
}

/// Checks that an index finds the same files as a walk; returns the new index, and the number of folders listed.
fn find_remembered(files: &Counted, root: &Path, index: Vec<u8>, wanted: &BTreeSet<Uuid>) -> (Vec<u8>, usize) {
    let mut index = Index::from_bytes(index);
    let (mut with, mut without) = (Locator::new(files), Locator::new(files));
    without.add(root, &mut Index::default()).unwrap();
    files.take();
    let count = with.add_wanted(root, &mut index, wanted).unwrap();
    let [lists, ..] = files.take();
    assert_eq!(find_each(&with, wanted), find_each(&without, wanted));
    assert_eq!((with.notes(), count), (without.notes(), without.found().len()));
    (index.to_bytes(), lists)
}

#[test]
fn images_that_are_remembered_are_not_searched_for() {
    let folder = tempfile::tempdir().unwrap();
    let (root, files) = (folder.path(), Counted::default());
    for number in 1..=40 {
        write_bundle(&root.join(format!("{}/App{number}.dSYM", number % 4)), number);
    }
    fs::write(root.join("1/symbols.zip"), "PK\x03\x04 and more").unwrap();
    let wanted = BTreeSet::from([uuid(3), uuid(40)]);
    let (index, lists) = find_remembered(&files, root, Vec::new(), &wanted);
    assert_eq!(lists, 5 + 40 * 4);
    let mut locator = Locator::new(&files);
    assert_eq!(locator.add_wanted(root, &mut Index::from_bytes(index.clone()), &wanted).unwrap(), 40);
    let [lists, entries, canonicals] = files.take();
    assert_eq!((lists, locator.found().len(), locator.notes().len()), (0, 2, 1));
    assert!(entries <= 4 && canonicals <= 3, "the root and three files: {entries}, {canonicals}");
    // One image does not exist anywhere: after the remembered contents for the other image and the archive, each file is examined. No folder
    // is listed.
    let some = BTreeSet::from([uuid(3), uuid(99)]);
    let mut locator = Locator::new(&files);
    let mut index = Index::from_bytes(index);
    locator.add_wanted(root, &mut index, &some).unwrap();
    let [lists, entries, canonicals] = files.take();
    assert_eq!((lists, entries, canonicals, index.is_changed()), (0, 2 + 2 + 81, 1, false));
    assert_eq!((locator.find(uuid(3)).len(), locator.find(uuid(99)).len()), (1, 0));
}

/// Regardless of changes to a folder, answers do not depend on its remembered contents.
#[test]
fn answers_are_those_of_a_search() {
    let mut state = 20_261_123_u64;
    let mut below = move |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    let folder = tempfile::tempdir().unwrap();
    let (root, files) = (folder.path(), Counted::default());
    let (mut index, mut recalled, mut fresh) = (Vec::new(), 0, 100);
    for _ in 0..200 {
        // The system's clock ticks in between, so that times differ.
        std::thread::sleep(Duration::from_millis(12));
        let above = root.join(["a", "b", "c/d"][below(3)]);
        fs::create_dir_all(&above).unwrap();
        let [first, second] = [(); 2].map(|()| above.join(format!("App{}.dSYM", below(4))));
        let plain = above.join(format!("App{}", below(3)));
        match below(7) {
            0 | 1 => {
                drop(fs::remove_dir_all(&first));
                write_bundle(&first, below(6) as u8);
            }
            2 => drop(fs::remove_dir_all(&first)),
            3 => drop(fs::rename(&first, &second)),
            4 if !plain.exists() => fs::write(&plain, macho(false, below(6) as u8)).unwrap(),
            4 => fs::remove_file(&plain).unwrap(),
            // Another build replaces a file.
            5 if plain.exists() => {
                fresh += 1;
                fs::write(&plain, macho(false, fresh)).unwrap();
            }
            _ => {}
        }
        for wanted in [vec![below(6)], vec![below(6), below(6)], vec![below(6), usize::from(fresh)], vec![77]] {
            let wanted = wanted.into_iter().map(|number| uuid(number as u8)).collect();
            let (next, lists) = find_remembered(&files, root, index, &wanted);
            (index, recalled) = (next, recalled + usize::from(lists == 0));
        }
    }
    assert!(recalled > 200, "{recalled}");
}

#[test]
fn a_part_of_a_folder_is_no_answer_for_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (root, files) = (folder.path(), Counted::default());
    write_bundle(&root.join("a/App.dSYM"), 1);
    write_bundle(&root.join("b/App.dSYM"), 1);
    let wanted = BTreeSet::from([uuid(1)]);
    // The second walk skips the files that the first walk has seen.
    let mut index = Index::default();
    let mut locator = Locator::new(&files);
    locator.add(&root.join("a"), &mut Index::default()).unwrap();
    locator.add_wanted(root, &mut index, &wanted).unwrap();
    assert_eq!(locator.find(uuid(1)).len(), 2);
    let (index, _) = find_remembered(&files, root, index.to_bytes(), &wanted);
    // Remembered files are also counted once.
    let mut locator = Locator::new(&files);
    locator.add_wanted(root, &mut Index::from_bytes(index), &wanted).unwrap();
    locator.add_wanted(&root.join("a"), &mut Index::default(), &wanted).unwrap();
    assert_eq!(locator.find(uuid(1)).len(), 2);
}

#[cfg(unix)]
#[test]
fn links_are_remembered_as_what_they_lead_to() {
    use std::os::unix::fs::symlink;
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (root, files) = (folder.path(), Counted::default());
    write_bundle(&elsewhere.path().join("Far.dSYM"), 1);
    fs::create_dir_all(root.join("Kit.framework/Versions/A")).unwrap();
    fs::write(root.join("Kit.framework/Versions/A/Kit"), macho(false, 2)).unwrap();
    symlink("Versions/A/Kit", root.join("Kit.framework/Kit")).unwrap();
    symlink(elsewhere.path(), root.join("far")).unwrap();
    symlink(root, root.join("up")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    let wanted = BTreeSet::from([uuid(1), uuid(2)]);
    let (index, _) = find_remembered(&files, root, Vec::new(), &wanted);
    let (index, lists) = find_remembered(&files, root, index, &wanted);
    assert_eq!(lists, 0);
    std::thread::sleep(Duration::from_millis(12));
    fs::remove_file(root.join("Kit.framework/Kit")).unwrap();
    find_remembered(&files, root, index, &wanted);
}

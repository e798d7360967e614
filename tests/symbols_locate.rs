//! Finding symbol files: by content, by UUID, once, and the best first.

use std::fs;
use std::path::{Path, PathBuf};

use traceparse::symbols::{FileSystem, Index, Locator, SourceKind, SymbolFinder};

fn built() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/symbols/built")
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
        assert_eq!(locator.load(found).unwrap().len(), found.range.1);
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
        ("breakpad.sym", b"MODULE mac arm64 0 Demo\n", "Breakpad"),
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
    // A file that was named has a note, whatever it is.
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
    let mut kept = Index::from_json(&index.to_json());
    let mut locator = Locator::new(&FileSystem);
    locator.add(folder.path(), &mut kept).unwrap();
    assert_eq!(locator.found(), first);
    assert!(!kept.is_changed(), "nothing was looked at again");
    // The same length and time, another content, as tools leave it that set times: the system knows.
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, vec![0; fs::metadata(&file).unwrap().len() as usize]).unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    let mut locator = Locator::new(&FileSystem);
    locator.add(folder.path(), &mut kept).unwrap();
    assert!((locator.found().is_empty() && kept.is_changed()) || cfg!(not(unix)));
}

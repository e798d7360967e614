//! `traceparse symbols`: a folder of Breakpad files, which then replaces their sources.

use std::fs;

use crate::command::read_text;
use crate::fleet_case::write;
use crate::symbols_case::{Case, DEMO, INLINED_LEAF, INLINED_NAMES, INLINING, built};

/// The path of an image in a store.
fn path(store: &str, name: &str, uuid: &str) -> String {
    format!("{store}/{name}/{}0/{name}.sym", uuid.replace('-', ""))
}

#[test]
fn packed_symbols_name_what_their_sources_do() {
    let case = Case::new();
    let store = case.folder.path("store");
    let (dsym, demo) = (built("inlining/Inlining.dSYM"), built("arm64-dwarf4"));
    let packed = path(&store, "Inlining", INLINING);
    let line =
        |state: &str, name: &str, uuid: &str| format!("{uuid}  arm64    {state:<9}  {}\n", path(&store, name, uuid));
    assert_eq!(case.ok(&["symbols", &dsym, "-o", &store]), line("written", "Inlining", INLINING));
    let before = fs::metadata(&packed).unwrap().modified().unwrap();
    assert_eq!(
        case.ok(&["symbols", &dsym, &demo, "-o", &store]),
        line("unchanged", "Inlining", INLINING) + &line("written", "Demo", DEMO)
    );
    assert_eq!(fs::metadata(&packed).unwrap().modified().unwrap(), before);
    let export = case.export("Inlining", INLINING, &[INLINED_LEAF]);
    assert_eq!(case.stack(&[&export, "--symbols", &store]), INLINED_NAMES);
    let lines = |symbols: &str| case.ok(&[&export, "--symbols", symbols, "--view", "lines"]);
    assert_eq!(lines(&store), lines(&dsym));
    assert!(case.ok(&["uuid", &store]).contains("Breakpad"));
    let address = ["--offset", "-i", "3c8"];
    let named = |object: &str| case.ok(&[&["symbolicate", "-o", object], &address[..]].concat());
    assert_eq!(named(&packed), named(&dsym));
}

#[test]
fn other_content_is_replaced_and_other_files_stay() {
    let case = Case::new();
    let store = case.folder.path("store");
    let dsym = built("inlining/Inlining.dSYM");
    case.ok(&["symbols", &dsym, "-o", &store]);
    let packed = path(&store, "Inlining", INLINING);
    let text = read_text(&packed);
    for other in [format!("{text}PUBLIC 9000 0 more\n"), text[..text.len() - 1].to_owned(), String::new()] {
        fs::write(&packed, other).unwrap();
        fs::write(format!("{store}/Inlining/other.sym"), "mine").unwrap();
        assert!(case.ok(&["symbols", &dsym, "-o", &store]).contains("  written  "));
        assert_eq!(
            (read_text(&packed), read_text(&format!("{store}/Inlining/other.sym"))),
            (text.clone(), "mine".into())
        );
    }
}

#[test]
fn sources_without_symbols_or_names_are_reported() {
    let case = Case::new();
    let store = case.folder.path("store");
    write(&case.folder, "empty/notes.txt", "Dear diary");
    let empty = case.folder.path("empty");
    assert!(case.fails(1, &["symbols", &empty, "-o", &store]).contains("no symbols found"));
    assert!(case.fails(1, &["symbols", &case.folder.path("missing"), "-o", &store]).contains("missing"));
    assert!(case.fails(2, &["symbols", &empty]).contains("--output"));
    // A file in the place of the folder.
    let file = case.folder.file("file", "x");
    let said = case.fails(1, &["symbols", &built("inlining"), "-o", &file]);
    assert!(said.contains("cannot be written") && said.contains("1 of 1 images"), "{said}");
    let said = case.fails(1, &["symbols", &built("inlining"), "-o", &store, "--memory", "10kB"]);
    assert!(said.contains("--memory") && !fs::exists(&store).unwrap(), "{said}");
}

#[test]
fn the_original_can_be_in_the_store() {
    let case = Case::new();
    let store = case.folder.path("store");
    case.ok(&["symbols", &built("inlining"), &built("fat"), "-o", &store]);
    let again = case.ok(&["symbols", &store, "-o", &store]);
    assert_eq!((again.matches("unchanged").count(), again.lines().count()), (3, 3), "{again}");
}

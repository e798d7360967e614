//! The contents of a symbol folder are stored in the user's cache folder.

use std::fs;

use crate::command::{finish, read_text, stderr_of};
use crate::symbols_case::{Case, DEMO, DRAW, DRAW_NAMES, addresses, built, dwarf_file};

#[test]
fn a_folder_is_remembered_and_the_second_run_says_the_same() {
    let case = Case::new();
    let args = [&case.draw(), "--dsym", &built("arm64-dwarf4"), "--format", "json"];
    let first = case.ok(&args);
    let files = case.cache_files();
    assert_eq!(files.len(), 1, "{files:?}");
    let text = read_text(&files[0]);
    assert!(text.contains(DEMO) && text.contains("Demo.dSYM"), "{text}");
    assert_eq!(case.ok(&args), first);
    assert_eq!((case.cache_files(), read_text(&files[0])), (files, text), "nothing is written again");
}

/// Without this test the cache could be written and never read.
#[test]
fn what_is_remembered_is_used() {
    let case = Case::new();
    let export = case.draw();
    let args = [&export, "--dsym", &built("arm64-dwarf4")];
    assert_eq!(case.stack(&args), DRAW_NAMES);
    let file = &case.cache_files()[0];
    // A reader that trusts this entry assumes that the file comes from another build.
    fs::write(file, read_text(file).replace(DEMO, "11111111-2222-3333-4444-555555555555")).expect("it can be written");
    assert_eq!(case.stack(&args), addresses(&DRAW));
    assert_eq!(case.stack(&[&args[..], &["--no-cache"]].concat()), DRAW_NAMES, "but not with --no-cache");
}

#[test]
fn nothing_is_remembered_where_that_is_not_wanted_or_of_no_use() {
    let case = Case::new();
    let export = case.draw();
    assert_eq!(case.stack(&[&export, "--dsym", &built("arm64-dwarf4"), "--no-cache"]), DRAW_NAMES);
    // A file is opened faster than its cache; these commands take no cache.
    assert_eq!(case.stack(&[&export, "--dsym", &dwarf_file("arm64-dwarf4", "Demo")]), DRAW_NAMES);
    case.ok(&["uuid", &built("arm64-dwarf4")]);
    case.ok(&["symbolicate", "-o", &built("arm64-dwarf4/Demo.dSYM"), "--offset", "0x564"]);
    case.ok(&[&export]);
    assert!(!fs::exists(case.folder.path("cache")).expect("the folder can be looked at"));
}

#[test]
fn each_folder_is_remembered_apart() {
    let case = Case::new();
    let (useless, other) = (built("inlining"), built("arm64-dwarf4"));
    let args = [&case.draw(), "--symbols", &other, "--dsym", &useless];
    assert_eq!(case.stack(&args), DRAW_NAMES);
    assert_eq!(case.cache_files().len(), 2);
    // All names are in the other folder, so nothing is wanted from this one.
    for _ in 0..2 {
        let warnings = stderr_of(&finish(&mut case.command(&args)).success());
        assert!(warnings.contains("no frame is named by") && warnings.contains("inlining"), "{warnings}");
    }
}

#[test]
fn a_broken_cache_does_no_harm() {
    let case = Case::new();
    let args = [&case.draw(), "--dsym", &built("arm64-dwarf4"), "--format", "json"];
    let first = case.ok(&args);
    let file = case.cache_files().remove(0);
    let text = read_text(&file);
    let half = &text[..text.len() / 2];
    for broken in
        ["", "{", "[]", "null", "{\"version\":1,\"files\":7}", "{\"version\":999,\"files\":{}}", half, "\u{0}\u{1}"]
    {
        fs::write(&file, broken).expect("it can be written");
        assert_eq!(case.ok(&args), first, "{broken:?}");
        assert_eq!(read_text(&file), text, "it is made anew after {broken:?}");
    }
}

#[test]
fn a_cache_folder_that_cannot_be_used_does_no_harm() {
    let case = Case::new();
    let export = case.draw();
    case.folder.file("cache", "a file where the folder should be");
    assert_eq!(case.stack(&[&export, "--dsym", &built("arm64-dwarf4")]), DRAW_NAMES);
}

#[test]
fn a_file_that_changed_is_looked_at_again() {
    let case = Case::new();
    let export = case.draw();
    fs::create_dir(case.folder.path("symbols")).expect("a folder can be made");
    let (folder, file) = (case.folder.path("symbols"), case.folder.path("symbols/Demo"));
    fs::copy(built("x86_64-dwarf4/Demo"), &file).expect("a file can be copied");
    assert_eq!(case.stack(&[&export, "--dsym", &folder]), addresses(&DRAW), "another build");
    fs::copy(dwarf_file("arm64-dwarf4", "Demo"), &file).expect("a file can be copied");
    assert_eq!(case.stack(&[&export, "--dsym", &folder]), DRAW_NAMES, "the right one took its place");
    fs::rename(&file, case.folder.path("symbols/Renamed")).expect("a file can be renamed");
    assert_eq!(case.stack(&[&export, "--dsym", &folder]), DRAW_NAMES, "under another name");
    fs::remove_file(case.folder.path("symbols/Renamed")).expect("a file can be removed");
    let message = case.fails(1, &[&export, "--dsym", &folder]);
    assert!(message.contains("no symbols found"), "{message}");
}

//! Inputs that are no export: exit code 1, and a word about what to do.

use std::fs::create_dir;

use crate::command::{Folder, fails, fixture};

/// Each form of the command refuses the input with a message that names it and says all of `words`.
#[track_caller]
fn refused(path: &str, words: &[&str]) {
    for args in [&[path][..], &[path, "--format", "json"], &["toc", path]] {
        let message = fails(1, args);
        for word in [&[path], words].concat() {
            assert!(message.contains(word), "{args:?}: {word:?} is not in {message}");
        }
    }
}

#[test]
fn a_missing_file() {
    refused(&Folder::new().path("missing.xml"), &["cannot be opened", "No such file"]);
}

#[test]
fn an_empty_file() {
    let folder = Folder::new();
    refused(&folder.file("empty.xml", ""), &["empty", "xctrace export"]);
}

#[test]
fn a_folder() {
    let folder = Folder::new();
    let path = folder.path("exports");
    create_dir(&path).expect("a folder can be made");
    refused(&path, &["is a folder", "*.xml"]);
}

#[test]
fn a_recording() {
    let folder = Folder::new();
    let path = folder.path("Launch.trace");
    create_dir(&path).expect("a folder can be made");
    refused(&path, &["no folder corespace", "xcrun xctrace export --input", "time-profile"]);
}

#[test]
fn a_zip_archive() {
    let folder = Folder::new();
    refused(&folder.file("trace.zip", b"PK\x03\x04\x14\0\0\0\x08\0"), &["zip archive", "broken or cut"]);
}

#[test]
fn a_web_page() {
    let folder = Folder::new();
    refused(&folder.file("a.xml", "<!DOCTYPE html>\n<html><body>Sign in</body></html>"), &["web page"]);
    refused(&folder.file("b.xml", "<html><body>Sign in</body></html>"), &["web page"]);
}

#[test]
fn json() {
    let folder = Folder::new();
    refused(&folder.file("export.json", "{\"rows\": []}"), &["JSON", "XML"]);
}

#[test]
fn text_of_another_kind() {
    let folder = Folder::new();
    refused(&folder.file("notes.txt", "Dear diary"), &["not an export of xctrace", "xcrun xctrace export"]);
    refused(&folder.file("other.xml", "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"/>"), &["plist"]);
    refused(&folder.file("bytes", [0xde, 0xad, 0xbe, 0xef]), &["not an export of xctrace"]);
}

#[test]
fn xml_that_breaks_its_own_rules() {
    let folder = Folder::new();
    let path = folder.edited("27/time-profile-waiting", &[("</tagged-backtrace></row>", "</row>")]);
    let message = fails(1, &[&path]);
    assert!(message.contains(&format!("{path}:3:")), "the place is named: {message}");
}

#[test]
fn a_table_of_contents_without_an_export() {
    let message = fails(1, &[&fixture("toc/two-runs")]);
    assert!(message.contains("table of contents") && message.contains("traceparse toc"), "{message}");
    assert!(message.contains("@schema=\"time-profile\""), "the export to make is named: {message}");
}

#[test]
fn an_export_without_cpu_tables() {
    let folder = Folder::new();
    let path = folder.edited("27/time-profile-waiting", &[("name=\"time-profile\"", "name=\"disk-io\"")]);
    let message = fails(1, &[&path]);
    assert!(message.contains("no CPU table") && message.contains("disk-io (6 rows)"), "{message}");
    assert!(message.contains("@schema=\"time-profile\""), "the export to make is named: {message}");
}

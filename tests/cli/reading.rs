//! The sources of input.

use std::fs::read;
use std::io::Write;

use crate::command::{
    Folder, fails, finish, fixture, json, lines_of_words, ok, orchard, read_text, stderr_of, stdout_of, traceparse,
    warns,
};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 0).expect("memory takes everything")
}

/// An overview without the name of its input.
fn answer(path: &str, text: &str) -> String {
    assert!(text.starts_with(&format!("{path}\n")), "the input is named");
    text.replacen(path, "INPUT", 1).replace(&format!(" · {path} · "), " · INPUT · ")
}

#[test]
fn a_dash_is_standard_input() {
    let expected = ok(&[&orchard(), "--view", "full"]);
    let xml = read(orchard()).expect("the fixture can be read");
    for bytes in [xml.clone(), gzip(&xml), zstd(&xml)] {
        let assert = finish(traceparse(&["-", "--view", "full"]).write_stdin(bytes)).success().stderr("");
        let text = stdout_of(&assert);
        assert_eq!(answer("-", &text), answer(&orchard(), &expected));
    }
}

#[test]
fn empty_standard_input_is_refused() {
    let assert = finish(traceparse(&["-"]).write_stdin("")).code(1).stdout("");
    assert!(stderr_of(&assert).contains("empty"));
}

#[test]
fn compression_is_recognised_whatever_the_name() {
    let folder = Folder::new();
    let xml = read(orchard()).expect("the fixture can be read");
    let expected = ok(&[&orchard(), "--view", "full"]);
    let (half, rest) = xml.split_at(xml.len() / 2);
    for path in [
        folder.file("export.xml.gz", gzip(&xml)),
        folder.file("members.gz", [gzip(half), gzip(rest)].concat()),
        folder.file("export.xml.zst", zstd(&xml)),
        folder.file("frames.zst", [zstd(half), zstd(rest)].concat()),
        folder.file("gzip-without-extension", gzip(&xml)),
        folder.file("zstd-called.xml", zstd(&xml)),
    ] {
        assert_eq!(answer(&path, &ok(&[&path, "--view", "full"])), answer(&orchard(), &expected), "{path}");
    }
}

#[test]
fn a_compressed_file_that_was_cut_is_a_cut_file() {
    let folder = Folder::new();
    let xml = read(orchard()).expect("the fixture can be read");
    for (name, bytes) in [("cut.gz", gzip(&xml)), ("cut.zst", zstd(&xml))] {
        let path = folder.file(name, &bytes[..bytes.len() / 2]);
        let message = fails(1, &[&path]);
        assert!(message.contains(name) && message.contains("the file is truncated"), "{message}");
        // A block of zstd comes whole or not at all, and this file is one block.
        if name == "cut.gz" {
            let (text, warning) = warns(&[&path, "--allow-truncated"]);
            assert!(text.contains("is truncated at byte") && warning.contains("is truncated at byte"), "{text}");
        }
    }
}

#[test]
fn a_file_that_is_named_twice_is_refused() {
    let message = fails(2, &[&orchard(), &fixture("27/../27/orchard")]);
    assert!(message.contains("named twice"), "{message}");
}

#[test]
fn several_files_are_read_in_their_order() {
    let (first, second) = (orchard(), fixture("27/cpu-profile"));
    let both = json(&[&first, &second, "--view", "summary"]);
    let series = |index: usize, name: &str| both["series"][index][name].clone();
    assert_eq!((series(0, "input"), series(0, "unit")), (first.clone().into(), "ns".into()));
    assert_eq!((series(1, "input"), series(1, "unit")), (second.clone().into(), "cycles".into()));
    let text = ok(&[&second, &first, "--view", "full"]);
    let at = |name: &str| text.find(name).expect("each file is named");
    assert!(at(&second) < at(&first));
}

#[test]
fn the_same_run_in_two_files_stays_two() {
    let folder = Folder::new();
    let copy = folder.file("copy.xml", read_text(&orchard()));
    let answer = json(&[&orchard(), &copy, "--view", "summary"]);
    let weights = answer["series"].as_array().expect("series").iter().map(|series| series["all_weight"].clone());
    assert_eq!(weights.collect::<Vec<_>>(), [485_000_000, 485_000_000]);
}

#[test]
fn several_documents_in_one_file_are_all_read() {
    let folder = Folder::new();
    let xml = read_text(&orchard());
    let path = folder.file("twice.xml", xml.repeat(2));
    let answer = json(&[&path, "--view", "summary"]);
    let samples = answer["series"].as_array().expect("series").iter().map(|series| series["samples"].as_u64().unwrap());
    assert_eq!(samples.sum::<u64>(), 2 * 485);
}

#[test]
fn a_table_of_contents_adds_device_and_duration() {
    let lines = lines_of_words(&ok(&[&fixture("toc/two-runs"), &fixture("27/several-tables"), "--view", "summary"]));
    let line = "run 2 · MacBook Pro · macOS 27.0 (26A101) · process Orchard · 0.118595 s · Instruments 27.0 (17A456)";
    assert!(lines.iter().any(|found| found == line), "{lines:#?}");
}

#[test]
fn one_bad_file_among_good_ones_is_named() {
    let folder = Folder::new();
    let empty = folder.file("empty.xml", "");
    let message = fails(1, &[&orchard(), &empty, &fixture("27/cpu-profile")]);
    assert!(message.contains(&empty) && !message.contains(&orchard()), "{message}");
}

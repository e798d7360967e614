//! URLs instead of file names are refused by every command and argument (`bin/guarded.rs`), before anything is read or written.

use std::fs;

#[cfg(not(feature = "object-store"))]
use crate::command::fails;
use crate::command::{Folder, finish, stderr_of, traceparse};
use crate::guarded::{GUARDED, Writes};

/// The text in every refusal of a command built without the feature.
#[cfg(not(feature = "object-store"))]
const FEATURE: &str = "cargo install --path bin --locked --features object-store";

/// The arguments of a command in which `argument` is a URL.
fn line(command: &str, argument: &str, url: &str) -> Vec<String> {
    let file = "a.xml".to_owned();
    let mut args: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let named =
        if argument == "--image" { format!("11111111-2222-3333-4444-555555555555@0x1={url}") } else { url.to_owned() };
    let is_option = argument.starts_with('-');
    match command {
        "diff" if argument == "BEFORE" => args.extend([named.clone(), file]),
        "diff" if argument == "AFTER" => args.extend([file, named.clone()]),
        "diff" => args.extend([file.clone(), file]),
        "symbolicate" if is_option => args.push("0x1".to_owned()),
        "table" => args.extend([if is_option { file } else { named.clone() }, "time-profile".to_owned()]),
        _ if is_option => args.push(file),
        _ => args.push(named.clone()),
    }
    if command == "trend" {
        args.extend(["--over", "date"].map(str::to_owned));
    }
    if ["--root", "--plan"].contains(&argument) {
        args.extend(["--shard", "1/2"].map(str::to_owned));
    }
    if argument == "--plan" {
        args.extend(["--root", "."].map(str::to_owned));
    }
    if ["fleet extract", "fleet merge", "symbols"].contains(&command) && argument != "-o" {
        args.extend(["-o", "ds"].map(str::to_owned));
    }
    if is_option {
        args.extend([argument.to_owned(), named]);
    }
    if command == "compare" && argument != "--against" {
        args.extend(["--against", "b.xml"].map(str::to_owned));
    }
    args
}

/// Runs the command in an empty folder, which stays empty; its message.
fn refused(args: &[String]) -> String {
    let folder = Folder::new();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let assert = finish(traceparse(&args).current_dir(folder.path(""))).code(2).stdout("");
    assert_eq!(fs::read_dir(folder.path("")).expect("it is a folder").count(), 0, "{args:?} made something");
    stderr_of(&assert)
}

/// The uses of commands in which an argument names a file or a folder.
fn uses() -> impl Iterator<Item = (&'static str, &'static str)> {
    GUARDED.iter().flat_map(|guarded| {
        let output = if guarded.writes == Writes::Stdout { None } else { Some("-o") };
        guarded.inputs.iter().copied().chain(output).map(|argument| (guarded.command, argument))
    })
}

#[cfg(not(feature = "object-store"))]
#[test]
fn urls_of_object_stores_name_the_feature() {
    for (command, argument) in uses() {
        for url in ["s3://bucket/a.xml", "s3a://bucket/a.xml", "gs://bucket/runs", "az://c/x", "abfss://c@a.b/x"] {
            let args = line(command, argument, url);
            let message = refused(&args);
            for word in [url, FEATURE, "docs/object-stores.md", "--help"] {
                assert!(message.contains(word), "{args:?}: {word:?} is not in {message}");
            }
        }
    }
}

#[test]
fn other_urls_are_refused_by_their_scheme() {
    for (command, argument) in uses() {
        for (url, advice) in [("https://host/a.xml", "download it"), ("file:///tmp/a.xml", "name its path")] {
            let args = line(command, argument, url);
            let message = refused(&args);
            for word in [url, advice, "--help"] {
                assert!(message.contains(word), "{args:?}: {word:?} is not in {message}");
            }
        }
    }
}

/// A line of a list is read after the arguments.
#[cfg(not(feature = "object-store"))]
#[test]
fn a_line_of_a_manifest_names_the_feature() {
    let folder = Folder::new();
    let manifest = folder.file("m.csv", "path\ns3://bucket/a.xml\n");
    let message = fails(1, &["fleet", "report", &manifest]);
    assert!(message.contains("m.csv, line 2, column path"), "{message}");
    assert!(message.contains("s3://bucket/a.xml") && message.contains(FEATURE), "{message}");
}

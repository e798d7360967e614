//! Rust names have the same spelling from every source.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::command::{Folder, finish, json, ok, stdout_of, traceparse};
use support::builder::Builder;
use support::bundle::{BundleOptions, to_folder, write_bundle};
use support::{Invented, Node, RenderOptions, Shape, Table, render};

const UUID: &str = "00000000-0000-3000-8000-000000000035";
const LOAD_ADDRESS: u64 = 0x1_0000_0000;

/// A function's name: as the linker writes it, as Instruments records it, and as it is shown.
struct Name {
    mangled: String,
    recorded: String,
    shown: String,
}

/// The rows of `tests/demangle/rust.tsv`, or of the file that `TRACEPARSE_RUST_NAMES` names.
fn names() -> Vec<Name> {
    let own = support::repository("tests/demangle/rust.tsv");
    let path = std::env::var_os("TRACEPARSE_RUST_NAMES").map_or(own, Into::into);
    let text = fs::read_to_string(path).expect("a file of names");
    let name = |line: &str| {
        let mut columns = line.split('\t').map(str::to_owned);
        let mut column = || columns.next().expect("three columns");
        Name { mangled: column(), recorded: column(), shown: column() }
    };
    text.lines().map(name).collect()
}

/// One sample in each function, in order.
fn recording(functions: &[Option<&str>]) -> Invented {
    let mut builder = Builder::default();
    let process = builder.process("names", 7, "/opt/names");
    let thread = builder.thread(process, 1, &["Main Thread"]);
    let image = builder.image("/opt/names", "arm64", UUID, LOAD_ADDRESS);
    for (index, function) in functions.iter().enumerate() {
        let key = index.to_string();
        builder.function(&key, image, *function, None);
        builder.row((index as u64 + 1) * 1_000_000, thread, &key);
    }
    builder.recording
}

fn export(folder: &Folder, name: &str, recording: &Invented) -> String {
    let nodes = vec![Node::samples(1, Table::TimeProfile, recording)];
    folder.file(name, render(recording, &RenderOptions::with_nodes(Shape::Xcode26_2, nodes)))
}

fn bundle(folder: &Folder, name: &str, recording: &Invented) -> String {
    let nodes = vec![Node::samples(1, Table::TimeProfile, recording)];
    let path = folder.path(name);
    to_folder(&write_bundle(recording, &BundleOptions::with_nodes(nodes)), Path::new(&path));
    path
}

/// The function of each sample, in order.
fn sampled(args: &[&str]) -> Vec<String> {
    let answer = json(&[args, &["--view", "samples"]].concat());
    let samples = answer["samples"].as_array().expect("a list");
    samples.iter().map(|sample| sample["stack"][0]["function"].as_str().expect("a name").to_owned()).collect()
}

#[track_caller]
fn assert_shown(source: &str, names: &[Name], found: &[String]) {
    assert_eq!(found.len(), names.len(), "{source}");
    let mut differing = String::new();
    for (Name { mangled, shown, .. }, found) in names.iter().zip(found).filter(|(name, found)| name.shown != **found) {
        writeln!(differing, "{mangled}\n  expected: {shown}\n  {source}: {found}").expect("a string takes all");
    }
    assert!(differing.is_empty(), "{differing}");
}

#[test]
fn spells_rust_names_alike_from_every_source() {
    let (folder, names) = (Folder::new(), names());
    let mangled: Vec<&str> = names.iter().map(|name| name.mangled.as_str()).collect();
    let recorded = recording(&names.iter().map(|name| Some(name.recorded.as_str())).collect::<Vec<_>>());
    let raw = recording(&mangled.iter().copied().map(Some).collect::<Vec<_>>());
    let nameless = export(&folder, "nameless.xml", &recording(&vec![None; names.len()]));

    assert_shown("export", &names, &sampled(&[&export(&folder, "recorded.xml", &recorded)]));
    assert_shown("export of raw names", &names, &sampled(&[&export(&folder, "raw.xml", &raw)]));
    assert_shown("bundle", &names, &sampled(&[&bundle(&folder, "recorded.trace", &recorded)]));
    let symbols = bundle(&folder, "raw.trace", &raw) + "/symbols";
    assert_shown("symbol file", &names, &sampled(&[&nameless, "--symbols", &symbols]));

    let mut command = traceparse(&["demangle"]);
    let demangled = stdout_of(&finish(command.write_stdin(mangled.join("\n"))).success());
    assert_shown("demangle", &names, &demangled.lines().map(str::to_owned).collect::<Vec<_>>());
    let first: Vec<&str> = names.iter().take(200).map(|name| name.recorded.as_str()).collect();
    let demangled = ok(&[&["demangle"], first.as_slice()].concat());
    assert_shown("demangle NAME", &names[..first.len()], &demangled.lines().map(str::to_owned).collect::<Vec<_>>());
}

#[test]
fn spells_rust_names_of_sample_reports_and_merges_their_instances() {
    let (folder, names) = (Folder::new(), names());
    let mut report =
        String::from("Analysis of sampling names (pid 7) every 1 millisecond\nProcess:         names [7]\n");
    report += "Path:            /opt/names\n----\n\nCall graph:\n";
    writeln!(report, "    {} Thread_1   DispatchQueue_1: com.apple.main-thread  (serial)", names.len())
        .expect("a string");
    for (index, Name { recorded, .. }) in names.iter().enumerate() {
        let address = LOAD_ADDRESS + 0x1000 + 16 * index as u64;
        writeln!(report, "      1 {recorded}  (in names) + 8  [{address:#x}]").expect("a string takes all");
    }
    report += "\nTotal number in stack (recursive counted multiple, when >=5):\n\nSort by top of stack, same collapsed (when >= 5):\n\n";
    writeln!(report, "Binary Images:\n{LOAD_ADDRESS:#x} - 0x1ffffffff +names (0) <{UUID}> /opt/names")
        .expect("a string");
    let answer = json(&[&folder.file("names.txt", report), "--view", "functions"]);

    let rows = answer["functions"].as_array().expect("a list");
    let mut found: Vec<(String, u64)> =
        rows.iter().map(|row| (text(row), row["self_samples"].as_u64().expect("a count"))).collect();
    found.sort();
    let mut expected: Vec<(String, u64)> = Vec::new();
    let mut shown: Vec<&str> = names.iter().map(|name| name.shown.as_str()).collect();
    shown.sort_unstable();
    for of_one in shown.chunk_by(|one, other| one == other) {
        expected.push((of_one[0].to_owned(), of_one.len() as u64));
    }
    assert_eq!(found, expected);
}

fn text(row: &Value) -> String {
    row["function"].as_str().expect("a name").to_owned()
}

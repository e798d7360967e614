//! A module uses lower floors only; the library never touches the terminal, the environment, or the process.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Module and floor, as in `docs/architecture.md`. `output` stands on `report`, which it writes.
const FLOORS: [(&str, u32); 19] = [
    ("symbols", 2),
    ("symbolicate", 3),
    ("alert_grammar", 0),
    ("error", 0),
    ("chunks", 0),
    ("decompress", 0),
    ("demangle", 0),
    ("hash", 0),
    ("memory", 0),
    ("units", 0),
    ("profile", 1),
    ("recording", 2),
    ("readers", 3),
    ("calltree", 3),
    ("stats", 3),
    ("fleet", 4),
    ("report", 5),
    ("output", 6),
    ("analysis", 6),
];

/// The readers, which stand beside each other: none of them uses another one. They are re-exported, so that paths leave their folder out.
const READERS: [&str; 2] = ["bundle", "export"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => files.extend(sources(&path)),
            path if path.extension().is_some_and(|extension| extension == "rs") => files.push(path),
            _ => {}
        }
    }
    files
}

/// The top-level modules that a file names as `crate::MODULE`, with their line.
fn uses(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
        for part in line.split("crate::").skip(1) {
            let module: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push((number + 1, module));
        }
        assert!(!line.contains("use crate::{"), "one `use` a module, so that this test can read it: {line}");
    }
    found
}

#[test]
fn modules_use_lower_floors_only() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let floors: BTreeMap<&str, u32> = FLOORS.into_iter().collect();
    // Those of the tests of a reader may ask another one, which was written apart from it.
    let of_tests = [("bundle", "export")];
    let mut seen = 0;
    for file in sources(&src) {
        let inside = file.strip_prefix(&src).unwrap();
        let module = inside.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let floor =
            *floors.get(module).unwrap_or_else(|| panic!("src/{module} has no floor: give it one here and in docs"));
        let text = fs::read_to_string(&file).unwrap();
        let tests_from = text.lines().position(|line| line == "#[cfg(test)]").unwrap_or(usize::MAX);
        for (line, used) in uses(&text) {
            if READERS.contains(&used.as_str()) {
                let own = inside.iter().nth(1).and_then(|folder| folder.to_str()).unwrap_or_default();
                let is_test = line > tests_from && of_tests.contains(&(own, used.as_str()));
                assert!(is_test, "{}:{line}: the reader {own} uses the reader {used}", file.display());
                continue;
            }
            let used_floor =
                *floors.get(used.as_str()).unwrap_or_else(|| panic!("{}:{line}: crate::{used}", file.display()));
            let is_below = used == module || used_floor < floor || (used_floor == 0 && floor == 0);
            assert!(is_below, "{}:{line}: {module} (floor {floor}) uses {used} (floor {used_floor})", file.display());
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} uses found: does this test still read the code?");
}

#[test]
fn the_library_leaves_the_world_alone() {
    let forbidden = [
        "std::env",
        "std::process",
        "std::fs",
        "println!",
        "eprintln!",
        "print!(",
        "dbg!",
        "std::io::stdout",
        "io::stdin",
        "File::open",
        "todo!",
        "unimplemented!",
        "panic!",
    ];
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        // The one place that touches a file system, behind a trait.
        if file.ends_with("symbols/files.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for (number, line) in code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for word in forbidden {
                assert!(!line.contains(word), "{}:{}: {word}", file.display(), number + 1);
            }
        }
    }
}

/// Ways to open, make and rename files, and where the command may use them. Everything else goes through `unchanged.rs`, which knows what
/// is written and whether a file changes, and `sink.rs`, which replaces no input.
const DOORS: [(&str, &[&str]); 7] = [
    ("File::open(", &["bounds.rs", "unchanged.rs", "durable.rs", "extraction.rs", "store/mod.rs", "store/read.rs"]),
    // The cache of symbol folders; the files of a dataset about itself.
    ("fs::read(", &["symbols.rs", "store/folder.rs", "store/mod.rs", "store/journal.rs", "store/interruption.rs"]),
    ("FileSystem", &["unchanged.rs", "recordings.rs"]),
    ("stdin()", &["unchanged.rs", "guard.rs"]),
    ("fs::rename(", &["store/folder.rs"]),
    (".persist(", &["interrupt.rs"]),
    ("File::create(", &["store/folder.rs"]),
];

#[test]
fn the_command_opens_and_replaces_files_in_few_places() {
    let bin = Path::new(env!("CARGO_MANIFEST_DIR")).join("bin");
    for file in sources(&bin) {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("mod tests {").next().unwrap();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//") && !line.starts_with("use "));
        for line in lines.map(|line| line.replace("InputFile::", "")) {
            for (door, places) in DOORS {
                let is_place = places.iter().any(|place| file.ends_with(place));
                assert!(!line.contains(door) || is_place, "{}: {door} belongs to {places:?}: {line}", file.display());
            }
            let forbidden = ["fs::write(", "fs::copy(", "NamedTempFile::"].iter().find(|word| line.contains(**word));
            assert_eq!(forbidden, None, "{}: {line}", file.display());
        }
    }
}

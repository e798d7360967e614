//! File names in documents and comments: each must be the end of a path in the repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Endings of files that prose names. Names of inputs and outputs, such as `export.xml`, have others.
const ENDINGS: [&str; 7] = [".rs", ".py", ".mjs", ".cjs", ".ts", ".tsx", ".md"];
/// Files of users and other projects.
const ELSEWHERE: [&str; 3] = ["docs.rs", "functions.md", "verdict.md"];

/// All files of the repository that people write, by their paths from its root.
fn files() -> BTreeSet<String> {
    fn walk(path: &Path, name: &str, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            let name = [name, entry.file_name().to_str().unwrap()].concat();
            match entry.file_type().unwrap() {
                kind if kind.is_dir()
                    && ["target", "node_modules", ".git"].contains(&name.rsplit('/').next().unwrap()) => {}
                kind if kind.is_dir() => walk(&entry.path(), &(name + "/"), found),
                _ => drop(found.insert(name)),
            }
        }
    }
    let mut found = BTreeSet::new();
    walk(&support::repository(""), "", &mut found);
    found
}

/// The prose of a file: all of a document, the comments of code.
fn prose<'t>(name: &str, line: &'t str) -> &'t str {
    let comment = |start: &str| line.find(start).map_or("", |at| &line[at..]);
    match name.rsplit('.').next() {
        Some("md") => line,
        Some("py" | "toml") => comment("#"),
        _ => comment("//"),
    }
}

/// The names of files in a line.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || "_./-…".contains(c)));
    let words = words.map(|word| word.trim_end_matches('.').trim_start_matches("../"));
    // `NAME.rs` represents any name.
    words.filter(|word| ENDINGS.iter().any(|end| word.len() > end.len() && word.ends_with(end))).filter(|word| {
        let stem = word.rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default();
        stem.chars().any(|c| c.is_ascii_lowercase()) || ["README", "CHANGELOG", "SECURITY"].contains(&stem)
    })
}

#[test]
fn files_in_prose_exist() {
    let files = files();
    let exists = |name: &str| {
        files
            .iter()
            .any(|path| path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/')))
    };
    let is_read = |name: &&String| {
        ENDINGS.iter().chain(&[".toml"]).any(|end| name.ends_with(end)) && !name.starts_with("fixtures/")
    };
    let mut unknown = Vec::new();
    for file in files.iter().filter(is_read) {
        let text = fs::read_to_string(support::repository(file)).unwrap();
        for (index, line) in text.lines().enumerate() {
            let names = named(prose(file, line))
                .filter(|name| !ELSEWHERE.contains(name) && !name.starts_with(['/', '…']) && !exists(name));
            unknown.extend(names.map(|name| format!("{file}:{}: {name}", index + 1)));
        }
    }
    assert!(unknown.is_empty(), "these files do not exist:\n{}", unknown.join("\n"));
}

#[test]
fn names_are_found() {
    let found = |line| named(line).collect::<Vec<_>>();
    assert_eq!(found("in `a/b.rs` (c.py), ../README.md. and NAME.rs"), ["a/b.rs", "c.py", "README.md"]);
    assert_eq!(prose("x.rs", "let a = 1; // see it"), "// see it");
}

//! The Swift names that Instruments wrote, and the grammar of those that are written here.
//!
//! The mangled names are not known, so the form is checked: a list of parameters holds labels and nothing else, a closure has no signature,
//! and nothing returns a type. (Names of which the symbols are known are equal: see `symbols_apple_corpus.rs`.)

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use libtest_mimic::Failed;

/// Words that only names of Swift have.
const WORDS: [&str; 10] = [
    "closure #",
    "partial apply for ",
    "specialized ",
    "protocol witness for ",
    "thunk for ",
    ".getter",
    ".setter",
    ".modify",
    ".init(",
    ":)",
];

pub(crate) fn recorded_names_have_our_form(folder: &Path) -> Result<(), Failed> {
    let mut names = BTreeSet::new();
    add_names(folder, &mut names)?;
    names.retain(|name| is_swift(name));
    let wrong: Vec<&String> = names.iter().filter(|name| !has_our_form(name)).collect();
    println!("{} names of Swift", names.len());
    // It is the form of all names that are made here, too.
    let mut ours = include_str!("../../demangle/swift.tsv").lines().filter_map(|line| line.split('\t').nth(1));
    if let Some(other) = ours.find(|name| is_swift(name) && !has_our_form(name)) {
        return Err(format!("the form is not that of our own name {other}").into());
    }
    if names.len() < 150 || !wrong.is_empty() {
        return Err(format!("{} of {} names have another form: {wrong:#?}", wrong.len(), names.len()).into());
    }
    Ok(())
}

/// Adds the names of all frames of the exports in a folder.
fn add_names(folder: &Path, names: &mut BTreeSet<String>) -> Result<(), Failed> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add_names(&path, names)?;
        } else if path.extension().is_some_and(|extension| extension == "xml") {
            let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            for frame in text.split("<frame ").skip(1) {
                let tag = frame.split('>').next().unwrap_or(frame);
                let name = tag.split("name=\"").nth(1).and_then(|rest| rest.split('"').next());
                names.extend(name.map(|name| name.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")));
            }
        }
    }
    Ok(())
}

fn is_swift(name: &str) -> bool {
    let is_other = name.starts_with("-[") || name.starts_with("+[") || name.contains("::");
    !is_other && WORDS.iter().any(|word| name.contains(word))
}

fn has_our_form(name: &str) -> bool {
    // What a thunk converts between is a type, and types have arrows and parameters of their own.
    let is_of_type = name.contains("thunk for @");
    let signature = name.split("closure #").skip(1).any(|rest| {
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        !(rest.is_empty() || rest.starts_with(" in ") || rest.starts_with(')'))
    });
    let groups = name.match_indices('(').filter(|&(at, _)| {
        let before = name[..at].chars().next_back();
        before.is_some_and(|before| before.is_alphanumeric() || matches!(before, '_' | '>' | '$'))
    });
    let are_labels = |at: usize| {
        let group = name[at + 1..].split(')').next().unwrap_or("");
        group.is_empty() || (group.ends_with(':') && !group.contains([' ', '(', '<', ',']))
    };
    !signature && (is_of_type || (!name.contains(" -> ") && groups.into_iter().all(|(at, _)| are_labels(at))))
}

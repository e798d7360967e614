//! Call trees without times, of which each format has a reader in `tests/oracle`: files of the corpus, and well-formed documents with
//! changes. A document that the two read differently must be refused. `TRACEPARSE_SEED` selects the changes.

use std::collections::BTreeMap;

use libtest_mimic::Failed;
use serde_json::{Value, json};
use support::Rng;
use traceparse::demangle::Demangler;
use traceparse::read;
use traceparse::recording::{Options, Recording};

use crate::programs::{Server, files, in_corpus, number};

/// The script's answer about an input, with names in the spelling of recordings.
fn asked(oracle: &mut Server, content: &[u8]) -> Result<Value, Failed> {
    let mut answer = oracle.ask(&[format!("{}\n", content.len()).as_bytes(), content].concat())?;
    if let Some(stacks) = answer["stacks"].as_object().cloned() {
        let mut shown: BTreeMap<String, u64> = BTreeMap::new();
        for (stack, weight) in stacks {
            let names: Vec<_> = stack.split('\n').map(|name| Demangler::default().display_name(name)).collect();
            *shown.entry(names.join("\n")).or_default() += weight.as_u64().ok_or("no weight")?;
        }
        answer["stacks"] = json!(shown);
    }
    Ok(answer)
}

/// What a recording holds, in the script's words.
fn told(recording: &Recording) -> Value {
    let profile = &recording.profile;
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for sum in profile.sums() {
        let mut names: Vec<_> =
            profile.frames_leaf_first(sum.stack).map(|frame| profile.function_name(frame.function)).collect();
        names.reverse();
        *stacks.entry(names.join("\n")).or_default() += sum.weight;
    }
    let series: Vec<_> = profile.series_ids().map(|id| profile.series(id)).collect();
    match series.as_slice() {
        // No function has a weight.
        [] => json!({"stacks": stacks}),
        [series] => json!({"unit": series.unit.name(), "meaning": series.meaning.name(), "stacks": stacks}),
        several => json!(several.len()),
    }
}

/// Compares all files of folders of the corpus, of which this many are read.
pub(crate) fn real_files(script: &str, folders: &[&str], expected: usize) -> Result<(), Failed> {
    let mut oracle = Server::start(script)?;
    let mut read_ones = 0;
    for path in folders.iter().flat_map(|folder| files(&in_corpus(folder), "")) {
        let content = std::fs::read(&path)?;
        let answer = asked(&mut oracle, &content)?;
        match read(content.as_slice(), "input", &Options::default()) {
            Ok(recording) => {
                read_ones += 1;
                ensure!(told(&recording) == answer, "{}: {:#} and {answer:#}", path.display(), told(&recording));
            }
            Err(error) => ensure!(answer.get("refused").is_some(), "{}: {error}, {answer}", path.display()),
        }
    }
    ensure!(read_ones == expected, "{read_ones} files were read");
    Ok(())
}

/// Compares documents with changes.
pub(crate) fn changed_documents(script: &str, document: fn(&mut Rng) -> Vec<u8>) -> Result<(), Failed> {
    let (count, seed) = (support::rounds(3_000), number("TRACEPARSE_SEED").unwrap_or(1));
    println!("{count} documents; to repeat: TRACEPARSE_SEED={seed}");
    let mut oracle = Server::start(script)?;
    let (mut equal, mut refused) = (0, BTreeMap::<String, u64>::new());
    for round in 0..count {
        let content = document(&mut Rng::new(seed.wrapping_add(round)));
        let answer = asked(&mut oracle, &content)?;
        match read(content.as_slice(), "input", &Options::default()) {
            Ok(recording) => {
                equal += 1;
                let (found, text) = (told(&recording), String::from_utf8_lossy(&content));
                let are_both_empty = found == json!({"stacks": {}}) && answer["stacks"] == json!({});
                ensure!(found == answer || are_both_empty, "seed {}: {text}\n{found:#}\n{answer:#}", seed + round);
            }
            Err(error) => {
                ensure!(error.at.is_some(), "{error} has no place");
                let error = error.to_string();
                *refused.entry(error.split(": ").skip(1).collect()).or_default() += 1;
            }
        }
    }
    println!("{equal} equal, refused: {refused:#?}");
    // Tables of a few lines are seldom readable after a change.
    ensure!(equal > count / 8, "most documents are refused");
    Ok(())
}

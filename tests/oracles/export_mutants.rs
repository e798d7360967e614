//! Exports with one change each, compared with an independent, strict reader: `tests/oracle/exports.py`.
//!
//! If the readers disagree about a row, the library must have reported it: with an error, or with a rejection or diagnostic at that
//! row or at the changed element. Malformed XML must be refused, except in rows of tables that are not read, since real exports
//! contain such rows.
//!
//! `TRACEPARSE_THOROUGH` sets the number of mutants (up to 3,000), and `TRACEPARSE_SEED` chooses them (default 1; `.ci/run` uses a
//! different seed for each commit). Both are printed. The mutants are made of fixtures and, if `TRACEPARSE_CORPUS` is set, real exports.

pub(crate) mod changes;
pub(crate) mod elements;
mod readers;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::thread;

use changes::{Mutant, change};
use elements::{Element, elements};
use libtest_mimic::{Failed, Trial};
use readers::{Answer, Reading, ask, read};
use support::Rng;

use crate::programs::{Server, files, has_python, in_corpus, number, repository};

/// The size above which documents are truncated: the first rows contain nearly all definitions.
const MAX_ROWS: usize = 60;

pub(crate) fn trials() -> Vec<Trial> {
    trials![if has_python(); mutants_of_exports_differ_in_nothing_that_is_not_told]
}

/// An unchanged document.
struct Base {
    name: String,
    document: Vec<u8>,
    elements: Vec<Element>,
    reading: Reading,
}

/// The outcomes of mutants, by kind of change: the number refused, reported, or read equally by both readers.
type Counts = BTreeMap<&'static str, u64>;

fn mutants_of_exports_differ_in_nothing_that_is_not_told() -> Result<(), Failed> {
    let (count, seed) = (support::rounds(3_000), number("TRACEPARSE_SEED").unwrap_or(1));
    println!("{count} mutants; to repeat: TRACEPARSE_SEED={seed}");
    let mut oracle = Server::start("exports.py")?;
    let bases: Vec<Base> =
        documents().into_iter().map(|document| base(document, &mut oracle)).collect::<Result<_, _>>()?;
    let (failures, counts) = (Mutex::new(Vec::new()), Mutex::new(Counts::new()));
    let workers = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    thread::scope(|scope| {
        for worker in 0..workers {
            let (bases, failures, counts) = (&bases, &failures, &counts);
            scope.spawn(move || {
                let mut oracle = Server::start("exports.py").expect("Python starts");
                for number in (worker..count).step_by(workers as usize) {
                    let (base, mutant) = draw(bases, seed.wrapping_add(number));
                    match compare(base, &mutant, &mut oracle) {
                        Ok(outcome) => *counts.lock().unwrap().entry(outcome).or_default() += 1,
                        Err(why) => failures.lock().unwrap().push(report(base, &mutant, seed + number, &why)),
                    }
                }
            });
        }
    });
    let (failures, counts) = (failures.into_inner().unwrap(), counts.into_inner().unwrap());
    println!("{} documents; {counts:?}", bases.len());
    if failures.is_empty() {
        return Ok(());
    }
    let shown: Vec<&str> = failures.iter().take(25).map(String::as_str).collect();
    Err(format!("{} mutants of {count}:\n{}", failures.len(), shown.join("\n")).into())
}

fn draw(bases: &[Base], seed: u64) -> (&Base, Mutant) {
    let mut rng = Rng::new(seed);
    let base = rng.pick(bases);
    loop {
        if let Some(mutant) = change(&base.document, &base.elements, &mut rng) {
            return (base, mutant);
        }
    }
}

/// Writes the mutant to a file, for inspection.
fn report(base: &Base, mutant: &Mutant, seed: u64, why: &str) -> String {
    let path = std::env::temp_dir().join(format!("mutant-{seed}.xml"));
    let written = std::fs::write(&path, &mutant.document).map_or(String::new(), |()| path.display().to_string());
    format!("  {} {}\n    {why}\n    {written}", base.name, mutant.what)
}

/// Fixtures and, if available, real exports.
fn documents() -> Vec<(String, Vec<u8>)> {
    let mut documents = Vec::new();
    for folder in [repository("fixtures"), in_corpus("xctrace")] {
        for file in files(&folder, ".xml") {
            let document = shortened(std::fs::read(&file).expect("the file can be read"));
            if ["time-profile\"", "cpu-profile\"", "counters-profile\"", "time-sample\""]
                .iter()
                .any(|schema| String::from_utf8_lossy(&document).contains(&format!("<schema name=\"{schema}")))
            {
                documents.push((file.strip_prefix(&folder).unwrap_or(&file).display().to_string(), document));
            }
        }
    }
    // Several documents in one file are not well-formed XML, and neither are track details with odd attributes.
    documents.retain(|(name, _)| !name.contains("concatenated") && !name.contains("track-detail"));
    documents
}

/// The document, limited to the first rows of its first table if the table is long.
pub(crate) fn shortened(document: Vec<u8>) -> Vec<u8> {
    let text = String::from_utf8_lossy(&document);
    let ends: Vec<usize> = text.match_indices("</row>").map(|(at, end)| at + end.len()).collect();
    let table_end = text.find("</node>").unwrap_or(text.len());
    match ends.get(MAX_ROWS) {
        Some(&end) if end < table_end => format!("{}\n{}", &text[..end], &text[table_end..]).into_bytes(),
        _ => document,
    }
}

/// Both readers must agree on the unchanged document.
fn base((name, document): (String, Vec<u8>), oracle: &mut Server) -> Result<Base, Failed> {
    let reading = read(&document).map_err(|error| format!("{name}: {error}"))?;
    let Answer::Rows(expected) = ask(oracle, &document)? else { return Err(format!("{name} is refused").into()) };
    if let Some(difference) = expected.difference(&reading) {
        return Err(format!("{name}: {difference}").into());
    }
    let elements = elements(&document);
    Ok(Base { name, document, elements, reading })
}

/// The outcome of a mutant, or the unreported difference.
fn compare(base: &Base, mutant: &Mutant, oracle: &mut Server) -> Result<&'static str, String> {
    let reading = read(&mutant.document);
    let answer = ask(oracle, &mutant.document).map_err(|failed| format!("{failed:?}"))?;
    match (reading, answer) {
        (Err(_), _) => Ok("refused"),
        (Ok(_), Answer::IllFormed(_)) if is_not_read(base, mutant) => Ok("not read"),
        // Concatenated exports are read, although they are not well-formed XML.
        (Ok(reading), Answer::IllFormed(why)) if reading.documents > 1 && why.contains("junk after") => {
            Ok("concatenated")
        }
        // Other output between documents is left out, with a message.
        (Ok(reading), Answer::IllFormed(_)) if is_beside_documents(base, mutant, &reading) => Ok("told"),
        (Ok(_), Answer::IllFormed(why)) => Err(format!("not well-formed, and accepted: {why}")),
        (Ok(reading), Answer::Rows(expected)) => match expected.difference(&reading) {
            None => Ok("equal"),
            Some(_) if expected.is_rejected(&reading) => Ok("rejected"),
            Some(_) if is_noted(base, mutant, &reading, &expected.unreadable_rows()) => Ok("told"),
            Some(difference) => Err(format!("{difference}; new diagnostics: {:?}", reading.new_notes(&base.reading))),
        },
    }
}

/// True if the change is in a row of a table that is not read.
fn is_not_read(base: &Base, mutant: &Mutant) -> bool {
    let name = |element: &Element| String::from_utf8_lossy(&base.document[element.name.clone()]).into_owned();
    let mut ancestors = std::iter::successors(Some(mutant.element), |&index| base.elements[index].parent);
    let Some(row) = ancestors.find(|&index| name(&base.elements[index]) == "row") else { return false };
    let table = base.elements[row].parent;
    let schema = base.elements.iter().find(|element| element.parent == table && name(element) == "schema");
    schema.is_some_and(|schema| {
        let tag = String::from_utf8_lossy(&base.document[schema.tag.clone()]).into_owned();
        !["\"time-profile\"", "\"cpu-profile\"", "\"counters-profile\"", "\"time-sample\""]
            .iter()
            .any(|cpu| tag.contains(cpu))
    })
}

/// True if the change created text outside of the root element, and a message reports it there.
fn is_beside_documents(base: &Base, mutant: &Mutant, reading: &Reading) -> bool {
    let notes = reading.new_notes(&base.reading);
    notes.iter().any(|(_, text)| text.contains("text outside of the document")) && is_noted(base, mutant, reading, &[])
}

fn is_noted(base: &Base, mutant: &Mutant, reading: &Reading, unreadable: &[usize]) -> bool {
    is_told((&base.document, &base.elements), mutant, &reading.new_notes(&base.reading), unreadable)
}

/// True if a new message is about the changed row or element, or about an unreadable row.
pub(crate) fn is_told(
    (document, elements): (&[u8], &[Element]),
    mutant: &Mutant,
    said: &[(Option<usize>, &str)],
    unreadable: &[usize],
) -> bool {
    let row_of = |byte: usize| {
        let start = mutant.document[..byte.min(mutant.document.len())].windows(4).rposition(|bytes| bytes == b"<row");
        let start = start.unwrap_or(byte);
        let next = mutant.document[start + 1..].windows(4).position(|bytes| bytes == b"<row");
        start..next.map_or(mutant.document.len(), |length| start + 1 + length)
    };
    // A message about a schema names no part of it.
    let parents = std::iter::successors(elements[mutant.element].parent, |&index| elements[index].parent);
    let schema = parents.map(|index| &elements[index]).find(|element| &document[element.name.clone()] == b"schema");
    let mut places: Vec<Range<usize>> = vec![
        row_of(mutant.place + 1),
        mutant.place.saturating_sub(1)..mutant.place + 1,
        elements[mutant.element].tag.clone(),
    ];
    places.extend(schema.map(|schema| schema.tag.clone()));
    places.extend(unreadable.iter().map(|&byte| byte..row_of(byte + 1).end));
    // A message about a complete table may be at any position in it.
    if document[elements[mutant.element].name.clone()] == *b"schema" && !said.is_empty() {
        return true;
    }
    said.iter().any(|(byte, _)| byte.is_some_and(|byte| places.iter().any(|place| place.contains(&byte))))
}

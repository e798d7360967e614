//! Tables of exports, compared with `tests/oracle/table_rows.py`.

use libtest_mimic::Failed;
use serde_json::{Value, json};
use support::all_tables::{self, Reading};
use support::bundle::nodes_of_marks;
use support::{Content, Invented, Layout, Node, RenderOptions, Rng, Shape, Size, Table, render};
use traceparse::Error;
use traceparse::profile::{Id, Profile, Stack};
use traceparse::recording::Options;

use crate::bundle_oracle::compare::End;
use crate::bundle_oracle::{in_threads, job_count};
use crate::export_mutants::changes::{Mutant, change};
use crate::export_mutants::elements::{Element, elements};
use crate::export_mutants::{is_told, shortened};
use crate::programs::{Server, files, in_corpus, repository};

/// An unchanged document.
struct Base {
    name: String,
    document: Vec<u8>,
    elements: Vec<Element>,
    expected: Value,
    notes: Vec<String>,
}

/// Real exports of all versions, fixtures, and invented ones.
fn documents(seed: u64) -> Vec<(String, Vec<u8>)> {
    let mut documents = Vec::new();
    for folder in [repository("fixtures"), in_corpus("xctrace")] {
        for file in files(&folder, ".xml") {
            let document = shortened(std::fs::read(&file).expect("the file can be read"));
            documents.push((file.strip_prefix(&folder).unwrap_or(&file).display().to_string(), document));
        }
    }
    // Tables of contents, several documents, and details of a track, which have no schema.
    let is_other =
        |name: &str| ["concatenated", "track-detail", "VM-Tracker", "Leaks__"].iter().any(|other| name.contains(other));
    documents.retain(|(name, document)| !is_other(name) && document.windows(7).any(|bytes| bytes == b"<schema"));
    documents.extend((0..16).map(|index| (format!("invented {index}"), invented(seed ^ index).into_bytes())));
    documents
}

/// A document with tables of samples, hangs, signposts and file system calls.
fn invented(seed: u64) -> String {
    let recording = Invented::random(seed, &Size { rows: 6, depth: 4, ..Size::small() });
    let shapes = [Shape::Xcode12, Shape::Xcode14_3, Shape::Xcode26_4, Shape::Xcode27];
    let tables = [Table::TimeProfile, Table::CpuProfile, Table::CountersProfile { pmi: false }, Table::TimeSample];
    let calls = Node { run: 1, table_index: 90, content: Content::FileCalls((0..4).collect()) };
    let samples = Node::samples(1, tables[seed as usize % 4], &recording);
    let nodes = [samples, calls].into_iter().chain(nodes_of_marks()).collect();
    let options = RenderOptions::with_nodes(shapes[seed as usize / 4 % 4], nodes);
    render(&recording, &options.layout(if seed.is_multiple_of(2) { Layout::Pretty } else { Layout::Raw }))
}

fn read(document: &[u8], options: &Options) -> Result<Reading, Error> {
    all_tables::read(options, |recording, reading| recording.read_tables(document, "mutant", reading), frames)
}

fn frames(profile: &Profile, stack: Id<Stack>) -> Vec<Value> {
    let frame = |frame: &traceparse::profile::Frame| {
        let function = profile.function(frame.function);
        let binary = frame.binary.map(|binary| profile.binary(binary));
        let uuid = binary.and_then(|binary| binary.uuid).map(|uuid| uuid.to_string().replace('-', ""));
        let source = frame.source.map(|source| (source.line, profile.string(source.path)));
        json!([
            function.is_named.then(|| profile.string(function.name)),
            frame.address.get(),
            uuid,
            binary.map(|binary| binary.load_address.get()),
            source.map(|(line, _)| line),
            source.map(|(_, path)| path),
        ])
    };
    profile.frames_leaf_first(Some(stack)).map(frame).collect()
}

fn ask(oracle: &mut Server, document: &[u8]) -> Result<Value, Failed> {
    oracle.ask(&[format!("{}\n", document.len()).as_bytes(), document].concat())
}

/// Compares mutants in all threads.
pub(super) fn try_mutants(count: u64, seed: u64) -> Result<(), Failed> {
    let mut oracle = Server::start("table_rows.py")?;
    // Few mutants need few documents.
    let documents = documents(seed).into_iter().step_by(if count < 500 { 3 } else { 1 });
    let bases: Vec<Base> = documents.map(|document| base(document, &mut oracle)).collect::<Result<_, _>>()?;
    let mut oracles = (0..job_count(count)).map(|_| Server::start("table_rows.py")).collect::<Result<Vec<_>, _>>()?;
    let ends = in_threads(&mut oracles, count, seed, |index, rng, oracle| {
        let (base, mutant) = draw(&bases, rng);
        let end = compare(base, &mutant, oracle, rng);
        let kind = mutant.what.split(" at byte").next().unwrap_or_default().to_owned();
        if let End::Wrong(..) = end {
            let path = std::env::temp_dir().join(format!("table-mutant-{seed}-{index}.xml"));
            std::fs::write(path, &mutant.document).expect("the mutant can be kept");
        }
        (end, kind, format!("table-mutant-{seed}-{index}.xml of {}: {}", base.name, mutant.what))
    });
    println!("{count} mutants of {} exports, seed {seed}: {:?}", bases.len(), ends.counts);
    ends.check(count)
}

/// Draws a mutant. Changes of bytes are left out, since few of them are well-formed, and second documents.
fn draw<'b>(bases: &'b [Base], rng: &mut Rng) -> (&'b Base, Mutant) {
    let base = rng.pick(bases);
    loop {
        let Some(mutant) = change(&base.document, &base.elements, rng) else { continue };
        if !mutant.what.starts_with("a byte is") && (mutant.element > 0 || !mutant.what.contains("present twice")) {
            return (base, mutant);
        }
    }
}

fn base((name, document): (String, Vec<u8>), oracle: &mut Server) -> Result<Base, Failed> {
    let reading = read(&document, &Options::default()).map_err(|error| format!("{name}: {error}"))?;
    let expected = ask(oracle, &document)?;
    match untold(&reading, &expected) {
        None if expected["tables"].is_array() => {}
        difference => return Err(format!("{name}: {difference:?} {}", expected["ill"]).into()),
    }
    let notes = reading.notes.iter().map(|note| note.message.clone()).collect();
    Ok(Base { elements: elements(&document), name, document, expected, notes })
}

fn compare(base: &Base, mutant: &Mutant, oracle: &mut Server, rng: &mut Rng) -> End {
    let answer = match ask(oracle, &mutant.document) {
        Ok(answer) => answer,
        Err(failed) => return End::Wrong("the other reader failed", format!("{failed:?}")),
    };
    let buffer_size = *rng.pick(&[64, 1_000, 65_536, Options::default().buffer_size]);
    let Ok(reading) = read(&mutant.document, &Options { buffer_size, ..Options::default() }) else { return End::Error };
    if let Some(why) = answer.get("ill").or(answer.get("refused")) {
        let is_told = reading.notes.iter().any(|note| note.message.contains("outside of the document"));
        return if is_told { End::Told } else { End::Wrong("not well-formed", why.to_string()) };
    }
    let new = reading.notes.iter().filter(|note| !base.notes.contains(&note.message));
    let said: Vec<_> = new.map(|note| (note.at.as_ref().map(|at| at.byte as usize), note.message.as_str())).collect();
    let is_rejected = reading.tables.iter().any(|table| table.rejected > 0 || table.unreadable.is_some());
    match untold(&reading, &answer) {
        Some(_) if is_told((&base.document, &base.elements), mutant, &said, &[]) => End::Told,
        Some((class, what)) => End::Wrong(class, format!("{what}; new diagnostics: {said:?}")),
        None if is_rejected || !said.is_empty() => End::Told,
        None if answer == base.expected => End::Unchanged,
        None => End::Changed,
    }
}

/// The first thing that the readers report differently, unless the library has rejected it.
fn untold(reading: &Reading, expected: &Value) -> Option<(&'static str, String)> {
    let tables = expected["tables"].as_array()?;
    if expected["odd"] == true {
        return Some(("an odd document", "something else than tables".to_owned()));
    }
    if reading.tables.len() != tables.len() {
        return Some(("tables", format!("{} tables, not {}", reading.tables.len(), tables.len())));
    }
    for (found, expected) in reading.tables.iter().zip(tables) {
        if found.unreadable.is_some() {
            continue;
        }
        if expected["odd"] == true {
            return Some(("an odd table", "something else than rows".to_owned()));
        }
        let head = json!([found.head.schema, found.head.run, found.columns()]);
        if head != json!([expected["schema"], expected["run"], expected["columns"]]) {
            return Some(("a head", format!("{head} and not {expected:.200}")));
        }
        let rows: Vec<Value> = expected["rows"].as_array()?.iter().map(|row| row[1].clone()).collect();
        if let Some((row, what)) = all_tables::difference(&found.rows, &rows, found.rejected) {
            return Some(("a row", format!("{} row {row}: {what}", found.head.schema)));
        }
    }
    None
}

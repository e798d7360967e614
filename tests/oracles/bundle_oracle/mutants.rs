//! Mutants of bundles: a few values are different, but the structure is intact, so a reader cannot reject them as malformed.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::library::Told;
use super::lists::List;
use support::Rng;
use support::bundle::pack::deflated;
use support::bundle::unpacked::inflated;
use support::bundle::{BUNDLE, Files, Memory};

mod edits;

/// A bundle from which mutants are made.
pub(crate) struct Base {
    pub(crate) name: String,
    /// Inflated.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// The reading of the other reader.
    pub(crate) expected: Vec<Value>,
    /// The library's messages for the unchanged bundle.
    pub(crate) told: Vec<Told>,
    /// The objects of `form.template` that affect the result.
    seen: Vec<usize>,
    template: Option<List>,
    /// Files that can be changed, by kind.
    kinds: BTreeMap<Kind, Vec<String>>,
    /// True if all tables are read, not only samples and intervals.
    pub(crate) is_of_all_tables: bool,
}

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Rows,
    Names,
    Arrays,
    Index,
    Strings,
    Schema,
    Descriptor,
    Tables,
    Template,
}

/// The share of changes for each kind of file.
const SHARES: [(Kind, u64); 9] = [
    (Kind::Rows, 30),
    (Kind::Names, 6),
    (Kind::Arrays, 22),
    (Kind::Index, 4),
    (Kind::Strings, 8),
    (Kind::Schema, 8),
    (Kind::Descriptor, 3),
    (Kind::Tables, 3),
    (Kind::Template, 16),
];

/// Replacement bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) at: usize,
    pub(crate) length: usize,
    pub(crate) new: Vec<u8>,
}

/// Changed or removed files.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    pub(crate) edits: Vec<(String, Option<Vec<Edit>>)>,
    /// The kind of the change, to classify mistakes.
    pub(crate) kind: &'static str,
    pub(crate) described: String,
}

const CPU: [&str; 4] = ["time-profile", "cpu-profile", "counters-profile", "time-sample"];
/// Tables without samples: signposts, regions, hangs.
const MARKS: [&str; 6] = [
    "os-signpost-interval",
    "OSSignpostIntervals",
    "os-signpost",
    "region-of-interest",
    "potential-hangs",
    "hang-risks",
];

impl Base {
    pub(crate) fn new(name: String, files: &Files) -> Base {
        Self::of(name, files, false)
    }

    /// The same for all tables, with at most this many rows each.
    pub(crate) fn of_all_tables(name: String, files: &Files, rows: usize) -> Base {
        let mut base = Self::of(name, files, true);
        let stores = base.kinds.get(&Kind::Rows).cloned().unwrap_or_default();
        let changes: Vec<_> = stores.iter().filter_map(|path| edits::shortened(&base, path, rows)).flatten().collect();
        for (path, edits) in changes {
            let bytes = edited(&base.files[&path], &edits);
            base.files.insert(path, bytes);
        }
        base
    }

    fn of(name: String, files: &Files, is_of_all_tables: bool) -> Base {
        let inflate = |(path, bytes): &(String, Vec<u8>)| (path.clone(), inflated(bytes).expect("a whole file"));
        let mut files: BTreeMap<String, Vec<u8>> = files.iter().map(inflate).collect();
        // Most of a real bundle is in tables that this test does not read.
        let is_read = |path: &String| kind_of(&files, path, is_of_all_tables).is_some() || is_described(path);
        let read: Vec<String> = files.keys().filter(|path| is_read(path)).cloned().collect();
        files.retain(|path, _| read.contains(path));
        let template = files.get("form.template").map(|bytes| List::read(bytes));
        let (expected, told, seen, kinds) = (vec![], vec![], vec![], BTreeMap::new());
        let mut base = Base { name, files, expected, told, seen, template, kinds, is_of_all_tables };
        let paths: Vec<String> = base.files.keys().cloned().collect();
        for path in paths {
            if let Some(kind) = kind_of(&base.files, &path, is_of_all_tables) {
                base.kinds.entry(kind).or_default().push(path);
            }
        }
        base
    }

    /// Stores the result of the other reader.
    pub(crate) fn know(&mut self, mut answer: Value) {
        if let Value::Array(runs) = answer["runs"].take() {
            self.expected = runs;
        }
        let seen = answer["seen"].as_array().into_iter().flatten().filter_map(Value::as_u64);
        self.seen = seen.map(|object| object as usize).collect();
    }

    /// The files of the bundle or a mutant.
    pub(crate) fn memory<'a>(&'a self, changed: Option<&'a BTreeMap<String, Option<Vec<u8>>>>) -> Memory<'a> {
        let mut memory = Memory::default();
        for (path, bytes) in &self.files {
            let bytes = match changed.and_then(|changed| changed.get(path)) {
                Some(None) => continue,
                Some(Some(changed)) => changed,
                None => bytes,
            };
            memory.add(&Path::new(BUNDLE).join(path), bytes.as_slice().into());
        }
        memory
    }
}

/// True for a file that describes any kind of table.
fn is_described(path: &str) -> bool {
    path.starts_with("corespace/run")
        && ["/schema.xml", "/bulkstore_descriptor"].iter().any(|name| path.ends_with(name))
}

/// The kind of a file, if it belongs to a table that is read.
fn kind_of(files: &BTreeMap<String, Vec<u8>>, path: &str, is_of_all_tables: bool) -> Option<Kind> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if !folder.starts_with("corespace/run") {
        return (path == "form.template").then_some(Kind::Template);
    }
    let schema = files.get(&format!("{folder}/schema.xml")).map(|bytes| String::from_utf8_lossy(bytes));
    let has_name = |name: &&str| schema.as_ref().is_some_and(|schema| schema.contains(&format!("name=\"{name}\"")));
    let is_names = ["thread-info", "process-info"].iter().any(has_name);
    let is_rows = CPU.iter().chain(&MARKS).any(has_name) || is_of_all_tables && !is_names;
    Some(match name {
        "bulkstore" if is_rows => Kind::Rows,
        "bulkstore" if is_names => Kind::Names,
        "integeruniquer.data" => Kind::Arrays,
        "integeruniquer.index" => Kind::Index,
        "strings" => Kind::Strings,
        "schema.xml" if is_rows || is_names => Kind::Schema,
        "bulkstore_descriptor" if is_rows || is_names => Kind::Descriptor,
        "tables.plist" | "EngineeringTypes.etypes" => Kind::Tables,
        _ => return None,
    })
}

impl Mutant {
    /// The changed files. Some are compressed, so that their checksum is right again.
    pub(crate) fn files(&self, base: &Base) -> BTreeMap<String, Option<Vec<u8>>> {
        let mut files = BTreeMap::new();
        for (path, edits) in &self.edits {
            let file = edits.as_ref().map(|edits| {
                let bytes = edited(&base.files[path], edits);
                // Files that begin like zlib are treated as zlib; large files take long.
                let is_deflated =
                    bytes.len() < 100_000 && (self.described.len().is_multiple_of(2) || bytes.first() == Some(&0x78));
                if is_deflated { deflated(&bytes) } else { bytes }
            });
            files.insert(path.clone(), file);
        }
        files
    }

    /// The places that a diagnostic may name: a file, or the folder of its store.
    pub(crate) fn places(&self) -> Vec<String> {
        let place = |path: &String| match path.rsplit_once('/') {
            Some((folder, _)) if folder.contains("/stores/") => vec![format!("{folder}/"), format!("{folder}:")],
            Some((folder, _)) if folder.ends_with("rrayUniquer") => vec![folder.to_owned()],
            _ => vec![path.clone()],
        };
        self.edits.iter().flat_map(|(path, _)| place(path)).collect()
    }
}

/// Applies the replacements in order.
pub(crate) fn edited(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for Edit { at, length, new } in edits {
        bytes.splice(*at..at + length, new.iter().copied());
    }
    bytes
}

/// A mutant of a bundle.
pub(crate) fn mutant(base: &Base, rng: &mut Rng) -> Mutant {
    loop {
        let mut edits: Vec<(String, Option<Vec<Edit>>)> = Vec::new();
        let (mut kind, mut described) = ("", Vec::new());
        // Most mutants have one change, so that no fault hides another.
        for _ in 0..if rng.one_in(12) { 2 } else { 1 } {
            let Some((done, changes)) = change(base, rng) else { continue };
            if changes.iter().any(|(path, _)| edits.iter().any(|(known, _)| known == path)) {
                continue;
            }
            kind = done;
            described.push(format!("{done} {changes:.300?}"));
            edits.extend(changes);
        }
        let is_change = edits.iter().any(|(path, edits)| {
            let bytes = &base.files[path];
            edits.as_ref().is_none_or(|edits| {
                edits.iter().any(|edit| bytes.get(edit.at..edit.at + edit.length) != Some(&edit.new))
            })
        });
        if is_change {
            return Mutant { edits, kind, described: described.join(" and ") };
        }
    }
}

type Changes = Vec<(String, Option<Vec<Edit>>)>;

/// One change, and its name.
fn change(base: &Base, rng: &mut Rng) -> Option<(&'static str, Changes)> {
    if rng.one_in(60) {
        let paths = base.kinds.values().nth(rng.index(base.kinds.len()))?;
        return Some(("removed file", vec![(rng.pick(paths).clone(), None)]));
    }
    if rng.one_in(60) {
        let paths = base.kinds.values().nth(rng.index(base.kinds.len()))?;
        let (one, other) = (rng.pick(paths), rng.pick(paths));
        let instead = |path: &String, new: &String| {
            let (length, new) = (base.files[path].len(), base.files[new].clone());
            (path.clone(), Some(vec![Edit { at: 0, length, new }]))
        };
        return (one != other).then(|| ("exchanged files", vec![instead(one, other), instead(other, one)]));
    }
    let mut left = rng.below(SHARES.iter().map(|(_, share)| share).sum());
    let &(kind, _) = SHARES.iter().find(|(_, share)| {
        let is_it = left < *share;
        left = left.saturating_sub(*share);
        is_it
    })?;
    let path = rng.pick(base.kinds.get(&kind)?).clone();
    let bytes = &base.files[&path];
    let (done, edits) = match kind {
        Kind::Rows | Kind::Names if rng.one_in(12) => return edits::fewer_rows(base, &path, rng),
        Kind::Rows | Kind::Names => edits::rows(bytes, rng)?,
        Kind::Arrays => edits::arrays(bytes, base.files.get(&path.replace(".data", ".index"))?, rng)?,
        Kind::Index => edits::index(bytes, rng)?,
        Kind::Strings if bytes.starts_with(b"bplist") => edits::list(bytes, &List::read(bytes), None, rng)?,
        Kind::Strings => edits::xml(bytes, b"<string>", rng)?,
        Kind::Schema if base.is_of_all_tables && rng.one_in(2) => edits::other_type(bytes, rng)?,
        Kind::Schema if rng.one_in(4) => return edits::renamed_column(base, &path, rng),
        Kind::Schema => edits::xml(bytes, b"<column ", rng)?,
        Kind::Descriptor | Kind::Tables => edits::list(bytes, &List::read(bytes), None, rng)?,
        Kind::Template => edits::list(bytes, base.template.as_ref()?, Some(&base.seen), rng)?,
    };
    Some((done, vec![(path, Some(edits))]))
}

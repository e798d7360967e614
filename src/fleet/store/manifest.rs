//! The manifest of a dataset, `traceparse-dataset.json`, which alone decides which files belong to it.
//!
//! ```text
//! {
//!   "format": "traceparse-dataset",
//!   "version": 7,
//!   "complete": false, "inputs_expected": 250, "inputs_done": 49, "runs": 48, "failed": 1,
//!   "settings": "4e0c…", "symbols": ["/symbols/Orchard.dSYM"], "shard": null,
//!   "files": {"part-9d51…": {"runs": 48, "failed": 1, "tables": {"runs": {"bytes": 9120, "rows": 49, "blake3": "07aa…"}, …}}},
//!   "checksum": "5be1…"
//! }
//! ```
//!
//! The manifest is replaced by a rename, after its files are on disk and before old files are deleted. A reader therefore sees the dataset either
//! before or after a change. `checksum` is a hash of all text before it, so flipped bits are detected in the manifest as in every other file.

use std::collections::{BTreeMap, BTreeSet};

use super::folder::{Folder, MANIFEST, is_id};
use super::shards::Shards;
use crate::fleet::error::{Context, Result, bail};
use crate::fleet::fingerprint::short;
use crate::fleet::{Completeness, DatasetTable, FleetSelection};
use serde_json::{Map, Value, json};

const FORMAT: &str = "traceparse-dataset";
/// The folder has the same version as its tables.
const VERSION: u64 = DatasetTable::VERSION as u64;
/// The text before the checksum.
const CHECKSUM: &str = ",\n  \"checksum\": \"";
const END: &str = "\"\n}\n";

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Manifest {
    /// The selection with which the runs were measured.
    pub(super) selection: FleetSelection,
    /// The settings of the last extract.
    pub(super) made_with: MadeWith,
    pub(super) inputs: Completeness,
    /// The files that the dataset should contain, except lost ones; `None` if unknown.
    pub(super) sources: Option<SourceSum>,
    pub(super) lost: Option<Lost>,
    /// The shards in the dataset; `None` if it is not sharded.
    pub(super) shards: Option<Shards>,
    /// Set if a merge wrote the dataset.
    pub(super) merged: Option<Merged>,
    /// Keyed by id.
    pub(super) files: BTreeMap<String, DataFile>,
}

/// The settings of an extract, for display and merges. Each run also has its fingerprint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeWith {
    /// The hash of all settings.
    pub settings: Option<String>,
    /// The paths that were searched for symbols.
    pub symbols: Vec<String>,
    /// True if the dataset contains the stacks of runs.
    pub has_stacks: bool,
}

/// The merge that wrote a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Merged {
    /// A hash of the merged datasets.
    pub inputs: String,
    /// True if the merge is finished. Until then, its files may be deleted.
    pub is_done: bool,
    /// True if all merged datasets were complete.
    pub is_of_whole: bool,
}

/// A data file: one file per table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DataFile {
    pub(super) runs: u64,
    pub(super) failed: u64,
    /// In the order of [`DatasetTable::ALL`].
    pub(super) tables: Vec<TableFile>,
}

/// The file for one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableFile {
    pub(super) bytes: u64,
    pub(super) rows: u64,
    /// BLAKE3, 128 bits, in hex.
    pub(super) checksum: String,
}

impl DataFile {
    pub(super) fn table(&self, table: DatasetTable) -> &TableFile {
        let index = DatasetTable::ALL.iter().position(|other| *other == table).unwrap_or_default();
        &self.tables[index]
    }

    /// The id, which is derived from the content: the same rows always have the same id, and different rows never do.
    pub(super) fn id(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for table in &self.tables {
            hasher.update(table.checksum.as_bytes());
        }
        format!("part-{}", short(hasher.finalize()))
    }
}

impl Manifest {
    /// The manifest of an empty dataset.
    pub(super) fn new() -> Self {
        let inputs = Completeness { is_complete: Some(false), inputs_expected: Some(0), inputs_done: Some(0) };
        let (selection, made_with) = (FleetSelection::default(), MadeWith::default());
        let files = BTreeMap::new();
        let sources = Some(SourceSum::default());
        Self { selection, made_with, inputs, sources, lost: None, shards: None, merged: None, files }
    }

    /// The manifest of a dataset that an engine rewrote: nothing is known.
    pub(super) fn unknown() -> Self {
        Self { inputs: Completeness::default(), ..Self::new() }
    }

    /// True if the dataset was created but never written.
    pub(super) fn is_untouched(&self) -> bool {
        self.files.is_empty() && self.inputs == Self::new().inputs
    }

    pub(super) fn read(folder: &Folder) -> Result<Self> {
        let path = folder.path.join(MANIFEST);
        let text = folder.read_own(MANIFEST).with_context(|| format!("{}: cannot be read", path.display()))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Parses a manifest. Errors call it `name`.
    pub(super) fn parse(text: &[u8], name: &str) -> Result<Self> {
        let damaged = || format!("{name}: damaged; extract into a new folder");
        let Some(value) = serde_json::from_slice::<Value>(text).ok().filter(|value| value["format"] == FORMAT) else {
            bail!("{}", damaged());
        };
        match value["version"].as_u64().with_context(damaged)? {
            VERSION if has_its_checksum(text) => Self::of_json(&value).with_context(damaged),
            version if version > VERSION => {
                bail!("{name}: has version {version}, but this traceparse reads version {VERSION}; update traceparse")
            }
            _ => bail!("{}", damaged()),
        }
    }

    fn of_json(value: &Value) -> Option<Self> {
        let options = match &value["selection"] {
            Value::Null => Vec::new(),
            selection => serde_json::from_value(selection["options"].clone()).ok()?,
        };
        let symbols =
            value["symbols"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        let (settings, has_stacks) = (value["settings"].as_str().map(str::to_owned), value["stacks"] == true);
        let made_with = MadeWith { settings, symbols, has_stacks };
        let is_merging = value["merged"]["inputs"].is_string() && value["merged"]["done"] != true;
        let inputs = Completeness {
            is_complete: value["complete"].as_bool().map(|is_complete| is_complete && !is_merging),
            inputs_expected: value["inputs_expected"].as_u64(),
            inputs_done: value["inputs_done"].as_u64(),
        };
        let shards = Shards::from_json(value)?;
        let merged = value["merged"]["inputs"].as_str().map(|inputs| Merged {
            inputs: inputs.to_owned(),
            is_done: value["merged"]["done"] == true,
            is_of_whole: value["merged"]["of_whole"] == true,
        });
        let mut files = BTreeMap::new();
        for (id, file) in value["files"].as_object()? {
            files.insert(Some(id).filter(|id| is_id(id))?.clone(), data_file(file)?);
        }
        let selection = FleetSelection::new(options);
        let (sources, lost) = (SourceSum::from_json(&value["sources"]), Lost::from_json(&value["lost"]));
        Some(Self { selection, made_with, inputs, sources, lost, shards, merged, files })
    }

    /// Serializes the manifest, with its checksum.
    pub(super) fn text(&self) -> String {
        let text = format!("{:#}", self.to_json());
        let body = text.trim_end().trim_end_matches('}').trim_end();
        format!("{body}{CHECKSUM}{}{END}", short(blake3::hash(body.as_bytes())))
    }

    fn to_json(&self) -> Value {
        let mut value = json!({"format": FORMAT, "version": VERSION});
        if !self.selection.is_whole() {
            value["selection"] = json!({"text": self.selection.to_string(), "options": self.selection.options()});
        }
        value["complete"] = json!(self.inputs.is_complete);
        value["inputs_expected"] = json!(self.inputs.inputs_expected);
        value["inputs_done"] = json!(self.inputs.inputs_done);
        value["sources"] = json!(self.sources.map(SourceSum::to_json));
        value["lost"] = Lost::to_json(self.lost);
        value["runs"] = json!(self.files.values().map(|file| file.runs).sum::<u64>());
        value["failed"] = json!(self.files.values().map(|file| file.failed).sum::<u64>());
        value["settings"] = json!(self.made_with.settings);
        value["symbols"] = json!(self.made_with.symbols);
        value["stacks"] = json!(self.made_with.has_stacks);
        [value["shard"], value["shards"]] = Shards::to_json(self.shards.as_ref());
        value["merged"] = match &self.merged {
            Some(Merged { inputs, is_done, is_of_whole }) => {
                json!({"inputs": inputs, "done": is_done, "of_whole": is_of_whole})
            }
            None => Value::Null,
        };
        value["files"] = self.files.iter().map(|(id, file)| (id.clone(), json_of(file))).collect::<Map<_, _>>().into();
        value
    }
}

/// The files listed in a manifest.
#[derive(Debug)]
pub struct NamedFiles {
    /// The names, such as `runs/part-1.parquet`.
    pub names: BTreeSet<String>,
    /// The total size of these files in bytes.
    pub bytes: u64,
}

impl NamedFiles {
    /// Lists the files in a manifest.
    ///
    /// # Errors
    /// If the manifest is damaged.
    pub fn of(manifest: &[u8], name: &str) -> Result<Self> {
        let manifest = Manifest::parse(manifest, name)?;
        let mut named = Self { names: BTreeSet::new(), bytes: 0 };
        for (id, file) in &manifest.files {
            for table in DatasetTable::ALL {
                named.names.insert(format!("{}/{id}.parquet", table.name()));
                named.bytes = named.bytes.saturating_add(file.table(table).bytes);
            }
        }
        Ok(named)
    }
}

/// True if the text ends with the hash of everything before it.
fn has_its_checksum(text: &[u8]) -> bool {
    let Some(text) = std::str::from_utf8(text).ok().and_then(|text| text.strip_suffix(END)) else { return false };
    text.rsplit_once(CHECKSUM).is_some_and(|(body, checksum)| checksum == short(blake3::hash(body.as_bytes())))
}

fn data_file(value: &Value) -> Option<DataFile> {
    let table = |table: DatasetTable| {
        let file = &value["tables"][table.name()];
        let checksum = file["blake3"].as_str()?.to_owned();
        Some(TableFile { bytes: file["bytes"].as_u64()?, rows: file["rows"].as_u64()?, checksum })
    };
    let tables = DatasetTable::ALL.into_iter().map(table).collect::<Option<_>>()?;
    Some(DataFile { runs: value["runs"].as_u64()?, failed: value["failed"].as_u64()?, tables })
}

fn json_of(file: &DataFile) -> Value {
    let table = |(table, file): (DatasetTable, &TableFile)| {
        (table.name().to_owned(), json!({"bytes": file.bytes, "rows": file.rows, "blake3": file.checksum}))
    };
    let tables: Map<_, _> = DatasetTable::ALL.into_iter().zip(&file.tables).map(table).collect();
    json!({"runs": file.runs, "failed": file.failed, "tables": tables})
}

/// The sum of the hashes of paths. It identifies a set of files in any order, and allows subsets to be removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceSum(u128);

impl SourceSum {
    /// Returns the sum for these paths.
    pub(crate) fn of<'s>(sources: impl IntoIterator<Item = &'s str>) -> Self {
        sources.into_iter().fold(Self::default(), Self::with)
    }

    /// Adds one file.
    pub(super) fn with(self, source: &str) -> Self {
        let mut bytes = [0; 16];
        blake3::Hasher::new().update(source.as_bytes()).finalize_xof().fill(&mut bytes);
        self.and(Self(u128::from_le_bytes(bytes)))
    }

    /// The union of two disjoint sets.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// Removes a subset.
    pub(super) const fn without(self, part: Self) -> Self {
        Self(self.0.wrapping_sub(part.0))
    }

    pub(super) fn to_json(self) -> Value {
        json!(format!("{:032x}", self.0))
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        u128::from_str_radix(value.as_str()?, 16).ok().map(Self)
    }
}

/// Lost files that have not been restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) files: u64,
    /// The lost files; `None` if unknown.
    pub(super) sources: Option<SourceSum>,
}

impl Lost {
    pub(super) fn to_json(lost: Option<Self>) -> Value {
        let sources = |lost: Self| lost.sources.map(SourceSum::to_json);
        lost.map_or(Value::Null, |lost| json!({"files": lost.files, "sources": sources(lost)}))
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        Some(Self { files: value["files"].as_u64()?, sources: SourceSum::from_json(&value["sources"]) })
    }

    /// Adds more lost files.
    pub(super) fn and(self, more: Self) -> Self {
        let sources = self.sources.zip(more.sources).map(|(own, more)| own.and(more));
        Self { files: self.files.saturating_add(more.files), sources }
    }
}

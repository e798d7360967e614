//! The rules that every bundle follows, whether it is ours or a real one.

use std::collections::{BTreeMap, BTreeSet};

use plist::Value;

use super::keyed::Keyed;
use super::registry::Registry;
use super::uniquer::NONE;
use super::unpacked::{Unpacked, u32_at, u64_at};

/// The contents of a valid bundle.
#[derive(Debug, Default)]
pub struct Checked {
    /// The run, name and number of rows of each table.
    pub tables: Vec<(u32, String, u64)>,
    pub strings: usize,
    pub arrays: usize,
    /// The number of cells that refer to a thread, a process, a stack or a string.
    pub references: u64,
}

/// A column of the schema.
pub struct Column {
    pub mnemonic: String,
    pub kind: String,
    /// Its position in the topology.
    pub place: Option<String>,
    /// The offset of its cell in a row, and the number of its bytes.
    pub at: usize,
    pub width: usize,
}

/// A table with its rows.
pub struct Table<'a> {
    pub schema: String,
    pub columns: Vec<Column>,
    pub row_size: usize,
    pub rows: &'a [u8],
}

impl Table<'_> {
    pub fn count(&self) -> u64 {
        (self.rows.len() / self.row_size) as u64
    }

    pub fn column(&self, mnemonic: &str) -> Result<&Column, String> {
        let column = self.columns.iter().find(|column| column.mnemonic == mnemonic);
        column.ok_or_else(|| format!("{} has no {mnemonic}", self.schema))
    }
}

impl Column {
    pub fn cell(&self, row: &[u8]) -> Result<u64, String> {
        if self.width == 8 { u64_at(row, self.at) } else { u32_at(row, self.at).map(u64::from) }
    }
}

/// Checks everything except images, which [`super::check_images`] checks.
pub fn check(bundle: &Unpacked) -> Result<Checked, String> {
    let mut checked = Checked::default();
    for run in bundle.runs() {
        let registry = Registry::read(bundle, run)?;
        checked.strings += registry.strings.len();
        checked.arrays += registry.arrays.len() + registry.typed_arrays.len();
        let mut schemas = BTreeMap::new();
        for store in bundle.stores(run) {
            let table = table(bundle, run, store).map_err(|error| format!("run {run}, store {store}: {error}"))?;
            checked.references += check_rows(&table, &registry)
                .map_err(|error| format!("run {run}, store {store}, {}: {error}", table.schema))?;
            checked.tables.push((run, table.schema.clone(), table.count()));
            schemas.insert(format!("run{run}/core/stores/indexed-store-{store}"), table.schema);
        }
        check_tables(bundle, run, &schemas).map_err(|error| format!("tables.plist of run {run}: {error}"))?;
    }
    check_current_run(bundle)?;
    check_manifest(bundle)?;
    Ok(checked)
}

/// Reads one store.
pub fn table(bundle: &Unpacked, run: u32, store: usize) -> Result<Table<'_>, String> {
    let folder = format!("corespace/run{run}/core/stores/indexed-store-{store}");
    let schema = String::from_utf8(bundle.file(&format!("{folder}/schema.xml"))?.to_vec());
    let schema = schema.map_err(|error| error.to_string())?;
    let name = attribute(&schema, "schema name").ok_or("a schema has a name")?;
    let (topology, code) = match attribute(&schema, "topology") {
        Some("XRT64_CC32_R_TypeID") => (&MOMENT[..], 7),
        Some("XRTD64_CC32_R_TypeID") => (&STRETCH[..], 6),
        other => return Err(format!("topology {other:?}")),
    };
    let descriptor = Keyed::read(bundle.file(&format!("{folder}/bulkstore_descriptor"))?)?;
    let fields = event_fields(&descriptor, name, code)?;
    let mut fields = fields.into_iter();
    let mut columns = Vec::new();
    let mut at = topology.iter().map(|(_, width)| width).sum();
    for element in schema.split("<column ").skip(1) {
        let get = |name| attribute(element, name).map(str::to_owned).ok_or_else(|| format!("a column without {name}"));
        let (mnemonic, place) = (get("mnemonic")?, attribute(element, "topologyField").map(str::to_owned));
        let (at, width) = match &place {
            Some(place) => located(topology, place).ok_or_else(|| format!("{place} is not in the topology"))?,
            None => {
                let (field, width) = fields.next().ok_or("more columns than fields")?;
                if field != mnemonic {
                    return Err(format!("field {field}, column {mnemonic}"));
                }
                at += width;
                (at - width, width)
            }
        };
        columns.push(Column { mnemonic, kind: get("engineeringType")?, place, at, width });
    }
    if fields.next().is_some() {
        return Err("more fields than columns".to_owned());
    }
    let event = event(&descriptor)?;
    for size in ["_maxEventSize", "_minEventSize"] {
        if descriptor.number(descriptor.entry(event, size)?)? != at as u64 {
            return Err(format!("{size} is not {at}"));
        }
    }
    let props = descriptor.entry(event, "_props")?;
    let count = descriptor.number(descriptor.entry(props, "next_event_id")?)?;
    if descriptor.number(descriptor.entry(props, "mono_event_id")?)? != count {
        return Err("two numbers of rows".to_owned());
    }
    let rows = rows(bundle.file(&format!("{folder}/bulkstore"))?, at, count)?;
    let spec = Keyed::read(bundle.file(&format!("{folder}/spec.plist"))?)?;
    if spec.text(spec.field(spec.top("root")?, "schemaName")?)? != name {
        return Err("spec.plist names another schema".to_owned());
    }
    Ok(Table { schema: name.to_owned(), columns, row_size: at, rows })
}

const MOMENT: [(&str, usize); 3] =
    [("XRTraceRelativeTimestampFieldID", 8), ("XRCategory1FieldID", 4), ("XRCategory2FieldID", 4)];
const STRETCH: [(&str, usize); 4] = [
    ("XRTraceRelativeTimestampFieldID", 8),
    ("XRDurationFieldID", 8),
    ("XRCategory1FieldID", 4),
    ("XRCategory2FieldID", 4),
];

fn located(topology: &[(&str, usize)], place: &str) -> Option<(usize, usize)> {
    let index = topology.iter().position(|(name, _)| *name == place)?;
    Some((topology[..index].iter().map(|(_, width)| width).sum(), topology[index].1))
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = element.split_once(&format!("{name}=\""))?;
    let (element_end, end) = (element.find('>')?, rest.find('"')?);
    (element.len() - rest.len() < element_end || name == "schema name" || name == "topology").then(|| &rest[..end])
}

fn event(descriptor: &Keyed) -> Result<&Value, String> {
    descriptor.field(descriptor.top("root")?, "$0")
}

/// The names and widths of the fields after the topology.
fn event_fields<'a>(descriptor: &'a Keyed, schema: &str, topology: u64) -> Result<Vec<(&'a str, usize)>, String> {
    let event = event(descriptor)?;
    let keys: BTreeSet<&str> = descriptor.entries(event)?.iter().filter_map(|(key, _)| key.as_string()).collect();
    let expected = "_eventClass _fields _maxEventSize _minEventSize _version _variableSize _synopsis _publicProps \
                    _substitutions _name _props _identifier";
    if keys != expected.split_whitespace().collect()
        || descriptor.text(descriptor.entry(event, "_identifier")?)? != schema
    {
        return Err(format!("the descriptor has {keys:?}"));
    }
    let mut fields = Vec::new();
    for (index, field) in descriptor.items(descriptor.entry(event, "_fields")?)?.into_iter().enumerate() {
        let field = descriptor.field(field, "$0")?;
        let number = |name| descriptor.number(descriptor.entry(field, name)?);
        let name = descriptor.text(descriptor.entry(field, "_name")?)?;
        let code = number("_type")?;
        let is_right = match index {
            0 => name == "topology" && code == topology,
            _ => code == 1 || code == 2,
        };
        if !is_right || number("_index")? != index as u64 || number("_multi")? != 1 {
            return Err(format!("field {index}: {name} {code}"));
        }
        fields.push((name, if code == 1 { 4 } else { 8 }));
    }
    Ok(fields.split_off(1))
}

/// The rows of a bulkstore. The header and size must match them, and only zeros may follow.
fn rows(bulkstore: &[u8], row_size: usize, count: u64) -> Result<&[u8], String> {
    let word = |index: usize| u32_at(bulkstore, 4 * index).map(|word| word as usize);
    let (at, block, in_block) = (word(3)?, word(5)?, word(6)?);
    if [word(0)?, word(1)?, word(2)?, at, word(4)?] != [0x1234_0a0a, 3, 0x28, 0x1000, row_size] {
        return Err("the header of the bulkstore".to_owned());
    }
    let end = usize::try_from(count).ok().and_then(|count| count.checked_mul(row_size)).map(|size| at + size);
    let end = end.filter(|&end| end <= bulkstore.len()).ok_or("rows behind the end of the bulkstore")?;
    if block != row_size * in_block || block == 0 || !(bulkstore.len() - at).is_multiple_of(block) {
        return Err(format!("{} bytes in blocks of {block}", bulkstore.len() - at));
    }
    if bulkstore[28..at].iter().chain(&bulkstore[end..]).any(|&byte| byte != 0) {
        return Err("bytes that are not zero where nothing is".to_owned());
    }
    Ok(&bulkstore[at..end])
}

/// Follows every reference of every row, and returns their number.
fn check_rows(table: &Table<'_>, registry: &Registry) -> Result<u64, String> {
    let mut references = 0;
    for (number, row) in table.rows.chunks(table.row_size).enumerate() {
        for column in &table.columns {
            let cell = column.cell(row)?;
            let is_none = cell == if column.width == 8 { u64::MAX } else { u64::from(NONE) };
            if !is_none {
                references += u64::from(
                    check_cell(&column.kind, cell, registry)
                        .map_err(|error| format!("row {number}, {}: {error}", column.mnemonic))?,
                );
            }
        }
    }
    Ok(references)
}

/// The types of strings.
const STRINGS: [&str; 16] = [
    "XRThreadStateTypeID",
    "XRPrototypeStringTypeID",
    "XRPrototypeShortStringTypeID",
    "XRHangTypeTypeID",
    "XRApplicationPeriodTypeID",
    "XRSignpostNameTypeID",
    "XROSLogEventTypeID",
    "XROSLogFormatStringTypeID",
    "XROSLogSubsystemTypeID",
    "XROSLogCategoryTypeID",
    "XREventConceptTypeID",
    "XRRegionOfInterestClassTypeID",
    "XRRegionOfInterestKindTypeID",
    "XRRegionOfInterestScopeTypeID",
    "XRNarrativeTextTypeID",
    "XRThermalStateTypeID",
];

/// True if the cell is a reference; an error if the referenced object does not exist.
fn check_cell(kind: &str, cell: u64, registry: &Registry) -> Result<bool, String> {
    match kind {
        "XRThreadTypeID" => registry.thread(cell).map(|_| true),
        "XRProcessTypeID" => registry.process(cell).map(|_| true),
        "XRBacktraceTypeID" => registry.stack(cell).map(|_| true),
        "XRTaggedBacktraceTypeID" => match registry.array(cell)? {
            [chunks, _] => registry.stack(*chunks).map(|_| true),
            other => Err(format!("a tagged stack is {other:?}")),
        },
        "XRCoreProfileCallstackTypeID" => registry.raw_stack(cell).map(|_| true),
        "XRCoreProfilePMCEventsArrayTypeID" => registry.array(cell).map(|_| true),
        "XROSLogMetadataTypeID" | "XRNarrativeEntryTypeID" => {
            for (kind, value) in registry.parts(cell)? {
                if value != u64::MAX {
                    check_cell(kind, value, registry)?;
                }
            }
            Ok(true)
        }
        kind if STRINGS.contains(&kind) => registry.string(cell).map(|_| true),
        "XRThreadNameTypeID" => {
            registry.thread(cell & 0xffff_ffff)?;
            registry.string(cell >> 32).map(|_| true)
        }
        _ => Ok(false),
    }
}

/// Checks that every store is listed with its schema's name, for both sides.
fn check_tables(bundle: &Unpacked, run: u32, schemas: &BTreeMap<String, String>) -> Result<(), String> {
    let tables = Keyed::read(bundle.file(&format!("corespace/run{run}/core/table-manager/tables.plist"))?)?;
    let root = tables.top("root")?;
    if tables.number(tables.entry(root, "lastStoreIdx")?)? != schemas.len() as u64 {
        return Err(format!("not {} stores", schemas.len()));
    }
    let mut sides: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    for (id, details) in tables.entries(tables.entry(root, "tableDetails")?)? {
        ids.insert(tables.number(id)?);
        let path = tables.text(tables.entry(details, "storeSubpath")?)?;
        let schema = tables.text(tables.field(tables.entry(details, "spec")?, "schemaName")?)?;
        if schemas.get(path).map(String::as_str) != Some(schema) {
            return Err(format!("{path} is no {schema}"));
        }
        sides.entry(path).or_default().insert(tables.number(tables.entry(details, "side")?)?);
    }
    let is_two_sided = sides.len() == schemas.len() && sides.values().all(|sides| sides.iter().eq([&0, &1]));
    let next = tables.number(tables.entry(root, "nextTableID")?)?;
    match is_two_sided && ids.last().is_some_and(|&last| last < next) {
        true => Ok(()),
        false => Err(format!("tables {ids:?}, next {next}: {sides:?}")),
    }
}

/// Checks that the run being recorded is empty.
fn check_current_run(bundle: &Unpacked) -> Result<(), String> {
    for uniquer in ["arrayUniquer", "typedArrayUniquer"] {
        let folder = format!("corespace/currentRun/core/uniquing/{uniquer}");
        let data = bundle.file(&format!("{folder}/integeruniquer.data"))?;
        let is_empty = bundle.file(&format!("{folder}/integeruniquer.index"))?.is_empty();
        if !is_empty || u64_at(data, 0)? != 0x000a_337e_0123_4567 || data[32..].iter().any(|&byte| byte != 0) {
            return Err(format!("{folder} is not empty"));
        }
    }
    Ok(())
}

/// Checks that every folder in the manifest has files.
fn check_manifest(bundle: &Unpacked) -> Result<(), String> {
    let manifest = Value::from_reader(std::io::Cursor::new(bundle.file("corespace/MANIFEST.plist")?));
    let manifest = manifest.map_err(|error| error.to_string())?;
    let paths = manifest.as_dictionary().and_then(|manifest| manifest.get("paths")?.as_array()).ok_or("no paths")?;
    for path in paths.iter().filter_map(Value::as_string) {
        let folder = format!("corespace/{path}/");
        if !bundle.files.keys().any(|file| file.starts_with(&folder)) {
            return Err(format!("there is no {folder}"));
        }
    }
    Ok(())
}

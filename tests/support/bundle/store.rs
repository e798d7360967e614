//! The store of a table: its schema, the description of its rows, and the rows.
//!
//! ```text
//! bulkstore: u32 0x12340a0a, 3, 0x28, offset of the rows, size of a row, size of a block, rows in a block; rows
//! ```
//!
//! A row is the topology followed by the other columns. The topology contains the columns that every table of its kind has: time, duration
//! and up to two categories.

use plist::Value;

use super::archive::{Archive, plain};
use super::schemas::{Column, Schema, Topology};

const ROWS_AT: usize = 0x1000;

/// A cell of a row; its width depends on the column.
pub type Cell = u64;

/// A table with its rows.
pub struct Store {
    pub schema: Schema,
    pub attributes: Vec<(&'static str, Attribute)>,
    /// Cells in the order of the columns.
    rows: Vec<u8>,
    count: u64,
}

/// An attribute with which a table was requested.
#[derive(Clone, Debug)]
pub enum Attribute {
    Text(&'static str),
    Number(u64),
    Boolean(bool),
    Texts(Vec<String>),
}

impl Store {
    pub fn new(schema: Schema, attributes: Vec<(&'static str, Attribute)>) -> Store {
        Store { schema, attributes, rows: Vec::new(), count: 0 }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds a row with a cell for each column, in the order of the columns.
    pub fn row(&mut self, cells: &[Cell]) {
        assert_eq!(cells.len(), self.schema.columns.len(), "{} has other columns", self.schema.name);
        let mut topology = Vec::new();
        for &(place, bits) in self.schema.topology.fields() {
            let column = self.schema.columns.iter().position(|column| column.place == Some(place));
            let cell = column.map_or(0, |column| cells[column]);
            topology.extend((0..bits).map(|bit| cell >> bit & 1 == 1));
        }
        self.rows.extend(bytes_of(&topology));
        for (column, &cell) in self.schema.columns.iter().zip(cells) {
            if column.place.is_none() {
                put(&mut self.rows, cell, column.width());
            }
        }
        self.count += 1;
    }

    /// Converts the rows to the form of old versions; tables of moments have no second category.
    pub fn packed(mut self) -> Store {
        let (old, new) = match self.schema.topology {
            Topology::Moment => (Topology::Moment, Topology::PackedMoment),
            Topology::Stretch => (Topology::Stretch, Topology::PackedStretch),
            Topology::PackedMoment | Topology::PackedStretch => return self,
        };
        let mut rows = Vec::new();
        for row in self.rows.chunks(self.schema.row_size()) {
            let (topology, rest) = row.split_at(old.size());
            let (mut at, mut bits) = (0, Vec::new());
            for &(place, width) in old.fields() {
                let kept = new.fields().iter().find(|field| field.0 == place).map_or(0, |field| field.1);
                bits.extend((at..at + kept).map(|bit| topology[bit / 8] >> (bit % 8) & 1 == 1));
                at += width;
            }
            rows.extend(bytes_of(&bits));
            rows.extend(rest);
        }
        (self.rows, self.schema.topology) = (rows, new);
        self
    }

    /// The `bulkstore` with space for complete blocks of rows, and `spare` more blocks.
    pub fn bulkstore(&self, rows_per_block: usize, spare: usize) -> Vec<u8> {
        let row_size = self.schema.row_size();
        let block = row_size * rows_per_block;
        let header = [0x1234_0a0a, 3, 0x28, ROWS_AT as u32, row_size as u32, block as u32, rows_per_block as u32];
        let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.resize(ROWS_AT, 0);
        bytes.extend(&self.rows);
        let blocks = (self.count as usize).div_ceil(rows_per_block) + if self.count > 0 { spare } else { 0 };
        bytes.resize(ROWS_AT + block * blocks, 0);
        bytes
    }

    /// `schema.xml`
    pub fn schema_xml(&self) -> Vec<u8> {
        let topology = self.schema.topology.name();
        let mut xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<schema name=\"{}\" topology=\"{topology}\">",
            self.schema.name
        );
        for Column { mnemonic, title, kind, place } in &self.schema.columns {
            xml.push_str(&format!(
                "<column mnemonic=\"{mnemonic}\" engineeringName=\"{title}\" engineeringType=\"{kind}\""
            ));
            if let Some(place) = place {
                xml.push_str(&format!(" topologyField=\"{}\"", place.name()));
            }
            xml.push_str("/>");
        }
        xml.push_str("</schema>\n");
        xml.into_bytes()
    }

    /// `bulkstore_descriptor`
    pub fn descriptor(&self) -> Vec<u8> {
        let mut archive = Archive::default();
        let mut fields = vec![self.field(&mut archive, "topology", 0, self.schema.topology.code())];
        let others = self.schema.columns.iter().filter(|column| column.place.is_none());
        for (index, column) in others.enumerate() {
            let code = if column.width() == 8 { 2 } else { 1 };
            fields.push(self.field(&mut archive, column.mnemonic, index as u64 + 1, code));
        }
        let size = self.schema.row_size() as u64;
        let substitutions = substitutions(&mut archive);
        let counts = [("storage_manager_version", 1), ("next_event_id", self.count), ("mono_event_id", self.count)]
            .map(|(name, number)| (archive.string(name), archive.number(number)));
        let entries = vec![
            ("_eventClass", archive.string("XRManagedEvent")),
            ("_fields", archive.list("NSArray", fields)),
            ("_maxEventSize", archive.number(size)),
            ("_minEventSize", archive.number(size)),
            ("_version", archive.number(1)),
            ("_variableSize", archive.boolean(false)),
            ("_synopsis", archive.string(self.schema.name)),
            ("_publicProps", archive.named(Vec::new())),
            ("_substitutions", substitutions),
            ("_name", archive.string(self.schema.name)),
            ("_props", archive.dictionary("NSDictionary", counts.to_vec())),
            ("_identifier", archive.string(self.schema.name)),
        ];
        let event = archive.named(entries);
        let root = archive.object("XREventDescriptor", vec![("$0", event)]);
        archive.finish(vec![("root", root)])
    }

    fn field(&self, archive: &mut Archive, name: &str, index: u64, code: u64) -> Value {
        let entries = vec![
            (archive.string("_name"), archive.string(name)),
            (archive.string("_index"), archive.number(index)),
            (archive.string("_type"), archive.number(code)),
            (archive.string("_multi"), archive.number(1)),
        ];
        let description = archive.dictionary("NSDictionary", entries);
        archive.object("XRFieldDescriptor", vec![("$0", description)])
    }

    /// The table's name and attributes, as in `spec.plist` and the table of tables.
    pub fn spec(&self, archive: &mut Archive) -> Value {
        let mut attributes = Vec::new();
        for (name, attribute) in &self.attributes {
            let value = match attribute {
                Attribute::Text(text) => archive.string(text),
                Attribute::Number(number) => archive.number(*number),
                Attribute::Boolean(is_true) => archive.boolean(*is_true),
                Attribute::Texts(texts) => archive.strings("NSMutableArray", texts),
            };
            attributes.push((*name, value));
        }
        let mergeable = if attributes.is_empty() { archive.nil() } else { archive.list("NSSet", Vec::new()) };
        let fields = vec![
            ("schemaName", archive.string(self.schema.name)),
            ("engineeringName", archive.string(self.schema.name)),
            ("mergeableAttributeKeys", mergeable),
            ("attributes", archive.named(attributes)),
        ];
        archive.object("XRAnalysisCoreTableSpec", fields)
    }

    /// `spec.plist`
    pub fn spec_plist(&self) -> Vec<u8> {
        let mut archive = Archive::default();
        let root = self.spec(&mut archive);
        archive.finish(vec![("root", root)])
    }
}

/// An empty object that every descriptor contains.
fn substitutions(archive: &mut Archive) -> Value {
    let map = archive.data(b"\x04\x0bstreamtyped\x81\xe8\x03\x84\x01I\x00".to_vec());
    let entries =
        vec![("next_id", archive.number(0)), ("id_map_nsdata", map), ("substitution_version", archive.number(1))];
    let entries = archive.named(entries);
    archive.object("XRDescriptorSubstitutions", vec![("$0", entries)])
}

/// Converts bits to bytes, the lowest bit first.
fn bytes_of(bits: &[bool]) -> impl Iterator<Item = u8> {
    bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |number, &bit| number << 1 | u8::from(bit)))
}

fn put(bytes: &mut Vec<u8>, cell: Cell, width: usize) {
    assert!(width == 8 || cell <= u64::from(u32::MAX), "{cell} is wider than its column");
    bytes.extend(&cell.to_le_bytes()[..width]);
}

/// `tables.plist`: it lists every store for both sides of the analysis, writers and readers.
pub fn tables_plist(run: u32, stores: &[Store]) -> Vec<u8> {
    let mut archive = Archive::default();
    let mut details = Vec::new();
    let mut last = 0;
    for (index, store) in stores.iter().enumerate() {
        let path = archive.string(&format!("run{run}/core/stores/indexed-store-{index}"));
        let spec = store.spec(&mut archive);
        for side in [0, 1] {
            // Tables that were not kept leave gaps in the numbers.
            last += 1 + u64::from(index % 3 == 2 && side == 0);
            let fields = vec![("storeSubpath", path.clone()), ("side", archive.number(side)), ("spec", spec.clone())];
            let entries = fields.into_iter().map(|(name, value)| (archive.string(name), value)).collect();
            details.push((last, archive.dictionary("NSDictionary", entries)));
        }
    }
    // Real files are not sorted.
    details.reverse();
    let details = archive.by_number(details);
    let entries = [
        ("lastStoreIdx", archive.number(stores.len() as u64)),
        ("nextTableID", archive.number(last + 1)),
        ("tableDetails", details),
    ];
    let entries = entries.into_iter().map(|(name, value)| (archive.string(name), value)).collect();
    let root = archive.dictionary("NSDictionary", entries);
    archive.finish(vec![("root", root)])
}

/// The `TOC` of the objects to which rows refer.
pub fn registry_toc() -> Vec<u8> {
    let mut archive = Archive::default();
    let fields = vec![
        ("typedArrayUniquer", archive.string("typedArrayUniquer")),
        ("arrayUniquer", archive.string("arrayUniquer")),
        ("nextUniqueIdentifier", plain(1)),
        ("strings", archive.string("strings")),
        ("etypeMap", archive.string("EngineeringTypes.etypes")),
    ];
    let root = archive.object("XRAnalysisCoreObjectRegistryTOC", fields);
    archive.finish(vec![("root", root)])
}

/// `EngineeringTypes.etypes`: the types to which typed arrays refer by number, followed by the types of all columns.
pub fn engineering_types(used: Vec<&'static str>, stores: &[Store]) -> Vec<u8> {
    let mut archive = Archive::default();
    let mut types = used;
    for column in stores.iter().flat_map(|store| &store.schema.columns) {
        if !types.contains(&column.kind) {
            types.push(column.kind);
        }
    }
    let items = types.into_iter().map(|kind| archive.mutable_string(kind)).collect();
    let root = archive.list("NSMutableArray", items);
    archive.finish(vec![("root", root)])
}

impl Schema {
    pub fn row_size(&self) -> usize {
        let others = self.columns.iter().filter(|column| column.place.is_none());
        self.topology.size() + others.map(Column::width).sum::<usize>()
    }
}

impl Topology {
    pub fn name(self) -> &'static str {
        match self {
            Topology::Moment => "XRT64_CC32_R_TypeID",
            Topology::Stretch => "XRTD64_CC32_R_TypeID",
            Topology::PackedMoment => "XRT50_C22_TypeID",
            Topology::PackedStretch => "XRTD50_CC22_R_TypeID",
        }
    }

    fn code(self) -> u64 {
        match self {
            Topology::Moment => 7,
            Topology::Stretch => 6,
            Topology::PackedMoment => 4,
            Topology::PackedStretch => 5,
        }
    }
}

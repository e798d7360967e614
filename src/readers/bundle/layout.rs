//! The layout of a store's rows, from `bulkstore_descriptor`, checked against `schema.xml`.
//!
//! A row is its topology followed by its fields, sorted by index, without padding. The topology holds times and one or two categories. A column
//! that names a topology field is stored there; any other column is stored in the field with its own name.
//!
//! | type | bytes | content, little endian |
//! |---|---|---|
//! | 1 | 4 | u32 |
//! | 2 | 8 | u64 |
//! | 4 | 9 | 50 bits of time, 22 bits of category 1 (Instruments 9 and 10) |
//! | 5 | 18 | 50 bits of time, 50 of duration, 22 of category 1, 22 of category 2 (Instruments 9 and 10) |
//! | 6 | 24 | u64 time, u64 duration, u32 category 1, u32 category 2 |
//! | 7 | 16 | u64 time, u32 category 1, u32 category 2 |

use std::fmt::Display;
use std::path::{Path, PathBuf};

use super::engineering_types::exported_type;
use super::file::{Content, Room, broken_file, broken_whole};
use super::keyed_archive::{KeyedArchive, Node};
use super::schema::{Schema, SchemaColumn};
use super::uniquer::NONE;
use crate::error::Error;
use crate::files::Files;
use crate::recording::{Column, ColumnKind, Table, TableKind};
use crate::symbols::{Broken, u32_at, u64_at};

/// The topology field that contains the time.
const TIME: &str = "XRTraceRelativeTimestampFieldID";

/// Returns the size in bytes of a topology of this type, and the places of its fields.
fn topology(kind: u64) -> Option<(usize, &'static [(&'static str, Place)])> {
    use Place::{Bits, Narrow, Wide};
    const DURATION: &str = "XRDurationFieldID";
    const ONE: &str = "XRCategory1FieldID";
    const TWO: &str = "XRCategory2FieldID";
    Some(match kind {
        4 => (9, &[(TIME, Bits(0, 50)), (ONE, Bits(50, 22))] as &[_]),
        5 => (18, &[(TIME, Bits(0, 50)), (DURATION, Bits(50, 50)), (ONE, Bits(100, 22)), (TWO, Bits(122, 22))]),
        6 => (24, &[(TIME, Wide(0)), (DURATION, Wide(8)), (ONE, Narrow(16)), (TWO, Narrow(20))]),
        7 => (16, &[(TIME, Wide(0)), (ONE, Narrow(8)), (TWO, Narrow(12))]),
        _ => return None,
    })
}

/// The position of a column's value in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// 4 bytes at this offset.
    Narrow(usize),
    /// 8 bytes at this offset.
    Wide(usize),
    /// The first bit, and the number of bits.
    Bits(usize, u32),
}

impl Place {
    /// Returns the number in a row. Unlike [`value`](Self::value), it has no reserved value.
    pub(super) fn number(self, row: &[u8]) -> u64 {
        self.value(row).unwrap_or(match self {
            Self::Narrow(_) => NONE.into(),
            Self::Wide(_) => u64::MAX,
            Self::Bits(_, count) => (1 << count) - 1,
        })
    }

    /// Returns the value in a row; `None` if all bits are set.
    #[inline]
    pub(super) fn value(self, row: &[u8]) -> Option<u64> {
        match self {
            Self::Narrow(at) => Some(u32_at(row, at)).filter(|&value| value != NONE).map(u64::from),
            Self::Wide(at) => Some(u64_at(row, at)).filter(|&value| value != u64::MAX),
            Self::Bits(bit, count) => {
                let mut bytes = [0; 8];
                let from = row.get(bit / 8..).unwrap_or_default();
                let length = from.len().min(8);
                bytes[..length].copy_from_slice(&from[..length]);
                let mask = (1 << count) - 1;
                Some(u64::from_le_bytes(bytes) >> (bit % 8) & mask).filter(|&value| value != mask)
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) schema: Schema,
    /// Indexed by schema column.
    places: Vec<Place>,
    /// In bytes.
    pub(super) row_size: usize,
    /// The number of recorded rows.
    pub(super) rows: u64,
}

struct Field {
    name: String,
    kind: u64,
    index: u64,
}

impl Layout {
    pub(super) fn read(schema: Schema, descriptor: &[u8]) -> Result<Self, Broken> {
        let archive = KeyedArchive::read(descriptor)?;
        let root = archive.top("root")?.ok_or_else(|| rule("root", "it is missing"))?;
        let event = required(root, "$0")?;
        let mut fields = required(event, "_fields")?.items()?.into_iter().map(field).collect::<Result<Vec<_>, _>>()?;
        fields.sort_by_key(|field| field.index);
        if fields.iter().zip(0..).any(|(field, index)| field.index != index) {
            return Err(rule("_fields", "their indices are not 0, 1, 2 …"));
        }
        let size = number(event, "_maxEventSize")?;
        if event.member("_variableSize")?.is_some_and(|node| node.boolean() == Ok(Some(true)))
            || number(event, "_minEventSize")? != size
        {
            return Err(rule("_maxEventSize", "rows are not all the same size"));
        }
        let identifier = text(event, "_identifier")?;
        if identifier != schema.name {
            return Err(rule("_identifier", format_args!("{identifier:?} is not the schema's {:?}", schema.name)));
        }
        let rows = number(required(event, "_props")?, "next_event_id")?;
        let (places, row_size) = places(&schema, &fields)?;
        if row_size as u64 != size {
            return Err(rule("_maxEventSize", format_args!("{size} is not the {row_size} bytes of the fields")));
        }
        Ok(Self { schema, places, row_size, rows })
    }

    /// Returns the place of a column, or the reason why it cannot be read: it is missing or has none of these types.
    pub(super) fn typed_column(&self, mnemonic: &str, types: &[&str]) -> Result<Place, String> {
        match self.column(mnemonic) {
            Some((place, known)) if types.contains(&known) => Ok(place),
            Some((_, other)) => Err(unknown(mnemonic, other)),
            None => Err(format!("it has no column {mnemonic}")),
        }
    }

    /// Returns the places and types of all columns, in order.
    pub(super) fn columns(&self) -> impl Iterator<Item = (Place, &str)> {
        self.places.iter().zip(&self.schema.columns).map(|(&place, column)| (place, column.engineering_type.as_str()))
    }

    /// Returns the place of the time that rows are sorted by.
    pub(super) fn time(&self) -> Option<Place> {
        let index = self.schema.columns.iter().position(|column| column.topology_field == TIME)?;
        Some(self.places[index])
    }

    /// Returns the place and type of the column with this mnemonic.
    pub(super) fn column(&self, mnemonic: &str) -> Option<(Place, &str)> {
        let index = self.schema.columns.iter().position(|column| column.mnemonic == mnemonic)?;
        Some((self.places[index], &self.schema.columns[index].engineering_type))
    }
}

/// The message for a column of an unknown type.
pub(super) fn unknown(mnemonic: &str, engineering_type: &str) -> String {
    format!("its column {mnemonic} has type {engineering_type}, which this version cannot read")
}

/// Computes the places of the columns, and the size of a row.
fn places(schema: &Schema, fields: &[Field]) -> Result<(Vec<Place>, usize), Broken> {
    let Some((first, fields)) = fields.split_first() else { return Err(rule("_fields", "there are none")) };
    let (mut size, topology) = topology(first.kind)
        .ok_or_else(|| rule("_fields", format_args!("the first one has type {}; expected 4 to 7", first.kind)))?;
    let mut places = Vec::with_capacity(schema.columns.len());
    let mut rest = fields.iter();
    for column in &schema.columns {
        if !column.topology_field.is_empty() {
            let field = &column.topology_field;
            let place = topology.iter().find(|(name, _)| name == field).map(|(_, place)| *place);
            places.push(place.ok_or_else(|| {
                let text = format_args!("the rows have no {field}, where the column {} should be", column.mnemonic);
                rule("_fields", text)
            })?);
            continue;
        }
        let field = rest.next().filter(|field| field.name == column.mnemonic).ok_or_else(|| {
            rule("_fields", format_args!("the field for column {} is missing or out of order", column.mnemonic))
        })?;
        places.push(match field.kind {
            1 => Place::Narrow(size),
            2 => Place::Wide(size),
            other => {
                return Err(rule("_fields", format_args!("{} has the unknown type {other}", field.name)));
            }
        });
        size += if field.kind == 1 { 4 } else { 8 };
    }
    if let Some(field) = rest.next() {
        return Err(rule("_fields", format_args!("{} is not a column of the schema", field.name)));
    }
    let shared = (0..places.len()).find(|&index| places[..index].contains(&places[index]));
    if let Some(index) = shared {
        let mnemonic = &schema.columns[index].mnemonic;
        return Err(rule("_fields", format_args!("column {mnemonic} occupies the same place as another column")));
    }
    Ok((places, size))
}

fn field(node: Node<'_>) -> Result<Field, Broken> {
    let inner = required(node, "$0")?;
    if number(inner, "_multi")? != 1 {
        return Err(rule("_multi", "a field is in a row more than once"));
    }
    Ok(Field { name: text(inner, "_name")?, kind: number(inner, "_type")?, index: number(inner, "_index")? })
}

fn rule(what: &str, rule: impl Display) -> Broken {
    Broken::rule(format_args!("{what}: {rule}"))
}

fn required<'a>(node: Node<'a>, name: &str) -> Result<Node<'a>, Broken> {
    node.member(name)?.ok_or_else(|| rule(name, "it is missing"))
}

fn number(node: Node<'_>, name: &str) -> Result<u64, Broken> {
    required(node, name)?.number()?.ok_or_else(|| rule(name, "it is not a number"))
}

fn text(node: Node<'_>, name: &str) -> Result<String, Broken> {
    Ok(required(node, name)?.text()?.ok_or_else(|| rule(name, "it is not a string"))?.into_owned())
}

pub(super) struct RunTable {
    pub(super) layout: Layout,
    /// The settings used to record the table.
    pub(super) attributes: Vec<(String, String)>,
    pub(super) folder: PathBuf,
}

impl RunTable {
    /// Describes the table as an export would.
    pub(super) fn as_exported(&self, run: u32) -> Table {
        let column = |column: &SchemaColumn| {
            let engineering_type = exported_type(&column.engineering_type).to_owned();
            let kind = ColumnKind::of_type(&engineering_type);
            Column { mnemonic: column.mnemonic.clone(), engineering_type, kind }
        };
        Table {
            run,
            schema: Some(self.layout.schema.name.clone()),
            kind: TableKind::Cpu,
            columns: self.layout.schema.columns.iter().map(column).collect(),
            ..Table::default()
        }
    }
}

pub(super) fn read_schema(files: &dyn Files, folder: &Path, room: &Room) -> Result<Schema, Error> {
    let path = folder.join("schema.xml");
    let bytes = Content::require(files, &path)?.read_all(room)?;
    Schema::read(&bytes).map_err(|broken| broken_file(&path, &broken))
}

/// Reads the row layout of the store in a folder. `schema` must belong to the table `name`.
pub(super) fn read_layout(
    files: &dyn Files,
    folder: &Path,
    name: &str,
    schema: Schema,
    room: &Room,
) -> Result<Layout, Error> {
    if schema.name != name {
        let path = folder.join("schema.xml");
        return Err(broken_whole(&path, format_args!("its schema is {:?}, but the table's is {name:?}", schema.name)));
    }
    let path = folder.join("bulkstore_descriptor");
    let bytes = Content::require(files, &path)?.read_all(room)?;
    Layout::read(schema, &bytes).map_err(|broken| broken_file(&path, &broken))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_rows_are_cut_at_their_bits() {
        // Bits 0 to 49: 730_819_705; bits 50 to 71: 1.
        let row = [0x79, 0x6c, 0x8f, 0x2b, 0, 0, 0x04, 0, 0, 6, 0, 0, 0];
        assert_eq!(Place::Bits(0, 50).value(&row), Some(730_819_705));
        assert_eq!(Place::Bits(50, 22).value(&row), Some(1));
        assert_eq!(Place::Narrow(9).value(&row), Some(6));
        let all = [0xff; 18];
        for (bit, count) in [(0, 50), (50, 50), (100, 22), (122, 22)] {
            assert_eq!(Place::Bits(bit, count).value(&all), None, "bit {bit}");
        }
        // Every bit of the value is set except its first or its last.
        for (bit, count) in [(0, 50), (50, 50), (100, 22), (122, 22)] {
            for unset in [bit, bit + count as usize - 1] {
                let mut row = all;
                row[unset / 8] &= !(1 << (unset % 8));
                let value = ((1 << count) - 1) & !(1 << (unset - bit));
                assert_eq!(Place::Bits(bit, count).value(&row), Some(value), "bit {unset}");
            }
        }
    }

    #[test]
    fn all_bits_are_no_value() {
        let row = [0xff; 12];
        assert_eq!(Place::Narrow(0).value(&row), None);
        assert_eq!(Place::Wide(4).value(&row), None);
        assert_eq!(Place::Narrow(0).value(&[0xff, 0xff, 0xff, 0x7f]), Some(0x7fff_ffff));
    }
}

//! A table of a run whose rows may be read.

use std::path::{Path, PathBuf};

use super::file::{Content, Room, broken_file, broken_whole};
use super::layout::Layout;
use super::schema::{Schema, SchemaColumn, exported_type};
use crate::error::Error;
use crate::files::Files;
use crate::recording::{Column, Table, TableKind};

/// A table with its folder.
pub(super) struct RunTable {
    pub(super) layout: Layout,
    pub(super) folder: PathBuf,
}

impl RunTable {
    /// The table as an export describes it.
    pub(super) fn as_exported(&self, run: u32) -> Table {
        let column = |column: &SchemaColumn| Column {
            mnemonic: column.mnemonic.clone(),
            engineering_type: exported_type(&column.engineering_type).to_owned(),
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

/// The schema of the store in a folder.
pub(super) fn read_schema(files: &dyn Files, folder: &Path, room: &Room) -> Result<Schema, Error> {
    let path = folder.join("schema.xml");
    let bytes = Content::require(files, &path)?.read_all(room)?;
    Schema::read(&bytes).map_err(|broken| broken_file(&path, &broken))
}

/// Reads the layout of the rows of the store in a folder; its schema must match the table.
pub(super) fn read_layout(
    files: &dyn Files,
    folder: &Path,
    name: &str,
    schema: Schema,
    room: &Room,
) -> Result<Layout, Error> {
    if schema.name != name {
        let path = folder.join("schema.xml");
        return Err(broken_whole(&path, format_args!("its schema is {:?}, and the table's is {name:?}", schema.name)));
    }
    let path = folder.join("bulkstore_descriptor");
    let bytes = Content::require(files, &path)?.read_all(room)?;
    Layout::read(schema, &bytes).map_err(|broken| broken_file(&path, &broken))
}

//! The open table, its columns, and the complete tables of a document.

use quick_xml::events::BytesStart;

use super::super::attributes::unescape;
use super::super::position::Fault;
use super::roles::{Roles, renamed_column};
use crate::readers::well_formed::attribute_of;
use crate::recording::{Column, ColumnKind, Table, TableKind, TableReader};

/// The open table, and the roles of its columns.
#[derive(Debug)]
pub(in crate::readers::export) struct OpenTable {
    pub(in crate::readers::export) reader: TableReader,
    pub(in crate::readers::export) roles: Roles,
}

/// The tables of the open document.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// The table of the current rows.
    pub(super) open: Option<OpenTable>,
    /// True if the next rows are read.
    pub(super) is_read: bool,
    /// True while the rows of a table are skipped.
    pub(super) is_skipping: bool,
    /// The number of open elements in the skipped rows.
    pub(super) skipped_depth: u32,
    /// The open column of a schema.
    pub(super) column: Column,
    columns: Vec<Column>,
    tables: Vec<Table>,
    /// The approximate memory of columns and tables, in bytes.
    bytes: u64,
}

impl Tables {
    pub(super) fn count(&self) -> usize {
        self.tables.len()
    }

    pub(super) fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// Starts a table. Returns true if it names its run, or has no attributes at all, which `xctrace` never writes.
    pub(super) fn start(&mut self, start: &BytesStart<'_>) -> bool {
        let run = number_in_xpath(start, "/run[");
        self.columns.clear();
        (self.is_read, self.is_skipping) = (false, false);
        let table = Table { run: run.unwrap_or(1), position: number_in_xpath(start, "/table["), ..Table::default() };
        self.open = Some(OpenTable { reader: TableReader::new(table), roles: Roles::default() });
        run.is_some() || start.attributes_raw().trim_ascii().is_empty()
    }

    pub(super) fn start_schema(&mut self, start: &BytesStart<'_>, at: u64) -> Result<(), Fault> {
        let Some(table) = &mut self.open else { return Ok(()) };
        if table.reader.table.schema.is_some() || table.reader.table.rows > 0 {
            return Err(Fault::malformed("a second schema in one table", at));
        }
        if let Some(name) = attribute_of(start, "name") {
            let schema = unescape(name, at)?.into_owned();
            self.bytes += (size_of::<Table>() + schema.len()) as u64;
            table.reader.table.schema = Some(schema);
        }
        Ok(())
    }

    /// The approximate memory of the columns and tables of this document, in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.bytes
    }

    pub(super) fn finish_column(&mut self) {
        let Column { mnemonic, engineering_type, kind } = &mut self.column;
        *kind = ColumnKind::of_type(engineering_type);
        self.bytes += (size_of::<Column>() + mnemonic.capacity() + engineering_type.capacity()) as u64;
        self.columns.push(std::mem::take(&mut self.column));
    }

    /// Completes the schema, which decides the kind of the table and the meaning of its cells.
    pub(super) fn finish_schema(&mut self, start_rows: impl FnOnce(&mut OpenTable, u32) -> bool) {
        let Some(table) = &mut self.open else { return };
        table.reader.table.columns = std::mem::take(&mut self.columns);
        self.is_read = start_rows(table, self.tables.len() as u32);
        (self.is_skipping, self.skipped_depth) = (!self.is_read, 0);
    }

    /// Returns the first missing column of a CPU table that also has unknown columns.
    pub(super) fn renamed_column(&self) -> Option<&'static str> {
        let table = &self.open.as_ref()?.reader.table;
        let schema = table.schema.as_deref().unwrap_or_default();
        // Excludes other tables whose rows become samples.
        let is_cpu = table.kind == TableKind::Cpu && TableKind::of_schema(schema) == TableKind::Cpu;
        if is_cpu { renamed_column(schema, &table.columns) } else { None }
    }

    /// Counts a row that is not read.
    pub(super) fn count_row(&mut self) {
        if let Some(table) = &mut self.open {
            table.reader.table.rows += 1;
        }
    }

    /// Completes the open table, if any, and returns it.
    pub(super) fn finish(&mut self) -> Option<&Table> {
        (self.is_read, self.is_skipping) = (false, false);
        self.tables.push(self.open.take()?.reader.table);
        self.tables.last()
    }

    /// Takes the complete tables.
    pub(super) fn take(&mut self) -> Vec<Table> {
        self.bytes = 0;
        std::mem::take(&mut self.tables)
    }
}

/// Returns the number after `key` in an XPath such as `//trace-toc[1]/run[1]/data[1]/table[9]`.
fn number_in_xpath(start: &BytesStart<'_>, key: &str) -> Option<u32> {
    let (_, rest) = attribute_of(start, "xpath")?.split_once(key)?;
    rest.split_once(']')?.0.parse().ok()
}

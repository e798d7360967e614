//! The tables of all documents.

use std::io::{self, Write};

use super::cells::Cells;
use super::writer::{Csv, Field};
use crate::recording::{DocumentContent, Table, TableKind};
use crate::report::Report;

const COLUMNS: &str = "input,run,table,schema,kind,rows,samples,rejected";

pub(super) fn write(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let records = report.recording.documents.iter().flat_map(|document| {
        let DocumentContent::Tables(tables) = &document.content else { return Vec::new() };
        let record = |table| {
            let &Table { run, position, ref schema, kind, rows, samples, ref rejected, .. } = table;
            let kind = if kind == TableKind::Cpu { "cpu" } else { "other" };
            [
                Field::from(&document.input),
                run.into(),
                position.into(),
                schema.as_deref().into(),
                kind.into(),
                rows.into(),
                samples.into(),
                rejected.total().into(),
            ]
        };
        tables.iter().map(record).collect()
    });
    Csv::write(COLUMNS.split(','), records, cells, out)
}

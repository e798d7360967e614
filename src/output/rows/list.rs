//! Lists of tables: their rows, times, and the reasons why rows cannot be read.

use std::collections::HashSet;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::json as rows_json;
use crate::output::json::{array, begin, field, redacted, values};
use crate::output::text::clock;
use crate::output::text::style::{Style, Tone, clean, fit};
use crate::output::text::table::{Column, KEPT, Row, Table, left_out};
use crate::redact::Redacted;
use crate::tables::{OutputColumn, SurveyedTable};
use crate::units::counted;

/// The name of an input, and its tables.
type InputTables = (String, Vec<SurveyedTable>);

/// The width of the column of table names.
const NAMES: usize = 20;
/// The columns with their ranks.
const COLUMNS: [(&str, u32); 5] = [("run", KEPT), ("rows", KEPT), ("rejected", KEPT), ("from", 2), ("to", 1)];

pub(in crate::output) fn write_text(inputs: &[InputTables], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (index, (name, tables)) in inputs.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", style.paint(Tone::Title, &fit(name, style.width)))?;
        write_tables(tables, style, out)?;
    }
    Ok(())
}

fn write_tables(tables: &[SurveyedTable], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut tables: Vec<&SurveyedTable> = tables.iter().collect();
    tables.sort_by_key(|table| (table.head.run, &table.head.schema));
    let mut seen = HashSet::new();
    let several: HashSet<_> =
        tables.iter().map(|table| (table.head.run, &table.head.schema)).filter(|key| !seen.insert(*key)).collect();
    let row = |table: &&SurveyedTable| {
        let schema = if table.head.schema.is_empty() { "details of a track" } else { &table.head.schema };
        let attributes = several.contains(&(table.head.run, &table.head.schema)).then(|| attributes(table));
        let tone = match (&table.unreadable, table.rejected.total(), table.rows) {
            (None, 0, Some(0)) => Some(Tone::Dim),
            (None, 0, _) => None,
            _ => Some(Tone::Warning),
        };
        Row { tone, ..Row::new(cells(table), schema, &attributes.unwrap_or_default()) }
    };
    let columns = COLUMNS.map(|(title, rank)| Column::new(title, rank)).to_vec();
    let text = Table::new(columns, "table", NAMES, tables.iter().map(row).collect());
    let mut text = text.without_empty(|cell| !cell.is_empty());
    let indented = Style { width: style.width.map(|width| width.saturating_sub(2)), ..*style };
    let hidden = text.fit(indented.width);
    writeln!(out, "  {}", text.header(&indented))?;
    for (table, row) in tables.iter().zip(&text.rows) {
        writeln!(out, "  {}", text.line(row, &indented))?;
        for reason in reasons(table) {
            style.write_wrapped(Some(Tone::Warning), 4, &reason, out)?;
        }
    }
    let note = left_out(&hidden, "JSON has all.");
    note.map_or(Ok(()), |note| style.write_wrapped(Some(Tone::Dim), 2, &note, out))
}

fn cells(table: &SurveyedTable) -> [String; 5] {
    let [from, to] = match table.span {
        Some((from, to)) => [from, to].map(|time| clock(time.as_nanos())),
        None => [String::new(), String::new()],
    };
    let rejected = table.rejected.total();
    let rejected = if rejected == 0 { String::new() } else { counted(rejected) };
    [table.head.run.to_string(), table.rows.map_or_else(|| "?".to_owned(), counted), rejected, from, to]
}

/// The attributes that distinguish tables with the same schema: `category: PointsOfInterest`.
fn attributes(table: &SurveyedTable) -> String {
    let pairs = table.head.attributes.iter().filter(|(_, value)| !value.is_empty());
    clean(&pairs.map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join(", "))
}

/// The reasons why the table or some of its rows cannot be read.
fn reasons(table: &SurveyedTable) -> Vec<String> {
    let unreadable = table.unreadable.iter().map(|reason| format!("cannot be read: {}", clean(reason)));
    let rejected = table.rejected.iter().map(|(reason, count)| format!("{} rejected: {reason}", counted(count)));
    unreadable.chain(rejected).collect()
}

pub(in crate::output) fn write_json(
    inputs: &[InputTables],
    redactions: Option<&[Redacted]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    begin(out, &json!({"format": "traceparse-tables", "version": 1}))?;
    array(out, "inputs", inputs.iter(), |(name, tables), out| {
        begin(out, &json!({"input": name}))?;
        array(out, "tables", tables.iter(), write_table)?;
        out.write_all(b"}")
    })?;
    redactions.map_or(Ok(()), |list| field(out, "redacted", &redacted(list)))?;
    out.write_all(b"}\n")
}

fn write_table(table: &SurveyedTable, out: &mut dyn Write) -> io::Result<()> {
    let head = &table.head;
    let attributes: Map<String, Value> =
        head.attributes.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    let reasons: Map<String, Value> =
        table.rejected.iter().map(|(reason, count)| (reason.name().to_owned(), json!(count))).collect();
    let columns: Vec<OutputColumn> = head.fields().iter().map(|field| OutputColumn::of(field, head)).collect();
    let facts = json!({
        "run": head.run,
        "position": head.position,
        "schema": head.schema,
        "attributes": attributes,
        "rows": table.rows,
        "rejected": {"total": table.rejected.total(), "reasons": reasons},
        "start_ns": table.span.map(|(start, _)| start.as_nanos()),
        "end_ns": table.span.map(|(_, end)| end.as_nanos()),
        "unreadable": table.unreadable,
    });
    begin(out, &facts)?;
    values(out, "columns", columns.iter().map(rows_json::column))?;
    out.write_all(b"}")
}

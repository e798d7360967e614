//! Lists of tables: their rows, times, and why rows cannot be read.

use std::collections::HashSet;
use std::io::{self, Write};

use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr;

use super::json as rows_json;
use crate::output::json::redacted;
use crate::output::text::clock;
use crate::output::text::style::{Style, Tone, clean, fit, wrap};
use crate::redact::Redacted;
use crate::tables::{OutputColumn, SurveyedTable};
use crate::units::counted;

/// The tables of an input, with its name.
type InputTables = (String, Vec<SurveyedTable>);

const TITLES: [&str; 5] = ["run", "rows", "rejected", "from", "to"];

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
    let has_rejected = tables.iter().any(|table| table.rejected.total() > 0);
    let is_shown = |column: usize| has_rejected || column != 2;
    let rows: Vec<[String; 5]> = tables.iter().map(|table| cells(table)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0).max(TITLES[column].len());
    let widths = [0, 1, 2, 3, 4].map(width);
    let left = |row: [&str; 5]| {
        let columns = (0..5).filter(|&column| is_shown(column));
        let aligned = columns.map(|column| format!("{:>width$}", row[column], width = widths[column]));
        aligned.collect::<Vec<_>>().join("  ")
    };
    writeln!(out, "{}", style.paint(Tone::Dim, &format!("  {}  table", left(TITLES))))?;
    let mut seen = HashSet::new();
    let several: HashSet<_> =
        tables.iter().map(|table| (table.head.run, &table.head.schema)).filter(|key| !seen.insert(*key)).collect();
    for (table, row) in tables.iter().zip(&rows) {
        let left = left(row.each_ref().map(String::as_str));
        let schema = if table.head.schema.is_empty() { "details of a track" } else { &table.head.schema };
        let attributes = several.contains(&(table.head.run, &table.head.schema)).then(|| attributes(table));
        let room = style.width.map(|width| width.saturating_sub(left.width() + 4));
        let what = fit(format!("{schema}  {}", attributes.unwrap_or_default()).trim_end(), room);
        let line = format!("  {left}  {what}");
        let tone = match (&table.unreadable, table.rejected.total(), table.rows) {
            (None, 0, Some(0)) => Tone::Dim,
            (None, 0, _) => {
                writeln!(out, "{line}")?;
                continue;
            }
            _ => Tone::Warning,
        };
        writeln!(out, "{}", style.paint(tone, &line))?;
        for reason in reasons(table) {
            let lines = wrap(&reason, 4, style.width);
            lines.iter().try_for_each(|line| writeln!(out, "{}", style.paint(Tone::Warning, line)))?;
        }
    }
    Ok(())
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

/// The settings that distinguish tables of one schema: `category: PointsOfInterest`.
fn attributes(table: &SurveyedTable) -> String {
    let pairs = table.head.attributes.iter().filter(|(_, value)| !value.is_empty());
    clean(&pairs.map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join(", "))
}

/// Why the table or some of its rows cannot be read.
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
    let input = |(name, tables): &InputTables| {
        let tables: Value = tables.iter().map(table).collect();
        json!({"input": name, "tables": tables})
    };
    let inputs: Value = inputs.iter().map(input).collect();
    let mut value = json!({"format": "traceparse-tables", "version": 1, "inputs": inputs});
    if let Some(list) = redactions {
        value["redacted"] = redacted(list);
    }
    serde_json::to_writer(&mut *out, &value)?;
    out.write_all(b"\n")
}

fn table(table: &SurveyedTable) -> Value {
    let head = &table.head;
    let attributes: Map<String, Value> =
        head.attributes.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    let reasons: Map<String, Value> =
        table.rejected.iter().map(|(reason, count)| (reason.name().to_owned(), json!(count))).collect();
    let columns: Vec<OutputColumn> = head.fields().iter().map(|field| OutputColumn::of(field, head)).collect();
    json!({
        "run": head.run,
        "position": head.position,
        "schema": head.schema,
        "attributes": attributes,
        "columns": rows_json::table("", &columns)["columns"],
        "rows": table.rows,
        "rejected": {"total": table.rejected.total(), "reasons": reasons},
        "start_ns": table.span.map(|(start, _)| start.as_nanos()),
        "end_ns": table.span.map(|(_, end)| end.as_nanos()),
        "unreadable": table.unreadable,
    })
}

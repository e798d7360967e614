//! The contents of a table of contents, or of an export.

use std::collections::BTreeMap;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::style::{Style, Tone, clean, fit, pad};
use super::summary::{cut_note, table_lines};
use crate::recording::{Document, DocumentContent, TableKind, Toc, TocRun, TocTable};

/// Writes the contents of each document.
///
/// # Errors
/// When `out` fails.
pub(crate) fn write_contents(documents: &[Document], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (index, document) in documents.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", style.paint(Tone::Title, &fit(&document.input, style.width)))?;
        cut_note(document, style, out)?;
        match &document.content {
            DocumentContent::Tables(tables) => table_lines(tables, style, out)?,
            DocumentContent::Toc(toc) => toc_runs(toc, style, out)?,
        }
    }
    Ok(())
}

fn toc_runs(toc: &Toc, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for run in &toc.runs {
        writeln!(out, "{}", style.paint(Tone::Title, &format!("run {}", run.number)))?;
        pairs("device", &run.device, style, out)?;
        pairs("host", &run.host_device, style, out)?;
        if run.is_all_processes {
            line("process", "all processes", style, out)?;
        }
        pairs("process", &run.process, style, out)?;
        for (name, value) in run.summary.iter().filter(|(_, value)| !value.is_empty()) {
            line(name, value, style, out)?;
        }
        match &run.unread {
            Some(reason) => line("damaged", reason, style, out)?,
            None => tables(run, style, out)?,
        }
    }
    Ok(())
}

/// One line for each pair; the first has the name.
fn pairs(name: &str, pairs: &[(String, String)], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (index, (key, value)) in pairs.iter().enumerate() {
        line(if index == 0 { name } else { "" }, &format!("{key}: {value}"), style, out)?;
    }
    Ok(())
}

fn line(name: &str, value: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let room = style.width.map(|width| width.saturating_sub(24));
    writeln!(out, "  {} {}", style.paint(Tone::Dim, &pad(&clean(name), 21)), fit(value, room))
}

/// The tables by schema, with their positions in an XPath, CPU tables first. If the number of rows is known, each table has a line, with
/// attributes that distinguish it from others with the same name.
fn tables(run: &TocRun, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut by_schema: BTreeMap<(bool, &str), Vec<&TocTable>> = BTreeMap::new();
    for table in &run.tables {
        let is_other = TableKind::of_schema(&table.schema) == TableKind::Other;
        by_schema.entry((is_other, &table.schema)).or_default().push(table);
    }
    let width = by_schema.keys().map(|(_, schema)| clean(schema).width()).max().unwrap_or(0);
    let has_positions = run.tables.iter().any(|table| table.position.is_some());
    let title = if has_positions { "tables, by position" } else { "tables" };
    writeln!(out, "  {}", style.paint(Tone::Dim, title))?;
    for ((is_other, schema), tables) in by_schema {
        let has_rows = tables.iter().any(|table| table.rows.is_some());
        let lines: Vec<String> = match has_rows || !tables.iter().all(|table| table.position.is_some()) {
            true => tables.iter().map(|table| format!("{}{}", about(table), differences(table, &tables))).collect(),
            false => vec![tables.iter().map(|table| about(table)).collect::<Vec<_>>().join(", ")],
        };
        for text in lines {
            let text = format!("    {}  {text}", pad(&clean(schema), width));
            if is_other {
                writeln!(out, "{}", style.paint(Tone::Dim, &fit(&text, style.width)))?;
            } else {
                writeln!(out, "{}  {}", text, style.paint(Tone::Weight, "CPU table"))?;
            }
        }
    }
    Ok(())
}

/// The position of a table, and the number of its rows, as far as they are known.
fn about(table: &TocTable) -> String {
    let rows = table.rows.map(|rows| if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") });
    match (table.position, rows) {
        (Some(position), Some(rows)) => format!("{position} ({rows})"),
        (Some(position), None) => position.to_string(),
        (None, rows) => rows.unwrap_or_else(|| "rows unknown".to_owned()),
    }
}

/// The attributes of a table that others of its name do not have like this.
fn differences(table: &TocTable, others: &[&TocTable]) -> String {
    let is_own =
        |(key, value): &&(String, String)| others.iter().any(|other| other.attribute(key) != Some(value.as_str()));
    let own = table.attributes.iter().filter(is_own).map(|(key, value)| format!("  {}: {}", clean(key), clean(value)));
    own.collect()
}

//! Intervals by name, as text, JSON or CSV. `docs/formats.md` describes every field.

use std::io::{self, Write};

use ::csv::Writer;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::csv::{Cells, record};
use super::text::{Style, Tone, fit};
use crate::recording::Interval;
use crate::report::{IntervalSummary, IntervalTotals};
use crate::units::{Nanos, Weight};

/// The version of the JSON. A new field keeps it; a field that goes or changes its meaning raises it.
const VERSION: u64 = 1;
/// The least width of a name.
const NAME: usize = 12;

/// Writes a line for each name.
pub(super) fn write_text(summary: &IntervalSummary, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let (header, rows) =
        (header(summary), summary.rows.iter().map(|row| cells(row, summary.quantiles.len())).collect::<Vec<_>>());
    let columns = header.len();
    let width = |index: usize| rows.iter().chain([&header]).map(|row| row[index].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let used: usize = widths.iter().map(|width| width + 2).sum();
    let room = style.width.map(|width| width.saturating_sub(used).max(NAME));
    for (index, row) in [&header].into_iter().chain(&rows).enumerate() {
        let line: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{}{cell}", " ".repeat(width - cell.width())))
            .collect();
        let name = match index.checked_sub(1) {
            None => "name".to_owned(),
            Some(row) => label(&summary.rows[row]),
        };
        let line = format!("{}  {}", line.join("  "), fit(&name, room));
        writeln!(out, "{}", if index == 0 { style.paint(Tone::Dim, &line) } else { line })?;
    }
    Ok(())
}

/// The name of a row, with what its intervals are unless they are signposts.
fn label(row: &IntervalTotals) -> String {
    let name = row.name.as_deref().unwrap_or("(no name)");
    if &*row.table == "os-signpost" { name.to_owned() } else { format!("{name} ({})", row.table) }
}

fn header(summary: &IntervalSummary) -> Vec<String> {
    let quantiles = summary.quantiles.iter().map(|quantile| quantile.name().to_uppercase());
    ["count", "total"]
        .map(str::to_owned)
        .into_iter()
        .chain(quantiles)
        .chain(["max", "CPU of thread", "CPU of all"].map(str::to_owned))
        .collect()
}

fn cells(row: &IntervalTotals, count: usize) -> Vec<String> {
    let time =
        |time: Option<Nanos>| time.map_or_else(|| "–".to_owned(), |time| Weight::nanos(time.as_nanos()).to_string());
    let weight = |weight: Option<Weight>| weight.map_or_else(|| "–".to_owned(), |weight| weight.to_string());
    let open = if row.open > 0 { format!(" + {} open", row.open) } else { String::new() };
    let quantiles = (0..count).map(|index| time(row.quantiles.get(index).and_then(Interval::duration)));
    let longest = time(row.longest.as_ref().and_then(Interval::duration));
    let mut cells = vec![format!("{}{open}", row.count), time(Some(row.total))];
    cells.extend(quantiles);
    cells.extend([longest, weight(row.thread_cpu), weight(row.cpu)]);
    cells
}

/// Writes the same as one document.
pub(super) fn write_json(summary: &IntervalSummary, out: &mut dyn Write) -> io::Result<()> {
    let row = |row: &IntervalTotals| {
        let quantiles = summary.quantiles.iter().zip(&row.quantiles);
        let quantiles: serde_json::Map<String, Value> =
            quantiles.map(|(quantile, interval)| (quantile.name(), instance(interval))).collect();
        json!({
            "table": &*row.table,
            "name": row.name.as_deref(),
            "count": row.count,
            "open": row.open,
            "total_ns": row.total.as_nanos(),
            "quantiles": quantiles,
            "longest": row.longest.as_ref().map(instance),
            "thread_cpu": row.thread_cpu.map(cpu),
            "cpu": row.cpu.map(cpu),
        })
    };
    let rows: Value = summary.rows.iter().map(row).collect();
    let document = json!({"format": "traceparse-intervals", "version": VERSION, "intervals": rows});
    writeln!(out, "{document}")
}

fn cpu(weight: Weight) -> Value {
    json!({"weight": weight.value, "unit": weight.unit.name()})
}

/// An interval that has the duration of a percentile.
fn instance(interval: &Interval) -> Value {
    json!({
        "duration_ns": interval.duration().map(Nanos::as_nanos),
        "run": interval.run,
        "start_ns": interval.start.as_nanos(),
        "process": interval.process.as_deref(),
        "pid": interval.pid,
        "tid": interval.tid,
    })
}

/// Writes a row for each name.
pub(super) fn write_csv(summary: &IntervalSummary, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = Writer::from_writer(out);
    let quantiles = summary.quantiles.iter().map(|quantile| format!("{}_ns", quantile.name()));
    let header = ["table", "name", "count", "open", "total_ns"].map(str::to_owned).into_iter().chain(quantiles);
    let header = header.chain(["max_ns", "unit", "thread_cpu", "cpu"].map(str::to_owned));
    let header: Vec<String> = header.collect();
    record(&mut csv, &header.iter().map(String::as_str).collect::<Vec<_>>())?;
    for row in &summary.rows {
        let nanos = |interval: Option<&Interval>| {
            interval.and_then(Interval::duration).map_or_else(String::new, |length| length.as_nanos().to_string())
        };
        let number = |weight: Option<Weight>| weight.map_or_else(String::new, |weight| weight.value.to_string());
        let unit = row.cpu.map_or("", |weight| weight.unit.name());
        let name = cells.text(row.name.as_deref().unwrap_or_default()).into_owned();
        let table = cells.text(&row.table).into_owned();
        let mut fields =
            vec![table, name, row.count.to_string(), row.open.to_string(), row.total.as_nanos().to_string()];
        fields.extend((0..summary.quantiles.len()).map(|index| nanos(row.quantiles.get(index))));
        fields.extend([nanos(row.longest.as_ref()), unit.to_owned(), number(row.thread_cpu), number(row.cpu)]);
        record(&mut csv, &fields.iter().map(String::as_str).collect::<Vec<_>>())?;
    }
    csv.flush()
}

//! Intervals by name, as text, JSON or CSV. `docs/formats.md` describes every field.

use std::io::{self, Write};

use ::csv::Writer;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::csv::{Cells, record};
use super::text::{Style, Tone, fit};
use crate::intervals::{IntervalInstance, IntervalOutcome, IntervalSummary, IntervalTotals, SwiftTask, SwiftTasks};
use crate::stats::Quantile;
use crate::units::{Nanos, Weight, counted, several};

/// The version of the JSON. A new field keeps it; a field that goes or changes its meaning raises it.
const VERSION: u64 = 1;
/// Swift tasks that text shows, those that ran longest.
const TASKS: usize = 10;
/// A percentile of too few intervals.
const LACKING: &str = "n/a";
/// What was not recorded.
const UNKNOWN: &str = "–";
/// The least width of a name.
const NAME: usize = 12;

/// Writes a line for each name, the Swift tasks that ran longest, and the outcomes of rules.
pub(super) fn write_text(summary: &IntervalSummary, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<(Vec<String>, String)> = summary.rows.iter().map(|row| (cells(row, summary), label(row))).collect();
    // What no row has takes the room of names.
    let is_told = |cell: &str| cell != LACKING && cell != UNKNOWN;
    let is_shown = |column: &usize| rows.is_empty() || rows.iter().any(|(cells, _)| is_told(&cells[*column]));
    let header = header(summary);
    let shown: Vec<usize> = (0..header.len()).filter(is_shown).collect();
    let only = |cells: &[String]| shown.iter().map(|&column| cells[column].clone()).collect::<Vec<_>>();
    let rows: Vec<_> = rows.iter().map(|(cells, name)| (only(cells), name.clone())).collect();
    write_table(&only(&header), "name", &rows, style, out)?;
    let unsampled = summary.rows.iter().any(|row| row.cpu.is_some() && row.unsampled > Some(Nanos::default()));
    let unsampled = unsampled.then(|| "≥: parts of them are outside of the sampled time".to_owned());
    // Their CPU time is that of all of them, even if it is the same.
    let is_several = |row: &IntervalTotals| row.cpu.is_some() && row.busy.is_some_and(|busy| busy < row.total);
    let overlapping = summary.rows.iter().any(is_several);
    let overlapping = overlapping
        .then(|| "intervals of one name overlap: their total and CPU count shared time more than once".to_owned());
    for legend in [needed(summary), unsampled, overlapping].into_iter().flatten() {
        writeln!(out, "{}", style.paint(Tone::Dim, &fit(&legend, style.width)))?;
    }
    let SwiftTasks { tasks, most_alive } = &summary.tasks;
    if !tasks.is_empty() {
        let alive = counted(most_alive);
        let title = format!("{}; at most {alive} alive at the same time", several(tasks.len(), "Swift task"));
        writeln!(out, "\n{}", style.paint(Tone::Title, &title))?;
        let header = ["running", "enqueued", "suspended", "waiting", "alive", "priority"].map(str::to_owned);
        let rows: Vec<(Vec<String>, String)> = tasks.iter().take(TASKS).map(task_cells).collect();
        write_table(&header, "task", &rows, style, out)?;
        if tasks.len() > TASKS {
            writeln!(out, "{}", style.paint(Tone::Dim, &format!("… {} more", counted(tasks.len() - TASKS))))?;
        }
    }
    write_alerts(summary, style, out)
}

/// Writes columns of numbers, and one of names.
fn write_table(
    header: &[String],
    name: &str,
    rows: &[(Vec<String>, String)],
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width =
        |index: usize| rows.iter().map(|(row, _)| row[index].width()).max().unwrap_or(0).max(header[index].width());
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let used: usize = widths.iter().map(|width| width + 2).sum();
    let room = style.width.map(|width| width.saturating_sub(used).max(NAME));
    let line = |cells: &[String], name: &str| {
        let aligned =
            cells.iter().zip(&widths).map(|(cell, width)| format!("{}{cell}", " ".repeat(width - cell.width())));
        format!("{}  {}", aligned.collect::<Vec<_>>().join("  "), fit(name, room))
    };
    writeln!(out, "{}", style.paint(Tone::Dim, &line(header, name)))?;
    rows.iter().try_for_each(|(cells, name)| writeln!(out, "{}", line(cells, name)))
}

/// What a task did, and its name.
fn task_cells(task: &SwiftTask) -> (Vec<String>, String) {
    let time = |time: Nanos| Weight::nanos(time.as_nanos()).to_string();
    let waiting = task.time_in("Waiting").saturating_add(task.time_in("Continuation"));
    let times = [task.time_in("Running"), task.time_in("Enqueued"), task.time_in("Suspended"), waiting].map(time);
    let alive = task.end.map_or_else(|| "to the end".to_owned(), |end| time(end.since(task.start)));
    let priority = task.priority.as_deref().unwrap_or("–").to_owned();
    let process = task.process.as_deref().unwrap_or_default();
    (times.into_iter().chain([alive, priority]).collect(), format!("{} of {process}", task.id))
}

/// Writes the outcome of each rule, and the number of all runs.
fn write_alerts(summary: &IntervalSummary, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if let Some(runs) = summary.runs {
        writeln!(out, "\n{}", style.paint(Tone::Dim, &format!("of {}", several(runs, "run"))))?;
    }
    for IntervalOutcome { rule, value, count, is_fired } in &summary.alerts {
        let (tone, word) = match is_fired {
            Some(true) => (Tone::Bad, "FIRED"),
            Some(false) => (Tone::Good, "ok"),
            None => (Tone::Warning, "undecided"),
        };
        let value = value.map_or_else(String::new, |value| format!("{}, ", Weight::nanos(value.round() as u64)));
        let line = format!("{rule}: {value}of {}", several(count, "interval"));
        writeln!(
            out,
            "{} {}",
            style.paint(tone, &format!("{word:<9}")),
            fit(&line, style.width.map(|width| width.saturating_sub(10)))
        )?;
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
    let first: &[&str] = if summary.runs.is_some() { &["runs", "count", "total"] } else { &["count", "total"] };
    let unions: &[&str] = if summary.shows_unions { &["any open", "gaps", "idle", "longest gap"] } else { &[] };
    let cpu: &[&str] = if summary.runs.is_none() { &["CPU of thread", "CPU of all"] } else { &[] };
    let owned = |names: &'static [&'static str]| names.iter().map(|name| (*name).to_owned());
    owned(first).chain(quantiles).chain(owned(&["max"])).chain(owned(unions)).chain(owned(cpu)).collect()
}

fn cells(row: &IntervalTotals, summary: &IntervalSummary) -> Vec<String> {
    let time = |time: Option<Nanos>| {
        time.map_or_else(|| UNKNOWN.to_owned(), |time| Weight::nanos(time.as_nanos()).to_string())
    };
    let of = |instance: Option<&IntervalInstance>| time(instance.map(|instance| instance.duration));
    // A part that was not sampled may have more.
    let least = if row.unsampled > Some(Nanos::default()) { "≥ " } else { "" };
    let weight =
        |weight: Option<Weight>| weight.map_or_else(|| UNKNOWN.to_owned(), |weight| format!("{least}{weight}"));
    let percentile = |(index, quantile): (usize, &Quantile)| match quantile.lacks(row.count) {
        Some(_) if row.count > 0 => LACKING.to_owned(),
        _ => of(row.quantiles.get(index)),
    };
    let open = if row.open > 0 { format!(" + {} open", counted(row.open)) } else { String::new() };
    let mut cells = Vec::new();
    cells.extend(summary.runs.map(|_| counted(row.runs)));
    cells.extend([format!("{}{open}", counted(row.count)), time(Some(row.total))]);
    cells.extend(summary.quantiles.iter().enumerate().map(percentile));
    cells.push(of(row.longest.as_ref()));
    if summary.shows_unions {
        cells.extend([time(row.busy), counted(row.gaps), time(Some(row.idle)), of(row.longest_gap.as_ref())]);
    }
    if summary.runs.is_none() {
        cells.extend([weight(row.thread_cpu), weight(row.cpu)]);
    }
    cells
}

/// How many intervals the percentiles need that are not shown, if there are such.
fn needed(summary: &IntervalSummary) -> Option<String> {
    let lacks = |quantile: &Quantile| {
        let few = summary.rows.iter().find(|row| row.count > 0 && quantile.lacks(row.count).is_some())?;
        Some(format!("{} needs {}", quantile.name().to_uppercase(), counted(quantile.lacks(few.count)?)))
    };
    let lacking: Vec<String> = summary.quantiles.iter().filter_map(lacks).collect();
    (!lacking.is_empty()).then(|| format!("n/a: too few intervals; {}", lacking.join(", ")))
}

/// Writes the same as one document.
pub(super) fn write_json(summary: &IntervalSummary, out: &mut dyn Write) -> io::Result<()> {
    let row = |row: &IntervalTotals| {
        let quantiles = summary.quantiles.iter().zip(&row.quantiles);
        let percentile = |(quantile, interval): (&Quantile, &IntervalInstance)| {
            let mut value = instance(interval);
            value["needed"] = json!(quantile.lacks(row.count));
            (quantile.name(), value)
        };
        let quantiles: serde_json::Map<String, Value> = quantiles.map(percentile).collect();
        json!({
            "table": &*row.table,
            "name": row.name.as_deref(),
            "runs": row.runs,
            "count": row.count,
            "open": row.open,
            "total_ns": row.total.as_nanos(),
            "quantiles": quantiles,
            "longest": row.longest.as_ref().map(instance),
            "busy_ns": row.busy.map(Nanos::as_nanos),
            "gaps": row.gaps,
            "idle_ns": row.idle.as_nanos(),
            "longest_gap": row.longest_gap.as_ref().map(gap),
            "thread_cpu": row.thread_cpu.map(cpu),
            "cpu": row.cpu.map(cpu),
            "unsampled_ns": row.unsampled.map(Nanos::as_nanos),
        })
    };
    let rows: Value = summary.rows.iter().map(row).collect();
    let alerts: Value = summary.alerts.iter().map(outcome).collect();
    let document = json!({
        "format": "traceparse-intervals",
        "version": VERSION,
        "runs": summary.runs,
        "intervals": rows,
        "alerts": alerts,
        "tasks": summary.tasks.tasks.iter().map(task).collect::<Value>(),
        "most_tasks_alive": summary.tasks.most_alive,
    });
    writeln!(out, "{document}")
}

fn cpu(weight: Weight) -> Value {
    json!({"weight": weight.value, "unit": weight.unit.name()})
}

fn outcome(outcome: &IntervalOutcome) -> Value {
    let state = match outcome.is_fired {
        Some(true) => "fired",
        Some(false) => "quiet",
        None => "undecided",
    };
    json!({"rule": outcome.rule.to_string(), "state": state, "value_ns": outcome.value, "count": outcome.count})
}

fn task(task: &SwiftTask) -> Value {
    let states = task.states.iter().map(|(state, time)| (state.to_string(), json!(time.as_nanos())));
    json!({
        "run": task.run,
        "process": task.process.as_deref(),
        "pid": task.pid,
        "id": task.id,
        "priority": task.priority.as_deref(),
        "start_ns": task.start.as_nanos(),
        "end_ns": task.end.map(Nanos::as_nanos),
        "states_ns": states.collect::<serde_json::Map<String, Value>>(),
    })
}

/// A time in which no interval was open.
fn gap(gap: &IntervalInstance) -> Value {
    json!({
        "duration_ns": gap.duration.as_nanos(),
        "input": gap.input.as_deref(),
        "run": gap.run,
        "start_ns": gap.start.as_nanos(),
    })
}

/// An interval that has the duration of a percentile.
fn instance(instance: &IntervalInstance) -> Value {
    json!({
        "duration_ns": instance.duration.as_nanos(),
        "input": instance.input.as_deref(),
        "run": instance.run,
        "start_ns": instance.start.as_nanos(),
        "pid": instance.pid,
        "tid": instance.tid,
    })
}

/// Writes a row for each name.
pub(super) fn write_csv(summary: &IntervalSummary, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = Writer::from_writer(out);
    let quantiles = summary.quantiles.iter().map(|quantile| format!("{}_ns", quantile.name()));
    let header = ["table", "name", "runs", "count", "open", "total_ns"].map(str::to_owned).into_iter().chain(quantiles);
    let unions: &[&str] = if summary.shows_unions { &["busy_ns", "gaps", "idle_ns", "longest_gap_ns"] } else { &[] };
    let last = ["max_ns"].iter().chain(unions).chain(&["unit", "thread_cpu", "cpu", "unsampled_ns"]);
    let header = header.chain(last.map(|name| (*name).to_owned()));
    let header: Vec<String> = header.collect();
    record(&mut csv, &header.iter().map(String::as_str).collect::<Vec<_>>())?;
    for row in &summary.rows {
        let nanos = |instance: Option<&IntervalInstance>| {
            instance.map_or_else(String::new, |instance| instance.duration.as_nanos().to_string())
        };
        let number = |weight: Option<Weight>| weight.map_or_else(String::new, |weight| weight.value.to_string());
        let unit = row.cpu.map_or("", |weight| weight.unit.name());
        let name = cells.text(row.name.as_deref().unwrap_or_default()).into_owned();
        let table = cells.text(&row.table).into_owned();
        let counts = [row.runs, row.count, row.open, row.total.as_nanos()].map(|count| count.to_string());
        let mut fields: Vec<String> = [table, name].into_iter().chain(counts).collect();
        let supported = |(index, quantile): (usize, &Quantile)| {
            nanos(row.quantiles.get(index).filter(|_| quantile.lacks(row.count).is_none()))
        };
        fields.extend(summary.quantiles.iter().enumerate().map(supported));
        fields.push(nanos(row.longest.as_ref()));
        if summary.shows_unions {
            let busy = row.busy.map_or_else(String::new, |busy| busy.as_nanos().to_string());
            let idle = row.idle.as_nanos().to_string();
            fields.extend([busy, row.gaps.to_string(), idle, nanos(row.longest_gap.as_ref())]);
        }
        let unsampled = row.unsampled.map_or_else(String::new, |unsampled| unsampled.as_nanos().to_string());
        fields.extend([unit.to_owned(), number(row.thread_cpu), number(row.cpu), unsampled]);
        record(&mut csv, &fields.iter().map(String::as_str).collect::<Vec<_>>())?;
    }
    csv.flush()
}

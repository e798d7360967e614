//! Intervals by name, as text, JSON or CSV. `docs/formats.md` describes every field.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::alerts::{self, AlertLine};
use super::csv::{Cells, Csv, Field};
use super::json::{begin, values};
use super::text::table::{Column, FUNCTIONS, IN_FORMATS, KEPT, Row, Table, write_left_out};
use super::text::{Style, Tone};
use crate::alert::AlertOutcome;
use crate::intervals::{IntervalInstance, IntervalSummary, IntervalTotals, SwiftTask};
use crate::settings::PROCESS;
use crate::stats::Quantile;
use crate::units::{Nanos, Weight, counted, first_of, several};

/// The version of the JSON. Added fields keep the version; removed fields and changed meanings increase it.
const VERSION: u64 = 1;
/// The maximum number of Swift tasks in text: those that ran longest.
const TASKS: usize = 10;
/// The cell of a percentile for which there are too few intervals.
const LACKING: &str = "n/a";
/// The cell for a value that was not recorded.
const UNKNOWN: &str = "–";
/// The width reserved for task names, if they need it, before columns are dropped.
const NAME: usize = 12;

/// Writes a line for each table and name, the Swift tasks that ran longest, and the outcomes of rules.
pub(super) fn write_text(summary: &IntervalSummary, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    // No two rows have the same table and name, so this counts the tables that share a name.
    let mut tables: HashMap<_, usize> = HashMap::new();
    summary.rows.iter().for_each(|row| *tables.entry(&row.name).or_default() += 1);
    let row = |row: &IntervalTotals| interval_row(row, tables[&row.name] > 1, summary);
    let rows: Vec<Row> = summary.rows.iter().map(row).collect();
    // Columns without a value in any row are dropped, which leaves more room for names.
    let is_told = |cell: &str| cell != LACKING && cell != UNKNOWN;
    if rows.is_empty() && summary.tasks.is_empty() {
        writeln!(out, "no intervals: no table here has a row with a start and a duration")?;
        return write_alerts(summary, style, out);
    }
    let mut table = Table::new(columns(summary), "name", FUNCTIONS, rows).without_empty(is_told);
    let left_out = table.write_rows(style, out)?;
    write_left_out(&left_out, IN_FORMATS, style, out)?;
    let unsampled = summary.rows.iter().any(|row| row.cpu.is_some() && row.unsampled > Some(Nanos::default()));
    let unsampled = unsampled.then(|| "≥: some intervals are partly outside the sampled time".to_owned());
    // Overlapping intervals all include the CPU time that they share, so their sum counts it more than once.
    let is_several = |row: &IntervalTotals| {
        row.cpu.is_some() && row.busy.is_some_and(|busy| row.total.is_none_or(|total| busy < total))
    };
    let overlapping = summary.rows.iter().any(is_several);
    let shared = (!summary.shared_by.is_empty()).then(|| {
        format!(
            "rows add up intervals of several processes; {PROCESS} takes a name or a number: {}",
            first_of(&summary.shared_by)
        )
    });
    let overlapping = overlapping.then(|| {
        "intervals of one name overlap: shared time is counted more than once in the total and the CPU time".to_owned()
    });
    for legend in [needed(summary, &table, &left_out), unsampled, shared, overlapping].into_iter().flatten() {
        style.write_wrapped(Some(Tone::Dim), 0, &legend, out)?;
    }
    let tasks = &summary.tasks;
    if !tasks.is_empty() {
        let alive = counted(SwiftTask::most_alive(tasks));
        let title = format!("{}; at most {alive} alive at the same time", several(tasks.len(), "Swift task"));
        writeln!(out)?;
        style.write_wrapped(Some(Tone::Title), 0, &title, out)?;
        let titles =
            [("running", KEPT), ("enqueued", 2), ("suspended", 1), ("waiting", 3), ("alive", KEPT), ("priority", 4)];
        let columns = titles.map(|(title, rank)| Column::new(title, rank)).to_vec();
        let more = tasks.len().checked_sub(TASKS).filter(|&more| more > 0);
        let more = more.map(|more| Row::more([""; 0], &format!("… {} more", counted(more))));
        let rows = tasks.iter().take(TASKS).map(task_row).chain(more).collect();
        Table::new(columns, "task", NAME, rows).write(IN_FORMATS, style, out)?;
    }
    write_alerts(summary, style, out)
}

/// A row with the times and the priority of a task, named by its number and process.
fn task_row(task: &SwiftTask) -> Row {
    let time = |time: Nanos| Weight::nanos(time.as_nanos()).to_string();
    let waiting = task.time_in("Waiting").saturating_add(task.time_in("Continuation"));
    let times = [task.time_in("Running"), task.time_in("Enqueued"), task.time_in("Suspended"), waiting].map(time);
    let alive = task.end.map_or_else(|| "to the end".to_owned(), |end| time(end.since(task.start)));
    let priority = task.priority.as_deref().unwrap_or("–").to_owned();
    let process = task.process.as_deref().unwrap_or_default();
    Row::new(times.into_iter().chain([alive, priority]), &format!("{} of {process}", task.id), "")
}

/// Writes the numbers of runs and unmeasured inputs, if there were several inputs, and the outcome of each rule.
fn write_alerts(summary: &IntervalSummary, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if let Some(runs) = summary.runs {
        let failed = match summary.unmeasured {
            0 => String::new(),
            failed => format!("; {} could not be measured", several(failed, "input")),
        };
        writeln!(out, "\n{}", style.paint(Tone::Dim, &format!("measured in {}{failed}", several(runs, "run"))))?;
    }
    summary.alerts.iter().try_for_each(|outcome| writeln!(out, "{}", alert_line(outcome).lines("", style)))
}

fn alert_line(outcome: &AlertOutcome) -> AlertLine {
    let time = |value: f64| Weight::nanos(value.round() as u64).to_string();
    AlertLine::new(outcome, None, Some(alerts::found(outcome, "interval", &time, "", None)))
}

impl IntervalSummary {
    /// A line for each rule that fired or is undecided.
    pub fn alert_lines(&self) -> Vec<String> {
        self.alerts.iter().filter_map(|outcome| alert_line(outcome).log()).collect()
    }
}

/// The numbers and the name of a row, with its table unless it is a signpost. If several tables share the name, the table is appended to the name
/// instead of shown as its owner, since names are cut last.
fn interval_row(row: &IntervalTotals, is_shared: bool, summary: &IntervalSummary) -> Row {
    let name = row.name.as_deref().unwrap_or("(no name)");
    let table = if &*row.table == "os-signpost" { "" } else { &row.table };
    match is_shared && !table.is_empty() {
        true => Row::new(cells(row, summary), &format!("{name} ({table})"), ""),
        false => Row::new(cells(row, summary), name, table),
    }
}

/// If space is short, percentiles are dropped first: those that the fewest rows have, and among equals those listed first. The columns that only
/// some tables have are next.
fn columns(summary: &IntervalSummary) -> Vec<Column> {
    let values = |quantile: &Quantile| summary.rows.iter().filter(|row| quantile.lacks(row.count).is_none()).count();
    let values: Vec<usize> = summary.quantiles.iter().map(values).collect();
    let rank =
        |index: usize| (0..values.len()).filter(|&other| (values[other], other) < (values[index], index)).count();
    let quantiles = summary.quantiles.iter().enumerate();
    let quantiles = quantiles.map(|(index, quantile)| (quantile.name().to_uppercase(), rank(index) as u32));
    let first: &[&str] = if summary.runs.is_some() { &["runs", "count", "total"] } else { &["count", "total"] };
    let unions: &[&str] = if summary.shows_unions { &["any open", "gaps", "idle", "longest gap"] } else { &[] };
    let cpu: &[&str] = if summary.runs.is_none() { &["CPU of thread", "CPU of all"] } else { &[] };
    let owned = |names: &'static [&'static str], rank| names.iter().map(move |name| ((*name).to_owned(), rank));
    let last = owned(&["max"], KEPT).chain(owned(unions, 100)).chain(owned(cpu, 101));
    owned(first, KEPT).chain(quantiles).chain(last).map(|(title, rank)| Column::new(&title, rank)).collect()
}

fn cells(row: &IntervalTotals, summary: &IntervalSummary) -> Vec<String> {
    let time = |time: Option<Nanos>| {
        time.map_or_else(|| UNKNOWN.to_owned(), |time| Weight::nanos(time.as_nanos()).to_string())
    };
    let of = |instance: Option<&IntervalInstance>| time(instance.map(|instance| instance.duration));
    // Parts that were not sampled may add to the value.
    let least = if row.unsampled > Some(Nanos::default()) { "≥ " } else { "" };
    let weight =
        |weight: Option<Weight>| weight.map_or_else(|| UNKNOWN.to_owned(), |weight| format!("{least}{weight}"));
    let percentile = |(index, quantile): (usize, &Quantile)| match quantile.lacks(row.count) {
        Some(_) if row.count > 0 => LACKING.to_owned(),
        _ => of(row.quantiles.get(index)),
    };
    let total = row.total.map_or_else(|| format!("> {}", Weight::nanos(u64::MAX)), |total| time(Some(total)));
    let open = if row.open > 0 { format!(" + {} open", counted(row.open)) } else { String::new() };
    let mut cells = Vec::new();
    cells.extend(summary.runs.map(|_| counted(row.runs)));
    cells.extend([format!("{}{open}", counted(row.count)), total]);
    cells.extend(summary.quantiles.iter().enumerate().map(percentile));
    cells.push(of(row.longest.as_ref()));
    if summary.shows_unions {
        cells.extend([time(row.busy), counted(row.gaps), time(row.idle), of(row.longest_gap.as_ref())]);
    }
    if summary.runs.is_none() {
        cells.extend([weight(row.thread_cpu), weight(row.cpu)]);
    }
    cells
}

/// A note on the number of intervals that the missing percentiles need, if any are missing.
fn needed(summary: &IntervalSummary, table: &Table, left_out: &[String]) -> Option<String> {
    let is_left_out = |title: &String| left_out.contains(title);
    let lacks = |quantile: &Quantile| {
        let title = Some(quantile.name().to_uppercase()).filter(|title| !is_left_out(title))?;
        let few = summary.rows.iter().find(|row| row.count > 0 && quantile.lacks(row.count).is_some())?;
        Some(format!("{title} needs {}", counted(quantile.lacks(few.count)?)))
    };
    let lacking: Vec<String> = summary.quantiles.iter().filter_map(lacks).collect();
    let what =
        if table.has_cell(LACKING) { "n/a: too few intervals" } else { "too few intervals for more percentiles" };
    (!lacking.is_empty()).then(|| format!("{what}; {}", lacking.join(", ")))
}

/// Writes the summary as one JSON document.
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
            "total_ns": row.total.map(Nanos::as_nanos),
            "quantiles": quantiles,
            "longest": row.longest.as_ref().map(instance),
            "busy_ns": row.busy.map(Nanos::as_nanos),
            "gaps": row.gaps,
            "idle_ns": row.idle.map(Nanos::as_nanos),
            "longest_gap": row.longest_gap.as_ref().map(gap),
            "thread_cpu": row.thread_cpu.map(cpu),
            "cpu": row.cpu.map(cpu),
            "unsampled_ns": row.unsampled.map(Nanos::as_nanos),
        })
    };
    let facts = json!({
        "format": "traceparse-intervals",
        "version": VERSION,
        "runs": summary.runs,
        "unmeasured": summary.runs.map(|_| summary.unmeasured),
        "alerts": summary.alerts.iter().map(alerts::json).collect::<Value>(),
        "shared_by": summary.shared_by,
        "most_tasks_alive": SwiftTask::most_alive(&summary.tasks),
    });
    begin(out, &facts)?;
    values(out, "intervals", summary.rows.iter().map(row))?;
    values(out, "tasks", summary.tasks.iter().map(task))?;
    out.write_all(b"}\n")
}

fn cpu(weight: Weight) -> Value {
    json!({"weight": weight.value, "unit": weight.unit.name()})
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

/// A period in which no interval was open.
fn gap(gap: &IntervalInstance) -> Value {
    json!({
        "duration_ns": gap.duration.as_nanos(),
        "input": gap.input.as_deref(),
        "run": gap.run,
        "start_ns": gap.start.as_nanos(),
    })
}

/// An interval whose duration is a percentile.
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

/// Writes a CSV row for each name.
pub(super) fn write_csv(summary: &IntervalSummary, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let quantiles = summary.quantiles.iter().map(|quantile| format!("{}_ns", quantile.name()));
    let unions: &[&str] = if summary.shows_unions { &["busy_ns", "gaps", "idle_ns", "longest_gap_ns"] } else { &[] };
    let header = ["table", "name", "runs", "count", "open", "total_ns"].map(Field::from).into_iter();
    let last = ["max_ns"].iter().chain(unions).chain(&["unit", "thread_cpu", "cpu", "unsampled_ns"]);
    let header = header.chain(quantiles.map(Field::from)).chain(last.map(|name| (*name).into()));
    let record = |row: &'_ IntervalTotals| {
        let nanos = |instance: Option<&IntervalInstance>| instance.map(|instance| instance.duration.as_nanos()).into();
        let number = |weight: Option<Weight>| weight.map(|weight| weight.value).into();
        let total = row.total.map(Nanos::as_nanos).into();
        let counts = [row.runs, row.count, row.open].map(Field::from).into_iter().chain([total]);
        let names = [Field::from(row.table.to_string()), row.name.as_ref().map(|name| name.to_string()).into()];
        let mut fields: Vec<Field<'_>> = names.into_iter().chain(counts).collect();
        let supported = |(index, quantile): (usize, &Quantile)| {
            nanos(row.quantiles.get(index).filter(|_| quantile.lacks(row.count).is_none()))
        };
        fields.extend(summary.quantiles.iter().enumerate().map(supported));
        fields.push(nanos(row.longest.as_ref()));
        if summary.shows_unions {
            let [busy, idle] = [row.busy, row.idle].map(|time| time.map(Nanos::as_nanos).into());
            fields.extend([busy, row.gaps.into(), idle, nanos(row.longest_gap.as_ref())]);
        }
        let unit = row.cpu.map(|weight| weight.unit.name()).into();
        fields.extend([unit, number(row.thread_cpu), number(row.cpu), row.unsampled.map(Nanos::as_nanos).into()]);
        fields
    };
    Csv::write(header, summary.rows.iter().map(record), cells, out)
}

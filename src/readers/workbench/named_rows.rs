//! Reads the lists of rows in the head: runs, series, processes, threads, cores, states and binaries.

use serde_json::Value;

use super::head::{Head, HeadRow, number};
use crate::error::Error;
use crate::profile::{Binary, Core, Meaning, Process, ProfileBuilder, Run, Series, SeriesId, StringId, Thread};
use crate::recording::{PageRun, PageSeries, SelectedTime, TimeSource, TocRun, is_stop_field};
use crate::units::{Address, Nanos, Unit, Uuid};

/// The number of rows of each kind, which limits the ids in columns.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedRows {
    pub(super) series: Vec<HeadSeries>,
    pub(super) threads: usize,
    pub(super) cores: usize,
    pub(super) states: Vec<StringId>,
    pub(super) binaries: usize,
}

/// A series: its number of rows, its counter values per row, and its most frequent weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeadSeries {
    pub(super) id: SeriesId,
    pub(super) rows: u64,
    pub(super) counters: usize,
    pub(super) usual_weight: Option<u64>,
}

impl NamedRows {
    /// Adds all rows to the profile.
    pub(super) fn read(head: Head<'_>, profile: &mut ProfileBuilder) -> Result<Self, Error> {
        let mut rows = Self::default();
        let mut runs = 0;
        for row in head.rows("runs") {
            let input = string(profile, row.text("input")?)?;
            let (document, number) = (row.number_u32("document")?, row.number_u32("number")?);
            profile.push_run(Run { input, document, number }).map_err(Error::limit)?;
            runs += 1;
        }
        for row in head.rows("series") {
            rows.series.push(series(row, runs, profile)?);
        }
        let mut processes = 0;
        for row in head.rows("processes") {
            let name = string(profile, row.text("name")?)?;
            let process = Process { run: row.id("run", runs)?, pid: row.optional_number("pid")?, name };
            profile.push_process(process).map_err(Error::limit)?;
            processes += 1;
        }
        for row in head.rows("threads") {
            let (process, tid) = (row.id("process", processes)?, row.optional_number("tid")?);
            let name = string(profile, row.text("name")?)?;
            let thread = Thread { process, tid, name, is_main: row.flag("is_main") };
            profile.push_thread(thread).map_err(Error::limit)?;
            rows.threads += 1;
        }
        for row in head.rows("cores") {
            let kind = row.optional_text("kind").map(|kind| string(profile, kind)).transpose()?;
            profile.push_core(Core { index: row.number_u32("index")?, kind }).map_err(Error::limit)?;
            rows.cores += 1;
        }
        for row in head.rows("states") {
            let name = row.value.as_str().ok_or_else(|| row.wrong("a name"))?;
            rows.states.push(string(profile, name)?);
        }
        for row in head.rows("binaries") {
            let binary = binary(row, profile)?;
            profile.push_binary(binary).map_err(Error::limit)?;
            rows.binaries += 1;
        }
        Ok(rows)
    }
}

pub(super) fn string(profile: &mut ProfileBuilder, text: &str) -> Result<StringId, Error> {
    profile.string(text).map_err(Error::limit)
}

fn series(row: HeadRow<'_>, runs: usize, profile: &mut ProfileBuilder) -> Result<HeadSeries, Error> {
    let schema = string(profile, row.text("schema")?)?;
    let unit = Unit::from_name(row.text("unit")?).ok_or_else(|| row.wrong("unit"))?;
    let meaning = Meaning::from_name(row.text("meaning")?).ok_or_else(|| row.wrong("meaning"))?;
    let mut series = Series::new(row.id("run", runs)?, schema, row.number_u32("table")?, unit).with_meaning(meaning);
    series.has_times = row.flag("has_times");
    let counter = row.optional_number("counter")?;
    series.counter = counter.and_then(|number| u32::try_from(number.checked_sub(1)?).ok());
    let id = profile.series(series).map_err(Error::limit)?;
    let (rows, usual_weight) = (row.number("rows")?, row.optional_number("usual_weight")?);
    let counters = row.value["counters"].as_array().map_or(0, Vec::len);
    Ok(HeadSeries { id, rows, counters, usual_weight })
}

fn binary(row: HeadRow<'_>, profile: &mut ProfileBuilder) -> Result<Binary, Error> {
    let (name, path) = (string(profile, row.text("name")?)?, string(profile, row.text("path")?)?);
    let arch = row.optional_text("arch").map(|arch| string(profile, arch)).transpose()?;
    let uuid = row.optional_text("uuid").map(|uuid| Uuid::parse(uuid).ok_or_else(|| row.wrong("uuid")));
    let address = row.text("load_address")?.strip_prefix("0x").and_then(|text| u64::from_str_radix(text, 16).ok());
    let load_address = Address::new(address.ok_or_else(|| row.wrong("load_address"))?);
    Ok(Binary { name, uuid: uuid.transpose()?, arch, load_address, path })
}

pub(super) fn tables(head: Head<'_>, rows: &NamedRows) -> Vec<PageSeries> {
    let table = |(row, series): (HeadRow<'_>, &HeadSeries)| {
        let names = row.value["counters"].as_array().into_iter().flatten();
        let position = row.value["position"].as_u64().and_then(|position| u32::try_from(position).ok());
        PageSeries {
            series: series.id,
            position,
            samples: number(&row.value["samples"]).unwrap_or_default(),
            counters: names.map(|counter| counter["name"].as_str().map(str::to_owned)).collect(),
        }
    };
    head.rows("series").zip(&rows.series).map(table).collect()
}

/// Returns the recorded time, the date and the device of each run.
pub(super) fn runs(head: Head<'_>) -> Result<Vec<PageRun>, Error> {
    head.rows("runs").map(|row| Ok(PageRun { time: time(row)?, toc: toc(row)? })).collect()
}

/// Returns the recorded time of a run, if known.
fn time(row: HeadRow<'_>) -> Result<Option<SelectedTime>, Error> {
    let time = &row.value["time"];
    let Some(parts) = time["parts"].as_array() else { return Ok(None) };
    let wrong = || row.wrong("time");
    let mut read = Vec::with_capacity(parts.len());
    let mut last = 0;
    for part in parts {
        let (start, end) = number(&part[0]).zip(number(&part[1])).ok_or_else(wrong)?;
        if start < last || end < start {
            return Err(wrong());
        }
        last = end;
        read.push((Nanos::from_nanos(start), Nanos::from_nanos(end)));
    }
    let source = time["source"].as_str().and_then(TimeSource::from_name).ok_or_else(wrong)?;
    Ok(Some(SelectedTime::new(read, source, time["is_part"] == true)))
}

fn toc(row: HeadRow<'_>) -> Result<TocRun, Error> {
    let mut toc = TocRun { number: row.number_u32("number")?, ..TocRun::default() };
    if let Some(duration) = row.optional_number("duration_ns")? {
        let (seconds, nanos) = (duration / 1_000_000_000, duration % 1_000_000_000);
        toc.summary.push(("duration".to_owned(), format!("{seconds}.{nanos:09}")));
    }
    if let Some(date) = row.optional_text("start_date") {
        toc.summary.push(("start-date".to_owned(), date.to_owned()));
    }
    if let Some(name) = row.optional_text("process") {
        toc.process.push(("name".to_owned(), name.to_owned()));
    }
    for (key, value) in row.value["stop"].as_object().into_iter().flatten() {
        if let Some(text) = value.as_str().filter(|_| is_stop_field(key)) {
            toc.summary.push((key.clone(), text.to_owned()));
        }
    }
    let device = [("name", "name"), ("model", "model"), ("platform", "platform"), ("os_version", "os-version")];
    for (field, attribute) in device {
        if let Value::String(text) = &row.value["device"][field] {
            toc.device.push((attribute.to_owned(), text.clone()));
        }
    }
    Ok(toc)
}

//! Reads the table `runs`.

use std::io::{Read, Seek};

use super::layout::Writer;
use super::table::TableRows;
use super::{DatasetError, DatasetTable, FAILED, OK};
use crate::fleet::{FailedInput, FailureKind, RunMeasures, RunRecord};
use crate::recording::TimeSource;
use crate::units::{Millionths, Nanos, Unit};

/// What the table `runs` alone reveals about an export in a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRun {
    /// [`RunRecord::run_id`]; `None` if the file could not be read.
    pub run_id: Option<String>,
    /// [`RunRecord::fingerprint`].
    pub fingerprint: String,
    /// The path of the export.
    pub source: String,
    /// True if the file has no run.
    pub is_failed: bool,
    /// [`RunRecord::rejected`]; 0 if the file has no run.
    pub rejected: u64,
    /// [`RunRecord::unread_runs`]; 0 if unknown.
    pub unread_runs: u32,
}

impl KnownRun {
    /// Reads the runs and failures in a file of the table `runs`, in file order.
    ///
    /// # Errors
    ///
    /// If reading fails, or the file is not that table.
    pub fn all<R: Read + Seek + Send + 'static>(runs: R) -> Result<Vec<Self>, DatasetError> {
        let columns = ["run_id", "fingerprint", "source", "status", "rejected", "unread_runs"];
        let mut rows = TableRows::open(Writer::Traceparse, DatasetTable::Runs, &columns, runs)?;
        let mut known = Vec::new();
        while rows.advance()? {
            known.push(Self {
                run_id: rows.text_or_null("run_id"),
                fingerprint: rows.text("fingerprint")?,
                source: rows.text("source")?,
                is_failed: rows.one_of("status", is_failed)?,
                rejected: rows.integer_or_null("rejected")?.unwrap_or(0),
                unread_runs: rows.integer_or_null("unread_runs")?.unwrap_or(0),
            });
        }
        Ok(known)
    }

    /// Reads each label's run and key from a file of the table `labels`, in file order.
    ///
    /// # Errors
    ///
    /// If reading fails, or the file is not that table.
    pub fn label_keys<R: Read + Seek + Send + 'static>(labels: R) -> Result<Vec<(String, String)>, DatasetError> {
        let mut rows = TableRows::open(Writer::Traceparse, DatasetTable::Labels, &["run_id", "key"], labels)?;
        let mut keys = Vec::new();
        while rows.advance()? {
            keys.push((rows.text("run_id")?, rows.text("key")?));
        }
        Ok(keys)
    }
}

/// Labels that the table `runs` contains as well.
pub(in crate::fleet) const COPIES: [&str; 5] = ["device", "os", "os_build", "app", "app_version"];

/// A row of a data file. `R` is the data kept for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatasetRow<R = RunMeasures> {
    /// A run.
    Run(Box<R>),
    /// A file without runs.
    Failed(FailedInput),
}

impl<R> DatasetRow<R> {
    /// Converts the data of a run.
    pub fn map<S>(self, make: impl FnOnce(R) -> S) -> DatasetRow<S> {
        match self {
            Self::Run(run) => DatasetRow::Run(Box::new(make(*run))),
            Self::Failed(failed) => DatasetRow::Failed(failed),
        }
    }
}

impl<R: AsRef<RunRecord>> DatasetRow<R> {
    /// The path of the export.
    pub(in crate::fleet) fn source(&self) -> &str {
        match self {
            Self::Run(run) => &(**run).as_ref().source,
            Self::Failed(failed) => &failed.source,
        }
    }
}

impl DatasetRow<RunRecord> {
    /// Reads the runs and failures from a file of the table `runs`, in file order. Runs have only the labels that this table duplicates:
    /// `device`, `os`, `os_build`, `app` and `app_version`.
    ///
    /// # Errors
    ///
    /// If reading fails, or the file is not that table.
    pub fn records<R: Read + Seek + Send + 'static>(
        input: R,
    ) -> Result<impl Iterator<Item = Result<Self, DatasetError>>, DatasetError> {
        let mut rows = TableRows::open_to_read(DatasetTable::Runs, input)?;
        let mut read = move || if rows.advance()? { read_row(&rows).map(Some) } else { Ok(None) };
        Ok(std::iter::from_fn(move || read().transpose()))
    }
}

/// Reads the current row. The run has only the labels in this table.
pub(super) fn read_row(rows: &TableRows) -> Result<DatasetRow<RunRecord>, DatasetError> {
    if rows.one_of("status", is_failed)? {
        return Ok(DatasetRow::Failed(read_failure(rows)?));
    }
    Ok(DatasetRow::Run(Box::new(read_record(rows)?)))
}

fn read_record(rows: &TableRows) -> Result<RunRecord, DatasetError> {
    let text = |column: &str| rows.text(column);
    let copy = |key: &str| Some((key.to_owned(), rows.text_or_null(key)?));
    let mut labels: Vec<_> = COPIES.into_iter().filter_map(copy).collect();
    labels.sort();
    Ok(RunRecord {
        run_id: text("run_id")?,
        fingerprint: text("fingerprint")?,
        source: text("source")?,
        source_bytes: rows.integer("source_bytes")?,
        number: rows.integer("run_number")?,
        labels,
        run_weight: Millionths::new(rows.integer("run_weight_millionths")?),
        start: rows.text_or_null("start"),
        wall: rows.integer_or_null("wall_ns")?.map(Nanos::from_nanos),
        wall_source: rows.one_of("wall_source", TimeSource::from_name)?,
        wall_start: Nanos::from_nanos(rows.integer("wall_start_ns")?),
        parts: match rows.text_or_null("parts_ns") {
            Some(text) => {
                parts_of_json(&text).ok_or_else(|| rows.damaged("parts_ns", "is not an ordered list of parts"))?
            }
            None => Vec::new(),
        },
        schema: text("schema")?,
        unit: rows.one_of("unit", Unit::from_name)?,
        weight: rows.integer("weight")?,
        samples: rows.integer("samples")?,
        effective_samples: rows.integer("effective_samples")?,
        rejected: rows.integer("rejected")?,
        unread_runs: rows.integer("unread_runs")?,
        excluded_runs: rows.integer("excluded_runs")?,
        cores: rows.integer("cores")?,
        usual_weight: rows.integer("usual_weight")?,
        parser_version: text("parser_version")?,
        notes: rows.text_or_null("notes").map_or_else(Vec::new, |notes| notes.lines().map(str::to_owned).collect()),
    })
}

fn read_failure(rows: &TableRows) -> Result<FailedInput, DatasetError> {
    Ok(FailedInput {
        source: rows.text("source")?,
        source_bytes: rows.integer("source_bytes")?,
        run_id: rows.text_or_null("run_id"),
        fingerprint: rows.text("fingerprint")?,
        kind: rows.one_of("failure", FailureKind::from_name)?,
        reason: rows.text("error")?,
        labels: rows
            .text_or_null("failed_labels")
            .map_or_else(Vec::new, |labels| serde_json::from_str(&labels).unwrap_or_default()),
    })
}

/// Parses the parts of a recorded time written by [`json_of_parts`].
fn parts_of_json(text: &str) -> Option<Vec<(Nanos, Nanos)>> {
    let parts: Vec<(u64, u64)> = serde_json::from_str(text).ok()?;
    let is_in_order = parts.windows(2).all(|pair| pair[0].1 < pair[1].0);
    let is_usable = is_in_order && parts.iter().all(|(start, end)| start < end);
    is_usable.then(|| parts.iter().map(|&(start, end)| (Nanos::from_nanos(start), Nanos::from_nanos(end))).collect())
}

/// Formats the parts of a recorded time as JSON: a list of starts and ends.
pub(super) fn json_of_parts(parts: &[(Nanos, Nanos)]) -> Option<String> {
    let parts: Vec<(u64, u64)> = parts.iter().map(|(start, end)| (start.as_nanos(), end.as_nanos())).collect();
    if parts.is_empty() { None } else { serde_json::to_string(&parts).ok() }
}

fn is_failed(status: &str) -> Option<bool> {
    match status {
        OK => Some(false),
        FAILED => Some(true),
        _ => None,
    }
}

//! Writes runs to the file of one table.

use std::borrow::Borrow;
use std::io::Write;
use std::sync::Arc;

use super::buffer::{Buffer, TextId};
use super::schema::ColumnKind;
use super::{DatasetError, DatasetTable, FAILED, FORMAT, FORMAT_KEY, OK, TABLE_KEY, VERSION, VERSION_KEY};
use crate::fleet::{FailedInput, NameId, RunMeasures, RunRecord};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

/// The approximate number of rows in a row group: 16 MB in memory for `frames`, and small enough for engines to read groups in parallel.
const ROWS_OF_A_GROUP: usize = 1 << 18;

/// Names recur from run to run, so dictionaries stay small. A group with more names continues without one.
const DICTIONARY_BYTES: usize = 8 << 20;

/// Writes a table, run by run. Memory is bounded by one row group and one run.
///
/// The rows of a run are adjacent, and all tables of a data file must receive the runs in the same order, which readers rely on. After an error,
/// the file is unusable.
pub(in crate::fleet) struct TableWriter<W: Write + Send> {
    table: DatasetTable,
    file: SerializedFileWriter<W>,
    buffer: Buffer,
}

impl<W: Write + Send> TableWriter<W> {
    /// Creates a file of `table` that is written to `out`.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub(in crate::fleet) fn new(table: DatasetTable, out: W) -> Result<Self, DatasetError> {
        let open = || SerializedFileWriter::new(out, table.parquet_schema()?, Arc::new(properties(table)?));
        let file = open().map_err(|error| DatasetError::writing(table, error))?;
        Ok(Self { table, file, buffer: Buffer::new(table) })
    }

    /// Adds the rows of a run.
    ///
    /// # Errors
    ///
    /// If writing fails, or a number does not fit in the table.
    pub(in crate::fleet) fn run(&mut self, run: &RunMeasures) -> Result<(), DatasetError> {
        super::writer::add_run(self.table, run, &mut self.buffer)?;
        self.write_full_group()
    }

    /// Adds a file without runs: a row in the table `runs`, and none in other tables.
    ///
    /// # Errors
    ///
    /// If writing fails, or a number does not fit in the table.
    pub(in crate::fleet) fn failure(&mut self, failure: &FailedInput) -> Result<(), DatasetError> {
        if self.table == DatasetTable::Runs {
            super::writer::add_failure(failure, &mut self.buffer)?;
        }
        self.write_full_group()
    }

    /// Writes the remaining rows and the end of the file, flushes, and returns the writer.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub(in crate::fleet) fn finish(mut self) -> Result<W, DatasetError> {
        let table = self.table;
        let finished = self.write_group().and_then(|()| {
            let mut out = self.file.into_inner()?;
            out.flush()?;
            Ok(out)
        });
        finished.map_err(|error| DatasetError::writing(table, error))
    }

    fn write_full_group(&mut self) -> Result<(), DatasetError> {
        if self.buffer.rows() < ROWS_OF_A_GROUP {
            return Ok(());
        }
        self.write_group().map_err(|error| DatasetError::writing(self.table, error))
    }

    fn write_group(&mut self) -> ParquetResult<()> {
        // An empty table has no row group, which every reader accepts.
        if self.buffer.rows() > 0 { self.buffer.write(self.file.next_row_group()?) } else { Ok(()) }
    }
}

impl DatasetTable {
    /// Checks that all numbers in a run fit in the tables.
    ///
    /// # Errors
    ///
    /// If a number does not fit.
    pub fn check(run: &RunMeasures) -> Result<(), DatasetError> {
        Self::ALL.into_iter().try_for_each(|table| super::writer::add_run(table, run, &mut Buffer::new(table)))
    }

    /// Writes one table with these runs. For [`DatasetTable::Runs`], the failures follow. Memory is bounded by one row group and one run.
    ///
    /// # Errors
    ///
    /// If writing fails, or a number does not fit in the table.
    pub fn write(
        self,
        runs: impl IntoIterator<Item: Borrow<RunMeasures>>,
        failures: &[FailedInput],
        out: impl Write + Send,
    ) -> Result<(), DatasetError> {
        let mut writer = TableWriter::new(self, out)?;
        runs.into_iter().try_for_each(|run| writer.run(run.borrow()))?;
        failures.iter().try_for_each(|failure| writer.failure(failure))?;
        writer.finish().map(drop)
    }
}

fn properties(table: DatasetTable) -> ParquetResult<WriterProperties> {
    let metadata = [(FORMAT_KEY, FORMAT), (TABLE_KEY, table.name()), (VERSION_KEY, &VERSION.to_string())];
    let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_owned(), value.to_owned()));
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        // No page statistics: they make a one-run file larger, and no reader seeks with them.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by(concat!("traceparse version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(metadata.into()));
    for column in table.columns().iter().filter(|column| column.kind == ColumnKind::Text) {
        builder = builder.set_column_dictionary_page_size_limit(ColumnPath::from(column.name), DICTIONARY_BYTES);
    }
    // These numbers mostly increase by one.
    for column in table.columns().iter().filter(|column| ["node", "parent"].contains(&column.name)) {
        let path = ColumnPath::from(column.name);
        builder = builder.set_column_dictionary_enabled(path.clone(), false);
        builder = builder.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    Ok(builder.build())
}

/// Adds the rows of a run to a table.
pub(super) fn add_run(table: DatasetTable, run: &RunMeasures, buffer: &mut Buffer) -> Result<(), DatasetError> {
    match table {
        DatasetTable::Runs => add_record(&run.record, buffer),
        DatasetTable::Labels => add_labels(&run.record, buffer),
        DatasetTable::Frames | DatasetTable::Binaries => add_frames(table, run, buffer),
        DatasetTable::Windows => add_windows(run, buffer),
        DatasetTable::Stacks => add_stacks(run, buffer),
    }
}

fn add_record(record: &RunRecord, buffer: &mut Buffer) -> Result<(), DatasetError> {
    let notes = (!record.notes.is_empty()).then(|| record.notes.join("\n"));
    let rate = record.rate(record.weight);
    let parts = super::runs::json_of_parts(&record.parts);
    let seconds = record.copied_seconds();
    buffer
        .row()
        .text_or_null("run_id", Some(&record.run_id))
        .text("fingerprint", &record.fingerprint)
        .text("status", OK)
        .text_or_null("failure", None::<&str>)
        .text_or_null("error", None::<&str>)
        .text("source", &record.source)
        .integer("source_bytes", record.source_bytes)?
        .text_or_null("failed_labels", None::<&str>)
        .integer("run_number", record.number)?
        .text_or_null("device", record.label("device"))
        .text_or_null("os", record.label("os"))
        .text_or_null("os_build", record.label("os_build"))
        .text_or_null("app", record.label("app"))
        .text_or_null("app_version", record.label("app_version"))
        .integer("run_weight_millionths", record.run_weight.get())?
        .double_or_null("run_weight", Some(record.run_weight))
        .text_or_null("start", record.start.as_deref())
        .integer_or_null("wall_ns", record.wall.map(|wall| wall.as_nanos()))?
        .integer("wall_start_ns", record.wall_start.as_nanos())?
        .text("wall_source", record.wall_source.name())
        .text("schema", &record.schema)
        .text("unit", record.unit.name())
        .integer("weight", record.weight)?
        .integer("samples", record.samples)?
        .integer("effective_samples", record.effective_samples)?
        .integer("rejected", record.rejected)?
        .integer("cores", record.cores)?
        .integer("usual_weight", record.usual_weight)?
        .integer_or_null("cpu_rate_millionths", rate.map(|rate| rate.get()))?
        .double_or_null("cpu_rate", rate)
        .integer_or_null("first_whole_second", seconds.as_ref().map(|seconds| seconds.start))?
        .integer_or_null("end_whole_second", seconds.map(|seconds| seconds.end))?
        .text("parser_version", &record.parser_version)
        .text_or_null("notes", notes.as_deref())
        .integer("unread_runs", record.unread_runs)?
        .text_or_null("parts_ns", parts.as_deref())
        .integer("excluded_runs", record.excluded_runs)?;
    Ok(())
}

/// Adds a file without runs to the table `runs`. Columns that apply only to runs are null.
pub(super) fn add_failure(failure: &FailedInput, buffer: &mut Buffer) -> Result<(), DatasetError> {
    let labels = (!failure.labels.is_empty()).then(|| serde_json::json!(failure.labels).to_string());
    let mut row = buffer.row();
    row.text_or_null("run_id", failure.run_id.as_deref())
        .text("fingerprint", &failure.fingerprint)
        .text("status", FAILED)
        .text("failure", failure.kind.name())
        .text("error", &failure.reason)
        .text("source", &failure.source)
        .integer("source_bytes", failure.source_bytes)?
        .text_or_null("failed_labels", labels.as_deref());
    row.nulls();
    Ok(())
}

fn add_labels(record: &RunRecord, buffer: &mut Buffer) -> Result<(), DatasetError> {
    for (key, value) in &record.labels {
        buffer.row().text("run_id", &record.run_id).text("key", key).text("value", value);
    }
    Ok(())
}

/// Strings that every row of a run uses.
struct Common {
    run_id: TextId,
    unit: TextId,
    /// Maps the name ids of the run to string ids of the table.
    names: Vec<TextId>,
}

impl Common {
    fn of(run: &RunMeasures, buffer: &mut Buffer) -> Self {
        let names = run.names.iter().map(|name| buffer.text(name)).collect();
        Self { run_id: buffer.text(&run.record.run_id), unit: buffer.text(run.record.unit.name()), names }
    }

    /// Like [`RunMeasures::name`]: an id that is out of range is the empty name.
    fn name(&self, id: NameId, buffer: &mut Buffer) -> TextId {
        self.names.get(id.0 as usize).copied().unwrap_or_else(|| buffer.text(""))
    }
}

/// Adds the rows of functions, or of binaries.
fn add_frames(table: DatasetTable, run: &RunMeasures, buffer: &mut Buffer) -> Result<(), DatasetError> {
    let common = Common::of(run, buffer);
    // Dictionaries make these columns almost free, and spare the most common SQL queries a join.
    let copies = ["app_version", "device", "os"];
    let copies = copies.map(|key| (key, run.record.label(key).map(|value| buffer.text(value))));
    let is_of_functions = table == DatasetTable::Frames;
    for frame in if is_of_functions { &run.frames } else { &run.binaries } {
        let [process, thread, binary] = [frame.process, frame.thread, frame.binary].map(|id| common.name(id, buffer));
        let function = is_of_functions.then(|| common.name(frame.function, buffer));
        let mut row = buffer.row();
        row.text("run_id", common.run_id).text("process", process).text("thread", thread);
        row.integer("is_main_thread", frame.is_main_thread)?.text("module", binary);
        if let Some(function) = function {
            row.text("function", function);
        }
        row.integer("self_weight", frame.self_weight)?
            .integer("all_weight", frame.all_weight)?
            .integer("self_samples", frame.self_samples)?
            .integer("all_samples", frame.all_samples)?
            .text("unit", common.unit);
        for (key, value) in copies.into_iter().filter(|_| is_of_functions) {
            row.text_or_null(key, value);
        }
    }
    Ok(())
}

fn add_windows(run: &RunMeasures, buffer: &mut Buffer) -> Result<(), DatasetError> {
    let common = Common::of(run, buffer);
    for window in &run.windows {
        let [process, thread] = [window.process, window.thread].map(|id| common.name(id, buffer));
        buffer
            .row()
            .text("run_id", common.run_id)
            .text("process", process)
            .text("thread", thread)
            .integer("is_main_thread", window.is_main_thread)?
            .integer("second", window.second)?
            .integer("weight", window.weight)?
            .integer("samples", window.samples)?
            .text("unit", common.unit);
    }
    Ok(())
}

/// Adds the nodes of call trees, numbered from 1. The parent of an outermost function is 0.
fn add_stacks(run: &RunMeasures, buffer: &mut Buffer) -> Result<(), DatasetError> {
    let common = Common::of(run, buffer);
    for (index, node) in run.stacks.iter().enumerate() {
        let names = [node.process, node.thread, node.binary, node.function];
        let [process, thread, binary, function] = names.map(|id| common.name(id, buffer));
        buffer
            .row()
            .text("run_id", common.run_id)
            .text("process", process)
            .text("thread", thread)
            .integer("is_main_thread", node.is_main_thread)?
            .integer("node", index as u64 + 1)?
            .integer("parent", node.parent.map_or(0, |parent| u64::from(parent) + 1))?
            .text("module", binary)
            .text("category", node.category.name())
            .text("function", function)
            .integer("self_weight", node.self_weight)?
            .integer("self_samples", node.self_samples)?
            .text("unit", common.unit);
    }
    Ok(())
}

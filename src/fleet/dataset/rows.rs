//! A run as rows of each table.

use super::writer::{Buffer, TextId};
use super::{DatasetError, DatasetTable, FAILED, OK};
use crate::fleet::{FailedInput, NameId, RunMeasures, RunRecord};

/// Adds the rows that a run has in a table.
pub(super) fn add_run(table: DatasetTable, run: &RunMeasures, buffer: &mut Buffer) -> Result<(), DatasetError> {
    match table {
        DatasetTable::Runs => add_record(&run.record, buffer),
        DatasetTable::Labels => add_labels(&run.record, buffer),
        DatasetTable::Frames | DatasetTable::Binaries => add_frames(table, run, buffer),
        DatasetTable::Windows => add_windows(run, buffer),
        DatasetTable::Hist => super::hist::add_histograms(run, buffer),
    }
}

fn add_record(record: &RunRecord, buffer: &mut Buffer) -> Result<(), DatasetError> {
    let notes = (!record.notes.is_empty()).then(|| record.notes.join("\n"));
    let rate = record.rate(record.weight);
    let beside = super::runs::json_of_beside(record);
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
        .text_or_null("failed_labels", beside.as_deref())
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

/// Adds a file that gave no run to the table `runs`. Columns that only a run has are null.
pub(super) fn add_failure(failure: &FailedInput, buffer: &mut Buffer) -> Result<(), DatasetError> {
    let labels = super::runs::json_of_labels(&failure.labels);
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

/// The strings in every row of a run.
struct Common {
    run_id: TextId,
    unit: TextId,
    /// The ids of the run's names, in the order of their ids.
    names: Vec<TextId>,
}

impl Common {
    fn of(run: &RunMeasures, buffer: &mut Buffer) -> Self {
        let names = run.names.iter().map(|name| buffer.text(name)).collect();
        Self { run_id: buffer.text(&run.record.run_id), unit: buffer.text(run.record.unit.name()), names }
    }

    /// As [`RunMeasures::name`]: an id past the end is the empty name.
    fn name(&self, id: NameId, buffer: &mut Buffer) -> TextId {
        self.names.get(id.0 as usize).copied().unwrap_or_else(|| buffer.text(""))
    }
}

/// Adds functions, or binaries.
fn add_frames(table: DatasetTable, run: &RunMeasures, buffer: &mut Buffer) -> Result<(), DatasetError> {
    let common = Common::of(run, buffer);
    // Dictionaries make these almost free, and SQL needs no join for the most frequent questions.
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

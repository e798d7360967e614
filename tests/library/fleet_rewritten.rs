//! Dataset files rewritten by an engine: impossible numbers are refused.

use std::io::Cursor;

use bytes::Bytes;
use parquet::column::writer::ColumnCloseResult;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use traceparse::fleet::{
    DatasetError, DatasetErrorKind, DatasetRow, DatasetRun, DatasetTable, RewrittenRuns, RunMeasures,
};
use traceparse::units::Nanos;

/// A change of a run that no measurement makes.
type Change = fn(&mut RunMeasures);

const RUN: usize = 7;

fn file_of(table: DatasetTable, runs: &[RunMeasures]) -> Vec<u8> {
    let mut bytes = Vec::new();
    table.write(runs, &[], &mut bytes).unwrap();
    bytes
}

/// The runs of tables, of which one has other bytes.
fn read(runs: &[RunMeasures], other: (DatasetTable, Vec<u8>)) -> Result<Vec<RunMeasures>, DatasetError> {
    let mut gathered = RewrittenRuns::new(0, 1);
    for table in DatasetTable::ALL {
        let bytes = if table == other.0 { other.1.clone() } else { file_of(table, runs) };
        gathered.add(table, Cursor::new(bytes))?;
    }
    let run = |row: DatasetRow<DatasetRun>| match row {
        DatasetRow::Run(run) => run.into_measures(),
        DatasetRow::Failed(failed) => panic!("{failed:?}"),
    };
    Ok(gathered.finish()?.into_iter().map(run).collect())
}

/// The same fleet, of which a row of a table was changed; and the reason why it is refused.
fn refusal(table: DatasetTable, change: impl Fn(&mut RunMeasures)) -> String {
    let runs = support::fleet::runs(3, 20);
    let mut changed = runs.clone();
    change(&mut changed[RUN]);
    let error = read(&runs, (table, file_of(table, &changed))).expect_err("a changed number");
    assert_eq!(error.table, table);
    let message = error.to_string();
    assert!(message.contains(&runs[RUN].record.run_id), "{message}");
    message
}

/// A file with one column of another one.
fn with_column(file: Vec<u8>, name: &str, of: Vec<u8>) -> Vec<u8> {
    let [file, of] = [file, of].map(Bytes::from);
    let [own, other] = [&file, &of].map(|bytes| SerializedFileReader::new(bytes.clone()).unwrap());
    let metadata = own.metadata().file_metadata();
    let schema = metadata.schema_descr().root_schema_ptr();
    let pairs = metadata.key_value_metadata().cloned();
    let properties = WriterProperties::builder().set_key_value_metadata(pairs).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties.into()).unwrap();
    for (own, other) in own.metadata().row_groups().iter().zip(other.metadata().row_groups()) {
        let mut group = writer.next_row_group().unwrap();
        for (own, other) in own.columns().iter().zip(other.columns()) {
            let is_other = own.column_path().string() == name;
            let (bytes, column) = if is_other { (&of, other) } else { (&file, own) };
            let close = ColumnCloseResult {
                bytes_written: column.compressed_size() as u64,
                rows_written: column.num_values() as u64,
                metadata: column.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            group.append_column(bytes, close).unwrap();
        }
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

#[test]
fn whole_tables_are_read() {
    let runs = support::fleet::runs(3, 200);
    let mut read = read(&runs, (DatasetTable::Runs, file_of(DatasetTable::Runs, &runs))).unwrap();
    read.sort_by(|a, b| a.record.run_id.cmp(&b.record.run_id));
    let records = |runs: &[RunMeasures]| runs.iter().map(|run| run.record.clone()).collect::<Vec<_>>();
    assert_eq!(records(&read), records(&runs));
}

#[test]
fn rows_with_more_than_their_run_are_refused() {
    let bound = "has an all weight below its self weight, or above the run's weight";
    let frames = [
        |run: &mut RunMeasures| run.frames[1].all_weight = i64::MAX as u64,
        |run: &mut RunMeasures| run.frames[1].all_weight = run.record.weight + 1,
        |run: &mut RunMeasures| run.frames[1].all_samples = run.record.samples + 1,
        |run: &mut RunMeasures| run.frames[1].all_weight = run.frames[1].self_weight - 1,
        |run: &mut RunMeasures| run.frames[1].all_samples = run.frames[1].self_samples - 1,
    ];
    for change in frames {
        let message = refusal(DatasetTable::Frames, change);
        assert!(message.contains(bound), "{message}");
    }
    let binaries = [
        |run: &mut RunMeasures| run.binaries[1].all_weight = run.record.weight + 1,
        |run: &mut RunMeasures| run.binaries[1].all_samples = run.binaries[1].self_samples - 1,
    ];
    for change in binaries {
        let message = refusal(DatasetTable::Binaries, change);
        assert!(message.contains(bound), "{message}");
    }
    // The whole run is not more than the run.
    let mut runs = support::fleet::runs(3, 20);
    runs[RUN].frames[1].all_weight = runs[RUN].record.weight;
    runs[RUN].frames[1].all_samples = runs[RUN].record.samples;
    let frames = file_of(DatasetTable::Frames, &runs);
    assert_eq!(read(&runs, (DatasetTable::Frames, frames)).unwrap().len(), runs.len());
}

#[test]
fn samples_that_do_not_add_up_are_refused() {
    let tables: [(DatasetTable, Change); 3] = [
        (DatasetTable::Frames, |run| run.frames[1].self_samples -= 1),
        (DatasetTable::Binaries, |run| run.binaries[1].self_samples -= 1),
        (DatasetTable::Windows, |run| run.windows[1].samples += 1),
    ];
    for (table, change) in tables {
        let message = refusal(table, change);
        assert!(message.contains("of its"), "{message}");
    }
}

/// No other table contains the recorded time, but rates and seconds are separate columns.
#[test]
fn recorded_time_that_is_not_that_of_its_copies_is_refused() {
    let runs = support::fleet::runs(3, 20);
    let columns: [(&str, &str, Change); 4] = [
        ("wall_ns", "cpu_rate_millionths", |run| {
            run.record.wall = run.record.wall.map(|wall| Nanos::from_nanos(wall.as_nanos() * 2));
        }),
        ("wall_ns", "cpu_rate_millionths", |run| run.record.wall = None),
        ("wall_start_ns", "first_whole_second", |run| run.record.wall_start = Nanos::from_millis(5_000)),
        ("unit", "cpu_rate_millionths", |run| run.record.unit = traceparse::units::Unit::Cycles),
    ];
    for (column, copy, change) in columns {
        let mut changed = runs.clone();
        change(&mut changed[RUN]);
        let [file, other] = [&runs, &changed].map(|runs| file_of(DatasetTable::Runs, runs));
        let mixed = with_column(file.clone(), column, other.clone());
        let error = read(&runs, (DatasetTable::Runs, mixed)).expect_err(column);
        assert!(error.to_string().contains(copy), "{column}: {error}");
        // With the copies of its own, it is another run.
        assert!(read(&changed, (DatasetTable::Runs, other)).is_ok());
        assert!(read(&runs, (DatasetTable::Runs, with_column(file.clone(), column, file))).is_ok());
    }
}

/// Nothing is wrong with a file of other columns: it is not what is read.
#[test]
fn files_of_other_columns_are_not_damaged() {
    let labels = file_of(DatasetTable::Labels, &support::fleet::runs(3, 2));
    let error = RewrittenRuns::new(0, 1).add(DatasetTable::Frames, Cursor::new(labels)).unwrap_err();
    assert_eq!(
        (error.kind, error.to_string().as_str()),
        (DatasetErrorKind::Unlike, "table frames: it has no column process")
    );
}

//! Runs written to Parquet and read back; the files as other engines see them; damaged files.

use std::io::Cursor;

use parquet::basic::{Compression, Encoding, Type as Physical};
use parquet::file::reader::{FileReader, SerializedFileReader};
use proptest::prelude::*;
use traceparse::fleet::{DatasetError, DatasetErrorKind, DatasetRow, DatasetTable, KnownRun};
use traceparse::fleet::{FailedInput, RunMeasures};

use support::runs;

fn write(table: DatasetTable, runs: &[RunMeasures], failures: &[FailedInput]) -> Vec<u8> {
    let mut bytes = Vec::new();
    table.write(runs, failures, &mut bytes).unwrap();
    bytes
}

fn write_all(runs: &[RunMeasures], failures: &[FailedInput]) -> Vec<Vec<u8>> {
    DatasetTable::ALL.map(|table| write(table, runs, failures)).into()
}

/// The tables in the order of [`DatasetTable::ALL`].
fn read(tables: &[Vec<u8>]) -> Result<(Vec<RunMeasures>, Vec<FailedInput>), DatasetError> {
    let open = |table: DatasetTable| Ok::<_, DatasetError>(Cursor::new(tables[table as usize].clone()));
    let (mut runs, mut failures) = (Vec::new(), Vec::new());
    for row in DatasetRow::read(open)? {
        match row? {
            DatasetRow::Run(run) => runs.push(run.into_measures()),
            DatasetRow::Failed(failure) => failures.push(failure),
        }
    }
    Ok((runs, failures))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read(seeds in proptest::collection::vec(any::<u64>(), 0..6), failed in 0_u64..4, frames in 0_usize..60) {
        let written: Vec<RunMeasures> = seeds.iter().map(|seed| runs::run(*seed, frames)).collect();
        let failures: Vec<FailedInput> = (0..failed).map(runs::failure).collect();
        let tables = write_all(&written, &failures);
        let (read_runs, read_failures) = read(&tables).unwrap();
        prop_assert_eq!(&read_runs, &written);
        prop_assert_eq!(&read_failures, &failures);
        let frames: usize = written.iter().map(|run| run.frames.len()).sum();
        prop_assert_eq!(DatasetTable::Frames.row_count(Cursor::new(tables[2].clone())).unwrap(), frames as u64);
        prop_assert_eq!(write_all(&read_runs, &read_failures), tables, "equal runs are equal bytes");
    }
}

#[test]
fn runs_that_fill_several_row_groups_are_read() {
    let written: Vec<RunMeasures> = (0..40).map(|seed| runs::run(seed, 24_000)).collect();
    let count: usize = written.iter().map(|run| run.frames.len()).sum();
    assert!(count > 3 << 18, "{count} rows");
    let tables = write_all(&written, &[]);
    let reader = SerializedFileReader::new(bytes::Bytes::from(tables[2].clone())).unwrap();
    assert!(reader.num_row_groups() >= 3);
    assert_eq!(read(&tables).unwrap().0, written);
}

#[test]
fn files_are_plain_for_other_engines() {
    for table in DatasetTable::ALL {
        let bytes = write(table, &[runs::run(1, 50), runs::run(2, 50)], &[runs::failure(1)]);
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let file = reader.metadata().file_metadata();
        let pairs: Vec<_> =
            file.key_value_metadata().unwrap().iter().map(|pair| (pair.key.as_str(), pair.value.as_deref())).collect();
        let expected = [
            ("traceparse.format", Some("traceparse-dataset")),
            ("traceparse.table", Some(table.name())),
            ("traceparse.version", Some("7")),
        ];
        assert_eq!(pairs, expected, "and nothing else, such as a schema of Arrow");
        assert!(file.created_by().unwrap().starts_with("traceparse version "));
        for column in reader.metadata().row_group(0).columns() {
            assert!(matches!(column.compression(), Compression::ZSTD(_)), "{column:?}");
            let physical = column.column_type();
            assert!(matches!(physical, Physical::INT64 | Physical::DOUBLE | Physical::BYTE_ARRAY), "{column:?}");
            if physical == Physical::BYTE_ARRAY {
                assert!(column.column_descr().logical_type_ref().is_some(), "{column:?}");
                assert!(column.encodings().any(|encoding| encoding == Encoding::RLE_DICTIONARY), "{column:?}");
            }
        }
    }
}

#[test]
fn what_is_known_of_a_file_needs_no_rows() {
    let (mut run, failure) = (runs::run(4, 3), runs::failure(5));
    (run.record.rejected, run.record.unread_runs) = (2, 3);
    let bytes = write(DatasetTable::Runs, std::slice::from_ref(&run), std::slice::from_ref(&failure));
    let known = |run_id, fingerprint: &str, source: &str, is_failed| KnownRun {
        run_id,
        fingerprint: fingerprint.to_owned(),
        source: source.to_owned(),
        is_failed,
        rejected: if is_failed { 0 } else { 2 },
        unread_runs: if is_failed { 0 } else { 3 },
    };
    let expected = [
        known(Some(run.record.run_id.clone()), &run.record.fingerprint, &run.record.source, false),
        known(failure.run_id.clone(), &failure.fingerprint, &failure.source, true),
    ];
    assert_eq!(KnownRun::all(Cursor::new(bytes)).unwrap(), expected);
}

#[test]
fn parts_that_no_selection_has_are_damage() {
    let mut run = (0..).map(|seed| runs::run(seed, 5)).find(|run| run.record.parts.len() > 1).unwrap();
    assert_eq!(read(&write_all(std::slice::from_ref(&run), &[])).unwrap().0, [run.clone()]);
    run.record.parts.reverse();
    let error = read(&write_all(&[run], &[])).unwrap_err();
    assert_eq!(error.kind, DatasetErrorKind::Damaged);
    assert!(error.to_string().contains("parts_ns"), "{error}");
}

#[test]
fn files_of_other_versions_are_refused() {
    let mut tables = write_all(&[runs::run(1, 9)], &[]);
    let at = tables[0].windows(18).rposition(|bytes| bytes == b"traceparse.version").unwrap();
    let digit = at + tables[0][at..].iter().position(|byte| *byte == b'7').unwrap();
    for version in [b'6', b'8'] {
        tables[0][digit] = version;
        let error = read(&tables).unwrap_err();
        assert_eq!(error.kind, DatasetErrorKind::OtherVersion);
        assert!(error.to_string().contains("but this traceparse reads version 7"), "{error}");
    }
}

#[test]
fn numbers_that_would_wrap_are_refused() {
    let mut run = (0..).map(|seed| runs::run(seed, 5)).find(|run| !run.frames.is_empty()).unwrap();
    run.frames[0].all_weight = i64::MAX as u64 + 1;
    let error = DatasetTable::Frames.write(std::slice::from_ref(&run), &[], Vec::new()).unwrap_err();
    assert_eq!(error.kind, DatasetErrorKind::TooLarge);
    assert!(error.to_string().starts_with("table frames: a number for column all_weight is more than"), "{error}");
    run.frames[0].all_weight = i64::MAX as u64;
    write(DatasetTable::Frames, &[run], &[]);
}

#[test]
fn tables_are_not_mistaken_for_each_other() {
    let mut tables = write_all(&[runs::run(1, 5)], &[]);
    tables.swap(2, 3);
    let error = read(&tables).unwrap_err();
    assert_eq!((error.kind, error.table), (DatasetErrorKind::Foreign, DatasetTable::Frames));
    assert!(error.to_string().contains("this is the table modules"), "{error}");

    let error = read(&vec![b"<?xml version=\"1.0\"?><trace-query-result/>".to_vec(); 5]).unwrap_err();
    assert_eq!((error.kind, error.table), (DatasetErrorKind::Damaged, DatasetTable::Runs));
    assert_eq!(read(&vec![Vec::new(); 5]).unwrap_err().kind, DatasetErrorKind::Damaged);
}

#[test]
fn tables_of_other_runs_are_told() {
    let mut tables = write_all(&[runs::run(1, 40), runs::run(2, 40)], &[]);
    tables[2] = write(DatasetTable::Frames, &[runs::run(2, 40), runs::run(1, 40)], &[]);
    let error = read(&tables).unwrap_err();
    assert_eq!((error.kind, error.table), (DatasetErrorKind::Damaged, DatasetTable::Frames));
    assert!(error.to_string().contains("has rows of run"), "{error}");
}

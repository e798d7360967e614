//! Runs as Parquet and back; what the files say to other engines; damaged files.

use std::io::Cursor;
use std::sync::atomic::{AtomicUsize, Ordering};

use parquet::basic::{Compression, Encoding, Type as Physical};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use proptest::prelude::*;
use traceparse::fleet::{
    DatasetError, DatasetErrorKind, DatasetReader, DatasetRow, DatasetTable, KnownRun, TableWriter,
};
use traceparse::fleet::{FailedInput, RunMeasures, RunRecord};
use traceparse::stats::ExponentialHistogram;
use traceparse::units::Nanos;

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
    for row in DatasetReader::open(open)? {
        match row? {
            DatasetRow::Run(run) => runs.push(run.into_measures()),
            DatasetRow::Failed(failure) => failures.push(failure),
        }
    }
    Ok((runs, failures))
}

/// The rows of a table as another reader sees them: columns by name, and null as `None`.
fn rows(bytes: &[u8]) -> Vec<Vec<(String, Option<Field>)>> {
    let reader = SerializedFileReader::new(bytes::Bytes::copy_from_slice(bytes)).unwrap();
    let value = |field: &Field| (*field != Field::Null).then(|| field.clone());
    let row = |row: parquet::record::Row| row.get_column_iter().map(|(n, f)| (n.clone(), value(f))).collect();
    reader.get_row_iter(None).unwrap().map(|found| row(found.unwrap())).collect()
}

fn integer(row: &[(String, Option<Field>)], name: &str) -> Option<i64> {
    match &row.iter().find(|(column, _)| column == name).unwrap().1 {
        None => None,
        Some(Field::Long(number)) => Some(*number),
        Some(other) => panic!("{name} is {other:?}"),
    }
}

fn text(row: &[(String, Option<Field>)], name: &str) -> Option<String> {
    match &row.iter().find(|(column, _)| column == name).unwrap().1 {
        None => None,
        Some(Field::Str(text)) => Some(text.clone()),
        Some(other) => panic!("{name} is {other:?}"),
    }
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
fn run_after_run_is_the_same_file() {
    let written: Vec<RunMeasures> = (0..5).map(|seed| runs::run(seed, 9)).collect();
    for table in DatasetTable::ALL {
        let mut writer = TableWriter::new(table, Vec::new()).unwrap();
        written.iter().for_each(|run| writer.run(run).unwrap());
        writer.failure(&runs::failure(3)).unwrap();
        assert_eq!(writer.finish().unwrap(), write(table, &written, &[runs::failure(3)]), "{table:?}");
    }
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
            ("traceparse.version", Some("4")),
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
fn another_reader_sees_values_and_nulls() {
    let run =
        (0..).map(|seed| runs::run(seed, 5)).find(|run| run.record.wall.is_some() && run.record.label("app").is_none());
    let run = run.unwrap();
    let failure = runs::failure(7);
    let found = rows(&write(DatasetTable::Runs, std::slice::from_ref(&run), std::slice::from_ref(&failure)));
    let [ok, failed] = found.as_slice() else { panic!("{} rows", found.len()) };
    assert_eq!(text(ok, "status").as_deref(), Some("ok"));
    assert_eq!(text(ok, "run_id"), Some(run.record.run_id.clone()));
    assert_eq!((text(ok, "failure"), text(ok, "error"), text(ok, "app")), (None, None, None));
    assert_eq!(text(ok, "device").as_deref(), run.record.label("device"));
    assert_eq!(integer(ok, "weight"), Some(run.record.weight as i64));
    let rate = run.record.rate(run.record.weight).unwrap();
    assert_eq!(integer(ok, "cpu_rate_millionths"), Some(rate.get() as i64));
    assert!(ok.iter().any(|(name, field)| name == "cpu_rate" && *field == Some(Field::Double(rate.as_f64()))));
    let seconds = run.record.whole_seconds();
    assert_eq!(integer(ok, "first_whole_second"), Some(i64::from(seconds[0].start)));
    assert_eq!(integer(ok, "end_whole_second"), Some(i64::from(seconds[0].end)));
    assert_eq!(text(ok, "parts_ns"), None);

    assert_eq!(text(failed, "status").as_deref(), Some("failed"));
    assert_eq!(text(failed, "failure").as_deref(), Some(failure.kind.name()));
    assert_eq!(text(failed, "error"), Some(failure.reason.clone()));
    assert_eq!(text(failed, "run_id"), failure.run_id);
    let known = ["run_id", "fingerprint", "status", "failure", "error", "source", "source_bytes"];
    for (name, field) in failed.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        assert_eq!(*field, None, "{name}");
    }
}

#[test]
fn rows_of_functions_carry_what_is_asked_most() {
    let run = (0..).map(|seed| runs::run(seed, 5)).find(|run| run.frames.len() > 3 && run.record.label("os").is_none());
    let run = run.unwrap();
    let found = rows(&write(DatasetTable::Frames, std::slice::from_ref(&run), &[]));
    assert_eq!(found.len(), run.frames.len());
    for (row, frame) in found.iter().zip(&run.frames) {
        assert_eq!(text(row, "function").as_deref(), Some(run.name(frame.function)));
        assert_eq!(text(row, "thread").as_deref(), Some(run.name(frame.thread)));
        assert_eq!(integer(row, "all_weight"), Some(frame.all_weight as i64));
        assert_eq!(text(row, "unit").as_deref(), Some(run.record.unit.name()));
        assert_eq!(text(row, "app_version").as_deref(), run.record.label("app_version"));
        assert_eq!(text(row, "os"), None);
    }
}

/// A run that took a second.
fn second_of(run: &RunMeasures) -> RunRecord {
    RunRecord { wall: Some(Nanos::from_millis(1000)), ..run.record.clone() }
}

/// The slow form: each second of each scope by itself.
#[test]
fn histograms_are_those_of_every_whole_second() {
    let mut checked = 0;
    for run in (0..60).map(|seed| runs::run(seed, 1)) {
        let found = rows(&write(DatasetTable::Hist, std::slice::from_ref(&run), &[]));
        let seconds: Vec<u32> = run.record.whole_seconds().into_iter().flatten().collect();
        let rate = |second: u32, is_in: &dyn Fn(&str, &str) -> bool| {
            let windows = run.windows.iter().filter(|window| window.second == second);
            let windows = windows.filter(|window| is_in(run.name(window.process), run.name(window.thread)));
            second_of(&run).rate(windows.map(|window| window.weight).sum()).unwrap()
        };
        let mut of_scope = std::collections::BTreeMap::<_, Vec<_>>::new();
        for row in &found {
            let key = (text(row, "scope").unwrap(), text(row, "process"), text(row, "thread"));
            of_scope.entry(key).or_default().push(row);
            assert_eq!((text(row, "metric").as_deref(), integer(row, "scale")), (Some("cpu_1s"), Some(6)));
        }
        assert_eq!(of_scope.contains_key(&("run".to_owned(), None, None)), !seconds.is_empty());
        for ((scope, process, thread), buckets) in of_scope {
            assert_eq!((process.is_some(), thread.is_some()), (scope != "run", scope == "thread"));
            let is_in = |p: &str, t: &str| {
                process.as_deref().is_none_or(|name| name == p) && thread.as_deref().is_none_or(|name| name == t)
            };
            let mut expected = std::collections::BTreeMap::<_, (i64, i64)>::new();
            for second in seconds.clone() {
                let rate = rate(second, &is_in);
                let bucket =
                    expected.entry(ExponentialHistogram::bucket_index(rate.as_f64()).map(i64::from)).or_default();
                *bucket = (bucket.0 + 1, bucket.1 + rate.get() as i64);
            }
            let value = |row: &&Vec<_>| {
                (integer(row, "bucket"), (integer(row, "n").unwrap(), integer(row, "sum_millionths").unwrap()))
            };
            assert_eq!(buckets.iter().map(value).collect::<std::collections::BTreeMap<_, _>>(), expected);
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked} histograms");
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
    let digit = at + tables[0][at..].iter().position(|byte| *byte == b'4').unwrap();
    for version in [b'3', b'5'] {
        tables[0][digit] = version;
        let error = read(&tables).unwrap_err();
        assert_eq!(error.kind, DatasetErrorKind::OtherVersion);
        assert!(error.to_string().contains("and this traceparse reads version 4"), "{error}");
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

/// Counts panics of this thread instead of printing them.
fn without_panics<T>(run: impl FnOnce() -> T) -> (T, usize) {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static IS_COUNTED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if IS_COUNTED.get() {
            PANICS.fetch_add(1, Ordering::Relaxed);
            if std::env::var_os("TRACEPARSE_SHOW_PANICS").is_some() {
                eprintln!("{info}");
            }
        } else {
            usual(info);
        }
    }));
    IS_COUNTED.set(true);
    let result = run();
    IS_COUNTED.set(false);
    (result, PANICS.load(Ordering::Relaxed))
}

/// Bytes changed, cut and repeated: an error or other numbers, and the Parquet reader never panics, although a panic would be
/// caught.
#[test]
fn damaged_files_are_errors() {
    let written: Vec<RunMeasures> = (0..4).map(|seed| runs::run(seed, 30)).collect();
    let whole = write_all(&written, &[runs::failure(1)]);
    let mut numbers = runs::Numbers::new(11);
    let (mut errors, mut same) = (0, 0);
    let ((), panics) = without_panics(|| {
        for round in 0..MUTATIONS {
            let mut tables = whole.clone();
            let table = &mut tables[round % 5];
            mutate(table, &mut numbers);
            match read(&tables) {
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    errors += 1;
                }
                Ok((read, _)) => same += usize::from(read == written),
            }
            let _ = KnownRun::all(Cursor::new(tables[0].clone()));
        }
    });
    assert!(errors > MUTATIONS / 3, "{errors} errors, {same} the same");
    assert_eq!(panics, 0, "caught, but the checks before should have seen it");
}

const MUTATIONS: usize = 4000;

fn mutate(bytes: &mut Vec<u8>, numbers: &mut runs::Numbers) {
    let length = bytes.len() as u64;
    // Half of them in what describes the file, which stands at its end.
    let from = if numbers.below(2) == 0 { length.saturating_sub(1500) } else { 0 };
    for _ in 0..1 + numbers.below(3) {
        let at = (from + numbers.below(length - from)) as usize;
        match numbers.below(4) {
            0 => bytes[at] = numbers.below(256) as u8,
            1 => bytes[at] ^= 1 << numbers.below(8),
            2 => bytes[at] = [0, 0xff, 0x7f, 0x80][numbers.below(4) as usize],
            _ => bytes[at] = bytes[at].wrapping_add(1),
        }
    }
    match numbers.below(12) {
        0 => bytes.truncate(numbers.below(length) as usize),
        1 => {
            let at = numbers.below(length) as usize;
            bytes.insert(at, numbers.below(256) as u8);
        }
        2 => {
            bytes.remove(numbers.below(length) as usize);
        }
        _ => {}
    }
}

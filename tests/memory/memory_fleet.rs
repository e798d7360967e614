//! The memory for a report on a large dataset. A single test, since the peak is measured for the whole process.

use std::fs::File;
use std::io::{BufWriter, Seek};

use support::wide_fleet::WideFleet;
use traceparse::fleet::{DatasetError, DatasetRow, DatasetTable, FleetBuilder, FleetOptions, FleetReport};
use traceparse::output::{self, Format};

use crate::peak;

/// A million rows of functions.
const RUNS: u32 = 2_000;
const ROWS: usize = 500;
/// Values in memory before they go to a file.
const VALUES: u64 = 256 << 10;

/// The tables of a data file, in the order of [`DatasetTable::ALL`].
fn tables(runs: u32) -> Vec<File> {
    let fleet = WideFleet::new(3, ROWS);
    let table = |table: DatasetTable| {
        let mut file = BufWriter::new(tempfile::tempfile().unwrap());
        table.write((0..runs).map(|index| fleet.run(index)), &[], &mut file).unwrap();
        file.into_inner().unwrap()
    };
    DatasetTable::ALL.into_iter().map(table).collect()
}

/// The report on a data file, with so many bytes of values in memory, and the bytes of all memory at most meanwhile, and of the file.
fn report(tables: &[File], values: u64) -> (FleetReport, u64, u64) {
    let options = FleetOptions { by: vec!["app_version".to_owned()], top: Some(20), ..FleetOptions::default() };
    let open = |table: DatasetTable| -> Result<File, DatasetError> {
        let mut file = tables[table as usize].try_clone().unwrap();
        file.rewind().unwrap();
        Ok(file)
    };
    let ((report, spilled), peak) = peak(|| {
        let mut builder = FleetBuilder::new(options);
        for row in DatasetRow::read(open).unwrap() {
            let DatasetRow::Run(run) = row.unwrap() else { panic!("a file that gave no run") };
            builder.add_shared(*run);
            if builder.spillable() > values {
                builder.spill(|| Ok(Box::new(tempfile::tempfile()?))).unwrap();
            }
        }
        let spilled = builder.spilled();
        (builder.try_finish().unwrap(), spilled)
    });
    (report, peak, spilled)
}

fn json(report: &FleetReport) -> Vec<u8> {
    let mut out = Vec::new();
    output::write(report, &Format::Json, &mut out).unwrap();
    out
}

pub(crate) fn a_million_rows_take_24_mib_at_most() {
    let (small, large) = (tables(RUNS / 4), tables(RUNS));
    let (_, small_peak, small_file) = report(&small, VALUES);
    let (spilled, peak, file) = report(&large, VALUES);
    let (whole, whole_peak, no_file) = report(&large, u64::MAX);
    let rows = DatasetTable::Frames.row_count(large[DatasetTable::Frames as usize].try_clone().unwrap()).unwrap();
    println!(
        "{rows} rows: {peak} bytes at most with {file} bytes in a file, {whole_peak} without; a quarter of the runs: \
         {small_peak} with {small_file}"
    );
    assert!(rows > 900_000, "{rows} rows are not a million");
    assert!(json(&spilled) == json(&whole), "another report with values in a file");
    assert!(no_file == 0 && small_file > 0 && file > 3 * VALUES, "{file} bytes in a file");
    assert!(peak < 24 << 20, "{peak} bytes");
}

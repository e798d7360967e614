//! The measures kept of real recordings, with numbers that another XML reader counted (Python's ElementTree, which resolved references and
//! added up the rows).

use std::path::Path;

use libtest_mimic::Failed;
use traceparse::fleet::{MeasureOptions, RunContext, RunMeasures};
use traceparse::read;
use traceparse::recording::{Options, TimeSource, Toc};
use traceparse::units::{Millionths, Nanos};

/// The measures of one recording.
pub(crate) struct Expected {
    pub(crate) file: &'static str,
    pub(crate) toc: &'static str,
    schema: &'static str,
    /// Weight, samples, effective samples, usual weight.
    sums: [u64; 4],
    cores: u32,
    /// Recorded time, its source, its start.
    wall: (u64, TimeSource, u64),
    labels: &'static [(&'static str, &'static str)],
    notes: usize,
    /// The number of functions and of binaries, over all threads.
    distinct: [usize; 2],
    /// Binary, function, weight as the leaf, weight anywhere, samples as the leaf, samples anywhere.
    functions: &'static [(&'static str, &'static str, [u64; 4])],
    /// Binary, weight as the leaf, weight anywhere.
    binaries: &'static [(&'static str, [u64; 2])],
    /// Second, weight, samples.
    windows: &'static [(u32, u64, u64)],
}

pub(crate) const EXPECTED: [Expected; 5] = [
    Expected {
        file: "26.2/finder_cpu_profile",
        toc: "26.2/finder_toc",
        schema: "cpu-profile",
        sums: [63_695_607, 91, 71, 1_000_029],
        cores: 5,
        wall: (3_398_757_000, TimeSource::Toc, 0),
        labels: &[("app", "Finder"), ("device", "MacBook Pro"), ("os", "macOS 15.7.3"), ("os_build", "24G419")],
        notes: 0,
        distinct: [299, 19],
        functions: &[
            ("CoreServicesInternal", "_FSURLCopyResourcePropertyValuesAndFlags", [3_298_155, 15_674_887, 6, 21]),
            ("libsystem_pthread.dylib", "start_wqthread", [0, 63_695_607, 0, 91]),
        ],
        binaries: &[("DesktopServicesPriv", [4_605_266, 63_695_607]), ("CoreFoundation", [20_282_798, 43_331_934])],
        windows: &[(0, 30_271_252, 38), (1, 31_454_823, 47), (2, 774_165, 4), (3, 1_195_367, 2)],
    },
    // The table of contents is of a run of a third of a second. The last sample is at 10.468304658 s and weighs 1 ms.
    Expected {
        file: "14.3.1/time-profile",
        toc: "14.3.1/time-prof-toc",
        schema: "time-profile",
        sums: [105_000_000, 105, 105, 1_000_000],
        cores: 6,
        wall: (10_469_304_658 - 70_294_787, TimeSource::Samples, 70_294_787),
        labels: &[],
        notes: 1,
        distinct: [367, 25],
        functions: &[
            ("libjvm.dylib", "SharedDataRelocator::do_bit(unsigned long)", [22_000_000, 22_000_000, 22, 22]),
            ("libjli.dylib", "JavaMain", [0, 55_000_000, 0, 55]),
        ],
        binaries: &[("libjvm.dylib", [42_000_000, 72_000_000]), ("", [5_000_000, 19_000_000])],
        windows: &[
            (0, 91_000_000, 91),
            (1, 2_000_000, 2),
            (2, 1_000_000, 1),
            (3, 2_000_000, 2),
            (4, 2_000_000, 2),
            (5, 1_000_000, 1),
            (6, 2_000_000, 2),
            (9, 1_000_000, 1),
            (10, 3_000_000, 3),
        ],
    },
    Expected {
        file: "14.3.1/cpu-profile",
        toc: "14.3.1/cpu-prof-toc",
        schema: "cpu-profile",
        sums: [568_840_087, 584, 573, 1_000_377],
        cores: 7,
        wall: (805_257_000, TimeSource::Toc, 0),
        labels: &[("app", "java"), ("device", "MacBook Pro"), ("os", "macOS 13.5.1"), ("os_build", "22G90")],
        notes: 0,
        distinct: [20, 2],
        functions: &[
            ("a.out", "b", [14_438_576, 568_103_456, 15, 582]),
            ("a.out", "(unnamed)", [8_003_014, 8_003_014, 8, 8]),
        ],
        binaries: &[("dyld", [322_133, 568_840_087]), ("a.out", [568_517_954, 568_517_954])],
        windows: &[(0, 568_840_087, 584)],
    },
    // Some samples are of the moments after what the table of contents (0.746006 s) has as the end; they were recorded, the last
    // one at 0.772130138 s.
    Expected {
        file: "14.3.1/counters-time-profile",
        toc: "14.3.1/time-toc",
        schema: "counters-profile",
        sums: [149_000_000, 149, 149, 1_000_000],
        cores: 8,
        wall: (773_130_138, TimeSource::Toc, 0),
        labels: &[("app", "java"), ("device", "MacBook Pro"), ("os", "macOS 13.5.1"), ("os_build", "22G90")],
        notes: 0,
        distinct: [446, 19],
        functions: &[("libjvm.dylib", "SharedDataRelocator::do_bit(unsigned long)", [20_000_000, 20_000_000, 20, 20])],
        binaries: &[],
        windows: &[(0, 149_000_000, 149)],
    },
    Expected {
        file: "26.5/cpu-profile",
        toc: "26.5/toc",
        schema: "cpu-profile",
        sums: [343_225, 21, 6, 22],
        cores: 7,
        wall: (3_450_364_000, TimeSource::Toc, 0),
        labels: &[("app", "yes"), ("device", "Mac Studio"), ("os", "macOS 26.5"), ("os_build", "25F71")],
        notes: 0,
        distinct: [3, 3],
        functions: &[
            ("libsystem_kernel.dylib", "write", [342_850, 342_850, 20, 20]),
            ("yes", "(unnamed)", [375, 343_225, 1, 21]),
        ],
        binaries: &[("dyld", [0, 343_225])],
        windows: &[(0, 40_916, 5), (1, 144_003, 6), (2, 158_306, 10)],
    },
];

/// Tables whose weights are times.
pub(crate) const TIMED: [&str; 5] = [
    "12.5/time-profile",
    "14.3.1/time-profile",
    "14.3.1/counters-time-profile",
    "14-16/time-profile",
    "26.4.1/time-profile",
];

/// Timers are not even: so much less than an interval may be between two samples of a thread.
const JITTER: u64 = 40_000;

/// Measures the first rows of a recording, and all of them, with nothing that tells how long it took.
pub(crate) fn no_thread_runs_more_than_all_the_time(folder: &Path, file: &str) -> Result<(), Failed> {
    let text = std::fs::read_to_string(folder.join(file).with_extension("xml"))?;
    let ends: Vec<usize> = text.match_indices("</row>").map(|(at, row)| at + row.len()).collect();
    let mut checked = 0;
    for (rows, end) in (1..=ends.len()).zip(&ends).filter(|(rows, _)| *rows <= 60 || *rows == ends.len()) {
        let is_whole = rows == ends.len();
        let options = Options { allow_truncated: true, ..Options::default() };
        let export = read(if is_whole { &text } else { &text[..*end] }.as_bytes(), file, &options)?;
        let measured = export.measure(&context(file, Vec::new()), &MeasureOptions::default())?;
        let [run] = measured.runs.as_slice() else { return Err("one run expected".into()) };
        assert_eq!((run.record.samples, run.record.wall_source), (rows as u64, TimeSource::Samples));
        let wall = run.record.wall.ok_or("no time")?.as_nanos();
        for thread in export.profile.thread_ids() {
            let own = export.profile.samples().iter().filter(|sample| sample.thread == thread);
            let weight: u64 = own.map(|sample| sample.weight).sum();
            let most = if is_whole { wall } else { wall + JITTER };
            assert!(weight <= most, "{rows} rows: {weight} ns of {wall} ns");
            checked += u64::from(weight > 0);
        }
    }
    assert!(checked > 60, "{checked} threads are checked");
    Ok(())
}

fn context(source: &str, tocs: Vec<Toc>) -> RunContext {
    RunContext {
        run_id: "one".to_owned(),
        fingerprint: String::new(),
        source: source.to_owned(),
        source_bytes: 0,
        labels: Vec::new(),
        run_weight: Millionths::ONE,
        duration: None,
        tocs,
    }
}

/// Measures a recording with its table of contents beside it.
pub(crate) fn are_those_of_another_reader(folder: &Path, expected: &Expected) -> Result<(), Failed> {
    let export = super::open(folder, expected.file)?;
    let context = context(expected.file, super::open(folder, expected.toc)?.tocs().cloned().collect());
    let measured = export.measure(&context, &MeasureOptions::default())?;
    let [run] = measured.runs.as_slice() else { return Err("one run expected".into()) };
    let record = &run.record;
    assert_eq!(measured.notes.len(), expected.notes, "{:?}", measured.notes);
    assert_eq!(record.schema, expected.schema);
    assert_eq!([record.weight, record.samples, record.effective_samples, record.usual_weight], expected.sums);
    assert_eq!((record.cores, record.rejected), (expected.cores, 0));
    let (wall, source, start) = expected.wall;
    assert_eq!((record.wall, record.wall_source), (Some(Nanos::from_nanos(wall)), source));
    assert_eq!((record.wall_start, record.start.is_some()), (Nanos::from_nanos(start), source == TimeSource::Toc));
    let labels: Vec<_> = record.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(labels, expected.labels);
    assert_rows(run, expected);
    Ok(())
}

/// Adds up the rows of all threads.
fn assert_rows(run: &RunMeasures, expected: &Expected) {
    let distinct = |mut names: Vec<(&str, &str)>| {
        names.sort_unstable();
        names.dedup();
        names.len()
    };
    let functions = run.frames.iter().map(|row| (run.name(row.binary), run.name(row.function))).collect();
    let binaries = run.binaries.iter().map(|row| (run.name(row.binary), "")).collect();
    assert_eq!([distinct(functions), distinct(binaries)], expected.distinct);
    for (binary, function, sums) in expected.functions {
        let rows =
            run.frames.iter().filter(|row| run.name(row.binary) == *binary && run.name(row.function) == *function);
        let found = rows.fold([0; 4], |sum, row| {
            [sum[0] + row.self_weight, sum[1] + row.all_weight, sum[2] + row.self_samples, sum[3] + row.all_samples]
        });
        assert_eq!(found, *sums, "{function}");
    }
    for (binary, sums) in expected.binaries {
        let rows = run.binaries.iter().filter(|row| run.name(row.binary) == *binary);
        let found = rows.fold([0; 2], |sum, row| [sum[0] + row.self_weight, sum[1] + row.all_weight]);
        assert_eq!(found, *sums, "{binary}");
    }
    let mut windows: Vec<(u32, u64, u64)> = Vec::new();
    for second in 0..=run.windows.iter().map(|row| row.second).max().unwrap_or(0) {
        let rows = run.windows.iter().filter(|row| row.second == second);
        let (weight, samples) = rows.fold((0, 0), |sum, row| (sum.0 + row.weight, sum.1 + row.samples));
        windows.extend((samples > 0).then_some((second, weight, samples)));
    }
    assert_eq!(windows, expected.windows);
}

//! Reports of `sample`: the questions that they answer, and those that they cannot answer.

use std::fs::{self, File};
use std::io;

use crate::command::{fails, fixture, json, ok};
use crate::symbols_case::built;

fn report() -> String {
    format!("{}/fixtures/sample/demo.sample.txt", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn counts_are_presence() {
    let text = ok(&[&report(), "--view", "full"]);
    assert!(text.contains("4005 samples, of threads that ran or waited: not CPU time"), "{text}");
    assert!(text.contains("macOS 26.6.1 (25G76) · process Demo"), "{text}");
    let series = &json(&[&report()])["series"][0];
    assert_eq!((&series["meaning"], &series["unit"]), (&"presence".into(), &"samples".into()));
    assert!(series["first_time_ns"].is_null());
}

#[test]
fn symbols_name_every_frame_by_its_address() {
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    let text = ok(&[&report(), "--format", "folded", "--no-threads", "--dsym", &dsym]);
    // A name that a stripped binary suggested is replaced, too.
    assert!(!text.contains("nearest_export"), "{text}");
    assert!(text.lines().any(|line| line == "start;main;run_loop;draw_frame;draw_shape;fill_span 1500"), "{text}");
}

#[test]
fn requests_for_times_are_refused_by_name() {
    for (args, option) in [
        (&["--view", "timeline"][..], "--view timeline"),
        (&["--view", "samples"], "--view samples"),
        (&["--view", "cores"], "--view cores"),
        (&["--view", "flame-chart"], "--view flame-chart"),
        (&["--format", "firefox"], "--format firefox"),
        (&["--format", "speedscope"], "--format speedscope"),
        (&["--format", "chrome-trace"], "--format chrome-trace"),
        (&["--time", "1s..2s"], "--time"),
    ] {
        let error = fails(1, &[&[report().as_str()], args].concat());
        assert!(error.contains("reports of sample do not record when") && error.contains(option), "{args:?}: {error}");
    }
    let error = fails(1, &[&report(), "--during", "Layout"]);
    assert!(error.contains("no signposts"), "{error}");
}

#[test]
fn presence_is_not_compared_with_use_of_the_cpu() {
    let (report, ticks) = (report(), fixture("26.4/time-sample"));
    for force in [&[][..], &["--force"]] {
        let error = fails(1, &[&["diff", report.as_str(), ticks.as_str()], force].concat());
        assert!(error.contains("running or waiting"), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("later.txt").display().to_string();
    fs::write(&copy, fs::read_to_string(&report).unwrap().replace("    7 Thread_", "    9 Thread_")).unwrap();
    assert!(ok(&["diff", &report, &copy]).contains("4005 samples"));
}

#[test]
fn a_fleet_has_no_cpu_use_of_them() {
    let error = fails(1, &["fleet", "report", &report()]);
    assert!(error.contains("no CPU use to measure"), "{error}");
}

#[test]
fn neither_the_name_of_the_file_nor_its_compression_matters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.xml").display().to_string();
    let mut packed = flate2::write::GzEncoder::new(File::create(&path).unwrap(), flate2::Compression::fast());
    io::copy(&mut File::open(report()).unwrap(), &mut packed).unwrap();
    packed.finish().unwrap();
    let [plain, packed] = [report(), path].map(|path| json(&[&path, "--view", "functions"])["functions"].clone());
    assert_eq!(plain, packed);
}

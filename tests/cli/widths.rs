//! Text on a terminal is cut to its width, in every view.

use std::fs::File;

use traceparse::output::{self, Format, Style};
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::report::{ReportOptions, SeparateBy, View};
use unicode_width::UnicodeWidthStr;

use crate::command::fixture;

const VIEWS: [View; 17] = [
    View::Overview,
    View::Full,
    View::Summary,
    View::Threads,
    View::Tree,
    View::Functions,
    View::Binaries,
    View::Heaviest,
    View::Sandwich,
    View::Categories,
    View::Transitions,
    View::Lines,
    View::Processes,
    View::States,
    View::Timeline,
    View::Samples,
    View::FlameChart,
];

fn open(case: &str) -> Recording {
    support::name_options();
    read(File::open(fixture(case)).expect("the fixture"), "input.xml", &Options::default()).expect("it can be read")
}

fn shown(export: &Recording, view: View, width: usize) -> String {
    let mut options = ReportOptions { view, separate_by: SeparateBy::Thread, ..ReportOptions::default() };
    options.pruning.min_percent = 1.0;
    options.function = Some("main".to_owned());
    let mut out = Vec::new();
    output::write(&export.report(&options), &Format::Text(Style { width: Some(width), ..Style::default() }), &mut out)
        .expect("no error");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for case in ["27/orchard", "27/cpu-profile", "27/time-profile-waiting", "27/several-tables"] {
        let export = open(case);
        for width in [44, 50, 60, 80, 100, 120, 200] {
            for view in VIEWS {
                let text = shown(&export, view, width);
                assert!(text.lines().count() > 0, "{case} {view:?}");
                let wide: Vec<&str> = text.lines().filter(|line| line.width() > width).collect();
                assert!(wide.is_empty(), "{case} {view:?} at {width}: {wide:#?}");
            }
        }
    }
}

/// A total without its first digits would be another number.
#[test]
fn headings_contain_their_totals() {
    let export = open("27/orchard");
    for width in 60..100 {
        for view in [View::Threads, View::Functions, View::Heaviest, View::Timeline, View::Tree] {
            let text = shown(&export, view, width);
            assert!(text.contains("485.00 ms in 485 samples\n"), "{view:?} at {width}: {text}");
            let pids: Vec<&str> = text.split(['(', '…', ' ']).filter(|word| word.ends_with("50)")).collect();
            assert!(pids.iter().all(|pid| *pid == "4150)"), "{view:?} at {width}: {pids:?}");
        }
    }
}

#[test]
fn samples_name_their_missing_columns() {
    let export = open("27/orchard");
    let note = "Columns that do not fit at this width: core, state. CSV and\n  JSON have all.\n";
    assert!(shown(&export, View::Samples, 60).ends_with(note));
    assert!(shown(&export, View::Samples, 60).contains("0x2a117)"));
    assert!(!shown(&export, View::Samples, 80).contains("Columns"));
    let narrow = shown(&export, View::Samples, 40);
    assert!(narrow.starts_with("            time leaf\n   00:00.312.400 orchard::"), "{narrow}");
    assert!(narrow.contains("Columns that do not fit at this width:\n  weight, thread, core, state."), "{narrow}");
}

#[test]
fn trees_and_charts_name_their_missing_columns() {
    let export = open("27/orchard");
    for (view, width, column) in
        [(View::Tree, 60, "thread"), (View::Full, 60, "thread"), (View::FlameChart, 44, "self ms")]
    {
        let note = format!("Columns that do not fit at this width: {column}.\n");
        let text = shown(&export, view, width).replace("\n  ", " ");
        assert_eq!(text.matches(&note).count(), 1, "{view:?}: {text}");
    }
}

/// Leaves are aligned, regardless of the weights of samples.
#[test]
fn columns_of_samples_are_straight() {
    for (case, width) in [("27/cpu-profile", 80), ("27/cpu-profile", 200), ("27/orchard", 120)] {
        let text = shown(&open(case), View::Samples, width);
        let (header, rows) = text.split_once('\n').expect("a header");
        let column = header.find("thread").expect("threads");
        for row in rows.lines() {
            assert_eq!(&row[column - 2..column], "  ", "{case} at {width}: {header}\n{row}");
            assert_ne!(&row[column..=column], " ", "{case} at {width}: {header}\n{row}");
        }
    }
}

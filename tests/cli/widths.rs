//! Text that goes to a terminal is cut to its width, in every view.

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

/// Lines about hidden rows, and the numbers of timelines, may need a few columns more than 60.
const NEEDS_MORE: [View; 5] = [View::Functions, View::Binaries, View::Transitions, View::Lines, View::Timeline];

fn open(case: &str) -> Recording {
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
        for width in [60, 80, 100, 120, 200] {
            for view in VIEWS.into_iter().filter(|view| width >= 80 || !NEEDS_MORE.contains(view)) {
                let text = shown(&export, view, width);
                assert!(text.lines().count() > 0, "{case} {view:?}");
                let wide: Vec<&str> = text.lines().filter(|line| line.width() > width).collect();
                assert!(wide.is_empty(), "{case} {view:?} at {width}: {wide:#?}");
            }
        }
    }
}

/// Leaves stand one below the other, whatever the samples weigh.
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

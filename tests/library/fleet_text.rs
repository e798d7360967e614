//! Fleet reports as text: the text fits, and equals the files in `fleet_text/`.
//!
//! `TRACEPARSE_BLESS=1 cargo test --test library fleet_text` writes these files again; review the difference before you keep it.

use std::fs;

use support::fleet;
use support::fleet_reports::{
    ascending, by, every_kind, failure, odd_names, one_heavy, plain_run, report, rich, rules, run_of, two_units,
};
use traceparse::fleet::{FailureKind, FleetBuilder, FleetOptions, FleetReport, FleetScope, RunMeasures};
use traceparse::output::{self, Format, OverviewContext, Style};
use unicode_width::UnicodeWidthStr;

fn text_of(report: &FleetReport, width: Option<usize>) -> String {
    styled(report, &Style { width, ..Style::default() })
}

fn styled(report: &FleetReport, style: &Style) -> String {
    let mut out = Vec::new();
    output::write(report, &Format::Text(*style), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn overview_of(report: &FleetReport, width: Option<usize>) -> String {
    let mut out = Vec::new();
    let style = Style { width, ..Style::default() };
    output::write(report, &Format::Overview(style, OverviewContext::default()), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Lines of the overview.
const SCREEN: usize = 40;

#[test]
fn overview_fits_one_screen_and_omits_unknown_numbers() {
    let of_runs = |count| ("ascending", report(&ascending(count), FleetOptions::default()));
    let pages = pages().into_iter().map(|(name, report, _)| (name, report));
    for (name, report) in every_kind().into_iter().chain(pages).chain([of_runs(13), of_runs(1_000)]) {
        for width in [Some(80), Some(200), None] {
            let text = overview_of(&report, width);
            assert!(text.lines().count() <= SCREEN, "{name} at {width:?}: {} lines\n{text}", text.lines().count());
            // Without a width, a finding is one line.
            for line in text.lines().filter(|line| width.is_none() && !line.starts_with('•')) {
                assert!(!line.contains("n/a"), "{name}: {line}");
            }
        }
    }
}

#[test]
fn overview_has_a_median_of_zero() {
    let runs: Vec<RunMeasures> = (0..30).map(|index| plain_run(index, if index < 20 { 0 } else { 40 })).collect();
    let text = overview_of(&report(&runs, FleetOptions::default()), None);
    let percentiles = ["P50", "P90"].map(|name| text.lines().find(|line| line.trim_start().starts_with(name)));
    let values = percentiles.map(|line| line.and_then(|line| line.split_whitespace().nth(1)));
    assert!(values[0] == Some("0") && values[1].is_some_and(|value| value != "0"), "{values:?}\n{text}");
}

#[test]
fn overview_describes_hidden_cohorts() {
    let of = |means: [u64; 10]| {
        let run = |(index, hundredths): (usize, u64)| {
            let mut run = plain_run(index as u32, hundredths);
            run.record.labels = vec![("ring".to_owned(), format!("ring {index}"))];
            run
        };
        let runs: Vec<RunMeasures> = means.into_iter().enumerate().map(run).collect();
        let text = overview_of(&report(&runs, by(&["ring"])), None);
        text.lines().find(|line| line.contains("more cohort")).unwrap_or_default().trim().to_owned()
    };
    assert_eq!(of([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]), "and 4 more cohorts with a lower mean");
    assert_eq!(
        of([10, 9, 8, 7, 6, 5, 5, 3, 2, 1]),
        "and 4 more cohorts",
        "one has the same mean as the last one shown"
    );
    assert_eq!(of([10, 9, 8, 7, 6, 5, 0, 0, 0, 0]), "and 4 more cohorts with a lower mean");
}

#[test]
fn overview_names_the_runs_of_percentiles_and_the_heaviest() {
    let text = overview_of(&report(&ascending(100), FleetOptions::default()), None);
    let has_line = |start: &str, end: &str| {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let find = |line: &str| words(line).starts_with(&words(start)) && line.ends_with(end);
        assert!(text.lines().any(find), "no {start} {end}:\n{text}");
    };
    let source = |index: u32| plain_run(index, 1).record.source;
    // Runs have 0.01 %, 0.02 % … 1 %.
    for (start, index) in
        [("P50  0.50", 49), ("P90  0.90", 89), ("P95  0.95", 94), ("P99  0.99", 98), ("max  1.00", 99)]
    {
        has_line(start, &source(index));
    }
    for (start, index) in [("1.00 ", 99), ("0.99 ", 98), ("0.98 ", 97)] {
        has_line(start, &source(index));
    }
    assert!(!text.contains("P99.9"), "100 runs are too few:\n{text}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, report) in every_kind() {
        for width in [40, 60, 80, 200] {
            let both = overview_of(&report, Some(width)) + &text_of(&report, Some(width));
            for line in both.lines() {
                assert!(line.width() <= width, "{name} at {width}: {} columns: {line}", line.width());
                assert!(!line.chars().any(char::is_control), "{name}: {line:?}");
                assert_eq!(line.trim_end(), line, "{name}");
            }
        }
    }
}

#[test]
fn without_a_width_nothing_is_cut() {
    let report = odd_names();
    let text = text_of(&report, None);
    let long = format!("std::map<{}>::operator[]", "std::basic_string<char>, ".repeat(12));
    assert!(text.contains(&long) && text.contains("a\\tb") && !text.contains("do not fit"));
    assert!(text.contains("P99.9"), "no column is left out");
}

#[test]
fn colours_change_nothing_else() {
    for (name, report) in every_kind() {
        for width in [Some(80), None] {
            let coloured = styled(&report, &Style { width, is_coloured: true, ..Style::default() });
            let mut rest = coloured.as_str();
            let mut plain = String::new();
            while let Some((before, after)) = rest.split_once('\x1b') {
                plain.push_str(before);
                rest = after.split_once('m').unwrap().1;
            }
            plain.push_str(rest);
            let trimmed = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
            assert_eq!(trimmed(&plain), trimmed(&text_of(&report, width)), "{name}");
        }
    }
}

#[test]
fn marks_are_explained_once() {
    for (name, report) in every_kind() {
        let text = text_of(&report, None);
        let notes =
            |line: &&str| ["n/a: ", "?: ", "~: no more", "!: ", "*: "].iter().any(|mark| line.starts_with(mark));
        let mut notes: Vec<&str> = text.lines().filter(notes).collect();
        let count = notes.len();
        notes.sort_unstable();
        notes.dedup();
        assert_eq!(notes.len(), count, "{name}: {notes:?}");
    }
}

/// The columns of all value tables, without the columns that only some tables have.
fn value_headers(text: &str) -> Vec<Vec<&str>> {
    let is_header = |line: &&str| line.split_whitespace().any(|word| word == "max") && !line.contains(". ");
    let is_value = |word: &&str| word.starts_with('P') || ["max", "mean"].contains(word);
    let headers = text.lines().filter(is_header);
    headers
        .map(|line| line.split_whitespace().map(|word| word.trim_end_matches('*')).filter(is_value).collect())
        .collect()
}

#[test]
fn all_tables_of_a_page_have_the_same_columns() {
    let runs = fleet::runs(7, 2_000);
    let options = by(&["app_version", "device"]);
    let report = report(&runs, options);
    for (width, expected) in [(40, "P50 P99 max"), (60, "P50 P99 max mean"), (200, "P50 P90 P95 P99 P99.9 max mean")] {
        let text = text_of(&report, Some(width));
        let headers = value_headers(&text);
        assert!(headers.len() > 20, "{text}");
        assert!(headers.iter().all(|header| header.join(" ") == expected), "at {width}: {:?}\n{text}", headers[0]);
    }
    // Columns without values in any cohort are omitted first, even the sort column.
    let few = self::report(&ascending(40), FleetOptions::default());
    let text = text_of(&few, Some(40));
    assert!(value_headers(&text).iter().all(|header| header.join(" ") == "P50 P95 max"), "{text}");
}

#[test]
fn cohorts_never_look_the_same() {
    let mut runs = ascending(24);
    for (index, run) in runs.iter_mut().enumerate() {
        let device = format!("a device with a long name {} of a long series", index % 4);
        run.record.labels = vec![("device".to_owned(), device), ("lab".to_owned(), format!("lab {}", index % 3))];
    }
    let report = report(&runs, by(&["device", "lab"]));
    for width in [40, 80, 200] {
        let text = text_of(&report, Some(width));
        let table = text.lines().skip_while(|line| !line.starts_with("CPU use across"));
        let rows = table.take_while(|line| !line.is_empty()).filter(|line| line.contains(" · "));
        let mut names: Vec<&str> =
            rows.skip(2).map(|row| row.trim_start_matches(|c: char| !c.is_alphabetic() && c != '…')).collect();
        assert_eq!(names.len(), 12, "{text}");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 12, "{names:?}");
    }
    let text = text_of(&report, Some(200));
    assert!(text.lines().any(|line| line.ends_with("  device · lab")), "{text}");
    assert!(text.lines().any(|line| line.ends_with("a device with a long name 3 of a long series · lab 2")), "{text}");
    assert_eq!(
        text.lines().filter(|line| line.contains('┃') && !line.contains("median")).count(),
        12,
        "a box for each"
    );
}

/// Reports by the name of their file, each with what it shows, and the width of the terminal.
fn pages() -> Vec<(&'static str, FleetReport, Option<usize>)> {
    let plain = FleetOptions::default;
    let function = |index, hundredths, name| run_of(index, hundredths, ["App", "Main Thread", "App", name]);
    let rare = |index| function(index, 100, if index < 97 { "rare()" } else { "usual()" });
    // One sample in every second run, as if chance distributed half a sample per run.
    let chance = |index| {
        let mut run = plain_run(index, 100);
        let samples = u64::from(index % 2);
        (run.frames[0].self_weight, run.frames[0].self_samples) = (samples * 1_000_000, samples);
        run
    };
    let mut with_heavy = one_heavy();
    with_heavy.extend((0..7).map(|index| function(200 + index, 4_000, ["layout()", "draw()", ""][index as usize % 3])));
    let of_any = rules(&[
        "function(*).self.max > 30",
        "function(*).self.p50 > 0.5",
        "function(*).self.p90.lower > 90",
        "binary(*).all.p50 > 2",
    ]);
    let of_all = rules(&["cpu.max > 50", "cpu.p99 > 50", "cpu.p99.9 > 50", "function(\"nothing\").self.mean > 1"]);
    let mut in_labs = ascending(30);
    for (index, run) in in_labs.iter_mut().enumerate() {
        run.record.labels = vec![("lab".to_owned(), if index == 0 { "south" } else { "north" }.to_owned())];
    }
    let mut failed = FleetBuilder::new(by(&["app_version"]));
    ascending(3).iter().for_each(|run| failed.add(run));
    for index in 0..9 {
        let mut file = failure(index);
        file.source = format!("x{index}.xml");
        if index != 1 {
            (file.kind, file.reason) = (FailureKind::NotAnExport, format!("reason {index}"));
        }
        if index == 2 {
            file.labels = vec![("app_version".to_owned(), "of a file that failed".to_owned())];
        }
        failed.add_failure(file);
    }
    let functions = FleetOptions { scopes: vec![FleetScope::Function], ..plain() };
    let top = FleetOptions { top: Some(5), ..by(&["app_version"]) };
    let of = |run: &dyn Fn(u32) -> RunMeasures, count| (0..count).map(run).collect::<Vec<_>>();
    vec![
        ("one-heavy-run", report(&one_heavy(), FleetOptions { alerts: of_all, ..plain() }), Some(100)),
        ("10-runs", report(&ascending(10), plain()), Some(120)),
        ("100-runs", report(&ascending(100), plain()), Some(120)),
        ("1000-runs", report(&ascending(1_000), plain()), Some(120)),
        ("4000-runs", report(&ascending(4_000), plain()), Some(120)),
        ("rare-function", report(&of(&rare, 500), plain()), Some(120)),
        ("noise", report(&of(&chance, 400), functions), Some(120)),
        ("alerts-about-any-function", report(&with_heavy, FleetOptions { alerts: of_any, ..plain() }), None),
        ("everything", rich(), Some(80)),
        ("two-units", two_units(), Some(100)),
        ("slow-in-one-version", report(&fleet::runs(7, 2_000), top), Some(100)),
        ("one-run", report(&ascending(1), plain()), Some(80)),
        ("one-run-of-a-cohort", report(&in_labs, by(&["lab"])), Some(100)),
        ("zeros", report(&of(&|index| plain_run(index, 0), 100), plain()), None),
        ("failures", failed.finish(), None),
    ]
}

#[test]
fn pages_are_those_of_the_files() {
    let folder = support::repository("tests/library/fleet_text");
    for (name, report, width) in pages() {
        let path = folder.join(name).with_extension("txt");
        let page = format!("{}\n\n(--view full)\n\n{}", overview_of(&report, width), text_of(&report, width));
        if std::env::var_os("TRACEPARSE_BLESS").is_some_and(|value| value == "1") {
            fs::write(&path, &page).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap();
        let differs = page.lines().zip(expected.lines()).position(|(found, expected)| found != expected);
        assert!(page == expected, "{name} differs, from line {differs:?} on:\n{page}");
    }
}

#[test]
fn colours_of_alerts_are_their_states() {
    let report = report(&one_heavy(), FleetOptions { alerts: rules(&["cpu.max > 50", "cpu.p99 > 50"]), ..by(&[]) });
    let coloured = styled(&report, &Style { width: None, is_coloured: true, ..Style::default() });
    assert!(coloured.contains("\x1b[1;31mFIRED\x1b[0m") && coloured.contains("\x1b[32mquiet\x1b[0m"));
}

/// All tables of differences have the same columns.
#[test]
fn columns_of_differences_are_the_same() {
    let report = rich();
    for width in [40, 60, 80, 120] {
        let text = text_of(&report, Some(width));
        let headers = text.lines().filter(|line| line.starts_with("difference"));
        let numbers = headers.map(|line| line.rsplit_once(' ').unwrap().0.split_whitespace().collect::<Vec<_>>());
        let numbers: Vec<Vec<&str>> = numbers.collect();
        assert!(numbers.len() == 4 && numbers.iter().all(|header| *header == numbers[0]), "at {width}: {numbers:?}");
    }
}

//! Reports on fleets as text: what it says, and that it fits.

use support::fleet;
use support::fleet_reports::{
    ascending, every_kind, failure, odd_names, one_heavy, plain_run, report, rich, run_of, two_units,
};
use traceparse::fleet::{AlertRule, FailureKind, FleetBuilder, FleetOptions, FleetReport, FleetScope, RunMeasures};
use traceparse::output::{self, Format, Style};
use unicode_width::UnicodeWidthStr;

fn text_of(report: &FleetReport, width: Option<usize>) -> String {
    styled(report, &Style { width, ..Style::default() })
}

fn styled(report: &FleetReport, style: &Style) -> String {
    let mut out = Vec::new();
    output::write(report, &Format::Text(*style), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, report) in every_kind() {
        for width in [40, 60, 80, 200] {
            for line in text_of(&report, Some(width)).lines() {
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

/// The numbers of the row of a table that ends with this name.
fn row_of<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let line = text.lines().find(|line| line.trim_end().ends_with(name) && !line.contains('·'));
    let line = line.unwrap_or_else(|| panic!("no row of {name} in\n{text}"));
    line.strip_suffix(name).unwrap().split_whitespace().collect()
}

#[test]
fn one_heavy_run_of_a_hundred_reads_as_what_it_is() {
    let text = text_of(&report(&one_heavy(), FleetOptions::default()), Some(100));
    // Runs, P50, P90, P95, P99, P99.9, max, mean, mean by time.
    assert_eq!(row_of(&text, "all runs"), ["100", "1.00", "1.00", "1.00", "1.00*", "n/a", "99.00", "1.98!", "1.98"]);
    assert!(text.contains("all runs: mean 1.98 is above P90 1.00: a few runs carry it"), "{text}");
    assert!(text.contains("n/a: too few runs. P99.9 needs 1,000 runs;"), "{text}");
    assert!(text.contains("*: upper bound unknown at 95 %. P99 needs 368 runs for it."), "{text}");
    let bars: Vec<&str> = text.lines().filter(|line| line.contains(['█', '▏', '▎', '▍', '▌', '▋'])).collect();
    let counts: Vec<Option<&str>> = bars.iter().map(|bar| bar.split_whitespace().nth(3)).collect();
    assert_eq!(counts, [Some("99"), Some("1")], "the run at 99 % is seen:\n{text}");
    assert!(text.lines().any(|line| line.contains('┃') && line.contains('•')), "{text}");
}

#[test]
fn percentiles_need_enough_runs() {
    let cells = |count: u32| {
        let text = text_of(&report(&ascending(count), FleetOptions::default()), Some(120));
        let row: Vec<String> = row_of(&text, "all runs")[1..6].iter().map(|&cell| cell.to_owned()).collect();
        let to: Vec<String> =
            row_of(&text, "  to, if runs are independent").iter().map(|&cell| cell.to_owned()).collect();
        (row, to, text)
    };
    let (row, to, text) = cells(10);
    assert_eq!(row, ["0.050", "0.090*", "n/a", "n/a", "n/a"]);
    assert_eq!(to, ["0.090", "?", "?", "?", "?"]);
    assert!(
        text.contains("P95 needs 20 runs, P99 needs 100 runs, P99.9 needs 1,000 runs; the largest value"),
        "{text}"
    );
    assert!(text.contains("?: no run is that far out"), "{text}");
    let (row, to, _) = cells(100);
    assert_eq!(row, ["0.50", "0.90", "0.95", "0.99*", "n/a"]);
    assert_eq!(to[3..], ["?", "?"]);
    let (row, _, text) = cells(1_000);
    assert_eq!(row, ["5.00", "9.00", "9.50", "9.90", "9.99*"]);
    assert!(text.contains("P99.9 needs 3,688 runs for it"), "{text}");
    let (row, to, text) = cells(4_000);
    assert_eq!(row, ["20.00", "36.00", "38.00", "39.60", "39.96"]);
    assert!(!to.contains(&"?".to_owned()) && !text.contains("n/a") && !text.contains('*'), "{text}");
}

#[test]
fn rows_say_in_how_many_runs_they_are() {
    let names = |function| ["App", "Main Thread", "App", function];
    let runs: Vec<RunMeasures> =
        (0..500).map(|index| run_of(index, 100, names(if index < 97 { "rare()" } else { "usual()" }))).collect();
    let report = report(&runs, FleetOptions::default());
    let text = text_of(&report, Some(120));
    let row = row_of(&text, "rare()  App");
    assert_eq!(row, ["0", "1.00", "1.00", "1.00", "n/a", "1.00", "0.19", "97", "97,000"]);
}

#[test]
fn noise_is_marked_where_it_lifts_percentiles() {
    // One sample in every second run: what chance makes of half a sample a run.
    let runs: Vec<RunMeasures> = (0..400)
        .map(|index| {
            let mut run = plain_run(index, 100);
            let samples = u64::from(index % 2);
            let row = &mut run.frames[0];
            (row.self_weight, row.self_samples) = (samples * 1_000_000, samples);
            run
        })
        .collect();
    let report = report(&runs, FleetOptions { scopes: vec![FleetScope::Function], ..FleetOptions::default() });
    let row = &report.cohorts[0].tables[0].rows[0];
    assert!(row.is_noise(1) && row.is_noise(3));
    let text = text_of(&report, Some(120));
    let cells = row_of(&text, "work()  App");
    assert_eq!((cells[0], cells[1], cells[3]), ("0", "~0.001", "~0.001"));
    assert!(text.contains("~: no more than sampling noise"), "{text}");
    // A mean that one run carries is above all percentiles; that is no noise.
    assert!(!text_of(&self::report(&one_heavy(), FleetOptions::default()), None).contains('~'));
}

#[test]
fn alerts_about_any_function_name_it() {
    let rules = [
        "function(*).self.max > 30",
        "function(*).self.p50 > 0.5",
        "function(*).self.p90.lower > 90",
        "binary(*).all.p50 > 2",
    ];
    let alerts = rules.map(|rule| AlertRule::parse(rule).unwrap()).to_vec();
    let mut runs = one_heavy();
    for index in 0..7 {
        runs.push(run_of(
            200 + index,
            4_000,
            ["App", "Main Thread", "App", ["layout()", "draw()", ""][index as usize % 3]],
        ));
    }
    let text = text_of(&report(&runs, FleetOptions { alerts, ..FleetOptions::default() }), None);
    let found = |rule: &str| text.lines().skip_while(|line| !line.ends_with(rule)).map(str::trim).collect::<Vec<_>>();
    let lines = found(rules[0]);
    assert_eq!(lines[0], "FIRED      function(*).self.max > 30");
    assert_eq!(lines[1], "max of work() is 99.00 % of one core in 107 runs; threshold 30.00");
    assert_eq!(lines[2], "also beyond the threshold: draw() 40.00, layout() 40.00");
    assert_eq!(lines[3], "1 run is beyond the threshold:");
    let lines = found(rules[1]);
    let interval = "95 % interval for 4 names together from 1.00 to 1.00, if runs are independent; threshold 0.50";
    assert_eq!(lines[1], format!("P50 of work() is 1.00 % of one core in 107 runs; {interval}"));
    assert!(found(rules[2])[0].starts_with("ok "), "{text}");
    assert!(found(rules[3])[0].starts_with("ok "), "{text}");
}

#[test]
fn alerts_say_what_fired_and_why() {
    let rules = ["cpu.max > 50", "cpu.p99 > 50", "cpu.p99.9 > 50", "function(\"nothing\").self.mean > 1"];
    let alerts = rules.map(|rule| AlertRule::parse(rule).unwrap()).to_vec();
    let report = report(&one_heavy(), FleetOptions { alerts, ..FleetOptions::default() });
    let text = text_of(&report, Some(100));
    let alerts: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("alerts")).collect();
    assert!(text.find("CPU use across runs") < text.find("alerts ·"), "{text}");
    assert_eq!(alerts[0], "alerts · 1 fired, 2 undecided, 1 ok");
    assert_eq!(alerts[1], "FIRED      cpu.max > 50");
    assert_eq!(alerts[2].trim(), "max is 99.00 % of one core in 100 runs; threshold 50.00");
    assert_eq!(alerts[3].trim(), "1 run is beyond the threshold:");
    assert_eq!(alerts[4].trim(), "99.00  runs/00061.xml");
    assert_eq!(alerts[5], "ok         cpu.p99 > 50");
    assert!(alerts[6].contains("P99 is 1.00 % of one core in 100 runs; 95 % interval from 1.00 to unknown"), "{text}");
    let undecided = alerts.iter().position(|line| *line == "UNDECIDED  cpu.p99.9 > 50").unwrap();
    assert!(alerts[undecided + 1].contains("P99.9 needs 1,000 runs and has 100"), "{text}");
    assert!(text.contains("no run has a function named \"nothing\""), "{text}");
    let coloured = styled(&report, &Style { width: None, is_coloured: true, ..Style::default() });
    assert!(coloured.contains("\x1b[1;31mFIRED\x1b[0m") && coloured.contains("\x1b[32mok\x1b[0m"));
}

#[test]
fn the_header_names_what_does_not_count() {
    let text = text_of(&rich(), Some(100));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "Fleet: 599 runs in 12 cohorts by app_version, device",
        "1 run without recorded time, so without CPU use, not counted: runs/00004.xml",
        "1 run with estimated time",
        "1,234 rows of CPU tables could not be read",
        "3 damaged runs of recordings, not read and not counted: runs/00006.xml, runs/00007.xml",
        "12 files gave no run: 12 truncated (",
        "broken-02.xml, …)",
        "truncated: a folder",
        "broken-00.xml: it ends inside of <row>, which starts",
        "the manifest has no duration of 3 runs",
        "percentiles across runs by nearest rank, exact; 95 % order-statistic intervals; a function absent",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("broken-03.xml"), "of one kind, a few are named");
    assert_eq!(text.matches("runs by CPU use").count(), 6, "pictures are limited");
}

#[test]
fn units_are_never_in_one_table() {
    let report = two_units();
    let text = text_of(&report, Some(100));
    assert!(text.contains("CPU use across runs · % of one core") && text.contains("CPU use across runs · Mcycles/s"));
}

#[test]
fn differences_show_every_cohort_or_the_extremes() {
    let runs = fleet::runs(7, 2_000);
    let report = report(&runs, FleetOptions { by: vec!["app_version".to_owned()], ..FleetOptions::default() });
    let of_functions = |width| {
        let text = text_of(&report, Some(width));
        let start = text.find("largest differences between cohorts at P99 · functions").unwrap();
        text[start..].lines().take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    let wide = of_functions(100);
    assert_eq!(wide[1].split_whitespace().collect::<Vec<_>>(), ["difference", "1.0", "1.1", "1.2", "1.3", "function"]);
    assert!(wide[2].ends_with("Cache::evict  Orchard"), "{wide:?}");
    let narrow = rich();
    let text = text_of(&narrow, Some(80));
    let start = text.find("largest differences between cohorts at P99 · functions").unwrap();
    let header = text[start..].lines().find(|line| line.starts_with("difference")).unwrap();
    assert!(header.contains("lowest") && header.contains("highest") && header.ends_with("function"), "{header}");
    assert!(text.contains("Too few runs for P99, which needs 100: "), "{text}");
    // All of them have the same columns.
    for width in [40, 60, 80, 120] {
        let text = text_of(&narrow, Some(width));
        let headers = text.lines().filter(|line| line.starts_with("difference"));
        let numbers = headers.map(|line| line.rsplit_once(' ').unwrap().0.split_whitespace().collect::<Vec<_>>());
        let numbers: Vec<Vec<&str>> = numbers.collect();
        assert!(numbers.len() == 4 && numbers.iter().all(|header| *header == numbers[0]), "at {width}: {numbers:?}");
    }
}

/// The sections of a report start in this order.
#[test]
fn the_answer_comes_first() {
    let text = text_of(&rich(), Some(100));
    let sections =
        ["Fleet:", "CPU use across runs", "\nalerts ·", "\nlargest differences", "\nbox plots", "\n━━ app_version"];
    let starts: Vec<usize> = sections.iter().map(|section| text.find(section).unwrap()).collect();
    assert!(starts.is_sorted(), "{starts:?}");
    assert!(text.rfind("\nlargest differences") < text.find("\nbox plots"));
    let cohorts = text.lines().position(|line| line.starts_with("CPU use across runs")).unwrap();
    assert!(cohorts < 20, "the cohorts are on the first screen, not on line {cohorts}");
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

/// The columns of every table of values, without those that only some of the tables have.
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
    let options = FleetOptions { by: vec!["app_version".to_owned(), "device".to_owned()], ..FleetOptions::default() };
    let report = report(&runs, options);
    for (width, expected) in [(40, "P50 P99 max"), (60, "P50 P99 max mean"), (200, "P50 P90 P95 P99 P99.9 max mean")] {
        let text = text_of(&report, Some(width));
        let headers = value_headers(&text);
        assert!(headers.len() > 20, "{text}");
        assert!(headers.iter().all(|header| header.join(" ") == expected), "at {width}: {:?}\n{text}", headers[0]);
    }
    // What is known of no cohort goes first, even what rows are sorted by.
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
    let by = vec!["device".to_owned(), "lab".to_owned()];
    let report = report(&runs, FleetOptions { by, ..FleetOptions::default() });
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

#[test]
fn one_run_is_one_value() {
    let text = text_of(&report(&ascending(1), FleetOptions::default()), Some(80));
    assert!(text.contains("\n1 run: percentiles need more\n"), "{text}");
    assert_eq!(row_of(&text, "all runs"), ["0.010"]);
    assert_eq!(row_of(&text, "work()  App").first(), Some(&"0.010"));
    assert!(!text.contains("n/a") && !text.contains("box plots"), "{text}");
    // Among larger cohorts, it has no percentiles and no interval.
    let mut runs = ascending(30);
    runs.iter_mut().for_each(|run| run.record.labels = vec![("lab".to_owned(), "north".to_owned())]);
    runs[0].record.labels[0].1 = "south".to_owned();
    let text =
        text_of(&report(&runs, FleetOptions { by: vec!["lab".to_owned()], ..FleetOptions::default() }), Some(100));
    assert_eq!(row_of(&text, "south"), ["1", "0.010", "0.010", "0.010"], "{text}");
    assert!(text.contains("1 run: percentiles need more; max and mean are its value."), "{text}");
}

#[test]
fn marks_stand_right_behind_short_zeros() {
    let runs: Vec<RunMeasures> = (0..100).map(|index| plain_run(index, 0)).collect();
    let text = text_of(&report(&runs, FleetOptions::default()), None);
    assert!(text.contains("0*") && !text.contains(" *"), "{text}");
}

#[test]
fn failures_are_grouped_by_kind() {
    let mut builder = FleetBuilder::new(FleetOptions::default());
    ascending(3).iter().for_each(|run| builder.add(run));
    for index in 0..9 {
        let mut failed = failure(index);
        failed.source = format!("x{index}.xml");
        if index != 1 {
            failed.kind = FailureKind::NotAnExport;
            failed.reason = format!("reason {index}");
        }
        builder.add_failure(failed);
    }
    let text = text_of(&builder.finish(), None);
    let kinds = "9 files gave no run: 8 not-an-export (x0.xml, x2.xml, x3.xml, …), 1 truncated (x1.xml)";
    assert!(text.contains(kinds), "{text}");
    assert!(text.contains("\n  not-an-export: x0.xml: reason 0\n  truncated: x1.xml: it ends inside"), "{text}");
    assert!(!text.contains("reason 2"), "{text}");
}

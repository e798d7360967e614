//! Reports on fleets as text: what it says, and that it fits.

mod support;

use support::fleet;
use support::fleet_reports::{ascending, every_kind, odd_names, one_heavy, plain_run, report, rich, run_of, two_units};
use traceparse::fleet::{AlertRule, FleetOptions, FleetReport, FleetScope, RunMeasures};
use traceparse::output::fleet::text;
use traceparse::output::text::Style;
use unicode_width::UnicodeWidthStr;

fn text_of(report: &FleetReport, width: Option<usize>) -> String {
    styled(report, &Style { width, is_coloured: false })
}

fn styled(report: &FleetReport, style: &Style) -> String {
    let mut out = Vec::new();
    text::write(report, style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, report) in every_kind() {
        for width in [60, 80, 200] {
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
    assert!(text.contains(&long) && text.contains("a\u{fffd}b") && !text.contains("No room"));
    assert!(text.contains("P99.9"), "no column is left out");
}

#[test]
fn colours_change_nothing_else() {
    for (name, report) in every_kind() {
        for width in [Some(80), None] {
            let coloured = styled(&report, &Style { width, is_coloured: true });
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
    // Runs, P50, P90, P95, P99, P99.9, max, mean, weighted mean.
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
        let to: Vec<String> = row_of(&text, "  to").iter().map(|&cell| cell.to_owned()).collect();
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
fn alerts_say_what_fired_and_why() {
    let rules = ["cpu.max > 50", "cpu.p99 > 50", "cpu.p99.9 > 50", "function(\"nothing\").self.mean > 1"];
    let alerts = rules.map(|rule| AlertRule::parse(rule).unwrap()).to_vec();
    let report = report(&one_heavy(), FleetOptions { alerts, ..FleetOptions::default() });
    let text = text_of(&report, Some(100));
    let alerts: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("alerts")).collect();
    assert_eq!(alerts[0], "alerts · 1 fired, 1 undecided, 2 ok");
    assert_eq!(alerts[1], "FIRED      cpu.max > 50");
    assert_eq!(alerts[2].trim(), "max is 99.00 % of one core in 100 runs; threshold 50.00");
    assert_eq!(alerts[3].trim(), "1 run is beyond the threshold:");
    assert_eq!(alerts[4].trim(), "99.00  runs/00061.xml");
    assert_eq!(alerts[5], "ok         cpu.p99 > 50");
    assert!(alerts[6].contains("P99 is 1.00 % of one core in 100 runs; 95 % interval from 1.00 to unknown"), "{text}");
    let undecided = alerts.iter().position(|line| *line == "UNDECIDED  cpu.p99.9 > 50").unwrap();
    assert!(alerts[undecided + 1].contains("P99.9 needs 1,000 runs and has 100"), "{text}");
    assert!(text.contains("no run has a function of the name \"nothing\"; it counts as zero"), "{text}");
    let coloured = styled(&report, &Style { width: None, is_coloured: true });
    assert!(coloured.contains("\x1b[1;31mFIRED\x1b[0m") && coloured.contains("\x1b[32mok\x1b[0m"));
}

#[test]
fn the_header_names_what_does_not_count() {
    let text = text_of(&rich(), Some(100));
    for part in [
        "Fleet: 599 runs in 12 cohorts by app_version, device",
        "1 run without recorded time, so without CPU use, not counted: runs/00004.xml",
        "1 run with estimated time",
        "1,234 rows of CPU tables could not be read",
        "12 files gave no run:",
        "broken-09.xml (truncated): it ends inside",
        "and 2 more",
        "the manifest has no duration of 3 runs",
        "6 more cohorts have no plot",
        "percentiles across runs by nearest rank, exact; 95 % order-statistic intervals; a function absent",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("broken-10.xml"));
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
    assert!(text.contains("P99 needs 100 runs; of fewer it says little"), "{text}");
}

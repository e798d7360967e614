//! Pages on invented fleets: what stands in them, and what Chromium makes of them.

mod browser;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use support::fleet_reports::{by, failure as failed_file, report, rules};
use support::{Rng, fleet};
use traceparse::fleet::{
    CohortReport, FailedInput, FailureKind, FleetBuilder, FleetOptions, FleetReport, FrameRow, NameId, RunMeasures,
    SortKey,
};
use traceparse::output::{self, Format};
use traceparse::recording::TimeSource;
use traceparse::stats::{Quantile, Support};
use traceparse::units::{Nanos, Unit};

use crate::hostile::ACTING;
use crate::programs::{chromium, full_disks_are_errors, repository, runs};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![
        a_page_is_one_file_that_loads_nothing,
        names_from_input_are_text,
        elements_are_closed,
        cells_hold_the_numbers_of_the_report,
        the_summary_is_open_and_other_tables_are_folded,
        what_is_doubtful_says_so,
        failures_and_methods_are_seen,
        histograms_say_which_axes_are_the_same,
        what_is_cut_is_counted,
        bars_of_few_runs_are_seen,
        large_fleets_make_pages_of_bounded_size,
        a_writer_that_fails_is_told_of,
    ];
    trials.extend(trials![if runs(Command::new(chromium()).arg("--version"));
        browser::pages_fit_every_screen,
        browser::tables_sort_and_filter,
        browser::names_are_shown_and_do_nothing,
        browser::links_open_the_pages_of_runs]);
    trials
}

fn page(report: &FleetReport) -> String {
    let mut out = Vec::new();
    output::write(report, &Format::Html(&[]), &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("a page is UTF-8")
}

/// Four versions, alerts in every state, and files that failed.
fn usual(count: u32) -> FleetReport {
    let alerts = rules(&[
        "cpu.p95 > 80",
        "function(\"Cache::evict\").self.p99 > 5",
        "cpu.p99.9 > 300",
        "system-cpu-limit",
        "function(\"nobody\").self.max > 1",
        "function(*).self.max > 5",
    ]);
    let sort = SortKey::Quantile(Quantile::P99);
    let mut builder = FleetBuilder::new(FleetOptions { alerts, sort, ..by(&["app_version"]) });
    for run in fleet::runs(7, count) {
        builder.add(&run);
    }
    for (index, kind) in FailureKind::ALL.into_iter().enumerate() {
        builder.add_failure(failure(&format!("runs/broken-{index}.xml"), kind, "it ends inside of a row"));
    }
    builder.add_note("3 runs have no table of contents".to_owned());
    builder.finish()
}

fn failure(source: &str, kind: FailureKind, reason: &str) -> FailedInput {
    FailedInput { source: source.to_owned(), kind, reason: reason.to_owned(), ..failed_file(0) }
}

/// Reports of every shape: their names, and how many cohorts they have.
fn shapes() -> Vec<(&'static str, FleetReport, usize)> {
    let mut mixed = fleet::runs(9, 300);
    for (index, run) in mixed.iter_mut().enumerate() {
        run.record.unit = if index < 200 { Unit::Cycles } else { Unit::Nanoseconds };
        if index % 5 == 0 {
            run.record.wall_source = TimeSource::Samples;
        }
    }
    let mut failed = FleetBuilder::new(FleetOptions::default());
    failed.add_failure(failure("a.xml", FailureKind::Empty, "it is empty"));
    vec![
        ("usual", usual(2_000), 4),
        ("one run", report(&fleet::runs(7, 1), FleetOptions { alerts: rules(&["cpu.p50 > 1"]), ..by(&[]) }), 1),
        ("no run", failed.finish(), 0),
        ("twelve cohorts", report(&fleet::runs(7, 240), by(&["app_version", "device"])), 12),
        ("two units", report(&mixed, by(&["app_version"])), 8),
        ("nothing asked", report(&fleet::runs(7, 30), FleetOptions { quantiles: Vec::new(), ..by(&[]) }), 1),
        ("weighted", report(&fleet::runs(7, 300), FleetOptions { is_weighted: true, ..by(&[]) }), 1),
    ]
}

fn a_page_is_one_file_that_loads_nothing() -> Result<(), Failed> {
    for (name, report, _) in shapes() {
        let page = page(&report);
        ensure!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"), "{name}: no doctype");
        for part in ["<meta name=\"viewport\"", "default-src 'none'", "<title>CPU use across "] {
            ensure!(page.contains(part), "{name}: no {part}");
        }
        for part in ["http:", "https:", "src=", "url(", "@import", "<link", "fetch(", "localStorage"] {
            ensure!(!page.contains(part), "{name}: {part}");
        }
        let targets: BTreeSet<&str> = attributes(&page, "href").collect();
        let ids: BTreeSet<&str> = attributes(&page, "id").collect();
        for target in targets {
            let id = target.strip_prefix('#').ok_or_else(|| format!("{name}: a link to {target}"))?;
            ensure!(ids.contains(id), "{name}: a link to {target}, which is not there");
        }
        ensure!(page == self::page(&report), "{name}: equal reports give unequal pages");
    }
    Ok(())
}

/// The values of an attribute.
fn attributes<'p>(page: &'p str, name: &str) -> impl Iterator<Item = &'p str> {
    let start = format!(" {name}=\"");
    let starts: Vec<usize> = page.match_indices(&start).map(|(at, _)| at + start.len()).collect();
    starts.into_iter().map(|at| page[at..].split('"').next().unwrap_or_default())
}

const HOSTILE: [&str; 7] = [
    "</script><script>window.hacked = 1</script>",
    "\"><img alt=x onerror=window.hacked=2>",
    "' onclick='window.hacked=3",
    "<!-- <style>*{display:none}</style> &amp; &#60;b>",
    "a\u{202e}gnp.exe\u{2066}\0\n\u{1b}[31m",
    ACTING,
    "]]></td></tr></table></svg><h1>out</h1>",
];

/// Hostile text wherever text comes from outside.
fn hostile() -> FleetReport {
    let mut runs = fleet::runs(5, 60);
    for (index, run) in runs.iter_mut().enumerate() {
        let text = |offset: usize| HOSTILE[(index + offset) % HOSTILE.len()];
        for (at, name) in run.names.iter_mut().enumerate() {
            *name = format!("{}{name}", HOSTILE[at % HOSTILE.len()]);
        }
        run.record.source = format!("{}/{index}", text(0));
        run.record.labels = vec![(HOSTILE[0].to_owned(), text(1).to_owned())];
    }
    let rule = format!("function({:?}).self.max > 1", HOSTILE[1]).replace("\\u{", "u{");
    let mut options = by(&[HOSTILE[0]]);
    options.alerts = rules(&[&rule, "cpu.max > 1"]);
    let mut builder = FleetBuilder::new(options);
    for run in &runs {
        builder.add(run);
    }
    for text in HOSTILE {
        builder.add_failure(failure(text, FailureKind::Malformed, text));
        builder.add_note(text.to_owned());
    }
    builder.finish()
}

fn names_from_input_are_text() -> Result<(), Failed> {
    let page = page(&hostile());
    ensure!(page.matches("<script").count() == 1 && page.matches("</script").count() == 1, "a second script");
    ensure!(page.matches("<style").count() == 1, "a second style");
    for part in ["<img", "<h1>out", "<!--", " onerror=window.hacked=2>", "\u{202e}", "\u{2066}", "\0", "\u{1b}"] {
        ensure!(!page.contains(part), "{part:?}");
    }
    for c in ACTING.chars() {
        ensure!(!page.contains(c), "{c:?}");
    }
    let script = page.split_once("<script>").and_then(|(_, rest)| rest.split_once("</script>"));
    let own = fs::read_to_string(repository("src/output/fleet/html/report.js"))?;
    ensure!(script.is_some_and(|(script, _)| script == own), "the script is not the one of the source");
    // Every attribute that comes from input, too, ends where it should: no tag has an event.
    for tag in tags(&page) {
        ensure!(!tag_names(tag).iter().any(|name| name.starts_with("on")), "an event in <{tag}>");
    }
    Ok(())
}

/// The insides of all tags, without those in the style and the script.
fn tags(page: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once('<') {
        let Some((tag, next)) = after.split_once('>') else { break };
        tags.push(tag);
        rest = match tag {
            "style" => next.split_once("</style").map_or("", |(_, rest)| rest),
            "script" => next.split_once("</script").map_or("", |(_, rest)| rest),
            _ => next,
        };
    }
    tags
}

/// The names of the attributes of a tag: what stands outside of quotes, before `=`.
fn tag_names(tag: &str) -> Vec<String> {
    let outside: String = tag.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    outside.split_whitespace().skip(1).map(|part| part.trim_end_matches('=').to_lowercase()).collect()
}

fn elements_are_closed() -> Result<(), Failed> {
    let mut reports = shapes();
    reports.push(("hostile", hostile(), 6));
    for (name, report, _) in reports {
        let page = page(&report);
        let mut open: Vec<&str> = Vec::new();
        for tag in tags(&page).into_iter().skip(1) {
            let word = tag.split([' ', '\n', '/']).next().unwrap_or_default();
            match tag.strip_prefix('/') {
                Some(closed) => {
                    ensure!(open.pop() == Some(closed), "{name}: </{closed}> closes nothing, within {open:?}");
                }
                None if tag.ends_with('/') || ["meta", "input", "style", "script"].contains(&word) => {}
                None => open.push(word),
            }
        }
        ensure!(open.is_empty(), "{name}: {open:?} stay open");
    }
    Ok(())
}

/// A table of the page by its caption: the rows, each with its cells.
fn table<'p>(page: &'p str, caption: &str) -> Result<Vec<Vec<&'p str>>, Failed> {
    let start = format!("<caption class=\"unseen\">{caption}</caption>");
    let (_, rest) = page.split_once(&start).ok_or_else(|| format!("no table {caption}"))?;
    let body = rest.split_once("<tbody>").and_then(|(_, rest)| rest.split_once("</tbody>"));
    let (body, _) = body.ok_or("no body")?;
    Ok(body.lines().filter(|line| line.starts_with("<tr>")).map(|row| row.split("<td").collect()).collect())
}

/// The exact number of a cell.
fn value(cell: &str) -> Option<f64> {
    attributes(cell, "data-value").next()?.parse().ok()
}

fn cells_hold_the_numbers_of_the_report() -> Result<(), Failed> {
    let report = usual(2_000);
    let page = page(&report);
    let rows = table(&page, "Across runs, in % of one core")?;
    ensure!(rows.len() == 4, "{} rows", rows.len());
    for (row, cohort) in rows.iter().zip(&report.cohorts) {
        ensure!(row[0].contains(&cohort.cohort.name()), "{}", row[0]);
        let summary = &cohort.across_runs;
        let mut wanted = vec![Some(cohort.runs as f64), summary.mean, summary.weighted_mean];
        wanted.extend(summary.estimates.iter().map(|estimate| match estimate.support {
            Support::TooFew { .. } => None,
            Support::Enough | Support::UpperUnknown => estimate.value,
        }));
        wanted.push(summary.max);
        let found: Vec<Option<f64>> = row[1..].iter().map(|cell| value(cell)).collect();
        ensure!(found == wanted, "{found:?} and not {wanted:?}");
    }
    let functions =
        &report.cohorts[3].tables.iter().find(|table| table.scope.name() == "function").ok_or("no table")?;
    let rows = table(&page, "Functions of app_version 1.3, in % of one core")?;
    ensure!(rows.len() == functions.rows.len(), "{} rows", rows.len());
    for (row, wanted) in rows.iter().zip(&functions.rows) {
        let wanted = (wanted.summary.count - wanted.summary.zeros, wanted.summary.mean.unwrap_or(-1.0), wanted.samples);
        let found = (value(row[1]), value(row[2]), value(row[row.len() - 1]));
        ensure!(
            found == (Some(wanted.0 as f64), Some(wanted.1), Some(wanted.2 as f64)),
            "{found:?} and not {wanted:?}"
        );
    }
    let contrast = table(&page, "Functions: P99 across runs, in % of one core")?;
    ensure!(contrast[0][0].contains("Cache::evict"), "{:?}", contrast[0]);
    Ok(())
}

fn the_summary_is_open_and_other_tables_are_folded() -> Result<(), Failed> {
    let report = usual(2_000);
    let page = page(&report);
    let (opening, rest) = page.split_once("</header>").ok_or("no header")?;
    let mut rates: Vec<f64> = report.runs.iter().map(|run| run.rate.as_f64()).collect();
    rates.sort_by(f64::total_cmp);
    let rank = |share: f64| rates[(share * rates.len() as f64).ceil() as usize - 1];
    let wanted = [0.5, 0.9, 0.95, 0.99, 0.999, 1.0].map(rank);
    let rows = table(opening, "CPU use across all runs, in % of one core")?;
    let found: Vec<f64> = rows.iter().filter_map(|row| value(row[1])).collect();
    ensure!(found == wanted, "{found:?} and not {wanted:?}");
    let rows = table(opening, "Heaviest runs, in % of one core")?;
    let found: Vec<f64> = rows.iter().filter_map(|row| value(row[1])).collect();
    ensure!(found == [0, 1, 2].map(|nth| rates[rates.len() - 1 - nth]), "{found:?}");
    ensure!(opening.contains("8 files produced no run"), "no failures");
    // Outside the summary, every table is in an element that folds, and none of them is open.
    let mut depth = 0;
    for tag in tags(rest) {
        match tag.split([' ', '\n']).next() {
            Some("details") => depth += 1,
            Some("/details") => depth -= 1,
            Some("table") => ensure!(depth > 0, "{tag}"),
            _ => {}
        }
    }
    ensure!(!rest.contains("<details open"), "an open table");
    Ok(())
}

fn what_is_doubtful_says_so() -> Result<(), Failed> {
    let text = page(&usual(200));
    // 50 runs a cohort: P95 has no upper end, P99 is not there.
    let rows = table(&text, "Across runs, in % of one core")?;
    ensure!(rows[0][6].contains("–?†</small>"), "{}", rows[0][6]);
    ensure!(rows[0][7].contains("n/a<small>needs 100</small>"), "{}", rows[0][7]);
    for part in [
        "Too few runs for P99 and above (P99 needs 100, P99.9 needs 1,000): all 4 cohorts.",
        "Too few runs for P99, which needs 100: app_version 1.0 (50 runs), ",
        "50 runs are too few to decide: P99.9 needs 1,000.",
        "No run has a function named &quot;nobody&quot;.",
        "<small>too few runs to decide, or chance may explain it</small>",
    ] {
        ensure!(text.contains(part), "no {part}");
    }
    // Noise: rare functions whose P90 is no more than chance. The median is never marked.
    let report = usual(2_000);
    let marked = page(&report).matches("class=\"noise\"").count();
    let is_tail = |index: usize| report.options.quantiles[index].parts_per_million() > 500_000;
    let tables = report.cohorts.iter().flat_map(|cohort| &cohort.tables);
    let noisy: usize = tables
        .flat_map(|table| &table.rows)
        .map(|row| {
            let has_number = |index: usize| !matches!(row.summary.estimates[index].support, Support::TooFew { .. });
            (0..5).filter(|&index| is_tail(index) && has_number(index) && row.is_noise(index)).count()
        })
        .sum();
    ensure!(marked == noisy, "{marked} marks for {noisy} percentiles");
    // A mean that few runs carry.
    let mut runs = fleet::runs(1, 100);
    for (index, run) in runs.iter_mut().enumerate() {
        let wall = if index < 5 { 1 } else { 1_000_000 };
        run.record.wall = Some(Nanos::from_millis(wall));
    }
    let text = page(&report_of(&runs));
    ensure!(text.contains("is above P90. A few runs carry it; most are far below it."), "no caution");
    let mut runs = fleet::runs(1, 10);
    runs[3].record.wall_source = TimeSource::Samples;
    ensure!(page(&report_of(&runs)).matches(">≈ ").count() == 1, "no mark on the estimated time");
    Ok(())
}

fn failures_and_methods_are_seen() -> Result<(), Failed> {
    let text = page(&usual(200));
    for part in [
        "<div class=\"doubtful\"><dt>Files that failed</dt><dd>8<small>of 208 files</small>",
        ">Weighted mean</button>",
        &format!("<footer>traceparse {} · percentiles across runs by nearest rank; 95 %", env!("CARGO_PKG_VERSION")),
    ] {
        ensure!(text.contains(part), "no {part}");
    }
    ensure!(!text.to_lowercase().contains("mean by time"), "one name for one thing");
    let sort = SortKey::WeightedMean;
    let text = page(&report(&fleet::runs(7, 40), FleetOptions { sort, ..by(&["app_version"]) }));
    ensure!(!text.contains("class=\"doubtful\""), "nothing failed");
    ensure!(text.contains("Largest differences between cohorts at weighted mean"), "the order has its name");
    // Weights are spelled as rates are, and short times are not zero.
    let mut runs = fleet::runs(7, 3);
    for run in &mut runs {
        run.record.unit = Unit::Cycles;
    }
    runs[0].record.wall = Some(Nanos::from_nanos(4_200_000));
    runs[0].record.wall_source = TimeSource::Samples;
    let text = page(&report_of(&runs));
    ensure!(text.contains(">≈ 4.20 ms</td>"), "4.2 ms");
    let weights = table(&text, "Runs")?;
    let (rate, weight) = (weights[1][1], weights[1][4]);
    ensure!(
        rate.contains(" cycles/s") && weight.contains(" cycles") && !weight.contains("Mcycles"),
        "{rate}, {weight}"
    );
    Ok(())
}

fn histograms_say_which_axes_are_the_same() -> Result<(), Failed> {
    let fleet_of = |rare: usize| {
        let mut runs = fleet::runs(7, 600);
        for (index, run) in runs.iter_mut().enumerate() {
            let lab = if index % rare == 0 { "north" } else { "south" };
            run.record.labels = vec![("lab".to_owned(), lab.to_owned())];
        }
        report(&runs, by(&["lab"]))
    };
    let (even, uneven) = (fleet_of(2), fleet_of(60));
    // The premises: how many runs the tallest bars have.
    let tallest = |report: &FleetReport| {
        let bars = |cohort: &CohortReport| cohort.bins.iter().map(|bin| bin.count).max().unwrap_or(0);
        let bars: Vec<u64> = report.cohorts.iter().map(bars).collect();
        (bars[0], bars[1])
    };
    let (even_bars, uneven_bars) = (tallest(&even), tallest(&uneven));
    ensure!(even_bars.0 * 4 >= even_bars.1 && uneven_bars.0 * 4 < uneven_bars.1, "{even_bars:?} {uneven_bars:?}");
    let same = "the same axis for the number of runs";
    ensure!(page(&even).contains(same), "even cohorts");
    ensure!(!page(&uneven).contains(same), "uneven cohorts");
    // The highest labels of the axes of runs are the same then.
    let labels = |page: &str| -> Vec<String> {
        let histograms = page.split("<svg").filter(|svg| svg.contains("Histogram: CPU use"));
        histograms.map(|svg| texts_at_left(svg).join(" ")).collect()
    };
    let (even, uneven) = (labels(&page(&even)), labels(&page(&uneven)));
    ensure!(even.len() == 2 && even[0] == even[1] && !even[0].is_empty(), "{even:?}");
    ensure!(uneven.len() == 2 && uneven[0] != uneven[1], "{uneven:?}");
    Ok(())
}

/// The texts of a plot that end left of it: the numbers of the axis at its left.
fn texts_at_left(svg: &str) -> Vec<&str> {
    let svg = svg.split("</svg>").next().unwrap_or_default();
    let ends =
        svg.split("<text ").skip(1).filter(|text| text.contains("x=\"52\"") && text.contains("text-anchor=\"end\""));
    ends.filter_map(|text| text.split_once('>')?.1.split('<').next()).map(str::trim).collect()
}

fn report_of(runs: &[RunMeasures]) -> FleetReport {
    report(runs, FleetOptions::default())
}

/// Adds functions of long names to runs.
fn with_functions(runs: &mut [RunMeasures], count: u64) {
    for (seed, run) in runs.iter_mut().enumerate() {
        let mut rng = Rng::new(seed as u64);
        for index in 0..count {
            let name = NameId(run.names.len() as u32);
            run.names.push(format!("company::module{}::Container<std::string, int>::method{index}() const", index % 7));
            let own = 1_000_000 * (1 + rng.below(40));
            let frame = FrameRow {
                function: name,
                self_weight: own,
                all_weight: own,
                self_samples: own / 1_000_000,
                all_samples: own / 1_000_000,
                ..run.frames[0]
            };
            run.frames.push(frame);
        }
    }
}

fn what_is_cut_is_counted() -> Result<(), Failed> {
    let mut runs = fleet::runs(3, 2_100);
    with_functions(&mut runs[..40], 260);
    let report = report_of(&runs);
    let text = page(&report);
    ensure!(table(&text, "Runs")?.len() == 2_000, "rows of runs");
    ensure!(text.contains("100 runs with lower CPU use are not shown"), "no count of runs");
    let rows = table(&text, "Functions of all runs, in % of one core")?.len();
    let all = report.cohorts[0].tables.iter().map(|table| table.rows.len()).max().unwrap_or(0);
    ensure!(rows == 200 && all > 260, "{rows} of {all}");
    ensure!(text.contains(&format!("{} rows below these are not shown, in the order of P99", all - 200)), "no count");
    // What the report itself left out counts too.
    let cut = report_with_top(&runs, 20);
    ensure!(page(&cut).contains(&format!("{} rows below these are not shown", all - 20)), "no count of hidden rows");
    // Cohorts beyond the limit are in the table, and have no plots.
    let mut runs = fleet::runs(3, 60);
    for (index, run) in runs.iter_mut().enumerate() {
        run.record.labels = vec![("build".to_owned(), format!("{:02}", index / 2))];
    }
    let text = page(&self::report(&runs, by(&["build"])));
    ensure!(table(&text, "Across runs, in % of one core")?.len() == 30, "rows of cohorts");
    ensure!(text.contains("6 cohorts more have no plot here."), "no count of plots");
    Ok(())
}

fn report_with_top(runs: &[RunMeasures], top: usize) -> FleetReport {
    report(runs, FleetOptions { top: Some(top), ..FleetOptions::default() })
}

fn bars_of_few_runs_are_seen() -> Result<(), Failed> {
    let report = report_of(&fleet::runs(7, 20_000));
    let page = page(&report);
    let bars: Vec<&str> = page.lines().filter(|line| line.starts_with("<rect") && line.contains("#010104")).collect();
    let filled = bars.iter().filter(|bar| bar.contains("fill=\"#010104\""));
    let heights: Vec<u32> =
        filled.filter_map(|bar| attributes(bar, "height").next()).filter_map(|height| height.parse().ok()).collect();
    let bins = report.cohorts[0].bins.iter().filter(|bin| bin.count > 0).count();
    ensure!(heights.len() == bins && bins > 15, "{} bars for {bins} bins", heights.len());
    let tallest = heights.iter().max().copied().unwrap_or(0);
    let rare = report.cohorts[0].bins.iter().filter(|bin| (1..20).contains(&bin.count)).count();
    ensure!(rare > 3 && tallest > 100 && heights.iter().all(|&height| height >= 2), "{rare} rare bins: {heights:?}");
    Ok(())
}

fn large_fleets_make_pages_of_bounded_size() -> Result<(), Failed> {
    let mut runs = fleet::runs(3, 2_000);
    with_functions(&mut runs, 300);
    let size = page(&report(&runs, by(&["app_version"]))).len();
    println!("2,000 runs, 4 cohorts, more than 300 functions: {size} bytes");
    ensure!(size < 3_000_000, "{size} bytes");
    // Ten times the runs are no larger page.
    let size = page(&report(&fleet::runs(3, 20_000), by(&["app_version"]))).len();
    ensure!(size < 1_500_000, "{size} bytes");
    Ok(())
}

fn a_writer_that_fails_is_told_of() -> Result<(), Failed> {
    let report = usual(100);
    full_disks_are_errors(|mut out| output::write(&report, &Format::Html(&[]), &mut out))
}

//! The fleet overview on one screen: findings, the distribution over all runs, cohorts, the heaviest runs and failures.

use std::collections::BTreeSet;

use super::crashes::crashes;
use super::header;
use super::histograms::histograms;
use super::labels;
use super::table::{Cell, Column, Page, Row, SORTED, Table};
use super::tables::{value_cells, value_columns};
use crate::fleet::{CohortReport, FleetReport, RunRow};
use crate::output::fleet::first_screen::{Level, Levels, failed_files, failures, levels, outlier_words};
use crate::output::fleet::measures::Measures;
use crate::output::fleet::measures::noun;
use crate::output::fleet::sentences::subject_title;
use crate::output::fleet::{many, thousands};
use crate::output::text::Style;
use crate::output::text::style::{Tone, fit};
use crate::output::text::table::KEPT;
use crate::settings::{OUTPUT, VIEW};

/// The number of lines on a screen.
const LINES: usize = 40;
/// The maximum number of cohorts, and of kinds of failures.
const MOST: usize = 6;
/// The minimum number of crash locations.
const PLACES: usize = 3;
/// The maximum number of warnings.
const NOTES: usize = 1;
/// The maximum width of a cohort's name next to its runs.
const COHORT: usize = 22;
/// The maximum width of a file name before the reason for its failure.
const SOURCE: usize = 44;

/// The content for which a screen has space.
#[derive(Clone, Copy)]
struct Room {
    /// The number of cohorts and of kinds of failures.
    most: usize,
    /// True to show the heaviest runs of each unit.
    has_heaviest: bool,
    /// The number of units with a table.
    units: usize,
}

/// The overview, with as many cohorts, failures and tables as fit.
pub(super) fn overview(report: &FleetReport, style: &Style) -> String {
    let all = (1..=MOST).rev().map(|most| Room { most, has_heaviest: true, units: usize::MAX });
    // Without its first table, a screen would have no numbers.
    let fewer = (1..=MOST).rev().map(|units| Room { most: 1, has_heaviest: false, units });
    let mut text = String::new();
    for room in all.chain(fewer) {
        let mut page = Page::new(style, BTreeSet::new());
        screen(report, room, &mut page);
        text = page.text;
        if text.lines().count() <= LINES {
            break;
        }
    }
    text
}

fn screen(report: &FleetReport, Room { most, has_heaviest, units }: Room, page: &mut Page<'_>) {
    header::opening(report, NOTES, page);
    let levels = levels(report);
    for levels in levels.iter().take(units) {
        let measures = Measures::of(levels.unit, levels.max);
        distribution(report, levels, measures, page);
        if levels.cohorts.len() > 1 {
            cohorts(report, levels.cohorts, (most, measures), page);
        }
        if has_heaviest {
            heaviest(report, levels, measures, page);
        }
    }
    if levels.len() > units {
        let more = many((levels.len() - units) as u64, "more table");
        page.line("");
        page.painted(Tone::Dim, &format!("{more} of what reports state; {VIEW} full has all"));
    }
    crashes(report, most.max(PLACES), page);
    histograms(report, true, page);
    failed(report, most.div_ceil(2), page);
    page.say_what_was_left_out();
    page.line("");
    let heaviest = levels.iter().find_map(|levels| levels.heaviest.first()).map(|(_, run)| *run);
    // A single run has no levels.
    if let Some(run) = heaviest.or_else(|| report.runs.iter().find(|run| run.rate.get() > 0)) {
        header::open_one(report, run, page);
    }
    let more = format!("{VIEW} full adds plots, threads and functions; {OUTPUT} fleet.html writes a page.");
    page.sentence(Some(Tone::Dim), 0, &more);
}

/// Writes a line for each percentile and for the largest value.
fn distribution(report: &FleetReport, levels: &Levels<'_>, measures: Measures, page: &mut Page<'_>) {
    page.title(&format!("{} across {}s · {}", subject_title(report, levels.unit), noun(levels.unit), measures.unit()));
    let row = |level: &Level| {
        let cells = [level.name.clone(), measures.text(level.value), interval(level, measures)];
        let runs: Vec<_> = level.runs.iter().filter_map(|&run| Some(report.runs.get(run)?.title())).collect();
        Row::new(cells.iter().map(|cell| Cell::new(cell)).collect(), &runs.join(" and "), "")
    };
    let value = Column::new("value", SORTED).toned(Tone::Weight);
    let interval = Column::new(&format!("{} interval", report.options.confidence), 50);
    let columns = vec![Column::new("", KEPT), value, interval];
    let rows = levels.rows.iter().map(row).collect();
    Table { names: "run".to_owned(), columns, rows, is_alike: false }.write_filled(page);
    if let Some((count, limit)) = levels.outliers {
        page.sentence(None, 0, &outlier_words(count, &measures.text(limit)));
    }
}

/// `8.67 – 30.50`, with words for an unknown end.
fn interval(level: &Level, measures: Measures) -> String {
    let interval = level.estimate.as_ref().map(|estimate| estimate.interval);
    match interval.map_or((None, None), |interval| (interval.lower, interval.upper)) {
        (Some(lower), Some(upper)) => format!("{} – {}", measures.text(lower), measures.text(upper)),
        (Some(lower), None) => format!("at least {}", measures.text(lower)),
        (None, Some(upper)) => format!("at most {}", measures.text(upper)),
        (None, None) => String::new(),
    }
}

/// Writes a line for each cohort. If there are too many, only the cohorts with the highest means are shown.
fn cohorts(report: &FleetReport, cohorts: &[CohortReport], (most, measures): (usize, Measures), page: &mut Page<'_>) {
    let mean = |cohort: &CohortReport| cohort.across_runs.mean.unwrap_or(0.0);
    let used = cohorts.iter().filter(|cohort| mean(cohort) > 0.0);
    let mut shown: Vec<&CohortReport> = used.collect();
    shown.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    let has_equal = shown.get(most).zip(shown[..most.min(shown.len())].last());
    let has_equal = has_equal.is_some_and(|(hidden, last)| mean(hidden) >= mean(last));
    shown.truncate(most);
    shown.sort_by(|a, b| a.cohort.cmp(&b.cohort));
    let row = |cohort: &&CohortReport| {
        let mut cells = vec![Cell::new(&thousands(cohort.runs))];
        cells.extend(value_cells(&cohort.across_runs, false, measures, &report.options));
        // Marks would need lines that explain them.
        let plain = |mut cell: Cell| {
            cell.plain();
            if cell.is_too_few() { Cell::default() } else { cell }
        };
        Row::cohort(cells.into_iter().map(plain).collect(), labels::values(&cohort.cohort))
    };
    let mut columns = vec![Column::new("runs", 70)];
    columns.extend(value_columns(report, false));
    page.line("");
    let names = labels::header(cohorts);
    Table { names, columns, rows: shown.iter().map(row).collect(), is_alike: false }.write_filled(page);
    let all = cohorts.iter().filter(|cohort| cohort.runs > 0).count();
    if shown.len() < all {
        let more = many((all - shown.len()) as u64, "more cohort");
        let lower = if has_equal { "" } else { " with a lower mean" };
        page.painted(Tone::Dim, &format!("and {more}{lower}"));
    }
}

fn heaviest(report: &FleetReport, levels: &Levels<'_>, measures: Measures, page: &mut Page<'_>) {
    page.title(&format!("heaviest {}s · {}", noun(levels.unit), measures.unit()));
    let row = |(_, run): &(usize, &RunRow)| {
        let second = run.window_max.map_or_else(String::new, |max| measures.text(max.as_f64()));
        let cohort = labels::name(&report.cohorts[run.cohort].cohort);
        let cohort = if levels.cohorts.len() > 1 { fit(&cohort, Some(COHORT)) } else { String::new() };
        let recorded = run.recorded().map_or_else(String::new, |wall| format!("{:.2} s", wall.as_nanos() as f64 / 1e9));
        let cells = [measures.text(run.rate.as_f64()), second, recorded, cohort];
        Row::new(cells.iter().map(|cell| Cell::new(cell)).collect(), &run.title(), "")
    };
    let value = Column::new("value", SORTED).toned(Tone::Weight);
    let others = [("busiest 1 s", 50), ("recorded", 40), ("cohort", 60)].map(|(name, rank)| Column::new(name, rank));
    let columns = [value].into_iter().chain(others).collect();
    let rows = levels.heaviest.iter().map(row).collect();
    Table { names: "run".to_owned(), columns, rows, is_alike: false }.write_filled(page);
}

/// Writes the most frequent reasons for failed files, one per line.
fn failed(report: &FleetReport, most: usize, page: &mut Page<'_>) {
    let failed = &report.inputs.failed;
    if failed.is_empty() {
        return;
    }
    page.title(&failed_files(failed));
    let kinds = failures(failed);
    for (count, _, first) in kinds.iter().take(most) {
        let such_as = if count.starts_with("1 ") { "" } else { ", such as" };
        let source = fit(&first.source, Some(SOURCE));
        page.sentence(Some(Tone::Warning), 0, &format!("{count}{such_as} {source}: {}", first.reason));
    }
    if kinds.len() > most {
        page.painted(Tone::Dim, &format!("and {}", many((kinds.len() - most) as u64, "more reason")));
    }
}

//! The first screen of the page, the same as in text: findings, percentiles with their runs, the heaviest runs, and failures.

use super::run_pages::{Links, RunPlace};
use super::table::{
    Column, cohort_name, interval, measure, measure_with_unit, measured, nothing, number, row_name, seconds, table,
    text,
};
use crate::fleet::{FailedInput, FleetReport, RunRow};
use crate::output::fleet::first_screen::{Level, Levels, failed_files, failures, levels, outlier_words};
use crate::output::fleet::sentences::{Mood, points, subject_title};
use crate::output::inert::{Text, shortened};
use crate::units::{Millionths, Nanos};

/// The findings and the summary.
pub(super) fn summary(report: &FleetReport, links: &Links<'_>) -> String {
    let points = points(report).into_iter().map(|point| {
        let class = match point.mood {
            Mood::Bad => " class=\"fired\"",
            Mood::Doubtful => " class=\"undecided\"",
            Mood::Good => " class=\"quiet\"",
            Mood::Plain => "",
        };
        format!("<li{class}>{}</li>\n", Text(&point.text))
    });
    let points: String = points.collect();
    let levels = levels(report);
    let tables = levels.iter().map(|levels| distribution(report, levels, links) + &heaviest(report, levels, links));
    format!(
        "<section id=\"findings\" aria-label=\"Findings\">\n<ul>\n{points}</ul>\n</section>\n\
         <section id=\"summary\" aria-label=\"Summary\">\n{}{}</section>\n",
        tables.collect::<String>(),
        failed(report)
    )
}

/// A row for each percentile, and for the largest value.
fn distribution(report: &FleetReport, levels: &Levels<'_>, links: &Links<'_>) -> String {
    let unit = levels.unit;
    let interval_title = format!("{} interval", report.options.confidence);
    let columns =
        [Column::text("Percentile"), Column::number("Value"), Column::text(&interval_title), Column::text("Run")];
    let row = |level: &Level| {
        let value = links.number(&measure(level.value, unit), &level.runs, &RunPlace::Whole);
        let runs: Vec<String> = level.runs.iter().map(|&run| links.run(run)).collect();
        let interval = level.estimate.as_ref().and_then(|estimate| interval(estimate, unit)).unwrap_or_default();
        vec![
            row_name(&level.name),
            number(level.value, &value),
            format!("<td class=\"text\">{interval}</td>"),
            format!("<td class=\"text\">{}</td>", runs.join(" and ")),
        ]
    };
    let label = format!("{} across all runs, in {}", subject_title(report, unit), unit.rate_name());
    let outliers = levels.outliers.map(|(count, limit)| outlier_words(count, &measure_with_unit(limit, unit)));
    let outliers = outliers.map(|words| format!("<p>{}.</p>\n", Text(&words))).unwrap_or_default();
    card(" class=\"levels\"", &label, &(table(&label, &columns, levels.rows.iter().map(row)) + &outliers))
}

fn heaviest(report: &FleetReport, levels: &Levels<'_>, links: &Links<'_>) -> String {
    let unit = levels.unit;
    let has_cohorts = levels.cohorts.len() > 1;
    let mut columns =
        vec![Column::text("Run"), Column::number(&subject_title(report, unit)), Column::number("Busiest second")];
    columns.extend(has_cohorts.then(|| Column::text("Cohort")));
    columns.push(Column::number("Recorded, s"));
    let row = |&(position, run): &(usize, &RunRow)| {
        let mut cells = vec![
            row_name(&links.run(position)),
            measured(Some(run.rate.as_f64()), unit),
            measured(run.window_max.map(Millionths::as_f64), unit),
        ];
        cells.extend(has_cohorts.then(|| text(&cohort_name(&report.cohorts[run.cohort].cohort))));
        let wall = |wall: Nanos| number(wall.as_nanos() as f64 / 1e9, &Text(&seconds(wall)).to_string());
        cells.push(run.recorded().map_or_else(nothing, wall));
        cells
    };
    let label = format!("Heaviest runs, in {}", unit.rate_name());
    card("", &label, &table(&label, &columns, levels.heaviest.iter().map(row)))
}

fn card(attributes: &str, title: &str, table: &str) -> String {
    format!("<div{attributes}><h2>{}</h2>\n{table}</div>\n", Text(title))
}

fn failed(report: &FleetReport) -> String {
    let failed = &report.inputs.failed;
    if failed.is_empty() {
        return String::new();
    }
    let reason = |(count, files, first): (String, String, &FailedInput)| {
        let files = format!("{count} ({files})");
        format!("<li>{} <small>{}</small></li>\n", Text(&shortened(&files)), Text(&shortened(&first.reason)))
    };
    let reasons: String = failures(failed).into_iter().map(reason).collect();
    format!("<div class=\"failed\"><h2>{}</h2>\n<ul>\n{reasons}</ul></div>\n", failed_files(failed))
}

//! The rows that differ most between cohorts.

use std::io::{self, Write};

use super::numbers::{count, measure};
use super::outline::{MAX_COHORTS, has_section};
use super::row_names::{cohort_name, scope_names, scope_words};
use super::table::{self, Column};
use super::text::{Text, cut};
use crate::fleet::{Contrast, ContrastRow, FleetReport};
use crate::output::fleet::sentences::{statistic_name, too_few_to_compare};

/// Rows of each table.
const MAX_ROWS: usize = 50;

/// Letters of the name of a cohort above its column.
const LONGEST_HEAD: usize = 40;

/// The section; none with a single cohort.
pub(super) fn write(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    if !has_section(report, "contrasts") {
        return Ok(());
    }
    let by = report.options.sort.name();
    writeln!(
        out,
        "<section id=\"contrasts\">\n<h2>Largest differences between cohorts at {}</h2>\n\
         <p>The largest value of a row less its smallest. “~” marks rows whose largest value is no more than sampling \
         noise gives.</p>",
        Text(&statistic_name(&by))
    )?;
    let mut unit = None;
    for contrast in report.contrasts.iter().filter(|contrast| !contrast.rows.is_empty()) {
        // The cohorts of one unit are the same in every table.
        if unit.replace(contrast.unit) != Some(contrast.unit)
            && let Some(sentence) = too_few_to_compare(report, contrast, cohort_name)
        {
            writeln!(out, "<ul class=\"cautions\"><li>{}</li></ul>", Text(&sentence))?;
        }
        write_table(report, contrast, out)?;
    }
    out.write_all(b"</section>\n")
}

fn write_table(report: &FleetReport, contrast: &Contrast, out: &mut dyn Write) -> io::Result<()> {
    let (one, many) = scope_words(contrast.scope);
    let title = format!("{many}: {} across runs, in {}", statistic_name(&contrast.by), contrast.unit.rate_name());
    writeln!(out, "<h3>{}</h3>", Text(&title))?;
    let shown = contrast.cohorts.len().min(MAX_COHORTS);
    let mut columns = vec![Column::text(one), Column::number("Difference").sorted(true)];
    for &cohort in &contrast.cohorts[..shown] {
        let name = report.cohorts.get(cohort).map_or(String::new(), |cohort| cohort_name(&cohort.cohort));
        columns.push(Column::number(&cut(&name, LONGEST_HEAD)));
    }
    table::open(out, &title, &columns)?;
    let largest = contrast.rows.first().map_or(0.0, |row| row.difference);
    for row in contrast.rows.iter().take(MAX_ROWS) {
        write_row(contrast, row, shown, largest, out)?;
    }
    table::close(out)?;
    let (rows, cohorts) = (contrast.rows.len().saturating_sub(MAX_ROWS), contrast.cohorts.len() - shown);
    if rows > 0 {
        writeln!(out, "<p class=\"hidden\">{} rows with smaller differences are not shown.</p>", count(rows as u64))?;
    }
    if cohorts > 0 {
        writeln!(out, "<p class=\"hidden\">{} cohorts are compared but not shown.</p>", count(cohorts as u64))?;
    }
    Ok(())
}

fn write_row(
    contrast: &Contrast,
    row: &ContrastRow,
    shown: usize,
    largest: f64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (name, within) = scope_names(contrast.scope, &row.name);
    table::open_row(out, &name, within.as_deref())?;
    let share = if largest > 0.0 { (row.difference / largest * 100.0).round() } else { 0.0 };
    let value = measure(row.difference, contrast.unit);
    let (class, mark) = if row.is_noise { ("bar noise", "~") } else { ("bar", "") };
    write!(
        out,
        "<td class=\"{class}\" data-value=\"{}\"><svg aria-hidden=\"true\"><rect width=\"{share}%\" height=\"100%\"/></svg>{mark}{}</td>",
        row.difference,
        Text(&value)
    )?;
    let most = row.values.iter().copied().fold(0.0, f64::max);
    for &value in row.values.iter().take(shown) {
        let shown = measure(value, contrast.unit);
        let class = if value == most { " class=\"most\"" } else { "" };
        write!(out, "<td{class} data-value=\"{value}\">{}</td>", Text(&shown))?;
    }
    table::close_row(out)
}

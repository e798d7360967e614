//! The table of crashes by location.

use super::labels;
use super::table::{Cell, Column, Page, Row, SORTED, Table};
use crate::fleet::FleetReport;
use crate::output::fleet::{many, thousands};
use crate::output::text::style::Tone;

/// Writes the table with at most `most` rows.
pub(super) fn crashes(report: &FleetReport, most: usize, page: &mut Page<'_>) {
    if report.crashes.is_empty() {
        return;
    }
    page.title("crashes by the innermost function of your code on the thread that crashed");
    let has_cohorts = !report.options.by.is_empty();
    let row = |(cohort, place, count): &(crate::fleet::Cohort, String, u64)| {
        let cohort = if has_cohorts { labels::name(cohort) } else { String::new() };
        Row::new(vec![Cell::new(&thousands(*count))], place, &cohort)
    };
    let mut shown: Vec<_> = report.crashes.iter().collect();
    shown.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
    let rows = shown.iter().take(most).map(|crash| row(crash)).collect();
    let columns = vec![Column::new("crashes", SORTED).toned(Tone::Weight)];
    Table { names: "function".to_owned(), columns, rows, is_alike: false }.write(page);
    if shown.len() > most {
        page.painted(Tone::Dim, &format!("and {}; JSON has all", many((shown.len() - most) as u64, "more place")));
    }
}

//! Tables that a script can sort: plain HTML, with the exact number of each cell next to the displayed one.

use std::io::{self, Write};

use super::numbers;
use super::text::Text;
use crate::fleet::SortKey;
use crate::fleet::{FleetOptions, FleetReport};
use crate::stats::{Estimate, Support};
use crate::units::Unit;

/// The head of a column.
pub(super) struct Column {
    title: String,
    /// An explanation, if the title is not enough.
    hint: Option<&'static str>,
    is_number: bool,
    is_sorted: bool,
}

impl Column {
    /// A column of names.
    pub(super) fn text(title: &str) -> Self {
        Self { title: title.to_owned(), hint: None, is_number: false, is_sorted: false }
    }

    /// A column of numbers.
    pub(super) fn number(title: &str) -> Self {
        Self { is_number: true, ..Self::text(title) }
    }

    /// With an explanation.
    pub(super) fn hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// With the mark that rows are in its order, the largest first.
    pub(super) fn sorted(self, is_sorted: bool) -> Self {
        Self { is_sorted, ..self }
    }
}

/// The columns of a [`Summary`](crate::fleet::Summary) before and after its own: mean, mean by time, percentiles,
/// largest. Rows are in the order of `sort`.
pub(super) fn summary_columns(options: &FleetOptions, sort: Option<SortKey>, has_weighted: bool) -> Vec<Column> {
    let mut columns = vec![Column::number("Mean").sorted(sort == Some(SortKey::Mean))];
    if has_weighted {
        let hint = "All that was used over all that was recorded";
        columns.push(Column::number("Mean by time").hint(hint).sorted(sort == Some(SortKey::WeightedMean)));
    }
    for &quantile in &options.quantiles {
        let is_sorted = sort == Some(SortKey::Quantile(quantile));
        columns.push(Column::number(&quantile.to_string()).sorted(is_sorted));
    }
    columns.push(Column::number("Max").sorted(sort == Some(SortKey::Max)));
    columns
}

/// Opens a table in a separate box that scrolls, up to its body. `label` names it.
pub(super) fn open(out: &mut dyn Write, label: &str, columns: &[Column]) -> io::Result<()> {
    let label = Text(label);
    write!(
        out,
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\">\n<table class=\"sortable\">"
    )?;
    write!(out, "<caption class=\"unseen\">{label}</caption>\n<thead><tr>")?;
    for column in columns {
        let sort = if column.is_sorted { "descending" } else { "none" };
        let kind = if column.is_number { " class=\"number\"" } else { "" };
        write!(out, "<th scope=\"col\" aria-sort=\"{sort}\"{kind}><button type=\"button\"")?;
        if let Some(hint) = column.hint {
            write!(out, " title=\"{}\"", Text(hint))?;
        }
        write!(out, ">{}</button></th>", Text(&column.title))?;
    }
    out.write_all(b"</tr></thead>\n<tbody>\n")
}

/// Closes the elements that [`open`] opened.
pub(super) fn close(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"</tbody></table></div>\n")
}

/// Opens a row with a name that is HTML.
pub(super) fn open_row_as(out: &mut dyn Write, html: &str) -> io::Result<()> {
    write!(out, "<tr><th scope=\"row\">{html}</th>")
}

/// Opens a row with its name, and the wider name it belongs to.
pub(super) fn open_row(out: &mut dyn Write, name: &str, within: Option<&str>) -> io::Result<()> {
    write!(out, "<tr><th scope=\"row\">{}", Text(name))?;
    if let Some(within) = within {
        write!(out, " <small>{}</small>", Text(within))?;
    }
    out.write_all(b"</th>")
}

/// Closes a row.
pub(super) fn close_row(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"</tr>\n")
}

/// A cell with text.
pub(super) fn text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    write!(out, "<td class=\"text\">{}</td>", Text(text))
}

/// A cell with a number and its text.
pub(super) fn number(out: &mut dyn Write, value: f64, shown: &str) -> io::Result<()> {
    number_as(out, value, &Text(shown).to_string())
}

/// A number as HTML.
pub(super) fn number_as(out: &mut dyn Write, value: f64, html: &str) -> io::Result<()> {
    write!(out, "<td data-value=\"{value}\">{html}</td>")
}

/// A cell with a count.
pub(super) fn count(out: &mut dyn Write, value: u64) -> io::Result<()> {
    write!(out, "<td data-value=\"{value}\">{}</td>", numbers::count(value))
}

/// A cell with a measure, or a dash.
pub(super) fn measure(out: &mut dyn Write, value: Option<f64>, unit: Unit) -> io::Result<()> {
    let Some(value) = value else { return nothing(out) };
    number(out, value, &numbers::measure(value, unit))
}

/// A cell without a number.
pub(super) fn nothing(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"<td class=\"none\">n/a</td>")
}

/// Explains the intervals in cells.
pub(super) fn small_numbers(report: &FleetReport) -> String {
    let mark = if report.shared_label.is_some() { " (†)" } else { "" };
    format!("Small numbers are intervals{}{mark}.", report.assumption())
}

/// A cell with a percentile and its interval. `noise` is what sampling alone would give, where the percentile is no
/// more than that. `link` makes HTML of the number.
pub(super) fn estimate(
    out: &mut dyn Write,
    report: &FleetReport,
    (estimate, unit, noise): (&Estimate, Unit, Option<f64>),
    link: &dyn Fn(&str) -> String,
) -> io::Result<()> {
    let Some(value) = estimate.value else { return nothing(out) };
    if let Support::TooFew { needed } = estimate.support {
        return write!(out, "<td class=\"none\">n/a<small>needs {}</small></td>", numbers::count(needed));
    }
    let shown = link(&numbers::measure(value, unit));
    match noise {
        Some(noise) => {
            let noise = numbers::measure_with_unit(noise, unit);
            write!(out, "<td class=\"noise\" data-value=\"{value}\" title=\"Noise alone gives {noise}\">~{shown}")?;
        }
        None => write!(out, "<td data-value=\"{value}\">{shown}")?,
    }
    if let Some(interval) = interval(estimate, unit) {
        // The cell is too narrow for more than a sign, which the title explains, and the text above the table.
        match report.assumption().trim_start_matches(", ") {
            "" => write!(out, "<small>{interval}</small>")?,
            assumption => write!(out, "<small title=\"{assumption}\">{interval}†</small>")?,
        }
    }
    out.write_all(b"</td>")
}

/// The interval of an estimate, as HTML: `11.90–13.02`, with `?` for an unknown end; `None` without an interval, as for
/// windows.
pub(super) fn interval(estimate: &Estimate, unit: Unit) -> Option<String> {
    let interval = estimate.interval;
    if (interval.lower, interval.upper) == (None, None) {
        return (estimate.support == Support::UpperUnknown).then(|| "?–?".to_owned());
    }
    let end = |end: Option<f64>| end.map_or("?".to_owned(), |end| numbers::measure(end, unit));
    Some(Text(&format!("{}–{}", end(interval.lower), end(interval.upper))).to_string())
}

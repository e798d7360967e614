//! Tables that a script can sort: plain HTML, with the exact number of each cell next to the displayed one.

use crate::fleet::{Cohort, FleetOptions, FleetReport, FleetScope, ScopeName, SortKey, Summary};
use crate::output::fleet::{many, thousands};
use crate::output::inert::{Text, shortened};
use crate::stats::{Estimate, Support};
use crate::units::{Nanos, Unit, Weight};

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

    fn html(&self) -> String {
        let sort = if self.is_sorted { "descending" } else { "none" };
        let kind = if self.is_number { " class=\"number\"" } else { "" };
        let hint = self.hint.map(|hint| format!(" title=\"{}\"", Text(hint))).unwrap_or_default();
        let title = Text(&self.title);
        format!("<th scope=\"col\" aria-sort=\"{sort}\"{kind}><button type=\"button\"{hint}>{title}</button></th>")
    }
}

/// A table in a separate box that scrolls. `label` names it. The first cell of a row is its [name](row_name).
pub(super) fn table(label: &str, columns: &[Column], rows: impl Iterator<Item = Vec<String>>) -> String {
    let label = Text(label);
    let head: String = columns.iter().map(Column::html).collect();
    let body: String = rows.map(|cells| format!("<tr>{}</tr>\n", cells.concat())).collect();
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\">\n<table class=\"sortable\">\
         <caption class=\"unseen\">{label}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )
}

/// A table below its button; its rows are counted.
pub(super) fn folded(label: &str, columns: &[Column], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows.collect();
    let count = many(rows.len() as u64, "row");
    let table = table(label, columns, rows.into_iter());
    format!("<details class=\"rows\"><summary>Table with {count}</summary>\n{table}</details>\n")
}

/// A note on what is not shown; nothing if there is nothing. `words` makes the sentence.
pub(super) fn hidden(count: usize, words: impl FnOnce(usize) -> String) -> String {
    if count == 0 { String::new() } else { format!("<p class=\"hidden\">{}</p>\n", words(count)) }
}

/// The name of a row as HTML.
pub(super) fn row_name(html: &str) -> String {
    format!("<th scope=\"row\">{html}</th>")
}

/// The name of a cohort's row.
pub(super) fn cohort_row(cohort: &Cohort) -> String {
    row_name(&Text(&cohort_name(cohort)).to_string())
}

/// The name of a scope's row, and the wider name it belongs to.
pub(super) fn scope_row(scope: FleetScope, name: &ScopeName) -> String {
    let known = |text: &Option<String>| match text.as_deref() {
        None | Some("") => "(unknown)".to_owned(),
        Some(text) => shortened(text),
    };
    let (name, within) = match scope {
        FleetScope::Run => ("run".to_owned(), None),
        FleetScope::Process => (known(&name.process), None),
        FleetScope::Thread => (known(&name.thread), Some(known(&name.process))),
        FleetScope::Binary => (known(&name.binary), None),
        FleetScope::Function => (known(&name.function), Some(known(&name.binary))),
    };
    let within = within.map(|within| format!(" <small>{}</small>", Text(&within))).unwrap_or_default();
    row_name(&format!("{}{within}", Text(&name)))
}

/// The name of a cohort, short enough to be read.
pub(super) fn cohort_name(cohort: &Cohort) -> String {
    shortened(&cohort.name())
}

/// A cell with text.
pub(super) fn text(text: &str) -> String {
    format!("<td class=\"text\">{}</td>", Text(text))
}

/// A cell with a number and its HTML.
pub(super) fn number(value: f64, html: &str) -> String {
    format!("<td data-value=\"{value}\">{html}</td>")
}

/// A cell with a count.
pub(super) fn count(value: u64) -> String {
    format!("<td data-value=\"{value}\">{}</td>", thousands(value))
}

/// A cell with a measure, or a dash.
pub(super) fn measured(value: Option<f64>, unit: Unit) -> String {
    value.map_or_else(nothing, |value| number(value, &html(value, unit)))
}

/// A cell without a number.
pub(super) fn nothing() -> String {
    "<td class=\"none\">n/a</td>".to_owned()
}

/// The columns of a [`Summary`]: mean, weighted mean, percentiles, largest. Rows are in the order of `sort`.
pub(super) fn summary_columns(options: &FleetOptions, sort: Option<SortKey>, has_weighted: bool) -> Vec<Column> {
    let column = |title: &str, key: SortKey| Column::number(title).sorted(sort == Some(key));
    let mut columns = vec![column("Mean", SortKey::Mean)];
    if has_weighted {
        let column = column("Weighted mean", SortKey::WeightedMean);
        columns.push(column.hint("All that was used over all that was recorded"));
    }
    columns
        .extend(options.quantiles.iter().map(|&quantile| column(&quantile.to_string(), SortKey::Quantile(quantile))));
    columns.push(column("Max", SortKey::Max));
    columns
}

/// The cells of a summary, in the order of [`summary_columns`]. `noise` is what sampling alone would give for the percentiles that are no
/// more than that. `link` makes HTML of a number and its runs. The largest value has this title.
pub(super) fn summary_cells(
    report: &FleetReport,
    (summary, unit, has_weighted): (&Summary, Unit, bool),
    noise: &[Option<f64>],
    title: Option<&str>,
    link: &dyn Fn(&str, &[usize]) -> String,
) -> Vec<String> {
    let mut cells = vec![measured(summary.mean, unit)];
    if has_weighted {
        cells.push(measured(summary.weighted_mean, unit));
    }
    cells.extend(summary.estimates.iter().enumerate().map(|(index, row)| {
        let runs = summary.percentile_runs.get(index).map_or(&[][..], Vec::as_slice);
        let noise = noise.get(index).copied().flatten();
        estimate(report, (row, unit, noise), &|shown| link(shown, runs))
    }));
    let title = title.map(|title| format!(" title=\"{}\"", Text(title))).unwrap_or_default();
    cells.push(summary.max.map_or_else(nothing, |max| {
        format!("<td data-value=\"{max}\"{title}>{}</td>", link(&measure(max, unit), summary.max_run.as_slice()))
    }));
    cells
}

/// A cell with a percentile and its interval.
fn estimate(
    report: &FleetReport,
    (estimate, unit, noise): (&Estimate, Unit, Option<f64>),
    link: &dyn Fn(&str) -> String,
) -> String {
    let Some(value) = estimate.value else { return nothing() };
    if let Support::TooFew { needed } = estimate.support {
        return format!("<td class=\"none\">n/a<small>needs {}</small></td>", thousands(needed));
    }
    let shown = link(&measure(value, unit));
    let shown = match noise.map(|noise| measure_with_unit(noise, unit)) {
        Some(noise) => {
            format!(" class=\"noise\" data-value=\"{value}\" title=\"Noise alone produces {noise}\">~{shown}")
        }
        None => format!(" data-value=\"{value}\">{shown}"),
    };
    let small = interval(estimate, unit).map(|interval| match report.assumption().trim_start_matches(", ") {
        "" => format!("<small>{interval}</small>"),
        // The cell is too narrow for more than a sign, which the title explains, and the text above the table.
        assumption => format!("<small title=\"{assumption}\">{interval}†</small>"),
    });
    format!("<td{shown}{}</td>", small.unwrap_or_default())
}

/// Explains the intervals in cells.
pub(super) fn small_numbers(report: &FleetReport) -> String {
    let mark = if report.shared_label.is_some() { " (†)" } else { "" };
    format!("Small numbers are intervals{}{mark}.", report.assumption())
}

/// The interval of an estimate, as HTML: `11.90–13.02`, with `?` for an unknown end; `None` without an interval, as for
/// windows.
pub(super) fn interval(estimate: &Estimate, unit: Unit) -> Option<String> {
    let interval = estimate.interval;
    if (interval.lower, interval.upper) == (None, None) {
        return (estimate.support == Support::UpperUnknown).then(|| "?–?".to_owned());
    }
    let end = |end: Option<f64>| end.map_or("?".to_owned(), |end| html(end, unit));
    Some(format!("{}–{}", end(interval.lower), end(interval.upper)))
}

/// A measure as HTML.
fn html(value: f64, unit: Unit) -> String {
    Text(&measure(value, unit)).to_string()
}

/// A measure without its unit: `12.34`, `1,250.00`, `<0.01`; rates as `1.25 G`.
pub(super) fn measure(value: f64, unit: Unit) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if unit == Unit::Nanoseconds || unit.is_of_reports() {
        return if value < 0.005 { "<0.01".to_owned() } else { grouped(value) };
    }
    let (divisor, suffix) = step(value);
    if suffix.is_empty() { grouped(value) } else { format!("{:.2} {suffix}", value / divisor) }
}

/// A measure with its unit: `12.34 %`, `1.25 G cycles/s`.
pub(super) fn measure_with_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => format!("{} %", measure(value, unit)),
        _ => format!("{} {}", measure(value, unit), unit.rate_name()),
    }
}

/// The step of 1000 for numbers as large as this, and its letter.
pub(super) fn step(value: f64) -> (f64, &'static str) {
    // 999,995 would read as 1000.00 k.
    [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")]
        .into_iter()
        .find(|(divisor, _)| value >= divisor * 0.999_995)
        .unwrap_or((1.0, ""))
}

/// A weight with its unit; cycles and events as in rates: `343.23 k cycles`.
pub(super) fn weight(weight: u64, unit: Unit) -> String {
    let name = match unit {
        Unit::Cycles => "cycles",
        Unit::PmcEvents => "events",
        _ => return Weight::new(weight, unit).to_string(),
    };
    match step(weight as f64) {
        (_, "") => format!("{weight} {name}"),
        (divisor, letter) => format!("{:.2} {letter} {name}", weight as f64 / divisor),
    }
}

/// Seconds with two decimals; shorter times in milliseconds with their unit.
pub(super) fn seconds(time: Nanos) -> String {
    let nanos = time.as_nanos();
    if (1..5_000_000).contains(&nanos) {
        let millis = nanos as f64 / 1e6;
        return if millis < 0.005 { "<0.01 ms".to_owned() } else { format!("{millis:.2} ms") };
    }
    grouped(time.as_nanos() as f64 / 1e9)
}

/// A number with two decimals, and with separators.
fn grouped(value: f64) -> String {
    let text = format!("{value:.2}");
    let (whole, decimals) = text.split_at(text.len() - 3);
    format!("{}{decimals}", thousands(whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fleet::many;

    #[test]
    fn measures_read_well() {
        let percent = |value| measure(value, Unit::Nanoseconds);
        assert_eq!([0.0, 0.004, 0.005, 1.98, 1250.0].map(percent), ["0", "<0.01", "0.01", "1.98", "1,250.00"]);
        let cycles = |value| measure(value, Unit::Cycles);
        assert_eq!([0.5, 999.0, 999_994.0, 3.2e9].map(cycles), ["0.50", "999.00", "999.99 k", "3.20 G"]);
        assert_eq!(cycles(999_996.0), "1.00 M");
        assert_eq!(measure_with_unit(83.2, Unit::Nanoseconds), "83.20 %");
        assert_eq!(measure_with_unit(3.2e9, Unit::Cycles), "3.20 G cycles/s");
    }

    #[test]
    fn counts_have_separators() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2_000].map(|number| many(number, "run")), ["0 runs", "1 run", "2,000 runs"]);
        assert_eq!(seconds(Nanos::from_millis(1_234_567)), "1,234.57");
        let short = [0, 400, 4_200_000, 5_000_000].map(|nanos| seconds(Nanos::from_nanos(nanos)));
        assert_eq!(short, ["0.00", "<0.01 ms", "4.20 ms", "0.01"]);
    }

    #[test]
    fn weights_are_spelled_as_rates_are() {
        let cycles = |value| weight(value, Unit::Cycles);
        assert_eq!([22, 343_230, 2_500_000_000].map(cycles), ["22 cycles", "343.23 k cycles", "2.50 G cycles"]);
        assert_eq!(measure_with_unit(343_230.0, Unit::Cycles), "343.23 k cycles/s");
        assert_eq!(weight(343_230, Unit::PmcEvents), "343.23 k events");
    }
}

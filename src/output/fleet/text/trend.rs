//! A trend for people: the answer, the changes, a line of bars, and the points.
//!
//! ```text
//! Slower since 2.3: +8.1 % CPU use (95 %: +5.0 to +11.2 %), 41 runs before, 24 after.
//!
//! trend over app_version · CPU use · % of one core
//! 1.9 → 2.7
//! ▂▂ ▁▁ ▃▃ ▂▂ ▁▁ ▇▇ █▇ ▇▇ ▆▆ ▇▇
//!                ▲
//! ```

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::header::{self, lines_of_command};
use super::plots::{Points, WIDEST_TREND, over_name};
use super::table::{Cell, Column, Page, Row, SORTED, Table};
use crate::fleet::compare::Comparison;
use crate::fleet::{TrendOver, TrendReport, TrendSeries, TrendShift, TrendValue};
use crate::output::fleet::comparison::sentences::{change, of, quantity_name, reason};
use crate::output::fleet::measures::Measures;
use crate::output::fleet::trend::{comparison, sentence, verdict};
use crate::output::fleet::{many, thousands};
use crate::output::text::Style;
use crate::output::text::style::Tone;
use crate::recording::shell_word;
use crate::units::counted;

/// Writes the trend in this style.
///
/// # Errors
/// If `out` fails.
pub(in crate::output) fn write(trend: &TrendReport<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style, BTreeSet::new());
    trend.series.iter().for_each(|series| page.sentence(Some(Tone::Title), 0, &verdict(trend, series)));
    let names = trend.series.iter().map(|series| quantity_name(&series.quantity, trend.unit)).collect::<Vec<_>>();
    if let Some(why) = reason(trend.choice, None) {
        page.sentence(None, 0, &format!("Compared: {}, {why}.", names.join(", ")));
    }
    trend.series.iter().for_each(|series| changes(trend, series, &mut page));
    if trend.fleet.selection.is_partial() {
        page.sentence(None, 0, &format!("only the selected part of each run is included: {}", trend.fleet.selection));
    }
    trend.notes.iter().for_each(|note| page.sentence(Some(Tone::Warning), 0, note));
    if let Some(comparison) = &trend.comparison {
        at_change(comparison, &mut page);
    }
    for (series, name) in trend.series.iter().zip(&names) {
        let values = series.points.iter().filter_map(|point| point.value);
        let (least, largest) =
            values.fold((f64::INFINITY, 0.0_f64), |(least, largest), value| (least.min(value), largest.max(value)));
        let measures = Measures::of_quantity(&series.quantity, trend.unit, largest);
        page.title(&format!("{} · {name} · {}", over_name(&trend.over), measures.unit()));
        if largest > 0.0 {
            bars(series, (least, largest), measures, &mut page);
        }
        points(trend, series, measures, &mut page);
    }
    header::incomplete(trend.fleet, &mut page);
    page.say_what_was_left_out();
    out.write_all(page.text.as_bytes())
}

/// Writes the changes, newest first, each with the command that compares its functions. If there is only one change, the answer already states it.
fn changes(trend: &TrendReport<'_>, series: &TrendSeries, page: &mut Page<'_>) {
    let has_filters = trend.fleet.selection.is_partial() || trend.fleet.options.has_filters();
    let name = if has_filters { "compare functions, with the same filters:" } else { "compare functions:" };
    let command = |shift: &TrendShift, page: &mut Page<'_>| {
        let words: Vec<String> = comparison(trend, shift).iter().map(|word| shell_word(word)).collect();
        lines_of_command(name, &words, page.style.width).iter().for_each(|line| page.line(line));
    };
    if let Some(since) = series.since.as_ref().filter(|_| series.is_gradual || series.only_change().is_some()) {
        command(series.only_change().map_or(since, |change| &change.shift), page);
    }
    for change in series.changes.iter().rev().filter(|change| Some(*change) != series.only_change()) {
        let accepted = if change.is_accepted { "Accepted: " } else { "" };
        page.sentence(None, 0, &format!("{accepted}{}", sentence(trend, series, change)));
        if !change.is_accepted {
            command(&change.shift, page);
        }
    }
}

/// Writes the functions of the runs nearest to the newest change.
fn at_change(comparison: &Comparison, page: &mut Page<'_>) {
    let Some(functions) = &comparison.functions else { return };
    let changed = match functions.changed().count() {
        0 => "no change was shown".to_owned(),
        count => format!("{} changed", counted(count)),
    };
    let tested = match functions.tested.len() {
        0 => "too few samples or runs to test any".to_owned(),
        count => format!("{} tested, {changed}", many(count, "function")),
    };
    page.sentence(None, 0, &format!("Functions at the newest change ({}): {tested}.", of(comparison)));
    super::comparison::functions(comparison, page);
}

/// Writes a bar for each point, and a mark below each change.
fn bars(trend: &TrendSeries, range: (f64, f64), measures: Measures, page: &mut Page<'_>) {
    let room = page.style.width.unwrap_or(WIDEST_TREND).min(WIDEST_TREND);
    let bars = Points::new(trend.points.len(), room, range);
    let names: Vec<&str> = trend.points.iter().map(|point| point.name.as_str()).collect();
    let values: Vec<Option<f64>> = bars.shown(&trend.points).map(|point| point.value).collect();
    page.painted(Tone::Dim, &bars.names(&names, room / 2));
    page.line(&page.style.paint(Tone::Weight, &bars.draw(&values)));
    let hidden = bars.hidden(names.len());
    let mut marks = String::new();
    for (index, _) in trend.points.iter().enumerate().skip(hidden) {
        let changed = trend.changes.iter().find(|change| change.point == index);
        let mark = changed.map_or(" ", |change| if change.shift.ratio > 1.0 { "▲" } else { "▼" });
        marks += &format!("{mark}{}", " ".repeat(bars.each - 1));
    }
    if !marks.trim().is_empty() {
        page.line(&marks);
    }
    let mut legend = format!("bars from {} to {}", measures.text(range.0), measures.text(range.1));
    if hidden > 0 {
        legend += &format!("; the first {} are not shown", many(hidden, "point"));
    }
    page.sentence(Some(Tone::Dim), 0, &legend);
    page.line("");
}

/// Writes a line for each point.
fn points(trend: &TrendReport<'_>, series: &TrendSeries, measures: Measures, page: &mut Page<'_>) {
    let has_idle = series.points.iter().any(|point| point.idle > 0);
    let row = |(index, point): (usize, &TrendValue)| {
        let changed = series.changes.iter().find(|change| change.point == index);
        let mut cells = vec![Cell::value(point.value, measures), Cell::new(&thousands(point.runs))];
        cells.extend(has_idle.then(|| Cell::new(&thousands(point.idle))));
        cells.extend(trend.options.block.as_ref().map(|_| Cell::new(&thousands(point.blocks))));
        cells.push(Cell::new(&changed.map_or(String::new(), |changed| change(changed.shift.ratio))));
        Row::new(cells, &point.name, "")
    };
    let mut columns = vec![Column::new("value", SORTED).toned(Tone::Weight), Column::new("runs", 50)];
    columns.extend(has_idle.then(|| Column::new("idle", 40)));
    columns.extend(trend.options.block.as_ref().map(|block| Column::new(block, 30)));
    columns.push(Column::new("change", 60));
    let names = match &trend.over {
        TrendOver::Label(key) => key.as_str(),
        TrendOver::Day => "day",
        TrendOver::Week => "week from",
    };
    let rows = series.points.iter().enumerate().map(row).collect();
    Table { names: names.to_owned(), columns, rows, is_alike: false }.write(page);
}

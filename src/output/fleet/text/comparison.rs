//! A comparison for people: the verdict, blocks, functions, and reasons for caution.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::table::{Cell, Column, Page, Row, SORTED, Table};
use crate::fleet::compare::{ComparedBlock, ComparedFunction, ComparedRun, Comparison, Quantity, Verdict};
use crate::output::fleet::comparison::sentences::{
    block_name, change, compared, confidence, differences, function_change, function_interval, function_measures,
    measures, method, probability, quantity_name, scope, verdict,
};
use crate::output::fleet::many;
use crate::output::fleet::measures::Measures;
use crate::output::fleet::opening::name_of;
use crate::output::text::Style;
use crate::output::text::style::Tone;
use crate::units::capitalized;
use crate::units::first_of;

/// The number of functions and blocks in tables.
const ROWS: usize = 10;

/// Writes the comparison in this style.
///
/// # Errors
/// If `out` fails.
pub(in crate::output) fn write(comparison: &Comparison, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style, BTreeSet::new());
    let tone = match comparison.verdict {
        Verdict::Slower(_) => Tone::Bad,
        Verdict::Faster(_) | Verdict::NoSlowdown { .. } => Tone::Good,
        Verdict::Unknown { .. } => Tone::Warning,
        Verdict::Invalid { .. } => Tone::Bad,
    };
    page.sentence(Some(tone), 0, &verdict(comparison));
    // If the sides cannot be compared, readers would mistake their numbers for a result.
    let is_valid = !matches!(comparison.verdict, Verdict::Invalid { .. });
    if is_valid {
        compared(comparison).iter().for_each(|line| page.sentence(None, 0, line));
    }
    let warnings = comparison.warnings.iter();
    warnings.for_each(|warning| page.sentence(Some(Tone::Warning), 0, warning));
    if is_valid {
        blocks(comparison, &mut page);
        functions(comparison, &mut page);
    }
    if comparison.lists_runs {
        runs(comparison, &mut page);
    }
    page.line("");
    if is_valid {
        page.sentence(None, 0, &scope(comparison));
    }
    differences(comparison)
        .iter()
        .for_each(|difference| page.sentence(None, 0, &format!("Only on one side: {difference}.")));
    if is_valid {
        method(comparison).iter().for_each(|line| page.sentence(Some(Tone::Dim), 0, line));
    }
    page.say_what_was_left_out();
    out.write_all(page.text.as_bytes())
}

/// Writes a line for each block, and for the total.
fn blocks(comparison: &Comparison, page: &mut Page<'_>) {
    let measures = measures(comparison);
    let row = |block: &ComparedBlock| {
        let means = [0, 1].map(|side| block.geometric_mean(side));
        let counts = block.values.each_ref().map(|values| values.len());
        let ratio = means[0].zip(means[1]).map_or("n/a".to_owned(), |(base, new)| change(new / base));
        // Without a value, all runs of the side are idle.
        let [base, new] = means.map(|mean| measures.text(mean.unwrap_or_default()));
        let cells = [base, new, ratio, format!("{} · {}", counts[0], counts[1])];
        let name = if comparison.options.blocks.is_empty() { "all".to_owned() } else { block_name(&block.labels) };
        Row::new(cells.iter().map(|cell| Cell::new(cell)).collect(), &name, "")
    };
    let measure = capitalized(&quantity_name(&comparison.first().quantity, comparison.unit));
    page.title(&format!("{measure} (geometric mean) · {}", measures.unit()));
    let unit = comparison.options.unit.as_deref().unwrap_or("runs");
    let columns = vec![Column::new("base", 60), Column::new("new", 70), changes(), Column::new(unit, 50)];
    let names =
        if comparison.options.blocks.is_empty() { String::new() } else { comparison.options.blocks.join(" · ") };
    let rows: Vec<Row> = comparison.blocks.iter().take(ROWS).map(row).collect();
    Table { names, columns, rows, is_alike: false }.write(page);
    if comparison.blocks.len() > ROWS {
        page.sentence(Some(Tone::Dim), 0, &format!("{} more", many((comparison.blocks.len() - ROWS) as u64, "block")));
    }
}

fn changes() -> Column {
    Column::new("change", SORTED).toned(Tone::Weight)
}

/// Writes the functions that changed most.
pub(super) fn functions(comparison: &Comparison, page: &mut Page<'_>) {
    let measures = function_measures(comparison);
    let Some(functions) = &comparison.functions else { return };
    let changed: Vec<&ComparedFunction> = functions.changed().collect();
    if changed.is_empty() {
        return;
    }
    let row = |function: &&ComparedFunction| {
        let moved = if function.moved_from.is_empty() { "" } else { " (moved?)" };
        let [base, new] = function.means.map(|mean| measures.text(mean));
        let cells =
            [base, new, function_change(function) + moved, function_interval(function), probability(function.p_holm)];
        let (name, owner) = name_of(&function.name);
        Row::new(cells.iter().map(|cell| Cell::new(cell)).collect(), &name, &owner)
    };
    page.title(&format!("functions that changed, self · {}", measures.unit()));
    let level = confidence(2.0 * functions.level);
    let columns = vec![
        Column::new("base", 40),
        Column::new("new", 60),
        changes(),
        Column::new(&level, 50),
        Column::new("p (Holm)", 30),
    ];
    let rows = changed.iter().take(ROWS).map(row).collect();
    Table { names: "function".to_owned(), columns, rows, is_alike: false }.write(page);
    if changed.len() > ROWS {
        let more = many((changed.len() - ROWS) as u64, "more function");
        page.sentence(Some(Tone::Dim), 0, &format!("{more} changed; JSON has all"));
    }
    for function in changed.iter().take(ROWS).filter(|function| !function.moved_from.is_empty()) {
        let from = function.moved_from.iter().map(|name| {
            let (function, binary) = name_of(name);
            format!("{function} ({binary})")
        });
        let from: Vec<String> = from.collect();
        let name = name_of(&function.name).0;
        let sentence = format!("{name} may have moved: it grew, and {} fell.", first_of(&from));
        page.sentence(Some(Tone::Dim), 0, &sentence);
    }
}

/// Writes a line for each run.
fn runs(comparison: &Comparison, page: &mut Page<'_>) {
    let all = || comparison.blocks.iter().flat_map(|block| block.runs.iter().enumerate());
    let largest = |of: fn(&ComparedRun) -> f64| all().flat_map(|(_, runs)| runs).map(of).fold(0.0, f64::max);
    let shown = |quantity: &Quantity, largest: f64| Measures::of_quantity(quantity, comparison.unit, largest);
    let time = shown(&Quantity::CpuTime, largest(|run| run.row.weight as f64));
    let recorded = shown(&Quantity::Elapsed, largest(|run| run.row.wall.as_nanos() as f64));
    let rate = shown(&Quantity::CpuUse, largest(|run| run.row.rate.as_f64()));
    let row = |(side, run): (usize, &ComparedRun)| {
        let length = run.row.recorded().map_or("n/a".to_owned(), |length| recorded.text(length.as_nanos() as f64));
        let cells = [time.text(run.row.weight as f64), length, rate.text(run.row.rate.as_f64())];
        Row::new(cells.iter().map(|cell| Cell::new(cell)).collect(), &run.row.title(), ["base", "new"][side])
    };
    let name = |quantity| capitalized(&quantity_name(&quantity, comparison.unit));
    let (time_name, rate_name) = (name(Quantity::CpuTime), name(Quantity::CpuUse));
    page.title(&format!("runs · {} · recorded in {} · {}", time.unit(), recorded.unit(), rate.unit()));
    let columns = vec![Column::new(&time_name, 60), Column::new("recorded", 50), Column::new(&rate_name, SORTED)];
    let rows = all().flat_map(|(side, runs)| runs.iter().map(move |run| (side, run))).map(row).collect();
    Table { names: "run".to_owned(), columns, rows, is_alike: false }.write(page);
}

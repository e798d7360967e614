//! A comparison for people: the verdict, blocks, functions, and what to know before believing it.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::table::{Cell, Column, Page, Row, SORTED, Table};
use crate::fleet::compare::{ComparedBlock, ComparedFunction, Comparison, Functions, Verdict};
use crate::output::fleet::comparison::sentences::{
    block_name, change, confidence, differences, function_change, interval, measures, method, probability, scope,
    verdict,
};
use crate::output::fleet::many;
use crate::output::fleet::opening::name_of;
use crate::output::fleet::sentences::{capitalized, measure_name};
use crate::output::text::Style;
use crate::output::text::style::Tone;

/// Functions and blocks in tables.
const ROWS: usize = 10;

/// Writes the comparison with the colours and width of `style`.
///
/// # Errors
/// When `out` fails.
pub(in crate::output) fn write(comparison: &Comparison, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style, BTreeSet::new());
    let tone = match comparison.verdict {
        Verdict::Slower(_) => Tone::Bad,
        Verdict::Faster(_) | Verdict::NoSlowdown { .. } => Tone::Good,
        Verdict::CannotTell { .. } => Tone::Warning,
    };
    page.sentence(Some(tone), 0, &verdict(comparison));
    let warnings = comparison.warnings.iter();
    warnings.for_each(|warning| page.sentence(Some(Tone::Warning), 0, warning));
    blocks(comparison, &mut page);
    functions(comparison, &mut page);
    page.line("");
    page.sentence(None, 0, &scope(comparison));
    differences(comparison)
        .iter()
        .for_each(|difference| page.sentence(None, 0, &format!("Only on one side: {difference}.")));
    method(comparison).iter().for_each(|line| page.sentence(Some(Tone::Dim), 0, line));
    page.say_what_was_left_out();
    out.write_all(page.text.as_bytes())
}

/// A line for each block, and for all.
fn blocks(comparison: &Comparison, page: &mut Page<'_>) {
    let measures = measures(comparison);
    let geometric = |values: &Vec<f64>| {
        let logarithms = values.iter().filter(|value| **value > 0.0).map(|value| value.ln());
        let (sum, count) = logarithms.fold((0.0, 0_u64), |(sum, count), log| (sum + log, count + 1));
        (sum / count as f64).exp()
    };
    let row = |block: &ComparedBlock| {
        let [base, new] = block.values.each_ref().map(geometric);
        let counts = block.values.each_ref().map(|values| values.len());
        let ratio = if (new / base).is_finite() { change(new / base) } else { "n/a".to_owned() };
        let cells = [measures.text(base), measures.text(new), ratio, format!("{} · {}", counts[0], counts[1])];
        let name = if comparison.options.blocks.is_empty() { "all".to_owned() } else { block_name(&block.labels) };
        Row::new(cells.iter().map(|cell| Cell::new(cell)).collect(), &name, "")
    };
    let measure = capitalized(measure_name(comparison.unit));
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
    Column { tone: Some(Tone::Weight), ..Column::new("change", SORTED) }
}

/// The functions that changed most.
fn functions(comparison: &Comparison, page: &mut Page<'_>) {
    let measures = measures(comparison);
    let changed: Vec<&ComparedFunction> = comparison.functions.iter().flat_map(Functions::changed).collect();
    if changed.is_empty() {
        return;
    }
    let row = |function: &&ComparedFunction| {
        let moved = if function.has_moved { " moved" } else { "" };
        let [base, new] = function.means.map(|mean| measures.text(mean));
        let cells =
            [base, new, function_change(function) + moved, interval(function.interval), probability(function.p_holm)];
        let (name, owner) = name_of(&function.name);
        Row::new(cells.iter().map(|cell| Cell::new(cell)).collect(), &name, &owner)
    };
    page.title(&format!("functions that changed, self · {}", measures.unit()));
    let level = confidence(comparison.options.alpha);
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
    if changed.iter().take(ROWS).any(|function| function.has_moved) {
        page.sentence(
            Some(Tone::Dim),
            0,
            "moved: the function with all that it calls, or its nearest common caller, did not change.",
        );
    }
}

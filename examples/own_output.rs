//! A custom output format: the functions of a recording as a Markdown table.
//!
//! ```sh
//! cargo run --example own_output -- Recording.trace >functions.md
//! ```

use std::io::{self, Write};

use traceparse::report::{Report, ReportOptions, View};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "fixtures/27/orchard/input.xml".to_owned());
    let analysis = traceparse::open(path)?;
    let options = ReportOptions { view: View::Functions, top: Some(10), ..ReportOptions::default() };
    write_markdown(&analysis.report(&options), &mut io::stdout().lock())?;
    Ok(())
}

/// Writes a table for each series, since weights with different units do not belong in one table.
fn write_markdown(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for series in &report.series {
        writeln!(out, "| self | all | function | binary |\n|---:|---:|---|---|")?;
        for function in report.named_functions(series) {
            let (own, all) = (function.self_weight, function.all_weight);
            let name = escaped(function.name.unwrap_or("[no stack recorded]"));
            writeln!(out, "| {own} | {all} | {name} | {} |", escaped(function.binary.unwrap_or_default()))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Escapes text for a Markdown cell.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

//! Prints the five heaviest functions of a recording's main thread as JSON, with missing names from a dSYM:
//!
//! ```sh
//! cargo run --example main_thread --features serde -- Recording.trace Orchard.dSYM
//! ```
use traceparse::report::{ReportOptions, View};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<_> = std::env::args().skip(1).collect();
    let mut analysis = traceparse::open(paths.first().map_or("fixtures/27/orchard/input.xml", String::as_str))?;
    for dsym in paths.iter().skip(1) {
        eprintln!("{}", analysis.add_symbols(dsym)?);
    }
    let mut options = ReportOptions { view: View::Functions, top: Some(5), ..ReportOptions::default() };
    options.selection.only_main_threads = true;
    let report = analysis.report(&options);
    let functions = report.series.iter().flat_map(|series| report.named_functions(series));
    Ok(serde_json::to_writer_pretty(std::io::stdout(), &functions.collect::<Vec<_>>())?)
}

//! The five heaviest functions of the main thread of a recording, as JSON:
//!
//! ```sh
//! cargo run --example top_functions --features serde -- Recording.trace
//! ```

use traceparse::profile::{Matcher, Selection};
use traceparse::report::{ReportOptions, View};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "fixtures/27/orchard/input.xml".to_owned());
    // A bundle is named from the symbols that it keeps.
    let analysis = traceparse::open(path)?;
    let selection = Selection { threads: vec![Matcher::new("Main Thread")], ..Selection::default() };
    let report = analysis.report(&ReportOptions { view: View::Functions, selection, ..ReportOptions::default() });
    for series in &report.series {
        let functions: Vec<_> = report.named_functions(series).take(5).collect();
        println!("{}", serde_json::to_string_pretty(&functions)?);
    }
    Ok(())
}

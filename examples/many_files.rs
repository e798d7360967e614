//! Prints the heaviest function of each of many recordings, exports and `sample` reports:
//!
//! ```sh
//! cargo run --example many_files -- *.trace *.xml *.sample.txt
//! ```

use traceparse::report::{ReportOptions, View};

fn main() {
    let options = ReportOptions { view: View::Functions, ..ReportOptions::default() };
    for path in std::env::args().skip(1) {
        let analysis = match traceparse::open(&path) {
            Ok(analysis) => analysis,
            Err(error) => {
                eprintln!("{path}: {error}");
                continue;
            }
        };
        let report = analysis.report(&options);
        for series in &report.series {
            let Some(heaviest) = report.named_functions(series).next() else { continue };
            let name = heaviest.name.unwrap_or("[no stack recorded]");
            println!("{path}: {name}, {} {} of {}", heaviest.self_weight, heaviest.unit, series.counted.weight.value);
        }
    }
}

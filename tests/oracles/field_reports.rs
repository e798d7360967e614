//! Fleets of MetricKit's diagnostics: the report and the summed tree of 1,000 generated inputs, compared with `tests/oracle/field_reports.py`, which
//! reads the files itself.

use std::fs;

use libtest_mimic::{Failed, Trial};
use support::Rng;

use crate::metrickit::document;
use crate::programs::{has_python, number, oracle, traceparse};

pub(crate) fn trials() -> Vec<Trial> {
    trials![if has_python(); fleets_of_diagnostics_are_those_of_the_oracle]
}

fn fleets_of_diagnostics_are_those_of_the_oracle() -> Result<(), Failed> {
    let seed = number("TRACEPARSE_SEED").unwrap_or(1);
    println!("to repeat: TRACEPARSE_SEED={seed}");
    let folder = tempfile::tempdir()?;
    let inputs = folder.path().join("diagnostics");
    fs::create_dir(&inputs)?;
    for input in 0..1_000 {
        let mut rng = Rng::new(seed.wrapping_add(input));
        let version = *rng.pick(&["1.9", "1.10", "2.0"]);
        // One in ten has a few documents, one a line.
        let (documents, extension) = if input % 10 == 0 { (3, "ndjson") } else { (1, "json") };
        let documents: Vec<String> = (0..documents).map(|_| document(&mut rng).to_string()).collect();
        let text = documents.join("\n").replace("\"3.1\"", &format!("\"{version}\""));
        fs::write(inputs.join(format!("{input:04}.{extension}")), text)?;
    }
    let inputs = inputs.display().to_string();
    let [report, tree] = ["report.json", "tree.folded"].map(|name| folder.path().join(name).display().to_string());
    let by = ["fleet", "report", &inputs, "--by", "app_version", "--format", "json", "-o", &report];
    traceparse(by)?;
    traceparse(["fleet", "tree", &inputs, "--where", "diagnostic=hang", "--format", "folded", "-o", &tree])?;
    oracle("field_reports.py", [&inputs, &report, &tree])?;
    Ok(())
}

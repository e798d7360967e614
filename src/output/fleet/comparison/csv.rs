//! The runs of a comparison as a table, so that a verdict can be checked with other programs.

use std::io::{self, Write};

use ::csv::Writer;

use crate::fleet::compare::Comparison;
use crate::output::csv::{Cells, record};
use crate::output::fleet::measure_unit;
use crate::units::Nanos;

/// Writes a row for each run: its side, block and name, and its quantities.
///
/// # Errors
/// When `out` fails.
pub(in crate::output) fn write(comparison: &Comparison, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = Writer::from_writer(out);
    let labels = comparison.options.blocks.iter().map(String::as_str);
    let names = ["run", "value", "cpu_time", "cpu_time_unit", "recorded_ns", "cpu_use", "cpu_use_unit"];
    record(&mut csv, &["side"].into_iter().chain(labels).chain(names).collect::<Vec<_>>())?;
    for block in &comparison.blocks {
        for (side, runs) in ["base", "new"].into_iter().zip(&block.runs) {
            for run in runs {
                let recorded = run.row.recorded().map(Nanos::as_nanos);
                let mut fields = vec![side.to_owned()];
                let labels = block.labels.iter().map(|label| label.as_deref().unwrap_or_default());
                fields.extend(labels.map(|label| cells.text(label).into_owned()));
                fields.extend([
                    cells.text(&run.row.title()).into_owned(),
                    run.value.to_string(),
                    run.row.weight.to_string(),
                    comparison.unit.name().to_owned(),
                    recorded.map_or_else(String::new, |length| length.to_string()),
                    run.row.rate.as_f64().to_string(),
                    measure_unit(comparison.unit).to_owned(),
                ]);
                record(&mut csv, &fields.iter().map(String::as_str).collect::<Vec<_>>())?;
            }
        }
    }
    csv.flush()
}

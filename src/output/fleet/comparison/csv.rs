//! The runs of a comparison as a table, so that other programs can check the verdict.

use std::io::{self, Write};

use crate::fleet::compare::Comparison;
use crate::output::csv::{Cells, Csv, Field};
use crate::output::fleet::measure_unit;
use crate::units::Nanos;

/// Writes a row for each run: its side, block and name, and its quantities.
///
/// # Errors
/// If `out` fails.
pub(in crate::output) fn write(comparison: &Comparison, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let labels = comparison.options.blocks.iter().map(String::as_str);
    let names = ["run", "value", "cpu_time", "cpu_time_unit", "recorded_ns", "cpu_use", "cpu_use_unit"];
    let mut csv = Csv::new(["side"].into_iter().chain(labels).chain(names), cells, out)?;
    for block in &comparison.blocks {
        for (side, runs) in ["base", "new"].into_iter().zip(&block.runs) {
            for run in runs {
                let labels = block.labels.iter().map(|label| label.as_deref().into());
                let quantities = [
                    run.row.title().into(),
                    run.value.into(),
                    run.row.weight.into(),
                    comparison.unit.name().into(),
                    run.row.recorded().map(Nanos::as_nanos).into(),
                    run.row.rate.as_f64().into(),
                    measure_unit(comparison.unit).into(),
                ];
                csv.record([Field::from(side)].into_iter().chain(labels).chain(quantities))?;
            }
        }
    }
    csv.finish()
}

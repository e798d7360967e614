//! The option for the texts in CSV.

use clap::Args;
use traceparse::output::Cells;

#[derive(Debug, Args)]
pub(crate) struct CsvArgs {
    /// In CSV, put an apostrophe before text that looks like a formula
    ///
    /// A spreadsheet would run it; names such as -[Widget draw:] begin like one.
    #[arg(long, help_heading = "Output")]
    csv_safe: bool,
}

impl CsvArgs {
    /// The way in which texts are written.
    pub(crate) fn cells(&self) -> Cells {
        if self.csv_safe { Cells::ForSpreadsheets } else { Cells::AsTheyAre }
    }

    /// Checks that the format has a use for the option if it was given.
    pub(crate) fn check(&self, is_csv: bool) -> Result<(), String> {
        if self.csv_safe && !is_csv {
            return Err("--csv-safe only applies to --format csv".to_owned());
        }
        Ok(())
    }
}

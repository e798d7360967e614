//! How CSV writes texts, on the command line.

use clap::Args;
use traceparse::output::csv::Cells;

#[derive(Debug, Args)]
pub(crate) struct CsvArgs {
    /// In CSV, put an apostrophe before texts that a spreadsheet would take for a formula, such as -[Widget draw:]
    #[arg(long, help_heading = "Output")]
    csv_safe: bool,
}

impl CsvArgs {
    /// How texts are written.
    pub(crate) fn cells(&self) -> Cells {
        if self.csv_safe { Cells::ForSpreadsheets } else { Cells::AsTheyAre }
    }

    /// Whether the format has a use for what was given.
    pub(crate) fn check(&self, is_csv: bool) -> Result<(), String> {
        if self.csv_safe && !is_csv {
            return Err("--csv-safe is for spreadsheets; it needs --format csv".to_owned());
        }
        Ok(())
    }
}

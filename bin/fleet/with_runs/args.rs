//! The options of pages of runs.

use std::path::Path;

use clap::Args;

use crate::format_options::PageArgs;

#[derive(Debug, Args)]
pub(crate) struct WithRunsArgs {
    /// Next to the HTML, write a page for each of the first N runs that the report's numbers come from, and link to it
    ///
    /// Each page is the one that `traceparse RECORDING -o page.html` would write. The pages are in the folder REPORT.runs next to
    /// REPORT.html. The recordings are read again, so they must still exist.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Output")]
    pub(crate) with_runs: Option<u32>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

impl WithRunsArgs {
    /// Checks that links have a page and a folder next to it; `output` is `None` for standard output.
    pub(crate) fn check(&self, is_html: bool, output: Option<&Path>) -> Result<(), String> {
        if self.with_runs.is_none() {
            let advice = "--max-size applies to the pages of --with-runs; leave it out, or use --max-output";
            return if self.page.is_given() { Err(advice.to_owned()) } else { Ok(()) };
        }
        if !is_html {
            return Err(
                "--with-runs only applies to --format html; give the output file the extension .html".to_owned()
            );
        }
        let Some(output) = output else {
            return Err(
                "--with-runs writes a folder next to the page, so it needs -o, such as -o fleet.html".to_owned()
            );
        };
        if std::fs::metadata(output).is_ok_and(|metadata| !metadata.is_file()) {
            let output = output.display();
            return Err(format!("{output}: not a file; --with-runs writes a folder next to it; name another output"));
        }
        Ok(())
    }
}

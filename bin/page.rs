//! The page of `--format html`, and its size.

use std::io;

use clap::Args;
use traceparse::memory::Size;
use traceparse::output::WorkbenchOptions;
use traceparse::run_pages::fit;

use crate::bounds::parse_size;
use crate::note;

/// The largest page, if nothing else is said.
const MAX_SIZE: u64 = 64 << 20;

#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// Largest page of --format html, such as 16M [default: 64M]
    ///
    /// Of a larger one, samples of one thread and stack that are close in time are joined; what they weigh together stays exact.
    #[arg(long, value_parser = parse_size, value_name = "SIZE", help_heading = "Output")]
    max_size: Option<Size>,
}

impl PageArgs {
    /// Refuses a size where there is no page.
    pub(crate) fn check(&self, is_page: bool) -> Result<(), String> {
        if self.max_size.is_some() && !is_page {
            return Err("--max-size only applies to --format html; leave it out, or use --max-output".to_owned());
        }
        Ok(())
    }

    /// The options with which a page is small enough: `fitting` finds them for so many bytes. A note says what is left out.
    pub(crate) fn fit<'o>(
        &self,
        fitting: impl FnOnce(u64) -> io::Result<WorkbenchOptions<'o>>,
    ) -> io::Result<WorkbenchOptions<'o>> {
        let (options, reduced) = fit(self.max_size(), fitting)?;
        reduced.iter().for_each(|reduced| note(reduced));
        Ok(options)
    }

    /// True if a size was given.
    pub(crate) fn is_given(&self) -> bool {
        self.max_size.is_some()
    }

    /// The largest page, in bytes.
    pub(crate) fn max_size(&self) -> u64 {
        self.max_size.map_or(MAX_SIZE, |Size(size)| size)
    }
}

//! The page of `--format html`, and its size.

use std::io;

use clap::Args;
use traceparse::memory::Size;
use traceparse::output::{WorkbenchOptions, WorkbenchReduction};

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
        let (options, reduced) = self.fit_quietly(fitting)?;
        reduced.iter().for_each(|reduced| note(reduced));
        Ok(options)
    }

    /// True if a size was given.
    pub(crate) fn is_given(&self) -> bool {
        self.max_size.is_some()
    }

    /// The same, with the note on what is left out.
    pub(crate) fn fit_quietly<'o>(
        &self,
        fitting: impl FnOnce(u64) -> io::Result<WorkbenchOptions<'o>>,
    ) -> io::Result<(WorkbenchOptions<'o>, Option<String>)> {
        let Size(size) = self.max_size.unwrap_or(Size(MAX_SIZE));
        let too_large = |error: io::Error| io::Error::new(error.kind(), format!("{error} (--max-size {})", Size(size)));
        let options = fitting(size).map_err(too_large)?;
        let is_reduced = options.reduction != WorkbenchReduction::None;
        let reduced = || format!("the page would be larger than {}: {} (--max-size)", Size(size), options.reduction);
        Ok((options, is_reduced.then(reduced)))
    }
}

//! The options that apply to one format: CSV, flame graphs and pages.

use std::io;

use clap::Args;
use traceparse::memory::Size;
use traceparse::output::{Cells, ColourBy, FlameGraphOptions, WorkbenchOptions};
use traceparse::run_pages::fit;

use crate::note;
use crate::resource_limits::parse_size;

/// The default for the maximum size of a page.
const MAX_SIZE: u64 = 64 << 20;

/// The first of these options that was given.
pub(crate) fn first_given(options: impl IntoIterator<Item = (&'static str, bool)>) -> Option<&'static str> {
    options.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
}

#[derive(Debug, Args)]
pub(crate) struct CsvArgs {
    /// In CSV, put an apostrophe before text that looks like a formula
    ///
    /// A spreadsheet would run it. Names such as -[Widget draw:] look like formulas.
    #[arg(long, help_heading = "Output")]
    csv_safe: bool,
}

impl CsvArgs {
    /// Returns the rule for text in cells.
    pub(crate) fn cells(&self) -> Cells {
        if self.csv_safe { Cells::ForSpreadsheets } else { Cells::AsTheyAre }
    }

    /// Fails if the option was given for another format.
    pub(crate) fn check(&self, is_csv: bool) -> Result<(), String> {
        if self.csv_safe && !is_csv {
            return Err("--csv-safe only applies to --format csv".to_owned());
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct FlameGraphArgs {
    /// Width in pixels [default: as wide as the window]
    #[arg(long, value_name = "PX", value_parser = clap::value_parser!(u32).range(400..=20_000), help_heading = "Flame graphs (--format svg)")]
    pub(crate) width: Option<u32>,
    /// Colour frames by this [default: category]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Flame graphs (--format svg)")]
    pub(crate) color_by: Option<ColourBy>,
    /// Put the root at the bottom, with callees above their callers
    #[arg(long, help_heading = "Flame graphs (--format svg)")]
    pub(crate) flame: bool,
    /// Put the root at the top, with callees below their callers [default]
    #[arg(long, conflicts_with = "flame", help_heading = "Flame graphs (--format svg)")]
    pub(crate) icicle: bool,
    /// Title [default: the measurement and the process]
    #[arg(long, value_name = "TEXT", help_heading = "Flame graphs (--format svg)")]
    pub(crate) title: Option<String>,
}

impl FlameGraphArgs {
    /// Returns the options of a flame graph. If the tree itself is limited, the picture has no limits on pixels and bytes.
    pub(crate) fn options(&self, has_limit: bool) -> FlameGraphOptions {
        let defaults = FlameGraphOptions::default();
        let (narrowest, max_bytes) =
            if has_limit { (0.0, usize::MAX) } else { (defaults.narrowest, defaults.max_bytes) };
        FlameGraphOptions {
            width: self.width,
            colour_by: self.color_by.unwrap_or_default(),
            is_icicle: !self.flame,
            title: self.title.clone(),
            narrowest,
            max_bytes,
            ..defaults
        }
    }

    /// Fails if any of these options was given for another format.
    pub(crate) fn check_unused(&self) -> Result<(), String> {
        let given = [
            ("--width", self.width.is_some()),
            ("--color-by", self.color_by.is_some()),
            ("--flame", self.flame),
            ("--icicle", self.icicle),
            ("--title", self.title.is_some()),
        ];
        match first_given(given) {
            Some(name) => Err(format!("{name} only applies to flame graphs; use --format svg")),
            None => Ok(()),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// Largest page of --format html, such as 16M [default: 64M]
    ///
    /// To fit, samples of a thread that have the same stack and are close in time are joined. Their total weight stays exact.
    #[arg(long, value_parser = parse_size, value_name = "SIZE", help_heading = "Output")]
    max_size: Option<Size>,
}

impl PageArgs {
    /// Fails if a size was given for another format.
    pub(crate) fn check(&self, is_page: bool) -> Result<(), String> {
        if self.max_size.is_some() && !is_page {
            return Err("--max-size only applies to --format html; leave it out, or use --max-output".to_owned());
        }
        Ok(())
    }

    /// Returns options with which the page is small enough, and prints a note about omitted content. `fitting` finds the options for a
    /// number of bytes.
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

    /// Returns the maximum size of a page, in bytes.
    pub(crate) fn max_size(&self) -> u64 {
        self.max_size.map_or(MAX_SIZE, |Size(size)| size)
    }
}

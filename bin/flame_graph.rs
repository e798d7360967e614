//! The arguments of flame graphs, and what they mean to the library.

use clap::Args;
use traceparse::output::{ColourBy, FlameGraphOptions};

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
    /// The look of a flame graph; with a limit for trees of its own, it has no other limit, of pixels or bytes.
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

    /// Checks that none was given, for formats that have no use for them.
    pub(crate) fn check_unused(&self) -> Result<(), String> {
        let given = [
            ("--width", self.width.is_some()),
            ("--color-by", self.color_by.is_some()),
            ("--flame", self.flame),
            ("--icicle", self.icicle),
            ("--title", self.title.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(format!("{name} only applies to flame graphs; use --format svg")),
            None => Ok(()),
        }
    }
}

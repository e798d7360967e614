//! The plan of `fleet report`: its arguments, checked and resolved.

use std::io::{self, IsTerminal};

use traceparse::fleet::{FleetOptions, FleetScope};
use traceparse::stats::QuantileMethod;

use super::arguments::FleetRunArgs;
use super::cli::{FleetReportArgs, FleetView};
use crate::formats::Format;
use crate::output::Output;

/// The number of rows in text tables, without --top.
const TEXT_ROWS: usize = 15;

/// The recordings or dataset, the report options and the output.
pub(super) struct FleetReportPlan {
    pub(super) runs: FleetRunArgs,
    pub(super) options: FleetOptions,
    /// True to evaluate alerts even if inputs are missing or could not be measured.
    pub(super) allow_incomplete: bool,
    /// The number of runs that get a page; `None` for no pages.
    pub(super) with_runs: Option<u32>,
    /// The text view.
    pub(super) view: FleetView,
    pub(super) output: Output,
}

impl FleetReportPlan {
    /// Checks and resolves the arguments: the inputs, the report options, the output, then the options that must suit the output's format.
    pub(super) fn new(args: FleetReportArgs) -> Result<Self, String> {
        args.runs.check()?;
        args.questions.check()?;
        let output = args.output.resolve()?;
        // A page is useless on a terminal.
        if output.is_page() && output.file().is_none() && io::stdout().is_terminal() {
            return Err("--format html needs a file to open in a browser; pass one, such as -o fleet.html".to_owned());
        }
        let has_pages = args.with_runs.is_some();
        // Options for tables and windows imply the full view.
        let is_full = args.tables.top.is_some() || !args.questions.scope.is_empty() || args.approximate;
        let view = args.view.unwrap_or(if is_full { FleetView::Full } else { FleetView::Overview });
        let is_overview = view == FleetView::Overview;
        let has_windows = output.format != Format::Csv && !(output.is_text() && is_overview);
        let has_tables = args.questions.options().scopes != [FleetScope::Run];
        let is_linear = args.questions.method == QuantileMethod::Linear;
        let needs_file = "{} writes a folder next to the page, so it needs -o, such as -o fleet.html";
        args.given.check(&[
            ("--approximate", !is_linear, "{} percentiles are nearest ranks; leave out --method"),
            ("--approximate", has_windows, "windows of one second, which CSV and --view overview do not show"),
            ("--view", output.is_text(), "text"),
            ("--top", args.view != Some(FleetView::Overview), "tables, and not to --view overview"),
            ("--top --sort", has_tables, "tables, and not to --scope run"),
            ("--max-size", has_pages || output.format == Format::Json, "--with-runs and --format json"),
            ("--with-runs", output.is_page(), "--format html"),
            ("--with-runs", output.file().is_some(), needs_file),
        ])?;
        if let Some(path) =
            output.file().filter(|path| has_pages && path.metadata().is_ok_and(|known| !known.is_file()))
        {
            let name = path.display();
            return Err(format!("{name}: not a file; --with-runs writes a folder next to it; name another output"));
        }
        let default_top = output.is_text().then_some(TEXT_ROWS);
        Ok(Self {
            options: FleetOptions {
                sort: args.tables.sort,
                top: args.tables.top.or(default_top).filter(|&rows| rows < usize::MAX),
                alerts: args.tables.alert,
                // Windows that are not shown need no memory.
                is_approximate: args.approximate || !has_windows,
                ..args.runs.narrow(args.questions.options())
            },
            view,
            with_runs: args.with_runs,
            allow_incomplete: args.incomplete.allow_incomplete,
            runs: args.runs,
            output,
        })
    }
}

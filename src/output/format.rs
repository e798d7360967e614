//! The output formats with their options.

use super::csv::Cells;
use super::firefox::Markers;
#[cfg(feature = "fleet")]
use super::fleet::RunPage;
use super::svg::FlameGraphOptions;
use super::text::{OverviewContext, Style};
#[cfg(feature = "compression")]
use super::workbench::WorkbenchOptions;

/// An output format with its options. Not every answer supports every format ([`write`](super::write())).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Format<'o> {
    /// For people: all views.
    Text(Style),
    /// For people: the overview, with context that the report does not contain.
    Overview(Style, OverviewContext<'o>),
    /// For programs: all views. `docs/formats.md` describes every field; the document contains its version.
    ///
    /// Weights are integers, with their unit in another field. JavaScript rounds integers above 2^53, which no real recording reaches. Trees are
    /// nested as deeply as stacks, which exceeds the limit of some parsers.
    Json,
    /// For programs that read line by line: the first line contains all fields except rows, and each other line contains one row. Tree nodes and
    /// flame chart spans are not nested. All views except the overview.
    JsonLines,
    /// Tables (RFC 4180: comma, double quotes if needed, LF), with a header. An absent value is an empty field. All views; the overview is written as
    /// the summary.
    Csv(Cells),
    /// Folded stacks for flame graph tools (inferno, speedscope): `process;thread;frame;…;leaf WEIGHT`. The view of call trees, for one measurement
    /// ([`check_one_measurement`](crate::report::Report::check_one_measurement)).
    ///
    /// In names, `;`, line feed and carriage return become `%3B`, `%0A` and `%0D`. A `%` that would be mistaken for the start of such an escape
    /// becomes `%25`.
    Folded,
    /// A flame graph: one interactive SVG file for a browser. The view of call trees, for one measurement.
    FlameGraph(FlameGraphOptions),
    /// For the Firefox Profiler: samples by thread, with these markers.
    Firefox(&'o Markers<'o>),
    /// For speedscope: samples by thread.
    Speedscope,
    /// For d3-flame-graph and other tools based on d3's hierarchies: one tree of `name`, `value` and `children`. The view of call trees, for one
    /// measurement.
    D3,
    /// For Perfetto and `chrome://tracing`: the flame chart, regardless of the view.
    ChromeTrace,
    /// For pprof and other readers of its format: the samples of one measurement, regardless of the view. Compressed.
    #[cfg(feature = "compression")]
    Pprof,
    /// For people: one page for exploring a recording or comparing two, without network access. It contains the samples that the report selects, in
    /// all thread states unless states were selected, regardless of the view.
    #[cfg(feature = "compression")]
    Workbench(WorkbenchOptions<'o>),
    /// For people: one page about a fleet, with plots, without network access. Numbers link to the pages of their runs, if these have an address.
    #[cfg(feature = "fleet")]
    Html(&'o [RunPage]),
    /// For a pull request comment: GitHub Markdown in which names cannot act as markup. Only for comparisons of groups of runs.
    #[cfg(feature = "fleet")]
    Markdown,
    /// For CI systems, which show it with their tests. Only for comparisons of groups of runs.
    #[cfg(feature = "fleet")]
    JUnit,
}

impl Format<'_> {
    /// The name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text(_) | Self::Overview(..) => "text",
            Self::Json => "json",
            Self::JsonLines => "ndjson",
            Self::Csv(_) => "csv",
            Self::Folded => "folded",
            Self::FlameGraph(_) => "svg",
            Self::Firefox(_) => "firefox",
            Self::Speedscope => "speedscope",
            Self::D3 => "d3",
            Self::ChromeTrace => "chrome-trace",
            #[cfg(feature = "compression")]
            Self::Pprof => "pprof",
            #[cfg(feature = "compression")]
            Self::Workbench(_) => "html",
            #[cfg(feature = "fleet")]
            Self::Html(_) => "html",
            #[cfg(feature = "fleet")]
            Self::Markdown => "markdown",
            #[cfg(feature = "fleet")]
            Self::JUnit => "junit",
        }
    }
}

//! The formats there are, with the options of each.

use super::csv::Cells;
use super::firefox::Markers;
#[cfg(feature = "fleet")]
use super::fleet::RunPage;
use super::svg::FlameGraphOptions;
use super::text::{OverviewContext, Style};
#[cfg(feature = "compression")]
use super::workbench::WorkbenchOptions;

/// A format, with its options. Not every answer has every format ([`write`](super::write())).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Format<'o> {
    /// For people: all views.
    Text(Style),
    /// For people: the overview, with what the report does not know.
    Overview(Style, OverviewContext<'o>),
    /// For programs: all views. `docs/formats.md` describes every field; the document contains its version.
    ///
    /// Weights are integers, with their unit in another field. JavaScript rounds integers above 2^53, which no real recording reaches.
    /// Trees are nested as deeply as stacks, which exceeds the limit of some parsers.
    Json,
    /// For programs that read row by row: all fields except rows in the first line, and one row in each line after it. Nodes of trees and
    /// spans of flame charts are not nested. All views except the overview.
    JsonLines,
    /// Tables (RFC 4180: comma, double quotes where needed, LF), with a header. An absent value is an empty field. All views; the
    /// overview is written as the summary.
    Csv(Cells),
    /// Folded stacks for flame graphs (inferno, speedscope): `process;thread;frame;…;leaf WEIGHT`. The view of call trees, of one
    /// measurement ([`check_one_measurement`](crate::report::Report::check_one_measurement)).
    ///
    /// In a name, `;`, line feed and carriage return become `%3B`, `%0A` and `%0D`, and so does a `%` that would read as such an
    /// escape (`%25`).
    Folded,
    /// A flame graph: one interactive SVG file for a browser. The view of call trees, of one measurement.
    FlameGraph(FlameGraphOptions),
    /// For the Firefox Profiler: samples by thread, with these markers.
    Firefox(&'o Markers<'o>),
    /// For speedscope: samples by thread.
    Speedscope,
    /// For d3-flame-graph, and other tools based on d3's hierarchies: one tree of `name`, `value` and `children`. The view of call trees,
    /// of one measurement.
    D3,
    /// For Perfetto and `chrome://tracing`: the flame chart, regardless of the view.
    ChromeTrace,
    /// For pprof, and other readers of its format: samples of one measurement, regardless of the view. It is compressed.
    #[cfg(feature = "compression")]
    Pprof,
    /// For people: one page for exploring a recording, or comparing two, without network access. It holds the samples that the report
    /// selects, in all thread states unless states were selected, regardless of the view.
    #[cfg(feature = "compression")]
    Workbench(WorkbenchOptions<'o>),
    /// For people: one page about a fleet, with plots, without network access. Numbers link to the pages of their runs, if these have an
    /// address.
    #[cfg(feature = "fleet")]
    Html(&'o [RunPage]),
    /// For a comment on a pull request: GitHub Markdown, in which names are inert. A comparison of groups of runs.
    #[cfg(feature = "fleet")]
    Markdown,
    /// For CI systems, which show it among their tests. A comparison of groups of runs.
    #[cfg(feature = "fleet")]
    JUnit,
}

impl Format<'_> {
    /// The name, as on the command line.
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

//! The arguments of `fleet tree`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use traceparse::calltree::Pruning;
use traceparse::fleet::FleetOptions;
use traceparse::output::{DiffView, RowFormat};
use traceparse::profile::Matcher;
use traceparse::report::diff::Normalize;
use traceparse::report::{ReportOptions, SeparateBy, View};
use traceparse::stats::Quantile;

use super::cli::{InputArgs, ReadingArgs, RunArgs, parse_label, parse_percentile};
use super::filters::ThreadArgs;
use crate::arguments::job_count;
use crate::format_options::{CsvArgs, FlameGraphArgs, PageArgs, first_given};
use crate::formats::{check_name, format_of};
use crate::weight_limit::parse_percent;

#[derive(Debug, Args)]
pub(crate) struct FleetTreeArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) chosen: RunArgs,
    /// Only runs whose CPU use is at or beyond this percentile of the selected runs, such as p95
    #[arg(long, value_name = "P", value_parser = parse_percentile, help_heading = "Report")]
    pub(crate) beyond: Option<Quantile>,
    /// Compare with the runs that have this label instead, such as app_version=5.3 (repeatable)
    ///
    /// The value replaces the values of --where for this label. The tree shows the changes from the first runs to the second.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = parse_label, help_heading = "Report")]
    against: Vec<(String, String)>,
    /// With --against: scale the second runs before comparing weights
    ///
    /// `duration` compares CPU use, `samples` compares shares.
    #[arg(long, value_enum, default_value_t = Normalize::Duration, value_name = "HOW", help_heading = "Report")]
    pub(crate) normalize: Normalize,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// List the runs whose stacks have this function, heaviest first, instead of trees (repeatable: each calls the next one)
    ///
    /// NAME is a complete name, as the tree shows it with --full-names, or /REGEX/. Text has the first 20 runs unless --top is given.
    #[arg(long, value_name = "NAME", value_parser = Matcher::parse, help_heading = "Report", conflicts_with_all = ["against", "view"])]
    pub(crate) runs_of: Vec<Matcher>,
    /// What to show [default: functions for csv, else tree]
    #[arg(long, value_enum, help_heading = "Output")]
    view: Option<TreeView>,
    /// Output format [default: from the extension of -o, else text]
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<TreeFormat>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Hide tree nodes below this percentage, and in text also table rows [default: 1 in text, 0 elsewhere]
    ///
    /// The percentage is of the tree, or for table rows of the total.
    #[arg(long, value_name = "P", value_parser = parse_percent, help_heading = "Output")]
    min_percent: Option<f64>,
    /// Show only the first N rows of tables, and the N heaviest children of each tree node
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) top: Option<usize>,
    /// Hide tree levels deeper than N
    #[arg(long, value_name = "N", help_heading = "Output")]
    depth: Option<u32>,
    /// Show one call tree for all threads
    #[arg(long, help_heading = "Output")]
    no_threads: bool,
    /// In text, write complete function names
    ///
    /// By default, names that are too long for the line lose their template arguments, then their middle.
    #[arg(long, help_heading = "Output")]
    pub(crate) full_names: bool,
    #[command(flatten)]
    pub(crate) csv: CsvArgs,
    #[command(flatten)]
    pub(crate) flame_graph: FlameGraphArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeView {
    /// The call tree of each thread
    Tree,
    /// The same from the leaves up: functions by self weight, with their callers below
    BottomUp,
    /// Functions by self weight
    Functions,
    /// Binaries by self weight
    Binaries,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeFormat {
    /// For people to read
    Text,
    /// For programs; every field is documented in docs/formats.md
    Json,
    /// A table of functions or binaries
    Csv,
    /// Folded stacks for flame graphs: process;thread;frame;…;leaf WEIGHT
    Folded,
    /// A flame graph: one interactive file for a browser
    Svg,
    /// A page for exploring the trees: a single file that works offline in any browser
    Html,
}

impl FleetTreeArgs {
    /// Checks that the arguments go together.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.inputs.check()?;
        check_name(self.format, self.output.as_deref())?;
        self.reading.filters.check()?;
        let format = self.format();
        self.csv.check(format == TreeFormat::Csv)?;
        self.page.check(format == TreeFormat::Html)?;
        if format != TreeFormat::Svg {
            self.flame_graph.check_unused()?;
        }
        if self.full_names && format != TreeFormat::Text {
            return Err("--full-names only applies to text; other formats always have full names".to_owned());
        }
        if !self.runs_of.is_empty() {
            let other = [
                ("--depth", self.depth.is_some()),
                ("--no-threads", self.no_threads),
                ("--min-percent", self.min_percent.is_some()),
            ];
            return match (first_given(other), self.row_format()) {
                (Some(option), _) => Err(format!("{option} only applies to trees; leave it out with --runs-of")),
                (None, None) if format != TreeFormat::Text => {
                    Err("--runs-of is a table; use --format text, json or csv".to_owned())
                }
                _ => Ok(()),
            };
        }
        let is_tree = matches!(self.view(), TreeView::Tree | TreeView::BottomUp);
        let draws = matches!(format, TreeFormat::Folded | TreeFormat::Svg | TreeFormat::Html);
        match (format, first_given([("--depth", self.depth.is_some()), ("--no-threads", self.no_threads)])) {
            (TreeFormat::Csv, _) if is_tree => Err("CSV is a table; use --view functions or binaries".to_owned()),
            _ if draws && !is_tree => Err("this format writes call trees only; leave out --view".to_owned()),
            (_, Some(option)) if !is_tree => Err(format!("{option} only applies to trees; leave it out")),
            (_, Some(option)) if self.is_difference() => Err(format!("a difference has no {option}; leave it out")),
            (TreeFormat::Folded, _) if self.is_difference() => {
                Err("folded stacks cannot show a difference; use --format svg or json".to_owned())
            }
            _ if !self.is_difference() && self.normalize != Normalize::Duration => {
                Err("--normalize only applies to --against".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// True if two cohorts are compared.
    pub(crate) fn is_difference(&self) -> bool {
        !self.against.is_empty()
    }

    /// The requested format, or else the format of the output's extension.
    pub(crate) fn format(&self) -> TreeFormat {
        self.format.or_else(|| format_of(self.output.as_deref())).unwrap_or(TreeFormat::Text)
    }

    /// The format of a table of runs; `None` for text.
    pub(crate) fn row_format(&self) -> Option<RowFormat> {
        match self.format() {
            TreeFormat::Json => Some(RowFormat::Json),
            TreeFormat::Csv => Some(RowFormat::Csv(self.csv.cells())),
            _ => None,
        }
    }

    fn view(&self) -> TreeView {
        let default = if self.format() == TreeFormat::Csv { TreeView::Functions } else { TreeView::Tree };
        self.view.unwrap_or(default)
    }

    /// True if trees start at the functions that samples were taken in.
    pub(crate) fn is_inverted(&self) -> bool {
        self.view() == TreeView::BottomUp
    }

    /// True if the least share of a node was set.
    pub(crate) fn has_limit(&self) -> bool {
        self.min_percent.is_some()
    }

    /// The view of a comparison.
    pub(crate) fn diff_view(&self) -> DiffView {
        match self.view() {
            TreeView::Tree | TreeView::BottomUp => DiffView::Tree,
            TreeView::Functions => DiffView::Functions,
            TreeView::Binaries => DiffView::Binaries,
        }
    }

    /// The least share that is shown: in text, one percent unless requested.
    pub(crate) fn min_percent(&self) -> f64 {
        self.min_percent.unwrap_or(if self.format() == TreeFormat::Text { 1.0 } else { 0.0 })
    }

    /// The cohorts: one, or two to compare.
    pub(crate) fn cohorts(&self) -> Vec<FleetOptions> {
        let quantiles = self.beyond.into_iter().collect();
        let first = FleetOptions { scopes: Vec::new(), quantiles, ..self.chosen.narrow(FleetOptions::default()) };
        let first = self.threads.narrow(first);
        if !self.is_difference() {
            return vec![first];
        }
        let is_kept = |(key, _): &&(String, String)| !self.against.iter().any(|(other, _)| other == key);
        let only = first.only.iter().filter(is_kept).chain(&self.against).cloned().collect();
        vec![first.clone(), FleetOptions { only, ..first }]
    }

    /// The options of the report on a cohort.
    pub(crate) fn report_options(&self) -> ReportOptions {
        let (min_percent, depth, children) = (self.min_percent(), self.depth, self.top);
        ReportOptions {
            view: match self.view() {
                _ if self.format() == TreeFormat::Html => View::Summary,
                TreeView::Tree | TreeView::BottomUp => View::Tree,
                TreeView::Functions => View::Functions,
                TreeView::Binaries => View::Binaries,
            },
            pruning: Pruning { min_percent, depth, children, ..Pruning::default() },
            top: self.top,
            separate_by: if self.no_threads { SeparateBy::Nothing } else { SeparateBy::Thread },
            jobs: job_count(self.reading.files.jobs),
            ..ReportOptions::default()
        }
    }
}

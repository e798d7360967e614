//! The arguments of reports, and their conversion for the library.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum, ValueHint};
use traceparse::calltree::Pruning;
use traceparse::profile::{Matcher, StateFilter};
use traceparse::recording::SampleDetail;
use traceparse::report::{ReportOptions, SeparateBy, SortBy, View};
use traceparse::units::Nanos;

use crate::arguments::{RecordingArgs, job_count};
use crate::format_options::CsvArgs;
use crate::format_options::FlameGraphArgs;
use crate::format_options::PageArgs;
use crate::formats::{Content, Format, check_name, format_of};
use crate::weight_limit::{WeightLimit, parse_percent, parse_weight};

/// True for views that have something for each thread, or for each other scope.
pub(crate) fn is_separated(view: View) -> bool {
    matches!(view, View::Full | View::Tree | View::Heaviest | View::Timeline)
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Recordings (.trace, or a zip or tar of one), exports, and reports of sample, spindump, MetricKit, Dart, dotTrace or a Deep Copy of
    /// Instruments, also compressed by gzip or zstd; `-` is standard input
    ///
    /// A table of contents (`xctrace export --toc`) among them adds device and duration to the exports.
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// What to show [default: overview for text, functions for csv and ndjson, else full]
    #[arg(long, value_enum, help_heading = "Output")]
    pub(crate) view: Option<ViewArg>,
    /// Show callers and callees of this function
    ///
    /// If no function has this name, names that contain it match, ignoring case. /REGEX/ is a regular expression. Exactly one function must
    /// match.
    #[arg(long, value_name = "NAME", value_parser = Matcher::parse, help_heading = "Output")]
    pub(crate) function: Option<Matcher>,
    /// Output format [default: from the extension of -o, else text]
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<Format>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Hide tree nodes below this percentage, and in text also table rows [default: 1 in text, 0 elsewhere]
    ///
    /// The percentage is of the tree, or for table rows of the total.
    #[arg(long, value_name = "P", value_parser = parse_percent, help_heading = "Output")]
    pub(crate) min_percent: Option<f64>,
    /// Hide tree nodes and table rows below this weight, such as 5ms
    ///
    /// Without a unit of time, it is in the unit of the table: 20000 or 1.5M.
    #[arg(long, value_name = "WEIGHT", value_parser = parse_weight, help_heading = "Output")]
    pub(crate) min_weight: Option<WeightLimit>,
    /// Show only the first N rows of tables, and the N heaviest children of each tree node
    ///
    /// With --view heaviest, N is the number of stacks.
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) top: Option<usize>,
    /// Sort rows of tables by this column [default: self weight, else all weight]
    #[arg(long, value_enum, value_name = "COLUMN", help_heading = "Output")]
    pub(crate) sort: Option<SortBy>,
    /// Hide tree levels deeper than N
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) depth: Option<u32>,
    /// In text, write complete function names
    ///
    /// By default, names that are too long for the line lose their template arguments, then their middle.
    #[arg(long, help_heading = "Output")]
    pub(crate) full_names: bool,
    /// Bin length of --view timeline, such as 10ms [default: round, at most 90 bins]
    #[arg(long, value_name = "DURATION", value_parser = parse_bin, help_heading = "Output")]
    pub(crate) bin: Option<Nanos>,
    /// Split trees and timelines by this
    #[arg(long, value_enum, default_value_t = SeparateBy::Thread, value_name = "WHAT", help_heading = "Output")]
    pub(crate) separate_by: SeparateBy,
    /// Show one call tree for all threads; the same as --separate-by none
    #[arg(long, conflicts_with = "separate_by", help_heading = "Output")]
    pub(crate) no_threads: bool,
    /// Folder to search for source files, for --view lines and --format html (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub(crate) source: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) csv: CsvArgs,
    #[command(flatten)]
    pub(crate) flame_graph: FlameGraphArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,

    /// Read signposts and hangs from this export or recording (repeatable)
    ///
    /// For --during, --during-hang, --format html and --format firefox, if FILE itself does not have them.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Filters")]
    pub(crate) intervals: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) recording: RecordingArgs,
}

/// A view, or the tree from the leaves up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewArg {
    Of(View),
    BottomUp,
}

impl ValueEnum for ViewArg {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<ViewArg>> = LazyLock::new(|| {
            let with_bottom_up = |&view: &View| match view {
                View::Tree => vec![ViewArg::Of(view), ViewArg::BottomUp],
                _ => vec![ViewArg::Of(view)],
            };
            View::value_variants().iter().flat_map(with_bottom_up).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = "The same from the leaves up: functions by self weight, with their callers below";
        match self {
            Self::Of(view) => view.to_possible_value(),
            Self::BottomUp => Some(PossibleValue::new("bottom-up").help(help)),
        }
    }
}

fn parse_bin(text: &str) -> Result<Nanos, String> {
    let bin: Nanos = text.parse()?;
    if bin.as_nanos() > 0 { Ok(bin) } else { Err("a bin is at least 1ns long".to_owned()) }
}

impl ReportArgs {
    /// The requested format, or else the format of the output's extension.
    pub(crate) fn format(&self) -> Format {
        self.format.or_else(|| format_of(self.output.as_deref())).unwrap_or(Format::Text)
    }

    /// Checks that the extension of the output fits the format.
    pub(crate) fn check_name(&self) -> Result<(), String> {
        check_name(self.format, self.output.as_deref())
    }

    /// The view to show.
    pub(crate) fn view(&self) -> View {
        match self.view {
            None if self.format().content() == Content::FlameCharts => View::FlameChart,
            // The page makes its own trees.
            _ if self.format() == Format::Html => View::Summary,
            None if self.format().content() != Content::Views => View::Tree,
            None if self.function.is_some() => View::Sandwich,
            None if self.format().is_table() => View::Functions,
            None if self.format() == Format::Text && !self.shapes_trees() => View::Overview,
            None => View::Full,
            Some(ViewArg::Of(View::Functions)) if self.function.is_some() => View::Sandwich,
            Some(ViewArg::Of(view)) => view,
            Some(ViewArg::BottomUp) => View::Tree,
        }
    }

    /// True if a table is written, and no option chose it.
    pub(crate) fn has_default_table(&self) -> bool {
        self.format().is_table() && self.view.is_none() && self.function.is_none()
    }

    /// True if an option shapes trees, so the user wants trees.
    fn shapes_trees(&self) -> bool {
        self.min_percent.is_some()
            || self.min_weight.is_some()
            || self.depth.is_some()
            || self.no_threads
            || self.separate_by != SeparateBy::Thread
            || self.recording.operations.invert
    }

    /// The detail of samples that is needed: one by one only if the answer needs their times or cores.
    pub(crate) fn detail(&self) -> SampleDetail {
        let is_changed = self.view() == View::Overview && self.recording.changes_weights();
        if self.needs_times().is_some() || is_changed || self.format() == Format::Html {
            SampleDetail::Each
        } else {
            SampleDetail::Summed
        }
    }

    /// The option that needs the time or the core of each sample, if there is one.
    pub(crate) fn needs_times(&self) -> Option<String> {
        let view = self
            .view
            .filter(|_| matches!(self.view(), View::Samples | View::Cores | View::Timeline | View::FlameChart));
        let view = view.and_then(|view| Some(format!("--view {}", view.to_possible_value()?.get_name())));
        let format = self.format();
        let needs_format = format.needs_times() || format.content() == Content::FlameCharts;
        let needs_samples = self.separate_by.needs_samples() && is_separated(self.view());
        self.recording
            .selection
            .when
            .needs_times()
            .map(str::to_owned)
            .or(view)
            .or_else(|| needs_format.then(|| format!("--format {}", format.name())))
            .or_else(|| needs_samples.then(|| format!("--separate-by {}", self.separate_by.name())))
    }

    /// The option that needs the cores of samples.
    pub(crate) fn needs_cores(&self) -> Option<&'static str> {
        match self.separate_by {
            _ if self.view.is_some() && self.view() == View::Cores => Some("--view cores"),
            SeparateBy::CoreKind if is_separated(self.view()) => Some("--separate-by core-kind"),
            _ => None,
        }
    }

    /// The options of the report.
    pub(crate) fn report_options(&self) -> ReportOptions {
        let mut options = self.recording.selection.report_options();
        // A single state needs no separation.
        if self.separate_by == SeparateBy::State
            && is_separated(self.view())
            && self.recording.selection.when.state.is_empty()
        {
            options.selection.states = StateFilter::All;
        }
        ReportOptions {
            pruning: Pruning {
                min_percent: self.min_percent.unwrap_or(if self.format() == Format::Text { 1.0 } else { 0.0 }),
                min_weight: self.min_weight.map_or(0, WeightLimit::value),
                depth: self.depth,
                children: self.top,
            },
            view: self.view(),
            top: self.top,
            sort: self.sort,
            separate_by: if self.no_threads { SeparateBy::Nothing } else { self.separate_by },
            timeline_bin: self.bin,
            jobs: job_count(self.recording.input.jobs),
            ..options
        }
    }

    /// True if trees start at the functions that samples were taken in.
    pub(crate) fn is_inverted(&self) -> bool {
        self.recording.operations.invert || self.view == Some(ViewArg::BottomUp)
    }
}

//! The plan of a report: its arguments, checked and resolved.

use std::path::PathBuf;

use clap::CommandFactory;
use traceparse::calltree::Pruning;
use traceparse::profile::{Matcher, StateFilter};
use traceparse::recording::SampleDetail;
use traceparse::report::{ReportOptions, SeparateBy, SortBy, View};

use crate::arguments::RecordingArgs;
use crate::choices::ViewArg;
use crate::cli::Cli;
use crate::formats::{Content, Format};
use crate::intervals::IntervalFiles;
use crate::mistakes;
use crate::output::Output;
use crate::recording::check_distinct;
use crate::report_args::ReportArgs;
use crate::weight_limit::WeightLimit;

/// The inputs, the report options and the output.
pub(crate) struct ReportPlan {
    pub(crate) files: IntervalFiles,
    pub(crate) source: Vec<PathBuf>,
    pub(crate) recording: RecordingArgs,
    pub(crate) output: Output,
    /// The report options without intervals and the function, which depend on the recording.
    pub(crate) options: ReportOptions,
    pub(crate) function: Option<Matcher>,
    pub(crate) min_weight: Option<WeightLimit>,
    /// True if --min-percent was passed.
    pub(crate) has_min_percent: bool,
    /// True if the output is a table that no option selected.
    pub(crate) has_default_table: bool,
    /// True if trees start at leaf functions.
    pub(crate) is_inverted: bool,
    /// The required detail of samples: single samples only if the output needs their times or cores.
    pub(crate) detail: SampleDetail,
    /// The option that needs the time or core of each sample, if any.
    pub(crate) needs_times: Option<String>,
    /// The option that needs the cores of samples, if any.
    pub(crate) needs_cores: Option<&'static str>,
}

impl ReportPlan {
    /// Checks and resolves the arguments. The first input is checked first, since a misspelled command there explains all other errors. Then comes
    /// the output, since its format determines the view, and then the options that must suit the view.
    pub(crate) fn new(args: ReportArgs) -> Result<Self, String> {
        mistakes::check_files(&args.files, Cli::command)?;
        let output = args.output.resolve()?;
        args.recording.check()?;
        let view = view(&args, output.format);
        check_options(&args, output.format, view)?;
        check_format(&args, output.format)?;
        check_limits(&args, output.format, view)?;
        check_distinct(&args.files)?;
        check_distinct(&args.intervals)?;
        let needs_times = needs_times(&args, output.format, view);
        let is_changed = view == View::Overview && args.recording.changes_weights();
        let is_each = needs_times.is_some() || is_changed || output.is_page();
        Ok(Self {
            options: report_options(&args, &output, view),
            has_min_percent: args.pruning.min_percent.is_some(),
            has_default_table: output.format.is_table() && args.view.is_none() && args.function.is_none(),
            is_inverted: args.recording.reading.operations.invert || args.view == Some(ViewArg::BottomUp),
            detail: if is_each { SampleDetail::Each } else { SampleDetail::Summed },
            needs_times,
            needs_cores: match args.separate_by {
                _ if args.view == Some(ViewArg::Of(View::Cores)) => Some("--view cores"),
                SeparateBy::CoreKind if is_separated(view) => Some("--separate-by core-kind"),
                _ => None,
            },
            files: IntervalFiles {
                exports: args.files,
                named: args.intervals,
                option: "--intervals",
                are_all: output.is_page(),
                are_shown: output.format.has_intervals() || view == View::Overview && output.is_text(),
            },
            source: args.source,
            recording: args.recording,
            function: args.function,
            min_weight: args.min_weight,
            output,
        })
    }

    /// True for the text overview, which fits on a screen.
    pub(crate) fn is_overview(&self) -> bool {
        self.options.view == View::Overview && self.output.is_text()
    }
}

fn view(args: &ReportArgs, format: Format) -> View {
    let of_trees = "--min-percent --min-weight --depth --no-threads --separate-by --invert";
    match args.view {
        None if format.content() == Content::FlameCharts => View::FlameChart,
        // The page makes its own trees.
        _ if format == Format::Html => View::Summary,
        None if format.content() != Content::Views => View::Tree,
        None if args.function.is_some() => View::Sandwich,
        None if format.is_table() => View::Functions,
        None if format == Format::Text && args.given.first(of_trees).is_none() => View::Overview,
        None => View::Full,
        Some(ViewArg::Of(View::Functions)) if args.function.is_some() => View::Sandwich,
        Some(ViewArg::Of(view)) => view,
        Some(ViewArg::BottomUp) => View::Tree,
    }
}

/// The option that selects a view.
fn option(view: View) -> String {
    match view {
        View::Sandwich => "--function".to_owned(),
        view => format!("--view {}", view.name()),
    }
}

/// True for views with separate parts for each thread or other scope.
fn is_separated(view: View) -> bool {
    matches!(view, View::Full | View::Tree | View::Heaviest | View::Timeline)
}

fn needs_times(args: &ReportArgs, format: Format, view: View) -> Option<String> {
    let is_timed = matches!(view, View::Samples | View::Cores | View::Timeline | View::FlameChart);
    let needs_format = format.needs_times() || format.content() == Content::FlameCharts;
    let needs_samples = args.separate_by.needs_samples() && is_separated(view);
    let when = args.recording.reading.when.needs_times().map(str::to_owned);
    when.or_else(|| (is_timed && args.view.is_some()).then(|| option(view)))
        .or_else(|| needs_format.then(|| format!("--format {}", format.name())))
        .or_else(|| needs_samples.then(|| format!("--separate-by {}", args.separate_by.name())))
}

fn report_options(args: &ReportArgs, output: &Output, view: View) -> ReportOptions {
    let mut options = args.recording.report_options();
    // A single state needs no separation.
    if args.separate_by == SeparateBy::State && is_separated(view) && args.recording.reading.when.state.is_empty() {
        options.selection.states = StateFilter::All;
    }
    let min_weight = args.min_weight.map_or(0, WeightLimit::value);
    ReportOptions {
        pruning: Pruning { min_weight, ..args.pruning.pruning(output) },
        view,
        top: args.pruning.top,
        sort: args.sort,
        separate_by: if args.pruning.no_threads { SeparateBy::Nothing } else { args.separate_by },
        timeline_bin: args.bin,
        ..options
    }
}

/// Checks that the format supports the view and all options about views.
fn check_format(args: &ReportArgs, format: Format) -> Result<(), String> {
    let is = |view| args.view == Some(ViewArg::Of(view));
    let is_listed = matches!(format, Format::Text | Format::Json);
    let of_trees = "--min-percent --min-weight --depth --top --sort --separate-by --no-threads --invert";
    let (content, has_view, unused) = match format.content() {
        Content::Views if format.is_table() => ("one table", !is(View::Overview) && !is(View::Full), ""),
        Content::Views => ("no overview", !is(View::Overview) || is_listed, ""),
        Content::Trees => ("call trees only", is(View::Tree) || args.view == Some(ViewArg::BottomUp), ""),
        Content::FlameCharts => ("one flame chart per thread", is(View::FlameChart), "--no-threads --separate-by"),
        Content::Stacks => ("all samples and the viewer builds its own trees", is(View::Tree), of_trees),
    };
    let message = format!("--format {} writes {content}; leave out {{}}", format.name());
    args.given.check(&[("--view", has_view, &message), (unused, false, &message)])
}

/// Checks that the options have an effect in this view and format.
fn check_options(args: &ReportArgs, format: Format, view: View) -> Result<(), String> {
    let is = |view| args.view == Some(ViewArg::Of(view));
    let when = &args.recording.reading.when;
    let uses_intervals = when.asks_intervals() || args.separate_by.needs_labels() || format.has_intervals();
    let of_intervals = "--during, --during-hang, --separate-by interval and task, --format html and --format firefox";
    let has_source = is(View::Lines) && matches!(format, Format::Text | Format::Json) || format == Format::Html;
    args.given.check(&[
        ("--bin", is(View::Timeline), "--view timeline"),
        ("--intervals", uses_intervals, of_intervals),
        ("--source", has_source, "--view lines, in text or JSON, and to --format html"),
        // Callers and callees are a separate view.
        ("--function", view == View::Sandwich, "text, JSON and CSV, with --view functions or without --view"),
    ])
}

/// Checks that the view contains what the options invert, hide, limit or sort.
fn check_limits(args: &ReportArgs, format: Format, view: View) -> Result<(), String> {
    let is_view = format.content() == Content::Views;
    let shown = if is_view { option(view) } else { format!("--format {}", format.name()) };
    let only = |what: &str| format!("{{}} has no effect on {shown}, only on {what}; remove it");
    let has_nodes = matches!(view, View::Full | View::Tree | View::Heaviest | View::FlameChart | View::Sandwich);
    let is_sorted = SortBy::AllWeight.applies_to(view);
    let is_long = matches!(view, View::Functions | View::Binaries | View::Lines | View::Transitions | View::Timeline);
    // In inverted stacks, the last function is the outermost one. Tables would show its weight as self weight.
    let is_turned = matches!(view, View::Full | View::Tree);
    // 0 shows everything, which is the default in the other views.
    let has_percent = has_nodes || is_long && format == Format::Text || args.pruning.min_percent == Some(0.0);
    let is_limited = view == View::Overview || view != View::FlameChart && has_nodes || is_sorted;
    let has_self = args.sort != Some(SortBy::SelfWeight) || SortBy::SelfWeight.applies_to(view);
    args.given.check(&[
        ("--invert", is_turned, &only("call trees")),
        ("--invert", args.view != Some(ViewArg::BottomUp), "--view bottom-up is already inverted; leave out {}"),
        ("--full-names", view != View::Summary, &only("views with function names")),
        ("--min-weight", has_nodes || is_sorted, &only("trees and tables of weights")),
        ("--min-percent", has_percent, &only("trees, and in text on long tables")),
        ("--depth", matches!(view, View::Full | View::Tree | View::FlameChart), &only("call trees and flame charts")),
        ("--top", is_limited, &only("tables, call trees and lists of the heaviest stacks")),
        ("--sort", is_sorted, &only("tables of weights")),
        ("--sort", has_self, &only("tables of self weights").replace("{}", "{} self")),
        ("--separate-by --no-threads", is_separated(view), &only("call trees, heaviest stacks and timelines")),
    ])
}

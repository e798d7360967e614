//! The arguments of `fleet tree`, and the plan resolved from them.

use clap::Args;
use traceparse::fleet::FleetOptions;
use traceparse::output::DiffView;
use traceparse::profile::Matcher;
use traceparse::report::diff::Normalize;
use traceparse::report::{ReportOptions, SeparateBy, View};
use traceparse::stats::Quantile;

use super::arguments::{FleetRunArgs, parse_label, parse_percentile};
use crate::choices::{self, ViewArg};
use crate::formats::{FLEET_TREES, Format};
use crate::given::Given;
use crate::output::Output;
use crate::output_args::OutputArgs;
use crate::pruning::PruningArgs;

#[derive(Debug, Args)]
pub(crate) struct FleetTreeArgs {
    #[command(flatten)]
    given: Given,
    /// Only runs at or above a percentile such as p95
    ///
    /// The percentile of the selected runs' CPU use.
    #[arg(long, value_name = "P", value_parser = parse_percentile, help_heading = "Report")]
    beyond: Option<Quantile>,
    /// Compare with the runs that have this label
    ///
    /// An example is app_version=5.3. Repeatable. The value replaces the values of --where for this label. The tree shows the changes from the
    /// first cohort to the second.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = parse_label, help_heading = "Report")]
    against: Vec<(String, String)>,
    /// With --against, scale the second cohort before comparing
    ///
    /// `duration` compares CPU use, `samples` compares shares.
    #[arg(long, value_parser = choices::normalize(), default_value = Normalize::Duration.name(), value_name = "HOW", help_heading = "Report", hide_short_help = true)]
    normalize: Normalize,
    /// List the runs whose stacks have this function
    ///
    /// The heaviest run is first. If repeated, each function calls the next one. NAME is a complete name, as the tree shows it with
    /// --full-names, or /REGEX/. Text has the first 20 runs unless --top is given.
    #[arg(long, value_name = "NAME", value_parser = Matcher::parse, help_heading = "Report", conflicts_with_all = ["against", "view"])]
    runs_of: Vec<Matcher>,
    /// What to show: tree, functions or binaries
    ///
    /// The default is functions for csv, and tree for other formats.
    #[arg(long, value_parser = choices::view(|view| matches!(view, View::Tree | View::Functions | View::Binaries)))]
    view: Option<ViewArg>,
    #[command(flatten)]
    output: OutputArgs<FLEET_TREES>,
    #[command(flatten)]
    pruning: PruningArgs,
    #[command(flatten)]
    pub(crate) runs: FleetRunArgs,
}

/// The runs, the options of their trees, and the output.
pub(super) struct TreePlan {
    pub(super) runs: FleetRunArgs,
    /// The cohorts: one, or two to compare.
    pub(super) cohorts: Vec<FleetOptions>,
    pub(super) beyond: Option<Quantile>,
    pub(super) runs_of: Vec<Matcher>,
    pub(super) normalize: Normalize,
    /// The view of a comparison.
    pub(super) diff_view: DiffView,
    /// The report options for a cohort.
    pub(super) options: ReportOptions,
    /// True if trees start at leaf functions.
    pub(super) is_inverted: bool,
    /// True if a minimum percentage of nodes was passed.
    pub(super) has_limit: bool,
    pub(super) output: Output,
}

impl TreePlan {
    /// Checks and resolves the arguments: first the inputs and the output, whose format determines the view, and then the options that depend
    /// on the view.
    pub(super) fn new(args: FleetTreeArgs) -> Result<Self, String> {
        args.runs.check()?;
        let output = args.output.resolve()?;
        let default = if output.format == Format::Csv { View::Functions } else { View::Tree };
        let view = match args.view.unwrap_or(ViewArg::Of(default)) {
            ViewArg::Of(view) => view,
            ViewArg::BottomUp => View::Tree,
        };
        check_options(&args, output.format, view == View::Tree)?;
        Ok(Self {
            cohorts: cohorts(&args),
            diff_view: match view {
                View::Functions => DiffView::Functions,
                View::Binaries => DiffView::Binaries,
                _ => DiffView::Tree,
            },
            options: ReportOptions {
                view: if output.is_page() { View::Summary } else { view },
                pruning: args.pruning.pruning(&output),
                top: args.pruning.top,
                separate_by: if args.pruning.no_threads { SeparateBy::Nothing } else { SeparateBy::Thread },
                jobs: args.runs.reading.files.job_count(),
                ..ReportOptions::default()
            },
            is_inverted: args.view == Some(ViewArg::BottomUp),
            has_limit: args.pruning.min_percent.is_some(),
            beyond: args.beyond,
            runs_of: args.runs_of,
            normalize: args.normalize,
            runs: args.runs,
            output,
        })
    }
}

fn check_options(args: &FleetTreeArgs, format: Format, is_tree: bool) -> Result<(), String> {
    let (is_list, is_difference) = (!args.runs_of.is_empty(), !args.against.is_empty());
    let is_table = matches!(format, Format::Text | Format::Json | Format::Csv);
    // 0 hides nothing, and draws all frames.
    let has_limit = format == Format::Text || is_tree && !is_difference || args.pruning.min_percent == Some(0.0);
    // A page contains every view, with stacks that are not inverted.
    let (is_page, of_page) = (format == Format::Html, "--format html writes all samples; leave out {}");
    args.given.check(&[
        ("--view", !is_page || args.view == Some(ViewArg::Of(View::Tree)), of_page),
        ("--min-percent --top --depth --no-threads", !is_page, of_page),
        ("--depth --no-threads --min-percent", !is_list, "trees, and not to --runs-of"),
        ("--min-percent", has_limit, "one call tree, or to text"),
        ("--top", !is_tree || !is_difference || is_list, "tables, and not to the tree of a difference"),
        ("--runs-of", is_table, "--format text, json and csv"),
        ("--view", !is_tree || format != Format::Csv, "CSV is a table; use {} functions or binaries"),
        ("--view", is_tree || is_table, "this format writes call trees only; leave out {}"),
        ("--depth --no-threads", is_tree, "trees"),
        ("--depth --no-threads", !is_difference, "a difference has no {}; leave it out"),
        ("--against", format != Format::Folded, "folded stacks cannot show a difference; leave out {}"),
        ("--normalize", is_difference, "--against"),
    ])
}

fn cohorts(args: &FleetTreeArgs) -> Vec<FleetOptions> {
    let quantiles = args.beyond.into_iter().collect();
    let first = args.runs.narrow(FleetOptions { scopes: Vec::new(), quantiles, ..FleetOptions::default() });
    if args.against.is_empty() {
        return vec![first];
    }
    let is_kept = |(key, _): &&(String, String)| !args.against.iter().any(|(other, _)| other == key);
    let only = first.only.iter().filter(is_kept).chain(&args.against).cloned().collect();
    vec![first.clone(), FleetOptions { only, ..first }]
}

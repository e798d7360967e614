//! The arguments of `traceparse diff`, and the plan resolved from them.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use traceparse::alert::AlertRule;
use traceparse::output::DiffView;
use traceparse::report::ReportOptions;
use traceparse::report::diff::Normalize;

use crate::Failure;
use crate::arguments::RecordingArgs;
use crate::choices;
use crate::formats::{CHANGES, Format};
use crate::given::Given;
use crate::intervals::IntervalFiles;
use crate::output::Output;
use crate::output_args::OutputArgs;
use crate::recording::check_distinct;
use crate::weight_limit::{parse_percent, parse_top};

/// In text, changes below this percentage are hidden by default.
const MIN_PERCENT: f64 = 0.5;

const EXAMPLES: &str = "\
Examples:
  traceparse diff before.xml after.xml
      What changed most, and whether chance may explain it
  traceparse diff before.xml after.xml --view functions
      All functions whose self weight changed
  traceparse diff before.xml after.xml --view tree --normalize samples
      Where in the call tree the shares changed
  traceparse diff before.xml after.xml --format svg -o changes.svg
      The flame graph of the second recording, coloured by what changed
  traceparse diff before.xml after.xml -o changes.html
      A page for exploring both recordings side by side, in any browser
  traceparse diff before.xml after.xml --alert 'total > 5%'
      For CI: exit with code 3 if the total grew by more than 5 %, and by more than chance explains

Alert rules: total, or function(\"NAME\") or binary(\"NAME\") with .self or .all; (*) is any name. Limits are percentages of the first recording, or weights: 5%, 200ms, 3Mcycles.

Exit codes: 0 success, 1 a recording could not be used, 2 wrong usage, 3 an alert fired, 4 no alert fired but one could not be decided, 130 interrupted, 143 terminated (SIGTERM), 129 hung up (SIGHUP), 131 quit (SIGQUIT).";

/// The changes between two recordings.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    given: Given,
    /// First recording, export or report
    ///
    /// A .trace folder or any other input of `traceparse FILE`, also in a zip or tar archive, or compressed with gzip or zstd.
    #[arg(value_name = "BEFORE", value_hint = ValueHint::FilePath)]
    before: PathBuf,
    /// Second recording, export or report
    #[arg(value_name = "AFTER", value_hint = ValueHint::FilePath)]
    after: PathBuf,
    /// What to show, such as functions or tree
    ///
    /// The default is overview for text, and functions for other formats.
    #[arg(long, value_parser = choices::diff_view())]
    view: Option<DiffView>,
    #[command(flatten)]
    output: OutputArgs<CHANGES>,
    /// In text, hide changes below this percentage
    ///
    /// The percentage is relative to the heavier recording. The default is 0.5.
    #[arg(long, value_name = "P", value_parser = parse_percent)]
    min_percent: Option<f64>,
    /// Show only the first N rows; 0 shows all
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_top)]
    top: Option<usize>,
    /// Exit with code 3 if this rule holds (repeatable)
    ///
    /// For example, 'total > 5%'. See below for the grammar of rules.
    #[arg(long, value_name = "RULE", value_parser = AlertRule::of_growth)]
    alert: Vec<AlertRule>,
    /// Scale the second recording first
    #[arg(long, value_parser = choices::normalize(), default_value = Normalize::None.name(), value_name = "HOW")]
    normalize: Normalize,
    /// Compare even if tables, sampling intervals or devices differ
    #[arg(long, hide_short_help = true)]
    force: bool,
    /// Table of contents of the first recording, for its length and device
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    before_toc: Option<PathBuf>,
    /// Table of contents of the second recording
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    after_toc: Option<PathBuf>,
    /// Signposts and hangs of the first recording (repeatable)
    ///
    /// For --during, --during-hang and --format html, if the recording or export itself does not have them.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    before_intervals: Vec<PathBuf>,
    /// Signposts and hangs of the second recording (repeatable)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    after_intervals: Vec<PathBuf>,

    #[command(flatten)]
    recording: RecordingArgs,
}

impl DiffArgs {
    /// Starts redaction, if requested.
    pub(super) fn redact(&self) -> Result<(), Failure> {
        let tables_of_contents = self.before_toc.iter().chain(&self.after_toc);
        let intervals = self.before_intervals.iter().chain(&self.after_intervals);
        let files = [&self.before, &self.after].into_iter().chain(tables_of_contents).chain(intervals);
        self.recording.reading.redact.begin(files, &self.recording.selection.processes.process)
    }
}

/// The recordings, the comparison options and the output.
pub(super) struct DiffPlan {
    pub(super) sides: [SidePlan; 2],
    pub(super) normalize: Normalize,
    /// True to compare recordings even if their tables, sampling intervals or devices differ.
    pub(super) is_forced: bool,
    pub(super) view: DiffView,
    pub(super) top: Option<usize>,
    pub(super) min_percent: f64,
    pub(super) alerts: Vec<AlertRule>,
    pub(super) output: Output,
    pub(super) recording: RecordingArgs,
    /// The report options for each side, without its intervals.
    pub(super) options: ReportOptions,
}

/// One of the two recordings.
pub(super) struct SidePlan {
    /// The recording, and its table of contents if one was passed.
    pub(super) files: Vec<PathBuf>,
    pub(super) intervals: IntervalFiles,
    /// The name of the side in messages.
    pub(super) name: &'static str,
    /// The option for its table of contents.
    pub(super) toc_option: &'static str,
}

impl DiffPlan {
    /// Checks and resolves the arguments: the filters, the output, then the options that must suit the output's format.
    pub(super) fn new(args: DiffArgs) -> Result<Self, String> {
        args.recording.check()?;
        let colours = "{} has no effect on a comparison, whose colours show the changes; leave it out";
        args.given.check(&[("--color-by", false, colours)])?;
        let output = args.output.resolve()?;
        check_options(&args, output.format)?;
        let is_page = output.is_page();
        let side = |file: PathBuf, toc: Option<PathBuf>, named, name, [toc_option, option]: [_; 2]| SidePlan {
            files: [file.clone()].into_iter().chain(toc).collect(),
            intervals: IntervalFiles { exports: vec![file], named, option, are_all: is_page, are_shown: is_page },
            name,
            toc_option,
        };
        let (first, second) = (["--before-toc", "--before-intervals"], ["--after-toc", "--after-intervals"]);
        let sides = [
            side(args.before, args.before_toc, args.before_intervals, "the first recording", first),
            side(args.after, args.after_toc, args.after_intervals, "the second recording", second),
        ];
        for side in &sides {
            check_distinct(&side.intervals.named)?;
            check_distinct(&side.files)?;
        }
        Ok(Self {
            sides,
            normalize: args.normalize,
            is_forced: args.force,
            // Options for tables imply a table.
            view: match args.view {
                Some(view) => view,
                None if output.is_text() && args.min_percent.is_none() => DiffView::Overview,
                None => DiffView::Functions,
            },
            top: args.top,
            min_percent: args.min_percent.unwrap_or(MIN_PERCENT),
            alerts: args.alert,
            output,
            options: args.recording.report_options(),
            recording: args.recording,
        })
    }

    /// True for the text overview, which fits on a screen.
    pub(super) fn is_overview(&self) -> bool {
        self.view == DiffView::Overview && self.output.is_text()
    }
}

fn check_options(args: &DiffArgs, format: Format) -> Result<(), String> {
    let is = |view| args.view == Some(view);
    let (is_page, is_drawn) = (format == Format::Html, format == Format::Svg);
    let is_tree = is(DiffView::Tree) || is_drawn;
    let is_shown = !is(DiffView::Overview) || matches!(format, Format::Text | Format::Json);
    // 0 hides nothing, and draws all frames.
    let has_limit = format == Format::Text && !is(DiffView::Overview) || args.min_percent == Some(0.0);
    let has_intervals = args.recording.reading.when.asks_intervals() || is_page;
    args.given.check(&[
        // A page contains every view of both recordings.
        ("--view --min-percent --top --invert", !is_page, "--format html writes all samples; leave out {}"),
        ("--view", is_shown, "{} overview is text or JSON; leave it out with other formats"),
        ("--view", !is_drawn || is(DiffView::Tree), "--format svg writes call trees only; leave out {}"),
        ("--min-percent", has_limit, "text, and not to --view overview"),
        ("--invert", is_tree, "--view tree"),
        ("--top", !is_tree, "functions and binaries, and not to the nodes of the call tree"),
        ("--before-intervals --after-intervals", has_intervals, "--during, --during-hang and --format html"),
    ])
}

//! `traceparse diff`: the changes between two recordings.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Args, ValueEnum, ValueHint};
use traceparse::output::{self, DiffReport, DiffView, Format, OverviewContext, Style, WorkbenchOptions};
use traceparse::recording::{Intervals, Recording, SampleDetail};
use traceparse::report::diff::{Diff, DiffAlert, DiffAlertState, Normalize, Unlike};
use traceparse::report::{Report, ReportOptions};
use traceparse::units::Weight;

use crate::arguments::{RecordingArgs, job_count};
use crate::format_options::{CsvArgs, FlameGraphArgs, PageArgs, first_given};
use crate::formats::{check_name, format_of, syntax_of};
use crate::guard::will_write;
use crate::inputs::{Inputs, Mounted};
use crate::intervals::{IntervalFiles, asked_intervals, shown_intervals};
use crate::next::command_words;
use crate::recording::{Opened, check_counted, check_distinct, check_sample_counts, check_times, note_removed};
use crate::redact::tell;
use crate::sink::{Colour, style, write_inert};
use crate::unchanged::WatchedFiles;
use crate::weight_limit::parse_percent;
use crate::{
    EXIT_ALERT, EXIT_DONE, EXIT_UNDECIDED, Failure, complain, is_closed_pipe, print_few_warnings, printable, redacted,
    warning,
};

/// Changes below this percentage are hidden in text.
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
#[command(after_help = EXAMPLES)]
pub(crate) struct DiffArgs {
    /// First recording (.trace, or a zip or tar of one) or export (also gzip or zstd)
    #[arg(value_name = "BEFORE", value_hint = ValueHint::FilePath)]
    before: PathBuf,
    /// Second recording or export
    #[arg(value_name = "AFTER", value_hint = ValueHint::FilePath)]
    after: PathBuf,
    /// Table of contents of the first recording, for its length and device
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    before_toc: Option<PathBuf>,
    /// Table of contents of the second recording
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    after_toc: Option<PathBuf>,
    /// Signposts and hangs of the first recording (repeatable)
    ///
    /// For --during, --during-hang and --format html, if the recording or export itself does not have them.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    before_intervals: Vec<PathBuf>,
    /// Signposts and hangs of the second recording (repeatable)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    after_intervals: Vec<PathBuf>,
    /// Scale the second recording before comparing weights
    #[arg(long, value_enum, default_value_t = Normalize::None, value_name = "HOW")]
    normalize: Normalize,
    /// Compare even if tables, sampling intervals or devices differ
    #[arg(long)]
    force: bool,

    /// What to show [default: overview for text, functions for other formats]
    #[arg(long, value_enum, help_heading = "Output")]
    view: Option<DiffView>,
    /// Output format [default: from the extension of -o, else text]
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<DiffFormat>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = "Output")]
    output: Option<PathBuf>,
    /// In text, hide changes below this percentage of the heavier recording
    ///
    /// Default: 0.5.
    #[arg(long, value_name = "P", value_parser = parse_percent, help_heading = "Output")]
    min_percent: Option<f64>,
    /// Show only the first N functions or binaries
    #[arg(long, value_name = "N", help_heading = "Output")]
    top: Option<usize>,
    /// In text, write complete function names
    ///
    /// By default, names that are too long for the line lose their template arguments, then their middle.
    #[arg(long, help_heading = "Output")]
    full_names: bool,
    /// Exit with code 3 if this rule holds, such as 'total > 5%' (repeatable)
    #[arg(long, value_name = "RULE", help_heading = "Output")]
    alert: Vec<DiffAlert>,
    #[command(flatten)]
    csv: CsvArgs,
    #[command(flatten)]
    flame_graph: FlameGraphArgs,
    #[command(flatten)]
    page: PageArgs,

    #[command(flatten)]
    pub(crate) recording: RecordingArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// For people to read
    Text,
    /// For programs; every field is documented in docs/formats.md
    Json,
    /// A table
    Csv,
    /// A flame graph of the second recording, coloured by what changed
    Svg,
    /// A page for exploring both recordings and what changed: a single file that works offline in any browser
    Html,
}

/// Compares two recordings.
pub(crate) fn show(args: &DiffArgs, colour: Colour) -> Result<u8, Failure> {
    let sides = [&args.before, &args.after].into_iter();
    let beside =
        args.before_toc.iter().chain(&args.after_toc).chain(&args.before_intervals).chain(&args.after_intervals);
    args.recording.redact.begin(sides.clone().chain(beside), &args.recording.selection.process)?;
    args.check().map_err(Failure::Usage)?;
    if args.view() == DiffView::Overview && args.format() == DiffFormat::Text {
        print_few_warnings();
    }
    let options =
        ReportOptions { jobs: job_count(args.recording.input.jobs), ..args.recording.selection.report_options() };
    will_write(args.output.as_deref());
    let watched = WatchedFiles::default();
    let mounted = Mounted::new(&watched, sides.chain(&args.before_intervals).chain(&args.after_intervals))?
        .with_files(args.before_toc.iter().chain(&args.after_toc))?;
    let inputs = &Inputs::open(&mounted, &args.recording.input.options(SampleDetail::Each))?;
    let files = args.interval_files();
    let [before, after] = files.each_ref().map(|files| during(inputs, &options, files, args));
    let [(before_options, before_asked), (after_options, after_asked)] = [before?, after?];
    let mut options = [before_options, after_options];
    let mut before = open(inputs, &args.before, args.before_toc.as_ref(), args, &options[0])?;
    let mut after = open(inputs, &args.after, args.after_toc.as_ref(), args, &options[1])?;
    let mut shown = [
        shown(inputs, &files[0], before_asked, before.recording(), args)?,
        shown(inputs, &files[1], after_asked, after.recording(), args)?,
    ];
    redacted::with(|redactor| shown.iter_mut().for_each(|intervals| redactor.intervals(intervals)));
    before.redact(&mut options[0])?;
    after.redact(&mut options[1])?;
    let (before, after) = (before.report(&options[0]), after.report(&options[1]));
    for report in [&before, &after] {
        check_times(report, args.recording.selection.when.needs_times())?;
        check_sample_counts(report)?;
        check_counted(report, &args.recording.selection)?;
        // The other formats do not include it.
        if args.format() != DiffFormat::Json {
            note_removed(report);
        }
    }
    let sides = [
        Side { report: &before, path: &args.before, name: "the first recording", option: "--before-toc" },
        Side { report: &after, path: &args.after, name: "the second recording", option: "--after-toc" },
    ];
    sides.iter().for_each(|side| side.warn_of_length(args.normalize));
    if !args.alert.is_empty() && args.normalize == Normalize::None {
        warn_of_lengths(&before, &after);
    }
    check_unlike(&Unlike::between(&before, &after), args.force)?;
    if let Some(table) = before.table_without_sample_counts().or(after.table_without_sample_counts()) {
        warning(&format!(
            "{table} does not record numbers of samples, so it is unknown how much chance explains, and no rule can fire"
        ));
    }
    let normalize = args.normalize;
    let diff = Diff::new(&before, &after, normalize);
    if !diff.is_scaled {
        warning("cannot scale: one of the recordings has no length or weight to scale by; comparing unscaled weights");
    }
    let view = args.view();
    let (before, after) = (&before, &after);
    let alerts = redacted_alerts(&args.alert)?;
    let alerts: Vec<_> = alerts.iter().map(|alert| alert.judge(&diff)).collect();
    let (top, min_percent) = (args.top, args.min_percent.unwrap_or(MIN_PERCENT));
    let report = DiffReport { before, after, diff: &diff, normalize, view, top, min_percent, alerts: &alerts };
    write(&report, &shown, args, colour)?;
    tell();
    Ok(verdict(alerts.iter().map(|outcome| outcome.state)))
}

/// Writes the comparison. Formats that people rarely read at once also get alerts on standard error.
fn write(
    report: &DiffReport<'_, '_>,
    intervals: &[Intervals; 2],
    args: &DiffArgs,
    colour: Colour,
) -> Result<(), Failure> {
    let path = args.output.as_deref();
    // The command names inputs.
    let command = if redacted::is_asked() { Vec::new() } else { command_words(std::env::args_os()) };
    let style = Style { has_full_names: args.full_names, ..style(path, colour) };
    let result = write_inert(path, syntax_of(args.format()), |out| {
        let format = match args.format() {
            DiffFormat::Text if report.view == DiffView::Overview => {
                let context = OverviewContext { command: &command, ..OverviewContext::default() };
                Format::Overview(style, context)
            }
            DiffFormat::Text => Format::Text(style),
            DiffFormat::Json => Format::Json,
            DiffFormat::Csv => Format::Csv(args.csv.cells()),
            DiffFormat::Html => {
                let [before_intervals, intervals] = intervals.each_ref().map(Some);
                let options = WorkbenchOptions { intervals, before_intervals, ..WorkbenchOptions::default() };
                Format::Workbench(args.page.fit(|size| options.fitting_comparison(report, size))?)
            }
            DiffFormat::Svg => Format::FlameGraph(args.flame_graph.options(args.min_percent == Some(0.0))),
        };
        output::write(report, &format, out)
    });
    // A log has them in any case.
    if args.format() != DiffFormat::Text || path.is_some_and(|path| path.as_os_str() != "-") {
        report.alert_lines().iter().for_each(|line| complain(&format!("alert {}", printable(line))));
    }
    match result {
        // The reader of the pipe closed it; an alert still counts.
        Err(error) if is_closed_pipe(&error) => Ok(()),
        result => Ok(result?),
    }
}

/// Rules about the names that there are by now.
fn redacted_alerts(alerts: &[DiffAlert]) -> Result<Vec<DiffAlert>, Failure> {
    let redacted = redacted::with(|redactor| {
        let texts = alerts.iter().map(|alert| redactor.text(&alert.text));
        texts.map(|text| text.parse()).collect::<Result<Vec<DiffAlert>, _>>()
    });
    match redacted {
        None => Ok(alerts.to_vec()),
        Some(alerts) => alerts.map_err(|error| anyhow!("an alert rule cannot be redacted: {error}").into()),
    }
}

/// With which exit code the process ends.
fn verdict(mut states: impl Iterator<Item = DiffAlertState> + Clone) -> u8 {
    if states.clone().any(|state| state == DiffAlertState::Fired) {
        EXIT_ALERT
    } else if states.any(DiffAlertState::is_undecided) {
        EXIT_UNDECIDED
    } else {
        EXIT_DONE
    }
}

/// One side, with its name in messages.
struct Side<'r> {
    report: &'r Report<'r>,
    path: &'r Path,
    name: &'static str,
    option: &'static str,
}

impl Side<'_> {
    /// Warns if a table of contents is unused, or if normalization needs a length that the recording lacks.
    fn warn_of_length(&self, normalize: Normalize) {
        let Self { name, option, .. } = self;
        let path = self.path.display();
        for reason in self.report.unused_tocs() {
            warning(&format!("{name}, {path}: {reason}"));
        }
        if normalize == Normalize::Duration && !self.report.length().is_some_and(|length| length.is_recorded) {
            warning(&format!(
                "{name}, {path}: its length is not recorded in a usable table of contents; using the time that its \
                 samples cover (pass a table of contents with {option})"
            ));
        }
    }
}

/// Warns if one recording is longer: it then weighs more, but that is not a regression.
fn warn_of_lengths(before: &Report<'_>, after: &Report<'_>) {
    let Some((before, after)) = before.length().zip(after.length()) else { return };
    if before.differs_from(after) {
        let [before, after] = [before, after].map(|length| Weight::nanos(length.nanos.as_nanos()));
        warning(&format!(
            "the recordings took {before} and {after}, but alerts compare unscaled weights; pass --normalize duration to scale them"
        ));
    }
}

/// The options of one side, limited to its intervals, and all its intervals if they were read.
fn during(
    inputs: &Inputs<'_>,
    options: &ReportOptions,
    files: &IntervalFiles<'_>,
    args: &DiffArgs,
) -> Result<(ReportOptions, Option<Intervals>), Failure> {
    check_distinct(files.named).map_err(Failure::Usage)?;
    let mut options = options.clone();
    let asked = asked_intervals(inputs, files, &args.recording.selection, &args.recording.input)?;
    if asked.is_none() && !files.named.is_empty() && args.format() != DiffFormat::Html {
        return Err(Failure::Usage(format!(
            "{} only applies to --during, --during-hang and --format html",
            files.option
        )));
    }
    let (filter, all) = asked.map(|asked| (asked.filter, asked.all)).unzip();
    options.selection.intervals = filter;
    Ok((options, all))
}

/// The intervals of one side that a page shows; none for other formats.
fn shown(
    inputs: &Inputs<'_>,
    files: &IntervalFiles<'_>,
    asked: Option<Intervals>,
    recording: &Recording,
    args: &DiffArgs,
) -> Result<Intervals, Failure> {
    match asked {
        _ if args.format() != DiffFormat::Html => Ok(Intervals::default()),
        Some(asked) => Ok(asked),
        None => shown_intervals(inputs, files, &args.recording.input, recording),
    }
}

/// Opens one side with its table of contents.
fn open(
    inputs: &Inputs<'_>,
    file: &PathBuf,
    toc: Option<&PathBuf>,
    args: &DiffArgs,
    options: &ReportOptions,
) -> Result<Opened, Failure> {
    let files: Vec<PathBuf> = std::iter::once(file).chain(toc).cloned().collect();
    check_distinct(&files).map_err(Failure::Usage)?;
    // The noise is computed from the weight of each sample.
    let samples = SampleDetail::Each;
    Ok(Opened::open(inputs, &files, &args.recording, options, samples, args.recording.operations.invert)?)
}

/// Fails if the recordings cannot be compared, or differ in kind without --force.
fn check_unlike(found: &[Unlike], is_forced: bool) -> Result<(), Failure> {
    let (forcible, others): (Vec<&Unlike>, Vec<&Unlike>) = found.iter().partition(|unlike| unlike.is_forcible());
    if let Some(unlike) = others.first() {
        return Err(anyhow!("these recordings cannot be compared: {unlike}").into());
    }
    for unlike in forcible {
        if !is_forced {
            return Err(
                anyhow!("these recordings are not comparable: {unlike}; pass --force to compare them anyway").into()
            );
        }
        warning(&format!("{unlike}: this alone may explain the changes"));
    }
    Ok(())
}

impl DiffArgs {
    /// The files in which the intervals of each side may be.
    fn interval_files(&self) -> [IntervalFiles<'_>; 2] {
        [
            (&self.before, &self.before_intervals, "--before-intervals"),
            (&self.after, &self.after_intervals, "--after-intervals"),
        ]
        .map(|(file, named, option)| {
            let are_all = self.format() == DiffFormat::Html;
            IntervalFiles { exports: std::slice::from_ref(file), named, option, are_all }
        })
    }

    fn format(&self) -> DiffFormat {
        self.format.or_else(|| format_of(self.output.as_deref())).unwrap_or(DiffFormat::Text)
    }

    /// The requested view. Options for tables imply a table.
    fn view(&self) -> DiffView {
        match self.view {
            Some(view) => view,
            None if self.format() == DiffFormat::Text && self.min_percent.is_none() => DiffView::Overview,
            None => DiffView::Functions,
        }
    }

    fn check(&self) -> Result<(), String> {
        self.recording.selection.check()?;
        let is_table = matches!(self.format(), DiffFormat::Text | DiffFormat::Json);
        if self.view == Some(DiffView::Overview) && !is_table {
            return Err("--view overview is text or JSON; leave it out with other formats".to_owned());
        }
        let is_tree = self.view == Some(DiffView::Tree) || self.format() == DiffFormat::Svg;
        check_name(self.format, self.output.as_deref())?;
        self.check_page()?;
        if self.recording.operations.invert && !is_tree {
            return Err("--invert only applies to call trees; use --view tree".to_owned());
        }
        if self.top.is_some() && is_tree {
            return Err(
                "--top shows the first functions or binaries only, but not the nodes of the call tree; leave it out"
                    .to_owned(),
            );
        }
        self.csv.check(self.format() == DiffFormat::Csv)?;
        self.page.check(self.format() == DiffFormat::Html)?;
        if self.full_names && self.format() != DiffFormat::Text {
            return Err("--full-names only applies to text; other formats always have full names".to_owned());
        }
        if self.flame_graph.color_by.is_some() {
            return Err(
                "--color-by has no effect on a comparison, whose colours show the changes; leave it out".to_owned()
            );
        }
        if self.format() != DiffFormat::Svg {
            self.flame_graph.check_unused()?;
        } else if self.view == Some(DiffView::Binaries) {
            return Err("--format svg draws the call tree only; leave out --view, or use --view tree".to_owned());
        }
        Ok(())
    }

    /// Refuses what a page has no use for: it has every view of both recordings.
    fn check_page(&self) -> Result<(), String> {
        let refused = [
            ("--view", self.view.is_some()),
            ("--min-percent", self.min_percent.is_some()),
            ("--top", self.top.is_some()),
            ("--invert", self.recording.operations.invert),
        ];
        match first_given(refused) {
            Some(option) if self.format() == DiffFormat::Html => {
                Err(format!("--format html writes all samples of both recordings; leave out {option}"))
            }
            _ => Ok(()),
        }
    }
}

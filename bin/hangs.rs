//! `traceparse hangs` and `traceparse intervals`: what a recording says about stretches of time.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum, ValueHint};
use traceparse::Analysis;
use traceparse::output::{self, Answer};
use traceparse::recording::{Intervals, SampleDetail, TableKind};
use traceparse::report::ReportOptions;
use traceparse::stats::Quantile;

use crate::arguments::{InputArgs, SymbolArgs};
use crate::exit_codes::EXIT_CODES;
use crate::format_options::CsvArgs;
use crate::formats::{TocFormat, check_name, format_of, syntax_of};
use crate::guard::will_write;
use crate::inputs::{Inputs, Mounted};
use crate::intervals::check_twice;
use crate::recording::{check_distinct, warn};
use crate::redact::{RedactArgs, tell};
use crate::sink::{Colour, style, write_inert};
use crate::symbols::name_frames;
use crate::unchanged::WatchedFiles;
use crate::{Failure, redacted, warning};

/// What is read, and where the answer goes.
#[derive(Debug, Args)]
struct StretchArgs {
    /// Recordings (.trace, or a zip or tar of one) and exports of one recording
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    redact: RedactArgs,
}

const HANG_EXAMPLES: &str = "\
Examples:
  traceparse hangs app.trace
      Each hang, with what its thread did
  traceparse hangs time-profile.xml potential-hangs.xml --dsym App.dSYM
      The same from two exports of one recording, with names from symbol files";

#[derive(Debug, Args)]
#[command(after_help = format!("{HANG_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct HangArgs {
    /// Output format [default: from the extension of -o, else text]
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<TocFormat>,
    #[command(flatten)]
    stretches: StretchArgs,
    #[command(flatten)]
    symbols: SymbolArgs,
}

const INTERVAL_EXAMPLES: &str = "\
Examples:
  traceparse intervals app.trace
      Signposts, hangs and the rows of all tables with durations, by name
  traceparse intervals app.trace --name Layout --format json
      One name, with the interval at each percentile";

#[derive(Debug, Args)]
#[command(after_help = format!("{INTERVAL_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct IntervalArgs {
    /// Show only intervals with this name (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    name: Vec<String>,
    /// Output format [default: from the extension of -o, else text]
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<IntervalFormat>,
    #[command(flatten)]
    csv: CsvArgs,
    #[command(flatten)]
    stretches: StretchArgs,
}

/// A format of a list of intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum IntervalFormat {
    /// A line for each name
    Text,
    /// One document, with the interval at each percentile
    Json,
    /// A row for each name
    Csv,
}

/// The percentiles of durations.
const QUANTILES: [&str; 5] = ["50", "90", "95", "99", "99.9"];

/// A recording with all of its intervals.
struct Read {
    analysis: Analysis,
    intervals: Intervals,
}

impl StretchArgs {
    /// Reads samples, if there are any, and intervals. Functions are named if there are arguments for symbols.
    fn read(&self, symbols: Option<&SymbolArgs>) -> Result<Read, Failure> {
        self.redact.begin(&self.files, &[])?;
        check_distinct(&self.files).map_err(Failure::Usage)?;
        check_twice(&self.files, "store it in a file")?;
        will_write(self.output.as_deref());
        let watched = WatchedFiles::default();
        let options = self.input.options(SampleDetail::Each);
        let mounted = Mounted::new(&watched, &self.files)?;
        let inputs = Inputs::open(&mounted, &options)?;
        let recording = inputs.read_all(&self.files, &options)?;
        let mut intervals = inputs.read_all_intervals(&self.files, &options)?;
        redacted::with(|redactor| {
            redactor.collect(&recording);
            redactor.collect_intervals(&intervals);
        });
        warn(&recording);
        intervals.diagnostics.iter().for_each(|diagnostic| warning(&diagnostic.to_string()));
        let rejected = recording.rejected() + intervals.tables.iter().map(|table| table.rejected.total()).sum::<u64>();
        if rejected > 0 && self.input.strict {
            return Err(anyhow!("{rejected} rows could not be read, and --strict was given").into());
        }
        let has_samples = recording.tables().any(|table| table.kind == TableKind::Cpu && table.samples > 0);
        if !has_samples && intervals.tables.is_empty() {
            let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
            return Err(anyhow!(
                "{}: no table with a start and a duration, and no CPU samples; `traceparse toc` lists what there is",
                files.join(", ")
            )
            .into());
        }
        let mut analysis = Analysis::new(recording);
        if let Some(symbols) = symbols.filter(|_| has_samples) {
            inputs.unless_changed(name_frames(&mut analysis, &inputs, &self.files, symbols))?;
        }
        redacted::with(|redactor| {
            redactor.intervals(&mut intervals);
            analysis.redact(redactor, &mut ReportOptions::default())
        })
        .transpose()
        .context("names cannot be replaced")?;
        Ok(Read { analysis, intervals })
    }
}

/// Shows the hangs of a recording.
pub(crate) fn show_hangs(args: &HangArgs, colour: Colour) -> Result<(), Failure> {
    let (path, format) = (args.stretches.output.as_deref(), args.format);
    check_name(format, path).map_err(Failure::Usage)?;
    let Read { analysis, intervals } = args.stretches.read(Some(&args.symbols))?;
    let recording = analysis.recording();
    let report = recording.hangs(&intervals);
    let chosen = format.or_else(|| format_of(path)).unwrap_or(TocFormat::Text);
    let format = match chosen {
        TocFormat::Text => output::Format::Text(style(path, colour)),
        TocFormat::Json => output::Format::Json,
    };
    write_inert(path, syntax_of(chosen), |out| output::write(Answer::Hangs(&report, recording), &format, out))?;
    tell();
    Ok(())
}

/// Shows the intervals of a recording by name.
pub(crate) fn show_intervals(args: &IntervalArgs, colour: Colour) -> Result<(), Failure> {
    let (path, format) = (args.stretches.output.as_deref(), args.format);
    check_name(format, path).map_err(Failure::Usage)?;
    let chosen = format.or_else(|| format_of(path)).unwrap_or(IntervalFormat::Text);
    args.csv.check(chosen == IntervalFormat::Csv).map_err(Failure::Usage)?;
    let Read { analysis, intervals } = args.stretches.read(None)?;
    let quantiles: Vec<Quantile> = QUANTILES.into_iter().filter_map(Quantile::from_percent).collect();
    let mut summary = analysis.recording().interval_summary(&intervals, &quantiles);
    let is_wanted = |name: Option<&str>| name.is_some_and(|name| args.name.iter().any(|wanted| wanted == name));
    if !args.name.is_empty() {
        let names: Vec<String> = summary.rows.iter().filter_map(|row| Some(row.name.as_deref()?.to_owned())).collect();
        summary.rows.retain(|row| is_wanted(row.name.as_deref()));
        if summary.rows.is_empty() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let known = if names.is_empty() { "no names".to_owned() } else { traceparse::units::first_of(&names) };
            return Err(anyhow!("no interval is named {}; there are: {known}", args.name.join(" or ")).into());
        }
    }
    let format = match chosen {
        IntervalFormat::Text => output::Format::Text(style(path, colour)),
        IntervalFormat::Json => output::Format::Json,
        IntervalFormat::Csv => output::Format::Csv(args.csv.cells()),
    };
    write_inert(path, syntax_of(chosen), |out| output::write(Answer::Intervals(&summary), &format, out))?;
    tell();
    Ok(())
}

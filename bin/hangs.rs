//! `traceparse hangs` and `traceparse intervals`: reports about stretches of time in a recording.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::{Args, ValueHint};
use traceparse::Analysis;
use traceparse::output::Answer;
use traceparse::profile::Matcher;
use traceparse::recording::{Intervals, SampleDetail, TableKind};
use traceparse::report::ReportOptions;
use traceparse::symbolicate::ImageSpec;
use traceparse::units::{first_of, several};

use crate::arguments::{FileArgs, ImageArgs, SymbolArgs};
use crate::exit_codes::EXIT_CODES;
use crate::filters::ProcessArgs;
use crate::formats::TEXT_OR_JSON;
use crate::inputs::{Inputs, Mounted};
use crate::interval_totals::{ALERT_EXIT_CODES, TotalArgs};
use crate::intervals::check_twice;
use crate::matched::note_interval_processes;
use crate::output::Output;
use crate::output_args::OutputArgs;
use crate::recording::{check_distinct, warn};
use crate::redact::{RedactArgs, tell};
use crate::symbols::name_frames;
use crate::unchanged::WatchedFiles;
use crate::{Failure, note, redacted, warning};

/// The inputs and the output.
#[derive(Debug, Args)]
struct StretchArgs {
    /// Recordings, and exports of one recording
    ///
    /// Recordings are .trace folders. Each may be in a zip or tar archive.
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reading: FileArgs,
    #[command(flatten)]
    redact: RedactArgs,
}

const HANG_EXAMPLES: &str = "\
Examples:
  traceparse hangs app.trace
      Each hang, with what its thread did
  traceparse hangs time-profile.xml potential-hangs.xml --dsym App.dSYM
      The same from two exports of one recording, with names from symbol files
  traceparse hangs Orchard.spindump.txt
      The hung thread of a report: spindump, sample or MetricKit";

#[derive(Debug, Args)]
#[command(after_long_help = format!("{HANG_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct HangArgs {
    #[command(flatten)]
    output: OutputArgs<TEXT_OR_JSON>,
    #[command(flatten)]
    processes: ProcessArgs,
    #[command(flatten)]
    stretches: StretchArgs,
    #[command(flatten)]
    symbols: SymbolArgs,
    #[command(flatten)]
    images: ImageArgs,
}

const INTERVAL_EXAMPLES: &str = "\
Examples:
  traceparse intervals app.trace
      Signposts, hangs and the rows of all tables with durations, by name
  traceparse intervals app.trace --name Layout --format json
      One name, with the interval at each percentile
  traceparse intervals gpu.xml --process Orchard --union
      How long each channel of the GPU was busy with one process, and idle
  traceparse intervals app.trace --alert 'interval(Checkout).max > 300ms'
      For CI: exit with code 3 if a Checkout took longer";

#[derive(Debug, Args)]
#[command(after_long_help = format!("{INTERVAL_EXAMPLES}\n\n{ALERT_EXIT_CODES}"))]
pub(crate) struct IntervalArgs {
    #[command(flatten)]
    processes: ProcessArgs,
    #[command(flatten)]
    totals: TotalArgs,
    #[command(flatten)]
    stretches: StretchArgs,
}

impl StretchArgs {
    /// Reads samples, if any, and intervals, of all processes or only of some. Functions are symbolicated if `symbols` is set.
    fn read(
        &self,
        output: &Output,
        symbols: Option<(&SymbolArgs, &[ImageSpec])>,
        processes: &[Matcher],
    ) -> Result<(Analysis, Intervals), Failure> {
        self.redact.begin(&self.files, &[])?;
        check_distinct(&self.files).map_err(Failure::Usage)?;
        check_twice(&self.files, "store it in a file")?;
        output.will_write();
        let watched = WatchedFiles::default();
        let options = self.reading.options(SampleDetail::Each);
        let mounted = Mounted::new(&watched, &self.files)?;
        let inputs = Inputs::open(&mounted, &options)?;
        let recording = inputs.read_all(&self.files, &options)?;
        let profile = &recording.profile;
        let mut series = profile.series_ids().map(|id| profile.series(id));
        // Reports have no tables of intervals. Their samples show the hangs.
        let is_report = symbols.is_some() && series.len() > 0 && series.all(|row| !row.has_times);
        let mut intervals = match is_report {
            true => Intervals::default(),
            false => inputs.read_all_intervals(&self.files, &options)?,
        };
        redacted::with(|redactor| {
            redactor.collect(&recording);
            redactor.collect_intervals(&intervals);
        });
        warn(&recording);
        intervals.diagnostics.iter().for_each(|diagnostic| warning(&diagnostic.to_string()));
        let rejected = recording.rejected() + intervals.tables.iter().map(|table| table.rejected.total()).sum::<u64>();
        if rejected > 0 && self.reading.strict {
            return Err(anyhow!("{rejected} rows could not be read (--strict makes this an error)").into());
        }
        let has_samples = recording.tables().any(|table| table.kind == TableKind::Cpu && table.samples > 0);
        if !has_samples && intervals.tables.is_empty() {
            let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
            return Err(anyhow!(
                "{}: no table with a start and a duration, and no CPU samples; `traceparse toc` lists what there is",
                first_of(&files)
            )
            .into());
        }
        only_of_processes(&mut intervals, processes)?;
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
        Ok((analysis, intervals))
    }
}

/// If there are patterns, removes the intervals of other processes, and intervals without a process.
fn only_of_processes(intervals: &mut Intervals, processes: &[Matcher]) -> Result<(), Failure> {
    if processes.is_empty() {
        return Ok(());
    }
    note_interval_processes(intervals, processes);
    let without = intervals.intervals.iter().filter(|row| row.process.is_none() && row.pid.is_none()).count();
    intervals.retain_processes(processes);
    if intervals.intervals.is_empty() {
        return Err(anyhow!("no interval belongs to a process that --process selects").into());
    }
    if without > 0 {
        note(&format!("{} without a process left out", several(without, "interval")));
    }
    Ok(())
}

pub(crate) fn show_hangs(args: HangArgs) -> Result<(), Failure> {
    let HangArgs { output, processes: ProcessArgs { process }, stretches, symbols, images } = args;
    let output = output.resolve().map_err(Failure::Usage)?;
    let (analysis, intervals) = stretches.read(&output, Some((&symbols, &images.image)), &[])?;
    let recording = analysis.recording();
    let is_known = |matcher: &&Matcher| {
        !matcher.processes(&recording.profile).is_empty() || !intervals.processes(matcher).is_empty()
    };
    if let Some(unknown) = process.iter().find(|matcher| !is_known(matcher)) {
        return Err(anyhow!("no process with samples, hangs or hitches matches --process {}", unknown.text()).into());
    }
    let report = recording.hangs(&intervals, &process);
    output.write_plain(Answer::Hangs(&report, recording))?;
    tell();
    Ok(())
}

/// Shows the intervals of a recording by name, and returns the exit code.
pub(crate) fn show_intervals(args: IntervalArgs) -> Result<u8, Failure> {
    let IntervalArgs { processes, totals, stretches } = args;
    let totals = totals.resolve().map_err(Failure::Usage)?;
    let (analysis, intervals) = stretches.read(&totals.output, None, &processes.process)?;
    let summary = analysis.recording().interval_summary(&intervals, &totals.names, &totals.quantiles, &totals.alerts);
    let code = totals.write(summary)?;
    tell();
    Ok(code)
}

//! `fleet tree`: the summed call trees of many runs, or the difference between two cohorts.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::{Error, Result, anyhow};
use traceparse::Analysis;
use traceparse::calltree::{Action, Operation};
use traceparse::fleet::{Collector, FleetBuilder, FleetInputs, FleetOptions, FleetSettings, ThreadChoice};
use traceparse::output::{self, DiffReport, Format, RowsOutput, Style, WorkbenchOptions};
use traceparse::profile::Category;
use traceparse::recording::Recording;
use traceparse::report::Report;
use traceparse::report::diff::{Diff, Unlike};
use traceparse::tables::StackNames;

use super::host::{AtInterrupt, Host};
use super::reading::{self, datasets, find_symbols, options};
use super::tree_args::{FleetTreeArgs, TreeFormat};
use crate::formats::syntax_of;
use crate::guard::will_write;
use crate::sink::{Colour, style, write_inert};
use crate::unchanged::WatchedFiles;
use crate::{Failure, redacted, warning};

/// The number of runs in text, unless requested.
const RUNS_OF_TEXT: usize = 20;

/// Writes the tree.
pub(super) fn show(args: &FleetTreeArgs, colour: Colour) -> Result<(), Failure> {
    args.check().map_err(Failure::Usage)?;
    will_write(args.output.as_deref());
    args.reading.filters.redact.begin_fleet()?;
    let host = Host::new(AtInterrupt::End);
    let found = datasets(&host, &args.inputs, &args.reading, |option| option == "--schema");
    let collectors = match found.map_err(Failure::Usage)? {
        Some(paths) => collect(args, &host, Runs::Datasets(paths))?,
        None => of_recordings(args, &host)?,
    };
    if !args.runs_of.is_empty() {
        return Ok(collectors.into_iter().try_for_each(|collector| write_runs(collector, args, colour))?);
    }
    let pooled = collectors.into_iter().zip(args.cohorts());
    let pooled = pooled
        .map(|(collector, options)| collector.finish_pooled(args.reading.files.strict, &name(args, &options)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Error::from)?;
    let report_options = args.report_options();
    let analyses = pooled.into_iter().map(|recording| analysis(recording, args)).collect::<Result<Vec<_>>>()?;
    let reports: Vec<Report<'_>> = analyses.iter().map(|analysis| analysis.report(&report_options)).collect();
    match reports.as_slice() {
        [before, after] => write_difference(before, after, args, colour),
        reports => Ok(reports.iter().try_for_each(|report| write(report, args, colour))?),
    }
}

/// Where runs come from.
enum Runs<'r> {
    Datasets(Vec<PathBuf>),
    Recordings(FleetInputs, Box<FleetSettings<'r>>),
}

impl Runs<'_> {
    fn add_to(&self, collectors: &[Collector<'_>]) -> Result<()> {
        let all: Vec<&Collector<'_>> = collectors.iter().collect();
        match self {
            Self::Datasets(paths) => Collector::add_datasets_to(&all, paths)?,
            Self::Recordings(inputs, settings) => Collector::add_recordings_to(&all, inputs, settings)?,
        }
        Ok(())
    }

    /// Leaves out recordings without any of these runs.
    fn keep(&mut self, sources: &HashSet<String>) {
        if let Self::Recordings(inputs, _) = self {
            inputs.tasks.retain(|task| sources.contains(&task.display));
            inputs.failures.clear();
        }
    }
}

fn of_recordings<'h>(args: &FleetTreeArgs, host: &'h Host) -> Result<Vec<Collector<'h>>, Failure> {
    let mut inputs = reading::find(host, &args.inputs, false)?;
    inputs.redact(host);
    inputs.will_read(host).map_err(Error::from)?;
    let symbol_files = WatchedFiles::default();
    let locator = find_symbols(&symbol_files, &args.reading)?;
    let mut options = options(&args.reading, None, &symbol_files, locator.as_ref());
    options.measure.with_stacks = true;
    options.read.metrics = false;
    Ok(collect(args, host, Runs::Recordings(inputs, Box::new(FleetSettings::new(host, options))))?)
}

/// The runs of each cohort. Runs beyond a percentile are known when all were measured, so their recordings are read again.
fn collect<'h>(args: &FleetTreeArgs, host: &'h Host, mut runs: Runs<'_>) -> Result<Vec<Collector<'h>>> {
    let cohorts = args.cohorts();
    let collect = |index: usize, options: &FleetOptions| {
        let patterns = args.threads.threads().filter(ThreadChoice::has_patterns);
        let collector = Collector::new(host, FleetBuilder::new(options.clone()), patterns);
        if index > 0 { collector.quietly() } else { collector }
    };
    let collectors = cohorts.iter().enumerate().map(|(index, options)| collect(index, options));
    let collectors: Vec<Collector<'_>> = match args.beyond {
        None => collectors.map(|collector| collector.pooling(args.reading.schema.clone(), None)).collect(),
        Some(beyond) => {
            let first: Vec<Collector<'_>> = collectors.collect();
            runs.add_to(&first)?;
            let beyond =
                first.into_iter().map(|first| Ok(first.finish(args.reading.files.strict)?.runs_beyond(beyond)));
            let beyond = beyond.collect::<Result<Vec<_>>>()?;
            runs.keep(&beyond.iter().flatten().map(|(_, source)| source.clone()).collect());
            let ids = beyond.into_iter().map(|runs| runs.into_keys().collect());
            let again = cohorts.iter().zip(ids);
            again.map(|(options, ids)| collect(1, options).pooling(args.reading.schema.clone(), Some(ids))).collect()
        }
    };
    let collectors = match args.runs_of.as_slice() {
        [] => collectors,
        calls => collectors.into_iter().map(|one| one.looking_for(calls.to_vec())).collect::<Result<_, _>>()?,
    };
    runs.add_to(&collectors)?;
    Ok(collectors)
}

/// Writes the runs that have some calls.
fn write_runs(collector: Collector<'_>, args: &FleetTreeArgs, colour: Colour) -> Result<()> {
    let (columns, mut rows) = collector.finish_runs_of(args.reading.files.strict)?;
    let total = rows.len() as u64;
    let format = args.row_format();
    rows.truncate(match args.top {
        None if format.is_none() => RUNS_OF_TEXT,
        None | Some(0) => usize::MAX,
        Some(top) => top,
    });
    let (path, names) = (args.output.as_deref(), &mut StackNames::default());
    write_inert(path, syntax_of(args.format()), |out| match format {
        None => RowsOutput::write_text((&columns, &rows), total, true, names, &style(path, colour), out),
        Some(format) => {
            let mut output = RowsOutput::new(format, "runs", &columns, names, out)?;
            rows.into_iter().try_for_each(|row| output.row(row))?;
            output.finish()
        }
    })
}

/// The name of a cohort in reports: `exports, app_version=5.2, at or beyond P95`.
fn name(args: &FleetTreeArgs, options: &FleetOptions) -> String {
    let inputs = args.inputs.inputs.iter().chain(&args.inputs.manifest).chain(&args.inputs.files_from);
    let inputs: Vec<String> = inputs.map(|path| path.display().to_string()).collect();
    let inputs = match inputs.as_slice() {
        _ if redacted::is_asked() => "the inputs".to_owned(),
        [one] => one.clone(),
        [first, more @ ..] => format!("{first} and {} more", more.len()),
        [] => String::new(),
    };
    let labels = options.only.iter().map(|(key, value)| format!("{key}={value}"));
    let beyond = args.beyond.iter().map(|beyond| format!("at or beyond {beyond}"));
    [inputs].into_iter().chain(labels).chain(beyond).collect::<Vec<_>>().join(", ")
}

fn analysis(recording: Recording, args: &FleetTreeArgs) -> Result<Analysis> {
    let mut analysis = Analysis::new(recording);
    if args.is_inverted() {
        let invert = Operation { action: Action::Invert, text: "--view bottom-up".to_owned() };
        analysis.operate(&args.report_options(), |_| vec![invert])?;
    }
    Ok(analysis)
}

fn write(report: &Report<'_>, args: &FleetTreeArgs, colour: Colour) -> Result<()> {
    let path = args.output.as_deref();
    write_inert(path, syntax_of(args.format()), |out| {
        let format = match args.format() {
            TreeFormat::Text => Format::Text(Style { has_full_names: args.full_names, ..style(path, colour) }),
            TreeFormat::Json => Format::Json,
            TreeFormat::Csv => Format::Csv(args.csv.cells()),
            TreeFormat::Folded => Format::Folded,
            TreeFormat::Svg => Format::FlameGraph(args.flame_graph.options(args.has_limit())),
            TreeFormat::Html => {
                let options = WorkbenchOptions::default();
                Format::Workbench(args.page.fit(|size| options.fitting(report, size))?)
            }
        };
        output::write(report, &format, out)?;
        match missing_symbols(report).filter(|_| args.format() == TreeFormat::Text) {
            Some(text) => writeln!(out, "\n{text}"),
            None => Ok(()),
        }
    })
}

/// The binary of the app whose functions have no names, and what names them.
fn missing_symbols(report: &Report<'_>) -> Option<String> {
    let profile = &report.recording.profile;
    let is_own = |binary| Category::of_binary(profile, Some(binary)) == Category::User;
    let (row, _) = report.wanted().into_iter().find(|(row, _)| is_own(row.binary))?;
    let name = profile.string(profile.binary(row.binary).name);
    Some(format!(
        "Code of {name} has no names: pass its dSYM with --dsym PATH; traceparse uuid FILE has the UUID of each report."
    ))
}

/// Writes the changes from one cohort to another.
fn write_difference<'e>(
    before: &Report<'e>,
    after: &Report<'e>,
    args: &FleetTreeArgs,
    colour: Colour,
) -> Result<(), Failure> {
    for unlike in Unlike::between(before, after) {
        if !unlike.is_forcible() {
            return Err(anyhow!("these runs cannot be compared: {unlike}").into());
        }
        warning(&format!("{unlike}: this alone may explain the changes"));
    }
    let (normalize, view, top) = (args.normalize, args.diff_view(), args.top);
    let diff = Diff::new(before, after, normalize);
    if !diff.is_scaled {
        warning("cannot scale: some runs have no recorded time; comparing unscaled weights (see --normalize)");
    }
    let min_percent = args.min_percent();
    let report = DiffReport { before, after, diff: &diff, normalize, view, top, min_percent, alerts: &[] };
    let path = args.output.as_deref();
    let written = write_inert(path, syntax_of(args.format()), |out| {
        let format = match args.format() {
            TreeFormat::Json => Format::Json,
            TreeFormat::Csv => Format::Csv(args.csv.cells()),
            TreeFormat::Svg => Format::FlameGraph(args.flame_graph.options(args.has_limit())),
            TreeFormat::Html => {
                let options = WorkbenchOptions::default();
                Format::Workbench(args.page.fit(|size| options.fitting_comparison(&report, size))?)
            }
            TreeFormat::Text | TreeFormat::Folded => {
                Format::Text(Style { has_full_names: args.full_names, ..style(path, colour) })
            }
        };
        output::write(&report, &format, out)
    });
    Ok(written?)
}

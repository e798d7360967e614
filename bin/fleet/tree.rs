//! `fleet tree`: the summed call trees of many runs, or the difference between two cohorts.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use traceparse::Analysis;
use traceparse::calltree::{Action, Operation};
use traceparse::fleet::{Collector, FleetBuilder, FleetInputs, FleetOptions, FleetSettings};
use traceparse::output::{self, DiffReport, RowsOutput, WorkbenchOptions};
use traceparse::profile::Category;
use traceparse::recording::Recording;
use traceparse::report::Report;
use traceparse::report::diff::{Diff, Unlike};
use traceparse::tables::StackNames;

use super::arguments::InputArgs;
use super::host::{AtInterrupt, Host};
use super::reading::{self, RunParts};
use super::tree_args::{FleetTreeArgs, TreePlan};
use crate::{Failure, redacted, warning};

/// Where to find columns that do not fit.
const IN_FORMATS: &str = "CSV and JSON have all.";
/// The maximum number of runs that text lists by default.
const RUNS_OF_TEXT: usize = 20;

pub(super) fn show(args: FleetTreeArgs) -> Result<(), Failure> {
    let plan = &TreePlan::new(args).map_err(Failure::Usage)?;
    plan.output.will_write();
    plan.runs.reading.redact.begin_fleet()?;
    let host = Host::new(AtInterrupt::End);
    let found = reading::datasets(&host, &plan.runs.inputs, &plan.runs.reading, |option| option == "--schema");
    let collectors = match found.map_err(Failure::Usage)? {
        Some(paths) => collect(plan, &host, Runs::Datasets(paths))?,
        None => of_recordings(plan, &host)?,
    };
    if !plan.runs_of.is_empty() {
        return Ok(collectors.into_iter().try_for_each(|collector| write_runs(collector, plan))?);
    }
    let pooled = collectors.into_iter().zip(&plan.cohorts);
    let pooled = pooled
        .map(|(collector, options)| collector.finish_pooled(plan.runs.reading.files.strict, &name(plan, options)))
        .collect::<Result<Vec<_>, _>>()?;
    let analyses = pooled.into_iter().map(|recording| analysis(recording, plan)).collect::<Result<Vec<_>>>()?;
    let reports: Vec<Report<'_>> = analyses.iter().map(|analysis| analysis.report(&plan.options)).collect();
    match reports.as_slice() {
        [before, after] => write_difference(before, after, plan),
        reports => Ok(reports.iter().try_for_each(|report| write(report, plan))?),
    }
}

/// The source of the runs.
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

    /// Removes recordings that contain none of these runs.
    fn keep(&mut self, sources: &HashSet<String>) {
        if let Self::Recordings(inputs, _) = self {
            inputs.tasks.retain(|task| sources.contains(&task.display));
            inputs.failures.clear();
        }
    }
}

fn of_recordings<'h>(plan: &TreePlan, host: &'h Host) -> Result<Vec<Collector<'h>>, Failure> {
    let inputs = reading::find_readable(host, &plan.runs.inputs)?;
    let parts = RunParts { stacks: true, ..RunParts::default() };
    reading::with_settings(host, &plan.runs.reading, None, parts, |settings| {
        Ok(collect(plan, host, Runs::Recordings(inputs, Box::new(settings)))?)
    })
}

/// Collects the runs of each cohort. Runs beyond a percentile are only known after measuring all, so their recordings are read again.
fn collect<'h>(plan: &TreePlan, host: &'h Host, mut runs: Runs<'_>) -> Result<Vec<Collector<'h>>> {
    let (schema, is_strict) = (&plan.runs.reading.when.schema, plan.runs.reading.files.strict);
    let collect = |index: usize, options: &FleetOptions| {
        let collector = Collector::new(host, FleetBuilder::new(options.clone()), plan.runs.threads.patterns());
        if index > 0 { collector.quietly() } else { collector }
    };
    let collectors = plan.cohorts.iter().enumerate().map(|(index, options)| collect(index, options));
    let collectors: Vec<Collector<'_>> = match plan.beyond {
        None => collectors.map(|collector| collector.pooling(schema.clone(), None)).collect(),
        Some(beyond) => {
            let first: Vec<Collector<'_>> = collectors.collect();
            runs.add_to(&first)?;
            let beyond = first.into_iter().map(|first| Ok(first.finish(is_strict)?.runs_beyond(beyond)));
            let beyond = beyond.collect::<Result<Vec<_>>>()?;
            runs.keep(&beyond.iter().flatten().map(|(_, source)| source.clone()).collect());
            let ids = beyond.into_iter().map(|runs| runs.into_keys().collect());
            let again = plan.cohorts.iter().zip(ids);
            again.map(|(options, ids)| collect(1, options).pooling(schema.clone(), Some(ids))).collect()
        }
    };
    let collectors = match plan.runs_of.as_slice() {
        [] => collectors,
        calls => collectors.into_iter().map(|one| one.looking_for(calls.to_vec())).collect::<Result<_, _>>()?,
    };
    runs.add_to(&collectors)?;
    Ok(collectors)
}

/// Writes the runs that contain the requested calls.
fn write_runs(collector: Collector<'_>, plan: &TreePlan) -> Result<()> {
    let (columns, mut rows) = collector.finish_runs_of(plan.runs.reading.files.strict)?;
    let total = rows.len() as u64;
    let (format, output) = (plan.output.row_format(), &plan.output);
    let default = if format.is_none() { RUNS_OF_TEXT } else { usize::MAX };
    rows.truncate(plan.options.top.unwrap_or(default));
    let names = &mut StackNames::default();
    output.write(|out| match format {
        None => RowsOutput::write_text((&columns, &rows), total, true, IN_FORMATS, names, &output.style(), out),
        Some(format) => {
            let mut output = RowsOutput::new(format, "runs", &columns, names, out)?;
            rows.into_iter().try_for_each(|row| output.row(row))?;
            output.finish()
        }
    })
}

/// The name of a cohort in reports: `exports, app_version=5.2, at or beyond P95`.
fn name(plan: &TreePlan, options: &FleetOptions) -> String {
    let InputArgs { inputs, manifest, files_from, .. } = &plan.runs.inputs;
    let inputs = inputs.iter().chain(manifest).chain(files_from);
    let inputs: Vec<String> = inputs.map(|path| path.display().to_string()).collect();
    let inputs = match inputs.as_slice() {
        _ if redacted::is_asked() => "the inputs".to_owned(),
        [one] => one.clone(),
        [first, more @ ..] => format!("{first} and {} more", more.len()),
        [] => String::new(),
    };
    let labels = options.only.iter().map(|(key, value)| format!("{key}={value}"));
    let beyond = plan.beyond.iter().map(|beyond| format!("at or beyond {beyond}"));
    [inputs].into_iter().chain(labels).chain(beyond).collect::<Vec<_>>().join(", ")
}

fn analysis(recording: Recording, plan: &TreePlan) -> Result<Analysis> {
    let mut analysis = Analysis::new(recording);
    if plan.is_inverted {
        let invert = Operation { action: Action::Invert, text: "--view bottom-up".to_owned() };
        analysis.operate(&plan.options, |_| vec![invert])?;
    }
    Ok(analysis)
}

fn write(report: &Report<'_>, plan: &TreePlan) -> Result<()> {
    let output = &plan.output;
    output.write(|out| {
        let fitting = |size| WorkbenchOptions::default().fitting(report, size);
        let format = output.of_trees(None, plan.has_limit, fitting)?;
        output::write(report, &format, out)?;
        match missing_symbols(report).filter(|_| output.is_text()) {
            Some(text) => writeln!(out, "\n{text}"),
            None => Ok(()),
        }
    })
}

/// A note about the app binary with unnamed functions, and how to name them.
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
fn write_difference<'e>(before: &Report<'e>, after: &Report<'e>, plan: &TreePlan) -> Result<(), Failure> {
    for unlike in Unlike::between(before, after) {
        if !unlike.is_forcible() {
            return Err(anyhow!("these runs cannot be compared: {unlike}").into());
        }
        warning(&format!("{unlike}: this alone may explain the changes"));
    }
    let (normalize, view, top) = (plan.normalize, plan.diff_view, plan.options.top);
    let diff = Diff::new(before, after, normalize);
    if !diff.is_scaled {
        warning("cannot scale: some runs have no recorded time; comparing unscaled weights (see --normalize)");
    }
    let min_percent = plan.options.pruning.min_percent;
    let report = DiffReport { before, after, diff: &diff, normalize, view, top, min_percent, alerts: &[] };
    let output = &plan.output;
    Ok(output.write(|out| {
        let fitting = |size| WorkbenchOptions::default().fitting_comparison(&report, size);
        let format = output.of_trees(None, plan.has_limit, fitting)?;
        output::write(&report, &format, out)
    })?)
}

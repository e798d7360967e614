//! `fleet report`: reports on recordings or datasets.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use anyhow::Result;
use traceparse::RunPages;
use traceparse::fleet::{Collector, FleetBuilder, FleetInputs, FleetReport, FleetSettings, RunRow, Task};
use traceparse::output::{self, OverviewContext, RunPage};

use super::cli::{FleetReportArgs, FleetView};
use super::host::{AtInterrupt, Host};
use super::reading::{self, RunParts, with_settings};
use super::report_plan::FleetReportPlan;
use super::with_runs::{NewFolder, RunFolder, measured_as};
use crate::formats::Format;
use crate::output::{tell_alerts, unless_closed};
use crate::{Failure, exit_code_of_alerts, note};

/// Writes the report, and returns the exit code.
pub(super) fn show(args: FleetReportArgs) -> Result<u8, Failure> {
    let plan = &FleetReportPlan::new(args).map_err(Failure::Usage)?;
    plan.output.will_write();
    plan.runs.reading.redact.begin_fleet()?;
    let host = Host::new(AtInterrupt::End);
    let folder = plan.output.file().filter(|_| plan.with_runs.is_some()).map(RunFolder::beside).transpose()?;
    let collector = Collector::new(&host, FleetBuilder::new(plan.options.clone()), plan.runs.threads.patterns());
    if plan.allow_incomplete {
        collector.decide_incomplete();
    }
    let found = reading::datasets(&host, &plan.runs.inputs, &plan.runs.reading, |_| plan.with_runs.is_some());
    let (report, pages) = match found.map_err(Failure::Usage)? {
        Some(paths) => of_datasets(plan, collector, &paths, folder)?,
        None => of_recordings(plan, &host, collector, folder)?,
    };
    if plan.output.format == Format::Csv && report.runs.is_empty() {
        note("there is no run to measure, and CSV has neither crashes nor binned durations; --format json has them");
    }
    let written = write(&report, pages.as_ref(), plan);
    // The overview on a terminal shows the first alert and the number of others, which is enough for people. A log needs all alerts.
    let has_alerts = plan.view == FleetView::Full || io::stdout().is_terminal();
    tell_alerts(&plan.output, has_alerts, || report.alert_lines());
    unless_closed(written)?;
    Ok(exit_code_of_alerts(&report.alerts))
}

/// Reports on datasets. If there is a folder for run pages, reads the files of these runs again and writes the pages.
fn of_datasets(
    plan: &FleetReportPlan,
    collector: Collector<'_>,
    paths: &[PathBuf],
    folder: Option<RunFolder>,
) -> Result<(FleetReport, Option<Pages>), Failure> {
    collector.add_datasets(paths)?;
    let report = collector.finish(plan.runs.reading.files.strict)?;
    let Some(folder) = folder else { return Ok((report, None)) };
    let measured = measured_as(&report.selection, &plan.runs.reading);
    let (reading, threads) = measured.map_err(|reason| Failure::Usage(format!("--with-runs: {reason}")))?;
    let host = Host::new(AtInterrupt::EndPages);
    let find = |run: &RunRow| FleetInputs::again(&host, run.source.as_ref()).map(Cow::Owned);
    let pages = with_settings(&host, &reading, threads, PARTS, |settings| {
        Ok(write_pages(plan, &host, &report, &settings, folder, find)?)
    })?;
    Ok((report, Some(pages)))
}

/// Reports on recordings. If there is a folder for run pages, writes the pages.
fn of_recordings(
    plan: &FleetReportPlan,
    host: &Host,
    collector: Collector<'_>,
    folder: Option<RunFolder>,
) -> Result<(FleetReport, Option<Pages>), Failure> {
    let inputs = reading::find_readable(host, &plan.runs.inputs)?;
    with_settings(host, &plan.runs.reading, None, PARTS, |settings| {
        collector.add_recordings(&inputs, &settings)?;
        let report = collector.finish(plan.runs.reading.files.strict)?;
        let Some(folder) = folder else { return Ok((report, None)) };
        let by_name: HashMap<&str, &Task> = inputs.tasks.iter().map(|task| (task.display.as_str(), task)).collect();
        let find = |run: &RunRow| by_name.get(run.source.as_str()).map(|&task| Cow::Borrowed(task));
        let pages = write_pages(plan, &Host::new(AtInterrupt::EndPages), &report, &settings, folder, find)?;
        Ok((report, Some(pages)))
    })
}

/// Reports need no stacks.
const PARTS: RunParts = RunParts { stacks: false, intervals: false, metrics: true };

/// The run pages that were written, in a folder without its final name.
struct Pages {
    pages: Vec<RunPage>,
    folder: NewFolder,
}

fn write_pages<'t>(
    plan: &FleetReportPlan,
    host: &Host,
    report: &FleetReport,
    settings: &FleetSettings<'_>,
    folder: RunFolder,
    find: impl Fn(&RunRow) -> Option<Cow<'t, Task>>,
) -> Result<Pages> {
    let most = plan.with_runs.map_or(0, |runs| runs as usize);
    let pages = RunPages { most, max_size: plan.output.max_size, settings, is_strict: plan.runs.reading.files.strict };
    let mut folder = folder.begin()?;
    let pages = pages.write(host, report, &mut folder, find)?;
    Ok(Pages { pages, folder })
}

fn write(report: &FleetReport, pages: Option<&Pages>, plan: &FleetReportPlan) -> Result<()> {
    let output = &plan.output;
    output.write(|out| {
        let format = match output.format {
            Format::Text if plan.view == FleetView::Overview => {
                output::Format::Overview(output.style(), OverviewContext::default())
            }
            Format::Html => output::Format::Html(pages.map_or(&[], |pages| &pages.pages)),
            _ => output.plain(),
        };
        output::write(report, &format, out)?;
        out.flush()?;
        // Rename the folder directly before the page, which links to it, gets its name.
        pages.map_or(Ok(()), |pages| pages.folder.publish()).map_err(io::Error::other)
    })
}

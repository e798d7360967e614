//! `fleet report`: exports or a dataset to a report.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use anyhow::{Error, Result};
use traceparse::fleet::{
    AlertState, Collector, FleetBuilder, FleetInputs, FleetReport, FleetSettings, RunRow, Task, ThreadChoice,
};
use traceparse::output::{self, Format, OverviewContext, RunPage};
use traceparse::run_pages::RunPages;

use super::cli::{FleetFormat, FleetReportArgs, FleetView};
use super::host::{AtInterrupt, Host};
use super::reading::{self, find_symbols, options};
use super::with_runs::{NewFolder, RunFolder, measured_as};
use crate::formats::syntax_of;
use crate::guard::will_write;
use crate::sink::{Colour, style, write_inert};
use crate::unchanged::WatchedFiles;
use crate::{EXIT_ALERT, EXIT_DONE, EXIT_UNDECIDED, Failure, complain, is_closed_pipe, printable};

/// Reports, and returns the exit code of the process.
pub(super) fn show(args: &FleetReportArgs, colour: Colour) -> Result<u8, Failure> {
    args.inputs.check().map_err(Failure::Usage)?;
    args.check_question().map_err(Failure::Usage)?;
    args.check_name().map_err(Failure::Usage)?;
    args.reading.filters.check().map_err(Failure::Usage)?;
    args.csv.check(args.format() == FleetFormat::Csv).map_err(Failure::Usage)?;
    check_output(args).map_err(Failure::Usage)?;
    will_write(args.output.as_deref());
    args.reading.filters.redact.begin_fleet()?;
    let (host, folder) = (Host::new(AtInterrupt::End), folder(args)?);
    let patterns = args.threads.threads().filter(ThreadChoice::has_patterns);
    let collector = Collector::new(&host, FleetBuilder::new(args.options()), patterns);
    if args.allow_incomplete {
        collector.decide_incomplete();
    }
    let (report, pages) = match reading::datasets(&host, &args.inputs, &args.reading, |_| args.runs.with_runs.is_some())
        .map_err(Failure::Usage)?
    {
        Some(paths) => of_datasets(args, collector, &paths, folder)?,
        None if args.allow_incomplete => {
            let message = "--allow-incomplete applies to datasets; recordings are read to their end";
            return Err(Failure::Usage(message.to_owned()));
        }
        None => of_recordings(args, &host, collector, folder)?,
    };
    let result = write(&report, pages.as_ref(), args, colour);
    // A person sees the first alert, and how many others there are. A log needs all.
    let has_alerts = args.view() == FleetView::Full || io::stdout().is_terminal();
    if !is_stdout(args) || args.format() != FleetFormat::Text || !has_alerts {
        output::alert_lines(&report).iter().for_each(|line| complain(&format!("alert {}", printable(line))));
    }
    match result {
        // The reader of the pipe closed it; an alert still counts.
        Err(error) if is_closed_pipe(&error) => {}
        result => result?,
    }
    Ok(verdict(&report))
}

/// The folder for pages of runs, if `--with-runs` is given.
fn folder(args: &FleetReportArgs) -> Result<Option<RunFolder>> {
    let file = args.file().filter(|_| args.runs.with_runs.is_some());
    file.map(RunFolder::beside).transpose()
}

fn is_stdout(args: &FleetReportArgs) -> bool {
    args.file().is_none()
}

/// A page of plots is nothing to read in a terminal.
fn check_output(args: &FleetReportArgs) -> Result<(), String> {
    if args.format() == FleetFormat::Html && is_stdout(args) && io::stdout().is_terminal() {
        return Err("--format html needs a file to open in a browser; pass one, such as -o fleet.html".to_owned());
    }
    if args.view == Some(FleetView::Overview) && args.format() != FleetFormat::Text {
        return Err("--view overview is text; leave it out with other formats".to_owned());
    }
    args.runs.check(args.format() == FleetFormat::Html, args.file())
}

/// Reports on datasets, and writes pages of their runs, whose files are read again, if there is a folder for them.
fn of_datasets(
    args: &FleetReportArgs,
    collector: Collector<'_>,
    paths: &[PathBuf],
    folder: Option<RunFolder>,
) -> Result<(FleetReport, Option<Pages>), Failure> {
    collector.add_datasets(paths).map_err(Error::from)?;
    let report = collector.finish(args.reading.files.strict).map_err(Error::from)?;
    let Some(folder) = folder else { return Ok((report, None)) };
    let measured = measured_as(&report.selection, &args.reading);
    let (reading, threads) = measured.map_err(|reason| Failure::Usage(format!("--with-runs: {reason}")))?;
    let symbol_files = WatchedFiles::default();
    let locator = find_symbols(&symbol_files, &reading)?;
    let host = Host::new(AtInterrupt::EndPages);
    let settings = FleetSettings::new(&host, options(&reading, threads, &symbol_files, locator.as_ref()));
    let find = |run: &RunRow| FleetInputs::again(&host, run.source.as_ref()).map(Cow::Owned);
    let pages = write_pages(args, &host, &report, &settings, folder, find)?;
    Ok((report, Some(pages)))
}

/// Reports on recordings, and writes pages of their runs, if there is a folder for them.
fn of_recordings(
    args: &FleetReportArgs,
    host: &Host,
    collector: Collector<'_>,
    folder: Option<RunFolder>,
) -> Result<(FleetReport, Option<Pages>), Failure> {
    let mut inputs = reading::find(host, &args.inputs, false)?;
    inputs.redact(host);
    inputs.will_read(host).map_err(Error::from)?;
    let symbol_files = WatchedFiles::default();
    let locator = find_symbols(&symbol_files, &args.reading)?;
    let settings = FleetSettings::new(host, options(&args.reading, None, &symbol_files, locator.as_ref()));
    collector.add_recordings(&inputs, &settings).map_err(Error::from)?;
    let report = collector.finish(args.reading.files.strict).map_err(Error::from)?;
    let Some(folder) = folder else { return Ok((report, None)) };
    let by_name: HashMap<&str, &Task> = inputs.tasks.iter().map(|task| (task.display.as_str(), task)).collect();
    let find = |run: &RunRow| by_name.get(run.source.as_str()).map(|&task| Cow::Borrowed(task));
    let pages = write_pages(args, &Host::new(AtInterrupt::EndPages), &report, &settings, folder, find)?;
    Ok((report, Some(pages)))
}

/// Pages that were written, in a folder that has not got its name yet.
struct Pages {
    pages: Vec<RunPage>,
    folder: NewFolder,
}

fn write_pages<'t>(
    args: &FleetReportArgs,
    host: &Host,
    report: &FleetReport,
    settings: &FleetSettings<'_>,
    folder: RunFolder,
    find: impl Fn(&RunRow) -> Option<Cow<'t, Task>>,
) -> Result<Pages> {
    let most = args.runs.with_runs.map_or(0, |runs| runs as usize);
    let pages = RunPages { most, max_size: args.runs.page.max_size(), settings, is_strict: args.reading.files.strict };
    let mut folder = folder.begin()?;
    let pages = pages.write(host, report, &mut folder, find)?;
    Ok(Pages { pages, folder })
}

fn write(report: &FleetReport, pages: Option<&Pages>, args: &FleetReportArgs, colour: Colour) -> Result<()> {
    let path = args.output.as_deref();
    write_inert(path, syntax_of(args.format()), |out| {
        let format = match args.format() {
            FleetFormat::Text if args.view() == FleetView::Full => Format::Text(style(path, colour)),
            FleetFormat::Text => Format::Overview(style(path, colour), OverviewContext::default()),
            FleetFormat::Json => Format::Json,
            FleetFormat::Csv => Format::Csv(args.csv.cells()),
            FleetFormat::Html => Format::Html(pages.map_or(&[], |pages| &pages.pages)),
        };
        output::write(report, &format, out)?;
        out.flush()?;
        // Right before the page gets its name, which links to them.
        pages.map_or(Ok(()), |pages| pages.folder.publish()).map_err(io::Error::other)
    })
}

/// The exit code for the outcomes of alerts.
fn verdict(report: &FleetReport) -> u8 {
    let has = |is_state: fn(AlertState) -> bool| report.alerts.iter().any(|outcome| is_state(outcome.state));
    if has(|state| state == AlertState::Fired) {
        EXIT_ALERT
    } else if has(|state| matches!(state, AlertState::Undecided { .. })) {
        EXIT_UNDECIDED
    } else {
        EXIT_DONE
    }
}

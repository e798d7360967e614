//! `fleet report`: exports or a dataset to a report.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fs::Metadata;
use std::io::{self, IsTerminal, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, anyhow, bail};
use traceparse::fleet::{
    AlertState, Completeness, DatasetRun, FailedInput, FailureKind, FleetBuilder, FleetReport, RunMeasures, RunRecord,
};
use traceparse::memory::{MemoryBudget, Reservation};
use traceparse::output::{self, Format};
use traceparse::units::Millionths;

use super::batch;
use super::cli::{FleetFormat, FleetReportArgs};
use super::control::{AtInterrupt, Control};
use super::filters::AskedThreads;
use super::inputs::{self, Inputs, will_read_tasks};
use super::notes::{counted, several};
use super::outcome::{Finished, Keeper, Kept, Outcome};
use super::settings::Settings;
use super::task::Task;
use super::union::Datasets;
use super::with_runs::{RunFolder, RunPages, Wanted, measured_as};
use super::{alerts, notes, symbols};
use crate::bounds;
use crate::colour::Colour;
use crate::guard::will_write;
use crate::sink::{Shown, style, write_to};
use crate::unchanged::WatchedFiles;
use crate::{EXIT_ALERT, EXIT_DONE, EXIT_UNDECIDED, Failure, complain, is_closed_pipe, printable, warning};

/// The file is in the folder for temporary files, has no name, and is gone when the process ends, however that is.
const TEMPORARY: &str = "the values of the runs need a temporary file (TMPDIR names the folder)";

/// Reports, and says with which exit code the process ends.
pub(super) fn show(args: &FleetReportArgs, colour: Colour) -> Result<u8, Failure> {
    args.inputs.check().map_err(Failure::Usage)?;
    args.check_question().map_err(Failure::Usage)?;
    args.check_name().map_err(Failure::Usage)?;
    args.reading.filters.check().map_err(Failure::Usage)?;
    args.csv.check(args.format() == FleetFormat::Csv).map_err(Failure::Usage)?;
    check_output(args).map_err(Failure::Usage)?;
    will_write(args.output.as_deref());
    args.reading.filters.redact.begin_fleet()?;
    let folder = folder(args)?;
    let fleet = Fleet::new(args);
    let (report, pages) = match datasets(args).map_err(Failure::Usage)? {
        Some(paths) => {
            let report = finished(of_datasets(&paths, fleet)?, args)?;
            let pages = folder.map(|folder| pages_of_datasets(&report, args, folder));
            (report, pages.transpose()?)
        }
        None if args.allow_incomplete => {
            let message = "--allow-incomplete applies to datasets; recordings are read to their end";
            return Err(Failure::Usage(message.to_owned()));
        }
        None => {
            let mut inputs = inputs::find(&args.inputs, false)?;
            inputs.check().map_err(Failure::Usage)?;
            inputs.redact();
            of_exports(args, inputs, fleet, folder)?
        }
    };
    let result = write(&report, pages.as_ref(), args, colour);
    if !is_stdout(args) || args.format() != FleetFormat::Text {
        alerts::lines(&report).iter().for_each(|line| complain(&format!("alert {}", printable(line))));
    }
    match result {
        // The reader of the pipe closed it; an alert still counts.
        Err(error) if is_closed_pipe(&error) => {}
        result => result?,
    }
    Ok(verdict(&report))
}

/// The report on a fleet that is complete, if there is something to report.
fn finished(fleet: Fleet, args: &FleetReportArgs) -> Result<FleetReport> {
    let Counting { builder, weight_labels, reserved: _held, .. } = fleet.into_inner();
    let mut report = builder.try_finish().context(TEMPORARY)?;
    // In the order in which runs came.
    report.options.threads.iter_mut().for_each(|names| names.sort());
    check(&report, args.reading.strict)?;
    check_weights(&report, &weight_labels);
    Ok(report)
}

/// The folder for pages of runs, if they are asked for.
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
    args.runs.check(args.format() == FleetFormat::Html, args.file())
}

/// Stands in both refusals of recordings beside datasets.
const ADVICE: &str = "extract recordings into one";

/// The datasets that are to be reported, if the inputs are some.
fn datasets(args: &FleetReportArgs) -> Result<Option<Vec<PathBuf>>, String> {
    let inputs = &args.inputs.inputs;
    let found: Vec<Vec<PathBuf>> = inputs.iter().map(|input| Datasets::at(input)).collect();
    let Some(dataset) = found.iter().flatten().next() else { return Ok(None) };
    let name = dataset.display();
    if let Some((none, _)) = inputs.iter().zip(&found).find(|(_, found)| found.is_empty()) {
        let none = none.display();
        return Err(format!("{none}: not a dataset, but {name} is one; datasets must be the only input: {ADVICE}"));
    }
    if !args.inputs.manifest.is_empty() || args.inputs.files_from.is_some() {
        return Err(format!("{name} is a dataset; it and other datasets must be the only input: {ADVICE}"));
    }
    // Pages are made of what is read.
    match args.reading.only_for_exports().filter(|_| args.runs.with_runs.is_none()) {
        None if args.reading.filters.first().is_some() => Err(already_measured(args, &name.to_string())),
        Some(option) => Err(format!(
            "{option} applies to reading exports, but {name} is a dataset; pass {option} to `fleet extract` instead"
        )),
        None => Ok(Some(found.concat())),
    }
}

/// The error for a selection from a dataset, with the command that makes one of the selection.
fn already_measured(args: &FleetReportArgs, name: &str) -> String {
    let option = args.reading.filters.first().unwrap_or_default();
    let selection = args.reading.filters.described(None);
    format!(
        "{option} selects from recordings, but {name} is a dataset, whose runs were measured before; make one of this selection: \
         traceparse fleet extract RECORDINGS {selection} -o NEW_DATASET"
    )
}

/// Reads datasets into the fleet.
fn of_datasets(paths: &[PathBuf], fleet: Fleet) -> Result<Fleet> {
    let datasets = Datasets::open(paths)?;
    tell_completeness(&datasets, &fleet)?;
    let mut has_runs = false;
    let failures = datasets.read(|run| {
        has_runs = true;
        fleet.add_shared(run)
    })?;
    // A shard of a few recordings may have none of them.
    let is_empty = !has_runs && failures.is_empty() && datasets.unfinished().is_none();
    if let Some(shards) = datasets.shards().filter(|_| is_empty) {
        let files = several(shards.inputs.unwrap_or(0) as usize, "file");
        bail!("{}: {} of a fleet of {files} has none of them", datasets.name(), shards.name());
    }
    failures.into_iter().try_for_each(|failed| fleet.add_failure(failed))?;
    Ok(fleet)
}

/// Writes pages of runs of datasets, whose files are read again.
fn pages_of_datasets(report: &FleetReport, args: &FleetReportArgs, folder: RunFolder) -> Result<RunPages, Failure> {
    let measured = measured_as(&report.selection, &args.reading);
    let (reading, threads) = measured.map_err(|reason| Failure::Usage(format!("--with-runs: {reason}")))?;
    let symbol_files = WatchedFiles::default();
    let locator = symbols::find(&symbol_files, &reading)?;
    let settings = Settings::new(&reading, threads, &symbol_files, locator.as_ref());
    let wanted = Wanted { args: &args.runs, settings: &settings, is_strict: args.reading.strict };
    Ok(wanted.write(report, folder, |run| inputs::again(run.source.as_ref()).map(Cow::Owned))?)
}

/// Says how much of their inputs datasets are of.
fn tell_completeness(datasets: &Datasets, fleet: &Fleet) -> Result<()> {
    let completeness = datasets.completeness();
    let builder = &mut fleet.counting().builder;
    builder.set_selection(datasets.selection());
    builder.set_completeness(completeness);
    builder.set_missing_shards(datasets.missing_shards());
    match datasets.incomplete() {
        Some(sentence) => warning(&sentence),
        None if datasets.has_rewritten() => builder.add_note(
            "An engine rewrote the dataset: nobody knows if it is complete, or what was selected of its recordings."
                .to_owned(),
        ),
        None => {}
    }
    if let Some((name, first, count)) = datasets.unnamed()? {
        let files = several(count, "file");
        warning(&format!("{name}: {files} not read, which the dataset does not name, such as {}", first.display()));
    }
    Ok(())
}

/// Reports on exports, and writes pages of their runs, if there is a folder for them.
fn of_exports(
    args: &FleetReportArgs,
    inputs: Inputs,
    fleet: Fleet,
    folder: Option<RunFolder>,
) -> Result<(FleetReport, Option<RunPages>)> {
    let Inputs { tasks, failures, notes: found, .. } = inputs;
    notes::print(&found);
    will_read_tasks(&tasks)?;
    let symbol_files = WatchedFiles::default();
    let locator = symbols::find(&symbol_files, &args.reading)?;
    let settings = Settings::new(&args.reading, None, &symbol_files, locator.as_ref());
    fleet.counting().builder.set_selection(args.reading.filters.described(None));
    fleet.counting().builder.set_completeness(Completeness::whole((tasks.len() + failures.len()) as u64));
    let control = Control::new(tasks.len(), batch::total_bytes(&tasks), AtInterrupt::End);
    failures.into_iter().try_for_each(|failed| fleet.add_failure(failed))?;
    let ended = batch::run(&tasks, &settings, &control, &fleet)?;
    ended.notes.print();
    settings.warn_of_unseen_intervals();
    if let Some((index, problem)) = ended.not_strict {
        bail!("{}: {problem}; and --strict was given", tasks[index].display);
    }
    let report = finished(fleet, args)?;
    let Some(folder) = folder else { return Ok((report, None)) };
    let by_name: HashMap<&str, &Task> = tasks.iter().map(|task| (task.display.as_str(), task)).collect();
    let wanted = Wanted { args: &args.runs, settings: &settings, is_strict: args.reading.strict };
    let pages =
        wanted.write(&report, folder, |run| by_name.get(run.source.as_str()).map(|&task| Cow::Borrowed(task)))?;
    Ok((report, Some(pages)))
}

/// The fleet that workers add to.
struct Fleet(Mutex<Counting>);

struct Counting {
    builder: FleetBuilder,
    /// The memory that it takes.
    reserved: Reservation,
    /// Keys of labels that look like the weight of a run.
    weight_labels: BTreeSet<String>,
    /// The threads that count, if patterns find some of them.
    patterns: Option<AskedThreads>,
}

impl Fleet {
    fn new(args: &FleetReportArgs) -> Self {
        let (mut builder, reserved) = (FleetBuilder::new(args.options()), bounds::of_kept().nothing());
        if args.allow_incomplete {
            builder.decide_incomplete();
        }
        let patterns = args.threads.threads().filter(AskedThreads::has_patterns);
        Self(Mutex::new(Counting { builder, reserved, weight_labels: BTreeSet::new(), patterns }))
    }

    fn counting(&self) -> MutexGuard<'_, Counting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a run.
    ///
    /// # Errors
    /// When there is no memory for it, or no room in a temporary file.
    fn add(&self, run: &RunMeasures) -> Result<()> {
        let mut counting = self.counting();
        counting.note_weights(&run.record);
        let Counting { builder, patterns, .. } = &mut *counting;
        if let Some(patterns) = patterns {
            builder.count_threads(patterns.of_run(run));
        }
        builder.add(run);
        counting.reserve()
    }

    /// Adds a run of a dataset.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn add_shared(&self, run: DatasetRun) -> Result<()> {
        let mut counting = self.counting();
        if counting.patterns.is_some() {
            drop(counting);
            return self.add(&run.into_measures());
        }
        counting.note_weights(run.record());
        counting.builder.add_shared(run);
        counting.reserve()
    }

    /// Names a file that gave no run.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn add_failure(&self, failed: FailedInput) -> Result<()> {
        let mut counting = self.counting();
        counting.builder.add_failure(failed);
        counting.reserve()
    }

    fn into_inner(self) -> Counting {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counting {
    fn note_weights(&mut self, record: &RunRecord) {
        let keys = record.labels.iter().map(|(key, _)| key);
        self.weight_labels.extend(keys.filter(|key| key.to_ascii_lowercase().contains("weight")).cloned());
    }

    /// Takes memory for what is kept, of which values go to a temporary file if they are many.
    fn reserve(&mut self) -> Result<()> {
        if self.builder.spillable() > bounds::of_values() {
            self.builder.spill(|| Ok(Box::new(tempfile::tempfile()?))).context(TEMPORARY)?;
        }
        let free = bounds::of_run().saturating_mul(self.builder.run_count() as u64);
        Ok(self.reserved.resize(self.builder.memory().saturating_sub(free))?)
    }
}

impl Keeper for Fleet {
    fn kept(&self, _: usize, _: &Task, _: &Metadata, _: &MemoryBudget) -> Option<Kept> {
        None
    }

    fn counts(&self, _: usize, _: &Kept) -> bool {
        false
    }

    fn keep(&self, _: &Task, finished: Finished, _: Option<&Task>) -> Result<()> {
        match finished.outcome {
            Outcome::Runs(runs) => runs.iter().try_for_each(|run| self.add(run))?,
            Outcome::Failed(failed) => self.add_failure(failed)?,
            Outcome::Kept(_) => {}
        }
        Ok(())
    }
}

/// Checks that there is something to report, and all of it if that was asked.
fn check(report: &FleetReport, is_strict: bool) -> Result<()> {
    let inputs = &report.inputs;
    if is_strict {
        if let Some(failed) = inputs.failed.first() {
            bail!("{}: {}; and --strict was given", failed.source, failed.reason);
        }
        if let Some(damaged) = inputs.damaged.first() {
            let runs = several(damaged.unread_runs as usize, "run");
            let verb = if damaged.unread_runs == 1 { "is" } else { "are" };
            bail!("{}: {runs} {verb} damaged and could not be read; and --strict was given", damaged.source);
        }
        if inputs.rejected_rows > 0 {
            let rows = several(inputs.rejected_rows as usize, "row");
            bail!("{rows} of CPU tables could not be read, and --strict was given");
        }
        if inputs.completeness.is_incomplete() {
            bail!("the dataset is incomplete, and --strict was given");
        }
    }
    check_names(report)?;
    if inputs.runs == 0 {
        notes::print(&notes::of_failures(inputs.failed.iter()));
        return Err(nothing(report));
    }
    if !inputs.failed.is_empty() {
        let (failed, runs) = (several(inputs.failed.len(), "file"), several(report.runs.len(), "run"));
        warning(&format!("{failed} gave no run ({}), {runs} did", kinds(&inputs.failed)));
    }
    Ok(())
}

/// A label or a process that nothing has is a mistake: a report without it would look like one of everything.
fn check_names(report: &FleetReport) -> Result<()> {
    let (inputs, options) = (&report.inputs, &report.options);
    let mut asked = options.by.iter().chain(options.only.iter().map(|(key, _)| key));
    if let Some(key) = asked.find(|key| !inputs.label_keys.contains(key)) {
        return Err(unknown_label(key, &inputs.label_keys));
    }
    if inputs.runs == 0 && inputs.left_out > 0 {
        let pairs: Vec<String> = options.only.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let there_are: Vec<String> =
            inputs.left_out_values.iter().map(|(key, values)| values_of(key, values)).collect();
        let runs = several(inputs.left_out as usize, "run");
        bail!("none of {runs} has {}; there are: {}", pairs.join(" and "), there_are.join("; "));
    }
    if let Some(name) = inputs.missing_threads.first().filter(|_| !inputs.threads.is_empty()) {
        bail!("no run has a thread named {name:?}; there are: {}", inputs.threads.join(", "));
    }
    if let Some(name) = inputs.missing_processes.first().filter(|_| inputs.runs > 0) {
        bail!("no run has a process named {name:?}; there are: {}", inputs.processes.join(", "));
    }
    Ok(())
}

/// The error for a label that nothing has.
pub(super) fn unknown_label(key: &str, known: &[String]) -> anyhow::Error {
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    anyhow!("no run has the label {key:?}; known labels: {known}. A manifest adds labels (see --help)")
}

/// Values of a label up to this many are named.
const NAMED_VALUES: usize = 8;

/// `app_version 1.0, 1.1 and 3 more`.
fn values_of(key: &str, values: &[String]) -> String {
    let named = values[..values.len().min(NAMED_VALUES)].join(", ");
    match values.len().saturating_sub(NAMED_VALUES) {
        0 => format!("{key} {named}"),
        more => format!("{key} {named} and {} more", counted(more)),
    }
}

/// Warns if `--weighted` changes nothing: a user who asks for weights has some, perhaps under another name.
fn check_weights(report: &FleetReport, weight_labels: &BTreeSet<String>) {
    if report.options.is_weighted && report.runs.iter().all(|run| run.run_weight == Millionths::ONE) {
        let hint =
            weight_labels.first().map(|key| format!("; there is a label `{key}`: rename that column `run_weight`"));
        let hint = hint.unwrap_or_default();
        warning(&format!("no run has a run_weight other than 1, so --weighted changes nothing{hint}"));
    }
}

fn nothing(report: &FleetReport) -> anyhow::Error {
    let inputs = &report.inputs;
    match (inputs.without_time.as_slice(), inputs.failed.len()) {
        ([first, ..], _) => anyhow!(
            "no run has a recorded time, so CPU use is unknown; put a table of contents (xcrun xctrace export --toc) next to {first}, or add a column `duration` to a manifest"
        ),
        ([], 0) => anyhow!("there are no exports"),
        ([], 1) => anyhow!("the only file gave no run"),
        ([], files) => anyhow!("none of the {files} files gave a run ({})", kinds(&inputs.failed)),
    }
}

/// `2 truncated, 1 empty`.
pub(super) fn kinds(failed: &[FailedInput]) -> String {
    let count = |kind: FailureKind| failed.iter().filter(|failed| failed.kind == kind).count();
    let counts = FailureKind::ALL.into_iter().map(|kind| (count(kind), kind)).filter(|(count, _)| *count > 0);
    counts.map(|(count, kind)| format!("{count} {}", kind.name())).collect::<Vec<_>>().join(", ")
}

fn write(report: &FleetReport, pages: Option<&RunPages>, args: &FleetReportArgs, colour: Colour) -> Result<()> {
    let path = args.output.as_deref();
    write_to(path, |out| {
        let mut out = Shown::new(path, args.format().syntax(), out);
        let format = match args.format() {
            FleetFormat::Text => Format::Text(style(path, colour)),
            FleetFormat::Json => Format::Json,
            FleetFormat::Csv => Format::Csv(args.csv.cells()),
            FleetFormat::Html => Format::Html(pages.map_or(&[], |pages| &pages.pages)),
        };
        output::write(report, &format, &mut out)?;
        out.flush()?;
        // Right before the page gets its name, which links to them.
        pages.map_or(Ok(()), |pages| pages.folder.publish()).map_err(io::Error::other)
    })
}

/// The exit code that alerts ask for.
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

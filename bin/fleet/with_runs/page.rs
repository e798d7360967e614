//! One run, read again as it was measured, and its page.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use traceparse::Analysis;
use traceparse::fleet::{FailureKind, FleetReport, MeasureOptions, RunContext, RunMeasures, RunRow};
use traceparse::output::{self, Format, RunPage, RunPlace, WorkbenchOptions};
use traceparse::profile::{Id, Series};
use traceparse::recording::{Document, DocumentContent, Intervals, Options, Recording};
use traceparse::redact::Redactor;
use traceparse::report::{ReportOptions, View};
use traceparse::units::Millionths;

use super::super::beside::Beside;
use super::super::content::unless_changed;
use super::super::control::Control;
use super::super::copies::content;
use super::super::fingerprint::short;
use super::super::fleet_input::FleetInput;
use super::super::intervals::all_of;
use super::super::read_file::Refused;
use super::super::redaction::redact;
use super::super::settings::Settings;
use super::super::task::Task;
use super::places::{Question, Target};
use crate::page::PageArgs;
use crate::redacted::Each;
use crate::sink::replace;
use crate::unchanged::WatchedFiles;
use crate::{bounds, objects, redacted};

/// What all pages are made with.
pub(super) struct PageMaker<'a> {
    pub(super) report: &'a FleetReport,
    pub(super) settings: &'a Settings<'a>,
    pub(super) control: &'a Control,
    pub(super) args: &'a PageArgs,
}

/// A page that was written.
pub(super) struct Made {
    /// By place: the fragment of the address.
    pub(super) fragments: BTreeMap<RunPlace, String>,
    /// What is left out, in a sentence.
    pub(super) note: Option<String>,
}

/// A run, ready to be written.
struct Opened {
    analysis: Analysis,
    options: ReportOptions,
    intervals: Intervals,
    series: Id<Series>,
    targets: BTreeMap<RunPlace, Target>,
}

/// A run that was measured again, with the names of the report.
struct Again {
    run: RunMeasures,
    series: Id<Series>,
    targets: BTreeMap<RunPlace, Target>,
}

impl PageMaker<'_> {
    /// Writes the page of a run.
    ///
    /// # Errors
    /// The outer one when the page cannot be written; the inner one when the run cannot be read again, or has no page.
    pub(super) fn make(&self, page: &RunPage, task: &Task, path: &Path) -> Result<Result<Made, Refused>> {
        let opened = match self.open(page, task) {
            Ok(opened) => opened,
            Err(refused) => return Ok(Err(refused)),
        };
        let report = opened.analysis.report(&opened.options);
        let options = WorkbenchOptions { intervals: Some(&opened.intervals), ..WorkbenchOptions::default() };
        let (options, note) = match self.args.fit_quietly(|size| options.fitting(&report, size)) {
            Ok(fitting) => fitting,
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(Err(malformed(&error))),
            Err(error) => return Err(error.into()),
        };
        let fragment = |target: &Target| target.fragment(&report, opened.series, options.reduction);
        let fragments = opened.targets.iter().map(|(place, target)| (place.clone(), fragment(target))).collect();
        replace(path, None, |out| output::write(&report, &Format::Workbench(options), out))?;
        Ok(Ok(Made { fragments, note }))
    }

    fn open(&self, page: &RunPage, task: &Task) -> Result<Opened, Refused> {
        let beside = [&task.toc, &task.intervals, &task.intervals_beside].into_iter().flatten();
        let copies = objects::Use::begin([&task.path].into_iter().chain(beside).map(PathBuf::as_path));
        let _copies = copies.map_err(|error| unreadable(error.to_string()))?;
        let metadata =
            std::fs::metadata(&task.path).map_err(|error| unreadable(format!("it cannot be read: {error}")))?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(unreadable("it can be read only once".to_owned()));
        }
        let memory = self.settings.memory.part(u64::MAX);
        let options = Options { jobs: self.settings.jobs, memory, ..self.settings.read.clone() };
        let files = WatchedFiles::default();
        let opened = FleetInput::open(&files, &task.path, &options.memory)
            .and_then(|mut input| self.read(page, task, &mut input, (&files, &options)));
        unless_changed(&files, &task.path, opened)
    }

    fn read(
        &self,
        page: &RunPage,
        task: &Task,
        input: &mut FleetInput<'_>,
        (files, options): (&WatchedFiles, &Options),
    ) -> Result<Opened, Refused> {
        let run = &self.report.runs[page.run];
        let read = input.read_as(&task.display, options, self.control)?;
        if short(read.content) != content(&run.run_id) {
            return Err(unreadable("its content is not the one that was measured".to_owned()));
        }
        let mut recording = read.export?;
        // What it says about the file beside was said before.
        let beside = Beside::read(task, options, self.control, &mut Vec::new());
        recording.documents.extend(beside.tocs.into_iter().map(|toc| Document {
            input: task.display.clone(),
            content: DocumentContent::Toc(toc),
            cut_at: None,
        }));
        let mut analysis = Analysis::new(recording);
        self.settings.symbols.name_analysis(&mut analysis, input)?;
        let mut measure = self.settings.measure.clone();
        if let Some(asked) = &self.settings.intervals {
            let filter = asked.of(task, (analysis.recording(), input), files, options, &mut Vec::new())?;
            measure.selection.intervals = Some(filter);
        }
        let intervals = all_of(task, (analysis.recording(), input), files, options)?;
        let again = self.again(page, task, analysis.recording(), &measure)?;
        self.operated(analysis, (measure, intervals), again, task, run)
    }

    /// The run, measured as before.
    fn again(
        &self,
        page: &RunPage,
        task: &Task,
        recording: &Recording,
        measure: &MeasureOptions,
    ) -> Result<Again, Refused> {
        let operations = self.settings.operations.operations(&recording.profile, false);
        let mut context = context(task, content(&self.report.runs[page.run].run_id));
        let copy = match redacted::each() {
            Some(each) => Some(redacted_copy(each, recording, &mut context)?),
            None => None,
        };
        let named = copy.as_ref().map_or(recording, |(copy, _)| copy);
        let measured = named.measure_operated(&context, measure, &operations);
        let measured = measured.map_err(|refused| Refused { kind: refused.kind, reason: refused.reason })?;
        let question = self.question();
        let row = &self.report.runs[page.run];
        let mut runs = measured.runs.into_iter().zip(measured.series);
        let (run, series) = runs
            .find(|(run, _)| run.record.run_id == row.run_id && question.weight(run) == row.weight)
            .ok_or_else(otherwise_measured)?;
        let of_run = (&named.profile, named.profile.series(series).run);
        let target = |place: &RunPlace| (place.clone(), Target::of(place, of_run, &question, &run));
        let targets = page.places.keys().map(target).collect();
        Ok(Again { run, series, targets })
    }

    fn question(&self) -> Question<'_> {
        Question { options: &self.report.options, narrowed: self.settings.threads.as_ref() }
    }

    /// Does operations, and replaces names, if that is asked for.
    fn operated(
        &self,
        mut analysis: Analysis,
        (measure, mut intervals): (MeasureOptions, Intervals),
        again: Again,
        task: &Task,
        run: &RunRow,
    ) -> Result<Opened, Refused> {
        let Again { run: measured, series, targets } = again;
        debug_assert_eq!(measured.record.run_id, run.run_id);
        let profile = &analysis.recording().profile;
        let mut selection = measure.selection;
        selection.runs = vec![profile.run(profile.series(series).run).number];
        let (schemas, view, jobs) = (vec![measured.record.schema], View::Summary, self.settings.jobs);
        let mut options = ReportOptions { selection, schemas, view, jobs, ..ReportOptions::default() };
        let operate = |profile: &_| self.settings.operations.operations(profile, false);
        analysis.operate(&options, operate).map_err(|error| malformed(&error))?;
        if let Some(each) = redacted::each() {
            let mut redactor = Redactor::new(each.rules.clone());
            let beside = [&task.toc, &task.intervals, &task.intervals_beside].into_iter().flatten();
            for path in [&task.path].into_iter().chain(beside) {
                redactor.hide_input(&path.display().to_string());
            }
            redactor.collect(analysis.recording());
            redactor.collect_intervals(&intervals);
            redactor.intervals(&mut intervals);
            analysis.redact(&mut redactor, &mut options).map_err(|error| malformed(&error))?;
        }
        let profile = &analysis.recording().profile;
        let trees = profile.budget().reserve(bounds::of_trees(profile.stack_ids().len()));
        // The page makes its trees itself; what the overview needs is less.
        trees.map_err(|error| malformed(&error))?;
        Ok(Opened { analysis, options, intervals, series, targets })
    }
}

/// What measuring needs to know of a file whose weights are asked for, and nothing else.
fn context(task: &Task, run_id: &str) -> RunContext {
    RunContext {
        run_id: run_id.to_owned(),
        fingerprint: String::new(),
        source: task.display.clone(),
        source_bytes: 0,
        labels: Vec::new(),
        run_weight: Millionths::ONE,
        duration: task.duration,
        tocs: Vec::new(),
    }
}

/// A recording with the names that the report has, and the memory that it takes.
fn redacted_copy(
    each: &Each,
    recording: &Recording,
    context: &mut RunContext,
) -> Result<(Recording, traceparse::memory::Reservation), Refused> {
    let profile = &recording.profile;
    let reserved = profile.budget().reserve(profile.memory()).map_err(|error| malformed(&error))?;
    let mut copy = recording.clone();
    redact(each, &mut copy, context, &mut [])?;
    Ok((copy, reserved))
}

fn otherwise_measured() -> Refused {
    let reason = "it was measured with other options, such as --schema, which give other numbers; pass them here, too";
    Refused { kind: FailureKind::Malformed, reason: reason.to_owned() }
}

fn unreadable(reason: String) -> Refused {
    Refused { kind: FailureKind::Unreadable, reason }
}

fn malformed(error: &dyn std::fmt::Display) -> Refused {
    Refused { kind: FailureKind::Malformed, reason: error.to_string() }
}

//! Reads and measures one run again, and writes its page.

use std::collections::BTreeMap;
use std::io;

use super::folder::{PageFolder, encoded};
use super::places::{Question, Target};
use crate::analysis::Analysis;
use crate::fleet::error::Result;
use crate::fleet::extract::{Beside, FleetInput, all_intervals, redact, unless_changed};
use crate::fleet::fingerprint::short;
use crate::fleet::host::{FleetHost, WatchedInputs};
use crate::fleet::identity::{content, of_file};
use crate::fleet::inputs::Task;
use crate::fleet::{FleetReport, FleetSettings, MeasureOptions, NotMeasured, RunContext};
use crate::output::{self, Format, RunPage, RunPlace, WorkbenchOptions};
use crate::profile::{Id, Series};
use crate::recording::{Document, DocumentContent, Intervals, Options, Recording};
use crate::redact::{RedactRule, Redactor};
use crate::report::{ReportOptions, View};
use crate::settings::SCHEMA;

/// Explains why numbers differ from the report.
fn otherwise_measured() -> String {
    format!(
        "it was measured with other options, such as {SCHEMA}, which change the numbers; pass the same options here"
    )
}

/// The memory per stack that a tree needs in addition to the stack, in bytes.
const TREE_BYTES: u64 = 32;

/// A written page: the address for each place, and a sentence about omitted content.
pub(super) type Made = (BTreeMap<RunPlace, String>, Option<String>);

/// The settings shared by all pages.
pub(super) struct PageMaker<'a> {
    pub(super) report: &'a FleetReport,
    pub(super) settings: &'a FleetSettings<'a>,
    pub(super) host: &'a dyn FleetHost,
    pub(super) max_size: u64,
}

/// A run that is ready to be written.
struct Opened {
    analysis: Analysis,
    options: ReportOptions,
    intervals: Intervals,
    series: Id<Series>,
    targets: BTreeMap<RunPlace, Target>,
}

/// The table of a run that was measured again, and the parts of the run to show.
type Again = (Id<Series>, BTreeMap<RunPlace, Target>);

impl PageMaker<'_> {
    /// Writes the page of a run.
    ///
    /// # Errors
    /// The outer error means that the page cannot be written. The inner error means that the run cannot be read again or has no page.
    pub(super) fn make(
        &self,
        page: &RunPage,
        task: &Task,
        folder: &mut dyn PageFolder,
    ) -> Result<Result<Made, NotMeasured>> {
        let opened = match self.open(page, task) {
            Ok(opened) => opened,
            Err(refused) => return Ok(Err(refused)),
        };
        let report = opened.analysis.report(&opened.options);
        let options = WorkbenchOptions { intervals: Some(&opened.intervals), ..WorkbenchOptions::default() };
        let options = match options.fitting(&report, self.max_size) {
            Ok(fitting) => fitting,
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(Err(NotMeasured::malformed(error))),
            Err(error) => return Err(error.into()),
        };
        let (reduction, note) = (options.reduction, options.note(self.max_size));
        let format = Format::Workbench(options);
        let file = folder.add(&self.report.runs[page.run], &mut |out| output::write(&report, &format, out))?;
        let address = format!("{}/{file}", encoded(folder.name().as_encoded_bytes()));
        let address = |target: &Target| format!("{address}{}", target.fragment(&report, opened.series, reduction));
        let addresses = opened.targets.iter().map(|(place, target)| (place.clone(), address(target))).collect();
        Ok(Ok((addresses, note)))
    }

    fn open(&self, page: &RunPage, task: &Task) -> Result<Opened, NotMeasured> {
        let fetched = self.host.fetch(&task.files().collect::<Vec<_>>());
        let _fetched = fetched.map_err(|error| NotMeasured::unreadable(error.to_string()))?;
        let found = self.host.files().entry(&task.path);
        found.map_err(|error| NotMeasured::unreadable(format!("it cannot be read: {error}")))?;
        if !self.host.state(&task.path).is_some_and(|state| state.is_lasting()) {
            return Err(NotMeasured::unreadable("it can be read only once"));
        }
        let memory = self.settings.memory.part(u64::MAX);
        let options = Options { jobs: self.settings.options.jobs, memory, ..self.settings.options.read.clone() };
        let files = self.host.watch();
        let opened = FleetInput::open(&*files, &task.path, &options.memory)
            .and_then(|mut input| self.read(page, task, &mut input, (&*files, &options)));
        unless_changed(&*files, &task.path, opened)
    }

    fn read(
        &self,
        page: &RunPage,
        task: &Task,
        input: &mut FleetInput<'_>,
        (files, options): (&dyn WatchedInputs, &Options),
    ) -> Result<Opened, NotMeasured> {
        let run = &self.report.runs[page.run];
        let read = input.read(Some(&task.display), options, self.host)?;
        if short(read.content) != content(&run.run_id) {
            return Err(NotMeasured::unreadable("its content differs from the measured one"));
        }
        let mut recording = read.export?;
        // Messages about the accompanying file were already printed.
        let beside = Beside::read(task, input, options, self.host, &mut Vec::new());
        recording.documents.extend(beside.tocs.into_iter().map(|toc| Document {
            input: task.display.clone(),
            content: DocumentContent::Toc(toc),
            cut_at: None,
        }));
        let mut analysis = Analysis::new(recording);
        self.name_frames(&mut analysis, input)?;
        let mut measure = self.settings.options.measure.clone();
        if let Some(asked) = &self.settings.intervals {
            let filter = asked.of(task, (analysis.recording(), input), (files, self.host), options, &mut Vec::new())?;
            measure.selection.intervals = Some(filter);
        }
        let intervals = all_intervals(task, (analysis.recording(), input), (files, self.host), options)?;
        let again = self.again(page, task, analysis.recording(), &measure)?;
        self.operated(analysis, (measure, intervals), again, task)
    }

    /// Symbolicates the recording in the same way as for the first measurement.
    fn name_frames(&self, analysis: &mut Analysis, input: &FleetInput<'_>) -> Result<(), NotMeasured> {
        let own = input.symbols();
        let Some(finder) = self.settings.symbols.finder(Some(&own)) else { return Ok(()) };
        let named = analysis.symbolicate(&finder, self.settings.symbols.options()).map(drop);
        self.settings.symbols.check()?;
        Ok(named?)
    }

    /// Measures the run in the same way as before.
    fn again(
        &self,
        page: &RunPage,
        task: &Task,
        recording: &Recording,
        measure: &MeasureOptions,
    ) -> Result<Again, NotMeasured> {
        let operations = (self.settings.options.operations)(&recording.profile);
        let mut context = context(task, of_file(&self.report.runs[page.run].run_id));
        let copy = match self.host.redaction() {
            Some(rules) => Some(redacted_copy(rules, recording, &mut context)?),
            None => None,
        };
        let named = copy.as_ref().map_or(recording, |(copy, _)| copy);
        let measured = named.measure_operated(&context, measure, &operations)?;
        let narrowed = self.settings.options.threads.as_ref();
        let question = Question { options: &self.report.options, narrowed };
        let row = &self.report.runs[page.run];
        let mut runs = measured.runs.into_iter().zip(measured.series);
        let (run, series) = runs
            .find(|(run, _)| run.record.run_id == row.run_id && question.weight(run) == row.weight)
            .ok_or_else(|| NotMeasured::malformed(otherwise_measured()))?;
        let of_run = (&named.profile, named.profile.series(series).run);
        let target = |place: &RunPlace| (place.clone(), Target::of(place, of_run, &question, &run));
        Ok((series, page.places.keys().map(target).collect()))
    }

    /// Applies operations, and redacts names if requested.
    fn operated(
        &self,
        mut analysis: Analysis,
        (measure, mut intervals): (MeasureOptions, Intervals),
        (series, targets): Again,
        task: &Task,
    ) -> Result<Opened, NotMeasured> {
        let profile = &analysis.recording().profile;
        let schema = profile.string(profile.series(series).schema).to_owned();
        let mut selection = measure.selection;
        selection.runs = vec![profile.run(profile.series(series).run).number];
        let (schemas, view, jobs) = (vec![schema], View::Summary, self.settings.options.jobs);
        let mut options = ReportOptions { selection, schemas, view, jobs, ..ReportOptions::default() };
        analysis.operate(&options, &self.settings.options.operations)?;
        if let Some(rules) = self.host.redaction() {
            let mut redactor = Redactor::new(rules.to_vec());
            for path in task.files() {
                redactor.hide_input(&path.display().to_string());
            }
            redactor.collect(analysis.recording());
            redactor.collect_intervals(&intervals);
            redactor.intervals(&mut intervals);
            analysis.redact(&mut redactor, &mut options)?;
        }
        let profile = &analysis.recording().profile;
        let trees = profile.budget().reserve(profile.stack_ids().len() as u64 * TREE_BYTES);
        // The page builds its trees itself, and the overview needs less memory.
        trees?;
        Ok(Opened { analysis, options, intervals, series, targets })
    }
}

/// Returns the context for measuring a file. Only the weights are used.
fn context(task: &Task, run_id: &str) -> RunContext {
    let (run_id, source) = (run_id.to_owned(), task.display.clone());
    RunContext { run_id, source, duration: task.duration, ..RunContext::default() }
}

/// Returns a recording with the same names as in the report, and its memory.
fn redacted_copy(
    rules: &[RedactRule],
    recording: &Recording,
    context: &mut RunContext,
) -> Result<(Recording, crate::memory::Reservation), NotMeasured> {
    let profile = &recording.profile;
    let reserved = profile.budget().reserve(profile.memory())?;
    let mut copy = recording.clone();
    redact(rules, &mut copy, context, &mut [])?;
    Ok((copy, reserved))
}

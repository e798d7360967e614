//! One recording and the steps applied to it, in the only valid order: symbolication, then operations.
//!
//! ```
//! use traceparse::Analysis;
//! use traceparse::recording::Options;
//! use traceparse::report::{ReportOptions, View};
//!
//! # let xml = br#"<?xml version="1.0"?>
//! # <trace-query-result>
//! # <node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name="time-profile"><col><mnemonic>time</mnemonic></col>
//! # <col><mnemonic>weight</mnemonic></col><col><mnemonic>stack</mnemonic></col></schema>
//! # <row><sample-time id="1" fmt="00:00.001">1000000</sample-time><weight id="2" fmt="1.00 ms">1000000</weight><backtrace
//! # id="3"><frame id="4" name="work" addr="0x1001"/><frame id="5" name="main" addr="0x2004"/></backtrace></row>
//! # </node></trace-query-result>"#;
//! let analysis = Analysis::new(traceparse::read(xml.as_slice(), "export.xml", &Options::default())?);
//! let report = analysis.report(&ReportOptions { view: View::Functions, ..ReportOptions::default() });
//! let heaviest = report.named_functions(&report.series[0]).next();
//! assert_eq!(heaviest.and_then(|function| function.name), Some("work"));
//! # Ok::<(), traceparse::Error>(())
//! ```

use std::path::Path;

use crate::calltree::{Operation, OperationSummary};
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::files::{FileSystem, Files, shown};
use crate::profile::{LabelledRange, Matcher, Profile, RebuildError, Selection, TimeRange};
use crate::recording::{Counter, Interval, Intervals, Recording};
use crate::redact::{Redacted, Redactor};
use crate::report::{Amount, Report, ReportOptions, SeparateBy, View};
use crate::symbolicate::{SymbolicateOptions, SymbolicationSummary};
use crate::symbols::{Index, Locator, SymbolFinder};
use crate::units::Nanos;

/// A recording with symbolication and operations applied. Its reports list the applied steps.
#[derive(Debug)]
pub struct Analysis {
    recording: Recording,
    symbolication: Option<SymbolicationSummary>,
    operations: Vec<OperationSummary>,
    /// What the selection of the operations excluded before they removed samples.
    excluded: Option<(Selection, Vec<Excluded>)>,
    redacted: Option<Vec<Redacted>>,
}

/// The samples of a series that filters excluded, and those in other thread states.
type Excluded = (Amount, Vec<(String, Amount)>);

impl Analysis {
    /// Creates the analysis of a recording, with no steps applied.
    pub fn new(recording: Recording) -> Self {
        Self { recording, symbolication: None, operations: Vec::new(), excluded: None, redacted: None }
    }

    /// Returns the recording in its current state.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Returns the recording in its final state.
    pub fn into_recording(self) -> Recording {
        self.recording
    }

    /// Symbolicates the frames.
    ///
    /// # Errors
    /// If operations were already applied, since they selected functions by their old names; or if the names do not fit the profile's tables or the
    /// memory budget.
    pub fn symbolicate(
        &mut self,
        finder: &dyn SymbolFinder,
        options: &SymbolicateOptions,
    ) -> Result<&SymbolicationSummary, RebuildError> {
        if !self.operations.is_empty() {
            return Err(RebuildError::OutOfOrder);
        }
        let (profile, summary) = self.recording.profile.symbolicate(finder, options)?;
        self.recording.profile = profile;
        Ok(self.symbolication.insert(summary))
    }

    /// Symbolicates the frames from the symbols at a path: a dSYM, a Mach-O file, a `.symbols` file, or a folder that is searched for them.
    /// Only files with the UUIDs of the recording's binaries are used; if none has them, a note in [`SymbolicationSummary::notes`] names both
    /// UUIDs. dSYM and Mach-O files need the feature `symbols`. Without it, they are an error, or a note if there are other symbols.
    ///
    /// ```no_run
    /// let mut analysis = traceparse::open("Recording.trace")?;
    /// println!("{}", analysis.add_symbols("App.dSYM")?);
    /// # Ok::<(), traceparse::Error>(())
    /// ```
    ///
    /// # Errors
    /// If no symbols are found at the path, or as [`symbolicate`](Self::symbolicate).
    pub fn add_symbols(&mut self, path: impl AsRef<Path>) -> Result<SymbolicationSummary, Error> {
        let path = path.as_ref();
        let locator = self.locate(&FileSystem, path)?;
        if locator.found().is_empty() {
            let none = || format!("{}: no symbols found", path.display());
            let why = locator.notes().first().map_or_else(none, ToString::to_string);
            return Err(Error::new(ErrorKind::NoSymbols(why), None));
        }
        let summary = self.add_located(&locator)?;
        let useless = summary.useless(&[path], locator.found());
        summary.notes.extend(useless.map(Diagnostic::new));
        Ok(summary.clone())
    }

    /// Finds the symbols at a path in `files`.
    pub(crate) fn locate<'f>(&self, files: &'f dyn Files, path: &Path) -> Result<Locator<'f>, Error> {
        let mut locator = Locator::new(files).within(self.recording.profile.budget());
        locator.add(path, &mut Index::default()).map_err(|source| Error::unreadable(shown(path), source))?;
        Ok(locator)
    }

    /// Symbolicates the frames from located symbol files.
    pub(crate) fn add_located(&mut self, locator: &Locator<'_>) -> Result<&mut SymbolicationSummary, Error> {
        self.symbolicate(locator, &SymbolicateOptions::default()).map_err(|error| match error {
            RebuildError::Memory(over) => Error::memory(over, None),
            other => Error::limit(other),
        })?;
        let summary = self.symbolication.get_or_insert_default();
        summary.notes.extend_from_slice(locator.notes());
        Ok(summary)
    }

    /// Returns CPU time as a percentage of one core over the recorded time, for the table with the most CPU time. Several cores can exceed 100.
    /// `None` if no table measures CPU time, or if the recorded time is unknown ([`Report::cpu_use`]).
    pub fn cpu_use(&self) -> Option<f64> {
        let report = self.report(&ReportOptions { view: View::Summary, ..ReportOptions::default() });
        let uses = report.series.iter().filter_map(|row| Some((row.counted.weight.value, report.cpu_use(row)?.0)));
        uses.max_by_key(|(weight, _)| *weight).map(|(_, percent)| percent)
    }

    /// Returns the total recorded time of all runs, or an estimate from the samples ([`Report::length`]). `None` if no time is known.
    pub fn duration(&self) -> Option<Nanos> {
        let report = self.report(&ReportOptions { view: View::Summary, ..ReportOptions::default() });
        report.length().map(|length| length.nanos)
    }

    /// Weights samples by the events of a performance counter instead of their recorded weights. Samples of tables without this counter get the
    /// weight 0; if no table has it, nothing changes. A recording's table of contents lists its counters.
    ///
    /// Returns, for each series, the number of samples without a value of this counter, or `None` if the series does not have the counter.
    ///
    /// # Errors
    /// If operations were already applied, since their effects were measured with the old weights; or if the values of a table do not fit in 64 bits.
    pub fn weigh_by_counter(&mut self, counter: &Counter) -> Result<Vec<Option<u64>>, RebuildError> {
        if !self.operations.is_empty() {
            return Err(RebuildError::OutOfOrder);
        }
        let places = self.recording.places_of_counter(counter);
        let without = self.recording.profile.weigh_by_counters(&places)?;
        Ok(places.into_iter().zip(without).map(|(place, without)| place.map(|_| without)).collect())
    }

    /// Applies operations in order. `choose` creates them from the symbolicated profile. Their effects are measured on the samples that the options
    /// select.
    ///
    /// # Errors
    /// If the new stacks do not fit the profile's tables or the memory budget.
    pub fn operate(
        &mut self,
        options: &ReportOptions,
        choose: impl FnOnce(&Profile) -> Vec<Operation>,
    ) -> Result<&[OperationSummary], RebuildError> {
        let profile = &self.recording.profile;
        let operations = choose(profile);
        if !operations.is_empty() {
            let (profile, summaries) = options.selection.on(profile).operate(&operations, options.metric)?;
            if self.excluded.is_none() {
                let before = self.recording.report(&ReportOptions { view: View::Summary, ..options.clone() });
                let excluded = before.series.into_iter().map(|series| (series.out_of_scope, series.other_states));
                self.excluded = Some((options.selection.clone(), excluded.collect()));
            }
            self.recording.profile = profile;
            self.operations.extend(summaries);
        }
        Ok(&self.operations)
    }

    /// Replaces names with pseudonyms. This must be the last step, since symbols, operations and filters use the original names. `options` are
    /// updated so that they still select the same processes, threads, intervals and function.
    ///
    /// # Errors
    /// If the new names do not fit the profile's tables or the memory budget.
    pub fn redact(&mut self, redactor: &mut Redactor, options: &mut ReportOptions) -> Result<(), RebuildError> {
        redactor.collect(&self.recording);
        let profile = &self.recording.profile;
        let selection = &mut options.selection;
        let named = options.function.as_deref();
        let function = named.and_then(|name| profile.function_ids().find(|&id| profile.function_name(id) == name));
        let chosen = |matchers: &mut Vec<Matcher>| {
            matchers.iter_mut().for_each(|matcher| *matcher = matcher.chosen_in(profile, matcher.text().to_owned()));
        };
        chosen(&mut selection.processes);
        chosen(&mut selection.threads);
        redactor.recording(&mut self.recording)?;
        let profile = &self.recording.profile;
        for matcher in selection.processes.iter_mut().filter(|matcher| !matcher.is_number()) {
            let names = matcher.processes(profile).into_iter().map(|id| profile.string(profile.process(id).name));
            *matcher = matcher.chosen_in(profile, listed(names));
        }
        for matcher in selection.threads.iter_mut().filter(|matcher| !matcher.is_number()) {
            let names = matcher.threads(profile).into_iter().map(|id| profile.string(profile.thread(id).name));
            *matcher = matcher.chosen_in(profile, listed(names));
        }
        selection.intervals = selection
            .intervals
            .take()
            .map(|filter| filter.renamed(|name| redactor.signpost_name(name).unwrap_or_else(|| name.to_owned())));
        if let Some(function) = function {
            options.function = Some(profile.function_name(function).to_owned());
        }
        for operation in &mut self.operations {
            operation.text = without_value(&operation.text);
        }
        if let Some(summary) = &mut self.symbolication {
            redactor.symbolication(summary);
        }
        self.redacted = Some(redactor.redacted());
        Ok(())
    }

    /// Labels each sample with the signpost or Swift task that was open on its thread, for reports that are
    /// [separated](ReportOptions::separate_by) by them. If several were open, the innermost is used. The intervals must come from the same
    /// inputs; task intervals are among the intervals of [all tables](Intervals::read_all). Redaction removes the labels. Returns the
    /// number of intervals that provide labels.
    ///
    /// # Errors
    /// If there are too many names.
    pub fn label_by(&mut self, separate_by: SeparateBy, intervals: &Intervals) -> Result<usize, RebuildError> {
        let label = |interval: &Interval| match separate_by {
            SeparateBy::Interval if interval.is_signpost() => interval.name.as_deref().map(str::to_owned),
            SeparateBy::Task => interval.running_task(),
            _ => None,
        };
        let distinct = intervals.distinct();
        let labelled: Vec<(&Interval, String)> =
            distinct.into_iter().filter_map(|interval| Some((interval, label(interval)?))).collect();
        let ranges = labelled.iter().filter_map(|(interval, label)| {
            let range = TimeRange { start: interval.start, end: interval.end };
            Some(LabelledRange { run: interval.run, tid: interval.tid?, range, label })
        });
        let ranges: Vec<LabelledRange<'_>> = ranges.collect();
        self.recording.profile.label_samples(&ranges)?;
        Ok(ranges.len())
    }

    /// Creates a report, including the effects of symbolication and operations.
    pub fn report(&self, options: &ReportOptions) -> Report<'_> {
        let mut report = self.recording.report(options);
        report.symbolication.clone_from(&self.symbolication);
        report.operations.clone_from(&self.operations);
        report.redacted.clone_from(&self.redacted);
        let excluded = self.excluded.as_ref().filter(|(of, _)| *of == options.selection || self.redacted.is_some());
        for (series, (out_of_scope, states)) in
            report.series.iter_mut().zip(excluded.into_iter().flat_map(|(_, of)| of))
        {
            series.out_of_scope = *out_of_scope;
            let left = std::mem::replace(&mut series.other_states, states.clone());
            for (_, amount) in states {
                series.removed_other_states.add(amount.weight.value, amount.samples);
            }
            for (_, Amount { weight, samples }) in left {
                let removed = &mut series.removed_other_states;
                removed.weight.value = removed.weight.value.saturating_sub(weight.value);
                removed.samples = removed.samples.saturating_sub(samples);
            }
        }
        // Sums do not record the times of the remaining samples.
        if self.recording.profile.sums().len() > 0 {
            for series in &mut report.series {
                let removed = OperationSummary::removed(&self.operations, series.series);
                series.times = series.times.filter(|_| removed.1 == 0);
            }
        }
        report
    }
}

/// Joins the distinct names, in order of appearance.
fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct.join(", ")
}

/// Returns the text of an operation without its names: `focus '…'`.
fn without_value(text: &str) -> String {
    text.split_once(" '").map_or_else(|| text.to_owned(), |(option, _)| format!("{option} '…'"))
}

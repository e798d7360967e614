//! Reads the chosen recordings, names their functions, and writes their payloads, like the command writes a page.

use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::PathBuf;

use traceparse::files::{Entry, Files};
use traceparse::output::WorkbenchOptions;
use traceparse::profile::RebuildError;
use traceparse::recording::{Intervals, Options, Recording, RecordingBuilder, SampleDetail};
use traceparse::report::{ReportOptions, View};
use traceparse::symbolicate::SymbolicateOptions;
use traceparse::symbols::{Index, Locator};
use traceparse::units::first_of;
use traceparse::{Analysis, Error, ErrorKind, Input, InputFiles, InputPlace};

use super::choice::{Choice, choose};
use super::files::CACHE;
use super::{Reading, pair, sentence, sum};
use crate::wire::U8s;

/// Reads the recordings among the files, within the memory limit. If they are too large to keep each sample, times are left out.
pub(crate) fn read(files: &dyn Files, options: &Options, is_swapped: bool) -> Result<Reading, Error> {
    let _cache = options.memory.reserve(CACHE).map_err(|over| Error::memory(over, None))?;
    let mut files = InputFiles::new(files, &options.memory);
    let choice = choose(&mut files, options)?;
    let mut places = Vec::new();
    for inputs in &choice.recordings {
        places.push(inputs.iter().map(|path| files.find(path)).collect::<Result<Vec<_>, _>>()?);
    }
    let open =
        |(path, place): (&PathBuf, &InputPlace)| Ok((path.display().to_string(), Input::open(&files, place, options)?));
    let chosen = choice.recordings.iter().zip(&places).map(|(inputs, places)| {
        let inputs = inputs.iter().zip(places).map(open).collect::<Result<Vec<_>, Error>>()?;
        Ok(Chosen { files: &files, choice: &choice, places, inputs })
    });
    let (chosen, mut failed): (Vec<_>, Vec<Error>) = divided(chosen);
    if chosen.is_empty() {
        return Err(failed.swap_remove(0));
    }
    let refused: Vec<String> = choice.refused.iter().chain(&failed).map(sentence).collect();
    let read = |options: &Options| {
        let (unmatched, refused) = (choice.unused.clone(), refused.clone());
        read_chosen(&chosen, options, is_swapped, Reading { unmatched, refused, ..Reading::default() })
    };
    if options.samples == SampleDetail::Each {
        match read(options) {
            Err(Error { kind: ErrorKind::Memory(_), .. }) => {}
            read => return read,
        }
    }
    let mut reading = read(&Options { samples: SampleDetail::Summed, ..options.clone() })?;
    reading.notes.push("too large to keep each sample in memory: times are left out".to_owned());
    Ok(reading)
}

/// Separates results from errors.
fn divided<T>(results: impl Iterator<Item = Result<T, Error>>) -> (Vec<T>, Vec<Error>) {
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(error) => errors.push(error),
        }
    }
    (values, errors)
}

/// Reads one recording, compares two, or sums several reports. What cannot be read is named, and the others are read without it.
fn read_chosen(
    chosen: &[Chosen<'_, '_>],
    options: &Options,
    is_swapped: bool,
    mut reading: Reading,
) -> Result<Reading, Error> {
    let mut loaded;
    if chosen.len() > 2 {
        (reading, loaded) = sum::of_reports(chosen, options, reading)?;
        if loaded.is_empty() {
            return Ok(reading);
        }
    } else {
        let mut failed;
        (loaded, failed) = divided(chosen.iter().map(|chosen| chosen.load(options, &mut reading)));
        let is_memory = |error: &Error| matches!(error.kind, ErrorKind::Memory(_));
        if let Some(fault) = failed.iter().position(is_memory).or_else(|| loaded.is_empty().then_some(0)) {
            return Err(failed.swap_remove(fault));
        }
        reading.refused.extend(failed.iter().map(sentence));
    }
    match (loaded.pop(), loaded.pop()) {
        (Some(second), Some(first)) => pair::compare([first, second], is_swapped, reading),
        (only, _) => only.map_or_else(|| Ok(Reading::default()), |only| only.written(reading)),
    }
}

/// A recording that was chosen, with its opened inputs by name.
pub(super) struct Chosen<'c, 'f> {
    files: &'c InputFiles<'f>,
    choice: &'c Choice,
    places: &'c [InputPlace],
    inputs: Vec<(String, Input<'c>)>,
}

/// A recording that was read, with its names.
pub(super) struct Loaded {
    /// The path of its first input.
    pub(super) name: String,
    pub(super) analysis: Analysis,
    pub(super) intervals: Intervals,
}

impl Loaded {
    /// Writes the payload of the only recording.
    pub(super) fn written(self, reading: Reading) -> Result<Reading, Error> {
        let Self { name, analysis, intervals } = self;
        let report = analysis.report(&ReportOptions { view: View::Summary, ..ReportOptions::default() });
        let page = WorkbenchOptions { intervals: Some(&intervals), ..WorkbenchOptions::default() };
        let payload = U8s(page.payload(&report).map_err(|error| Error::io(error, None))?);
        Ok(Reading { payload, title: name, ..reading })
    }
}

impl Chosen<'_, '_> {
    /// The path of its first input.
    pub(super) fn name(&self) -> &str {
        self.inputs.first().map_or("", |(name, _)| name)
    }

    /// A hash of its files, which is the same for copies.
    pub(super) fn content(&self) -> io::Result<u64> {
        const BLOCK: usize = 1 << 20;
        let mut hasher = DefaultHasher::new();
        for InputPlace::Bundle(path) | InputPlace::File(path) | InputPlace::WithToc { export: path, .. } in self.places
        {
            let Entry::File { length, .. } = self.files.entry(path)? else {
                return Err(io::ErrorKind::IsADirectory.into());
            };
            for offset in (0..length).step_by(BLOCK) {
                hasher.write(&self.files.read(path, offset, BLOCK)?);
            }
        }
        Ok(hasher.finish())
    }

    /// Reads the recording with its names, and adds sentences to `reading`.
    pub(super) fn load(&self, options: &Options, reading: &mut Reading) -> Result<Loaded, Error> {
        let mut recording = RecordingBuilder::new(options.clone());
        self.inputs.iter().try_for_each(|(name, input)| input.read_into(&mut recording, name))?;
        let recording = recording.finish()?;
        let warnings = recording.warnings();
        self.check(&recording, &warnings)?;
        reading.warnings.extend(warnings);
        if recording.profile.sums_or_samples().next().is_none() && !recording.has_percentiles() {
            reading.notes.push("the CPU tables have no rows".to_owned());
        }
        let mut analysis = Analysis::new(recording);
        self.symbolicate(&mut analysis, reading)?;
        let intervals = self.intervals(analysis.recording(), options)?;
        let messages = intervals.diagnostics.iter().map(ToString::to_string);
        let new: Vec<String> = messages.filter(|message| !reading.warnings.contains(message)).collect();
        reading.warnings.extend(new);
        Ok(Loaded { name: self.name().to_owned(), analysis, intervals })
    }

    /// Fails if there are no samples. The warnings explain the failure, so they are a part of it.
    fn check(&self, recording: &Recording, warnings: &[String]) -> Result<(), Error> {
        let is_bundle = self.inputs.iter().all(|(_, input)| input.bundle().is_some());
        let Some(reason) = recording.no_cpu_table(is_bundle).or_else(|| recording.no_readable_row()) else {
            return Ok(());
        };
        let reason = if warnings.is_empty() { reason } else { format!("{reason} ({})", first_of(warnings)) };
        Err(Error::new(ErrorKind::NotAnExport(reason), None))
    }

    /// Names functions by the symbols in the recording and by dropped symbols.
    fn symbolicate(&self, analysis: &mut Analysis, reading: &mut Reading) -> Result<(), Error> {
        let mut locator = Locator::new(self.files).within(analysis.recording().profile.budget());
        let stores: Vec<PathBuf> = self.inputs.iter().filter_map(|(_, input)| input.symbol_stores()).collect();
        for store in &stores {
            locator.add(store, &mut Index::default()).map_err(|error| Error::io(error, None))?;
        }
        let mut notes = locator.notes().to_vec();
        let mut named = Vec::new();
        for path in &self.choice.others {
            let before = locator.notes().len();
            let count = locator.add(path, &mut Index::default()).map_err(|error| Error::io(error, None))?;
            let new = &locator.notes()[before..];
            if count == 0 {
                let reason = new.first().map(ToString::to_string);
                let reason = reason.unwrap_or_else(|| format!("{}: no symbols found", path.display()));
                // Both recordings are searched with the same files.
                if !reading.unmatched.contains(&reason) {
                    reading.unmatched.push(reason);
                }
            } else {
                named.push(path.as_path());
                notes.extend_from_slice(new);
            }
        }
        if stores.is_empty() && named.is_empty() {
            return Ok(());
        }
        let summary = analysis.symbolicate(&locator, &SymbolicateOptions::default()).map_err(failed)?;
        reading.warnings.extend(Locator::sentences(&notes));
        reading.warnings.extend(summary.warnings(&named, locator.found()));
        Ok(())
    }

    /// The intervals of bundles, and of exports whose first reading found rows of intervals.
    fn intervals(&self, recording: &Recording, options: &Options) -> Result<Intervals, Error> {
        let mut found = Intervals::default();
        for (name, input) in &self.inputs {
            if input.bundle().is_some() || recording.has_intervals(name, true) {
                found.append(input.all_intervals(name, options)?);
            }
        }
        Ok(found)
    }
}

fn failed(error: RebuildError) -> Error {
    match error {
        RebuildError::Memory(over) => Error::memory(over, None),
        other => Error::new(ErrorKind::Limit(other.to_string()), None),
    }
}

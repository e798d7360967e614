//! Reads Instruments recordings (`.trace` bundles) directly, on any machine.
//!
//! Apple does not document this format. `docs/trace-bundles.md` describes the layout as implemented, and the recordings it was derived from.
//!
//! ```text
//! X.trace/form.template                        devices, processes, names, loaded images
//!   corespace/runN/core/table-manager/         the list of tables
//!     stores/indexed-store-K/                  schema, layout and rows of a table
//!     uniquing/                                the strings and arrays that rows refer to
//!   symbols/stores/UUID.symbolsarchive         names (the module `symbols` reads them)
//! ```
//!
//! The result is the same as from an XML export of the same tables: samples in a [`Profile`](crate::profile::Profile), with every row accounted
//! for. Frames are addresses in binaries, without names; `symbolicate` names them from [`Bundle::symbol_stores`].
//!
//! ```no_run
//! use std::path::Path;
//! use traceparse::bundle::Bundle;
//! use traceparse::recording::{Options, RecordingBuilder};
//! use traceparse::files::FileSystem;
//!
//! let bundle = Bundle::open(&FileSystem, Path::new("Recording.trace"), &Options::default())?;
//! let mut reader = RecordingBuilder::new(Options::default());
//! bundle.read_into(&mut reader, "Recording.trace")?;
//! let export = reader.finish()?;
//! println!("{} samples", export.profile.samples().len());
//! # Ok::<(), traceparse::Error>(())
//! ```
//!
//! The reader never guesses. If a file violates its format, the bundle is rejected with the file, the position and the rule. A table with
//! columns of an unknown type is left out, with a diagnostic.

mod archive;
mod binaries;
mod budget;
mod cores;
mod damage;
mod engineering_types;
mod file;
mod images;
mod inflating_thread;
mod keyed_archive;
mod keyed_collections;
mod layout;
mod narratives;
mod process_images;
mod property_list;
mod repeated_rows;
mod rows;
mod run;
mod run_data;
mod run_values;
mod sample_columns;
mod samples;
mod schema;
mod sorted_rows;
mod stacks;
mod strings;
mod table_rows;
mod tables;
mod template;
#[cfg(test)]
mod tests;
mod threads;
mod uniquer;
mod xml;

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Diagnostic, Error, ErrorKind};
use crate::files::{Files, shown};
use crate::readers::formats::is_folder;
use crate::recording::{Intervals, Options, RecordingBuilder, Toc, TocRun};
use crate::symbols::Broken;
use crate::tables::{IntervalVisitor, SampleVisitor, TableVisitor};
use binaries::Binaries;
use damage::{DamagedRun, ExportTable, RunFailure};
use file::{Content, Inflated, Room, broken_file};
use layout::read_schema;
use process_images::ProcessImages;
use run::{Run, SampleSources};
use run_data::RunData;
use template::Template;

pub use archive::{ArchiveLimits, BundleFiles};

/// A recording with its runs and tables. Rows are read on demand.
pub struct Bundle<'f> {
    files: &'f dyn Files,
    room: Room,
    path: PathBuf,
    runs: Vec<Run<'f>>,
    /// Runs whose tables could not be listed.
    damaged: Vec<DamagedRun>,
    /// `form.template`, if it exists.
    template: Option<Inflated>,
    diagnostics: Vec<Diagnostic>,
}

impl std::fmt::Debug for Bundle<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let runs: Vec<u32> = self.runs.iter().map(|run| run.number).collect();
        f.debug_struct("Bundle").field("path", &self.path).field("runs", &runs).finish_non_exhaustive()
    }
}

impl<'f> Bundle<'f> {
    /// Opens the bundle at a path and lists its runs and tables. Only the limits in `options` are used; with more than one
    /// [job](Options::jobs), a separate thread inflates rows. A damaged run is left out, with a diagnostic.
    ///
    /// # Errors
    /// If the path is not a bundle, the bundle was not saved, or no run is readable because files violate their format.
    pub fn open(files: &'f dyn Files, path: &Path, options: &Options) -> Result<Self, Error> {
        let room = Room::of(options);
        let bundle = Self {
            files,
            room,
            path: path.to_owned(),
            runs: Vec::new(),
            damaged: Vec::new(),
            template: None,
            diagnostics: Vec::new(),
        };
        let advise = |error| bundle.table_of(&error).advise(path, error);
        let (runs, damaged, is_unsaved) = bundle.open_runs(options).map_err(advise)?;
        let template = Content::open(files, &path.join("form.template"));
        let template = template.and_then(|content| content.map(|content| content.read_all(&bundle.room)).transpose());
        let template = template.map_err(advise)?;
        let mut bundle = Self { runs, damaged, template, ..bundle };
        let of_runs = bundle.runs.iter().flat_map(|run| run.diagnostics.iter().cloned());
        bundle.diagnostics = bundle.damaged.iter().map(|run| bundle.unread(run)).chain(of_runs).collect();
        if is_unsaved {
            bundle.note("the last run was not saved, and is left out (Instruments or xctrace ended before)");
        }
        let checked = bundle.check_template();
        checked.map_err(|error| bundle.advise(error))?;
        Ok(bundle)
    }

    /// Returns the readable runs, the damaged runs, and whether an unsaved run exists.
    fn open_runs(&self, options: &Options) -> Result<(Vec<Run<'f>>, Vec<DamagedRun>, bool), Error> {
        let (files, path) = (self.files, self.path.as_path());
        let corespace = path.join("corespace");
        let numbers = run_numbers(files, &corespace).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => no_bundle(path),
            _ => file::failed(&corespace, error),
        })?;
        let is_unsaved = rows::has_unsaved_run(files, &corespace, &self.room);
        if numbers.is_empty() {
            return Err(no_runs(path, is_unsaved));
        }
        let (mut runs, mut damaged) = (Vec::new(), Vec::new());
        for number in numbers {
            match Run::open(files, &corespace, number, options).map_err(RunFailure::before_rows) {
                Ok(run) => runs.push(run),
                Err(RunFailure::Run(error)) => damaged.push(DamagedRun { number, error }),
                Err(RunFailure::Recording(error)) => return Err(error),
            }
        }
        if runs.is_empty() {
            return Err(damaged.swap_remove(0).error);
        }
        Ok((runs, damaged, is_unsaved))
    }

    /// Finds the table that an error is about. For an error about a whole run, returns a table with samples.
    fn table_of(&self, error: &Error) -> ExportTable {
        let ErrorKind::BrokenBundle { file, .. } = &error.kind else { return ExportTable::default() };
        let file = Path::new(file);
        let below = file.strip_prefix(self.path.join("corespace")).ok();
        let run = below.and_then(|below| run_number(Path::new(below.iter().next()?)));
        let of_run = || Some(self.runs.iter().find(|known| Some(known.number) == run)?.main_schema()?.to_owned());
        let schema = file.parent().and_then(|folder| read_schema(self.files, folder, &self.room).ok());
        ExportTable { run, schema: schema.map(|schema| schema.name).or_else(of_run) }
    }

    fn advise(&self, error: Error) -> Error {
        self.table_of(&error).advise(&self.path, error)
    }

    /// The diagnostic for a left-out run.
    fn unread(&self, run: &DamagedRun) -> Diagnostic {
        run.diagnostic(&self.path, &self.table_of(&run.error))
    }

    /// Adds diagnostics for data that is missing from the recording.
    fn check_template(&mut self) -> Result<(), Error> {
        if self.template.is_none() {
            self.note("form.template is missing: frames have no binary, and threads have no names");
        } else if !self.ask(|template| template.has_images())? {
            self.note(
                "it has no image lists, so it comes from Instruments 10 or older, which is not supported: frames \
                 have neither binary nor name; record again with Instruments 11 or later",
            );
        }
        Ok(())
    }

    fn note(&mut self, text: &str) {
        self.diagnostics.push(Diagnostic::new(format!("{}: {text}", shown(&self.path))));
    }

    fn read_template(&self) -> Result<Template<'_>, Broken> {
        self.template.as_deref().map_or(Ok(Template::default()), Template::read)
    }

    /// Runs a query on `form.template`, which all runs share.
    fn ask<T>(&self, question: impl FnOnce(&Template<'_>) -> Result<T, Broken>) -> Result<T, Error> {
        let answer = self.read_template().and_then(|template| question(&template));
        answer.map_err(|broken| broken_file(&self.path.join("form.template"), &broken))
    }

    /// The path of the bundle.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder with the recording's symbols, for a [`Locator`](crate::symbols::Locator). It may not exist.
    pub fn symbol_stores(&self) -> PathBuf {
        self.path.join("symbols/stores")
    }

    /// The folder of [`symbol_stores`](Self::symbol_stores), if it exists.
    pub(super) fn existing_symbol_stores(&self) -> Option<PathBuf> {
        let stores = self.symbol_stores();
        is_folder(self.files, &stores).then_some(stores)
    }

    /// The number of compressed bytes that [`read_into`](Self::read_into) reads: the total of a progress display.
    pub fn sample_bytes(&self) -> u64 {
        self.runs.iter().map(Run::sample_bytes).sum()
    }

    /// The diagnostics so far. [`read_into`](Self::read_into) passes them to the reader, and may add more.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The table of contents: the contents of `xctrace export --toc` that are recorded, and the number of rows in each table.
    ///
    /// # Errors
    /// If a file violates its format.
    pub fn toc(&self) -> Result<Toc, Error> {
        let run = |run: &Run<'_>| Ok(TocRun { tables: run.contents.clone(), ..self.run_data(run.number)?.contents });
        let runs = self.runs.iter().map(run).collect::<Result<Vec<_>, Error>>();
        runs.and_then(|runs| self.with_damaged(runs)).map_err(|error| self.advise(error))
    }

    /// Merges the damaged runs into the opened ones, in order.
    fn with_damaged(&self, mut runs: Vec<TocRun>) -> Result<Toc, Error> {
        for run in &self.damaged {
            runs.push(TocRun { unread: Some(run.reason()), ..self.run_data(run.number)?.contents });
        }
        runs.sort_by_key(|run| run.number);
        Ok(Toc { runs })
    }

    fn run_data(&self, run: u32) -> Result<RunData, Error> {
        self.ask(|template| RunData::read(template, run.into()))
    }

    /// Reads the samples of all runs as one input of `recording`, with its options. `name` identifies the input in results and errors. If a
    /// run has a profile with rows, its raw samples (`time-sample`) are left out, since they cover the same time.
    ///
    /// A run that turns out to be damaged before its first row is left out, with a diagnostic and a reason in [`TocRun::unread`].
    ///
    /// # Errors
    /// If a file cannot be read, a limit is exceeded, or a file violates its format after the first row of a run was read or in every run with
    /// rows. Do not use the reader after an error.
    pub fn read_into(&self, recording: &mut RecordingBuilder, name: &str) -> Result<(), Error> {
        self.read_runs(recording, name).map_err(|error| self.advise(error))
    }

    fn read_runs(&self, recording: &mut RecordingBuilder, name: &str) -> Result<(), Error> {
        if let Some(choice) = recording.options.table.clone() {
            let mut visitor = SampleVisitor::new(&choice);
            self.read_tables(recording, name, &mut visitor)?;
            recording.diagnostics.extend(visitor.diagnostics);
            return Ok(());
        }
        let path = self.path.join("form.template");
        let in_template = |broken: Broken| broken_file(&path, &broken);
        let template = self.read_template().map_err(in_template)?;
        let mut input = recording.input(name)?;
        let (mut contents, mut images) = (Vec::new(), ProcessImages::new(&template));
        let with_samples = self.runs.iter().filter(|run| run.has_samples()).count();
        let (mut read, mut damaged) = (0, Vec::new());
        for run in &self.runs {
            let data = RunData::read(&template, run.number.into()).map_err(in_template)?;
            let binaries = Binaries::new(images, run.number, &data);
            let mut unread = None;
            let sources = SampleSources { template: &path, recorded: &data, binaries };
            images = match run.read(sources, &mut input, with_samples == 1) {
                Ok(binaries) => {
                    binaries.diagnostics(&self.path).into_iter().for_each(|note| input.note(note));
                    read += usize::from(run.has_samples());
                    binaries.into_images()
                }
                Err(RunFailure::Run(error)) => {
                    let run = DamagedRun { number: run.number, error };
                    input.note(self.unread(&run));
                    unread = Some(run.reason());
                    damaged.push(run);
                    ProcessImages::new(&template)
                }
                Err(RunFailure::Recording(error)) => return Err(error),
            };
            contents.push(TocRun { tables: run.contents.clone(), unread, ..data.contents });
        }
        if read == 0 {
            self.check_none_damaged(damaged)?;
        }
        self.diagnostics.iter().for_each(|note| input.note(note.clone()));
        input.finish(self.with_damaged(contents)?);
        Ok(())
    }

    /// Fails with the error of the first damaged run, if any. Called if nothing was read, since an empty result must not hide damage.
    fn check_none_damaged(&self, found: Vec<DamagedRun>) -> Result<(), Error> {
        let found = found.into_iter().next().map(|run| run.error);
        let known = || self.damaged.first().map(|run| Error::new(run.error.kind.clone(), None));
        found.or_else(known).map_or(Ok(()), Err)
    }

    /// Passes the rows of all tables of all runs to a visitor, in the order of the tables' stores. Adds the objects that rows refer to, and the
    /// samples that the visitor creates, to `recording`, as an input called `name`. A damaged run is left out, with a note.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into), and if the visitor fails.
    pub fn read_tables(
        &self,
        recording: &mut RecordingBuilder,
        name: &str,
        visitor: &mut dyn TableVisitor,
    ) -> Result<(), Error> {
        let damaged = self.pass_tables(recording, name, visitor).map_err(|error| self.advise(error))?;
        self.diagnostics.iter().for_each(|note| visitor.note(note.clone()));
        damaged.iter().for_each(|run| visitor.note(self.unread(run)));
        Ok(())
    }

    /// Passes rows to a visitor. Returns the damaged runs.
    fn pass_tables(
        &self,
        recording: &mut RecordingBuilder,
        name: &str,
        visitor: &mut dyn TableVisitor,
    ) -> Result<Vec<DamagedRun>, Error> {
        let path = self.path.join("form.template");
        let in_template = |broken: Broken| broken_file(&path, &broken);
        let template = self.read_template().map_err(in_template)?;
        let mut input = recording.input(name)?;
        let mut images = ProcessImages::new(&template);
        let mut damaged = Vec::new();
        for run in &self.runs {
            let data = RunData::read(&template, run.number.into()).map_err(in_template)?;
            let binaries = Binaries::new(images, run.number, &data);
            let sources = SampleSources { template: &path, recorded: &data, binaries };
            images = match run.pass_tables(sources, &mut input, visitor) {
                Ok(binaries) => {
                    binaries.diagnostics(&self.path).into_iter().for_each(|note| visitor.note(note));
                    binaries.into_images()
                }
                Err(RunFailure::Run(error)) => {
                    damaged.push(DamagedRun { number: run.number, error });
                    ProcessImages::new(&template)
                }
                Err(RunFailure::Recording(error)) => return Err(error),
            };
        }
        input.finish(self.toc()?);
        Ok(damaged)
    }

    /// Reads the signpost intervals, potential hangs and hang risks of all runs, the same as from exports of these tables. `name` identifies
    /// the input in results. Damaged runs are left out, with a diagnostic and an entry in [`Intervals::unread_runs`].
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn intervals(&self, name: &str, options: &Options) -> Result<Intervals, Error> {
        self.read_intervals(name, false, options).map_err(|error| self.advise(error))
    }

    /// Like [`intervals`](Self::intervals), but reads all tables that have a start and a duration.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn all_intervals(&self, name: &str, options: &Options) -> Result<Intervals, Error> {
        self.read_intervals(name, true, options).map_err(|error| self.advise(error))
    }

    fn read_intervals(&self, name: &str, is_of_all: bool, options: &Options) -> Result<Intervals, Error> {
        let mut visitor = IntervalVisitor::of_recording(name, is_of_all, &options.memory);
        let damaged = self.pass_tables(&mut RecordingBuilder::new(options.clone()), name, &mut visitor)?;
        let mut found = visitor.finish();
        for run in self.damaged.iter().chain(&damaged) {
            found.unread_runs.push(run.number);
            found.diagnostics.push(self.unread(run));
        }
        if found.tables.is_empty() {
            self.check_none_damaged(damaged)?;
        }
        Ok(found)
    }
}

/// Parses the run number in a folder name.
fn run_number(folder: &Path) -> Option<u32> {
    folder.file_name()?.to_str()?.strip_prefix("run")?.parse().ok()
}

/// The numbers of the saved runs, sorted.
fn run_numbers(files: &dyn Files, corespace: &Path) -> io::Result<Vec<u32>> {
    let mut numbers: Vec<u32> = files.list(corespace)?.iter().filter_map(|path| run_number(path)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

fn no_bundle(path: &Path) -> Error {
    let (export_it, path) = (ExportTable::default().how_to_export(path), shown(path));
    let text = format!(
        "{path}: it has no folder corespace: it was recorded by Instruments 8 or older, which is not supported, or \
         was not copied completely. Copy it again or record again; if it opens in Instruments, {export_it}"
    );
    Error::new(ErrorKind::UnsupportedBundle(text), None)
}

fn no_runs(path: &Path, is_unsaved: bool) -> Error {
    let path = shown(path);
    let text = match is_unsaved {
        true => format!(
            "{path}: the recording was never saved: Instruments or xctrace ended before it was done, or still records. Open it in \
             Instruments and save it, or record again"
        ),
        false => format!("{path}: it has no runs: nothing was recorded, or it was not copied completely"),
    };
    Error::new(ErrorKind::UnsupportedBundle(text), None)
}

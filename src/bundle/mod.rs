//! Reads the recordings of Instruments themselves (`.trace` bundles), on any machine.
//!
//! Instruments documents none of this; `docs/trace-bundles.md` has the layout as it is implemented, and what it was seen with.
//!
//! ```text
//! X.trace/form.template                        devices, processes, names, which image was where
//!   corespace/runN/core/table-manager/         which tables there are
//!     stores/indexed-store-K/                  schema, layout and rows of a table
//!     uniquing/                                the strings and arrays that rows refer to
//!   symbols/stores/UUID.symbolsarchive         names (the module `symbols` reads them)
//! ```
//!
//! What comes out is what the XML of the same tables gives: samples in a [`Profile`](crate::profile::Profile), with every row
//! accounted for. Frames have no names yet, only addresses in binaries; `symbolicate` names them from
//! [`Bundle::symbol_stores`].
//!
//! ```no_run
//! use std::path::Path;
//! use traceparse::bundle::Bundle;
//! use traceparse::export::{Options, Reader};
//! use traceparse::symbols::FileSystem;
//!
//! let bundle = Bundle::open(&FileSystem, Path::new("Recording.trace"), &Options::default())?;
//! let mut reader = Reader::new(Options::default());
//! bundle.read_into(&mut reader, "Recording.trace")?;
//! let export = reader.finish()?;
//! println!("{} samples", export.profile.samples().len());
//! # Ok::<(), traceparse::Error>(())
//! ```
//!
//! Nothing is guessed: a file that breaks a rule of its format refuses the bundle, with the file, the place, and the rule. A table
//! with columns of a type that is not known is left out, with a diagnostic.

mod ahead;
mod binaries;
mod budget;
mod columns;
mod cores;
mod dates;
mod file;
mod frames;
mod images;
mod intervals;
mod keyed_archive;
#[cfg(test)]
mod keyed_archive_tests;
mod keyed_collections;
mod layout;
mod numbers;
mod packed;
mod people;
mod process_images;
mod property_list;
mod row_error;
mod rows;
mod run;
mod run_data;
mod samples;
mod schema;
mod stacks;
mod strings;
mod tables;
mod template;
#[cfg(test)]
mod testing;
mod uniquer;

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Diagnostic, EXPORT_IT, Error, ErrorKind};
use crate::export::{Intervals, Options, Reader, Toc, TocRun};
use crate::symbols::{Broken, Files};
use binaries::Binaries;
use file::{Content, broken_file};
use process_images::ProcessImages;
use run::Run;
use run_data::RunData;
use template::Template;

pub use packed::{ArchiveLimits, BundleFiles};

/// A recording whose runs and tables are known; rows are read when they are asked for.
pub struct Bundle<'f> {
    path: PathBuf,
    runs: Vec<Run<'f>>,
    /// `form.template`, where there is one.
    template: Option<Vec<u8>>,
    diagnostics: Vec<Diagnostic>,
}

impl std::fmt::Debug for Bundle<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let runs: Vec<u32> = self.runs.iter().map(|run| run.number).collect();
        f.debug_struct("Bundle").field("path", &self.path).field("runs", &runs).finish_non_exhaustive()
    }
}

impl<'f> Bundle<'f> {
    /// Looks at the bundle at a path: its runs and tables. Of the options, the limits count, and with more than one
    /// [job](Options::jobs) rows are inflated by a thread of their own.
    ///
    /// # Errors
    /// When it is no bundle, was not saved, or breaks a rule of its format.
    pub fn open(files: &'f dyn Files, path: &Path, options: &Options) -> Result<Self, Error> {
        let limit = options.limits.file_bytes;
        let corespace = path.join("corespace");
        let numbers = run_numbers(files, &corespace).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => no_bundle(path),
            _ => file::failed(&corespace, error),
        })?;
        let is_unsaved = files.list(&corespace.join("currentRun/core/stores")).is_ok_and(|stores| !stores.is_empty());
        if numbers.is_empty() {
            return Err(no_runs(path, is_unsaved));
        }
        let runs = numbers.into_iter().map(|number| Run::open(files, &corespace, number, options));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        let template = Content::open(files, &path.join("form.template"))?;
        let template = template.map(|content| content.read_all(limit)).transpose()?;
        let diagnostics = runs.iter().flat_map(|run| run.diagnostics.iter().cloned()).collect();
        let mut bundle = Self { path: path.to_owned(), runs, template, diagnostics };
        if is_unsaved {
            bundle.note("the last run was not saved, and is left out (Instruments or xctrace ended before)");
        }
        bundle.check_template()?;
        Ok(bundle)
    }

    /// Notes what the recording does not tell.
    fn check_template(&mut self) -> Result<(), Error> {
        if self.template.is_none() {
            self.note("form.template is missing: frames have no binary, and threads have no names");
        } else if !self.ask(|template| template.has_images())? {
            self.note("it has no image lists (as Instruments 10 and older write none): frames have no binary");
        }
        Ok(())
    }

    fn note(&mut self, text: &str) {
        let message = format!("{}: {text}", self.path.display());
        self.diagnostics.push(Diagnostic { at: None, message, count: 1 });
    }

    fn read_template(&self) -> Result<Template<'_>, Broken> {
        self.template.as_deref().map_or(Ok(Template::default()), Template::read)
    }

    /// Asks the document around the runs.
    fn ask<T>(&self, question: impl FnOnce(&Template<'_>) -> Result<T, Broken>) -> Result<T, Error> {
        let answer = self.read_template().and_then(|template| question(&template));
        answer.map_err(|broken| broken_file(&self.path.join("form.template"), &broken))
    }

    /// Where the bundle is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder in which the recording keeps names, for a [`Locator`](crate::symbols::Locator). It may not be there.
    pub fn symbol_stores(&self) -> PathBuf {
        self.path.join("symbols/stores")
    }

    /// What was noticed; [`read_into`](Self::read_into) gives it to the reader, with more.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// What the recording holds, without the rows: the same that `xctrace export --toc` tells, as far as it is known, and how many
    /// rows tables have.
    ///
    /// # Errors
    /// When a file breaks a rule of its format.
    pub fn toc(&self) -> Result<Toc, Error> {
        let run = |run: &Run<'_>| Ok(TocRun { tables: run.contents.clone(), ..self.run_data(run.number)?.contents });
        Ok(Toc { runs: self.runs.iter().map(run).collect::<Result<_, Error>>()? })
    }

    fn run_data(&self, run: u32) -> Result<RunData, Error> {
        self.ask(|template| RunData::read(template, run.into()))
    }

    /// Reads the samples of all runs, as an input of `reader`, whose options count. `name` is how results and errors call it. Where a run has a profile with rows, its raw
    /// samples (`time-sample`), which are the same time once more, are left out.
    ///
    /// # Errors
    /// When a file breaks a rule of its format, cannot be read, or passes a limit. The reader is of no use after that.
    pub fn read_into(&self, reader: &mut Reader, name: &str) -> Result<(), Error> {
        let path = self.path.join("form.template");
        let in_template = |broken: Broken| broken_file(&path, &broken);
        let template = self.read_template().map_err(in_template)?;
        let mut intake = reader.intake(name)?;
        let (mut contents, mut images) = (Vec::new(), ProcessImages::new(&template));
        for run in &self.runs {
            let data = RunData::read(&template, run.number.into()).map_err(in_template)?;
            let binaries = run.read(&path, &data, Binaries::new(images, run.number), &mut intake)?;
            binaries.diagnostics(&self.path).into_iter().for_each(|note| intake.note(note));
            images = binaries.into_images();
            contents.push(TocRun { tables: run.contents.clone(), ..data.contents });
        }
        self.diagnostics.iter().for_each(|note| intake.note(note.clone()));
        intake.finish(Toc { runs: contents });
        Ok(())
    }

    /// Reads the intervals of signposts and the potential hangs of all runs. `name` is how results call the input.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn intervals(&self, name: &str) -> Result<Intervals, Error> {
        let mut found = Intervals::default();
        for run in &self.runs {
            run.read_intervals(name, &self.run_data(run.number)?, &mut found)?;
        }
        Ok(found)
    }
}

/// The numbers of the runs that were saved, sorted.
fn run_numbers(files: &dyn Files, corespace: &Path) -> io::Result<Vec<u32>> {
    let number = |path: &PathBuf| path.file_name()?.to_str()?.strip_prefix("run")?.parse().ok();
    let mut numbers: Vec<u32> = files.list(corespace)?.iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

fn no_bundle(path: &Path) -> Error {
    let path = path.display();
    let text = format!(
        "{path}: there is no folder corespace in it. It is no recording of Instruments 9 or later, or was not copied whole; if it \
         opens in Instruments, {EXPORT_IT}"
    );
    Error::new(ErrorKind::UnsupportedBundle(text), None)
}

fn no_runs(path: &Path, is_unsaved: bool) -> Error {
    let path = path.display();
    let text = match is_unsaved {
        true => format!(
            "{path}: the recording was never saved: Instruments or xctrace ended before it was done, or still records. Open it in \
             Instruments and save it, or record again"
        ),
        false => format!("{path}: there are no runs in it: nothing was recorded, or it was not copied whole"),
    };
    Error::new(ErrorKind::UnsupportedBundle(text), None)
}

//! Inputs: recordings, exports and standard input. The library recognises the kind of an input; this module adds progress, and ensures that inputs
//! neither change while they are read nor are overwritten.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use traceparse::decompress;
use traceparse::files::Files;
use traceparse::memory::{MemoryBudget, Reservation};
use traceparse::{Error, ErrorKind};
use traceparse::{Input, InputFiles, InputPlace};

use traceparse::recording::{Intervals, Options, Recording, RecordingBuilder, Toc};
use traceparse::tables::TableVisitor;

use crate::guard::will_read;
use crate::objects::place;
use crate::progress::{Counted, Progress, Watched};
use crate::resource_limits;
use crate::unchanged::{InputFile, WatchedFiles};

/// The local file system, in which archives that contain a recording appear as folders.
pub(crate) struct Mounted<'w> {
    watched: &'w WatchedFiles,
    files: Watched<InputFiles<'w>>,
    /// The inputs other than standard input, with their locations.
    places: Vec<(PathBuf, InputPlace)>,
}

impl<'w> Mounted<'w> {
    /// Opens the inputs at these paths. Fails if one is an output or changes while it is read.
    pub(crate) fn new<'p>(watched: &'w WatchedFiles, paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<Self> {
        let mut files = InputFiles::new(watched, &resource_limits::memory());
        // One check at the end: each asks for all files.
        let places = places(watched, paths, |path| Ok(files.find(path)?));
        let places = watched.unless_changed(places)?;
        Ok(Self { watched, files: Watched::new(files), places })
    }

    /// Adds tables of contents, which may be files with any content.
    pub(crate) fn with_files<'p>(mut self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<Self> {
        self.places.extend(places(self.watched, paths, |path| Ok(InputPlace::File(path.to_owned())))?);
        Ok(self)
    }
}

/// Registers inputs and locates each of them.
fn places<'p>(
    watched: &WatchedFiles,
    paths: impl IntoIterator<Item = &'p PathBuf>,
    mut find: impl FnMut(&Path) -> Result<InputPlace>,
) -> Result<Vec<(PathBuf, InputPlace)>> {
    let mut places = Vec::new();
    for path in paths {
        place(path)?;
        will_read(path)?;
        if !is_stdin(path) {
            watched.add_root(path);
            places.push((path.clone(), find(path)?));
        }
    }
    Ok(places)
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The inputs on the command line, with their recordings opened.
pub(crate) struct Inputs<'f> {
    watched: &'f WatchedFiles,
    files: &'f Watched<InputFiles<'f>>,
    /// By path: the inputs, without standard input.
    inputs: HashMap<PathBuf, Input<'f>>,
}

impl<'f> Inputs<'f> {
    /// Opens the recordings.
    pub(crate) fn open(mounted: &'f Mounted<'f>, options: &Options) -> Result<Self> {
        let (watched, files) = (mounted.watched, &mounted.files);
        let open = |(path, place): &(PathBuf, InputPlace)| Ok((path.clone(), Input::open(files, place, options)?));
        let inputs = watched.unless_changed(mounted.places.iter().map(open).collect())?;
        Ok(Self { watched, files, inputs })
    }

    /// The file system in which archives appear as folders.
    pub(crate) fn files(&self) -> &'f dyn Files {
        self.files
    }

    /// The watched local files, for noticing changes.
    pub(crate) fn watched(&self) -> &'f WatchedFiles {
        self.watched
    }

    /// Returns the result of reading. If an input changed after it was named, returns that as the error.
    pub(crate) fn unless_changed<T>(&self, result: Result<T>) -> Result<T> {
        self.watched.unless_changed(result)
    }

    /// Reads all of these inputs into one recording.
    pub(crate) fn read_all(&self, paths: &[PathBuf], options: &Options) -> Result<Recording> {
        let mut recording = RecordingBuilder::new(options.clone());
        let mut read = |path: &PathBuf, name: &str| match self.input(path) {
            Some(input) => self.ask(input, name, input.bytes(), || input.read_into(&mut recording, name)),
            None => read_stdin(|source| Ok(recording.read(source, name)?)),
        };
        let read = paths.iter().try_for_each(|path| read(path, &path.display().to_string()));
        self.unless_changed(read.and_then(|()| Ok(recording.finish()?)))
    }

    /// Reads the signposts and hangs of all of these inputs.
    pub(crate) fn read_intervals(&self, paths: &[PathBuf], options: &Options) -> Result<Intervals> {
        self.read_stretches(paths, options, |input, name| input.intervals(name, options))
    }

    /// Like [`read_intervals`](Self::read_intervals), with the rows of all tables that have a start and a duration. Standard input only provides
    /// signposts and hangs.
    pub(crate) fn read_all_intervals(&self, paths: &[PathBuf], options: &Options) -> Result<Intervals> {
        self.read_stretches(paths, options, |input, name| input.all_intervals(name, options))
    }

    fn read_stretches(
        &self,
        paths: &[PathBuf],
        options: &Options,
        ask: impl Fn(&Input<'_>, &str) -> Result<Intervals, Error>,
    ) -> Result<Intervals> {
        let mut found = Intervals::default();
        let read = |path: &PathBuf, name: &str| match self.input(path) {
            Some(input) => self.ask(input, name, self.interval_bytes(input), || ask(input, name)),
            None => read_stdin(|source| Ok(Intervals::read(source, name, options)?)),
        };
        let mut add = |path: &PathBuf| read(path, &path.display().to_string()).map(|intervals| found.append(intervals));
        self.unless_changed(paths.iter().try_for_each(&mut add))?;
        Ok(found)
    }

    /// Reads the contents of all of these inputs: the tables of contents of recordings, and exports completely.
    pub(crate) fn contents(&self, paths: &[PathBuf], options: &Options) -> Result<Recording> {
        let mut contents = Recording::default();
        let read = |path: &PathBuf, name: &str| match self.input(path) {
            Some(input) => self.ask(input, name, input.bytes(), || input.contents(name, options)),
            None => read_stdin(|source| Ok(traceparse::read(source, name, options)?)),
        };
        let read = paths.iter().map(|path| read(path, &path.display().to_string())).collect::<Result<Vec<_>>>();
        for of_input in self.unless_changed(read)? {
            contents.documents.extend(of_input.documents);
            contents.diagnostics.extend(of_input.diagnostics);
        }
        Ok(contents)
    }

    /// Passes the tables of all of these inputs to a visitor. `begin` is called with the name of each input before its tables. `piped` is the content
    /// of standard input, if it was already read.
    pub(crate) fn read_tables<V: TableVisitor>(
        &self,
        paths: &[PathBuf],
        options: &Options,
        piped: Option<&[u8]>,
        visitor: &mut V,
        begin: impl Fn(&mut V, &str),
    ) -> Result<Recording> {
        let mut recording = RecordingBuilder::new(options.clone());
        let mut read = |path: &PathBuf, name: &str| {
            begin(visitor, name);
            match (self.input(path), piped) {
                (Some(input), _) => {
                    let bytes = self.interval_bytes(input);
                    self.ask(input, name, bytes, || input.read_tables(&mut recording, name, visitor))
                }
                (None, Some(bytes)) => Ok(recording.read_tables(bytes, name, visitor)?),
                (None, None) => read_stdin(|source| Ok(recording.read_tables(source, name, visitor)?)),
            }
        };
        let read = paths.iter().try_for_each(|path| read(path, &path.display().to_string()));
        self.unless_changed(read.and_then(|()| Ok(recording.finish()?)))
    }

    /// Reads from an input while showing the progress in bytes.
    fn ask<T>(
        &self,
        input: &Input<'_>,
        name: &str,
        bytes: Option<u64>,
        ask: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T> {
        let answer = self.files.while_reading(Progress::new(name, bytes), ask);
        answer.map_err(|error| if input.bundle().is_none() { not_opened(error) } else { error.into() })
    }

    /// The size to show in the progress; `None` for recordings, since the library does not report how much of a recording it reads for intervals.
    fn interval_bytes(&self, input: &Input<'_>) -> Option<u64> {
        if input.bundle().is_none() { input.bytes() } else { None }
    }

    /// The opened input at a path; `None` for standard input.
    fn input(&self, path: &Path) -> Option<&Input<'f>> {
        let input = self.inputs.get(path);
        debug_assert!(input.is_some() || is_stdin(path), "{} was not mounted", path.display());
        input
    }

    /// True if an input is a recording, not an export.
    pub(crate) fn is_bundle(&self, path: &Path) -> bool {
        self.input(path).is_some_and(|input| input.bundle().is_some())
    }

    /// The table of contents of a recording; `None` for exports.
    pub(crate) fn toc(&self, path: &Path) -> Option<Toc> {
        self.input(path)?.bundle()?.toc().ok()
    }

    /// The folders with the bundled symbols of the recordings among these inputs.
    pub(crate) fn symbol_stores(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        paths.iter().filter_map(|path| self.input(path)?.symbol_stores()).collect()
    }
}

/// Calls `read` with decompressed standard input, and shows the progress if it takes long.
fn read_stdin<T>(read: impl FnOnce(Box<dyn Read + Send + '_>) -> Result<T>) -> Result<T> {
    let file = InputFile::open(Path::new("-"))?;
    let mut progress = Progress::new("-", file.length());
    let source = Counted { source: &file, add: |count| progress.add(count) };
    let source = decompress(source, &resource_limits::memory()).context("-: cannot be read");
    file.unless_changed(source.and_then(read))
}

/// Reads all of standard input, decompressed.
pub(crate) fn read_whole_stdin(memory: &MemoryBudget) -> Result<(Vec<u8>, Reservation)> {
    let (mut bytes, mut reserved) = (Vec::new(), memory.nothing());
    read_stdin(|mut source| {
        while source.by_ref().take(1 << 20).read_to_end(&mut bytes).context("-: cannot be read")? > 0 {
            reserved.resize(bytes.capacity() as u64)?;
        }
        Ok(())
    })?;
    Ok((bytes, reserved))
}

/// Converts the error for a file that could not be opened to the command's own wording.
fn not_opened(error: Error) -> anyhow::Error {
    match error {
        Error { kind: ErrorKind::Unreadable { file }, source: Some(source), .. } if source.is::<io::Error>() => {
            anyhow!(source).context(format!("{file}: cannot be opened"))
        }
        other => other.into(),
    }
}

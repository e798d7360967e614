//! Recordings among the inputs: their folders, also in archives.

use std::path::{Path, PathBuf};

use anyhow::Result;
use traceparse::bundle::{ArchiveLimits, Bundle, BundleFiles};
use traceparse::files::{Entry, Files};
use traceparse::recording::{Document, DocumentContent, Intervals, Options, Recording, RecordingBuilder};

use crate::bounds;
use crate::guard::will_read;
use crate::inputs::read_file;
use crate::progress::{Progress, Watched};
use crate::unchanged::WatchedFiles;

/// The files of the machine, in which archives that have a recording are folders.
pub(crate) struct Mounted<'w> {
    watched: &'w WatchedFiles,
    files: Watched<BundleFiles<'w>>,
    /// Inputs that are recordings, and where the recording is.
    bundles: Vec<(PathBuf, PathBuf)>,
}

impl<'w> Mounted<'w> {
    /// Looks which of these are recordings. None of them may be an output, or change from now on.
    pub(crate) fn new<'p>(watched: &'w WatchedFiles, paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<Self> {
        let limits = ArchiveLimits { memory: bounds::memory(), ..ArchiveLimits::default() };
        let (mut files, mut bundles) = (BundleFiles::with_limits(watched, limits), Vec::new());
        for path in paths {
            will_read(path)?;
            if path.as_os_str() != "-" {
                watched.add_root(path);
                let bundle = watched.unless_changed(files.mount(path).map_err(Into::into))?;
                bundles.extend(bundle.map(|bundle| (path.clone(), bundle)));
            }
        }
        Ok(Self { watched, files: Watched::new(files), bundles })
    }
}

/// The inputs named on the command line, with recordings opened once.
pub(crate) struct Inputs<'f> {
    watched: &'f WatchedFiles,
    files: &'f Watched<BundleFiles<'f>>,
    /// By the name of the input.
    bundles: Vec<(PathBuf, Bundle<'f>)>,
}

impl<'f> Inputs<'f> {
    /// Opens the recordings.
    pub(crate) fn open(mounted: &'f Mounted<'f>, options: &Options) -> Result<Self> {
        let (watched, files) = (mounted.watched, &mounted.files);
        let open = |(input, path): &(PathBuf, PathBuf)| Ok((input.clone(), Bundle::open(files, path, options)?));
        let bundles = watched.unless_changed(mounted.bundles.iter().map(open).collect())?;
        Ok(Self { watched, files, bundles })
    }

    /// The file system in which archives are folders.
    pub(crate) fn files(&self) -> &'f dyn Files {
        self.files
    }

    /// The files of the machine that are compared with what they were.
    pub(crate) fn watched(&self) -> &'f WatchedFiles {
        self.watched
    }

    /// The result of reading, unless an input changed since it was named: the change is then the error.
    pub(crate) fn unless_changed<T>(&self, result: Result<T>) -> Result<T> {
        self.watched.unless_changed(result)
    }

    /// Reads the samples of a recording.
    pub(crate) fn read_bundle(&self, bundle: &Bundle<'_>, recording: &mut RecordingBuilder, name: &str) -> Result<()> {
        let progress = Progress::new(name, Some(bundle.sample_bytes()));
        Ok(self.files.while_reading(progress, || bundle.read_into(recording, name))?)
    }

    /// Reads the intervals of a recording.
    pub(crate) fn read_intervals(&self, bundle: &Bundle<'_>, name: &str) -> Result<Intervals> {
        Ok(self.files.while_reading(Progress::new(name, None), || bundle.intervals(name))?)
    }

    /// The recording that an input is; `None` for exports.
    pub(crate) fn bundle(&self, input: &Path) -> Option<&Bundle<'f>> {
        self.bundles.iter().find(|(known, _)| known == input).map(|(_, bundle)| bundle)
    }

    /// The folders in which the recordings among these inputs keep the symbols of what they sampled.
    pub(crate) fn symbol_stores(&self, inputs: &[PathBuf]) -> Vec<PathBuf> {
        let stores = inputs.iter().filter_map(|input| self.bundle(input)).map(Bundle::symbol_stores);
        stores.filter(|path| matches!(self.files.entry(path), Ok(Entry::Folder))).collect()
    }

    /// The contents of inputs: of recordings their tables of contents, of exports all of it.
    pub(crate) fn contents(&self, inputs: &[PathBuf], options: &Options) -> Result<Recording> {
        self.unless_changed(self.read_contents(inputs, options))
    }

    fn read_contents(&self, inputs: &[PathBuf], options: &Options) -> Result<Recording> {
        let mut contents = Recording::default();
        for input in inputs {
            let Some(bundle) = self.bundle(input) else {
                let export = read_file(input, options)?;
                contents.documents.extend(export.documents);
                contents.diagnostics.extend(export.diagnostics);
                continue;
            };
            let content = DocumentContent::Toc(bundle.toc()?);
            contents.documents.push(Document { input: input.display().to_string(), content, cut_at: None });
            contents.diagnostics.extend_from_slice(bundle.diagnostics());
        }
        Ok(contents)
    }
}

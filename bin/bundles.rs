//! Recordings among the inputs: their folders, also in archives.

use std::path::{Path, PathBuf};

use anyhow::Result;
use traceparse::bundle::{ArchiveLimits, Bundle, BundleFiles};
use traceparse::export::{Document, DocumentContent, Export, Intervals, Options, Reader};
use traceparse::symbols::{Entry, FileSystem, Files};

use crate::bounds;
use crate::inputs::read_file;
use crate::progress::{Progress, Watched};

/// The files of the machine, in which archives that have a recording are folders.
pub(crate) struct Mounted {
    files: Watched<BundleFiles<'static>>,
    /// Inputs that are recordings, and where the recording is.
    bundles: Vec<(PathBuf, PathBuf)>,
}

impl Mounted {
    /// Looks which of these are recordings.
    pub(crate) fn new<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<Self> {
        let limits = ArchiveLimits { memory: bounds::memory(), ..ArchiveLimits::default() };
        let (mut files, mut bundles) = (BundleFiles::with_limits(&FileSystem, limits), Vec::new());
        for path in paths.into_iter().filter(|path| path.as_os_str() != "-") {
            bundles.extend(files.mount(path)?.map(|bundle| (path.clone(), bundle)));
        }
        Ok(Self { files: Watched::new(files), bundles })
    }
}

/// What was named on the command line, with recordings opened once.
pub(crate) struct Inputs<'f> {
    files: &'f Watched<BundleFiles<'static>>,
    /// By the name of the input.
    bundles: Vec<(PathBuf, Bundle<'f>)>,
}

impl<'f> Inputs<'f> {
    /// Opens the recordings.
    pub(crate) fn open(mounted: &'f Mounted, options: &Options) -> Result<Self> {
        let files = &mounted.files;
        let open = |(input, path): &(PathBuf, PathBuf)| Ok((input.clone(), Bundle::open(files, path, options)?));
        Ok(Self { files, bundles: mounted.bundles.iter().map(open).collect::<Result<_>>()? })
    }

    /// The file system in which archives are folders.
    pub(crate) fn files(&self) -> &'f dyn Files {
        self.files
    }

    /// Reads the samples of a recording.
    pub(crate) fn read_bundle(&self, bundle: &Bundle<'_>, reader: &mut Reader, name: &str) -> Result<()> {
        let progress = Progress::new(name, Some(bundle.sample_bytes()));
        Ok(self.files.while_reading(progress, || bundle.read_into(reader, name))?)
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

    /// What inputs hold: of recordings their tables of contents, of exports all of it.
    pub(crate) fn contents(&self, inputs: &[PathBuf], options: &Options) -> Result<Export> {
        let mut contents = Export::default();
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

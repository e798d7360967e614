//! Opens an input by path: a bundle, as a folder or in an archive, or a file in any other format.
//!
//! ```no_run
//! use std::path::Path;
//! use traceparse::files::FileSystem;
//! use traceparse::{Input, InputFiles};
//! use traceparse::recording::{Options, RecordingBuilder};
//!
//! let options = Options::default();
//! let mut files = InputFiles::new(&FileSystem, &options.memory);
//! let place = files.find(Path::new("Recording.trace.zip"))?;
//! let mut recording = RecordingBuilder::new(options.clone());
//! // A file system that wraps `files` could observe all reads.
//! Input::open(&files, &place, &options)?.read_into(&mut recording, "Recording.trace.zip")?;
//! println!("{} samples", recording.finish()?.profile.samples().len());
//! # Ok::<(), traceparse::Error>(())
//! ```

#[cfg(feature = "bundle")]
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

#[cfg(feature = "bundle")]
use super::bundle::{ArchiveLimits, Bundle, BundleFiles};
use super::formats::{self, is_bundle, is_folder};
use super::names;
use crate::error::{Error, ErrorKind};
use crate::files::{Entry, Files, FilesAdaptor, shown};
use crate::memory::MemoryBudget;
#[cfg(feature = "bundle")]
use crate::recording::{Document, DocumentContent};
use crate::recording::{Intervals, Options, Recording, RecordingBuilder, shell_word};
use crate::settings::{self, DSYM};
use crate::tables::TableVisitor;

/// The location of an input in [`InputFiles`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputPlace {
    /// The folder of a bundle, which may be in an archive.
    #[cfg(feature = "bundle")]
    Bundle(PathBuf),
    /// A file in another format, which may be in an archive. If it does not exist, reading it fails.
    File(PathBuf),
    /// An export and its table of contents, in the same archive.
    #[cfg(feature = "bundle")]
    WithToc {
        /// The export.
        export: PathBuf,
        /// The table of contents.
        toc: PathBuf,
    },
}

/// A file system that finds inputs. An archive that contains one is treated as a folder; everything else is unchanged.
pub struct InputFiles<'f> {
    #[cfg(feature = "bundle")]
    files: BundleFiles<'f>,
    /// Exports in archives, with their tables of contents.
    #[cfg(feature = "bundle")]
    tocs: HashMap<PathBuf, PathBuf>,
    #[cfg(not(feature = "bundle"))]
    files: &'f dyn Files,
}

impl std::fmt::Debug for InputFiles<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InputFiles").finish_non_exhaustive()
    }
}

impl<'f> InputFiles<'f> {
    /// Wraps `base`. The memory of archives is charged to the budget.
    pub fn new(base: &'f dyn Files, memory: &MemoryBudget) -> Self {
        #[cfg(feature = "bundle")]
        let limits = ArchiveLimits { memory: memory.clone(), ..ArchiveLimits::default() };
        #[cfg(feature = "bundle")]
        return Self { files: BundleFiles::with_limits(base, limits), tocs: HashMap::new() };
        #[cfg(not(feature = "bundle"))]
        let (files, _) = (base, memory);
        #[cfg(not(feature = "bundle"))]
        Self { files }
    }

    /// True for the name of a recording, an export or a report. A folder has many other files, so only those with such a name are worth opening.
    pub fn is_input_name(path: &Path) -> bool {
        names::is_input_name(path)
    }

    /// Finds the input at a path by its content, not by its name. In an archive without a recording, finds the only export or report, and the
    /// table of contents of an export; other files beside it are ignored.
    ///
    /// # Errors
    /// If an archive is unusable, or has several inputs ([`BundleFiles::mount`](crate::bundle::BundleFiles::mount)).
    #[cfg(feature = "bundle")]
    pub fn find(&mut self, path: &Path) -> Result<InputPlace, Error> {
        let mut tocs = Vec::new();
        let found = self.files.mount_input(path, |files, paths| {
            let packed = Packed::among(files, paths);
            match packed.tocs.len() {
                1 if !packed.inputs.is_empty() => tocs = packed.tocs,
                _ => return [packed.inputs, packed.tocs].concat(),
            }
            packed.inputs
        })?;
        let Some(found) = found else { return Ok(InputPlace::File(path.to_owned())) };
        if is_folder(&self.files, &found) {
            return Ok(InputPlace::Bundle(found));
        }
        let is_export = || formats::what(&self.file(&found).head()).is_none();
        let toc = tocs.pop().filter(|_| is_export());
        self.tocs.extend(toc.map(|toc| (found.clone(), toc)));
        Ok(match self.tocs.get(&found).cloned() {
            Some(toc) => InputPlace::WithToc { export: found, toc },
            None => InputPlace::File(found),
        })
    }

    #[cfg(feature = "bundle")]
    fn file(&self, path: &Path) -> InputFile<'_> {
        InputFile { files: &self.files, path: path.to_owned(), memory: self.files.memory().clone() }
    }

    /// Finds the input at a path.
    ///
    /// # Errors
    /// If it is a bundle, since this build cannot read bundles.
    #[cfg(not(feature = "bundle"))]
    pub fn find(&mut self, path: &Path) -> Result<InputPlace, Error> {
        if is_folder(self.files, path) && is_bundle(self.files, path) {
            let add = crate::error::add_feature("bundle");
            let what = format!("{}: this is a recording (.trace); to read it, {add}", path.display());
            return Err(Error::new(ErrorKind::UnsupportedBundle(what), None));
        }
        Ok(InputPlace::File(path.to_owned()))
    }
}

/// The most files in an archive that are examined whatever their names are.
#[cfg(feature = "bundle")]
const MOST_WITH_ANY_NAME: usize = 100;
/// More bytes than the start of an element that is searched.
#[cfg(feature = "bundle")]
const OVERLAP: usize = 32;
/// The most bytes of an archive's files that are examined.
#[cfg(feature = "bundle")]
const MOST_EXAMINED: usize = 64 << 20;

/// The files of an archive that are read.
#[cfg(feature = "bundle")]
struct Packed {
    /// The exports and reports, and all files that may be one, so that a damaged input is not passed over for another.
    inputs: Vec<PathBuf>,
    /// The tables of contents.
    tocs: Vec<PathBuf>,
}

#[cfg(feature = "bundle")]
impl Packed {
    /// Finds them among these files. If there is only one file, it is an input, whose reader reports what is wrong with it.
    fn among(files: &BundleFiles<'_>, mut paths: Vec<PathBuf>) -> Self {
        /// What each file counts at least, since opening it takes time.
        const LEAST: usize = 1 << 10;
        if paths.len() > MOST_WITH_ANY_NAME {
            paths.retain(|path| names::may_be_input(path));
        }
        if paths.len() == 1 {
            return Self { inputs: paths, tocs: Vec::new() };
        }
        let (mut examined, mut tocs) = (0, Vec::new());
        paths.retain(|path| {
            let (mut head, has_name) = (Vec::new(), names::may_be_input(path));
            if examined > MOST_EXAMINED {
                return has_name;
            }
            let file = InputFile { files, path: path.clone(), memory: files.memory().clone() };
            let read = file.read_head(&mut head);
            examined += head.len().max(LEAST);
            match () {
                // A text may quote the elements of exports.
                () if !formats::is_xml(&head) && formats::what(&head).is_none() && !has_name => false,
                () if formats::is_toc(&head) && !file.has_tables_after(&head) => {
                    tocs.push(path.clone());
                    false
                }
                () if formats::is_readable(&head) => true,
                () if names::is_text_name(path) => read.is_err() || formats::is_damaged_text(&head),
                () => has_name && (read.is_err() || !formats::is_other_xml(&head)),
            }
        });
        Self { inputs: paths, tocs }
    }
}

/// An opened input. It can be read any number of times, unless it is a pipe.
#[derive(Debug)]
pub struct Input<'f>(Content<'f>);

#[derive(Debug)]
enum Content<'f> {
    #[cfg(feature = "bundle")]
    Bundle(Bundle<'f>),
    /// A file, and an export's table of contents, which is read after it.
    File(InputFile<'f>, Option<InputFile<'f>>),
}

impl<'f> Input<'f> {
    /// Opens the input at a place. `files` must be the file system that found it, or a wrapper around it.
    ///
    /// # Errors
    /// If a bundle cannot be opened.
    pub fn open(files: &'f dyn Files, place: &InputPlace, options: &Options) -> Result<Self, Error> {
        let file = |path: &PathBuf| InputFile { files, path: path.clone(), memory: options.memory.clone() };
        Ok(Self(match place {
            #[cfg(feature = "bundle")]
            InputPlace::Bundle(path) => Content::Bundle(Bundle::open(files, path, options)?),
            InputPlace::File(path) => Content::File(file(path), None),
            #[cfg(feature = "bundle")]
            InputPlace::WithToc { export, toc } => Content::File(file(export), Some(file(toc))),
        }))
    }

    /// True for a bundle, and for a file that starts like an export or a report that this crate reads. Other files are not recordings, or damaged
    /// ones, and [`read_into`](Self::read_into) reports which.
    pub fn is_recognised(&self) -> bool {
        self.file().is_none_or(|file| formats::is_readable(&file.head()))
    }

    /// True if the input is a table of contents, which can accompany an export.
    pub fn is_toc(&self) -> bool {
        self.file().is_some_and(|file| formats::is_toc(&file.head()))
    }

    fn file(&self) -> Option<&InputFile<'f>> {
        match &self.0 {
            #[cfg(feature = "bundle")]
            Content::Bundle(_) => None,
            Content::File(file, _) => Some(file),
        }
    }

    /// The number of bytes that [`read_into`](Self::read_into) reads, for a progress display; `None` if unknown.
    pub fn bytes(&self) -> Option<u64> {
        match &self.0 {
            #[cfg(feature = "bundle")]
            Content::Bundle(bundle) => Some(bundle.sample_bytes()),
            Content::File(file, _) => file.bytes(),
        }
    }

    /// Reads the samples. `name` identifies the input in results and errors; a table of contents in the same archive has its own name below it.
    ///
    /// # Errors
    /// If the input is unreadable, has an unknown format, violates its format, or exceeds a limit.
    pub fn read_into(&self, recording: &mut RecordingBuilder, name: &str) -> Result<(), Error> {
        match &self.0 {
            #[cfg(feature = "bundle")]
            Content::Bundle(bundle) => bundle.read_into(recording, name),
            Content::File(file, toc) => {
                recording.read(file.open()?, name)?;
                toc.iter().try_for_each(|toc| recording.read(toc.open()?, &shown(&toc.path)))
            }
        }
    }

    /// Passes the rows of all tables to a visitor. Adds the objects that rows refer to, and the samples that the visitor creates, to
    /// `recording`. `name` identifies the input in results and errors.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into), and if the visitor fails.
    pub fn read_tables(
        &self,
        recording: &mut RecordingBuilder,
        name: &str,
        visitor: &mut dyn TableVisitor,
    ) -> Result<(), Error> {
        match &self.0 {
            #[cfg(feature = "bundle")]
            Content::Bundle(bundle) => bundle.read_tables(recording, name, visitor),
            Content::File(file, toc) => {
                recording.read_tables(file.open()?, name, visitor)?;
                toc.iter().try_for_each(|toc| recording.read(toc.open()?, &shown(&toc.path)))
            }
        }
    }

    /// Reads the signpost intervals and hangs.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn intervals(&self, name: &str, options: &Options) -> Result<Intervals, Error> {
        match &self.0 {
            #[cfg(feature = "bundle")]
            Content::Bundle(bundle) => bundle.intervals(name, options),
            Content::File(file, _) => super::Intervals::read(file.open()?, name, options),
        }
    }

    /// Like [`intervals`](Self::intervals), but reads all tables that have a start and a duration.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn all_intervals(&self, name: &str, options: &Options) -> Result<Intervals, Error> {
        match &self.0 {
            #[cfg(feature = "bundle")]
            Content::Bundle(bundle) => bundle.all_intervals(name, options),
            Content::File(file, _) => super::Intervals::read_all(file.open()?, name, options),
        }
    }

    /// Reads the documents: all of a file, but only the table of contents of a bundle.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn contents(&self, name: &str, options: &Options) -> Result<Recording, Error> {
        match &self.0 {
            #[cfg(feature = "bundle")]
            Content::Bundle(bundle) => {
                let content = DocumentContent::Toc(bundle.toc()?);
                let document = Document { input: name.to_owned(), content, cut_at: None };
                let mut contents = Recording::default();
                contents.documents.push(document);
                contents.diagnostics.extend_from_slice(bundle.diagnostics());
                Ok(contents)
            }
            Content::File(..) => {
                let mut contents = RecordingBuilder::new(options.clone());
                self.read_into(&mut contents, name)?;
                contents.finish()
            }
        }
    }

    /// The folder with a bundle's symbols, for `symbols::Locator`; `None` if it does not exist.
    pub fn symbol_stores(&self) -> Option<PathBuf> {
        match &self.0 {
            #[cfg(feature = "bundle")]
            Content::Bundle(bundle) => bundle.existing_symbol_stores(),
            Content::File(..) => None,
        }
    }

    /// The bundle, if the input is an Instruments recording.
    #[cfg(feature = "bundle")]
    pub fn bundle(&self) -> Option<&Bundle<'f>> {
        match &self.0 {
            Content::Bundle(bundle) => Some(bundle),
            Content::File(..) => None,
        }
    }
}

/// A file that is not a bundle.
struct InputFile<'f> {
    files: &'f dyn Files,
    path: PathBuf,
    #[cfg_attr(not(feature = "compression"), expect(dead_code, reason = "only decompression takes memory"))]
    memory: MemoryBudget,
}

impl std::fmt::Debug for InputFile<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InputFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl InputFile<'_> {
    /// The number of bytes on disk; `None` if unknown.
    fn bytes(&self) -> Option<u64> {
        match self.files.entry(&self.path) {
            Ok(Entry::File { length, .. }) => Some(length),
            _ => None,
        }
    }

    /// The decompressed bytes at the start that are examined; fewer if they cannot be read.
    fn head(&self) -> Vec<u8> {
        let mut head = Vec::new();
        // Reading the input reports the error.
        let _ = self.read_head(&mut head);
        head
    }

    /// True if tables follow a table of contents that starts with this head.
    #[cfg(feature = "bundle")]
    fn has_tables_after(&self, head: &[u8]) -> bool {
        let Ok(mut source) = self.open() else { return false };
        if head.len() < formats::HEAD {
            return false;
        }
        let (mut window, mut is_end) = (Vec::new(), false);
        while !is_end {
            // The element may be in both pieces.
            window.drain(..window.len().saturating_sub(OVERLAP));
            let read = source.by_ref().take(formats::HEAD as u64).read_to_end(&mut window);
            is_end = !read.is_ok_and(|length| length > 0);
            if formats::has_tables(&window) {
                return true;
            }
        }
        false
    }

    fn read_head(&self, head: &mut Vec<u8>) -> Result<(), Error> {
        let read = self.open()?.take(formats::HEAD as u64).read_to_end(head);
        read.map(drop).map_err(|source| Error::unreadable(shown(&self.path), source))
    }

    /// Opens the file, and decompresses it with the feature `compression`.
    ///
    /// # Errors
    /// If it is a folder, or cannot be opened.
    fn open(&self) -> Result<Box<dyn Read + Send + '_>, Error> {
        let name = self.path.display();
        if let Ok(Entry::Folder) = self.files.entry(&self.path) {
            return Err(Error::new(ErrorKind::NotAnExport(format!("{name} is a {}", self.folder())), None));
        }
        let unreadable = |source| Error::unreadable(shown(&self.path), source);
        let source = self.files.open(&self.path).map_err(unreadable)?;
        #[cfg(feature = "compression")]
        let source = crate::decompress(source, &self.memory).map_err(unreadable)?;
        Ok(source)
    }
}

impl InputFile<'_> {
    /// Describes the folder at the path, and explains what to pass instead.
    fn folder(&self) -> String {
        let is_dsym = self.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("dSYM"));
        if is_dsym || is_folder(self.files, &self.path.join("Contents/Resources/DWARF")) {
            let dsym = shell_word(&self.path.display().to_string());
            let how = match settings::command() {
                Some(command) => format!("with a recording: {command} app.trace {DSYM} {dsym}"),
                None => format!("to {DSYM}"),
            };
            return format!("dSYM, which has names but no samples; pass it {how}");
        }
        let is_hidden = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let is_input = |path: &PathBuf| {
            let name = path.to_string_lossy();
            let is_named = [".xml", ".trace.zip"].iter().any(|end| name.ends_with(end));
            !is_hidden(path) && (is_named || (is_folder(self.files, path) && is_bundle(self.files, path)))
        };
        let inputs: Vec<PathBuf> =
            self.files.list(&self.path).unwrap_or_default().into_iter().filter(is_input).collect();
        if let [only] = inputs.as_slice() {
            let what =
                if only.extension().is_some_and(|extension| extension == "xml") { "export" } else { "recording" };
            return format!("folder with one {what}; name it: traceparse {}", shell_word(&only.display().to_string()));
        }
        let (exports, recordings) = (self.path.join("*.xml"), self.path.join("*.trace"));
        let (exports, recordings) = (exports.display(), recordings.display());
        format!(
            "folder; name the exports or recordings in it, such as {exports} or {recordings}, or report on all of them: \
             traceparse fleet report {}",
            shell_word(&self.path.display().to_string())
        )
    }
}

impl FilesAdaptor for InputFiles<'_> {
    fn files(&self) -> &dyn Files {
        #[cfg(feature = "bundle")]
        return &self.files;
        #[cfg(not(feature = "bundle"))]
        self.files
    }
}

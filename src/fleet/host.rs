//! The host: the program that extracts, merges or reports, and provides what the library needs.

use std::any::Any;
use std::borrow::Cow;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::error::{Context, FleetError, Result};
use super::store::{InputKind, InputState};
use crate::files::{Entry, FileSystem, Files, FilesAdaptor, Storage, StorageFile};
use crate::memory::MemoryBudget;
use crate::redact::{RedactRule, Redactor};

/// The error text for a changed input. The input's name precedes it.
pub(crate) const CHANGED: &str = FileSystem::CHANGED;

/// A program that works on fleets. It provides files and memory, and shows progress and messages. Only the storage is required:
///
/// ```
/// # use std::sync::Arc;
/// use traceparse::files::{FileSystem, Storage};
/// use traceparse::fleet::{Extract, FleetError, FleetHost, FleetInputs, FleetSettings, InputRequest, ReadingOptions};
///
/// struct Program(Arc<dyn Storage>);
///
/// impl FleetHost for Program {
///     fn storage(&self) -> &Arc<dyn Storage> {
///         &self.0
///     }
/// }
///
/// # fn main() -> Result<(), FleetError> {
/// let program = Program(FileSystem::storage());
/// let request = InputRequest { inputs: vec!["fixtures/27/orchard/input.xml".into()], ..InputRequest::default() };
/// let inputs = FleetInputs::find(&program, &request)?;
/// let files = program.watch();
/// let settings = FleetSettings::new(&program, ReadingOptions::new(&*files));
/// # let folder = std::env::temp_dir().join(format!("traceparse-{}", std::process::id()));
/// Extract::new(&folder.join("fleet.dataset"), &inputs, &settings).run(&program)?;
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
pub trait FleetHost: Sync {
    /// The storage that contains inputs and datasets.
    fn storage(&self) -> &Arc<dyn Storage>;

    /// The memory budget for all work together.
    fn memory(&self) -> MemoryBudget {
        MemoryBudget::unlimited()
    }

    /// The memory allowed per run of a report, in addition to the budget.
    fn memory_of_run(&self) -> u64 {
        0
    }

    /// Creates a file for the values of many runs. Nothing else may use it.
    ///
    /// # Errors
    /// If it cannot be created.
    fn temporary_file(&self) -> io::Result<Box<dyn StorageFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Called with each input before it is opened.
    ///
    /// # Errors
    /// If the input must not be read, since the output would replace it.
    fn will_read(&self, path: &Path) -> Result<(), FleetError> {
        let _ = path;
        Ok(())
    }

    /// Opens an input file.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open(&self, path: &Path) -> Result<Box<dyn InputStream + '_>, FleetError> {
        let source = self.storage().open(path).with_context(|| format!("{}: cannot be opened", path.display()))?;
        Ok(Box::new(source))
    }

    /// The state of an input; `None` if it does not exist.
    fn state(&self, path: &Path) -> Option<InputState> {
        let (kind, length, modified) = match self.storage().entry(path).ok()? {
            Entry::File { length, modified, .. } => (InputKind::File, length, modified),
            Entry::Folder => (InputKind::Folder, 0, 0),
            Entry::Other => (InputKind::Other, 0, 0),
        };
        Some(InputState { kind, length, modified: Some(modified).filter(|&time| time > 0).map(Duration::from_nanos) })
    }

    /// Returns file access that detects inputs that change during reading.
    fn watch(&self) -> Box<dyn WatchedInputs + '_> {
        Box::new(Unwatched(self.storage()))
    }

    /// Makes inputs available until the result is dropped, for example by downloading them.
    ///
    /// # Errors
    /// If they cannot be read.
    fn fetch(&self, paths: &[&Path]) -> Result<Box<dyn Any>, FleetError> {
        let _ = paths;
        Ok(Box::new(()))
    }

    /// Resolves a line of an input list in `folder` to a path.
    ///
    /// # Errors
    /// If this program cannot read such inputs.
    fn path_in(&self, folder: &Path, name: &str) -> Result<PathBuf, FleetError> {
        Ok(folder.join(name))
    }

    /// Replaces paths in a message with the names that users know.
    fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    /// The redaction rules; `None` if names are not redacted.
    fn redaction(&self) -> Option<&[RedactRule]> {
        None
    }

    /// Calls `ask` with the redactor for messages, if names are redacted.
    fn with_redactor(&self, ask: &mut dyn FnMut(&mut Redactor)) {
        let _ = ask;
    }

    /// Called before reading starts, with the number of files and their total size in bytes.
    fn begin(&self, files: usize, bytes: u64) {
        let _ = (files, bytes);
    }

    /// Called after bytes were read.
    fn add_bytes(&self, count: u64) {
        let _ = count;
    }

    /// Called when a file is done. `unread` bytes of it were skipped.
    fn add_file(&self, unread: u64, is_failed: bool) {
        let _ = (unread, is_failed);
    }

    /// Called when reading has ended.
    fn end(&self) {}

    /// Returns false if the user wants to stop. No more files are started after that.
    fn may_begin(&self) -> bool {
        true
    }

    /// Shows a warning, which is a sentence.
    fn warn(&self, sentence: &str) {
        let _ = sentence;
    }

    /// Shows the result of a step, as a line of text.
    fn tell(&self, line: &str) {
        let _ = line;
    }
}

/// An input that is being read.
pub trait InputStream: Read + Send {
    /// True if the file has not changed since it was opened.
    fn is_unchanged(&self) -> bool;
}

/// File access that detects files that change after they were read.
pub trait WatchedInputs: Files {
    /// Starts watching what is read at or below `root`.
    fn add(&self, root: &Path);

    /// Returns the first file by path that changed after it was read.
    fn first_changed(&self) -> Option<PathBuf>;
}

impl InputStream for Box<dyn Read + Send + '_> {
    fn is_unchanged(&self) -> bool {
        true
    }
}

struct Unwatched<'f>(&'f Arc<dyn Storage>);

impl FilesAdaptor for Unwatched<'_> {
    fn files(&self) -> &dyn Files {
        &**self.0
    }
}

impl WatchedInputs for Unwatched<'_> {
    fn add(&self, _: &Path) {}

    fn first_changed(&self) -> Option<PathBuf> {
        None
    }
}

/// Values derived from a host.
impl dyn FleetHost + '_ {
    pub(crate) fn files(&self) -> &dyn Files {
        &**self.storage()
    }

    fn limit(&self) -> u64 {
        self.memory().limit().unwrap_or(u64::MAX)
    }

    /// The budget of files being read, in parallel or alone: half of the total.
    pub(crate) fn memory_of_files(&self) -> MemoryBudget {
        self.memory().part(self.limit() / 2)
    }

    /// The budget for what is kept of one file, and for finished files in the queue: a sixteenth.
    pub(crate) fn memory_of_kept_file(&self) -> MemoryBudget {
        self.memory().part(self.limit() / 16)
    }

    /// The budget for what is kept of all files: a quarter.
    pub(crate) fn memory_of_kept(&self) -> MemoryBudget {
        self.memory().part(self.limit() / 4)
    }

    /// The memory for run values before they move to a temporary file: an eighth.
    pub(crate) fn memory_of_values(&self) -> u64 {
        self.limit() / 8
    }

    /// The size of the symbol cache in bytes: a sixteenth of the limit, at most 256 MiB.
    pub(crate) fn most_symbols(&self) -> usize {
        usize::try_from(self.limit() / 16).unwrap_or(usize::MAX).min(256 << 20)
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.files().entry(path).is_ok()
    }

    pub(crate) fn is_folder(&self, path: &Path) -> bool {
        matches!(self.files().entry(path), Ok(Entry::Folder))
    }

    /// The canonical path of a file, or the given path if it does not exist.
    pub(crate) fn canonical(&self, path: &Path) -> PathBuf {
        self.files().canonical(path).unwrap_or_else(|_| path.to_owned())
    }

    /// True if names are redacted.
    pub(crate) fn is_redacting(&self) -> bool {
        let mut is_redacting = false;
        self.with_redactor(&mut |_| is_redacting = true);
        is_redacting
    }

    /// The text of a message, redacted if names are.
    pub(crate) fn redacted(&self, text: &str) -> String {
        let mut redacted = None;
        self.with_redactor(&mut |redactor| redacted = Some(redactor.text(text)));
        redacted.unwrap_or_else(|| text.to_owned())
    }

    /// Reads an input of at most `most` bytes.
    ///
    /// # Errors
    /// If it cannot be read, is larger, or changed.
    pub(crate) fn read_input(&self, path: &Path, most: u64) -> Result<Vec<u8>> {
        let mut file = self.open(path)?;
        let bytes = self.memory().read_all(&mut file, most);
        unless_changed(&*file, path, bytes.with_context(|| format!("{}: cannot be read", path.display())))
    }

    /// Shows the first ten sentences, and the number of the rest.
    pub(crate) fn warn_of(&self, sentences: &[String]) {
        const MOST: usize = 10;
        sentences.iter().take(MOST).for_each(|sentence| self.warn(sentence));
        let more = sentences.len().saturating_sub(MOST);
        if more > 0 {
            self.warn(&format!("{} like these", crate::units::several(more, "more note")));
        }
    }
}

/// Returns the result of reading an input, or an error if the input changed in the meantime.
pub(crate) fn unless_changed<T>(file: &dyn InputStream, path: &Path, result: Result<T>) -> Result<T> {
    if file.is_unchanged() {
        return result;
    }
    let name = if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() };
    Err(FleetError::new(format!("{name}: {CHANGED}")))
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A host that reads local files and ignores everything else.
    pub(crate) struct ThisMachine(Arc<dyn Storage>);

    impl ThisMachine {
        pub(crate) fn new() -> Self {
            Self(FileSystem::storage())
        }
    }

    impl FleetHost for ThisMachine {
        fn storage(&self) -> &Arc<dyn Storage> {
            &self.0
        }
    }
}

//! The program that extracts, merges or reports: what the library asks it for.

use std::any::Any;
use std::borrow::Cow;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::entries::SpillFile;
use super::error::{Context, FleetError, Result};
use super::store::{InputKind, InputState};
use crate::files::{Entry, FileSystem, Files, FilesAdaptor, Storage, read_all};
use crate::memory::MemoryBudget;
use crate::redact::{RedactRule, Redactor};

/// The message about an input that changed, after its name.
pub(crate) const CHANGED: &str = FileSystem::CHANGED;

/// A program that works on fleets: its files, its memory, and how it shows progress and messages. Only the storage is
/// required:
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
    /// The files of inputs and datasets.
    fn storage(&self) -> &Arc<dyn Storage>;

    /// The memory for everything together.
    fn memory(&self) -> MemoryBudget {
        MemoryBudget::unlimited()
    }

    /// The memory of each run of a report in addition to that.
    fn memory_of_run(&self) -> u64 {
        0
    }

    /// A new file for the values of many runs, which no other process uses.
    ///
    /// # Errors
    /// If there is no space for it.
    fn temporary_file(&self) -> io::Result<Box<dyn SpillFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Called with every input before it is opened.
    ///
    /// # Errors
    /// If it must not be read, since the output would replace it.
    fn will_read(&self, path: &Path) -> Result<(), FleetError> {
        let _ = path;
        Ok(())
    }

    /// Opens an input that is one file.
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

    /// Files of which inputs must not change while they are read.
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

    /// The path that a line of a list in `folder` names.
    ///
    /// # Errors
    /// If this program cannot read such inputs.
    fn path_in(&self, folder: &Path, name: &str) -> Result<PathBuf, FleetError> {
        Ok(folder.join(name))
    }

    /// The text with the names that people know inputs by.
    fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    /// The rules of redaction; `None` if names are not replaced.
    fn redaction(&self) -> Option<&[RedactRule]> {
        None
    }

    /// Calls `ask` with the redactor of messages, if names are replaced.
    fn with_redactor(&self, ask: &mut dyn FnMut(&mut Redactor)) {
        let _ = ask;
    }

    /// Reading begins, of this many files with this many bytes.
    fn begin(&self, files: usize, bytes: u64) {
        let _ = (files, bytes);
    }

    /// Bytes were read.
    fn add_bytes(&self, count: u64) {
        let _ = count;
    }

    /// A file is done; `unread` of its bytes were not read.
    fn add_file(&self, unread: u64, is_failed: bool) {
        let _ = (unread, is_failed);
    }

    /// Reading has ended.
    fn end(&self) {}

    /// False if the user wants to stop: no other file is begun.
    fn may_begin(&self) -> bool {
        true
    }

    /// A warning for the user, in a sentence.
    fn warn(&self, sentence: &str) {
        let _ = sentence;
    }

    /// The result of a step, in a line.
    fn tell(&self, line: &str) {
        let _ = line;
    }
}

/// An input that is being read.
pub trait InputStream: Read + Send {
    /// True if it is still the file that was opened.
    fn is_unchanged(&self) -> bool;
}

/// Files that must not change after they are read.
pub trait WatchedInputs: Files {
    /// Everything that is read at `root` and below it must not change from now on.
    fn add(&self, root: &Path);

    /// A file that was read and then changed, the first by path.
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

/// What the library derives from a host.
impl dyn FleetHost + '_ {
    pub(crate) fn files(&self) -> &dyn Files {
        &**self.storage()
    }

    fn limit(&self) -> u64 {
        self.memory().limit().unwrap_or(u64::MAX)
    }

    /// The memory for the files that are read at the same time, or for one alone: half.
    pub(crate) fn memory_of_files(&self) -> MemoryBudget {
        self.memory().part(self.limit() / 2)
    }

    /// The memory for everything kept of one file, and for files that wait for others to be kept.
    pub(crate) fn memory_of_kept_file(&self) -> MemoryBudget {
        self.memory().part(self.limit() / 16)
    }

    /// The memory for everything kept of all files: a quarter.
    pub(crate) fn memory_of_kept(&self) -> MemoryBudget {
        self.memory().part(self.limit() / 4)
    }

    /// The memory for the values of runs, before they go to a temporary file: an eighth.
    pub(crate) fn memory_of_values(&self) -> u64 {
        self.limit() / 8
    }

    /// The number of bytes of symbols to keep, for which the budget has space.
    pub(crate) fn most_symbols(&self) -> usize {
        usize::try_from(self.limit() / 16).unwrap_or(usize::MAX).min(256 << 20)
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.files().entry(path).is_ok()
    }

    pub(crate) fn is_folder(&self, path: &Path) -> bool {
        matches!(self.files().entry(path), Ok(Entry::Folder))
    }

    /// The canonical path of a file, or the path itself if it does not exist.
    pub(crate) fn canonical(&self, path: &Path) -> PathBuf {
        self.files().canonical(path).unwrap_or_else(|_| path.to_owned())
    }

    /// True if names are replaced.
    pub(crate) fn is_redacting(&self) -> bool {
        let mut is_redacting = false;
        self.with_redactor(&mut |_| is_redacting = true);
        is_redacting
    }

    /// The text of a message, with names replaced if they are.
    pub(crate) fn redacted(&self, text: &str) -> String {
        let mut redacted = None;
        self.with_redactor(&mut |redactor| redacted = Some(redactor.text(text)));
        redacted.unwrap_or_else(|| text.to_owned())
    }

    /// Reads a small input with at most this many bytes.
    ///
    /// # Errors
    /// If it cannot be read, is larger, or changed.
    pub(crate) fn read_input(&self, path: &Path, most: u64) -> Result<Vec<u8>> {
        let mut file = self.open(path)?;
        let bytes = read_all(&mut file, most, &self.memory());
        unless_changed(&*file, path, bytes.with_context(|| format!("{}: cannot be read", path.display())))
    }

    /// Prints notes of files, or anything else that may be much: the first ones, and the number of the others.
    pub(crate) fn warn_of(&self, sentences: &[String]) {
        const MOST: usize = 10;
        sentences.iter().take(MOST).for_each(|sentence| self.warn(sentence));
        let more = sentences.len().saturating_sub(MOST);
        if more > 0 {
            self.warn(&format!("{} like these", crate::units::several(more, "more note")));
        }
    }
}

/// The result of reading an input, unless it changed in the meantime: the change is then the error.
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

    /// A host that only reads files of this machine.
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

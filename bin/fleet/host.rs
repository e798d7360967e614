//! The command's implementation of the library's [`FleetHost`]: opens files, prints messages and progress, and handles Ctrl-C.

use std::any::Any;
use std::borrow::Cow;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use indicatif::{BinaryBytes, HumanDuration, ProgressBar, ProgressStyle};
use traceparse::files::{Storage, StorageFile};
use traceparse::fleet::{FleetError, FleetHost, InputKind, InputState, InputStream, WatchedInputs};
use traceparse::memory::MemoryBudget;
use traceparse::redact::{RedactRule, Redactor};
use traceparse::units::{counted, several};

use crate::interrupt::{end, on_interrupt};
use crate::unchanged::{InputFile, WatchedFiles, is_device};
use crate::{complain, guard, objects, redacted, resource_limits, warning};

/// What the first Ctrl-C does to the files being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtInterrupt {
    /// Read them to the end and keep their measurements.
    Finish,
    /// End the process immediately. Nothing from these files is kept, and reading a pipe might otherwise never end.
    End,
    /// Like `End`, while files are read again for run pages.
    EndPages,
}

/// Runs fleet work for the command line.
pub(super) struct Host {
    at_interrupt: AtInterrupt,
    storage: Arc<dyn Storage>,
    progress: OnceLock<Arc<Progress>>,
    /// The exit code after an interruption; 0 if there was none.
    interrupted: Arc<AtomicU8>,
}

impl Host {
    pub(super) fn new(at_interrupt: AtInterrupt) -> Self {
        let (storage, progress, interrupted) = (guard::storage(), OnceLock::new(), Arc::default());
        Self { at_interrupt, storage, progress, interrupted }
    }

    /// The exit code if the user has interrupted the work.
    pub(super) fn interruption(&self) -> Option<u8> {
        Some(self.interrupted.load(Ordering::SeqCst)).filter(|&code| code > 0)
    }

    /// Handles Ctrl-C from now on. The second one always ends the process; the first one may.
    fn watch_interrupts(&self, progress: &Arc<Progress>) {
        let (at_interrupt, progress) = (self.at_interrupt, Arc::clone(progress));
        let interrupted = Arc::clone(&self.interrupted);
        on_interrupt(move |code| {
            if interrupted.swap(code, Ordering::SeqCst) > 0 {
                end(code);
            }
            let (what, advice) = match at_interrupt {
                AtInterrupt::Finish => {
                    complain("\nfinishing the files being read; press Ctrl-C again to quit immediately");
                    return;
                }
                AtInterrupt::End => ("file", "; use `traceparse fleet extract` to keep what was read"),
                AtInterrupt::EndPages => ("page", ""),
            };
            progress.clear();
            let (done, all) = (counted(progress.done()), several(progress.files, what));
            warning(&format!("interrupted after {done} of {all}, without a report{advice}"));
            end(code);
        });
    }
}

impl FleetHost for Host {
    fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    fn memory(&self) -> MemoryBudget {
        resource_limits::memory()
    }

    fn memory_of_run(&self) -> u64 {
        resource_limits::of_run()
    }

    fn temporary_file(&self) -> io::Result<Box<dyn StorageFile>> {
        Ok(Box::new(tempfile::tempfile()?))
    }

    fn will_read(&self, path: &Path) -> Result<(), FleetError> {
        // Opening a file outside of the permitted folders fails, like opening any other unreadable file of a fleet.
        let is_permitted = path.as_os_str() == "-" || resource_limits::check_place(path).is_ok();
        if is_permitted { guard::will_read(path).map_err(FleetError::other) } else { Ok(()) }
    }

    fn open(&self, path: &Path) -> Result<Box<dyn InputStream + '_>, FleetError> {
        Ok(Box::new(OpenInput(InputFile::open(path).map_err(FleetError::other)?)))
    }

    fn state(&self, path: &Path) -> Option<InputState> {
        let metadata = std::fs::metadata(path).ok()?;
        let kind = match () {
            () if metadata.is_file() => InputKind::File,
            () if metadata.is_dir() => InputKind::Folder,
            () if is_device(&metadata) => InputKind::Device,
            () => InputKind::Other,
        };
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Some(InputState { length: metadata.len(), modified, kind })
    }

    fn watch(&self) -> Box<dyn WatchedInputs + '_> {
        Box::new(WatchedFiles::default())
    }

    fn fetch(&self, paths: &[&Path]) -> Result<Box<dyn Any>, FleetError> {
        Ok(Box::new(objects::Use::begin(paths.iter().copied()).map_err(FleetError::other)?))
    }

    fn path_in(&self, folder: &Path, name: &str) -> Result<PathBuf, FleetError> {
        objects::beside(folder, name).map_err(FleetError::other)
    }

    fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        objects::shown(text)
    }

    fn redaction(&self) -> Option<&[RedactRule]> {
        redacted::each().map(|each| each.rules.as_slice())
    }

    fn with_redactor(&self, ask: &mut dyn FnMut(&mut Redactor)) {
        redacted::with(ask);
    }

    fn begin(&self, files: usize, bytes: u64) {
        self.watch_interrupts(self.progress.get_or_init(|| Arc::new(Progress::new(files, bytes))));
    }

    fn add_bytes(&self, count: u64) {
        self.progress.get().iter().for_each(|progress| progress.add_bytes(count));
    }

    fn add_file(&self, unread: u64, is_failed: bool) {
        self.progress.get().iter().for_each(|progress| progress.add_file(unread, is_failed));
    }

    fn end(&self) {
        self.progress.get().iter().for_each(|progress| progress.clear());
    }

    fn may_begin(&self) -> bool {
        self.interruption().is_none()
    }

    fn warn(&self, sentence: &str) {
        warning(sentence);
    }

    fn tell(&self, line: &str) {
        complain(line);
    }
}

/// An open input file.
struct OpenInput(InputFile);

impl Read for OpenInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.0).read(buffer)
    }
}

impl InputStream for OpenInput {
    fn is_unchanged(&self) -> bool {
        self.0.is_unchanged()
    }
}

impl WatchedInputs for WatchedFiles {
    fn add(&self, root: &Path) {
        self.add_root(root);
    }

    fn first_changed(&self) -> Option<PathBuf> {
        Self::first_changed(self)
    }
}

/// Progress is shown only if reading takes longer than this.
const PATIENCE: Duration = Duration::from_millis(400);

/// Shows the reading progress on standard error if that is a terminal and reading takes longer than [`PATIENCE`].
struct Progress {
    files: usize,
    total_bytes: u64,
    bytes: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
    start: Instant,
    bar: Mutex<Option<ProgressBar>>,
    is_wanted: bool,
}

impl Progress {
    fn new(files: usize, total_bytes: u64) -> Self {
        Self {
            files,
            total_bytes,
            bytes: AtomicU64::new(0),
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            start: Instant::now(),
            bar: Mutex::new(None),
            is_wanted: std::io::stderr().is_terminal(),
        }
    }

    fn add_bytes(&self, count: u64) {
        self.bytes.fetch_add(count, Ordering::Relaxed);
        self.show();
    }

    /// Records that a file is finished. `unread` is the number of its bytes that were skipped.
    fn add_file(&self, unread: u64, is_failed: bool) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(is_failed), Ordering::Relaxed);
        self.add_bytes(unread);
    }

    fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed) as usize
    }

    fn show(&self) {
        if !self.is_wanted || self.start.elapsed() < PATIENCE {
            return;
        }
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(self.total_bytes);
            let template = "{wide_msg} {bar:20}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("━╸ "));
            }
            bar
        });
        bar.set_message(self.message());
        bar.set_position(self.bytes.load(Ordering::Relaxed));
    }

    /// `142/1,500 files, 3 failed, 76.20 MiB/s, 12s left`. The rate is the average since the start, since some files take much longer than others.
    fn message(&self) -> String {
        let [done, failed] = [&self.done, &self.failed].map(|count| count.load(Ordering::Relaxed) as usize);
        let failed = if failed > 0 { format!(", {} failed", counted(failed)) } else { String::new() };
        let bytes = self.bytes.load(Ordering::Relaxed);
        let rate = bytes as f64 / self.start.elapsed().as_secs_f64();
        let left = self.total_bytes.saturating_sub(bytes) as f64 / rate.max(1.0);
        let (rate, left) = (BinaryBytes(rate as u64), HumanDuration(Duration::from_secs(left as u64)));
        format!("{}/{}{failed}, {rate}/s, {left:#} left", counted(done), several(self.files, "file"))
    }

    /// Removes the progress bar, so that messages start on an empty line.
    fn clear(&self) {
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    }
}

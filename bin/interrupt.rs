//! Deletes temporary files when Ctrl-C or another signal (SIGTERM, SIGHUP, SIGQUIT) ends the process.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use tempfile::NamedTempFile;

use crate::EXIT_INTERRUPTED;
#[cfg(unix)]
use crate::resource_limits;

/// A function that is called with the exit code before the process ends. It may end the process itself.
type Hook = Box<dyn FnMut(u8) + Send>;

static HOOK: Mutex<Option<Hook>> = Mutex::new(None);
/// The temporary files and folders. A thread holds the lock while it creates or renames one. The thread that ends the process never releases it.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file with a temporary name, which is deleted on drop and on interruption unless it was renamed.
#[derive(Debug)]
pub(crate) struct TemporaryFile {
    /// `None` only during drop.
    file: Option<NamedTempFile>,
    path: PathBuf,
}

impl TemporaryFile {
    pub(crate) fn new_in(folder: &Path) -> io::Result<Self> {
        watch();
        #[cfg_attr(not(unix), allow(unused_mut))]
        let mut builder = tempfile::Builder::new();
        // Use the permissions of other new files, since tempfile's default would hide the output from other users. The umask still applies.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut temporary = temporary();
        let file = builder.tempfile_in(folder)?;
        let path = file.path().to_owned();
        temporary.push(path.clone());
        Ok(Self { file: Some(file), path })
    }

    pub(crate) fn as_file(&self) -> &File {
        self.file.as_ref().expect("it is there until it is dropped").as_file()
    }

    /// Runs `check`, then renames the file to `target`, replacing an existing file.
    ///
    /// # Errors
    /// Errors of `check` and of renaming.
    pub(crate) fn rename(mut self, target: &Path, check: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut temporary = temporary();
        check()?;
        let file = self.file.take().expect("it is there until it is dropped");
        let renamed = file.persist(target).map(drop).map_err(|error| error.error);
        temporary.retain(|path| *path != self.path);
        Ok(renamed?)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            let mut temporary = temporary();
            drop(file);
            temporary.retain(|path| *path != self.path);
        }
    }
}

/// Creates a folder in the system's temporary folder that only the user can read. The folder is deleted at the end of the process, unless it is [kept](keep).
pub(crate) fn private_folder() -> io::Result<PathBuf> {
    watch();
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = tempfile::Builder::new();
    // By default, other users can read it, unless the umask prevents this.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let mut temporary = temporary();
    let folder = builder.prefix("traceparse-").disable_cleanup(true).tempdir()?.path().to_owned();
    temporary.push(folder.clone());
    Ok(folder)
}

/// Keeps a temporary folder when the process ends.
pub(crate) fn keep(folder: &Path) {
    temporary().retain(|path| path != folder);
}

/// Deletes the temporary files and folders that remain at the end of the process.
pub(crate) fn delete_rest() {
    delete(&temporary());
}

fn delete(temporary: &[PathBuf]) {
    for path in temporary {
        let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir_all(path));
    }
}

/// A folder for temporary files, which is deleted on drop and on interruption.
#[derive(Debug)]
pub(crate) struct TemporaryFolder(tempfile::TempDir);

impl TemporaryFolder {
    pub(crate) fn new_in(folder: &Path) -> io::Result<Self> {
        Self::made(|| tempfile::Builder::new().tempdir_in(folder))
    }

    fn made(make: impl FnOnce() -> io::Result<tempfile::TempDir>) -> io::Result<Self> {
        watch();
        let mut temporary = temporary();
        let folder = make()?;
        temporary.push(folder.path().to_owned());
        Ok(Self(folder))
    }

    /// Runs `check`, then renames the subfolder `new` to `target`. An existing folder is moved to the subfolder `old`, and deleted together with this
    /// folder.
    ///
    /// # Errors
    /// Errors of `check` and of renaming. The existing folder is then restored.
    pub(crate) fn replace(
        &self,
        [new, old]: [&str; 2],
        target: &Path,
        check: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        // Prevents a signal from ending the process between the two renames.
        let _held = temporary();
        check()?;
        let (new, old) = (self.path().join(new), self.path().join(old));
        let is_there = std::fs::symlink_metadata(target).is_ok();
        if is_there {
            std::fs::rename(target, &old)?;
        }
        std::fs::rename(new, target).inspect_err(|_| {
            let _ = if is_there { std::fs::rename(&old, target) } else { Ok(()) };
        })?;
        Ok(())
    }

    /// Creates a folder in the system's temporary folder.
    #[cfg(feature = "object-store")]
    pub(crate) fn new() -> io::Result<Self> {
        Self::made(|| tempfile::Builder::new().prefix("traceparse-objects-").tempdir())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Calls `hook` when the process is interrupted, instead of ending the process immediately.
pub(crate) fn on_interrupt(hook: impl FnMut(u8) + Send + 'static) {
    *HOOK.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(hook));
    watch();
}

/// Deletes temporary files and ends the process.
pub(crate) fn end(code: u8) -> ! {
    let _held = {
        let temporary = temporary();
        delete(&temporary);
        temporary
    };
    std::process::exit(i32::from(code))
}

fn temporary() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the process, or calls the [hook](on_interrupt).
pub(crate) fn interrupted(code: u8) {
    match HOOK.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        Some(hook) => hook(code),
        None => end(code),
    }
}

/// Starts watching for signals. If that fails, a signal ends the process as usual, and temporary files may remain.
fn watch() {
    static WATCHES: Once = Once::new();
    WATCHES.call_once(|| {
        let _ = start();
    });
}

/// Starts a thread that handles signals. The exit codes are the codes that shells report for processes ended by a signal.
#[cfg(unix)]
fn start() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    const OF_SHELLS: i32 = 128;
    // A handler would override `nohup`, or a shell that starts the command in the background.
    let ignored = ignored_signals().unwrap_or(bit(SIGHUP));
    let may_be_ignored = [SIGHUP, SIGQUIT].into_iter().filter(|&signal| ignored & bit(signal) == 0);
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM].into_iter().chain(may_be_ignored))?;
    let wait = move || {
        for signal in signals.forever() {
            interrupted(u8::try_from(OF_SHELLS + signal).unwrap_or(EXIT_INTERRUPTED));
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
}

#[cfg(unix)]
fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// The signals that this process was started to ignore, as [bits](bit). Only Linux has a file that lists them.
#[cfg(unix)]
fn ignored_signals() -> Option<u64> {
    let status = resource_limits::read_file("/proc/self/status", resource_limits::OWN_FILE).ok()?;
    let status = String::from_utf8_lossy(&status);
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

#[cfg(not(unix))]
fn start() -> io::Result<()> {
    ctrlc::set_handler(|| interrupted(EXIT_INTERRUPTED)).map_err(io::Error::other)
}

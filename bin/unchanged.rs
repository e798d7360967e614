//! Checks that files do not change while they are read. Otherwise, a report could mix two recordings.
//!
//! Size, modification time and inode are compared before the first byte is read and after the last. A difference indicates an active writer, a
//! replaced file or a changed link. Pipes and devices are not checked.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use traceparse::files::{FileSystem, Files, FilesAdaptor};

use crate::guard::will_read;
use crate::objects::{here, located};
use crate::resource_limits;

const CHANGED: &str = FileSystem::CHANGED;

/// The properties of a regular file that show whether it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    #[cfg(unix)]
    inode: (u64, u64),
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// Returns `None` if the file is not a regular file.
    fn new(metadata: &Metadata) -> Option<Self> {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        metadata.is_file().then(|| Self {
            #[cfg(unix)]
            inode: (metadata.dev(), metadata.ino()),
            length: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }

    /// The stamp of the file at a path; `None` if there is no regular file.
    fn at(path: &Path) -> Option<Self> {
        Self::new(&std::fs::metadata(path).ok()?)
    }
}

/// An open input. It is not an output, and it is checked for changes after reading.
#[derive(Debug)]
pub(crate) struct InputFile {
    file: File,
    /// `None` for standard input.
    path: Option<PathBuf>,
    before: Option<Stamp>,
}

impl InputFile {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// If it cannot be opened, or if the output would replace it.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        will_read(path)?;
        let name = path.display();
        let is_stdin = path.as_os_str() == "-";
        let file = if is_stdin { standard_input() } else { here(path).and_then(File::open) };
        let file = file.with_context(|| format!("{name}: cannot be opened"))?;
        let metadata = file.metadata().with_context(|| format!("{name}: cannot be read"))?;
        Ok(Self { file, path: (!is_stdin).then(|| located(path).into_owned()), before: Stamp::new(&metadata) })
    }

    /// The length in bytes, if known.
    pub(crate) fn length(&self) -> Option<u64> {
        self.before.as_ref().map(|before| before.length)
    }

    /// True if the file has not changed since it was opened, and its path still refers to it.
    pub(crate) fn is_unchanged(&self) -> bool {
        let Some(before) = &self.before else { return true };
        let same = |stamp: Option<Stamp>| stamp.as_ref() == Some(before);
        same(self.file.metadata().ok().as_ref().and_then(Stamp::new))
            && self.path.as_deref().is_none_or(|path| same(Stamp::at(path)))
    }

    /// Returns the result of reading the file.
    ///
    /// # Errors
    /// If the file changed while it was read; the error names it.
    pub(crate) fn unless_changed<T>(&self, result: Result<T>) -> Result<T> {
        if self.is_unchanged() {
            return result;
        }
        let name = self.path.as_deref().unwrap_or(Path::new("standard input"));
        bail!("{}: {CHANGED}", name.display())
    }
}

impl Read for &InputFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.file).read(buffer)
    }
}

/// Reads a small input of at most `most` bytes.
///
/// # Errors
/// If the file cannot be read, is larger, is an output, or changed while it was read.
pub(crate) fn read_whole(path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = InputFile::open(path)?;
    let read = resource_limits::read_all(&file, most);
    file.unless_changed(read.with_context(|| format!("{}: cannot be read", path.display())))
}

/// True for a device, which may be endless.
#[cfg(unix)]
pub(crate) fn is_device(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_char_device() || metadata.file_type().is_block_device()
}

#[cfg(not(unix))]
pub(crate) fn is_device(_: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn standard_input() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn standard_input() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}

/// The local files. Only recordings, archives and symbol files that were read are checked: symbol folders contain many other files, which may change.
#[derive(Debug, Default)]
pub(crate) struct WatchedFiles(Mutex<Watched>);

#[derive(Debug, Default)]
struct Watched {
    /// Files and folders whose complete content is watched.
    roots: HashSet<PathBuf>,
    files: HashMap<PathBuf, WatchedFile>,
}

#[derive(Debug)]
struct WatchedFile {
    before: Option<Stamp>,
    is_read: bool,
}

impl WatchedFiles {
    /// Watches everything that is read from a file or folder.
    pub(crate) fn add_root(&self, path: &Path) {
        self.watched().roots.insert(path.to_owned());
    }

    /// Watches a file from its current state on, once it is read.
    pub(crate) fn add_file(&self, path: &Path) {
        let before = Stamp::at(path);
        self.watched().files.entry(path.to_owned()).or_insert(WatchedFile { before, is_read: false });
    }

    /// Returns the first file by path that was read and has changed.
    pub(crate) fn first_changed(&self) -> Option<PathBuf> {
        let watched = self.watched();
        let is_changed = |(path, file): &(&PathBuf, &WatchedFile)| file.is_read && Stamp::at(path) != file.before;
        watched.files.iter().filter(is_changed).map(|(path, _)| path).min().cloned()
    }

    /// Returns the result of reading.
    ///
    /// # Errors
    /// If a file changed while it was read; the error names it.
    pub(crate) fn unless_changed<T>(&self, result: Result<T>) -> Result<T> {
        match self.first_changed() {
            Some(path) => bail!("{}: {CHANGED}", path.display()),
            None => result,
        }
    }

    /// Marks a file as read, before its bytes are read.
    fn will_read(&self, path: &Path) {
        let mut watched = self.watched();
        if let Some(file) = watched.files.get_mut(path) {
            file.is_read = true;
        } else if path.ancestors().any(|path| watched.roots.contains(path)) {
            watched.files.insert(path.to_owned(), WatchedFile { before: Stamp::at(path), is_read: true });
        }
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FilesAdaptor for WatchedFiles {
    fn files(&self) -> &dyn Files {
        &FileSystem
    }

    fn located<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        located(path)
    }

    fn before_read<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        self.will_read(path);
        let path = here(path)?;
        resource_limits::check_place(&path)?;
        Ok(path)
    }

    fn before_list(&self, folder: &Path) -> io::Result<()> {
        resource_limits::check_place(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &tempfile::TempDir, name: &str) -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, "content").unwrap();
        // Older than one tick of the file system's clock.
        let old = SystemTime::now() - std::time::Duration::from_secs(60);
        File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        path
    }

    #[test]
    fn a_file_is_compared_when_it_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let changes: [fn(&Path); 4] = [
            |path| std::fs::write(path, "CONTENT").unwrap(),
            |path| std::fs::write(path, "longer content").unwrap(),
            |path| std::fs::remove_file(path).unwrap(),
            |path| {
                std::fs::remove_file(path).unwrap();
                std::fs::create_dir(path).unwrap();
            },
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let path = file(&folder, &format!("{index}"));
            let input = InputFile::open(&path).unwrap();
            let mut bytes = [0; 3];
            (&input).read_exact(&mut bytes).unwrap();
            assert_eq!((&bytes, input.is_unchanged(), input.length()), (b"con", true, Some(7)));
            change(&path);
            let error = input.unless_changed(Ok(())).unwrap_err().to_string();
            assert_eq!(error, format!("{}: {CHANGED}", path.display()));
        }
        let path = file(&folder, "same");
        assert_eq!(read_whole(&path, 100).unwrap(), b"content");
    }

    /// The change is reported instead of the errors that it causes.
    #[test]
    fn reports_a_change_before_the_errors_it_causes() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, "a");
        let input = InputFile::open(&path).unwrap();
        let broken = || Err::<(), _>(anyhow::anyhow!("line 7 is broken"));
        assert_eq!(input.unless_changed(broken()).unwrap_err().to_string(), "line 7 is broken");
        std::fs::write(&path, "other content").unwrap();
        assert!(input.unless_changed(broken()).unwrap_err().to_string().contains(CHANGED));
    }

    #[test]
    fn compares_only_files_that_were_read() {
        let folder = tempfile::tempdir().unwrap();
        let [inside, found, unread, other] = ["x.trace", "found", "unread", "other"].map(|name| file(&folder, name));
        let files = WatchedFiles::default();
        files.add_root(&inside);
        files.add_file(&found);
        files.add_file(&unread);
        for path in [&inside, &found, &other] {
            assert_eq!(files.read(path, 0, 3).unwrap(), b"con");
        }
        for path in [&other, &unread] {
            std::fs::write(path, "changed").unwrap();
        }
        assert_eq!(files.first_changed(), None);
        std::fs::write(&found, "changed").unwrap();
        assert_eq!(files.first_changed(), Some(found.clone()));
        std::fs::remove_file(&inside).unwrap();
        assert_eq!(files.first_changed(), Some(found));
        assert!(files.unless_changed(Ok(())).unwrap_err().to_string().contains(CHANGED));
    }
}

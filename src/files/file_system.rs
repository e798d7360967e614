//! The file system of this machine. No other module of the library accesses it.

use std::any::Any;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, DirEntry, File, Metadata, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::access::{Entry, EntryKind, Files, FolderTimes};
use super::adaptor::FilesAdaptor;
use super::file_bytes::{FileBytes, Source, changed_meanwhile, cut};
use super::storage::{Storage, StorageFile};
use crate::memory::MemoryBudget;

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl FileSystem {
    /// Storage for datasets on this machine, without write protection or a memory limit.
    pub fn storage() -> Arc<dyn Storage> {
        Self::checked_storage(|_| Ok(()), |_| Ok(()), MemoryBudget::unlimited())
    }

    /// Like [`storage`](Self::storage), but first asks `may_read` about files that are read and folders that are listed, and `may_change` about
    /// changes. They return the reason for refusing the path. Reading a complete file is charged to the budget.
    pub fn checked_storage(
        may_read: impl Fn(&Path) -> Result<(), String> + Send + Sync + 'static,
        may_change: impl Fn(&Path) -> Result<(), String> + Send + Sync + 'static,
        memory: MemoryBudget,
    ) -> Arc<dyn Storage> {
        Arc::new(CheckedFiles { may_read: Box::new(may_read), may_change: Box::new(may_change), memory })
    }

    /// The message for a file that changed, which follows its name.
    pub const CHANGED: &str =
        "the file changed while it was read; wait until it is no longer being written, or export it again";
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime() as u64).wrapping_mul(1_000_000_000).wrapping_add(metadata.ctime_nsec() as u64)
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> u64 {
    0
}

#[cfg(not(windows))]
const fn plain(path: PathBuf) -> PathBuf {
    path
}

/// Windows writes canonical paths as `\\?\C:\x`, which few programs understand and no user would type. Only long paths need that form.
#[cfg(windows)]
fn plain(path: PathBuf) -> PathBuf {
    const LONGEST: usize = 260;
    let short = path.to_str().filter(|text| text.len() < LONGEST).and_then(|text| text.strip_prefix(r"\\?\"));
    let short = short.filter(|text| text.as_bytes().get(1) == Some(&b':'));
    short.map(PathBuf::from).unwrap_or(path)
}

/// File system clocks are coarse: two changes within this period may get the same time.
const RECENT: Duration = Duration::from_secs(2);

fn modified(metadata: &Metadata) -> u64 {
    metadata.modified().ok().map_or(0, since_1970)
}

/// In nanoseconds; 0 for times before 1970.
fn since_1970(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

impl Files for FileSystem {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        let metadata = std::fs::metadata(path)?;
        if metadata.is_dir() {
            return Ok(Entry::Folder);
        }
        if !metadata.is_file() {
            return Ok(Entry::Other);
        }
        Ok(Entry::File { length: metadata.len(), modified: modified(&metadata), changed: changed(&metadata) })
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path).map(plain)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
    }

    fn list_kinds(&self, folder: &Path) -> io::Result<Vec<(OsString, EntryKind)>> {
        let kind = |entry: &DirEntry| match entry.file_type() {
            Ok(kind) if kind.is_file() => EntryKind::File,
            Ok(kind) if kind.is_dir() => EntryKind::Folder,
            Ok(kind) if !kind.is_symlink() => EntryKind::Other,
            _ => EntryKind::Link,
        };
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| (entry.file_name(), kind(&entry)))).collect()
    }

    fn folder_times(&self, folder: &Path) -> Option<FolderTimes> {
        let metadata = std::fs::metadata(folder).ok().filter(Metadata::is_dir)?;
        let times = FolderTimes { modified: modified(&metadata), changed: changed(&metadata) };
        let latest = Duration::from_nanos(times.modified.max(times.changed));
        let is_old = latest + RECENT < Duration::from_nanos(since_1970(SystemTime::now()));
        (times.modified > 0 && is_old).then_some(times)
    }

    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        if offset > 0 {
            file.seek(SeekFrom::Start(offset))?;
        }
        let mut bytes = Vec::new();
        file.take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn read_into(&self, path: &Path, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut used = 0;
        while used < place.len() {
            match file.read(&mut place[used..]) {
                Ok(0) => break,
                Ok(count) => used += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(used)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send + '_>> {
        Ok(Box::new(File::open(path)?))
    }

    fn load(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes<'_>> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if range.end > metadata.len() {
            return Err(cut());
        }
        Ok(FileBytes::new(Box::new(OpenFile { file, metadata }), range))
    }
}

/// An open file. It stays open, so replacing the file on disk is safe.
struct OpenFile {
    file: File,
    metadata: Metadata,
}

impl Source for OpenFile {
    #[cfg(unix)]
    fn read_at(&mut self, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, place, offset)
    }

    #[cfg(not(unix))]
    fn read_at(&mut self, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read(place)
    }

    fn check(&self) -> io::Result<()> {
        let now = self.file.metadata()?;
        let is_same = now.len() == self.metadata.len() && now.modified().ok() == self.metadata.modified().ok();
        if is_same { Ok(()) } else { Err(changed_meanwhile()) }
    }
}

impl FileSystem {
    /// Waits until the names in a folder are on disk, if the system supports it. Without this, a rename may be lost in a power failure.
    ///
    /// # Errors
    /// If they cannot be written.
    #[cfg(unix)]
    pub fn sync_folder(self, folder: &Path) -> io::Result<()> {
        use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            // The folder is writable but not readable, or the file system persists names in another way.
            Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
            result => result,
        }
    }

    /// Does nothing, since this system does not support it.
    ///
    /// # Errors
    /// None.
    #[cfg(not(unix))]
    pub fn sync_folder(self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

impl StorageFile for File {
    fn sync(&self) -> io::Result<()> {
        self.sync_all()
    }
}

/// The file system of this machine, with a check before each access.
struct CheckedFiles {
    may_read: Check,
    may_change: Check,
    memory: MemoryBudget,
}

/// Returns the reason for refusing a path.
type Check = Box<dyn Fn(&Path) -> Result<(), String> + Send + Sync>;

fn checked(check: &Check, path: &Path) -> io::Result<()> {
    check(path).map_err(|reason| io::Error::new(io::ErrorKind::PermissionDenied, reason))
}

impl FilesAdaptor for CheckedFiles {
    fn files(&self) -> &dyn Files {
        &FileSystem
    }

    fn before_read<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        checked(&self.may_read, path)?;
        Ok(path.into())
    }

    fn before_list(&self, folder: &Path) -> io::Result<()> {
        checked(&self.may_read, folder)
    }
}

impl Storage for CheckedFiles {
    fn check_change(&self, path: &Path) -> Result<(), String> {
        (self.may_change)(path)
    }

    fn read_whole(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        checked(&self.may_read, path)?;
        self.memory.read_all(File::open(path)?, most)
    }

    fn open_file(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        checked(&self.may_read, path)?;
        Ok(Box::new(File::open(path)?))
    }

    fn create_file(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        Ok(Box::new(File::create(path)?))
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        File::options().create(true).append(true).open(path)?.write_all(bytes)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        FileSystem.sync_folder(folder)
    }

    fn lock(&self, path: &Path, is_alone: bool) -> io::Result<Box<dyn Any + Send + Sync>> {
        checked(if is_alone { &self.may_change } else { &self.may_read }, path)?;
        let file = match is_alone {
            true => File::options().create(true).truncate(false).write(true).open(path)?,
            false => File::open(path)?,
        };
        match if is_alone { file.try_lock() } else { file.try_lock_shared() } {
            Ok(()) => Ok(Box::new(file)),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            // A file system without locks.
            Err(TryLockError::Error(_)) => Ok(Box::new(())),
        }
    }
}

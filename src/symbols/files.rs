//! The files below the locator: the one place in the library that touches a file system, behind a trait.

use std::ffi::OsString;
use std::fs::{DirEntry, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::file_bytes::{FileBytes, Source, changed_meanwhile, cut};

/// The thing at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file, with its length and times in nanoseconds since 1970, 0 where unknown.
    File {
        /// Bytes.
        length: u64,
        /// The time of the last change of its content, according to the file; a program that copies a file may set it.
        modified: u64,
        /// The time of the last change of any kind, as the system saw it; 0 if the system does not tell.
        changed: u64,
    },
    /// A folder.
    Folder,
    /// Something else (a pipe, a device).
    Other,
}

/// The kind of an entry of a folder, as the folder tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, or what the file system does not tell apart from one: it may lead to anything, anywhere.
    Link,
    /// Something else (a pipe, a device).
    Other,
}

/// The times when the entries of a folder last changed, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderTimes {
    /// According to the folder; a program that copies it may set it.
    pub modified: u64,
    /// As the system saw it; 0 where the system does not tell.
    pub changed: u64,
}

/// The part of a file system that the locator of symbol files needs.
pub trait Files: Sync {
    /// The thing at `path`, through links.
    ///
    /// # Errors
    /// When there is nothing, or it may not be looked at.
    fn entry(&self, path: &Path) -> io::Result<Entry>;

    /// The one path of what is at `path`, through links: two paths of one folder have the same.
    ///
    /// # Errors
    /// As [`entry`](Self::entry).
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// The paths in a folder, in any order.
    ///
    /// # Errors
    /// When it is not a folder, or may not be read.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// The entries of a folder with their kinds, in any order. A file system that does not know the kinds calls all of them links,
    /// which costs a look at each.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    fn list_kinds(&self, folder: &Path) -> io::Result<Vec<(OsString, EntryKind)>> {
        let paths = self.list(folder)?;
        let named = |path: PathBuf| Some((path.file_name()?.to_owned(), EntryKind::Link));
        Ok(paths.into_iter().filter_map(named).collect())
    }

    /// The times when the entries of a folder last changed: as long as they stay the same, so do the names and kinds of the entries. `None`
    /// if they prove nothing: they are unknown, or so recent that another change might not show.
    fn folder_times(&self, folder: &Path) -> Option<FolderTimes> {
        let _ = folder;
        None
    }

    /// Up to `length` bytes of a file from `offset` on; fewer where it ends.
    ///
    /// # Errors
    /// When the file may not be read.
    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>>;

    /// Like [`read`](Self::read), but into the caller's buffer; returns the number of bytes read.
    ///
    /// # Errors
    /// When the file may not be read.
    fn read_into(&self, path: &Path, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        let bytes = self.read(path, offset, place.len())?;
        let count = bytes.len().min(place.len());
        place[..count].copy_from_slice(&bytes[..count]);
        Ok(count)
    }

    /// Loads a part of a file, of which only pieces may be needed: they are read when they are asked for.
    ///
    /// # Errors
    /// When the file may not be read, or ends before the part does.
    fn load(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes<'_>> {
        let entry = self.entry(path)?;
        let source = OfFiles { files: self, path: path.to_owned(), entry };
        if !matches!(entry, Entry::File { length, .. } if range.end <= length) {
            return Err(cut());
        }
        Ok(FileBytes::new(Box::new(source), range))
    }
}

/// A file of any file system, which is found anew for each piece.
struct OfFiles<'f, F: ?Sized> {
    files: &'f F,
    path: PathBuf,
    entry: Entry,
}

impl<F: Files + ?Sized> Source for OfFiles<'_, F> {
    fn read_at(&mut self, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        self.files.read_into(&self.path, offset, place)
    }

    fn check(&self) -> io::Result<()> {
        if self.files.entry(&self.path)? == self.entry { Ok(()) } else { Err(changed_meanwhile()) }
    }
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

#[cfg(unix)]
fn changed(metadata: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime() as u64).wrapping_mul(1_000_000_000).wrapping_add(metadata.ctime_nsec() as u64)
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> u64 {
    0
}

/// Clocks of file systems are coarse: two changes within this time may have the same time.
const RECENT: Duration = Duration::from_secs(2);

fn modified(metadata: &Metadata) -> u64 {
    metadata.modified().ok().map_or(0, since_1970)
}

/// Nanoseconds; 0 for what is before.
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
        std::fs::canonicalize(path)
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

    fn load(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes<'_>> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if range.end > metadata.len() {
            return Err(cut());
        }
        Ok(FileBytes::new(Box::new(OpenFile { file, metadata }), range))
    }
}

/// A file of this machine, which stays open, so replacing it by another one does no harm.
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

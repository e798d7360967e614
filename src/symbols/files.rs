//! The files below the locator: the one place in the library that touches a file system, behind a trait.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};

use symbolic_common::ByteView;

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file, with its length and times in nanoseconds since 1970, 0 where unknown.
    File {
        /// Bytes.
        length: u64,
        /// When its content changed last, as it says; whoever copies a file may set it.
        modified: u64,
        /// When anything about it changed last, as the system saw it; 0 where the system does not tell.
        changed: u64,
    },
    /// A folder.
    Folder,
    /// Something else (a pipe, a device).
    Other,
}

/// What the locator of symbol files needs of a file system.
pub trait Files: Sync {
    /// What is at `path`, through links.
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
    /// When it is no folder, or may not be read.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Up to `length` bytes of a file from `offset` on; fewer where it ends.
    ///
    /// # Errors
    /// When the file may not be read.
    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>>;

    /// The same into a place of the caller's; gives how many bytes there were.
    ///
    /// # Errors
    /// When the file may not be read.
    fn read_into(&self, path: &Path, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        let bytes = self.read(path, offset, place.len())?;
        let count = bytes.len().min(place.len());
        place[..count].copy_from_slice(&bytes[..count]);
        Ok(count)
    }

    /// A part of a file, of which only pieces may be needed.
    ///
    /// # Errors
    /// When the file may not be read, or ends before the part does.
    fn load(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes> {
        let length = usize::try_from(range.end.saturating_sub(range.start)).map_err(|_| io::ErrorKind::FileTooLarge)?;
        FileBytes::from_bytes(self.read(path, range.start, length)?, length)
    }
}

/// A part of a file, in memory or mapped.
#[derive(Clone, Debug)]
pub struct FileBytes {
    file: ByteView<'static>,
    range: Range<usize>,
}

impl FileBytes {
    /// Bytes that were read, of which there should be `length`.
    pub(crate) fn from_bytes(bytes: Vec<u8>, length: usize) -> io::Result<Self> {
        Self::new(ByteView::from_vec(bytes), 0..length)
    }

    fn new(file: ByteView<'static>, range: Range<usize>) -> io::Result<Self> {
        if file.get(range.clone()).is_none() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is shorter than it was"));
        }
        Ok(Self { file, range })
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.file[self.range.clone()]
    }
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

#[cfg(unix)]
fn changed(metadata: &std::fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime() as u64).wrapping_mul(1_000_000_000).wrapping_add(metadata.ctime_nsec() as u64)
}

#[cfg(not(unix))]
fn changed(_: &std::fs::Metadata) -> u64 {
    0
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
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let modified = modified.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        Ok(Entry::File { length: metadata.len(), modified, changed: changed(&metadata) })
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
    }

    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(path)?;
        if offset > 0 {
            file.seek(SeekFrom::Start(offset))?;
        }
        let mut bytes = Vec::new();
        file.take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn read_into(&self, path: &Path, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        let mut file = std::fs::File::open(path)?;
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

    /// Maps the file: a look-up touches a part of a dSYM, and reading all of it costs as much as the look-up itself (a
    /// third of the CPU time at 2,000 addresses of a 7 MB file). A file that somebody truncates at that moment ends the
    /// process; symbol files are written once, unlike the exports, which are never mapped.
    fn load(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes> {
        let place = |offset: u64| usize::try_from(offset).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge));
        FileBytes::new(ByteView::open(path)?, place(range.start)?..place(range.end)?)
    }
}

//! The files below the locator: the one place in the library that touches a file system, behind a trait.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::file_bytes::{FileBytes, Source, changed_meanwhile, cut};

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

    /// A part of a file, of which only pieces may be needed: they are read when they are asked for.
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

/// A file of this machine, which stays open: whoever replaces it by another one disturbs nobody.
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

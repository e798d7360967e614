//! File systems that read through another file system.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::access::{Entry, EntryKind, Files, FolderTimes};
use super::file_bytes::FileBytes;

/// A file system on top of another one. Implement this instead of [`Files`] to observe or redirect reads.
pub trait FilesAdaptor: Sync {
    /// The underlying file system.
    fn files(&self) -> &dyn Files;

    /// The path in the underlying file system; the path itself by default.
    fn located<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        Cow::Borrowed(path)
    }

    /// Called before bytes of a file are read. Returns the path to read them from.
    ///
    /// # Errors
    /// If they cannot be read.
    fn before_read<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        Ok(self.located(path))
    }

    /// Called before a folder is listed.
    ///
    /// # Errors
    /// If it cannot be.
    fn before_list(&self, folder: &Path) -> io::Result<()> {
        let _ = folder;
        Ok(())
    }

    /// Called after bytes of a file were read. Bytes that are only [loaded](Files::load) are not reported.
    fn after_read(&self, path: &Path, offset: u64, bytes: &[u8]) {
        let _ = (path, offset, bytes);
    }
}

impl<A: FilesAdaptor> Files for A {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        self.files().entry(&self.located(path))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let located = self.located(path);
        let real = self.files().canonical(&located)?;
        // A redirected path has no other name.
        Ok(if *located == *path { real } else { path.to_owned() })
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.before_list(folder)?;
        let located = self.located(folder);
        let listed = self.files().list(&located)?;
        let named = |path: PathBuf| path.strip_prefix(&located).map_or(path.clone(), |name| folder.join(name));
        Ok(if *located == *folder { listed } else { listed.into_iter().map(named).collect() })
    }

    fn list_kinds(&self, folder: &Path) -> io::Result<Vec<(OsString, EntryKind)>> {
        self.before_list(folder)?;
        self.files().list_kinds(&self.located(folder))
    }

    fn folder_times(&self, folder: &Path) -> Option<FolderTimes> {
        self.files().folder_times(&self.located(folder))
    }

    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let bytes = self.files().read(&self.before_read(path)?, offset, length)?;
        self.after_read(path, offset, &bytes);
        Ok(bytes)
    }

    fn read_into(&self, path: &Path, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        let count = self.files().read_into(&self.before_read(path)?, offset, place)?;
        self.after_read(path, offset, place.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send + '_>> {
        let source = self.files().open(&self.before_read(path)?)?;
        Ok(Box::new(Observed { adaptor: self, path: path.to_owned(), offset: 0, source }))
    }

    fn load(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes<'_>> {
        self.files().load(&self.before_read(path)?, range)
    }
}

/// An open file whose bytes are reported to the adaptor.
struct Observed<'a, A> {
    adaptor: &'a A,
    path: PathBuf,
    offset: u64,
    source: Box<dyn Read + Send + 'a>,
}

impl<A: FilesAdaptor> Read for Observed<'_, A> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.adaptor.after_read(&self.path, self.offset, buffer.get(..count).unwrap_or_default());
        self.offset += count as u64;
        Ok(count)
    }
}

//! Reads recordings in archives: treats a zip or tar as a folder, without unpacking it.
//!
//! ```text
//! finder.trace.zip/finder.trace/form.template
//! └ a file ──────┘└ a name in the archive ──┘
//! ```
//!
//! Nothing is unpacked to disk. For a zip, the central directory is read and entries are inflated on demand. For a tar, the headers are read
//! once, and entries are ranges of the file. Only a compressed tar is decompressed into memory, since it has no random access. File types are
//! recognised by content, not by name.

mod file_range;
mod folder_tree;
mod inflate;
mod tar_index;
#[cfg(test)]
mod tests;
mod zip_index;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use super::file::Inflated;
use crate::error::{Error, ErrorKind};
use crate::files::{Entry, EntryKind, FileBytes, Files, FolderTimes, shown};
use crate::memory::MemoryBudget;
use crate::readers::formats::{has_bundle_parts, is_bundle, is_folder};
use crate::readers::names::is_recording_name;
use crate::units::first_of;
use file_range::FileRange;
use folder_tree::ArchiveIndex;
pub use folder_tree::ArchiveLimits;
use folder_tree::{Item, Node, Place};
use inflate::Inflater;

struct Archive {
    path: PathBuf,
    index: ArchiveIndex,
    /// The complete tar, if it had to be decompressed.
    memory: Option<Inflated>,
}

impl Archive {
    fn new(path: &Path, index: ArchiveIndex, memory: Option<Inflated>) -> Self {
        Self { path: path.to_owned(), index, memory }
    }
}

/// A file system in which mounted archives are folders. All other paths are passed to the underlying file system.
pub struct BundleFiles<'f> {
    base: &'f dyn Files,
    limits: ArchiveLimits,
    archives: Vec<Archive>,
    /// The mounted paths, each with the recording found there.
    mounted: Vec<(PathBuf, PathBuf)>,
    inflater: Inflater<'f>,
}

impl fmt::Debug for BundleFiles<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BundleFiles").field("mounted", &self.mounted).finish_non_exhaustive()
    }
}

impl<'f> BundleFiles<'f> {
    /// Wraps `base`, without any archives.
    pub fn new(base: &'f dyn Files) -> Self {
        Self::with_limits(base, ArchiveLimits::default())
    }

    /// Like [`new`](Self::new), with these limits.
    pub fn with_limits(base: &'f dyn Files, limits: ArchiveLimits) -> Self {
        let inflater = Inflater::new(base);
        Self { base, limits, archives: Vec::new(), mounted: Vec::new(), inflater }
    }

    /// The memory that archives may take.
    pub(crate) fn memory(&self) -> &MemoryBudget {
        &self.limits.memory
    }

    /// Finds the recording at `path`. If `path` is the folder of a recording, returns it unchanged. If it is a zip or tar, returns the path of
    /// the recording in it, which can be read from then on. `None` if there is no recording, or no file.
    ///
    /// The recording may be the archive itself, or be in a folder. If there are several, those in the fewest folders count. With the feature
    /// `compression`, a tar may be compressed with gzip or zstd.
    ///
    /// # Errors
    /// If an archive contains several recordings, violates its format, has names that lead out of it, or exceeds the limits.
    pub fn mount(&mut self, path: &Path) -> Result<Option<PathBuf>, Error> {
        self.mount_input(path, |_, _| Vec::new())
    }

    /// Like [`mount`](Self::mount). In an archive without a recording, `inputs` chooses from all its files.
    pub(crate) fn mount_input(
        &mut self,
        path: &Path,
        inputs: impl FnOnce(&Self, Vec<PathBuf>) -> Vec<PathBuf>,
    ) -> Result<Option<PathBuf>, Error> {
        if let Some((_, bundle)) = self.mounted.iter().find(|(known, _)| known == path) {
            return Ok(Some(bundle.clone()));
        }
        let bundle = match self.base.entry(path) {
            Ok(Entry::Folder) => is_bundle(self.base, path).then(|| path.to_owned()),
            Ok(Entry::File { length, .. }) => self.mount_archive(path, length, inputs)?,
            // Left to the reader, which reports what is wrong.
            Ok(Entry::Other) | Err(_) => None,
        };
        self.mounted.extend(bundle.iter().map(|bundle| (path.to_owned(), bundle.clone())));
        Ok(bundle)
    }

    fn mount_archive(
        &mut self,
        path: &Path,
        length: u64,
        inputs: impl FnOnce(&Self, Vec<PathBuf>) -> Vec<PathBuf>,
    ) -> Result<Option<PathBuf>, Error> {
        let Some(archive) = self.open_archive(path, length)? else { return Ok(None) };
        self.archives.push(archive);
        let mut found = self.bundles_in(path).unwrap_or_else(|others| inputs(self, others));
        match found.len() {
            1 => return Ok(found.pop()),
            0 => {}
            _ => {
                found.sort();
                let names = found.iter().filter_map(|bundle| bundle.strip_prefix(path).ok());
                let names: Vec<String> = names.map(shown).collect();
                let what = format!("there are several inputs in it: {}; unpack it, and name one", first_of(&names));
                self.archives.pop();
                return Err(Error::new(ErrorKind::NotAnExport(format!("{}: {what}", shown(path))), None));
            }
        }
        self.archives.pop();
        Ok(None)
    }

    fn open_archive(&self, path: &Path, length: u64) -> Result<Option<Archive>, Error> {
        let Ok(head) = self.base.read(path, 0, tar_index::BLOCK) else { return Ok(None) };
        if zip_index::is_zip(&head) {
            let index = zip_index::read(self.base, path, length, &self.limits)?;
            return Ok(Some(Archive::new(path, index, None)));
        }
        if tar_index::is_tar(&head) {
            let index = tar_index::read(self.base, path, length, &self.limits)?;
            return Ok(Some(Archive::new(path, index, None)));
        }
        let Some(memory) = tar_index::inflate(self.base, path, length, &head, &self.limits)? else { return Ok(None) };
        let index = tar_index::read_memory(&memory, path, &self.limits)?;
        Ok(Some(Archive::new(path, index, Some(memory))))
    }

    /// Finds the recordings of an archive that are in the fewest folders, and packed ones above them; if there are none, returns all its files as
    /// the error.
    fn bundles_in(&self, archive: &Path) -> Result<Vec<PathBuf>, Vec<PathBuf>> {
        if has_bundle_parts(self, archive) {
            return Ok(vec![archive.to_owned()]);
        }
        let (mut files, mut level) = (Vec::new(), vec![archive.to_owned()]);
        // Terminates because the depth of folders is limited.
        while !level.is_empty() {
            let paths = level.iter().flat_map(|folder| self.list(folder).unwrap_or_default());
            let own = paths.filter(|path| !BundleFiles::is_added_by_macos(path));
            let (folders, mut others): (Vec<_>, Vec<_>) = own.partition(|path| is_folder(self, path));
            let (bundles, deeper): (Vec<_>, Vec<_>) = folders.into_iter().partition(|path| is_bundle(self, path));
            files.append(&mut others);
            if !bundles.is_empty() {
                // Recordings that are packed again cannot be read, but count.
                files.retain(|path| is_recording_name(path));
                files.extend(bundles);
                return Ok(files);
            }
            level = deeper;
        }
        Err(files)
    }

    /// Finds the archive that contains a path, and the path's entry in it.
    fn find(&self, path: &Path) -> Option<(&Archive, io::Result<(usize, &Node)>)> {
        let inside = |archive: &Archive| path.strip_prefix(&archive.path).ok().map(Path::to_owned);
        let (archive, inside) = self.archives.iter().find_map(|archive| Some((archive, inside(archive)?)))?;
        let missing = || {
            let what = format!("{} has no {}", shown(&archive.path), shown(&inside));
            io::Error::new(io::ErrorKind::NotFound, what)
        };
        let parts: Option<Vec<&str>> = inside
            .components()
            .filter(|part| *part != Component::CurDir)
            .map(|part| if let Component::Normal(name) = part { name.to_str() } else { None })
            .collect();
        Some((archive, parts.and_then(|parts| archive.index.names.find(&parts)).ok_or_else(missing)))
    }

    fn read_item(
        &self,
        archive: &Archive,
        index: usize,
        item: &Item,
        offset: u64,
        length: usize,
    ) -> io::Result<Vec<u8>> {
        let length = item.length.saturating_sub(offset).min(length as u64) as usize;
        match (&item.place, &archive.memory) {
            (Place::Refused(what), _) => Err(io::Error::new(io::ErrorKind::Unsupported, *what)),
            (Place::Range(start), Some(memory)) => {
                let start = usize::try_from(start.saturating_add(offset)).unwrap_or(usize::MAX);
                let bytes = memory.get(start..).and_then(|rest| rest.get(..length));
                bytes.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            }
            (Place::Range(start), None) => {
                let bytes = self.base.read(&archive.path, start.saturating_add(offset), length)?;
                if bytes.len() < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
            }
            (Place::Zipped(zipped), _) => self.inflater.read(&archive.path, index, zipped, item.length, offset, length),
        }
    }
}

impl Files for BundleFiles<'_> {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        let Some((_, found)) = self.find(path) else { return self.base.entry(path) };
        Ok(match &found?.1.item {
            None => Entry::Folder,
            // Archive timestamps are in the time zone of the machine that packed it, so they are not comparable.
            Some(item) => Entry::File { length: item.length, modified: 0, changed: 0 },
        })
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let Some((archive, found)) = self.find(path) else { return self.base.canonical(path) };
        found?;
        let inside = path.strip_prefix(&archive.path).unwrap_or(Path::new(""));
        let base = self.base.canonical(&archive.path)?;
        Ok(inside.components().filter(|part| *part != Component::CurDir).fold(base, |path, part| path.join(part)))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let Some((_, found)) = self.find(folder) else { return self.base.list(folder) };
        let (_, node) = found?;
        if node.item.is_some() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        // Names in an archive are separated by slashes on every system.
        let mut folder = folder.as_os_str().to_owned();
        folder.push("/");
        let child = |name: &str| {
            let mut path = folder.clone();
            path.push(name);
            PathBuf::from(path)
        };
        Ok(node.children.keys().map(|name| child(name)).collect())
    }

    fn list_kinds(&self, folder: &Path) -> io::Result<Vec<(OsString, EntryKind)>> {
        if self.find(folder).is_none() {
            return self.base.list_kinds(folder);
        }
        let name = |path: PathBuf| Some((path.file_name()?.to_owned(), EntryKind::Link));
        Ok(self.list(folder)?.into_iter().filter_map(name).collect())
    }

    fn folder_times(&self, folder: &Path) -> Option<FolderTimes> {
        if self.find(folder).is_none() { self.base.folder_times(folder) } else { None }
    }

    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let Some((archive, found)) = self.find(path) else { return self.base.read(path, offset, length) };
        let (index, node) = found?;
        let item = node.item.as_ref().ok_or(io::ErrorKind::IsADirectory)?;
        let named = |error: io::Error| {
            let what = format!("{} (in the archive, at byte {}): {error}", shown(path), item.position);
            io::Error::new(error.kind(), what)
        };
        self.read_item(archive, index, item, offset, length).map_err(named)
    }

    fn read_into(&self, path: &Path, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        if self.find(path).is_none() {
            return self.base.read_into(path, offset, place);
        }
        let bytes = self.read(path, offset, place.len())?;
        let count = bytes.len().min(place.len());
        place[..count].copy_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send + '_>> {
        if self.find(path).is_none() {
            return self.base.open(path);
        }
        let Entry::File { length, .. } = self.entry(path)? else { return Err(io::ErrorKind::IsADirectory.into()) };
        Ok(Box::new(FileRange::new(self, path, 0, length)))
    }

    fn load(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes<'_>> {
        if self.find(path).is_none() {
            return self.base.load(path, range);
        }
        let length = usize::try_from(range.end.saturating_sub(range.start)).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let reserved = self.limits.memory.reserve(length as u64).map_err(io::Error::other)?;
        let bytes = self.read(path, range.start, length)?;
        let is_cut = bytes.len() < length;
        if is_cut { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(FileBytes::held(bytes, reserved)) }
    }
}

impl BundleFiles<'_> {
    /// True for files that macOS adds to folders and archives, such as `.DS_Store`. They are not part of the recording.
    pub fn is_added_by_macos(path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        name.starts_with(b"._") || name == b"__MACOSX" || name == b".DS_Store"
    }
}

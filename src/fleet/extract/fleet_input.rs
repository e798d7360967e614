//! Reads and hashes a fleet input of any kind at the same time, so most of a recording is read and decompressed once.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::content::{self, ReadFile, refused, unless_changed};
use crate::error::Error;
use crate::files::{Entry, Files, FilesAdaptor};
use crate::fleet::NotMeasured;
use crate::fleet::host::{FleetHost, WatchedInputs};
use crate::memory::MemoryBudget;
use crate::readers::bundle::BundleFiles;
use crate::readers::input::{Input, InputFiles, InputPlace};
use crate::readers::read;
use crate::recording::{Intervals, Options, Recording, RecordingBuilder};
use crate::symbols::{Index, Locator};
use blake3::{Hash, Hasher};

/// The size on disk of a file or of all files in a folder; 0 if unreadable.
pub(crate) fn size_on_disk(files: &dyn Files, path: &Path) -> u64 {
    match files.entry(path) {
        Ok(Entry::File { length, .. }) => length,
        Ok(Entry::Folder) => {
            let files = all_files(files, path).unwrap_or_default();
            files.into_iter().map(|(_, length)| length).sum()
        }
        Ok(Entry::Other) | Err(_) => 0,
    }
}

/// An export or recording, possibly in an archive.
pub(crate) struct FleetInput<'w> {
    files: InputFiles<'w>,
    path: PathBuf,
    place: InputPlace,
    /// The folder with the recording's symbols; set once the recording is read.
    symbol_stores: Option<PathBuf>,
    memory: MemoryBudget,
}

impl<'w> FleetInput<'w> {
    /// Opens the input at a path, with a memory budget for decompressed data. From then on, the parts of a recording that are read are watched
    /// for changes.
    ///
    /// # Errors
    /// If an archive is unusable.
    pub(crate) fn open(
        watched: &'w dyn WatchedInputs,
        path: &Path,
        memory: &MemoryBudget,
    ) -> Result<Self, NotMeasured> {
        watched.add(path);
        let mut files = InputFiles::new(watched, memory);
        let place = files.find(path).map_err(|error| refused(&error))?;
        Ok(Self { files, path: path.to_owned(), place, symbol_stores: None, memory: memory.clone() })
    }

    /// The path of a recording, which may be in an archive; `None` for exports.
    pub(crate) fn bundle(&self) -> Option<&Path> {
        match &self.place {
            InputPlace::Bundle(bundle) => Some(bundle),
            InputPlace::File(_) | InputPlace::WithToc { .. } => None,
        }
    }

    /// The export or report, if it is in an archive.
    fn packed(&self) -> Option<&Path> {
        match &self.place {
            InputPlace::File(inside) | InputPlace::WithToc { export: inside, .. } => {
                (*inside != self.path).then_some(inside)
            }
            InputPlace::Bundle(_) => None,
        }
    }

    /// The table of contents in the same archive as the export.
    pub(super) fn packed_toc(&self) -> Option<&Path> {
        if let InputPlace::WithToc { toc, .. } = &self.place { Some(toc) } else { None }
    }

    /// Calls `read` with the decompressed bytes of a file in the archive. Returns its result, and the hash, which is the same without the archive.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn read_packed<T>(
        &self,
        inside: &Path,
        read: impl FnOnce(&mut (dyn Read + Send)) -> T,
    ) -> Result<(T, Hash), NotMeasured> {
        let read = self.files.open(inside).and_then(|mut file| {
            let (result, content) = content::hashed(&mut file, &self.memory, read);
            Ok((result?, content))
        });
        read.map_err(|error| unreadable(inside, &error))
    }

    /// Reads and hashes all of the input, called `name` in the result. With `None`, a recording is named by its path, and an export has no name,
    /// since errors are printed next to the file name.
    ///
    /// # Errors
    /// If its files cannot be read.
    pub(crate) fn read(
        &mut self,
        name: Option<&str>,
        options: &Options,
        host: &dyn FleetHost,
    ) -> Result<ReadFile, NotMeasured> {
        let file_name = name.unwrap_or_default();
        if let Some(inside) = self.packed() {
            let (export, content) = self.read_packed(inside, |source| read(source, file_name, options))?;
            let bytes = size_on_disk(host.files(), &self.path);
            host.add_bytes(bytes);
            return Ok(ReadFile { content, bytes, export: export.map_err(|error| refused(&error)) });
        }
        let Some(bundle) = self.bundle() else { return content::read_file(file_name, &self.path, options, host) };
        let files = HashedFiles::new(&self.files);
        let own_name = bundle.display().to_string();
        let (export, symbol_stores) = read_export(&files, (&self.place, name.unwrap_or(&own_name)), options);
        let (content, bytes) = self.hash_of(&files, bundle, host)?;
        self.symbol_stores = symbol_stores;
        Ok(ReadFile { content, bytes, export: export.map_err(|error| refused(&error)) })
    }

    /// The hash of the table of contents in the same archive as the export.
    pub(super) fn packed_toc_hash(&self) -> Option<Hash> {
        Some(self.read_packed(self.packed_toc()?, |_| ()).ok()?.1)
    }

    fn hash(&self, host: &dyn FleetHost) -> Result<Hash, NotMeasured> {
        if let Some(inside) = self.packed() {
            host.add_bytes(size_on_disk(host.files(), &self.path));
            return Ok(self.read_packed(inside, |_| ())?.1);
        }
        let Some(bundle) = self.bundle() else { return content::hash(&self.path, host) };
        Ok(self.hash_of(&HashedFiles::new(&self.files), bundle, host)?.0)
    }

    /// Returns the hash of the names and contents of a recording's files, which is the same for a folder and its archive, and the size on disk.
    fn hash_of(
        &self,
        hashed: &HashedFiles<'_>,
        bundle: &Path,
        host: &dyn FleetHost,
    ) -> Result<(Hash, u64), NotMeasured> {
        let mut hasher = Hasher::new();
        let files = all_files(&self.files, bundle).map_err(|error| unreadable(bundle, &error))?;
        for (path, length) in files {
            let name = path.strip_prefix(bundle).unwrap_or(&path);
            let name = name.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
            hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes()).update(&length.to_le_bytes());
            let content = hashed.hash(&path, length);
            hasher.update(content.map_err(|error| unreadable(&path, &error))?.as_bytes());
        }
        let bytes = size_on_disk(host.files(), &self.path);
        host.add_bytes(bytes);
        Ok((hasher.finalize(), bytes))
    }

    /// Reads the intervals. An export is read a second time.
    ///
    /// # Errors
    /// If the input cannot be read (again).
    pub(crate) fn intervals(&self, options: &Options, host: &dyn FleetHost) -> Result<Intervals, NotMeasured> {
        // If the file does not exist, opening it reports that.
        if host.state(&self.path).is_some_and(|state| !state.is_lasting()) {
            let reason = "cannot be read twice, for its samples and for its intervals; put the intervals into a file that a manifest names in its column `intervals`";
            return Err(NotMeasured::unreadable(reason));
        }
        let read = Input::open(&self.files, &self.place, options).and_then(|input| input.intervals("", options));
        read.map_err(|error| refused(&error))
    }

    /// The symbols that the recording contains.
    pub(crate) fn symbols(&self) -> Locator<'_> {
        let mut locator = Locator::new(&self.files).within(&self.memory);
        // Errors are ignored, since a recording need not contain symbols.
        let _ = self.symbol_stores.as_ref().map(|path| locator.add(path, &mut Index::default()));
        locator
    }
}

/// The hashes of an input and of the table of contents in the same archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InputHashes {
    pub(crate) content: Hash,
    pub(crate) packed_toc: Option<Hash>,
}

impl InputHashes {
    /// Reads the input.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn of(path: &Path, memory: &MemoryBudget, host: &dyn FleetHost) -> Result<Self, NotMeasured> {
        let files = host.watch();
        let input = FleetInput::open(&*files, path, memory)?;
        let hashes = input.hash(host).map(|content| Self { content, packed_toc: input.packed_toc_hash() });
        unless_changed(&*files, path, hashes)
    }

    /// Both as text, for [`from_text`](Self::from_text).
    pub(crate) fn to_text(self) -> String {
        let toc = self.packed_toc.map_or_else(String::new, |toc| format!("+{}", toc.to_hex()));
        format!("{}{toc}", self.content.to_hex())
    }

    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let (content, toc) = text.split_once('+').map_or((text, None), |(content, toc)| (content, Some(toc)));
        let packed_toc = toc.map(Hash::from_hex).transpose().ok()?;
        Some(Self { content: Hash::from_hex(content).ok()?, packed_toc })
    }
}

/// Reads the recording. Returns it with the folder of its symbols, if it can be opened.
fn read_export(
    files: &dyn Files,
    (place, name): (&InputPlace, &str),
    options: &Options,
) -> (Result<Recording, Error>, Option<PathBuf>) {
    let opened = match Input::open(files, place, options) {
        Ok(opened) => opened,
        Err(error) => return (Err(error), None),
    };
    let mut recording = RecordingBuilder::new(options.clone());
    let read = opened.read_into(&mut recording, name);
    (read.and_then(|()| recording.finish()), opened.symbol_stores())
}

/// Lists the files below a folder with their lengths, sorted by path, without those that macOS adds. A folder is entered once, even if several
/// links lead to it.
///
/// # Errors
/// If a folder cannot be read.
fn all_files(files: &dyn Files, folder: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        if !seen.insert(files.canonical(&folder)?) {
            continue;
        }
        for path in files.list(&folder)? {
            match files.entry(&path) {
                _ if BundleFiles::is_added_by_macos(&path) => {}
                Ok(Entry::File { length, .. }) => found.push((path, length)),
                Ok(Entry::Folder) => open.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> NotMeasured {
    NotMeasured::unreadable(format!("{} cannot be read: {error}", path.display()))
}

/// The piece size for parts that no reader has used.
const PIECE: usize = 1 << 20;

/// A file system that hashes each file as it is read from the start. Bytes that are read out of order or again are skipped; [`hash`](Self::hash)
/// reads what is missing.
pub(super) struct HashedFiles<'f> {
    files: &'f dyn Files,
    begun: Mutex<HashMap<PathBuf, Begun>>,
}

/// The hash of the beginning of a file.
#[derive(Default)]
struct Begun {
    hasher: Hasher,
    /// The number of bytes hashed.
    end: u64,
}

impl<'f> HashedFiles<'f> {
    pub(super) fn new(files: &'f dyn Files) -> Self {
        Self { files, begun: Mutex::default() }
    }

    /// Returns the hash of a file of this length, reading the bytes that are not hashed yet.
    ///
    /// # Errors
    /// If it is unreadable or shorter.
    pub(super) fn hash(&self, path: &Path, length: u64) -> io::Result<Hash> {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
        let Begun { mut hasher, mut end } = begun.unwrap_or_default();
        while end < length {
            let bytes = self.files.read(path, end, PIECE)?;
            if bytes.is_empty() {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is shorter than it was"));
            }
            hasher.update(&bytes);
            end += bytes.len() as u64;
        }
        Ok(hasher.finalize())
    }

    /// Hashes the bytes that directly follow those already hashed.
    fn add(&self, path: &Path, offset: u64, bytes: &[u8]) {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if !begun.contains_key(path) {
            begun.insert(path.to_owned(), Begun::default());
        }
        let Some(file) = begun.get_mut(path) else { return };
        let known = file.end.checked_sub(offset).and_then(|known| usize::try_from(known).ok());
        if let Some(new) = known.and_then(|known| bytes.get(known..)) {
            file.hasher.update(new);
            file.end += new.len() as u64;
        }
    }
}

impl FilesAdaptor for HashedFiles<'_> {
    fn files(&self) -> &dyn Files {
        self.files
    }

    fn after_read(&self, path: &Path, offset: u64, bytes: &[u8]) {
        self.add(path, offset, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Entry, FileSystem};

    /// A file system that counts the bytes read.
    struct Counting(Mutex<u64>);

    impl Files for Counting {
        fn entry(&self, path: &Path) -> io::Result<Entry> {
            FileSystem.entry(path)
        }

        fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
            FileSystem.canonical(path)
        }

        fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
            FileSystem.list(folder)
        }

        fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
            let bytes = FileSystem.read(path, offset, length)?;
            *self.0.lock().unwrap() += bytes.len() as u64;
            Ok(bytes)
        }
    }

    #[test]
    fn the_hash_is_that_of_the_content_however_it_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let content: Vec<u8> = (0..3_000_u32).map(|number| (number * number % 251) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let ways: [(&[(u64, usize)], u64); 6] = [
            (&[], 3_000),
            (&[(0, 1_000), (1_000, 1_000), (2_000, 1_000), (3_000, 10)], 3_000),
            // Repeated, overlapping, with a gap that is read later, and only in part.
            (&[(0, 1_000), (0, 1_000), (500, 1_000)], 3_000 + 1_500),
            (&[(2_000, 1_000), (0, 2_000)], 3_000 + 1_000),
            (&[(0, 10), (5, 1), (2_999, 1)], 3_000 + 2),
            (&[(7_000, 10), (0, 5_000)], 3_000),
        ];
        for (pieces, expected) in ways {
            let counting = Counting(Mutex::new(0));
            let files = HashedFiles::new(&counting);
            for (index, &(offset, length)) in pieces.iter().enumerate() {
                let from = content.len().min(offset as usize);
                let wanted = &content[from..content.len().min(from + length)];
                if index % 2 == 0 {
                    assert_eq!(files.read(&path, offset, length).unwrap(), wanted);
                } else {
                    let mut place = vec![0; length];
                    assert_eq!(files.read_into(&path, offset, &mut place).unwrap(), wanted.len());
                    assert!(place.starts_with(wanted));
                }
            }
            assert_eq!(files.hash(&path, 3_000).unwrap(), blake3::hash(&content), "{pieces:?}");
            assert_eq!(*counting.0.lock().unwrap(), expected, "{pieces:?}");
        }
        let error = HashedFiles::new(&FileSystem).hash(&path, 3_001).unwrap_err();
        assert_eq!(error.to_string(), "it is shorter than it was");
    }
}

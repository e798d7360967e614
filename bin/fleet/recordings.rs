//! Recordings among the inputs of a fleet: folders, and archives of them.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use blake3::{Hash, Hasher};
use traceparse::Error;
use traceparse::bundle::{ArchiveLimits, Bundle, BundleFiles};
use traceparse::fleet::FailureKind;
use traceparse::memory::MemoryBudget;
use traceparse::recording::{Options, Recording, RecordingBuilder};
use traceparse::symbols::{Entry, FileSystem, Files, Index, Locator};

use super::content::{ReadFile, Refused, refused};
use super::control::Control;
use super::hashed_files::HashedFiles;
use crate::unchanged::WatchedFiles;

/// The number of bytes that a file, or all files in a folder, have on disk; 0 for those that cannot be read.
pub(super) fn size_on_disk(path: &Path) -> u64 {
    match FileSystem.entry(path) {
        Ok(Entry::File { length, .. }) => length,
        Ok(Entry::Folder) => {
            let files = all_files(&FileSystem, path).unwrap_or_default();
            files.into_iter().map(|(_, length)| length).sum()
        }
        Ok(Entry::Other) | Err(_) => 0,
    }
}

/// A recording, also one in an archive.
pub(super) struct BundleInput<'w> {
    files: BundleFiles<'w>,
    bundle: PathBuf,
    /// Of the folder or the archive, on disk.
    bytes: u64,
    /// The folder in which it keeps symbols, once it was read.
    symbol_stores: Option<PathBuf>,
    memory: MemoryBudget,
}

impl<'w> BundleInput<'w> {
    /// The recording at a path, with a budget of memory for inflated data; `None` for exports, and for anything that cannot be read. The
    /// parts of it that are read are watched from now on.
    ///
    /// # Errors
    /// For an archive that cannot be used.
    pub(super) fn open(watched: &'w WatchedFiles, path: &Path, memory: &MemoryBudget) -> Result<Option<Self>, Refused> {
        watched.add_root(path);
        let limits = ArchiveLimits { memory: memory.clone(), ..ArchiveLimits::default() };
        let mut files = BundleFiles::with_limits(watched, limits);
        let bundle = files.mount(path).map_err(|error| {
            let mut refused = refused(&error);
            // A reason stands beside the name of its file.
            if let Some(reason) = refused.reason.strip_prefix(&format!("{}: ", path.display())) {
                refused.reason = reason.to_owned();
            }
            refused
        })?;
        Ok(bundle.map(|bundle| Self {
            files,
            bundle,
            bytes: size_on_disk(path),
            symbol_stores: None,
            memory: memory.clone(),
        }))
    }

    /// The path of the recording: in an archive, below the path of the archive.
    pub(super) fn bundle(&self) -> &Path {
        &self.bundle
    }

    /// Reads it, and hashes all of it.
    ///
    /// # Errors
    /// When its files cannot be read.
    pub(super) fn read(&mut self, options: &Options, control: &Control) -> Result<ReadFile, Refused> {
        let files = HashedFiles::new(&self.files);
        let (export, symbol_stores) = read_export(&files, &self.bundle, options);
        let content = self.hash_of(&files, control)?;
        self.symbol_stores = symbol_stores;
        Ok(ReadFile { content, bytes: self.bytes, export: export.map_err(|error| refused(&error)) })
    }

    /// The hash of names and contents of its files: the same for a folder and for an archive of it.
    ///
    /// # Errors
    /// When its files cannot be read.
    pub(super) fn hash(&self, control: &Control) -> Result<Hash, Refused> {
        self.hash_of(&HashedFiles::new(&self.files), control)
    }

    fn hash_of(&self, hashed: &HashedFiles<'_>, control: &Control) -> Result<Hash, Refused> {
        let mut hasher = Hasher::new();
        let files = all_files(&self.files, &self.bundle).map_err(|error| unreadable(&self.bundle, &error))?;
        for (path, length) in files {
            let name = path.strip_prefix(&self.bundle).unwrap_or(&path);
            let name = name.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
            hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes()).update(&length.to_le_bytes());
            let content = hashed.hash(&path, length);
            hasher.update(content.map_err(|error| unreadable(&path, &error))?.as_bytes());
        }
        control.progress.add_bytes(self.bytes);
        Ok(hasher.finalize())
    }

    /// The symbols that it keeps of its samples.
    pub(super) fn symbols(&self) -> Locator<'_> {
        let mut locator = Locator::new(&self.files).within(&self.memory);
        // A recording need not have any.
        let _ = self.symbol_stores.as_ref().map(|path| locator.add(path, &mut Index::default()));
        locator
    }
}

/// The export in a recording, and the folder of its symbols, if the recording can be opened.
fn read_export(files: &dyn Files, bundle: &Path, options: &Options) -> (Result<Recording, Error>, Option<PathBuf>) {
    let opened = match Bundle::open(files, bundle, options) {
        Ok(opened) => opened,
        Err(error) => return (Err(error), None),
    };
    let mut recording = RecordingBuilder::new(options.clone());
    let read = opened.read_into(&mut recording, &bundle.display().to_string());
    (read.and_then(|()| recording.finish()), Some(opened.symbol_stores()))
}

/// The files below a folder with their lengths, by path, without those that macOS adds to folders and archives. A folder is entered once,
/// whichever links lead to it.
///
/// # Errors
/// When a folder cannot be read.
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

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Refused {
    Refused { kind: FailureKind::Unreadable, reason: format!("{} cannot be read: {error}", path.display()) }
}

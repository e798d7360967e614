//! Finds symbol files by UUID: walks the files and folders specified by the user once (`walk`), or looks up images in an index of an earlier walk
//! (`recall`). Files are recognised by content, never by name.
//!
//! The user may specify a file, a bundle (`*.dSYM`, `*.xcarchive`, `*.trace`), DerivedData, or any folder. A folder is entered once, even if
//! several links lead to it. Files with the same UUID are sorted by the information they contain: a dSYM (lines, inlined functions), then
//! `.symbols`, then the binary itself, then a dyld shared cache, then the symbols stored in a recording (`.symbolsarchive`). A binary that Xcode
//! extracted from a cache contains the same symbols as the cache, and is faster to read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::found::{Contents, Found, Image};
use super::index::Index;
use super::lookup::SymbolFinder;
use super::sentences::first_sentences;
use super::stamp::Stamp;
use super::symbol_file;
use crate::error::Diagnostic;
use crate::files::{Entry, Files, shown};
use crate::hash;
use crate::memory::{MemoryBudget, Reservation};
use crate::units::{Uuid, several};

/// The maximum depth of a walk, far above the depth of any folder with symbols.
pub(super) const MAX_DEPTH: usize = 64;
pub(super) const MAX_ENTRIES: usize = 1_000_000;

/// Finds symbol files in the paths specified by the user.
pub struct Locator<'f> {
    pub(super) files: &'f dyn Files,
    found: Vec<Found>,
    by_uuid: HashMap<Uuid, Vec<usize>>,
    by_name: BTreeMap<String, Vec<usize>>,
    /// The folders walked and files examined so far, by canonical path, with the number of the walk. The keys are strings because hashing a
    /// `Path` splits it into components.
    pub(super) folders: hash::HashMap<OsString, u32>,
    pub(super) seen: hash::HashMap<OsString, u32>,
    /// The number of walks, including the current one.
    pub(super) walks: u32,
    /// True if the current walk was incomplete, so its result must not be stored.
    pub(super) is_partial: bool,
    pub(super) entries: usize,
    notes: Vec<Diagnostic>,
    /// The files that found files depend on.
    pub(super) parts: BTreeSet<PathBuf>,
    /// The number of remembered images in each folder that were not wanted.
    unwanted: BTreeMap<PathBuf, u64>,
    /// The budget for examining files.
    budget: MemoryBudget,
    /// The memory of found files, reserved from the budget.
    reserved: Reservation,
}

impl fmt::Debug for Locator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locator").field("found", &self.found).field("notes", &self.notes).finish_non_exhaustive()
    }
}

impl<'f> Locator<'f> {
    /// Creates a locator without any files.
    pub fn new(files: &'f dyn Files) -> Self {
        Self {
            files,
            found: Vec::new(),
            by_uuid: HashMap::new(),
            by_name: BTreeMap::new(),
            folders: hash::HashMap::default(),
            seen: hash::HashMap::default(),
            walks: 0,
            is_partial: false,
            entries: 0,
            notes: Vec::new(),
            parts: BTreeSet::new(),
            unwanted: BTreeMap::new(),
            budget: MemoryBudget::unlimited(),
            reserved: Reservation::default(),
        }
    }

    /// Charges memory for found files to a budget, instead of using unlimited memory. Files that exceed it become notes.
    #[must_use]
    pub fn within(mut self, budget: &MemoryBudget) -> Self {
        self.budget = budget.clone();
        self.reserved = budget.nothing();
        self
    }

    /// Examines `path`: a file, or everything below a folder. Returns the number of images found there.
    ///
    /// `index` contains the result of an earlier walk, and is updated. Files that have not changed since are not opened again, and folders with
    /// unchanged times are not listed again, but the length and times of every file are checked.
    ///
    /// # Errors
    /// If `path` does not exist, or access is denied. Unreadable entries below a folder become notes.
    pub fn add(&mut self, path: &Path, index: &mut Index) -> io::Result<usize> {
        let before = self.found.len();
        match self.files.entry(path)? {
            Entry::Folder => self.walk(path, index),
            Entry::File { length, modified, changed } => {
                let canonical = self.files.canonical(path).unwrap_or_else(|_| path.to_owned());
                let seen = self.look_at(path, canonical, Stamp { length, modified, changed }, None, true);
                // Naming any part of a cache adds the whole cache.
                let cache = seen.filter(|(_, contents)| contents.images.is_empty() && contents.notes.is_empty());
                if let Some((name, _)) = cache.and_then(|(_, contents)| contents.parts.into_iter().next()) {
                    self.add(&path.with_file_name(name), index)?;
                }
            }
            Entry::Other => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "neither a file nor a folder"));
            }
        }
        Ok(self.found.len() - before)
    }

    /// Like [`add`](Self::add), for callers that need only these images. If `index` contains unchanged files for all images not found so far,
    /// only these images are found and nothing is searched. Returns the number of images there, wanted or not.
    ///
    /// The answers are the same as with [`add`](Self::add), with one exception. If an image has several files, a file that was added to a `.dSYM`
    /// bundle or overwritten since the last walk is not noticed while the others exist. Files, bundles and folders added or removed elsewhere are
    /// noticed.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_wanted(&mut self, path: &Path, index: &mut Index, wanted: &BTreeSet<Uuid>) -> io::Result<usize> {
        let is_folder = matches!(self.files.entry(path)?, Entry::Folder);
        match is_folder.then(|| self.recall(path, index, wanted)).flatten() {
            Some((count, unwanted)) => {
                self.unwanted.insert(path.to_owned(), unwanted);
                Ok(count)
            }
            None => self.add(path, index),
        }
    }

    /// Everything found so far, in the order of discovery.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// Notes about unsupported and damaged files.
    pub fn notes(&self) -> &[Diagnostic] {
        &self.notes
    }

    /// Other files that lookups read: the subcaches and local symbols of found dyld shared caches. Some may be missing.
    pub fn parts(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().map(PathBuf::as_path)
    }

    /// Returns the [notes](Self::notes) that users read: the first ten, and the number of the others.
    pub fn sentences(notes: &[Diagnostic]) -> Vec<String> {
        first_sentences(notes.iter().map(ToString::to_string).collect(), |others| {
            format!("{} could not be used", several(others, "more file"))
        })
    }

    /// Examines a file. If the user specified it and it contains nothing useful, adds a note. Uses the `remembered` contents if their stamp still
    /// matches. Returns the contents to remember.
    pub(super) fn look_at(
        &mut self,
        path: &Path,
        canonical: PathBuf,
        stamp: Stamp,
        remembered: Option<(Stamp, Contents)>,
        is_named: bool,
    ) -> Option<(Stamp, Contents)> {
        let canonical = canonical.into_os_string();
        if let Some(&walk) = self.seen.get(&canonical) {
            self.is_partial |= walk != self.walks;
            return None;
        }
        self.seen.insert(canonical, self.walks);
        let is_same = |(known, contents): &(Stamp, Contents)| {
            let is_same = |(name, stamp): &(String, Stamp)| Stamp::of(self.files, &path.with_file_name(name)) == *stamp;
            *known == stamp && stamp.modified > 0 && contents.parts.iter().all(is_same)
        };
        let contents = match remembered.filter(is_same) {
            Some((_, contents)) => Ok(contents),
            None => symbol_file::read(self.files, path, stamp.length, &self.budget),
        };
        let contents = match contents {
            Ok(contents) => contents,
            Err(what) => {
                self.note(path, &what);
                self.is_partial = true;
                return None;
            }
        };
        if is_named && contents == Contents::default() {
            self.note(path, "not a symbol file");
        }
        self.push_all(path, &contents.images);
        contents.notes.iter().for_each(|what| self.note(path, what));
        // A part without images only depends on the main file, which is found itself.
        let parts = contents.parts.iter().filter(|_| !contents.images.is_empty());
        self.parts.extend(parts.map(|(name, _)| path.with_file_name(name)));
        Some((stamp, contents))
    }

    /// Adds the images of a file, if the budget allows it.
    pub(super) fn push_all(&mut self, path: &Path, images: &[Image]) {
        // Two tables store the name, together with the path of its file.
        let texts = |image: &Image| image.name.as_ref().map_or(0, String::len) * 3 + image.arch.len();
        let each = size_of::<Found>() + 2 * path.as_os_str().len();
        let bytes = images.iter().map(|image| each + texts(image)).sum::<usize>();
        match self.reserved.grow(bytes as u64) {
            Ok(()) => images.iter().for_each(|image| self.push(path, image.clone())),
            Err(over) => self.note(path, &over.to_string()),
        }
    }

    /// True if an image was found.
    pub(super) fn has(&self, uuid: Uuid) -> bool {
        self.by_uuid.contains_key(&uuid)
    }

    fn push(&mut self, path: &Path, image: Image) {
        let Image { kind, uuid, arch, name, text_address, text_size, range } = image;
        let image_path = name.as_ref().filter(|name| name.contains('/')).cloned();
        // A DWARF file has the name of its binary; other files may have different names.
        let name = name
            .or_else(|| path.file_name().map(|name| name.to_string_lossy().into_owned()))
            .map(|name| name.rsplit('/').next().unwrap_or_default().to_owned())
            .unwrap_or_default();
        let index = self.found.len();
        self.by_uuid.entry(uuid).or_default().push(index);
        self.by_name.entry(name.clone()).or_default().push(index);
        let path = path.to_owned();
        self.found.push(Found { path, kind, uuid, arch, name, image_path, text_address, text_size, range });
    }

    pub(super) fn note(&mut self, path: &Path, what: &str) {
        self.notes.push(Diagnostic::new(format!("{}: {what}", shown(path))));
    }
}

impl SymbolFinder for Locator<'_> {
    fn find(&self, uuid: Uuid) -> Vec<Found> {
        let indices = self.by_uuid.get(&uuid).map(Vec::as_slice).unwrap_or_default();
        let mut found: Vec<Found> = indices.iter().map(|&index| self.found[index].clone()).collect();
        found.sort_by_key(|found| found.kind);
        found
    }

    fn find_by_name(&self, name: &str) -> Vec<Found> {
        let indices = self.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
        indices.iter().map(|&index| self.found[index].clone()).collect()
    }

    fn image_count(&self) -> Option<u64> {
        Some(self.found.len() as u64 + self.unwanted.values().sum::<u64>())
    }

    fn files(&self, _: &Found) -> io::Result<&dyn Files> {
        Ok(self.files)
    }
}

//! Finds symbol files by UUID: walks what the user named once, and knows files by content, never by their name.
//!
//! What is walked may be a file, a bundle (`*.dSYM`, `*.xcarchive`, `*.trace`), DerivedData, or any folder. A folder is
//! entered once, whichever links lead to it. Of several files with one UUID the one that knows most comes first: a dSYM
//! (lines, inlined functions), then `.symbols`, then the binary itself, then what a recording kept (`.symbolsarchive`).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::contents::{self, Contents, Image};
use super::file_bytes::FileBytes;
use super::files::{Entry, Files};
use super::frame::Note;
use super::index::{Index, Stamp};
use crate::memory::{MemoryBudget, Reservation};
use crate::units::Uuid;

/// What kind of file symbols come from; the order is the order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// DWARF in a Mach-O companion file, as in a dSYM bundle.
    Dsym,
    /// A `.symbols` file, as `xcrun symbols` writes it.
    Symbols,
    /// A Mach-O binary: its symbol table, and DWARF if it has any.
    MachO,
    /// A `.symbolsarchive`, as Instruments keeps it in a recording.
    SymbolsArchive,
}

impl SourceKind {
    /// The name that people and programs read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dsym => "dSYM",
            Self::Symbols => "symbols",
            Self::MachO => "Mach-O",
            Self::SymbolsArchive => "symbolsarchive",
        }
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The symbols of one image in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// What kind of file it is.
    pub kind: SourceKind,
    /// The image's UUID.
    pub uuid: Uuid,
    /// Its architecture, as Apple spells it (`arm64e`).
    pub arch: String,
    /// The name of the image, such as `libdispatch.dylib`.
    pub name: String,
    /// The address of `__TEXT` in the file, and its size, where the file tells.
    pub text_address: Option<u64>,
    /// The size of `__TEXT`, where the file tells.
    pub text_size: Option<u64>,
    /// Where in the file the image is: offset and length; the whole file where it has several kinds of content.
    pub range: (u64, u64),
}

/// Answers where the symbols of an image are.
pub trait SymbolFinder: Sync {
    /// The files with this UUID, the best first.
    fn find(&self, uuid: Uuid) -> Vec<Found>;

    /// The files whose image has this name, whatever its UUID.
    fn find_by_name(&self, name: &str) -> Vec<Found>;

    /// The bytes of what was found, to be read as they are needed.
    ///
    /// # Errors
    /// When the file cannot be read any more.
    fn load(&self, found: &Found) -> io::Result<FileBytes<'_>>;
}

/// Bounds of a walk; far above what a folder of symbols holds.
const MAX_DEPTH: usize = 64;
const MAX_ENTRIES: usize = 1_000_000;
/// A larger symbol file than this is not loaded.
const MAX_FILE: u64 = 16 << 30;

/// Finds symbol files in what the user named.
pub struct Locator<'f> {
    files: &'f dyn Files,
    found: Vec<Found>,
    by_uuid: HashMap<Uuid, Vec<usize>>,
    by_name: BTreeMap<String, Vec<usize>>,
    folders: HashSet<PathBuf>,
    seen: HashSet<PathBuf>,
    entries: usize,
    notes: Vec<Note>,
    /// For files while they are looked at.
    budget: MemoryBudget,
    /// What is found, and takes of that.
    reserved: Reservation,
}

impl fmt::Debug for Locator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locator").field("found", &self.found).field("notes", &self.notes).finish_non_exhaustive()
    }
}

impl<'f> Locator<'f> {
    /// A locator that has looked nowhere.
    pub fn new(files: &'f dyn Files) -> Self {
        Self {
            files,
            found: Vec::new(),
            by_uuid: HashMap::new(),
            by_name: BTreeMap::new(),
            folders: HashSet::new(),
            seen: HashSet::new(),
            entries: 0,
            notes: Vec::new(),
            budget: MemoryBudget::unlimited(),
            reserved: Reservation::default(),
        }
    }

    /// The same, which takes the memory for what it finds from a budget; without it there is no limit. Files that there is no memory
    /// for are notes.
    #[must_use]
    pub fn within(mut self, budget: &MemoryBudget) -> Self {
        self.budget = budget.clone();
        self.reserved = budget.nothing();
        self
    }

    /// Looks at `path`: a file, or everything below a folder. Gives the number of images found there.
    ///
    /// `index` remembers files that did not change since it was made, so that they are not opened again.
    ///
    /// # Errors
    /// When there is nothing at `path`, or it may not be looked at. What lies below a folder and cannot be read is a
    /// note.
    pub fn add(&mut self, path: &Path, index: &mut Index) -> io::Result<usize> {
        let before = self.found.len();
        match self.files.entry(path)? {
            Entry::Folder => self.walk(path, index),
            Entry::File { length, modified, changed } => {
                self.look_at(path, Stamp { length, modified, changed }, index, true)
            }
            Entry::Other => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "neither a file nor a folder"));
            }
        }
        Ok(self.found.len() - before)
    }

    /// Everything that was found, in the order it was.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// What was seen on the way: files that are known but not read, and files that are broken.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    fn walk(&mut self, root: &Path, index: &mut Index) {
        let base = self.files.canonical(root).unwrap_or_else(|_| root.to_owned());
        let mut todo = vec![(root.to_owned(), 0)];
        while let Some((folder, depth)) = todo.pop() {
            let canonical = self.files.canonical(&folder).unwrap_or_else(|_| folder.clone());
            // A link to a folder that holds this one would lead through the whole machine.
            let is_above = depth > 0 && base.starts_with(&canonical);
            if depth > MAX_DEPTH || is_above || !self.folders.insert(canonical) {
                continue;
            }
            let mut paths = match self.files.list(&folder) {
                Ok(paths) => paths,
                Err(error) => {
                    self.note(&folder, &error.to_string());
                    continue;
                }
            };
            // The order of a folder is the machine's; the order of answers is not.
            paths.sort();
            let is_recording = paths.iter().any(|path| path.ends_with("form.template") || path.ends_with("corespace"));
            // What instruments keep for themselves: archives that are no symbols.
            paths.retain(|path| !(is_recording && path.ends_with("instrument_data")));
            let first_folder = todo.len();
            for path in paths {
                self.entries += 1;
                if self.entries > MAX_ENTRIES {
                    self.note(root, "the folder holds too many files; the rest is not looked at");
                    return;
                }
                match self.files.entry(&path) {
                    Ok(Entry::Folder) => todo.push((path, depth + 1)),
                    Ok(Entry::File { length, modified, changed }) => {
                        self.look_at(&path, Stamp { length, modified, changed }, index, false);
                    }
                    Ok(Entry::Other) | Err(_) => {}
                }
            }
            todo[first_folder..].reverse();
        }
    }

    /// Looks at a file. One that was named by the user and holds nothing is worth a note, whatever it is.
    fn look_at(&mut self, path: &Path, stamp: Stamp, index: &mut Index, is_named: bool) {
        let canonical = self.files.canonical(path).unwrap_or_else(|_| path.to_owned());
        if !self.seen.insert(canonical.clone()) {
            return;
        }
        let contents = match index.get(&canonical, stamp) {
            Some(contents) => contents,
            None => {
                let contents = contents::read(self.files, path, stamp.length, &self.budget);
                if !matches!(contents, Contents::Unreadable(_)) {
                    index.set(&canonical, stamp, &contents);
                }
                contents
            }
        };
        match contents {
            Contents::Images(images) => {
                // Its name stands in two tables.
                let texts = |image: &Image| image.name.as_ref().map_or(0, String::len) * 2 + image.arch.len();
                let each = size_of::<Found>() + 2 * path.as_os_str().len();
                let bytes = images.iter().map(|image| each + texts(image)).sum::<usize>();
                match self.reserved.grow(bytes as u64) {
                    Ok(()) => images.into_iter().for_each(|image| self.push(path, image)),
                    Err(over) => self.note(path, &over.to_string()),
                }
            }
            Contents::Known(what) | Contents::Unreadable(what) => self.note(path, &what),
            Contents::Unknown if is_named => self.note(path, "no symbols are known in such a file"),
            Contents::Unknown => {}
        }
    }

    fn push(&mut self, path: &Path, image: Image) {
        let Image { kind, uuid, arch, name, text_address, text_size, range } = image;
        // A DWARF file is named as its binary; other files may not be.
        let name = name
            .unwrap_or_else(|| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default());
        let index = self.found.len();
        self.by_uuid.entry(uuid).or_default().push(index);
        self.by_name.entry(name.clone()).or_default().push(index);
        self.found.push(Found { path: path.to_owned(), kind, uuid, arch, name, text_address, text_size, range });
    }

    fn note(&mut self, path: &Path, what: &str) {
        self.notes.push(Note { message: format!("{}: {what}", path.display()), count: 1 });
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

    fn load(&self, found: &Found) -> io::Result<FileBytes<'_>> {
        let (offset, length) = found.range;
        if length > MAX_FILE {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {MAX_FILE} bytes")));
        }
        self.files.load(&found.path, offset..offset.saturating_add(length))
    }
}

//! The files of a cache: the main file, its subcaches and its `.symbols` file. Each is opened when it is first needed.

use std::cell::OnceCell;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::header::{Header, Subcache};
use crate::files::{Entry, FileBytes, Files};
use crate::memory::MemoryBudget;
use crate::symbols::found::invalid;
use crate::symbols::section::Section as Piece;
use crate::units::Uuid;

/// The files of a cache.
pub(super) struct CacheFiles<'f> {
    files: &'f dyn Files,
    budget: &'f MemoryBudget,
    pub(super) main: CacheFile<'f>,
    /// Sorted by address.
    pub(super) subcaches: Vec<Part<'f>>,
    /// The file with the local symbols, if the main file names one.
    pub(super) symbols: Option<Part<'f>>,
}

/// An open file.
pub(super) struct CacheFile<'f> {
    pub(super) path: PathBuf,
    pub(super) bytes: FileBytes<'f>,
    pub(super) header: Header,
}

/// A file that the main file names.
pub(super) struct Part<'f> {
    path: PathBuf,
    uuid: Uuid,
    /// The distance between the first addresses of the main file and of this file.
    distance: u64,
    opened: OnceCell<io::Result<CacheFile<'f>>>,
}

/// A position in a file of the cache.
#[derive(Clone, Copy)]
pub(super) struct Place<'a, 'f> {
    pub(super) file: &'a CacheFile<'f>,
    pub(super) offset: u64,
    /// The number of bytes up to the end of the mapping or file.
    pub(super) room: u64,
}

impl<'f> CacheFiles<'f> {
    /// Opens the main file. Bytes that are read are charged to the budget.
    ///
    /// # Errors
    /// If it cannot be opened, or is broken ([`io::ErrorKind::InvalidData`]).
    pub(super) fn open(files: &'f dyn Files, path: &Path, budget: &'f MemoryBudget) -> io::Result<Self> {
        let main = CacheFile::open(files, path.to_owned(), budget)?;
        let subcaches = main.header.subcaches(&main.bytes);
        let subcaches = subcaches.ok_or_else(|| main.fault("its list of subcaches is broken"))?;
        let part = |suffix: &str, uuid, distance| Part {
            path: with_suffix(path, suffix),
            uuid,
            distance,
            opened: OnceCell::new(),
        };
        let of_subcache = |Subcache { uuid, distance, suffix }: Subcache| part(&suffix, uuid, distance);
        let mut subcaches: Vec<Part<'f>> = subcaches.into_iter().map(of_subcache).collect();
        subcaches.sort_by_key(|part| part.distance);
        let symbols_uuid = main.header.symbols_uuid();
        Ok(Self {
            files,
            budget,
            subcaches,
            symbols: (!symbols_uuid.is_nil()).then(|| part(".symbols", symbols_uuid, 0)),
            main,
        })
    }

    /// The files besides the main file.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Part<'f>> {
        self.subcaches.iter().chain(&self.symbols)
    }

    /// Opens a part, once.
    ///
    /// # Errors
    /// If it cannot be used: a sentence that names it.
    pub(super) fn opened<'a>(&self, part: &'a Part<'f>) -> io::Result<&'a CacheFile<'f>> {
        self.open_once(part).map_err(again)
    }

    fn open_once<'a>(&self, part: &'a Part<'f>) -> Result<&'a CacheFile<'f>, &'a io::Error> {
        part.opened.get_or_init(|| self.open_part(part)).as_ref()
    }

    fn open_part(&self, part: &Part<'f>) -> io::Result<CacheFile<'f>> {
        let name = part.name();
        let file = CacheFile::open(self.files, part.path.clone(), self.budget).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => invalid(format_args!("{name} is missing; copy it to the same folder")),
            kind => io::Error::new(kind, format!("{name}: {error}")),
        })?;
        let (uuid, expected) = (file.header.uuid(), part.uuid);
        let is_of_cache = uuid == expected;
        let other = || invalid(format_args!("{name} is from another cache: its UUID is {uuid} instead of {expected}"));
        is_of_cache.then_some(file).ok_or_else(other)
    }

    /// Returns the position of an unslid address.
    ///
    /// # Errors
    /// If no readable file contains it.
    pub(super) fn place(&self, address: u64) -> io::Result<Place<'_, 'f>> {
        if let Some(place) = self.main.place(address) {
            return Ok(place);
        }
        let distance = address.checked_sub(self.main.header.base());
        let outside = || invalid(format_args!("no file of the cache contains {address:#x}; a file may be truncated"));
        let distance = distance.ok_or_else(outside)?;
        // Usually, the file with the nearest start below the address contains it. On Intel, regions of several files alternate.
        let below = self.subcaches.partition_point(|part| part.distance <= distance);
        let mut fault = None;
        for part in self.subcaches[..below].iter().rev() {
            match self.open_once(part).map(|file| file.place(address)) {
                Ok(Some(place)) => return Ok(place),
                Ok(None) => {}
                Err(what) => fault = fault.or(Some(what)),
            }
        }
        Err(fault.map_or_else(outside, again))
    }

    /// Fails if any read failed, or if an open file changed.
    pub(super) fn check(&self) -> io::Result<()> {
        self.main.bytes.check()?;
        let mut opened = self.parts().filter_map(|part| part.opened.get()?.as_ref().ok());
        opened.try_for_each(|file| file.bytes.check())
    }
}

impl<'f> CacheFile<'f> {
    fn open(files: &'f dyn Files, path: PathBuf, budget: &MemoryBudget) -> io::Result<Self> {
        let Entry::File { length, .. } = files.entry(&path)? else { return Err(invalid("not a file")) };
        let bytes = files.load(&path, 0..length)?.within(budget);
        let header = Header::read(&bytes);
        bytes.check()?;
        Ok(Self { path, bytes, header: header.map_err(invalid)? })
    }

    /// The first read error, or else a fault of the content.
    pub(super) fn fault(&self, what: &str) -> io::Error {
        self.bytes.check().err().unwrap_or_else(|| invalid(what))
    }

    fn place(&self, address: u64) -> Option<Place<'_, 'f>> {
        let range = self.header.position(address)?;
        let room = range.end.min(self.bytes.len()).checked_sub(range.start)?;
        Some(Place { file: self, offset: range.start, room })
    }

    /// Returns a range of the file.
    pub(super) fn piece(&self, range: Range<u64>) -> Option<Piece<'_>> {
        Piece::new(&self.bytes, range)
    }
}

impl Part<'_> {
    /// The name of the file.
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Returns the same error again.
fn again(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}

/// Appends to the file name of a path.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

//! Reads the files of a bundle, which are plain or zlib-compressed.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use flate2::bufread::ZlibDecoder;

use crate::error::{Error, ErrorKind, Position};
use crate::files::{Entry, Files, shown};
use crate::memory::{MemoryBudget, OverBudget, Reservation};
use crate::recording::Options;
use crate::symbols::{Broken, broken};

/// The number of bytes requested from the file system at a time.
const PIECE: usize = 64 << 10;

/// Error for a file that violates the bundle format.
pub(super) fn broken_file(path: &Path, broken: &Broken) -> Error {
    let rule = broken.message.clone();
    Error::new(ErrorKind::BrokenBundle { file: shown(path), rule }, None)
}

/// Error for a violation at a byte of the (inflated) file.
pub(super) fn broken_at(path: &Path, at: u64, what: impl fmt::Display, rule: impl fmt::Display) -> Error {
    broken_file(path, &broken(at as usize, what, rule))
}

/// Error for a violation without a position.
pub(super) fn broken_whole(path: &Path, rule: impl fmt::Display) -> Error {
    broken_file(path, &Broken::rule(rule))
}

/// The memory limits for files.
#[derive(Clone, Debug)]
pub(super) struct Room {
    /// The largest size of a file.
    pub(super) file_bytes: u64,
    /// The budget for all data in memory.
    pub(super) memory: MemoryBudget,
}

impl Room {
    pub(super) fn of(options: &Options) -> Self {
        Self { file_bytes: options.limits.file_bytes, memory: options.memory.clone() }
    }
}

/// The inflated content of a file, with its memory reservation.
pub(super) struct Inflated {
    bytes: Vec<u8>,
    _reserved: Reservation,
}

impl Inflated {
    pub(super) fn new(bytes: Vec<u8>, reserved: Reservation) -> Self {
        Self { bytes, _reserved: reserved }
    }
}

impl Deref for Inflated {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Out of budget.
pub(super) fn over_budget(path: &Path, over: OverBudget) -> Error {
    let at = Position { input: shown(path), line: 0, byte: 0 };
    Error::memory(over, Some(at))
}

/// The file exceeds the size limit.
pub(super) fn too_large(path: &Path, limit: u64) -> Error {
    Error::limit(format!("{}: larger than {limit} bytes", shown(path)))
}

/// Reads a file sequentially, and inflates it if it is compressed.
pub(super) struct Content<'f> {
    source: Source<'f>,
    path: PathBuf,
}

enum Source<'f> {
    Plain(BufReader<Box<dyn Read + Send + 'f>>),
    Zlib(ZlibDecoder<BufReader<Box<dyn Read + Send + 'f>>>),
}

impl<'f> Content<'f> {
    /// Opens a file; `None` if it does not exist.
    pub(super) fn open(files: &'f dyn Files, path: &Path) -> Result<Option<Self>, Error> {
        let length = match files.entry(path) {
            Ok(Entry::File { length, .. }) => length,
            Ok(_) => return Err(broken_whole(path, "it is not a file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(path, error)),
        };
        // Most bundle files are small, and the buffer is zeroed before reading. The extra byte lets one read detect the end of the file.
        let capacity = length.saturating_add(1).clamp(512, PIECE as u64) as usize;
        let source = files.open(path).map_err(|error| failed(path, error))?;
        let mut source = BufReader::with_capacity(capacity, source);
        let head = source.fill_buf().map_err(|error| failed(path, error))?;
        // No uncompressed bundle file starts with a zlib header.
        let source = match head {
            [0x78, flags, ..] if (0x7800 + u16::from(*flags)) % 31 == 0 => Source::Zlib(ZlibDecoder::new(source)),
            _ => Source::Plain(source),
        };
        Ok(Some(Self { source, path: path.to_owned() }))
    }

    /// Opens a required file.
    pub(super) fn require(files: &'f dyn Files, path: &Path) -> Result<Self, Error> {
        Self::open(files, path)?.ok_or_else(|| broken_whole(path, "it is missing"))
    }

    pub(super) fn is_compressed(&self) -> bool {
        matches!(self.source, Source::Zlib(_))
    }

    /// Reads the rest of the file, within the limits.
    pub(super) fn read_all(mut self, room: &Room) -> Result<Inflated, Error> {
        let (mut bytes, mut reserved) = (Vec::new(), room.memory.nothing());
        loop {
            let more = (bytes.len() / 2).max(PIECE) as u64;
            reserved.grow(more).map_err(|over| over_budget(&self.path, over))?;
            bytes.reserve_exact(more as usize);
            let read = self.append(&mut bytes, more)?;
            if bytes.len() as u64 > room.file_bytes {
                return Err(too_large(&self.path, room.file_bytes));
            }
            if (read as u64) < more {
                break;
            }
        }
        self.check_end()?;
        Ok(Inflated::new(bytes, reserved))
    }

    /// Replaces the buffer with the next `count` bytes, or fewer at the end of the file. Returns how many were read.
    pub(super) fn fill(&mut self, bytes: &mut Vec<u8>, count: u64) -> Result<usize, Error> {
        // Overwrites the old bytes, so the buffer is allocated only once.
        self.read_from(bytes, 0, count)
    }

    /// Appends the next `count` bytes, or fewer at the end of the file. Returns how many were read.
    pub(super) fn append(&mut self, bytes: &mut Vec<u8>, count: u64) -> Result<usize, Error> {
        let start = bytes.len();
        Ok(self.read_from(bytes, start, count)? - start)
    }

    /// Reads into `bytes[start..]`; returns the new end.
    fn read_from(&mut self, bytes: &mut Vec<u8>, start: usize, count: u64) -> Result<usize, Error> {
        bytes.resize(start.saturating_add(usize::try_from(count).unwrap_or(usize::MAX)), 0);
        let mut used = start;
        while used < bytes.len() {
            match self.source().read(&mut bytes[used..]) {
                Ok(0) => break,
                Ok(read) => used += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(&self.path, error)),
            }
        }
        bytes.truncate(used);
        Ok(used)
    }

    /// Skips `count` bytes from offset `at`, or fewer at the end of the file. They must all be zero. Returns the offset after them.
    pub(super) fn skip_zeros(&mut self, mut at: u64, count: u64, what: &str) -> Result<u64, Error> {
        let end = at.saturating_add(count);
        let mut piece = Vec::new();
        while at < end {
            let read = self.fill(&mut piece, (end - at).min(PIECE as u64))?;
            if let Some(odd) = first_not_zero(&piece) {
                return Err(broken_at(&self.path, at + odd as u64, what, "it is not empty"));
            }
            if read == 0 {
                break;
            }
            at += read as u64;
        }
        Ok(at)
    }

    fn source(&mut self) -> &mut dyn Read {
        match &mut self.source {
            Source::Plain(source) => source,
            Source::Zlib(source) => source,
        }
    }

    /// Checks that nothing follows the compressed content. Call it after all content was read.
    pub(super) fn check_end(&mut self) -> Result<(), Error> {
        let Source::Zlib(source) = &mut self.source else { return Ok(()) };
        let at = source.total_in();
        let left = source.get_mut().fill_buf().map_err(|error| failed(&self.path, error))?;
        if left.is_empty() {
            return Ok(());
        }
        Err(broken_at(&self.path, at, "compressed content", "it ends here, and more follows"))
    }
}

/// Error for a failed read: the compressed content is damaged, or the file is unreadable.
pub(super) fn failed(path: &Path, error: io::Error) -> Error {
    if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) {
        return broken_whole(path, format_args!("its compressed content is damaged ({error})"));
    }
    Error::unreadable(shown(path), error)
}

/// Returns the index of the first non-zero byte. Checks 64 bytes at a time, since files can have megabytes of zeros.
pub(super) fn first_not_zero(bytes: &[u8]) -> Option<usize> {
    let is_zero = |line: &[u8]| line.iter().fold(0, |all, byte| all | byte) == 0;
    let line = 64 * bytes.chunks(64).position(|line| !is_zero(line))?;
    bytes[line..].iter().position(|&byte| byte != 0).map(|odd| line + odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_zero_is_found_anywhere() {
        let mut bytes = [0; 200];
        assert_eq!(first_not_zero(&bytes), None);
        assert_eq!(first_not_zero(&[]), None);
        for at in (0..bytes.len()).rev() {
            bytes[at] = 0x80;
            assert_eq!(first_not_zero(&bytes), Some(at));
        }
    }
}

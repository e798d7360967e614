//! A file for what does not fit in memory.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// A file that a [`FleetBuilder`](super::FleetBuilder) writes and reads again, such as a temporary one. It is initially
/// empty and has no other user.
pub trait SpillFile: Read + Write + Seek + Send {}

impl<F: Read + Write + Seek + Send> SpillFile for F {}

/// Appended bytes are written together.
const BUFFER: usize = 1 << 20;

/// The file, and what is in it.
#[derive(Default)]
pub(super) struct Spilled {
    file: Option<Box<dyn SpillFile>>,
    buffer: Vec<u8>,
    /// Bytes that were appended.
    length: u64,
}

/// A place in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpillPlace {
    start: u64,
    length: usize,
}

impl fmt::Debug for Spilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spilled").field("length", &self.length).finish_non_exhaustive()
    }
}

impl Spilled {
    /// Nothing in a file.
    pub(super) fn new(file: Box<dyn SpillFile>) -> Self {
        Self { file: Some(file), buffer: Vec::new(), length: 0 }
    }

    /// True if there is a file.
    pub(super) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Bytes in the file.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Puts bytes at its end.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<SpillPlace> {
        let place = SpillPlace { start: self.length, length: bytes.len() };
        self.buffer.extend_from_slice(bytes);
        self.length += bytes.len() as u64;
        if self.buffer.len() >= BUFFER {
            self.flush()?;
        }
        Ok(place)
    }

    /// Writes what was appended; gives the room back.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let file = self.file.as_mut().ok_or_else(no_file)?;
        file.seek(SeekFrom::Start(self.length - self.buffer.len() as u64))?;
        file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Reads what was appended, and written, at a place.
    pub(super) fn read(&mut self, place: &SpillPlace, bytes: &mut Vec<u8>) -> io::Result<()> {
        let file = self.file.as_mut().ok_or_else(no_file)?;
        bytes.resize(place.length, 0);
        file.seek(SeekFrom::Start(place.start))?;
        file.read_exact(bytes)
    }
}

fn no_file() -> io::Error {
    io::Error::other("there is no file to spill to")
}

//! Inflates zip entries on demand.
//!
//! Small entries are inflated completely, and the last few are kept. A large entry is inflated as far as it is read, and its decoder is kept,
//! so a sequential read never starts over.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::file_range::FileRange;
use super::folder_tree::Zipped;
use crate::files::Files;

/// Entries up to this size are inflated completely.
const SMALL: u64 = 1 << 20;
/// The number of small entries that are kept.
const SMALL_ENTRIES: usize = 16;
/// The number of decoders that are kept: one for each thread that reads a table.
const DECODERS: usize = 8;

/// The length of a local header, without name and extra fields.
const LOCAL_HEADER: usize = 30;

/// Identifies an entry by archive path and node index.
type Key = (PathBuf, usize);

pub(super) struct Inflater<'f> {
    files: &'f dyn Files,
    kept: Mutex<Kept<'f>>,
}

#[derive(Default)]
struct Kept<'f> {
    small: VecDeque<(Key, Arc<Vec<u8>>)>,
    decoders: VecDeque<(Key, Decoder<'f>)>,
}

impl<'f> Inflater<'f> {
    pub(super) fn new(files: &'f dyn Files) -> Self {
        Self { files, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept<'f>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a range of an entry; `size` is the inflated size of the whole entry.
    pub(super) fn read(
        &self,
        archive: &Path,
        index: usize,
        zipped: &Zipped,
        size: u64,
        offset: u64,
        length: usize,
    ) -> io::Result<Vec<u8>> {
        if length == 0 {
            return Ok(Vec::new());
        }
        let key = (archive.to_owned(), index);
        if size <= SMALL {
            let bytes = self.small(&key, zipped, size)?;
            let start = usize::try_from(offset).unwrap_or(usize::MAX);
            return Ok(bytes.get(start..).and_then(|rest| rest.get(..length)).unwrap_or_default().to_vec());
        }
        // Other threads can use the lock while this one inflates.
        let kept = self.take_decoder(&key, offset);
        let mut decoder = kept.map_or_else(|| self.decoder(archive, zipped, size), Ok)?;
        decoder.skip(offset)?;
        let bytes = decoder.read(length)?;
        let mut kept = self.kept();
        kept.decoders.push_back((key, decoder));
        if kept.decoders.len() > DECODERS {
            kept.decoders.pop_front();
        }
        Ok(bytes)
    }

    fn small(&self, key: &Key, zipped: &Zipped, size: u64) -> io::Result<Arc<Vec<u8>>> {
        if let Some((_, bytes)) = self.kept().small.iter().find(|(known, _)| known == key) {
            return Ok(Arc::clone(bytes));
        }
        let bytes = Arc::new(self.decoder(&key.0, zipped, size)?.read(size as usize)?);
        let mut kept = self.kept();
        kept.small.push_back((key.clone(), Arc::clone(&bytes)));
        if kept.small.len() > SMALL_ENTRIES {
            kept.small.pop_front();
        }
        Ok(bytes)
    }

    /// Takes the decoder that is closest to `offset` without having passed it.
    fn take_decoder(&self, key: &Key, offset: u64) -> Option<Decoder<'f>> {
        let mut kept = self.kept();
        let usable = kept.decoders.iter().enumerate();
        let usable = usable.filter(|(_, (known, decoder))| known == key && decoder.position <= offset);
        let (index, _) = usable.max_by_key(|(_, (_, decoder))| decoder.position)?;
        kept.decoders.remove(index).map(|(_, decoder)| decoder)
    }

    fn decoder(&self, archive: &Path, zipped: &Zipped, size: u64) -> io::Result<Decoder<'f>> {
        let start = self.start(archive, zipped)?;
        let packed = FileRange::new(self.files, archive, start, start.saturating_add(zipped.packed));
        let source = match zipped.is_deflated {
            true => Source::Deflated(DeflateDecoder::new(packed)),
            false => Source::Stored(packed),
        };
        Ok(Decoder { source, position: 0, size, crc: Crc::new(), expected: zipped.crc })
    }

    /// Returns the offset of an entry's data. Reads the local header, since only it contains its own length.
    fn start(&self, archive: &Path, zipped: &Zipped) -> io::Result<u64> {
        let header = self.files.read(archive, zipped.header, LOCAL_HEADER)?;
        if header.len() < LOCAL_HEADER || !header.starts_with(b"PK\x03\x04") {
            return Err(broken("the archive has no header for it"));
        }
        let number = |at: usize| u64::from(u16::from_le_bytes([header[at], header[at + 1]]));
        Ok(zipped.header.saturating_add(LOCAL_HEADER as u64 + number(26) + number(28)))
    }
}

enum Source<'f> {
    Deflated(DeflateDecoder<FileRange<'f>>),
    Stored(FileRange<'f>),
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Deflated(source) => source.read(buffer),
            Self::Stored(source) => source.read(buffer),
        }
    }
}

/// An entry that has been inflated, or read if it is stored, up to some position. Its checksum is compared at its end.
struct Decoder<'f> {
    source: Source<'f>,
    position: u64,
    size: u64,
    crc: Crc,
    expected: u32,
}

impl Decoder<'_> {
    fn skip(&mut self, to: u64) -> io::Result<()> {
        while self.position < to {
            let length = (to - self.position).min(SMALL) as usize;
            self.read(length)?;
        }
        Ok(())
    }

    /// Reads the next `length` bytes; fails if there are fewer.
    fn read(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.source.by_ref().take(length as u64).read_to_end(&mut bytes)?;
        self.crc.update(&bytes);
        self.position += bytes.len() as u64;
        if bytes.len() < length {
            return Err(broken("it is shorter than the archive records"));
        }
        if self.position == self.size {
            self.check_end()?;
        }
        Ok(bytes)
    }

    fn check_end(&mut self) -> io::Result<()> {
        if self.source.read(&mut [0])? > 0 {
            return Err(broken("it is longer than the archive records"));
        }
        if self.crc.sum() != self.expected { Err(broken("its checksum does not match")) } else { Ok(()) }
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

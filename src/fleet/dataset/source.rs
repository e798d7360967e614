//! A `Read + Seek` as the Parquet reader wants it: bytes at any place.

use std::io::{BufReader, Error, ErrorKind, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// Headers of pages have some 20 bytes.
const HEADER_BYTES: usize = 256;

/// The bytes of a file.
pub(super) struct Source<R> {
    input: Arc<Mutex<R>>,
    length: u64,
}

impl<R: Read + Seek> Source<R> {
    pub(super) fn new(mut input: R) -> std::io::Result<Self> {
        let length = input.seek(SeekFrom::End(0))?;
        Ok(Self { input: Arc::new(Mutex::new(input)), length })
    }
}

impl<R> Length for Source<R> {
    fn len(&self) -> u64 {
        self.length
    }
}

impl<R: Read + Seek + Send> ChunkReader for Source<R> {
    type T = BufReader<ReadFrom<R>>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(HEADER_BYTES, ReadFrom { input: Arc::clone(&self.input), position: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Before room is made for them: the place comes from the file.
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of {}", self.length)));
        }
        let mut bytes = vec![0; length];
        let mut from = ReadFrom { input: Arc::clone(&self.input), position: start };
        from.read_exact(&mut bytes).map_err(|error| ParquetError::External(Box::new(error)))?;
        Ok(bytes.into())
    }
}

/// Reads on from a place. Several of them share an input, so each seeks before it reads.
pub(super) struct ReadFrom<R> {
    input: Arc<Mutex<R>>,
    position: u64,
}

impl<R: Read + Seek> Read for ReadFrom<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        // A reader that panicked elsewhere left no promise broken: every read seeks first.
        let mut input: MutexGuard<'_, R> = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let at = input.seek(SeekFrom::Start(self.position))?;
        if at != self.position {
            return Err(Error::new(ErrorKind::UnexpectedEof, "cannot seek there"));
        }
        let read = input.read(buffer)?;
        self.position += read as u64;
        Ok(read)
    }
}

//! Reads part of a file as a stream, in large pieces.

use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::files::Files;

const PIECE: u64 = 1 << 20;

pub(super) struct FileRange<'f> {
    files: &'f dyn Files,
    path: PathBuf,
    position: u64,
    end: u64,
    piece: Vec<u8>,
    /// The file offset of the buffered piece.
    piece_start: u64,
}

impl<'f> FileRange<'f> {
    pub(super) fn new(files: &'f dyn Files, path: &Path, start: u64, end: u64) -> Self {
        Self { files, path: path.to_owned(), position: start, end, piece: Vec::new(), piece_start: 0 }
    }

    /// The unread bytes of the buffered piece.
    fn rest(&self) -> &[u8] {
        let start = self.position.checked_sub(self.piece_start).and_then(|start| usize::try_from(start).ok());
        let rest = start.and_then(|start| self.piece.get(start..)).unwrap_or_default();
        let left = usize::try_from(self.end.saturating_sub(self.position)).unwrap_or(usize::MAX);
        &rest[..rest.len().min(left)]
    }
}

impl BufRead for FileRange<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.rest().is_empty() && self.position < self.end {
            let length = (self.end - self.position).min(PIECE) as usize;
            self.piece = self.files.read(&self.path, self.position, length)?;
            self.piece_start = self.position;
        }
        Ok(self.rest())
    }

    fn consume(&mut self, count: usize) {
        self.position = self.position.saturating_add(count as u64);
    }
}

impl Read for FileRange<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

/// Positions are relative to the file, not to the range.
impl Seek for FileRange<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(distance) => self.end.checked_add_signed(distance),
            SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

//! A window on a byte stream: it slides over the input, and grows only for a token that does not fit.

use std::io::{self, Read};

/// The part of the input that is in memory.
#[derive(Debug)]
pub(super) struct Window<R> {
    source: R,
    buffer: Vec<u8>,
    /// The unread bytes are `buffer[start..end]`.
    start: usize,
    end: usize,
    /// Offset of `buffer[start]` in the input, and the line it is in, from 1.
    offset: u64,
    line: u64,
    at_end: bool,
    /// Why the source ended, where it says that more should follow (a cut compressed file).
    cut: Option<io::Error>,
}

impl<R: Read> Window<R> {
    /// A window of `size` bytes at the start of `source`.
    pub(super) fn new(source: R, size: usize) -> Self {
        Self { source, buffer: vec![0; size.max(1)], start: 0, end: 0, offset: 0, line: 1, at_end: false, cut: None }
    }

    /// The bytes in memory that were not consumed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Whether the bytes in memory are the last ones.
    pub(super) fn is_at_end(&self) -> bool {
        self.at_end
    }

    /// Offset of the first of [`bytes`](Self::bytes) in the input.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The line, from 1, of a byte in memory; of one already gone, the line that is known last.
    pub(super) fn line_of(&self, byte: u64) -> u64 {
        let ahead = usize::try_from(byte.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let bytes = self.bytes();
        self.line + memchr::memchr_iter(b'\n', &bytes[..ahead.min(bytes.len())]).count() as u64
    }

    /// Drops the first `count` bytes.
    pub(super) fn consume(&mut self, count: usize) {
        let consumed = &self.buffer[self.start..self.start + count];
        self.line += memchr::memchr_iter(b'\n', consumed).count() as u64;
        self.offset += count as u64;
        self.start += count;
    }

    /// Why the source ended, if it was cut below what is read here.
    pub(super) fn take_cut(&mut self) -> Option<io::Error> {
        self.cut.take()
    }

    /// How large the window is.
    pub(super) fn capacity(&self) -> usize {
        self.buffer.len()
    }

    /// Moves the window to the first unread byte and fills it; it doubles where nothing was consumed.
    pub(super) fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        } else if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        while self.end < self.buffer.len() && !self.at_end {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    self.at_end = true;
                    self.cut = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

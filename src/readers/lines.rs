//! The lines of an input, with their places.

use std::io::{BufRead, BufReader, Read};

use crate::error::{Error, ErrorKind, Position};
use crate::memory::MemoryBudget;
use crate::recording::Options;

/// The place at which a line starts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineStart {
    /// From 1.
    number: u64,
    /// The offset of its first byte, from 0.
    byte: u64,
}

impl LineStart {
    pub(super) const FIRST: Self = Self { number: 1, byte: 0 };
}

/// A line without its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) at: LineStart,
    pub(super) text: String,
}

/// Reads lines one after the other. Invalid UTF-8 becomes replacement characters.
pub(super) struct Lines<'n, R> {
    source: BufReader<R>,
    name: &'n str,
    max_length: usize,
    /// The limit on the depth of stacks.
    pub(super) max_depth: usize,
    /// The budget of the recording.
    pub(super) memory: MemoryBudget,
    next: LineStart,
    buffer: Vec<u8>,
}

impl<'n, R: Read> Lines<'n, R> {
    pub(super) fn new(source: R, name: &'n str, options: &Options) -> Self {
        let (max_length, max_depth) = (options.limits.name_bytes, options.limits.stack_depth);
        Self {
            source: BufReader::new(source),
            name,
            max_length,
            max_depth,
            memory: options.memory.clone(),
            next: LineStart::FIRST,
            buffer: Vec::new(),
        }
    }

    /// The next line; `None` at the end of the input.
    ///
    /// # Errors
    /// When the source fails, or the line is longer than a name may be.
    pub(super) fn next(&mut self) -> Result<Option<Line>, Error> {
        self.buffer.clear();
        let at = self.next;
        let mut limited = self.source.by_ref().take(self.max_length as u64 + 1);
        let length = limited.read_until(b'\n', &mut self.buffer);
        let length = length.map_err(|error| Error::io(error, Some(self.place(at))))?;
        if length == 0 {
            return Ok(None);
        }
        if length > self.max_length {
            let text = format!("a line is longer than {} bytes", self.max_length);
            return Err(self.error(ErrorKind::Limit(text), at));
        }
        self.next = LineStart { number: at.number + 1, byte: at.byte + length as u64 };
        let bytes = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let bytes = if at.byte == 0 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
        Ok(Some(Line { at, text: String::from_utf8_lossy(bytes).into_owned() }))
    }

    /// The next line that begins with this text; lines before it are skipped.
    pub(super) fn skip_to(&mut self, start: &str) -> Result<Option<Line>, Error> {
        while let Some(line) = self.next()? {
            if line.text.starts_with(start) {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }
}

impl<R> Lines<'_, R> {
    /// The name of the input.
    pub(super) fn name(&self) -> &str {
        self.name
    }

    /// An error in a line.
    pub(super) fn error(&self, kind: ErrorKind, line: LineStart) -> Error {
        Error::new(kind, Some(self.place(line)))
    }

    /// An error of the form of a line.
    pub(super) fn damaged(&self, text: impl Into<String>, line: &Line) -> Error {
        self.error(ErrorKind::Malformed(text.into()), line.at)
    }

    /// The place of a line.
    pub(super) fn place(&self, line: LineStart) -> Position {
        Position { input: self.name.to_owned(), line: line.number, byte: line.byte }
    }
}

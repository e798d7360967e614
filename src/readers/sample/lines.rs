//! The lines of an input, with their places.

use std::io::{BufRead, BufReader, Read};

use crate::error::{Error, ErrorKind, Position};
use crate::memory::MemoryBudget;
use crate::recording::Options;

/// A line without its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// From 1.
    pub(super) number: u64,
    pub(super) text: String,
}

/// Reads lines one after the other. Bytes that are no UTF-8 become replacement characters.
pub(super) struct Lines<'n, R> {
    source: BufReader<R>,
    name: &'n str,
    max_length: usize,
    /// The limit on the depth of stacks.
    pub(super) max_depth: usize,
    /// The budget of the recording.
    pub(super) memory: MemoryBudget,
    number: u64,
    /// The byte behind the last line, and the one at which it began.
    byte: u64,
    began: u64,
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
            number: 0,
            byte: 0,
            began: 0,
            buffer: Vec::new(),
        }
    }

    /// The next line; `None` at the end of the input.
    ///
    /// # Errors
    /// When the source fails, or the line is longer than a name may be.
    pub(super) fn next(&mut self) -> Result<Option<Line>, Error> {
        self.buffer.clear();
        self.began = self.byte;
        let mut limited = self.source.by_ref().take(self.max_length as u64 + 1);
        let length = limited.read_until(b'\n', &mut self.buffer);
        self.number += 1;
        let length = length.map_err(|error| Error::io(error, Some(self.place(self.number))))?;
        if length == 0 {
            return Ok(None);
        }
        if length > self.max_length {
            let text = format!("a line is longer than {} bytes", self.max_length);
            return Err(self.error(ErrorKind::Limit(text), self.number));
        }
        self.byte += length as u64;
        let bytes = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let bytes = if self.number == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
        Ok(Some(Line { number: self.number, text: String::from_utf8_lossy(bytes).into_owned() }))
    }

    /// The next line that begins like this; what is before it is passed over.
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
    pub(super) fn error(&self, kind: ErrorKind, line: u64) -> Error {
        Error::new(kind, Some(self.place(line)))
    }

    /// An error of the form of a line.
    pub(super) fn damaged(&self, text: impl Into<String>, line: &Line) -> Error {
        self.error(ErrorKind::Malformed(text.into()), line.number)
    }

    /// The place of a line. The byte is known of the last line; of another one it is that of the last one, too.
    pub(super) fn place(&self, line: u64) -> Position {
        Position { input: self.name.to_owned(), line, byte: self.began }
    }
}

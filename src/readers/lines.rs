//! Reads the lines of an input, with their positions.

use std::io::{self, BufRead, BufReader, Read};

use crate::error::{Error, ErrorKind, Position};
use crate::memory::MemoryBudget;
use crate::recording::Options;

/// The position at which a line starts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineStart {
    /// Starts at 1.
    number: u64,
    /// The offset of its first byte.
    byte: u64,
}

impl LineStart {
    pub(super) const FIRST: Self = Self { number: 1, byte: 0 };
}

/// A line without its line end.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) at: LineStart,
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    #[default]
    Utf8,
    Utf16Le,
    Utf16Be,
}

impl Encoding {
    /// Detects the encoding of text from its first bytes. Also returns the length of the byte order mark.
    pub(super) fn of(head: &[u8]) -> (Self, usize) {
        match head {
            [0xff, 0xfe, ..] => (Self::Utf16Le, 2),
            [0xfe, 0xff, ..] => (Self::Utf16Be, 2),
            [0xef, 0xbb, 0xbf, ..] => (Self::Utf8, 3),
            _ => (Self::Utf8, 0),
        }
    }

    /// Decodes text, replacing invalid parts with U+FFFD.
    pub(super) fn decode(self, bytes: &[u8]) -> String {
        let unit = match self {
            Self::Utf8 => return String::from_utf8_lossy(bytes).into_owned(),
            Self::Utf16Le => u16::from_le_bytes,
            Self::Utf16Be => u16::from_be_bytes,
        };
        let (pairs, rest) = bytes.as_chunks();
        let mut text = String::from_utf16_lossy(&pairs.iter().map(|&pair| unit(pair)).collect::<Vec<_>>());
        text.extend(rest.iter().map(|_| char::REPLACEMENT_CHARACTER));
        text
    }

    /// True if the bytes, which end with a 0x0a byte, end with a line feed in this encoding.
    fn ends_line(self, bytes: &[u8]) -> bool {
        match self {
            Self::Utf8 => true,
            Self::Utf16Le => bytes.len().is_multiple_of(2) && bytes.ends_with(b"\n\0"),
            Self::Utf16Be => bytes.len().is_multiple_of(2) && bytes.ends_with(b"\0\n"),
        }
    }
}

/// Reads lines in UTF-8, or in UTF-16 with a byte order mark. Invalid text becomes replacement characters.
pub(super) struct Lines<'n, R> {
    source: BufReader<R>,
    encoding: Encoding,
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
            encoding: Encoding::Utf8,
            name,
            max_length,
            max_depth,
            memory: options.memory.clone(),
            next: LineStart::FIRST,
            buffer: Vec::new(),
        }
    }

    /// Reads the next line; `None` at the end of the input.
    ///
    /// # Errors
    /// If the source fails, or the line is longer than the limit for names.
    pub(super) fn next(&mut self) -> Result<Option<Line>, Error> {
        let at = self.next;
        self.fill(at.byte == 0).map_err(|error| Error::io(error, Some(self.place(at))))?;
        let length = self.buffer.len();
        if length == 0 {
            return Ok(None);
        }
        if length > self.max_length {
            let text = format!("a line is longer than {} bytes", self.max_length);
            return Err(self.error(ErrorKind::Limit(text), at));
        }
        self.next = LineStart { number: at.number + 1, byte: at.byte + length as u64 };
        let mark = if at.byte == 0 { Encoding::of(&self.buffer).1 } else { 0 };
        let mut text = self.encoding.decode(self.buffer.get(mark..).unwrap_or_default());
        if text.ends_with('\n') {
            text.pop();
        }
        if text.ends_with('\r') {
            text.pop();
        }
        Ok(Some(Line { at, text }))
    }

    /// Reads a line with its line end, or one byte more than the limit.
    fn fill(&mut self, is_first: bool) -> io::Result<()> {
        self.buffer.clear();
        loop {
            let left = (self.max_length + 1).saturating_sub(self.buffer.len()) as u64;
            let read = self.source.by_ref().take(left).read_until(b'\n', &mut self.buffer)?;
            if is_first {
                self.encoding = Encoding::of(&self.buffer).0;
            }
            if self.encoding == Encoding::Utf16Le && !self.buffer.len().is_multiple_of(2) {
                self.source.by_ref().take(1).read_to_end(&mut self.buffer)?;
            }
            if read == 0 || self.encoding.ends_line(&self.buffer) {
                return Ok(());
            }
        }
    }

    /// Skips lines up to the next one that starts with this text, and returns it.
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
    pub(super) fn name(&self) -> &str {
        self.name
    }

    /// An error in a line.
    pub(super) fn error(&self, kind: ErrorKind, line: LineStart) -> Error {
        Error::new(kind, Some(self.place(line)))
    }

    /// An error for a malformed line.
    pub(super) fn damaged(&self, text: impl Into<String>, line: &Line) -> Error {
        self.error(ErrorKind::Malformed(text.into()), line.at)
    }

    pub(super) fn place(&self, line: LineStart) -> Position {
        Position { input: self.name.to_owned(), line: line.number, byte: line.byte }
    }
}

//! From bytes to the reader of intervals: other tables are passed by, all else is tokens.

use std::io::Read;

use super::super::blocks::{Block, BlockReader, End, count_lines};
use super::super::fault::Fault;
use super::super::{Options, skip, sniff, tokens};
use super::Intervals;
use super::reader::IntervalReader;
use crate::error::{Error, ErrorKind, Position};

/// How much of the start of an input is kept to say what it looks like.
const HEAD: usize = 512;

/// Where in the input the feed is.
struct Feed<'i> {
    input: &'i str,
    head: Vec<u8>,
    /// What could not be read of the blocks so far: the start of a token.
    unread: Vec<u8>,
    /// The line of the first byte that was not read, from 1.
    line: u64,
}

/// Reads all documents of an input.
pub(super) fn read(source: impl Read, input: &str, options: &Options) -> Result<Intervals, Error> {
    let mut feed = Feed { input, head: Vec::new(), unread: Vec::new(), line: 1 };
    let mut reader = IntervalReader::new(input, options);
    let mut blocks = BlockReader::new(source, options.buffer_size);
    let mut block = Block::default();
    loop {
        blocks.read(&mut block);
        if feed.take(&mut reader, &mut block, options)? {
            return Ok(reader.into_intervals());
        }
    }
}

impl Feed<'_> {
    /// Reads the next block; says whether it was the last one.
    fn take(&mut self, reader: &mut IntervalReader<'_>, block: &mut Block, options: &Options) -> Result<bool, Error> {
        if self.head.len() < HEAD {
            let missing = HEAD - self.head.len();
            self.head.extend(block.bytes().iter().take(missing));
        }
        if !self.unread.is_empty() {
            block.prepend(&self.unread);
            self.unread.clear();
        }
        match block.end.take() {
            Some(End::Failed(error)) => {
                let byte = block.offset + block.bytes().len() as u64;
                return Err(Error::io(error, Some(self.position(byte, None, block))));
            }
            end => block.end = end,
        }
        reader.enter_window(block.offset, self.line);
        let used = read_tokens(reader, block).map_err(|fault| self.describe(fault, reader, block))?;
        let line = self.line;
        reader.notes.locate(|byte| line_in(block, line, byte));
        if block.end.is_some() {
            self.finish(reader, block, used, options)?;
            return Ok(true);
        }
        let bytes = block.bytes();
        let limit = options.limits.token_bytes;
        if used == 0 && bytes.len() > limit {
            let text = format!("a single tag or text is larger than {limit} bytes");
            return Err(self.locate(Fault::limit(text, block.offset), block));
        }
        self.line += count_lines(&bytes[..used]);
        self.unread.extend_from_slice(&bytes[used..]);
        Ok(false)
    }

    /// Ends the input: it should be between documents, and hold one at least. The last block was read up to `used`.
    fn finish(
        &self,
        reader: &mut IntervalReader<'_>,
        block: &mut Block,
        used: usize,
        options: &Options,
    ) -> Result<(), Error> {
        let end = block.offset + block.bytes().len() as u64;
        let cut = match block.end.take() {
            Some(End::Cut(error)) => Some(error),
            _ => None,
        };
        let rows = reader.row_count();
        let open = reader.unfinished().map(|(inside, byte, line)| (inside, byte, Some(line)));
        let rest = &block.bytes()[used..];
        let (inside, byte, line) = match open {
            Some(open) => open,
            None if !reader.has_documents() && cut.is_none() => {
                let fault = Fault::not_an_export(sniff::describe(&self.head), 0);
                return Err(self.locate(Fault { line: Some(1), ..fault }, block));
            }
            None if cut.is_some() || rest.starts_with(b"<") => {
                ("what follows the document".to_owned(), block.offset + used as u64, None)
            }
            None => return Ok(()),
        };
        if options.allow_truncated && reader.has_documents() {
            reader.accept_cut(end);
            return Ok(());
        }
        let kind = ErrorKind::Truncated { inside, end, rows };
        let source = cut.map(|error| Box::new(error) as _);
        Err(Error { source, ..self.locate(Fault { kind, byte, line }, block) })
    }

    /// The error of a fault in a block. What is broken before any document starts is no export at all.
    fn describe(&self, fault: Fault, reader: &IntervalReader<'_>, block: &Block) -> Error {
        match fault.kind {
            ErrorKind::Malformed(_) if !reader.has_documents() => {
                self.locate(Fault { kind: ErrorKind::NotAnExport(sniff::describe(&self.head)), ..fault }, block)
            }
            _ => self.locate(fault, block),
        }
    }

    fn locate(&self, fault: Fault, block: &Block) -> Error {
        Error::new(fault.kind, Some(self.position(fault.byte, fault.line, block)))
    }

    fn position(&self, byte: u64, line: Option<u64>, block: &Block) -> Position {
        let line = line.unwrap_or_else(|| line_in(block, self.line, byte));
        Position { input: self.input.to_owned(), line, byte }
    }
}

/// Reads what is whole of a block; gives how many bytes that is.
fn read_tokens(reader: &mut IntervalReader<'_>, block: &Block) -> Result<usize, Fault> {
    let (bytes, is_end) = (block.bytes(), block.end.is_some());
    let mut used = 0;
    while used < bytes.len() {
        if reader.is_skipping() {
            let step = skip::rows(reader, &bytes[used..], is_end);
            used += step.used;
            if step.needs_more {
                break;
            }
        }
        let step = tokens::read(reader, bytes, used, block.offset, is_end)?;
        used += step.used;
        if step.needs_more {
            break;
        }
    }
    Ok(used)
}

/// The line of a byte of a block that starts in line `first`; of one that is gone already, the line that is known last.
fn line_in(block: &Block, first: u64, byte: u64) -> u64 {
    let ahead = usize::try_from(byte.saturating_sub(block.offset)).unwrap_or(usize::MAX);
    let bytes = block.bytes();
    first + count_lines(&bytes[..ahead.min(bytes.len())])
}

//! From blocks to documents: rows of CPU tables by the scanner, rows of other tables by counting, all else by tokens.

use std::io;

use super::blocks::{Block, End, count_lines};
use super::document::{DocumentReader, Unfinished};
use super::fault::Fault;
use super::replay::ReplayRoom;
use super::tape::Tape;
use super::tokens::Step;
use super::{Options, scan, skip, tokens};
use crate::error::{Error, ErrorKind, Position};
use crate::profile::{Full, SumBatch, SumTable};

/// How much of the start of an input is kept to say what it looks like.
const HEAD: usize = 512;

/// Reads the blocks of one input, in order.
#[derive(Debug)]
pub(super) struct Feed<'r, 'd> {
    reader: &'r mut DocumentReader<'d>,
    input: &'r str,
    options: &'r Options,
    is_scanned: bool,
    tape: Tape,
    room: ReplayRoom,
    head: Vec<u8>,
    /// What could not be read of the blocks so far: the start of a token.
    unread: Vec<u8>,
    /// The line of the first byte that was not read, from 1.
    line: u64,
    /// How far the lines of the block at hand are counted, and how many there are.
    counted: (usize, u64),
}

impl<'r, 'd> Feed<'r, 'd> {
    pub(super) fn new(reader: &'r mut DocumentReader<'d>, input: &'r str, options: &'r Options) -> Self {
        Self {
            reader,
            input,
            options,
            is_scanned: options.uses_scanner && scan::is_allowed(&options.limits),
            tape: Tape::default(),
            room: ReplayRoom::default(),
            head: Vec::new(),
            unread: Vec::new(),
            line: 1,
            counted: (0, 0),
        }
    }

    /// Whether it is worth scanning the next blocks before it is their turn.
    pub(super) fn wants_tapes(&self) -> bool {
        self.is_scanned && !self.reader.is_skipping()
    }

    /// What samples are added to, for others to do it; see the builder.
    pub(super) fn lend_sums(&mut self) -> Result<Option<SumTable>, Full> {
        self.reader.definitions.builder.lend_sums()
    }

    /// The samples since the last call, for the sums that were lent.
    pub(super) fn take_waiting(&mut self, spare: SumBatch) -> SumBatch {
        self.reader.definitions.builder.take_waiting(spare)
    }

    /// Takes the sums back.
    pub(super) fn return_sums(&mut self, sums: SumTable) {
        self.reader.definitions.builder.return_sums(sums);
    }

    /// Reads the next block. `tape` is what the scanner found in it from its start on, if it was asked already. Gives the
    /// number of bytes of the input behind the last block.
    pub(super) fn take(&mut self, block: &mut Block, tape: Option<&Tape>) -> Result<Option<u64>, Error> {
        if self.head.len() < HEAD {
            let missing = HEAD - self.head.len();
            self.head.extend(block.bytes().iter().take(missing));
        }
        let tape = tape.filter(|_| self.unread.is_empty());
        let carried = self.unread.len();
        if carried > 0 {
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
        self.reader.enter_window(block.offset, self.line);
        let used = self.read(block, tape).map_err(|fault| self.describe(fault, block))?;
        let line = self.line;
        self.reader.notes.locate(|byte| line_in(block, line, byte));
        self.keep(block, used, carried)
    }

    /// Reads what is whole of a block; gives how many bytes that is.
    fn read(&mut self, block: &Block, tape: Option<&Tape>) -> Result<usize, Fault> {
        let (bytes, is_end) = (block.bytes(), block.end.is_some());
        let mut used = 0;
        self.counted = (0, 0);
        if let Some(tape) = tape.filter(|tape| self.reader.fits(tape)) {
            self.reader.replay(tape, bytes, block.offset, &mut self.room)?;
            used = tape.end;
            self.counted = (used, tape.lines);
        }
        while used < bytes.len() {
            used += self.scan(block, used)?;
            if used == bytes.len() {
                break;
            }
            let step = if self.reader.is_skipping() {
                skip::rows(self.reader, &bytes[used..], is_end)
            } else {
                Step { used: 0, needs_more: false }
            };
            used += step.used;
            if step.needs_more {
                break;
            }
            let step = tokens::read(self.reader, bytes, used, block.offset, is_end)?;
            used += step.used;
            if step.needs_more {
                break;
            }
        }
        Ok(used)
    }

    /// Reads rows by the scanner, where rows follow; gives how many bytes.
    fn scan(&mut self, block: &Block, start: usize) -> Result<usize, Fault> {
        if !self.is_scanned || !self.reader.is_at_rows() {
            return Ok(0);
        }
        // Where ids have gaps some are not defined, which takes more care than the scanner has.
        let Some(next_id) = self.reader.definitions.ids.next() else { return Ok(0) };
        let rows = start..block.bytes().len();
        scan::rows(block.padded(), rows, &self.options.limits, Some(next_id), &mut self.tape);
        self.reader.replay(&self.tape, block.bytes(), block.offset, &mut self.room)?;
        let (counted, lines) = self.counted;
        let before = count_lines(&block.bytes()[counted..start]);
        self.counted = (self.tape.end, lines + before + self.tape.lines);
        Ok(self.tape.end - start)
    }

    /// Keeps what was not read for the next block, or ends the input.
    fn keep(&mut self, block: &mut Block, used: usize, carried: usize) -> Result<Option<u64>, Error> {
        if block.end.is_some() {
            return self.finish(block, used).map(Some);
        }
        let bytes = block.bytes();
        let limit = self.options.limits.token_bytes;
        if used == 0 && bytes.len() > limit {
            let kind = ErrorKind::Limit(format!("a single tag or text is larger than {limit} bytes"));
            return Err(self.locate(Fault { kind, byte: block.offset, line: None }, block));
        }
        let is_all = used == bytes.len() && carried == 0 && block.lines > 0;
        let (counted, lines) = self.counted;
        self.line += if is_all { block.lines } else { lines + count_lines(&bytes[counted..used]) };
        self.unread.extend_from_slice(&bytes[used..]);
        Ok(None)
    }

    /// Ends the input: it should be between documents, and hold one at least. The last block was read up to `used`.
    fn finish(&mut self, block: &mut Block, used: usize) -> Result<u64, Error> {
        let end = block.offset + block.bytes().len() as u64;
        let cut = match block.end.take() {
            Some(End::Cut(error)) => Some(error),
            _ => None,
        };
        let is_compressed_cut = cut.is_some();
        let fail = |kind, byte, line, cut: Option<io::Error>| {
            let source = cut.map(|error| Box::new(error) as _);
            Err(Error { source, ..self.locate(Fault { kind, byte, line }, block) })
        };
        let rows = self.reader.rows;
        if let Some(Unfinished { inside, byte, line }) = self.reader.unfinished() {
            if !self.options.allow_truncated {
                return fail(ErrorKind::Truncated { inside, end, rows }, byte, Some(line), cut);
            }
            self.reader.accept_cut(end);
            return Ok(end);
        }
        if self.reader.documents.is_empty() {
            return match cut {
                Some(_) => {
                    fail(ErrorKind::Truncated { inside: "compressed data".to_owned(), end, rows: 0 }, end, None, cut)
                }
                None => fail(ErrorKind::NotAnExport(super::sniff::describe(&self.head)), 0, Some(1), None),
            };
        }
        // All documents are complete; is something behind them that is not?
        let rest = &block.bytes()[used..];
        if is_compressed_cut || rest.starts_with(b"<") {
            if !self.options.allow_truncated {
                let inside = "what follows the document".to_owned();
                let byte = block.offset + used as u64;
                return fail(ErrorKind::Truncated { inside, end, rows }, byte, None, cut);
            }
            self.reader.mark_cut(end);
        }
        Ok(end)
    }

    /// The error of a fault in a block.
    fn describe(&self, fault: Fault, block: &Block) -> Error {
        let is_nothing_yet = self.reader.documents.is_empty() && self.reader.unfinished().is_none();
        match fault.kind {
            // What is broken before any document starts is no export at all.
            ErrorKind::Malformed(_) if is_nothing_yet => {
                let kind = ErrorKind::NotAnExport(super::sniff::describe(&self.head));
                self.locate(Fault { kind, ..fault }, block)
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

/// The line of a byte of a block that starts in line `first`; of one that is gone already, the line that is known last.
fn line_in(block: &Block, first: u64, byte: u64) -> u64 {
    let ahead = usize::try_from(byte.saturating_sub(block.offset)).unwrap_or(usize::MAX);
    let bytes = block.bytes();
    first + count_lines(&bytes[..ahead.min(bytes.len())])
}

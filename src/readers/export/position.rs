//! Tracks the position of the current block in an input: its line, and the bytes carried over from previous blocks.

use super::blocks::{Block, End, count_lines};
use super::not_an_export;
use crate::error::{Error, ErrorKind, Position};
use crate::memory::{OverBudget, Reservation};
use crate::profile::Full;
use crate::readers::formats;
use crate::recording::Options;

/// The number of bytes at the start that are kept to describe an XML input. Other inputs need more.
const HEAD: usize = 2 << 10;

/// Tokens up to this size are not charged to the budget, since any block may end inside one.
const SMALL: usize = 1 << 20;

/// The allocation size for a token larger than [`SMALL`]. glibc maps each allocation above 32 MiB separately and unmaps it when it is freed.
/// Smaller ones stay in each thread's heap: 16 files with 15 MB tokens kept 278 MiB allocated.
const MAPPED: usize = 33 << 20;

/// The progress through the blocks of an input.
#[derive(Debug)]
pub(super) struct Place<'i> {
    input: &'i str,
    head: Vec<u8>,
    /// The unread end of the previous blocks, which is the start of a token.
    unread: Vec<u8>,
    /// The number of unread bytes at which the token is parsed again. It grows by 1.5× each time, since parsing a long token at every block would
    /// take quadratic time.
    enough: usize,
    /// The maximum size of a token in bytes.
    limit: usize,
    /// The memory reserved for a long token.
    reserved: Reservation,
    /// The line of the first unread byte, starting at 1.
    pub(super) line: u64,
}

impl<'i> Place<'i> {
    /// The start of an input.
    pub(super) fn new(input: &'i str, options: &Options) -> Self {
        Self {
            input,
            head: Vec::new(),
            unread: Vec::new(),
            enough: 0,
            limit: options.limits.token_bytes,
            reserved: options.memory.nothing(),
            line: 1,
        }
    }

    /// True if the next block starts between two tokens.
    pub(super) fn is_between_tokens(&self) -> bool {
        self.unread.is_empty()
    }

    /// Enters the next block, prepends the unread bytes to it, and returns their number. `None` if the block only continues a token that is not
    /// due to be parsed again.
    ///
    /// # Errors
    /// If the source failed here, or the token takes too much memory.
    pub(super) fn enter(&mut self, block: &mut Block) -> Result<Option<usize>, Error> {
        self.keep_head(block.bytes());
        let carried = self.unread.len();
        if carried > 0 {
            let together = carried + block.bytes().len();
            self.reserve(together)
                .map_err(|over| self.locate(Fault::memory(over, block.offset - carried as u64), block))?;
            if together < self.enough && block.end.is_none() {
                let least = if together > SMALL { MAPPED } else { 0 };
                self.unread.reserve_exact(self.enough.max(least).saturating_sub(carried).max(block.bytes().len()));
                self.unread.extend_from_slice(block.bytes());
                return Ok(None);
            }
            block.prepend(&mut self.unread);
        }
        match block.end.take() {
            Some(End::Failed(error)) => {
                let byte = block.offset + block.bytes().len() as u64;
                return Err(Error::io(error, Some(self.position(byte, None, block))));
            }
            end => block.end = end,
        }
        Ok(Some(carried))
    }

    fn reserve(&mut self, bytes: usize) -> Result<(), OverBudget> {
        self.reserved.resize(if bytes > SMALL { bytes as u64 } else { 0 })
    }

    fn keep_head(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        for most in [HEAD, formats::HEAD] {
            let (kept, others) = rest.split_at(rest.len().min(most.saturating_sub(self.head.len())));
            self.head.extend_from_slice(kept);
            rest = others;
            if rest.is_empty() || not_an_export::is_markup(&self.head) {
                return;
            }
        }
    }

    /// Leaves a block that was entered with `carried` bytes. `used` bytes of it, with `lines` lines, were read. The rest is kept for the next
    /// block.
    ///
    /// # Errors
    /// If no byte was read although the block is larger than the largest allowed token.
    pub(super) fn leave(&mut self, block: &mut Block, used: usize, lines: u64, carried: usize) -> Result<(), Error> {
        let bytes = block.bytes();
        if used == 0 && bytes.len() > self.limit {
            let text = format!("a single tag or text is larger than {} bytes", self.limit);
            return Err(self.locate(Fault::limit(text, block.offset), block));
        }
        self.line += lines;
        match carried {
            0 => self.unread.extend_from_slice(&bytes[used..]),
            _ => block.give_back(used, &mut self.unread),
        }
        let unread = self.unread.len();
        self.enough = (unread + unread / 2).min(self.limit.saturating_add(1));
        self.reserve(unread).map_err(|over| self.locate(Fault::memory(over, block.offset + used as u64), block))
    }

    /// The error for an input without any document.
    pub(super) fn no_export(&self) -> ErrorKind {
        self.other_format().unwrap_or_else(|| ErrorKind::NotAnExport(not_an_export::describe(&self.head)))
    }

    /// True if an input is broken at its start, so the error should describe its first bytes instead of the fault.
    fn is_no_export(&self) -> bool {
        !not_an_export::is_markup(&self.head) || not_an_export::recognise(&self.head).is_some()
    }

    /// The error for an input that another tool wrote.
    fn other_format(&self) -> Option<ErrorKind> {
        formats::describe(&self.head).map(ErrorKind::NotAnExport)
    }

    /// The error for a fault in a block. If there is `nothing_yet`, the input may not be an export.
    pub(super) fn describe(&self, fault: Fault, block: &Block, nothing_yet: bool) -> Error {
        let may_be_other = match fault.kind {
            ErrorKind::NotAnExport(_) => true,
            ErrorKind::Malformed(_) => nothing_yet,
            _ => false,
        };
        match fault.kind {
            _ if may_be_other && let Some(kind) = self.other_format() => {
                self.locate(Fault { kind, byte: 0, line: Some(1) }, block)
            }
            ErrorKind::Malformed(_) if nothing_yet && self.is_no_export() => {
                self.locate(Fault { kind: self.no_export(), byte: 0, line: Some(1) }, block)
            }
            _ => self.locate(fault, block),
        }
    }

    /// The error for a fault, with its position.
    pub(super) fn locate(&self, fault: Fault, block: &Block) -> Error {
        Error::new(fault.kind, Some(self.position(fault.byte, fault.line, block)))
    }

    fn position(&self, byte: u64, line: Option<u64>, block: &Block) -> Position {
        let line = line.unwrap_or_else(|| line_in(block, self.line, byte));
        Position { input: self.input.to_owned(), line, byte }
    }
}

/// Returns the line of an offset in a block whose first line is `first`, or the last known line if the byte is no longer in memory.
pub(super) fn line_in(block: &Block, first: u64, byte: u64) -> u64 {
    let ahead = usize::try_from(byte.saturating_sub(block.offset)).unwrap_or(usize::MAX);
    let bytes = block.bytes();
    first + count_lines(&bytes[..ahead.min(bytes.len())])
}

/// A fault that stops reading, and its offset.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: ErrorKind,
    pub(super) byte: u64,
    /// The line, if already known.
    pub(super) line: Option<u64>,
}

impl Fault {
    pub(super) fn malformed(text: impl Into<String>, byte: u64) -> Self {
        Self { kind: ErrorKind::Malformed(text.into()), byte, line: None }
    }

    pub(super) fn not_an_export(text: impl Into<String>, byte: u64) -> Self {
        Self { kind: ErrorKind::NotAnExport(text.into()), byte, line: None }
    }

    pub(super) fn limit(text: impl Into<String>, byte: u64) -> Self {
        Self { kind: ErrorKind::Limit(text.into()), byte, line: None }
    }

    pub(super) fn memory(over: OverBudget, byte: u64) -> Self {
        Self { kind: ErrorKind::Memory(over), byte, line: None }
    }

    pub(super) fn full(full: Full, byte: u64) -> Self {
        Self::limit(full.to_string(), byte)
    }
}

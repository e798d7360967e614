//! From blocks to documents: rows of CPU tables by the scanner, rows of other tables by counting, all else by tokens.

use super::blocks::{Block, count_lines};
use super::document::DocumentReader;
use super::position::Fault;
use super::position::{Place, line_in};
use super::replay::ReplayRoom;
use super::skipped_tables::SkipRows as _;
use super::tape::Tape;
use super::truncation::{describe, finish};
use super::{scan, skipped_tables};
use crate::error::Error;
use crate::profile::{Full, SumBatch, SumTable};
use crate::recording::Options;

/// Reads the blocks of one input, in order.
#[derive(Debug)]
pub(super) struct Feed<'r, 'd> {
    reader: &'r mut DocumentReader<'d>,
    options: &'r Options,
    is_scanned: bool,
    memory: scan::Memory,
    tape: Tape,
    room: ReplayRoom,
    place: Place<'r>,
    /// The byte up to which the lines of the current block are counted, and their number.
    counted: (usize, u64),
    /// The memory that sums take that were lent.
    pub(super) lent: u64,
}

impl<'r, 'd> Feed<'r, 'd> {
    pub(super) fn new(reader: &'r mut DocumentReader<'d>, input: &'r str, options: &'r Options) -> Self {
        Self {
            reader,
            options,
            is_scanned: options.uses_scanner && scan::is_allowed(&options.limits),
            memory: scan::Memory::default(),
            tape: Tape::default(),
            room: ReplayRoom::default(),
            place: Place::new(input, options),
            counted: (0, 0),
            lent: 0,
        }
    }

    /// True if it is worth scanning the next blocks before it is their turn.
    pub(super) fn wants_tapes(&self) -> bool {
        self.is_scanned && !self.reader.is_skipping()
    }

    /// Lends the sums that samples are added to, for others to add them; see the builder.
    pub(super) fn lend_sums(&mut self) -> Result<Option<SumTable>, Full> {
        self.reader.definitions.recording.profile.lend_sums()
    }

    /// The samples since the last call, for the sums that were lent.
    pub(super) fn take_waiting(&mut self, spare: SumBatch) -> SumBatch {
        self.reader.definitions.recording.profile.take_waiting(spare)
    }

    /// Takes the sums back.
    pub(super) fn return_sums(&mut self, sums: SumTable) {
        self.reader.definitions.recording.profile.return_sums(sums);
    }

    /// Reads the next block. `tape` contains the rows that the scanner found at the start of the block, if it was scanned before. After the
    /// last block, returns the number of bytes of the input.
    pub(super) fn take(&mut self, block: &mut Block, tape: Option<&Tape>) -> Result<Option<u64>, Error> {
        let tape = tape.filter(|_| self.place.is_between_tokens());
        let Some(carried) = self.place.enter(block)? else { return Ok(None) };
        let line = self.place.line;
        self.reader.enter_window(block.offset, line);
        let used = self.read(block, tape).map_err(|fault| describe(self.reader, &self.place, fault, block))?;
        self.reader.notes.locate(|byte| line_in(block, line, byte));
        let more = self.lent.saturating_add(self.reader.memory() + self.reader.open_memory());
        let reserved = self.reader.definitions.reserve(more);
        let at = block.offset + used as u64;
        reserved.map_err(|over| self.place.locate(Fault::memory(over, at), block))?;
        self.keep(block, used, carried)
    }

    /// Reads the complete tokens of a block. Returns their number of bytes.
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
            let step = skipped_tables::rows_or_tokens(self.reader, bytes, used, block.offset, is_end)?;
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
        // If ids have gaps, some are undefined, which the scanner does not handle.
        let Some(next_id) = self.reader.definitions.ids.next() else { return Ok(0) };
        let rows = start..block.bytes().len();
        scan::rows(block.padded(), rows, &self.options.limits, Some(next_id), &mut self.memory, &mut self.tape);
        self.reader.replay(&self.tape, block.bytes(), block.offset, &mut self.room)?;
        let (counted, lines) = self.counted;
        let before = count_lines(&block.bytes()[counted..start]);
        self.counted = (self.tape.end, lines + before + self.tape.lines);
        Ok(self.tape.end - start)
    }

    /// Keeps what was not read for the next block, or ends the input.
    fn keep(&mut self, block: &mut Block, used: usize, carried: usize) -> Result<Option<u64>, Error> {
        if block.end.is_some() {
            return finish(self.reader, &self.place, block, used).map(Some);
        }
        let is_all = used == block.bytes().len() && carried == 0 && block.lines > 0;
        let (counted, lines) = self.counted;
        let lines = if is_all { block.lines } else { lines + count_lines(&block.bytes()[counted..used]) };
        self.place.leave(block, used, lines, carried)?;
        Ok(None)
    }
}

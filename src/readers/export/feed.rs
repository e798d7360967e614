//! Passes blocks to documents. The scanner reads rows of CPU tables, rows of other tables are only counted, and everything else is read as
//! tokens.

use super::blocks::{Block, count_lines};
use super::document::{Content, DocumentReader, Samples, describe, finish, rows_or_tokens};
use super::position::{Fault, Place, line_in};
use super::replay::ReplayRoom;
use super::scan;
use super::tape::Tape;
use crate::error::Error;
use crate::profile::{Full, SumBatch, SumTable};
use crate::recording::Options;

/// How much of a block was read, and the number of lines up to some byte.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    used: usize,
    counted: usize,
    lines: u64,
}

impl Taken {
    /// Reads a block to its end as tokens, skipping unneeded rows. `scan` is called first at each position, and may read rows faster.
    pub(super) fn read<'d, C: Content>(
        mut self,
        reader: &mut DocumentReader<'d, C>,
        block: &Block,
        mut scan: impl FnMut(&mut DocumentReader<'d, C>, &mut Self) -> Result<(), Fault>,
    ) -> Result<Self, Fault> {
        while self.used < block.bytes().len() {
            scan(reader, &mut self)?;
            if self.used == block.bytes().len() {
                break;
            }
            let step = rows_or_tokens(reader, block.bytes(), self.used, block.offset, block.end.is_some())?;
            self.used += step.used;
            if step.needs_more {
                break;
            }
        }
        Ok(self)
    }
}

/// Reads the next block with `read`; `lent` is memory used elsewhere. After the last block, returns the size of the input in bytes.
pub(super) fn take_block<'d, C: Content>(
    reader: &mut DocumentReader<'d, C>,
    place: &mut Place<'_>,
    block: &mut Block,
    lent: u64,
    read: impl FnOnce(&mut DocumentReader<'d, C>, &Block) -> Result<Taken, Fault>,
) -> Result<Option<u64>, Error> {
    let Some(carried) = place.enter(block)? else { return Ok(None) };
    let line = place.line;
    reader.enter_window(block.offset, line);
    let taken = read(reader, block).map_err(|fault| describe(reader, place, fault, block))?;
    reader.notes.locate(|byte| line_in(block, line, byte));
    let more = lent.saturating_add(reader.memory() + reader.open_memory());
    let at = block.offset + taken.used as u64;
    reader.content.reserve(more).map_err(|over| place.locate(Fault::memory(over, at), block))?;
    if block.end.is_some() {
        return finish(reader, place, block, taken.used).map(Some);
    }
    // The unread part is prepended to the next block.
    let is_all = taken.used == block.bytes().len() && carried == 0 && block.lines > 0;
    let uncounted = &block.bytes()[taken.counted..taken.used];
    let lines = if is_all { block.lines } else { taken.lines + count_lines(uncounted) };
    place.leave(block, taken.used, lines, carried)?;
    Ok(None)
}

/// Reads the blocks of one input with samples, in order.
#[derive(Debug)]
pub(super) struct Feed<'r, 'd> {
    reader: &'r mut DocumentReader<'d, Samples<'d>>,
    options: &'r Options,
    is_scanned: bool,
    memory: scan::Memory,
    tape: Tape,
    room: ReplayRoom,
    place: Place<'r>,
    /// The memory of the lent sums.
    pub(super) lent: u64,
}

impl<'r, 'd> Feed<'r, 'd> {
    pub(super) fn new(reader: &'r mut DocumentReader<'d, Samples<'d>>, input: &'r str, options: &'r Options) -> Self {
        Self {
            reader,
            options,
            is_scanned: options.uses_scanner && scan::is_allowed(&options.limits),
            memory: scan::Memory::default(),
            tape: Tape::default(),
            room: ReplayRoom::default(),
            place: Place::new(input, options),
            lent: 0,
        }
    }

    /// True if scanning the next blocks ahead of time is useful.
    pub(super) fn wants_tapes(&self) -> bool {
        self.is_scanned && !self.reader.is_skipping()
    }

    /// Lends the sums, so another thread can add samples to them; see the builder.
    pub(super) fn lend_sums(&mut self) -> Result<Option<SumTable>, Full> {
        self.reader.content.definitions.recording.profile.lend_sums()
    }

    /// Returns the samples since the last call, to be added to the lent sums.
    pub(super) fn take_waiting(&mut self, spare: SumBatch) -> SumBatch {
        self.reader.content.definitions.recording.profile.take_waiting(spare)
    }

    /// Takes the sums back.
    pub(super) fn return_sums(&mut self, sums: SumTable) {
        self.reader.content.definitions.recording.profile.return_sums(sums);
    }

    /// Reads the next block. `tape` contains the scanned rows at the start of the block, if it was scanned ahead of time. After the last block,
    /// returns the size of the input in bytes.
    pub(super) fn take(&mut self, block: &mut Block, tape: Option<&Tape>) -> Result<Option<u64>, Error> {
        let tape = tape.filter(|_| self.place.is_between_tokens());
        let Self { reader, options, is_scanned, memory, tape: own, room, place, lent } = self;
        take_block(reader, place, block, *lent, |reader, block| {
            let mut taken = Taken::default();
            if let Some(tape) = tape.filter(|tape| reader.fits(tape)) {
                reader.replay(tape, block.bytes(), block.offset, room)?;
                taken = Taken { used: tape.end, counted: tape.end, lines: tape.lines };
            }
            taken.read(reader, block, |reader, taken| {
                // If ids have gaps, some are undefined, which the scanner does not handle.
                let next_id =
                    if *is_scanned && reader.is_at_rows() { reader.content.definitions.ids.next() } else { None };
                if next_id.is_some() {
                    let rows = taken.used..block.bytes().len();
                    scan::rows(block.padded(), rows, &options.limits, next_id, memory, own);
                    reader.replay(own, block.bytes(), block.offset, room)?;
                    let before = count_lines(&block.bytes()[taken.counted..taken.used]);
                    *taken = Taken { used: own.end, counted: own.end, lines: taken.lines + before + own.lines };
                }
                Ok(())
            })
        })
    }
}

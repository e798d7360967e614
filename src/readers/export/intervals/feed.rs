//! From bytes to the reader of intervals: other tables are passed by, all else is tokens.

use std::io::Read;

use super::super::blocks::{Block, BlockReader, count_lines};
use super::super::position::Fault;
use super::super::position::{Place, line_in};
use super::super::skipped_tables;
use super::super::truncation::{describe, finish};
use super::reader::IntervalReader;
use crate::error::Error;
use crate::recording::{Intervals, Options};

/// Reads all documents of an input.
pub(super) fn read(source: impl Read, input: &str, options: &Options) -> Result<Intervals, Error> {
    let mut place = Place::new(input, options);
    let mut reader = IntervalReader::new(input, options);
    let mut blocks = BlockReader::new(source, options.buffer_size);
    let mut block = Block::default();
    loop {
        blocks.read(&mut block);
        if take(&mut place, &mut reader, &mut block)? {
            return Ok(reader.into_intervals());
        }
    }
}

/// Reads the next block; says whether it was the last one.
fn take(place: &mut Place<'_>, reader: &mut IntervalReader<'_>, block: &mut Block) -> Result<bool, Error> {
    let Some(carried) = place.enter(block)? else { return Ok(false) };
    let line = place.line;
    reader.enter_window(block.offset, line);
    let used = read_tokens(reader, block);
    let used = used.map_err(|fault| describe(reader, place, fault, block))?;
    reader.notes.locate(|byte| line_in(block, line, byte));
    reader.reserve().map_err(|over| place.locate(Fault::memory(over, block.offset), block))?;
    if block.end.is_some() {
        return finish(reader, place, block, used).map(|_| true);
    }
    let lines = count_lines(&block.bytes()[..used]);
    place.leave(block, used, lines, carried)?;
    Ok(false)
}

/// Reads the complete tokens of a block. Returns their number of bytes.
fn read_tokens(reader: &mut IntervalReader<'_>, block: &Block) -> Result<usize, Fault> {
    let mut used = 0;
    while used < block.bytes().len() {
        let step = skipped_tables::rows_or_tokens(reader, block.bytes(), used, block.offset, block.end.is_some())?;
        used += step.used;
        if step.needs_more {
            break;
        }
    }
    Ok(used)
}

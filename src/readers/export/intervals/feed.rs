//! From bytes to the reader of intervals: other tables are passed by, all else is tokens.

use std::io::Read;

use super::super::blocks::{Block, BlockReader, End, count_lines};
use super::super::fault::Fault;
use super::super::place::{Place, line_in};
use super::super::{skip, tokens};
use super::reader::IntervalReader;
use crate::error::{Error, ErrorKind};
use crate::recording::Intervals;
use crate::recording::Options;

/// Reads all documents of an input.
pub(super) fn read(source: impl Read, input: &str, options: &Options) -> Result<Intervals, Error> {
    let mut place = Place::new(input);
    let mut reader = IntervalReader::new(input, options);
    let mut blocks = BlockReader::new(source, options.buffer_size);
    let mut block = Block::default();
    loop {
        blocks.read(&mut block);
        if take(&mut place, &mut reader, &mut block, options)? {
            return Ok(reader.into_intervals());
        }
    }
}

/// Reads the next block; says whether it was the last one.
fn take(
    place: &mut Place<'_>,
    reader: &mut IntervalReader<'_>,
    block: &mut Block,
    options: &Options,
) -> Result<bool, Error> {
    place.enter(block)?;
    let line = place.line;
    reader.enter_window(block.offset, line);
    let used = read_tokens(reader, block);
    let used = used.map_err(|fault| place.describe(fault, block, !reader.has_documents()))?;
    reader.notes.locate(|byte| line_in(block, line, byte));
    reader.reserve().map_err(|over| place.locate(Fault::memory(over, block.offset), block))?;
    if block.end.is_some() {
        finish(place, reader, block, used, options)?;
        return Ok(true);
    }
    place.leave(block, used, count_lines(&block.bytes()[..used]), options.limits.token_bytes)?;
    Ok(false)
}

/// Ends the input: it should be between documents, and hold one at least. The last block was read up to `used`.
fn finish(
    place: &Place<'_>,
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
            return Err(place.locate(Fault { kind: place.no_export(), byte: 0, line: Some(1) }, block));
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
    Err(Error { source, ..place.locate(Fault { kind, byte, line }, block) })
}

/// Reads what is whole of a block; gives how many bytes that is.
fn read_tokens(reader: &mut IntervalReader<'_>, block: &Block) -> Result<usize, Fault> {
    let (bytes, is_end) = (block.bytes(), block.end.is_some());
    let mut used = 0;
    while used < bytes.len() {
        if reader.is_skipping() {
            let step = skip::rows(reader, &bytes[used..], block.offset + used as u64, is_end);
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

//! A fast path for the usual row: a time, cells that were seen before, and a stack.
//!
//! Such rows are read in one pass that does not look for other elements. The general scanner handles every deviation.

use super::super::tag::Tag;
use super::super::tape::Op;
use super::bytes::{Digits, TIME_LENGTH, digits, look, not_time, number};
use super::elements::Start;
use super::known_cells::Widths;
use super::{MAX_ROW, Scanner};

/// The start of a row with the usual shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowStart {
    /// The id of the time. It is the next id, but has not been assigned yet.
    id: u64,
    time: u64,
    cells: u32,
    /// The offset of its stack.
    stack: usize,
}

/// Reads the time at the start of a row if it has the usual form, with numbers of these widths. Returns its id, value and end.
///
/// It has a single branch, and no offset depends on the data.
#[inline(always)]
fn time_of_widths(bytes: &[u8], row: usize, widths: Widths) -> Option<(u64, u64, usize)> {
    const ID: usize = b"<row><sample-time id=\"".len();
    const FMT: usize = b"\" fmt=\"".len();
    const FMT_END: usize = FMT + TIME_LENGTH;
    // The digits of the time are in two words. Shorter times occur only in the first 100 ms.
    let (1..=8, 9..=16) = (widths.id, widths.time) else { return None };
    let (id_width, time_width) = (usize::from(widths.id & 15), usize::from(widths.time & 31));
    let text: &[u8; 128] = bytes.get(row..)?.first_chunk()?;
    let word = |at: usize| Some(u64::from_le_bytes(*text.get(at..)?.first_chunk()?));
    let differs = |at: usize, part: &[u8; 8]| Some(word(at)? ^ u64::from_le_bytes(*part));
    let fmt = ID + id_width;
    let time = fmt + FMT_END + b"\">".len();
    let end = time + time_width;
    let start = differs(0, b"<row><sa")? | differs(8, b"mple-tim")? | differs(ID - 8, b"ime id=\"")?;
    // The first seven bytes of one word, and the first two of the other.
    let between = (differs(fmt, b"\" fmt=\"\0")? << 8) | (differs(fmt + FMT_END, b"\">\0\0\0\0\0\0")? << 48);
    let end_tag = differs(end, b"</sample")? | differs(end + END_TAG.len() - 8, b"le-time>")?;
    let id = Digits::first_of(word(ID)?, id_width);
    let high = Digits::first_of(word(time)?, time_width - 8);
    let low = Digits::first_of(word(end - 8)?, 8);
    let shown = not_time(word(fmt + FMT)?) | not_time(word(fmt + FMT_END - 8)?);
    let other = start | between | end_tag | shown | id.others() | high.others() | low.others();
    (other == 0).then(|| (id.number(), high.number() * 100_000_000 + low.number(), row + end + END_TAG.len()))
}

const END_TAG: &[u8] = b"</sample-time>";

/// The end of a row after the id of its stack.
const END: &[u8] = b"\"/></row>";
const ROW_END: &[u8] = b"</row>";

/// The length of a `ref` stack with the end of its row.
const LAST_CELL: usize = b"<tagged-backtrace ref=\"".len() + 8 + END.len();

/// Parses a `ref` stack with an id of up to 8 digits, which begins with `start`. Returns the id, which is never 0, and the length up to the end
/// of the row.
#[inline(always)]
fn stack_reference<const N: usize>(ahead: &[u8; LAST_CELL], start: &[u8; N]) -> Option<(u32, usize)> {
    if !ahead.starts_with(start) {
        return None;
    }
    let (count, id) = digits(u64::from_le_bytes(*ahead.get(N..)?.first_chunk()?));
    let ends = ahead.get(N + count..)?.starts_with(END);
    (ends && id != 0).then_some((id as u32, N + count + END.len()))
}

impl Scanner<'_> {
    /// Reads the time and the other cells of the row at `row`, if they have the usual form. Does not write to the tape.
    #[inline(always)]
    pub(super) fn row_start(&mut self, row: usize) -> Option<RowStart> {
        let (id, time, at) = match time_of_widths(self.bytes, row, self.widths) {
            Some((id, time, at)) if id == u64::from(self.next_id) => (id, time, at),
            _ => self.time_of_any_width(row)?,
        };
        let (cells, stack) = self.seen_cells(at)?;
        // The remaining half is more than enough for a `ref` stack.
        if stack - row > MAX_ROW / 2 {
            return None;
        }
        Some(RowStart { id, time, cells, stack })
    }

    /// Reads the time of the row at `row`, and caches its widths.
    fn time_of_any_width(&mut self, row: usize) -> Option<(u64, u64, usize)> {
        if !self.bytes[row..].starts_with(b"<row>") {
            return None;
        }
        let (id, time, at) = self.usual_time(row + b"<row>".len())?;
        self.widths = Widths::of(id, time);
        Some((id, time, at))
    }

    /// Reads a `ref` stack at the end of a row with this start. Returns the end of the row.
    #[inline(always)]
    pub(super) fn usual_end(&mut self, row: usize, start: &RowStart) -> Option<usize> {
        let &RowStart { id, time, cells, stack: at } = start;
        let ahead = self.bytes.get(at..)?.first_chunk()?;
        let (stack, length) = stack_reference(ahead, b"<backtrace ref=\"")
            .or_else(|| stack_reference(ahead, b"<tagged-backtrace ref=\""))?;
        // Only earlier ids are valid. The id of the row's own time passes this check, but the stack lookup rejects it later.
        if u64::from(stack) > id {
            return None;
        }
        let id = self.define_next()?;
        self.tape.known_stacks.push(stack);
        let ops = [Op::UsualRow { at: self.place(at), id, time }, Op::UsualCells { start: row as u32, cells, stack }];
        self.tape.ops.extend_from_slice(&ops);
        Some(at + length)
    }

    /// Reads the rest of a row after its usual start. Returns its end.
    #[inline(always)]
    pub(super) fn rest_of_row(&mut self, start: &RowStart) -> Option<usize> {
        let &RowStart { time: value, cells, stack, .. } = start;
        let (id, at) = (self.define_next()?, self.place(self.row + b"<row>".len()));
        self.tape.ops.extend_from_slice(&[Op::Number { tag: Tag::Time, at, id, value }, Op::Cells { cells }]);
        let end = self.usual_stack(stack)?.unwrap_or(stack);
        if look(self.bytes, end)?.starts_with(ROW_END) {
            return Some(end + ROW_END.len());
        }
        self.cells(end)
    }

    /// Reads the stack at `at` if it is `<backtrace id="1"><frame …`. Returns its end.
    #[inline(always)]
    fn usual_stack(&mut self, at: usize) -> Option<Option<usize>> {
        const START: &[u8] = b"<backtrace id=\"";
        const END: &[u8] = b"\"><frame ";
        if !look(self.bytes, at)?.starts_with(START) {
            return Some(None);
        }
        let (id, end) = number(self.bytes, at + START.len())?;
        if id != u64::from(self.next_id) || !look(self.bytes, end)?.starts_with(END) {
            return Some(None);
        }
        let id = self.define_next()?;
        let start = Start::of_backtrace(id, at, at + b"<backtrace".len(), end + b"\">".len());
        self.stack(&start, 0).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tape::Tape;
    use super::super::known_cells::KnownCells;
    use super::super::{MAX_ROW, Memory};
    use super::*;

    /// Reads the time without knowing its widths.
    fn of_any_width(bytes: &[u8], next_id: u32) -> Option<(u64, u64, usize)> {
        let (mut memory, mut tape) = (Memory { known_cells: KnownCells::default() }, Tape::default());
        Scanner::new(bytes, MAX_ROW, Some(next_id), 0, &mut memory, &mut tape).usual_time(b"<row>".len())
    }

    #[test]
    fn known_widths_change_nothing() {
        for (id, time) in [(1, 123_456_789), (99, 1_234_567_890), (12_345_678, 1_234_567_890_123_456), (7, 999_999_999)]
        {
            let row = format!("<row><sample-time id=\"{id}\" fmt=\"00:45.036.841\">{time}</sample-time>");
            let widths = Widths::of(id, time);
            for at in 0..row.len() {
                for byte in [b"0123456789:;-./<>\"&= \n\x00\x80\xff".as_slice(), &row.as_bytes()[at..=at]].concat() {
                    let mut bytes = [row.as_bytes(), &[b' '; 128]].concat();
                    bytes[at] = byte;
                    let found = time_of_widths(&bytes, 0, widths);
                    assert!(found.is_some() || bytes[at] != row.as_bytes()[at], "{row}");
                    if let Some((found_id, ..)) = found {
                        assert_eq!(found, of_any_width(&bytes, found_id as u32), "{}", bytes.escape_ascii());
                    }
                }
            }
        }
    }

    #[test]
    fn other_widths_are_not_read() {
        let row =
            [b"<row><sample-time id=\"12\" fmt=\"00:45.036.841\">45036841084</sample-time>".as_slice(), &[0; 128]]
                .concat();
        let found = |id, time| time_of_widths(&row, 0, Widths { id, time }).is_some();
        for (id, time) in (0..=u8::MAX).flat_map(|id| (0..=u8::MAX).map(move |time| (id, time))) {
            assert_eq!(found(id, time), (id, time) == (2, 11), "{id} {time}");
        }
        for (number, width) in [(0, 1), (9, 1), (10, 2), (u64::MAX, 20)] {
            assert_eq!(Widths::of(number, number), Widths { id: width, time: width });
        }
    }
}

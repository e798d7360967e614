//! Rows as nearly all are: a time, cells that were seen before, and a stack.
//!
//! They are read in one go, without looking for what else could stand there. What is any different is left to those who do.

use super::super::tag::Tag;
use super::super::tape::Op;
use super::bytes::{look, number};
use super::elements::Start;
use super::{MAX_ROW, Scanner};

/// The start of a row that is as usual.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowStart {
    /// Of the time; it is the next one, and not defined yet.
    id: u64,
    time: u64,
    cells: u32,
    /// Where its stack is.
    stack: usize,
}

/// What ends a row behind the id of its stack.
const END: &[u8] = b"\"/></row>";

impl Scanner<'_> {
    /// Reads the time and the other cells of the row at `row`, if they are usual. Nothing of them is on the tape yet.
    #[inline(always)]
    pub(super) fn row_start(&mut self, row: usize) -> Option<RowStart> {
        let (id, time, at) = self.usual_time(row + b"<row>".len())?;
        let (cells, stack) = self.seen_cells(at)?;
        // A stack by `ref` behind it is far shorter than the other half.
        if stack - row > MAX_ROW / 2 {
            return None;
        }
        Some(RowStart { id, time, cells, stack })
    }

    /// Reads a stack by `ref`, with which the row ends that has this start; gives where it does.
    #[inline(always)]
    pub(super) fn usual_end(&mut self, row: usize, start: &RowStart) -> Option<usize> {
        let &RowStart { id, time, cells, stack: at } = start;
        let ahead = look(self.bytes, at)?;
        let names: [&[u8]; 2] = [b"<backtrace ref=\"", b"<tagged-backtrace ref=\""];
        let name = names.into_iter().find(|name| ahead.starts_with(name))?;
        let (stack, end) = number(self.bytes, at + name.len())?;
        let stack =
            u32::try_from(stack).ok().filter(|_| look(self.bytes, end).is_some_and(|end| end.starts_with(END)))?;
        // Only backwards. The time of the row itself is no stack, which is found where stacks are looked up.
        if stack == 0 || u64::from(stack) > id {
            return None;
        }
        let id = self.define(id)?;
        self.tape.known_stacks.push(stack);
        let ops = [Op::UsualRow { at: self.place(at), id, time }, Op::UsualCells { start: row as u32, cells, stack }];
        self.tape.ops.extend_from_slice(&ops);
        Some(end + END.len())
    }

    /// Reads what follows the usual start of a row; gives where the row ends.
    #[inline(always)]
    pub(super) fn rest_of_row(&mut self, start: &RowStart) -> Option<usize> {
        let &RowStart { id, time: value, cells, stack } = start;
        let (id, at) = (self.define(id)?, self.place(self.row + b"<row>".len()));
        self.tape.ops.extend_from_slice(&[Op::Number { tag: Tag::Time, at, id, value }, Op::Cells { cells }]);
        let end = self.usual_stack(stack)?.unwrap_or(stack);
        self.cells(end)
    }

    /// Reads the stack at `at` if it is `<backtrace id="1"><frame …`; gives where it ends.
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
        let id = self.define(id)?;
        let start = Start::of_backtrace(id, at, at + b"<backtrace".len(), end + b"\">".len());
        self.stack(&start, 0).map(Some)
    }
}

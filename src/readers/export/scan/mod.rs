//! Scans rows of CPU tables in the XML dialect of `xctrace`.
//!
//! Instruments writes a restricted XML: one space before an attribute, double quotes, `id` or `ref` first, no comments, no numeric entities,
//! no text next to elements. In this dialect, the first bytes identify a tag, and nine of ten tags are `<frame ref="N"/>`. Anything else
//! ends the scan before its row, and the row is then parsed as XML. The scanner therefore never interprets unusual input.
//!
//! A scan needs only its own bytes, so blocks can be scanned in parallel.

mod bytes;
mod cells;
mod elements;
mod fast_row;
mod known_cells;
mod stacks;

use std::ops::Range;

use memchr::memmem;

use super::blocks::count_lines;
use super::tape::{Op, Tape};
use crate::recording::Limits;
pub(super) use bytes::PADDING;
use bytes::number;
use known_cells::KnownCells;
use known_cells::{LastStacks, Widths};

/// Longer rows are parsed as XML, since offsets in a row have 16 bits.
const MAX_ROW: usize = u16::MAX as usize;
/// More than the nesting depth that the scanner can produce. If the limits allow less, the scanner is not used.
const MAX_DEPTH: usize = 16;
/// Stacks with more frames are parsed as XML.
const MAX_FRAMES: usize = 2_000;
/// The maximum number of pending values in a row.
const MAX_CHILDREN: usize = 2 * MAX_FRAMES;

/// Scans rows of one block onto a tape.
#[derive(Debug)]
pub(super) struct Scanner<'b> {
    /// The bytes, followed by [`PADDING`] zeros.
    bytes: &'b [u8],
    tape: &'b mut Tape,
    name_bytes: usize,
    /// The id that the next definition must have; 0 until the first definition.
    next_id: u32,
    /// The start of the current row.
    row: usize,
    /// The id of the current row's thread.
    thread: u32,
    widths: Widths,
    /// The ids of the open elements, outermost first. Nothing may refer to them until they end.
    open: Vec<u32>,
    known_cells: &'b mut KnownCells,
    last_stacks: LastStacks,
    end_of_backtrace: memmem::Finder<'static>,
    end_of_tagged_backtrace: memmem::Finder<'static>,
}

/// A thread's caches, kept from block to block. They do not affect the result.
#[derive(Debug, Default)]
pub(super) struct Memory {
    known_cells: KnownCells,
}

/// True if the limits allow everything that the scanner accepts, so the XML parser would give the same result.
pub(super) fn is_allowed(limits: &Limits) -> bool {
    limits.element_depth >= MAX_DEPTH && limits.children >= MAX_CHILDREN && limits.token_bytes >= MAX_ROW
}

/// Scans the rows that start in `range` until the first one that deviates from the dialect. `bytes` ends with [`PADDING`] zeros. `next_id` is
/// the id of the first definition, if known.
pub(super) fn rows(
    bytes: &[u8],
    range: Range<usize>,
    limits: &Limits,
    next_id: Option<u32>,
    memory: &mut Memory,
    tape: &mut Tape,
) {
    tape.clear();
    memory.known_cells.begin();
    let mut scanner = Scanner::new(bytes, limits.name_bytes, next_id, range.start, memory, tape);
    if u32::try_from(bytes.len()).is_ok() {
        scanner.scan(range);
    } else {
        scanner.tape.end = range.start;
    }
}

impl<'b> Scanner<'b> {
    fn new(
        bytes: &'b [u8],
        name_bytes: usize,
        next_id: Option<u32>,
        row: usize,
        memory: &'b mut Memory,
        tape: &'b mut Tape,
    ) -> Self {
        Self {
            bytes,
            tape,
            name_bytes,
            next_id: next_id.unwrap_or(0),
            row,
            thread: 0,
            widths: Widths::default(),
            open: Vec::new(),
            known_cells: &mut memory.known_cells,
            last_stacks: LastStacks::default(),
            end_of_backtrace: memmem::Finder::new(b"</backtrace>"),
            end_of_tagged_backtrace: memmem::Finder::new(b"</tagged-backtrace>"),
        }
    }

    fn scan(&mut self, range: Range<usize>) {
        let (mut tape_end, mut tape_lines, mut rows) = (range.start, 0, 0);
        let (mut at, mut lines) = self.skip_space(range.start);
        while at < range.end
            && let Some(end) = self.row(at)
        {
            (tape_end, tape_lines, rows) = (end, lines, rows + 1);
            let (next, more) = self.skip_space(end);
            (at, lines) = (next, lines + more);
        }
        // White space before text belongs to that text.
        if self.bytes[at] == b'<' {
            (tape_end, tape_lines) = (at, lines);
        }
        // Scanned rows contain no line feeds.
        debug_assert_eq!(tape_lines, count_lines(&self.bytes[range.start..tape_end]));
        (self.tape.end, self.tape.lines, self.tape.rows) = (tape_end, tape_lines, rows);
    }

    /// Reads the row at `row`, if there is one. Returns its end.
    #[inline(always)]
    fn row(&mut self, row: usize) -> Option<usize> {
        self.row = row;
        let start = self.row_start(row);
        if let Some(start) = &start
            && let Some(end) = self.usual_end(row, start)
        {
            return Some(end);
        }
        if !self.bytes[row..].starts_with(b"<row>") {
            return None;
        }
        let mark = self.tape.mark();
        self.tape.ops.push(Op::Row { start: row as u32 });
        let end = match start {
            Some(start) => self.rest_of_row(&start),
            None => {
                self.thread = 0;
                self.cells(row + b"<row>".len())
            }
        };
        if end.is_some_and(|end| end - row <= MAX_ROW) {
            self.tape.end_row(&mark);
            return end;
        }
        self.tape.rewind(&mark);
        None
    }

    /// Returns the end of the white space at `at`, and the number of line feeds in it.
    #[inline(always)]
    fn skip_space(&self, at: usize) -> (usize, u64) {
        if self.bytes[at..].starts_with(b"\n<") {
            return (at + 1, 1);
        }
        let space = self.bytes[at..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r' | b' ' | b'\t'));
        space.fold((at, 0), |(at, lines), byte| (at + 1, lines + u64::from(*byte == b'\n')))
    }

    /// Reads the number of a `ref` and the end of its element. Returns the id and the end.
    #[inline(always)]
    fn reference(&mut self, at: usize) -> Option<(u32, usize)> {
        let (id, end) = number(self.bytes, at)?;
        let ends_tag = self.bytes.get(end..end + 3)? == b"\"/>";
        let id = u32::try_from(id).ok().filter(|_| ends_tag)?;
        self.note_reference(id)?;
        Some((id, end + 3))
    }

    /// Records a `ref` to `id`. `None` unless `id` is an earlier element that is not open. There is no id 0.
    #[inline(always)]
    fn note_reference(&mut self, id: u32) -> Option<()> {
        self.note_references(id, id, |open| open == id)
    }

    /// Like [`note_reference`](Self::note_reference), for several ids; `smallest` and `largest` bound them, and `is_any` tests whether an id is
    /// one of them.
    #[inline(always)]
    fn note_references(&mut self, smallest: u32, largest: u32, is_any: impl Fn(u32) -> bool) -> Option<()> {
        if smallest == 0 {
            return None;
        }
        if self.next_id == 0 {
            self.tape.early_ref = self.tape.early_ref.max(largest);
            return Some(());
        }
        // Children have larger ids than their parents.
        let may_be_open = self.open.first().is_some_and(|&first| largest >= first);
        if largest >= self.next_id || (may_be_open && self.open.iter().any(|&open| is_any(open))) {
            return None;
        }
        Some(())
    }

    /// Reads the number of an `id`. Each definition has the next id.
    #[inline(always)]
    fn definition(&mut self, at: usize) -> Option<(u32, usize)> {
        let (id, end) = number(self.bytes, at)?;
        let id = self.define(id)?;
        (self.bytes[end] == b'"').then_some((id, end + 1))
    }

    #[inline(always)]
    fn define(&mut self, id: u64) -> Option<u32> {
        if self.next_id == 0 {
            // Every `ref` so far needs an earlier definition, so this id must be larger than all of them.
            let id = u32::try_from(id).ok()?;
            self.next_id = (id > self.tape.early_ref).then_some(id)?;
        }
        (id == u64::from(self.next_id)).then(|| self.define_next())?
    }

    /// Assigns the next id, if it is known.
    #[inline(always)]
    fn define_next(&mut self) -> Option<u32> {
        let id = self.next_id;
        if id == 0 || id == u32::MAX {
            return None;
        }
        if self.tape.first_id == 0 {
            self.tape.first_id = id;
        }
        self.next_id += 1;
        Some(id)
    }

    /// The offset of a byte in the row. Beyond [`MAX_ROW`] it is wrong, but then the row is rewound anyway.
    #[inline(always)]
    fn place(&self, at: usize) -> u16 {
        (at - self.row) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Tape {
        let mut tape = Tape::default();
        let bytes = [text.as_bytes(), &[0; PADDING]].concat();
        rows(&bytes, 0..text.len(), &Limits::default(), None, &mut Memory::default(), &mut tape);
        tape
    }

    /// Rows of one thread, after a row without a predecessor; `stack` returns the stack of a row.
    fn table(rows: u64, first_id: u64, stack: impl Fn(u64, u64) -> (String, u64)) -> String {
        let mut id = first_id;
        (0..rows).fold(String::new(), |text, row| {
            let (stack, ids) = stack(row, id + 1);
            let time = 1_000_000_000 + row;
            let cells =
                "<thread ref=\"2\"/><process ref=\"4\"/><core ref=\"7\"/><thread-state ref=\"8\"/><weight ref=\"9\"/>";
            let row = format!(
                "<row><sample-time id=\"{id}\" fmt=\"00:01.000.{row:03}\">{time}</sample-time>{cells}{stack}</row>\n"
            );
            id += 1 + ids;
            text + &row
        })
    }

    #[test]
    fn cells_that_were_seen_are_known_by_their_bytes() {
        let tape = scan(&table(100, 50, |_, _| ("<backtrace ref=\"20\"/>".to_owned(), 0)));
        let cells = tape.ops.iter().filter(|op| matches!(op, Op::UsualCells { .. })).count();
        // The next id is unknown before the first row.
        assert_eq!((cells, tape.cells.len(), tape.references.len()), (99, 1, 5));
        assert_eq!((tape.first_id, tape.early_ref), (50, 0));
    }

    #[test]
    fn what_other_blocks_taught_changes_nothing() {
        let stack = |_, _| ("<backtrace ref=\"20\"/>".to_owned(), 0);
        let mut memory = Memory::default();
        // The same bytes with known ids, with unknown ids, and before the stack is defined.
        let blocks =
            [(50, None), (150, Some(150)), (250, None), (3, Some(3)), (9, Some(9)), (10, None), (350, Some(350))];
        for (first_id, next_id) in blocks {
            let text = table(100, first_id, stack);
            let bytes = [text.as_bytes(), &[0; PADDING]].concat();
            let mut tapes = [Tape::default(), Tape::default()];
            for (memory, tape) in [&mut memory, &mut Memory::default()].into_iter().zip(&mut tapes) {
                rows(&bytes, 0..text.len(), &Limits::default(), next_id, memory, tape);
            }
            let [taught, untaught] = tapes;
            assert_eq!(taught.rows, untaught.rows, "{first_id}");
            assert_eq!(taught.rows, if first_id < 20 { 0 } else { 100 }, "{first_id}");
            assert_eq!((taught.first_id, taught.early_ref), (untaught.first_id, untaught.early_ref), "{first_id}");
            let ids = |tape: &Tape| {
                (0..tape.cells.len() as u32).map(|cells| tape.references_of(cells).to_vec()).collect::<Vec<_>>()
            };
            assert_eq!(ids(&taught), ids(&untaught), "{first_id}");
            assert_eq!(taught.known_stacks, untaught.known_stacks, "{first_id}");
        }
    }

    #[test]
    fn stacks_share_their_outer_frames() {
        let text = table(10, 50, |row, id| {
            let frames = (0..30).rev().map(|depth| match depth {
                29 => format!("<frame ref=\"{}\"/>", 10 + row),
                _ => format!("<frame ref=\"{}\"/>", 21 + depth % 20),
            });
            (format!("<backtrace id=\"{id}\">{}</backtrace>", frames.collect::<String>()), 1)
        });
        let tape = scan(&text);
        assert_eq!((tape.stacks.len(), tape.frames.len()), (10, 300));
        assert!(tape.stacks[1..].iter().all(|stack| stack.common == 29), "{:?}", tape.stacks);
        assert_eq!(tape.frames[270..273], [19, 29, 28]);
        assert_eq!(tape.end + 1, text.len());
    }

    #[test]
    fn a_scan_ends_in_front_of_what_it_does_not_know() {
        let usual = table(3, 50, |_, _| ("<backtrace ref=\"20\"/>".to_owned(), 0));
        for odd in
            ["<row><!-- --></row>", "<row a=\"1\"/>", "</node>", "text", "<row><backtrace ref='20'/></row>", "<row>"]
        {
            let tape = scan(&format!("{usual}{odd}"));
            assert_eq!(tape.rows, 3, "{odd}");
            assert!(matches!(tape.ops.last(), Some(Op::UsualCells { .. })), "{odd}");
            assert!(usual[tape.end..].trim().is_empty(), "{odd}");
        }
    }
}

//! The scanner's output: small records for rows, in document order, which are replayed into a document.
//!
//! A tape does not depend on other rows, since a `ref` is still the number from the file. Tapes of several blocks can therefore be made in
//! parallel; each is replayed after everything before it.

use super::tag::Tag;

/// A range of the scanned bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// A missing attribute.
    pub(super) const NONE: Self = Self { start: u32::MAX, end: 0 };

    pub(super) fn new(start: usize, end: usize) -> Self {
        // The scanner ensures that blocks are far below 4 GiB.
        Self { start: start as u32, end: end as u32 }
    }

    /// Returns the bytes, which have been checked to be UTF-8; `None` if the attribute is missing.
    pub(super) fn of(self, bytes: &[u8]) -> Option<&str> {
        let bytes = bytes.get(self.start as usize..self.end as usize)?;
        Some(std::str::from_utf8(bytes).unwrap_or_default())
    }
}

/// One step of reading rows. `id` is 0 for an element without an id; `at` is relative to the `<` of the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// A row starts at this byte of the block.
    Row { start: u32 },
    /// The row ends: its values are its cells.
    EndRow,
    /// First step of a row of the usual shape, as nearly every row has: the first cell is this time, and the last cell, a stack, is at `at`.
    UsualRow { at: u16, id: u32, time: u64 },
    /// Second step: the row has these cells and a `ref` stack, and starts at this byte of the block.
    UsualCells { start: u32, cells: u32, stack: u32 },
    /// Like `UsualCells`, but the stack is defined here (see [`Stack`](Op::Stack)): a `backtrace` whose id follows the time's.
    UsualStack { start: u32, cells: u32, stack: u32 },
    /// `<sentinel/>`
    Absent { at: u16 },
    /// A `ref` to another element.
    Ref { tag: Tag, at: u16, id: u32 },
    /// Several `ref` cells that other rows may have as well.
    Cells { cells: u32 },
    /// An element whose text is a number.
    Number { tag: Tag, at: u16, id: u32, value: u64 },
    /// An element without children; its spans are display string and text.
    Leaf { tag: Tag, at: u16, id: u32, spans: u32 },
    /// An element with children starts; its span is the display string.
    Open { tag: Tag, at: u16, id: u32, spans: u32 },
    /// The element ends.
    Close,
    /// A frame starts; its spans are name and address. Later references use only its id.
    OpenFrame { is_inlined: bool, is_first_child: bool, at: u16, id: u32, spans: u32 },
    /// The frame ends.
    CloseFrame,
    /// A binary; its spans are name, UUID, architecture, load address and path.
    Binary { at: u16, id: u32, spans: u32 },
    /// A source starts.
    OpenSource { at: u16, line: u32 },
    /// An element that contains only frames, each defined earlier or immediately before it on the tape.
    Stack { tag: Tag, at: u16, id: u32, stack: u32 },
}

/// A stack as written in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TapeStack {
    /// The display string of the element.
    pub(super) fmt: Span,
    /// The frames are `frames[start..end]` of the tape: ids, leaf first.
    pub(super) start: u32,
    pub(super) end: u32,
    /// The outermost `common` frames are the same as in an earlier stack of the tape, whose frames end at `like_end`.
    pub(super) like_end: u32,
    pub(super) common: u32,
    /// The index of a later stack that is compared with this one; 0 means none.
    pub(super) next: u32,
}

/// Adjacent cells of a row that are all `ref`s, or absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TapeCells {
    /// The cells are `references[start..end]` of the tape.
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The rows of one block, or of its first part.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub(super) ops: Vec<Op>,
    pub(super) spans: Vec<Span>,
    pub(super) stacks: Vec<TapeStack>,
    pub(super) frames: Vec<u32>,
    pub(super) cells: Vec<TapeCells>,
    /// Ids; 0 is an absent value.
    pub(super) references: Vec<u32>,
    /// The element name of each reference.
    pub(super) reference_tags: Vec<Tag>,
    /// The ids of stack cells that are `ref`s.
    pub(super) known_stacks: Vec<u32>,
    /// The first id that was defined; later ids follow without gaps. 0 if no id was defined.
    pub(super) first_id: u32,
    /// The largest id that was referred to before the first definition.
    pub(super) early_ref: u32,
    /// The end of the scanned bytes, after a row. The tape contains everything before it.
    pub(super) end: usize,
    /// The number of line feeds that were scanned.
    pub(super) lines: u64,
    /// The number of its rows.
    pub(super) rows: u64,
}

/// The lengths of a tape's parts at some point.
#[derive(Clone, Copy, Debug)]
pub(super) struct TapeMark {
    ops: usize,
    spans: usize,
    stacks: usize,
    frames: usize,
    cells: usize,
    references: usize,
    first_id: u32,
    early_ref: u32,
}

impl Tape {
    pub(super) fn clear(&mut self) {
        self.ops.clear();
        self.spans.clear();
        self.stacks.clear();
        self.frames.clear();
        self.cells.clear();
        self.references.clear();
        self.reference_tags.clear();
        self.known_stacks.clear();
        (self.first_id, self.early_ref, self.end, self.lines, self.rows) = (0, 0, 0, 0, 0);
    }

    pub(super) fn mark(&self) -> TapeMark {
        TapeMark {
            ops: self.ops.len(),
            spans: self.spans.len(),
            stacks: self.stacks.len(),
            frames: self.frames.len(),
            cells: self.cells.len(),
            references: self.references.len(),
            first_id: self.first_id,
            early_ref: self.early_ref,
        }
    }

    /// Undoes everything since `mark`.
    pub(super) fn rewind(&mut self, mark: &TapeMark) {
        self.ops.truncate(mark.ops);
        self.spans.truncate(mark.spans);
        self.stacks.truncate(mark.stacks);
        self.frames.truncate(mark.frames);
        self.cells.truncate(mark.cells);
        self.references.truncate(mark.references);
        self.reference_tags.truncate(mark.references);
        (self.first_id, self.early_ref) = (mark.first_id, mark.early_ref);
    }

    /// Ends the row that started at `mark`.
    pub(super) fn end_row(&mut self, mark: &TapeMark) {
        let [row, number, cells, stack] = self.ops[mark.ops..] else {
            self.ops.push(Op::EndRow);
            return;
        };
        let usual = match (row, number, cells) {
            (Op::Row { start }, Op::Number { tag: Tag::Time, id, value, .. }, Op::Cells { cells }) => match stack {
                Op::Ref { tag: Tag::Backtrace, at, id: stack } => {
                    Some([Op::UsualRow { at, id, time: value }, Op::UsualCells { start, cells, stack }])
                }
                Op::Stack { tag: Tag::Backtrace, at, id: own, stack } if own == id + 1 => {
                    Some([Op::UsualRow { at, id, time: value }, Op::UsualStack { start, cells, stack }])
                }
                _ => None,
            },
            _ => None,
        };
        match usual {
            Some(usual) => {
                self.ops.truncate(mark.ops);
                self.ops.extend_from_slice(&usual);
            }
            None => self.ops.push(Op::EndRow),
        }
    }

    /// Combines the references from `start` on into cells. Returns their index.
    pub(super) fn end_cells(&mut self, start: usize) -> u32 {
        let (index, end) = (self.cells.len() as u32, self.references.len() as u32);
        self.cells.push(TapeCells { start: start as u32, end });
        index
    }

    /// The ids of these cells; 0 is an absent value.
    pub(super) fn references_of(&self, cells: u32) -> &[u32] {
        let cells = &self.cells[cells as usize];
        &self.references[cells.start as usize..cells.end as usize]
    }

    /// The element names of these cells.
    pub(super) fn tags_of(&self, cells: u32) -> &[Tag] {
        let cells = &self.cells[cells as usize];
        &self.reference_tags[cells.start as usize..cells.end as usize]
    }

    /// Adds spans. Returns the index of the first.
    pub(super) fn spans<const N: usize>(&mut self, spans: [Span; N]) -> u32 {
        let first = self.spans.len() as u32;
        self.spans.extend_from_slice(&spans);
        first
    }

    pub(super) fn get_spans<const N: usize>(&self, first: u32) -> [Span; N] {
        let spans = self.spans.get(first as usize..).and_then(|spans| spans.first_chunk());
        spans.copied().unwrap_or([Span::NONE; N])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_stay_small() {
        assert_eq!(size_of::<Op>(), 16);
    }
}

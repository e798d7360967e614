//! Replays the scanner's tape into a document, with the same result as reading the tokens one by one.
//!
//! A tape refers to elements only by id. When it is replayed, everything before it is known, so ids can be resolved to values. Elements are
//! decoded and rows added by the same code as for tokens.

use std::borrow::Cow;
use std::ops::Range;

use super::attributes::{BinaryFields, FrameFields, unescape};
use super::definitions::{Attributes, Element, number_value};
use super::document::{Content as _, DocumentReader, Samples};
use super::position::Fault;
use super::tag::Tag;
use super::tape::{Op, Span, Tape, TapeStack};
use super::value::{Packed, Value};
use crate::hash::HashMap;
use crate::profile::{FrameId, Full, StackId};
use crate::recording::{KnownRow, RejectReason};

/// An open element of the tape.
#[derive(Debug)]
struct Open {
    tag: Tag,
    attributes: Attributes,
    id: u32,
    at: u16,
    fmt: Span,
    first_value: usize,
    is_first_child: bool,
}

/// Buffers for replaying, reused for all tapes.
#[derive(Debug, Default)]
pub(super) struct ReplayRoom {
    open: Vec<Open>,
    /// For each frame of the tape, the stack that ends in it.
    paths: Vec<Option<StackId>>,
    /// For each frame of the tape that is not shared with an earlier stack, the frame, if it was known before the tape.
    frames: Vec<Option<FrameId>>,
    /// For each stack cell of the tape that is a `ref`, its value before the tape.
    stacks: Vec<Packed>,
    /// The frames that a stack does not share with the stack it is compared with.
    own_frames: Vec<FrameId>,
    /// The values of the references that were replayed.
    references: Vec<Value>,
    known_rows: KnownRows,
    row: Vec<Value>,
}

/// The common parts of rows with the same cells between time and stack. Most blocks repeat cells of earlier blocks.
#[derive(Debug, Default)]
struct KnownRows {
    rows: Vec<KnownRow>,
    /// Keyed by the references in these cells.
    by_references: HashMap<Box<[u32]>, KnownCells>,
    /// For the cells of the tape, the index in `rows`, if it was looked up.
    of_cells: Vec<Option<u32>>,
    /// The table that the rows belong to. The same cells mean something else in other tables.
    table: (usize, usize),
}

/// The start of a row: the offset and id of its time, and the time.
#[derive(Clone, Copy, Debug, Default)]
struct RowStart {
    at: u16,
    id: u32,
    time: u64,
}

/// Cells that are references, and the common part of their rows.
#[derive(Debug)]
struct KnownCells {
    tags: Box<[Tag]>,
    /// The index of the row.
    row: u32,
}

/// The number of rows kept from one block to the next.
const MAX_KNOWN_ROWS: usize = 4_096;

impl KnownRows {
    /// Starts a tape with this many groups of cells.
    fn begin(&mut self, table: (usize, usize), cells: usize) {
        if self.table != table || self.rows.len() > MAX_KNOWN_ROWS {
            self.rows.clear();
            self.by_references.clear();
            self.table = table;
        }
        self.of_cells.clear();
        self.of_cells.resize(cells, None);
    }

    /// Returns the common part of rows with these cells, if known.
    #[inline(always)]
    fn get(&mut self, tape: &Tape, cells: u32) -> Option<&KnownRow> {
        let place = &mut self.of_cells[cells as usize];
        if place.is_none() {
            let known = self.by_references.get(tape.references_of(cells));
            *place = known.filter(|known| *known.tags == *tape.tags_of(cells)).map(|known| known.row);
        }
        Some(&self.rows[(*place)? as usize])
    }

    fn add(&mut self, tape: &Tape, cells: u32, row: KnownRow) {
        let index = self.rows.len() as u32;
        self.rows.push(row);
        let known = KnownCells { tags: tape.tags_of(cells).into(), row: index };
        self.by_references.insert(tape.references_of(cells).into(), known);
        self.of_cells[cells as usize] = Some(index);
    }
}

/// A tape that is being replayed into a document.
struct Replay<'r, 'd, 't> {
    document: &'r mut DocumentReader<'d, Samples<'d>>,
    tape: &'t Tape,
    bytes: &'t [u8],
    /// The offset of `bytes` in the input.
    offset: u64,
    /// The offset of the current row in the input.
    row: u64,
    room: &'r mut ReplayRoom,
    /// Cells of the current row that have not been added to the values; they follow the first value.
    cells: Option<u32>,
    /// The number of replayed stack cells that are `ref`s.
    next_stack: usize,
    /// The number of distinct stacks at the last check against the limit.
    known_stacks: usize,
}

impl<'d> DocumentReader<'d, Samples<'d>> {
    /// True if a tape continues the document: its rows are the next rows of a CPU table, and its ids continue the numbering.
    pub(super) fn fits(&self, tape: &Tape) -> bool {
        let Some(next) = self.content.definitions.ids.next() else { return false };
        self.is_at_rows() && tape.early_ref < next && (tape.first_id == 0 || tape.first_id == next)
    }

    /// Replays the rows of a tape that [`fits`](Self::fits). It was made from `bytes`, which start at `offset` in the input.
    pub(super) fn replay(
        &mut self,
        tape: &Tape,
        bytes: &[u8],
        offset: u64,
        room: &mut ReplayRoom,
    ) -> Result<(), Fault> {
        room.open.clear();
        // Not cleared, since stale entries are overwritten before they are read.
        room.paths.resize(tape.frames.len().max(room.paths.len()), None);
        room.frames.resize(tape.frames.len().max(room.frames.len()), None);
        room.references.clear();
        room.known_rows.begin(self.table_number(), tape.cells.len());
        let known_stacks = self.content.definitions.recording.profile.stack_count();
        Replay { document: self, tape, bytes, offset, row: offset, room, cells: None, next_stack: 0, known_stacks }
            .run()
    }
}

impl<'t> Replay<'_, '_, 't> {
    fn run(&mut self) -> Result<(), Fault> {
        let tape = self.tape;
        self.document.content.definitions.ids.get_words(&tape.known_stacks, &mut self.room.stacks);
        self.find_frames();
        let mut next_row = RowStart::default();
        for op in &tape.ops {
            match *op {
                Op::UsualRow { at, id, time } => next_row = RowStart { at, id, time },
                Op::UsualCells { start, cells, stack } => {
                    self.row = self.offset + u64::from(start);
                    self.usual_row(next_row, cells, stack)?;
                }
                Op::UsualStack { start, cells, stack } => {
                    self.row = self.offset + u64::from(start);
                    self.usual_row_with_stack(next_row, cells, &tape.stacks[stack as usize])?;
                }
                Op::Row { start } => self.row = self.offset + u64::from(start),
                Op::EndRow => self.end_row()?,
                Op::Absent { at } => self.settle(Value::Absent, 0, at)?,
                Op::Ref { tag: Tag::Companion, at, .. } => self.settle(Value::Companion, 0, at)?,
                Op::Ref { tag: Tag::Backtrace, at, id } => {
                    let stack = self.known_stack(id);
                    self.settle(stack, 0, at)?;
                }
                Op::Ref { tag, at, id } => {
                    let value = self.document.content.definitions.referred(tag, self.value_of(id));
                    self.document.note_oddities(self.byte(at));
                    self.settle(value, 0, at)?;
                }
                Op::Cells { cells } => self.cells(cells),
                Op::Number { tag, at, id, value } => self.settle(number_value(tag, value), id, at)?,
                Op::Leaf { tag, at, id, spans } => self.leaf(tag, at, id, spans)?,
                Op::Open { tag, at, id, spans } => {
                    let [fmt] = tape.get_spans(spans);
                    self.open(tag, Attributes::None, id, at, fmt, false);
                }
                Op::OpenSource { at, line } => {
                    self.open(Tag::Source, Attributes::Line(line), 0, at, Span::NONE, false);
                }
                Op::OpenFrame { is_inlined, is_first_child, at, id, spans } => {
                    let attributes = self.frame_attributes(is_inlined, at, spans)?;
                    self.open(Tag::Frame, attributes, id, at, Span::NONE, is_first_child);
                }
                Op::Close => {
                    self.close(true)?;
                }
                Op::CloseFrame => self.close(false)?,
                Op::Binary { at, id, spans } => self.binary(at, id, spans)?,
                Op::Stack { tag, at, id, stack } => self.stack(tag, at, id, &tape.stacks[stack as usize])?,
            }
        }
        Ok(())
    }

    /// Looks up the frames that are not shared with an earlier stack. They are scattered over the table of ids, and many independent lookups take
    /// little longer than one.
    fn find_frames(&mut self) {
        for stack in &self.tape.stacks {
            self.find_frames_at(stack.start as usize..(stack.end - stack.common) as usize);
        }
    }

    fn find_frames_at(&mut self, places: Range<usize>) {
        let ids = &self.document.content.definitions.ids;
        for (place, &id) in self.room.frames[places.clone()].iter_mut().zip(&self.tape.frames[places]) {
            *place = ids.get_frame(id);
        }
    }

    fn byte(&self, at: u16) -> u64 {
        self.row + u64::from(at)
    }

    fn full(&self, at: u16) -> impl Fn(Full) -> Fault {
        let byte = self.byte(at);
        move |full| Fault::full(full, byte)
    }

    /// Returns the value of an id. The document has no gaps, so every id up to the last one is defined.
    #[inline(always)]
    fn value_of(&self, id: u32) -> Value {
        self.document.content.definitions.ids.get(u64::from(id)).unwrap_or(Value::Bad(RejectReason::UndefinedRef))
    }

    /// Returns the value of a stack. Usually, it is the next one of those looked up in advance.
    fn known_stack(&mut self, id: u32) -> Value {
        let word = self.known_stack_word(id);
        self.stack_of(word, id)
    }

    /// Returns the value of a `ref` in a stack column.
    #[inline]
    fn stack_of(&self, word: Packed, id: u32) -> Value {
        let value = self.document.content.definitions.ids.value_of(word).unwrap_or_else(|| self.value_of(id));
        Tag::Backtrace.referring_to(value)
    }

    #[inline(always)]
    fn known_stack_word(&mut self, id: u32) -> Packed {
        if self.tape.known_stacks.get(self.next_stack) == Some(&id) {
            let word = self.room.stacks[self.next_stack];
            self.next_stack += 1;
            // Ids that the tape itself defines were unknown at its start.
            if word != Packed::NONE {
                return word;
            }
        }
        self.document.content.definitions.ids.get_word(id)
    }

    /// Registers a value under its id, and adds it to its parent.
    #[inline(always)]
    fn settle(&mut self, value: Value, id: u32, at: u16) -> Result<(), Fault> {
        if id != 0 {
            self.document.content.definitions.ids.define(u64::from(id), value);
        }
        self.document.values.push(value);
        self.check_stacks(at)
    }

    #[inline(always)]
    fn check_stacks(&mut self, at: u16) -> Result<(), Fault> {
        let stacks = self.document.content.definitions.recording.profile.stack_count();
        if stacks == self.known_stacks {
            return Ok(());
        }
        self.known_stacks = stacks;
        self.document.content.check(self.byte(at))
    }

    /// Resolves the entities in an attribute. The scanner has checked that they are known.
    fn unescaped(&self, span: Span, at: u16) -> Result<Option<Cow<'t, str>>, Fault> {
        span.of(self.bytes).map(|text| unescape(text, self.byte(at))).transpose()
    }

    /// Returns an attribute without unescaping.
    fn verbatim(&self, span: Span) -> Option<Cow<'t, str>> {
        span.of(self.bytes).map(Cow::Borrowed)
    }

    /// Adds cells that other rows also have. If their common part is known, their values are only needed at the end of the row.
    #[inline(always)]
    fn cells(&mut self, cells: u32) {
        // A second group of such cells, so the row does not have the usual shape.
        if let Some(before) = self.cells.take()
            && self.room.known_rows.get(self.tape, before).is_some()
        {
            self.push_cells(before, 1);
        }
        let is_second = self.document.values.len() == 1;
        self.cells = Some(cells).filter(|_| is_second);
        if !is_second || self.room.known_rows.get(self.tape, cells).is_none() {
            self.push_cells(cells, self.document.values.len());
        }
    }

    /// Adds the values of cells to the row. The value of an id never changes after its definition.
    fn push_cells(&mut self, cells: u32, place: usize) {
        let cells = &self.tape.cells[cells as usize];
        let (start, end) = (cells.start as usize, cells.end as usize);
        for index in self.room.references.len()..end {
            let value = match self.tape.references[index] {
                0 => Value::Absent,
                id => self.tape.reference_tags[index].referring_to(self.value_of(id)),
            };
            self.room.references.push(value);
        }
        self.document.values.splice(place..place, self.room.references[start..end].iter().copied());
    }

    /// Adds a row with a time, known cells, and a stack that is a `ref`.
    #[inline(always)]
    fn usual_row(&mut self, RowStart { id, time, .. }: RowStart, cells: u32, stack: u32) -> Result<(), Fault> {
        self.document.content.definitions.ids.define(u64::from(id), Value::Time(time));
        let word = self.known_stack_word(stack);
        // The numbers are passed separately: reading a struct right after writing its parts would stall.
        if let Some(known_stack) = word.stack()
            && let Some(known) = self.room.known_rows.get(self.tape, cells)
            && self.document.add_known_row(known, time, known_stack).is_some()
        {
            return Ok(());
        }
        let stack = self.stack_of(word, stack);
        self.whole_row(time, cells, stack)
    }

    /// Like [`usual_row`](Self::usual_row), with a stack that is defined in the row.
    #[inline(always)]
    fn usual_row_with_stack(
        &mut self,
        RowStart { at, id, time }: RowStart,
        cells: u32,
        stack: &TapeStack,
    ) -> Result<(), Fault> {
        self.document.content.definitions.ids.define(u64::from(id), Value::Time(time));
        let Some(leaf) = self.known_frames(stack).map_err(self.full(at))? else {
            let stack = self.odd_stack(Tag::Backtrace, at, stack)?;
            self.document.content.definitions.ids.define(u64::from(id) + 1, stack);
            self.check_stacks(at)?;
            return self.whole_row(time, cells, stack);
        };
        self.document.content.definitions.ids.define(u64::from(id) + 1, Value::Stack(Some(leaf)));
        self.check_stacks(at)?;
        if let Some(known) = self.room.known_rows.get(self.tape, cells)
            && self.document.add_known_row(known, time, Some(leaf)).is_some()
        {
            return Ok(());
        }
        self.whole_row(time, cells, Value::Stack(Some(leaf)))
    }

    #[cold]
    fn whole_row(&mut self, time: u64, cells: u32, stack: Value) -> Result<(), Fault> {
        self.document.values.push(Value::Time(time));
        self.cells(cells);
        self.document.values.push(stack);
        self.end_row()
    }

    #[inline(always)]
    fn end_row(&mut self) -> Result<(), Fault> {
        let Some(cells) = self.cells.take() else { return self.document.add_row(0, self.row) };
        let Some(known) = self.room.known_rows.get(self.tape, cells) else { return self.first_row(cells) };
        let usual = match self.document.values[..] {
            [Value::Time(time), Value::Stack(stack)] => Some((time, stack)),
            [Value::Time(time), Value::Absent] => Some((time, None)),
            _ => None,
        };
        if let Some((time, stack)) = usual
            && self.document.add_known_row(known, time, stack).is_some()
        {
            self.document.values.clear();
            return Ok(());
        }
        self.push_cells(cells, 1);
        self.document.add_row(0, self.row)
    }

    /// Adds the first row with these cells, and caches its common part.
    fn first_row(&mut self, cells: u32) -> Result<(), Fault> {
        self.room.row.clone_from(&self.document.values);
        self.document.add_row(0, self.row)?;
        if self.room.row.len() == self.tape.references_of(cells).len() + 2
            && let Some(row) = self.document.known_row(&self.room.row)
        {
            self.room.known_rows.add(self.tape, cells, row);
        }
        Ok(())
    }

    fn leaf(&mut self, tag: Tag, at: u16, id: u32, spans: u32) -> Result<(), Fault> {
        let [fmt, text] = self.tape.get_spans(spans);
        let fmt = self.unescaped(fmt, at)?.unwrap_or_default();
        let text = text.of(self.bytes).filter(|_| tag.has_text()).unwrap_or_default();
        let (attributes, children, is_first_child) = (Attributes::None, &[][..], false);
        let element = Element { tag, attributes, fmt: &fmt, text, children, is_first_child, has_id: id != 0 };
        let value = self.document.content.definitions.value(element).map_err(self.full(at))?;
        self.document.note_oddities(self.byte(at));
        self.settle(value, id, at)
    }

    fn open(&mut self, tag: Tag, attributes: Attributes, id: u32, at: u16, fmt: Span, is_first_child: bool) {
        let first_value = self.document.values.len();
        self.room.open.push(Open { tag, attributes, id, at, fmt, first_value, is_first_child });
    }

    /// Closes the innermost open element. If `is_value`, its parent uses its value.
    fn close(&mut self, is_value: bool) -> Result<(), Fault> {
        let Some(open) = self.room.open.pop() else { return Ok(()) };
        let Open { tag, attributes, id, at, fmt, first_value, is_first_child } = open;
        let fmt = self.unescaped(fmt, at)?.unwrap_or_default();
        let children = &self.document.values[first_value..];
        let element = Element { tag, attributes, fmt: &fmt, text: "", children, is_first_child, has_id: id != 0 };
        let value = self.document.content.definitions.value(element).map_err(self.full(at))?;
        self.document.note_oddities(self.byte(at));
        self.document.values.truncate(first_value);
        self.settle(value, id, at)?;
        if !is_value {
            self.document.values.truncate(first_value);
        }
        Ok(())
    }

    fn frame_attributes(&mut self, is_inlined: bool, at: u16, spans: u32) -> Result<Attributes, Fault> {
        let [name, address] = self.tape.get_spans(spans);
        let (name, address) = (self.unescaped(name, at)?, self.verbatim(address));
        // The scanner stops before a frame or binary with other attributes.
        let fields = FrameFields { name, address, is_inlined, has_others: false };
        let attributes = self.document.content.definitions.frame_attributes(&fields).map_err(self.full(at))?;
        self.document.note_oddities(self.byte(at));
        Ok(attributes)
    }

    fn binary(&mut self, at: u16, id: u32, spans: u32) -> Result<(), Fault> {
        let [name, uuid, arch, load_address, path] = self.tape.get_spans(spans);
        let fields = BinaryFields {
            name: self.unescaped(name, at)?,
            uuid: self.verbatim(uuid),
            arch: self.unescaped(arch, at)?,
            load_address: self.verbatim(load_address),
            path: self.unescaped(path, at)?,
            has_others: false,
        };
        let value = self.document.content.definitions.binary(&fields).map_err(self.full(at))?;
        self.document.note_oddities(self.byte(at));
        self.settle(value, id, at)
    }

    fn stack(&mut self, tag: Tag, at: u16, id: u32, stack: &TapeStack) -> Result<(), Fault> {
        let value = match self.known_frames(stack).map_err(self.full(at))? {
            Some(leaf) => Value::Stack(Some(leaf)),
            None => self.odd_stack(tag, at, stack)?,
        };
        self.settle(value, id, at)
    }

    /// Interns the stack; `None` if it has too many frames, or an element that is not a frame.
    fn known_frames(&mut self, stack: &TapeStack) -> Result<Option<StackId>, Full> {
        let (start, end, like_end) = (stack.start as usize, stack.end as usize, stack.like_end as usize);
        let mut common = stack.common as usize;
        // An unreadable earlier stack has no path.
        let like = if common > 0 { self.room.paths[like_end - common] } else { None };
        if like.is_none() && common > 0 {
            self.find_frames_at(start..end);
            common = 0;
        }
        let ReplayRoom { paths, frames, own_frames, .. } = &mut *self.room;
        let definitions = &mut self.document.content.definitions;
        let own = start..end - common;
        own_frames.clear();
        // Ids that the tape itself defines were unknown at its start.
        let frames = frames[own.clone()].iter().zip(&self.tape.frames[own.clone()]);
        own_frames.extend(frames.map_while(|(frame, &id)| frame.or_else(|| definitions.ids.get_frame(id))));
        if own_frames.len() < own.len() || end - start > definitions.max_stack_depth {
            paths[start..end].fill(None);
            return Ok(None);
        }
        paths.copy_within(like_end - common..like_end, end - common);
        let leaf = definitions.recording.profile.stack_path_leaf_first(like, own_frames, &mut paths[own])?;
        self.fetch_next(stack);
        Ok(leaf)
    }

    /// Prefetches where the next stack branches off, if it shares outer frames with this one.
    #[inline(always)]
    fn fetch_next(&self, stack: &TapeStack) {
        let Some(next) = self.tape.stacks.get(stack.next as usize) else { return };
        let turn = (next.end - next.common) as usize;
        let parent = self.room.paths[(stack.end - next.common) as usize..].first();
        if next.common > 0
            && turn > next.start as usize
            && let (Some(&Some(parent)), Some(frame)) = (parent, self.room.frames[turn - 1])
        {
            self.document.content.definitions.recording.profile.fetch_stack(parent, frame);
        }
    }

    /// Adds a stack that contains anything but frames, such as an unreadable frame.
    #[cold]
    fn odd_stack(&mut self, tag: Tag, at: u16, stack: &TapeStack) -> Result<Value, Fault> {
        let first_value = self.document.values.len();
        for &frame in &self.tape.frames[stack.start as usize..stack.end as usize] {
            let value = Tag::Frame.referring_to(self.value_of(frame));
            self.document.values.push(value);
        }
        let fmt = self.unescaped(stack.fmt, at)?.unwrap_or_default();
        let (attributes, children) = (Attributes::None, &self.document.values[first_value..]);
        let element = Element { tag, attributes, fmt: &fmt, text: "", children, is_first_child: false, has_id: true };
        let value = self.document.content.definitions.value(element).map_err(self.full(at))?;
        self.document.note_oddities(self.byte(at));
        self.document.values.truncate(first_value);
        Ok(value)
    }
}

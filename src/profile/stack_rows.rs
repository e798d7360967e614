//! The distinct stacks as they are kept: 4 bytes each, and 4 more for those that turn off.

use std::ops::Range;

use super::full::Full;
use super::model::Stack;
use super::model::{FrameId, StackId};
use crate::chunked_vec::ChunkedVec;
use crate::memory::of_vec;

/// Stacks in the order they were added, a parent before its children.
///
/// Most stacks stand right after their parent, so that a row is a frame, and a bit says which rows are below another one, or
/// below none. Only of these the parent is kept:
///
/// ```text
/// row   frame   turns off   parent
///   0   main       yes        –
///   1   run                  (0)
///   2   read                 (1)
///   3   write      yes        1
///   4   flush                (3)
/// ```
#[derive(Clone, Debug, Default)]
pub(crate) struct StackRows {
    frames: ChunkedVec<FrameId>,
    /// By rows, 64 in each.
    turns: Vec<Turns>,
    /// The parents of the rows that turn off, in their order.
    parents: ChunkedVec<Option<StackId>>,
}

/// 64 rows.
#[derive(Clone, Copy, Debug)]
struct Turns {
    /// A bit for each of them that is not below the row before.
    bits: u64,
    /// The number of such rows before them.
    before: u32,
}

impl StackRows {
    /// The number of stacks.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    /// A stack. Panics where there is none.
    #[inline]
    pub(crate) fn get(&self, id: StackId) -> Stack {
        Stack { parent: self.parent(id), frame: self.frames[id.index()] }
    }

    /// The frame of the stack at an index, if there is one.
    #[inline]
    pub(crate) fn frame_at(&self, index: usize) -> Option<FrameId> {
        self.frames.get(index).copied()
    }

    /// The parent of a stack. Panics where there is no such stack.
    #[inline]
    pub(crate) fn parent(&self, id: StackId) -> Option<StackId> {
        match self.turn(id.index()) {
            Some(turn) => self.parents[turn],
            None => id.before(),
        }
    }

    /// All stacks, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Stack> {
        (0..self.len()).filter_map(StackId::from_index).map(|id| self.get(id))
    }

    /// The frames of rows that follow each other; none is 64 rows or more after the last multiple of 64.
    #[inline]
    pub(crate) fn frames(&self, rows: Range<usize>) -> &[FrameId] {
        self.frames.rows(rows)
    }

    /// The frames of any rows that follow each other, in pieces.
    pub(crate) fn frames_of(&self, rows: Range<usize>) -> impl Iterator<Item = &[FrameId]> {
        let Range { mut start, end } = rows;
        std::iter::from_fn(move || {
            let piece = start..end.min(start / 64 * 64 + 64);
            start = piece.end.max(start);
            (!piece.is_empty()).then(|| self.frames(piece))
        })
    }

    /// By rows, 64 in each: the bits of those that do not stand right after their parent.
    pub(crate) fn turn_bits(&self) -> impl ExactSizeIterator<Item = u64> + DoubleEndedIterator {
        self.turns.iter().map(|turns| turns.bits)
    }

    /// The parents of these rows, in their order.
    pub(crate) fn turn_parents(&self) -> &ChunkedVec<Option<StackId>> {
        &self.parents
    }

    /// The number of rows that turn off up to this stack's, which is one more than the index of the turn that leads to it.
    #[inline]
    pub(crate) fn turns_up_to(&self, id: StackId) -> usize {
        let Turns { bits, before } = self.turns[id.index() / 64];
        before as usize + (bits & (u64::MAX >> (63 - id.index() % 64))).count_ones() as usize
    }

    /// The number of the turn that a row is, if it is one.
    #[inline]
    fn turn(&self, row: usize) -> Option<usize> {
        let Turns { bits, before } = self.turns[row / 64];
        let bit = row % 64;
        (bits >> bit & 1 > 0).then(|| before as usize + (bits & ((1 << bit) - 1)).count_ones() as usize)
    }

    /// True if the row behind `parent`, if there is one, is `frame` called from it.
    #[inline]
    pub(super) fn next_is(&self, parent: StackId, frame: FrameId) -> bool {
        let next = parent.index() + 1;
        self.frames.get(next) == Some(&frame) && self.turns[next / 64].bits >> (next % 64) & 1 == 0
    }

    /// Adds a stack, whose parent is there.
    #[inline]
    pub(super) fn push(&mut self, row: Stack) -> Result<StackId, Full> {
        let index = self.len();
        let id = StackId::from_index(index).ok_or(Full)?;
        if index.is_multiple_of(64) {
            self.turns.push(Turns { bits: 0, before: self.parents.len() as u32 });
        }
        if row.parent.is_none() || row.parent != id.before() {
            if let Some(turns) = self.turns.last_mut() {
                turns.bits |= 1 << (index % 64);
            }
            self.parents.push(row.parent);
        }
        self.frames.push(row.frame);
        Ok(id)
    }

    /// Adds a stack for each of these frames, the first one below the newest stack, each other one below the one before.
    /// There is a stack.
    #[inline]
    pub(super) fn push_chain(&mut self, frames: impl ExactSizeIterator<Item = FrameId>) -> Result<(), Full> {
        let end = self.len() + frames.len();
        // The last one's id.
        StackId::from_index(end).ok_or(Full)?;
        self.frames.extend(frames);
        while self.turns.len() < end.div_ceil(64) {
            self.turns.push(Turns { bits: 0, before: self.parents.len() as u32 });
        }
        Ok(())
    }

    /// The approximate number of bytes they take.
    pub(super) fn memory(&self) -> u64 {
        self.frames.memory() + of_vec(&self.turns) + self.parents.memory()
    }

    /// Gives back the room for more stacks.
    pub(super) fn shrink_to_fit(&mut self) {
        self.frames.shrink_to_fit();
        self.turns.shrink_to_fit();
        self.parents.shrink_to_fit();
    }
}

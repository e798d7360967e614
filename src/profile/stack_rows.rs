//! Stores the distinct stacks compactly: 4 bytes each, and 4 more for turns.

use std::ops::Range;

use super::ids::Full;
use super::model::Stack;
use super::model::{FrameId, StackId};
use crate::chunked_vec::ChunkedVec;
use crate::ranked_bits::RankedBits;

/// Stacks in order of addition, parents before their children.
///
/// Most stacks directly follow their parent, so their row is only the frame. All other rows are *turns*: their parent is not the previous row, or
/// they have none. A bit marks each turn, and only turns store their parent:
///
/// ```text
/// row   frame   turn   parent
///   0   main    yes      –
///   1   run             (0)
///   2   read            (1)
///   3   write   yes      1
///   4   flush           (3)
/// ```
#[derive(Clone, Debug, Default)]
pub(crate) struct StackRows {
    frames: ChunkedVec<FrameId>,
    turns: RankedBits,
    /// The parents of the turns, in order.
    parents: ChunkedVec<Option<StackId>>,
}

impl StackRows {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns a stack. Panics if it does not exist.
    #[inline]
    pub(crate) fn get(&self, id: StackId) -> Stack {
        Stack { parent: self.parent(id), frame: self.frames[id.index()] }
    }

    /// Returns the innermost frame of a stack. Panics if it does not exist.
    #[inline]
    pub(super) fn frame(&self, id: StackId) -> FrameId {
        self.frames[id.index()]
    }

    /// Returns the frame of the stack at an index, if it exists.
    #[inline]
    pub(crate) fn frame_at(&self, index: usize) -> Option<FrameId> {
        self.frames.get(index).copied()
    }

    /// Returns the parent of a stack. Panics if the stack does not exist.
    #[inline]
    pub(crate) fn parent(&self, id: StackId) -> Option<StackId> {
        match self.turns.place(id.index()) {
            Some(turn) => self.parents[turn],
            None => id.before(),
        }
    }

    /// Returns the rows that lead to a stack, each the child of the one before, and the parent of the first. The first is a turn, or the child of
    /// `known` if no turn is after it. Panics if a stack does not exist.
    #[inline]
    pub(crate) fn run(&self, known: Option<StackId>, stack: StackId) -> (Range<usize>, Option<StackId>) {
        let (start, end) = (known.map_or(0, |known| known.index() + 1), stack.index() + 1);
        let mut rest = end;
        while rest > start {
            match self.turns.last_up_to(rest - 1) {
                Some((row, turn)) if row >= start => return (row..end, self.parents[turn]),
                Some(_) => break,
                None => rest = (rest - 1) / 64 * 64,
            }
        }
        (start..end, known)
    }

    /// Writes the frames of a stack to `path`, root first. Panics if the stack does not exist.
    pub(super) fn write_path(&self, leaf: StackId, path: &mut Vec<FrameId>) {
        path.clear();
        let mut next = Some(leaf);
        while let Some(stack) = next {
            let (rows, above) = self.run(None, stack);
            let start = path.len();
            self.frames_of(rows).for_each(|frames| path.extend_from_slice(frames));
            path[start..].reverse();
            next = above;
        }
        path.reverse();
    }

    /// Computes a value for each stack from that of its parent. Visiting the rows in order is cheaper than looking up each stack.
    pub(crate) fn derive<T: Copy>(&self, mut value: impl FnMut(StackId, Stack, Option<T>) -> T) -> Vec<T> {
        let mut values: Vec<T> = Vec::with_capacity(self.len());
        let mut parents = self.parents.iter();
        let mut before: Option<(StackId, T)> = None;
        for (frames, turns) in self.frames_of(0..self.len()).zip(self.turn_bits()) {
            for (row, &frame) in frames.iter().enumerate() {
                let Some(id) = StackId::from_index(values.len()) else { return values };
                let above = match turns >> row & 1 {
                    0 => before,
                    _ => parents.next().copied().flatten().map(|parent| (parent, values[parent.index()])),
                };
                let own =
                    value(id, Stack { parent: above.map(|(parent, _)| parent), frame }, above.map(|(_, value)| value));
                values.push(own);
                before = Some((id, own));
            }
        }
        values
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Stack> {
        (0..self.len()).filter_map(StackId::from_index).map(|id| self.get(id))
    }

    /// Returns the frames of consecutive rows, which must be in the same block of 64.
    #[inline]
    pub(crate) fn frames(&self, rows: Range<usize>) -> &[FrameId] {
        self.frames.rows(rows)
    }

    /// Returns the frames of any consecutive rows, as slices.
    pub(crate) fn frames_of(&self, rows: Range<usize>) -> impl Iterator<Item = &[FrameId]> {
        let Range { mut start, end } = rows;
        std::iter::from_fn(move || {
            let piece = start..end.min(start / 64 * 64 + 64);
            start = piece.end.max(start);
            (!piece.is_empty()).then(|| self.frames(piece))
        })
    }

    /// Returns the rows from each turn to the next, and the parent of the first.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (Range<usize>, Option<StackId>)> {
        let ends = self.turns.members().skip(1).chain([self.len()]);
        self.turns.members().zip(ends).zip(self.parents.iter()).map(|((start, end), &parent)| (start..end, parent))
    }

    /// Returns the bits that mark turns, in words of 64 rows.
    pub(crate) fn turn_bits(&self) -> impl ExactSizeIterator<Item = u64> + DoubleEndedIterator {
        self.turns.bits()
    }

    /// Returns the parents of the turns, in order.
    pub(crate) fn turn_parents(&self) -> &ChunkedVec<Option<StackId>> {
        &self.parents
    }

    /// Returns the number of turns up to and including this row.
    #[inline]
    pub(crate) fn turns_up_to(&self, id: StackId) -> usize {
        self.turns.up_to(id.index())
    }

    /// True if the row after `parent` is `frame`, called from it.
    #[inline]
    pub(super) fn next_is(&self, parent: StackId, frame: FrameId) -> bool {
        let next = parent.index() + 1;
        self.frames.get(next) == Some(&frame) && !self.turns.contains(next)
    }

    /// Adds a stack. The parent must exist.
    #[inline]
    pub(super) fn push(&mut self, row: Stack) -> Result<StackId, Full> {
        let index = self.len();
        let id = StackId::from_index(index).ok_or(Full)?;
        self.turns.grow(index + 1, self.parents.len());
        if row.parent.is_none() || row.parent != id.before() {
            self.turns.insert(index);
            self.parents.push(row.parent);
        }
        self.frames.push(row.frame);
        Ok(id)
    }

    /// Adds a chain of stacks, each the child of the previous one, below the newest stack, which must exist.
    #[inline]
    pub(super) fn push_chain(&mut self, frames: impl ExactSizeIterator<Item = FrameId>) -> Result<(), Full> {
        let end = self.len() + frames.len();
        // The last id must fit.
        StackId::from_index(end).ok_or(Full)?;
        self.frames.extend(frames);
        self.turns.grow(end, self.parents.len());
        Ok(())
    }

    /// Returns the approximate size in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.frames.memory() + self.turns.memory() + self.parents.memory()
    }

    /// Releases unused capacity.
    pub(super) fn shrink_to_fit(&mut self) {
        self.frames.shrink_to_fit();
        self.turns.shrink_to_fit();
        self.parents.shrink_to_fit();
    }
}

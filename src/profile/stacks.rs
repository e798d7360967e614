//! Interns stacks while a profile is built.

use std::hash::BuildHasher as _;
use std::hint::black_box;

use hashbrown::HashTable;

use super::ids::Full;
use super::model::Stack;
use super::model::{FrameId, StackId};
use super::stack_rows::StackRows;
use crate::hash::BuildHasher;

/// All distinct stacks, each a parent stack and a frame.
///
/// When a stack is new from some frame on, its entries are added one after the other, so most stacks directly follow their parent. They are found
/// without a hash table, which contains only the others:
///
/// ```text
/// row   parent  frame
///   0        –  main        in the hash table: a root has no parent
///   1        0  run         directly after its parent
///   2        1  read        directly after its parent
///   3        1  write       in the hash table: the second callee of `run`
///   4        3  flush       directly after its parent
/// ```
///
/// A stack takes 4 bytes, and 4 more if it does not follow its parent. While the profile is built, an entry in the hash table takes another 15 to
/// 30 bytes. A recording has about one such entry per distinct leaf, regardless of the depth of its stacks.
#[derive(Debug, Default)]
pub(crate) struct StackTable {
    rows: StackRows,
    /// The stacks that do not directly follow their parent. Entries contain the complete key, so lookups and growth never access distant rows.
    others: HashTable<(Stack, StackId)>,
    hasher: BuildHasher,
}

impl StackTable {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the approximate size in bytes.
    pub(super) fn memory(&self) -> u64 {
        let others = self.others.capacity() as u64 * 8 / 7 * (size_of::<(Stack, StackId)>() as u64 + 1);
        self.rows.memory() + others
    }

    pub(super) fn get(&self, id: StackId) -> Stack {
        self.rows.get(id)
    }

    /// Finishes the table. Parents precede their children.
    pub(crate) fn finish(self) -> StackRows {
        let mut rows = self.rows;
        rows.shrink_to_fit();
        rows
    }

    /// Adds a stack that must be new. [`child`](Self::child) will not find it.
    pub(super) fn push(&mut self, row: Stack) -> Result<StackId, Full> {
        self.rows.push(row)
    }

    /// Interns the stack in which `parent` calls `frame`.
    #[inline]
    pub(crate) fn child(&mut self, parent: Option<StackId>, frame: FrameId) -> Result<StackId, Full> {
        let row = Stack { parent, frame };
        if let Some(parent) = parent {
            let next = parent.index() + 1;
            if self.rows.next_is(parent, frame) {
                return StackId::from_index(next).ok_or(Full);
            }
            // The parent is the newest stack, so it has no children.
            if next == self.rows.len() {
                return self.rows.push(row);
            }
        }
        self.other(row)
    }

    /// Interns the stack in which `parent` calls `frames`, root first. Returns `parent` if `frames` is empty.
    pub(super) fn path(
        &mut self,
        parent: Option<StackId>,
        frames: impl IntoIterator<Item = FrameId, IntoIter: ExactSizeIterator>,
    ) -> Result<Option<StackId>, Full> {
        let (mut stack, mut frames) = (parent, frames.into_iter());
        while let Some(frame) = frames.next() {
            let known = self.rows.len();
            stack = Some(self.child(stack, frame)?);
            if self.rows.len() > known {
                // Everything below a new stack is new.
                self.rows.push_chain(frames)?;
                return Ok(StackId::from_index(self.rows.len() - 1));
            }
        }
        Ok(stack)
    }

    /// Like [`path`](Self::path), for frames in leaf-first order. Also writes the stack that ends in each frame to `path`.
    pub(super) fn path_of_leaf_first(
        &mut self,
        parent: Option<StackId>,
        frames: &[FrameId],
        path: &mut [Option<StackId>],
    ) -> Result<Option<StackId>, Full> {
        let (mut stack, mut left) = (parent, frames.len().min(path.len()));
        while left > 0 {
            let known = self.rows.len();
            stack = Some(self.child(stack, frames[left - 1])?);
            left -= 1;
            path[left] = stack;
            if self.rows.len() > known {
                break;
            }
        }
        if left > 0 {
            let first = self.rows.len();
            self.rows.push_chain(frames[..left].iter().rev().copied())?;
            for (place, row) in path[..left].iter_mut().rev().zip(first..) {
                *place = StackId::from_index(row);
            }
            stack = path[0];
        }
        Ok(stack)
    }

    /// Prefetches the memory for looking up `frame` called from `parent`.
    #[inline]
    pub(super) fn fetch(&self, parent: StackId, frame: FrameId) {
        let row = Stack { parent: Some(parent), frame };
        black_box(self.rows.next_is(parent, frame));
        black_box(self.others.find(hash_of(&row, &self.hasher), |(known, _)| *known == row));
    }

    /// Interns a stack that does not directly follow its parent.
    fn other(&mut self, row: Stack) -> Result<StackId, Full> {
        let Self { rows, others, hasher } = self;
        let hash = hash_of(&row, hasher);
        if let Some(&(_, id)) = others.find(hash, |(known, _)| *known == row) {
            return Ok(id);
        }
        let id = rows.push(row)?;
        others.insert_unique(hash, (row, id), |(row, _)| hash_of(row, hasher));
        Ok(id)
    }
}

#[inline]
fn hash_of(row: &Stack, hasher: &BuildHasher) -> u64 {
    let parent = row.parent.map_or(0, |parent| parent.index() as u64 + 1);
    hasher.hash_one(parent << 32 | row.frame.index() as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn frame(index: usize) -> FrameId {
        FrameId::from_index(index).unwrap()
    }

    /// The reference implementation: one map of all stacks.
    #[derive(Default)]
    struct Model(HashMap<(Option<StackId>, FrameId), StackId>);

    impl Model {
        fn child(&mut self, parent: Option<StackId>, frame: FrameId) -> StackId {
            let next = StackId::from_index(self.0.len()).unwrap();
            *self.0.entry((parent, frame)).or_insert(next)
        }

        fn path(&mut self, parent: Option<StackId>, frames: &[FrameId]) -> Option<StackId> {
            frames.iter().fold(parent, |stack, &frame| Some(self.child(stack, frame)))
        }
    }

    #[test]
    fn most_stacks_need_no_hash_table() {
        let mut table = StackTable::default();
        let first = table.path(None, [0, 1, 2, 3].map(frame)).unwrap();
        let second = table.path(None, [0, 1, 4, 5].map(frame)).unwrap();
        assert_eq!((table.len(), table.others.len()), (6, 2), "the root, and where the second one turns off");
        assert_eq!(table.path(None, [0, 1, 2, 3].map(frame)), Ok(first));
        assert_eq!(table.path(None, [0, 1, 4, 5].map(frame)), Ok(second));
        assert_eq!(table.path(second, []), Ok(second), "no frames");
        assert_eq!(table.path(None, []), Ok(None), "no frames on nothing");
        assert_eq!((table.len(), table.others.len()), (6, 2), "everything was known");
    }

    #[test]
    fn the_row_after_a_stack_may_be_of_another_one() {
        let mut table = StackTable::default();
        let root = table.child(None, frame(0)).unwrap();
        let other_root = table.child(None, frame(1)).unwrap();
        // The next row is frame 1 called from frame 0, not a root.
        let child = table.child(Some(root), frame(1)).unwrap();
        assert_ne!(child, other_root);
        assert_eq!(table.child(Some(root), frame(1)), Ok(child));
        assert_eq!(table.get(child), Stack { parent: Some(root), frame: frame(1) });
        // Recursion: a child with the frame of its parent.
        let again = table.child(Some(child), frame(1)).unwrap();
        assert_eq!((table.child(Some(child), frame(1)), table.len()), (Ok(again), 4));
    }

    proptest! {
        /// With few distinct frames, stacks often share parts.
        #[test]
        fn ids_are_those_of_a_plain_map(
            steps in proptest::collection::vec(
                (any::<usize>(), proptest::collection::vec(0..5_usize, 0..12), 0..3_u8),
                1..200,
            )
        ) {
            let (mut table, mut model) = (StackTable::default(), Model::default());
            for (on, frames, how) in steps {
                let frames: Vec<FrameId> = frames.into_iter().map(frame).collect();
                // A new root, or a child of any existing stack.
                let parent = (on % (table.len() + 1)).checked_sub(1).and_then(StackId::from_index);
                let expected = model.path(parent, &frames);
                let leaf_first: Vec<FrameId> = frames.iter().rev().copied().collect();
                let mut path = vec![None; frames.len()];
                let found = match how {
                    0 => table.path(parent, frames.iter().copied()).unwrap(),
                    1 => {
                        let leaf = table.path_of_leaf_first(parent, &leaf_first, &mut path).unwrap();
                        prop_assert_eq!(path.first().copied().unwrap_or(parent), leaf);
                        for (pair, &frame) in path.windows(2).zip(&leaf_first) {
                            prop_assert_eq!(table.get(pair[0].unwrap()), Stack { parent: pair[1], frame });
                        }
                        leaf
                    }
                    _ => frames.iter().fold(parent, |stack, &frame| Some(table.child(stack, frame).unwrap())),
                };
                prop_assert_eq!(found, expected);
            }
            prop_assert_eq!(table.len(), model.0.len());
            for (&(parent, frame), &id) in &model.0 {
                prop_assert_eq!(table.get(id), Stack { parent, frame });
            }
            let rows = table.finish();
            prop_assert!(rows.iter().enumerate().all(|(row, stack)| stack.parent.is_none_or(|id| id.index() < row)));
        }
    }
}

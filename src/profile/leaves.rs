//! Numbers the stacks that were the newest ones when first sampled.

use super::model::StackId;
use crate::memory::of_vec;

/// Leaves: stacks that were newer than all stacks sampled before them. Stacks are numbered in order of arrival, so the number of a leaf is found
/// by counting, with two bits per stack.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaves {
    /// One row per 64 stacks.
    rows: Vec<LeafRow>,
    count: u32,
    /// The index after the newest leaf.
    end: usize,
}

/// A row of 64 stacks.
#[derive(Clone, Copy, Debug, Default)]
struct LeafRow {
    /// One bit per stack; set for leaves.
    bits: u64,
    /// The number of leaves in earlier rows.
    before: u32,
}

impl Leaves {
    /// Returns the size in bytes.
    pub(super) fn memory(&self) -> u64 {
        of_vec(&self.rows)
    }

    /// Returns the number of a leaf, or `None` if the stack is not a leaf.
    #[inline]
    pub(super) fn number(&self, stack: StackId) -> Option<usize> {
        let (row, bit) = (self.rows.get(stack.index() / 64)?, stack.index() % 64);
        let before = row.before + (row.bits & ((1 << bit) - 1)).count_ones();
        (row.bits >> bit & 1 > 0).then_some(before as usize)
    }

    /// Adds a stack as a leaf, and returns its number; `None` if it is older than another leaf.
    pub(super) fn add(&mut self, stack: StackId) -> Option<usize> {
        let number = self.count;
        if stack.index() < self.end || number == u32::MAX {
            return None;
        }
        self.end = stack.index() + 1;
        self.count += 1;
        self.rows.resize(stack.index() / 64 + 1, LeafRow { bits: 0, before: number });
        if let Some(row) = self.rows.last_mut() {
            row.bits |= 1 << (stack.index() % 64);
        }
        Some(number as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn leaves_are_numbered_in_their_order(stacks in proptest::collection::vec(0..2_000_usize, 0..200)) {
            let (mut leaves, mut expected) = (Leaves::default(), Vec::new());
            for stack in stacks {
                let id = StackId::from_index(stack).unwrap();
                let is_newest = expected.last().is_none_or(|&last| last < stack);
                prop_assert_eq!(leaves.add(id), is_newest.then_some(expected.len()));
                if is_newest {
                    expected.push(stack);
                }
                for stack in 0..2_100 {
                    let id = StackId::from_index(stack).unwrap();
                    prop_assert_eq!(leaves.number(id), expected.binary_search(&stack).ok());
                }
            }
        }
    }
}

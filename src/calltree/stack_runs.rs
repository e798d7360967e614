//! Divides the table of stacks into pieces: consecutive rows, each the caller of the next, that branch only at their last row.
//!
//! ```text
//! row   parent  frame
//!   0        –  main     ┐
//!   1        0  run      ┘ first piece: ends here, since row 3 branches off
//!   2        1  read     ─ second piece: ends here, since row 3 is not a child of row 2
//!   3        1  write    ┐
//!   4        3  flush    ┘ third piece
//! ```
//!
//! A tree needs only the node of each piece's last stack, since the others are reached through it. A piece never crosses a multiple of 64 rows,
//! so it is found with one access, and its frames are contiguous.

use crate::profile::{Profile, StackId};

/// The pieces of all stacks in a profile: one bit per stack to mark ends, and half a bit to count them.
#[derive(Debug, Default)]
pub(super) struct StackRuns {
    /// One entry per 64 rows of the table of stacks.
    rows: Vec<Rows>,
    count: usize,
}

/// A block of 64 rows.
#[derive(Clone, Copy, Debug, Default)]
struct Rows {
    /// One bit per row; set if a piece ends there.
    ends: u64,
    /// The number of pieces that end in earlier blocks.
    before: u32,
}

/// A piece up to a given stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StackRun {
    /// The number of the piece, from 0 in stack order.
    pub(super) number: usize,
    /// The row of the piece's first stack.
    pub(super) first: usize,
    /// True if the given stack is the piece's last.
    pub(super) is_whole: bool,
}

impl StackRuns {
    pub(super) fn new(profile: &Profile) -> Self {
        let stacks = profile.stack_rows();
        let mut rows = vec![Rows { ends: 1 << 63, before: 0 }; stacks.len().div_ceil(64)];
        for (rows, turns) in rows.iter_mut().zip(stacks.turn_bits()) {
            // If the next block starts with a turn, the end before it is already set, since a piece ends with every block.
            rows.ends |= turns >> 1;
        }
        if let Some(rows) = rows.last_mut() {
            rows.ends |= 1 << ((stacks.len() - 1) % 64);
        }
        for parent in stacks.turn_parents().iter().flatten() {
            rows[parent.index() / 64].ends |= 1 << (parent.index() % 64);
        }
        let mut count = 0;
        for rows in &mut rows {
            rows.before = count;
            count += rows.ends.count_ones();
        }
        Self { rows, count: count as usize }
    }

    /// Returns an upper bound for the number of pieces, at most one too high.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the piece of a stack.
    #[inline]
    pub(super) fn of(&self, stack: StackId) -> StackRun {
        let (row, bit) = (stack.index() / 64, stack.index() % 64);
        let Rows { ends, before } = self.rows[row];
        let ends_before = ends & ((1 << bit) - 1);
        StackRun {
            number: before as usize + ends_before.count_ones() as usize,
            first: row * 64 + (64 - ends_before.leading_zeros() as usize),
            is_whole: ends >> bit & 1 > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{FrameKey, ProfileBuilder};
    use crate::units::Address;

    /// Returns a profile of stacks with these parents.
    fn profile(parents: &[Option<usize>]) -> Profile {
        let mut builder = ProfileBuilder::new();
        let name = builder.string("name").unwrap();
        let function = builder.function(name, None, true).unwrap();
        let mut stacks = Vec::new();
        for (row, parent) in parents.iter().enumerate() {
            let address = Address::new(row as u64);
            let key = FrameKey { function, binary: None, address, source: None, is_inlined: false, group: 0 };
            let frame = builder.frame(key).unwrap();
            stacks.push(builder.stack(parent.map(|parent| stacks[parent]), frame).unwrap());
        }
        builder.finish()
    }

    fn pieces(profile: &Profile) -> Vec<(usize, usize, bool)> {
        let pieces = StackRuns::new(profile);
        let found: Vec<_> = profile.stack_ids().map(|id| pieces.of(id)).collect();
        assert!(found.iter().all(|piece| piece.number < pieces.count()));
        found.iter().map(|piece| (piece.number, piece.first, piece.is_whole)).collect()
    }

    #[test]
    fn a_piece_ends_where_another_turns_off_and_before_what_is_no_child() {
        let profile = profile(&[None, Some(0), Some(1), Some(1), Some(3), None]);
        let expected = [(0, 0, false), (0, 0, true), (1, 2, true), (2, 3, false), (2, 3, true), (3, 5, true)];
        assert_eq!(pieces(&profile), expected);
        assert_eq!(pieces(&ProfileBuilder::new().finish()), []);
    }

    #[test]
    fn a_long_piece_is_cut_where_64_rows_end() {
        for count in [63, 64, 65, 200] {
            let parents: Vec<_> = (0..count).map(|row: usize| row.checked_sub(1)).collect();
            let expected: Vec<_> =
                (0..count).map(|row| (row / 64, row / 64 * 64, row % 64 == 63 || row + 1 == count)).collect();
            assert_eq!(pieces(&profile(&parents)), expected);
        }
    }
}

//! A set of row numbers with a fast rank operation: how many members precede a row.

use std::ops::Range;

/// A set of rows, in a quarter of a byte per row. Counting the members before a row takes a few instructions, so a table can store values for members
/// only, in row order.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankedBits {
    blocks: Vec<Block>,
}

/// A block of 64 rows.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// A bit for each member.
    bits: u64,
    /// The number of members in earlier blocks.
    before: u32,
}

impl RankedBits {
    /// True if a row is a member.
    #[inline]
    pub(crate) fn contains(&self, row: usize) -> bool {
        self.blocks[row / 64].bits >> (row % 64) & 1 > 0
    }

    /// Returns the number of members before a row.
    #[inline]
    pub(crate) fn before(&self, row: usize) -> usize {
        let Block { bits, before } = self.blocks[row / 64];
        before as usize + (bits & ((1 << (row % 64)) - 1)).count_ones() as usize
    }

    /// Returns the number of members up to and including a row.
    #[inline]
    pub(crate) fn up_to(&self, row: usize) -> usize {
        let Block { bits, before } = self.blocks[row / 64];
        before as usize + (bits & (u64::MAX >> (63 - row % 64))).count_ones() as usize
    }

    /// Returns the index of a row among the members, if it is a member.
    #[inline]
    pub(crate) fn place(&self, row: usize) -> Option<usize> {
        let Block { bits, before } = self.blocks[row / 64];
        let bit = row % 64;
        (bits >> bit & 1 > 0).then(|| before as usize + (bits & ((1 << bit) - 1)).count_ones() as usize)
    }

    /// Returns the last member in a range of rows. Time grows with the range, 64 rows at once.
    #[inline]
    pub(crate) fn last_in(&self, rows: Range<usize>) -> Option<usize> {
        let mut end = rows.end;
        while end > rows.start {
            let group = (end - 1) / 64;
            let bits = self.blocks[group].bits & (u64::MAX >> (63 - (end - 1) % 64));
            if bits > 0 {
                return Some(group * 64 + 63 - bits.leading_zeros() as usize).filter(|row| *row >= rows.start);
            }
            end = group * 64;
        }
        None
    }

    /// Allocates this many rows. `members` is the current number of members.
    #[inline]
    pub(crate) fn grow(&mut self, rows: usize, members: usize) {
        while self.blocks.len() < rows.div_ceil(64) {
            self.blocks.push(Block { bits: 0, before: members as u32 });
        }
    }

    /// Adds a row, which must be in the last block.
    #[inline]
    pub(crate) fn insert(&mut self, row: usize) {
        if let Some(block) = self.blocks.last_mut() {
            block.bits |= 1 << (row % 64);
        }
    }

    /// Returns the bits, in words of 64 rows.
    pub(crate) fn bits(&self) -> impl ExactSizeIterator<Item = u64> + DoubleEndedIterator {
        self.blocks.iter().map(|block| block.bits)
    }

    /// Returns the approximate size in bytes.
    pub(crate) fn memory(&self) -> u64 {
        crate::memory::of_vec(&self.blocks)
    }

    /// Releases unused capacity.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.blocks.shrink_to_fit();
    }
}

/// Each item is true if the row with its index is a member.
impl FromIterator<bool> for RankedBits {
    fn from_iter<I: IntoIterator<Item = bool>>(rows: I) -> Self {
        let (mut set, mut members) = (Self::default(), 0);
        for (row, is_member) in rows.into_iter().enumerate() {
            set.grow(row + 1, members);
            if is_member {
                set.insert(row);
                members += 1;
            }
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_counted() {
        let is_member = |row: usize| (row < 90 && row.is_multiple_of(3)) || row == 64 || row == 127 || row == 310;
        let set: RankedBits = (0..400).map(is_member).collect();
        for row in 0..400 {
            let before = (0..row).filter(|&row| is_member(row)).count();
            assert_eq!(set.before(row), before);
            assert_eq!(set.up_to(row), before + usize::from(is_member(row)));
            assert_eq!(set.place(row), is_member(row).then_some(before));
            for start in 0..=row {
                assert_eq!(set.last_in(start..row), (start..row).rev().find(|&row| is_member(row)));
            }
        }
    }
}

//! A set of row numbers with a fast rank operation: how many members precede a row.

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

    /// Returns the last member up to and including a row, with its index among the members, if it is in the row's block of 64.
    #[inline]
    pub(crate) fn last_up_to(&self, row: usize) -> Option<(usize, usize)> {
        let Block { bits, before } = self.blocks[row / 64];
        let bits = bits & (u64::MAX >> (63 - row % 64));
        (bits > 0).then(|| (row / 64 * 64 + bits.ilog2() as usize, (before + bits.count_ones()) as usize - 1))
    }

    /// Returns the members in order.
    pub(crate) fn members(&self) -> impl Iterator<Item = usize> {
        self.bits().enumerate().flat_map(|(block, mut rest)| {
            std::iter::from_fn(move || {
                let bit = (rest > 0).then_some(rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(block * 64 + bit as usize)
            })
        })
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
        let (mut rows, mut members) = (rows.into_iter(), 0);
        let blocks = std::iter::from_fn(|| {
            let mut bits = u64::from(rows.next()?);
            (1..64).zip(rows.by_ref()).for_each(|(bit, is_member)| bits |= u64::from(is_member) << bit);
            let before = members;
            members += bits.count_ones();
            Some(Block { bits, before })
        });
        Self { blocks: blocks.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_counted() {
        // The block from 256 has no members.
        let is_member = |row: usize| row < 250 && row.is_multiple_of(3) || row == 64 || row == 127 || row == 330;
        let set: RankedBits = (0..400).map(is_member).collect();
        let members: Vec<usize> = (0..400).filter(|&row| is_member(row)).collect();
        assert_eq!(set.members().collect::<Vec<_>>(), members);
        for row in 0..400 {
            let before = (0..row).filter(|&row| is_member(row)).count();
            assert_eq!(set.before(row), before);
            assert_eq!(set.up_to(row), before + usize::from(is_member(row)));
            assert_eq!(set.place(row), is_member(row).then_some(before));
            let last = members.iter().copied().enumerate().rfind(|(_, member)| (row / 64 * 64..=row).contains(member));
            assert_eq!(set.last_up_to(row), last.map(|(place, member)| (member, place)));
        }
    }
}

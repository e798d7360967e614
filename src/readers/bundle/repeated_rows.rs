//! Rows that differ only in their time and their stack, like nearly all rows of a recording. The common part is decoded once, and the rows
//! are counted together.

use super::layout::Place;
use super::sample_columns::Columns;
use super::stacks::KnownStacks;
use super::uniquer::NONE;
use crate::recording::{InputBuilder, KnownRow, RowCount};
use crate::symbols::{u32_at, u64_at};

/// The row of a profile: a time, what is between, and the number of a stack.
const ROW: usize = 40;
const STACK: usize = ROW - 4;

/// The part between the time and the stack; the last word overlaps the one before it.
type Middle = [u64; 4];

/// The number of kinds of rows remembered at a time: a recording has some for each thread and each core, and two of them seldom want the
/// same place.
const KINDS: usize = 1 << 12;
/// Any odd numbers with as many ones as zeros.
const FACTORS: [u64; 4] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];

/// The kinds of rows that were seen last.
pub(super) struct AlikeRows {
    /// By a hash of what they have in common.
    kinds: Vec<Kind>,
    /// The values of each kind, in the order they came.
    known: Vec<KnownRow>,
    /// The places with rows to be counted, and the maximum number of these rows.
    uncounted: Vec<usize>,
    pending: usize,
    /// Later rows are looked at one by one.
    latest: u64,
}

/// The most rows that are counted together.
const PENDING: usize = 1 << 24;

/// A kind of rows.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    middle: Middle,
    count: RowCount,
    /// One more than the index of its data in `known`; 0 if there is none.
    known: usize,
}

impl AlikeRows {
    /// Tables of other columns have no such rows.
    pub(super) fn of(columns: &Columns, row_size: usize, latest: u64) -> Self {
        let is_usual = row_size == ROW
            && columns.time == Place::Wide(0)
            && columns.stack.place == Place::Narrow(STACK)
            && columns.kernel_stack.is_none()
            && columns.counters.is_none();
        let kinds = vec![Kind::default(); if is_usual { KINDS } else { 0 }];
        // A time with all bits set means no time.
        let latest = latest.min(u64::MAX - 1);
        Self { kinds, known: Vec::new(), uncounted: Vec::new(), pending: 0, latest }
    }

    /// Remembers what a row that was added has in common with others.
    pub(super) fn insert(&mut self, row: &[u8], known: KnownRow) {
        let Some(row) = row.first_chunk().filter(|_| !self.kinds.is_empty()) else { return };
        let middle = between(row);
        let kind = &mut self.kinds[place(&middle)];
        // Overwrites the data of the earlier kind in this place.
        let index = kind.known.checked_sub(1).unwrap_or(self.known.len());
        match self.known.get_mut(index) {
            Some(older) => *older = known,
            None => self.known.push(known),
        }
        *kind = Kind { middle, count: RowCount::default(), known: index + 1 };
    }

    /// Adds rows while each is like an earlier row and its stack was made. Returns their number of bytes. They must be
    /// [counted](Self::count) before anything else is added.
    pub(super) fn add(&mut self, rows: &[u8], stacks: KnownStacks<'_>, input: &mut InputBuilder<'_>) -> usize {
        if self.kinds.is_empty() {
            return 0;
        }
        let (rows, mut added) = (rows.as_chunks::<ROW>().0, 0);
        while added < rows.len() {
            let count = self.add_some(&rows[added..], stacks, input);
            added += count;
            if count == 0 {
                break;
            }
        }
        self.pending += added;
        if self.pending > PENDING {
            self.count(input);
        }
        added * ROW
    }

    /// Adds as many of these rows as fit at once.
    fn add_some(&mut self, rows: &[[u8; ROW]], stacks: KnownStacks<'_>, input: &mut InputBuilder<'_>) -> usize {
        let recording = &mut *input.recording;
        let Ok(room) = recording.profile.make_room() else { return 0 };
        let (latest, Self { kinds, known, uncounted, .. }) = (self.latest, self);
        let is_added = |&row: &&[u8; ROW]| {
            let (time, middle, number) = (u64_at(row, 0), between(row), u32_at(row, STACK));
            let place = place(&middle);
            let Some(kind) = kinds.get_mut(place) else { return false };
            let stack = if number == NONE { Some(None) } else { stacks.get(number).map(Some) };
            // Word by word: they were stored one by one a moment ago, and cannot be loaded by twos before they have arrived.
            let difference = kind.middle.iter().zip(middle).fold(0, |all, (known, word)| all | (known ^ word));
            let Some(stack) = stack.filter(|_| difference == 0 && time <= latest) else { return false };
            if kind.count.is_empty() {
                let known = kind.known.checked_sub(1).and_then(|index| known.get(index));
                let Some(count) = known.and_then(|known| known.start(recording)) else { return false };
                kind.count = count;
                uncounted.push(place);
            }
            kind.count.add(recording, time, stack, || known.get(kind.known.wrapping_sub(1)));
            true
        };
        rows.iter().take(room).take_while(is_added).count()
    }

    /// Counts the rows that were added.
    pub(super) fn count(&mut self, input: &mut InputBuilder<'_>) {
        self.pending = 0;
        for place in self.uncounted.drain(..) {
            let kind = &mut self.kinds[place];
            let count = std::mem::take(&mut kind.count);
            if let Some(known) = self.known.get(kind.known.wrapping_sub(1)) {
                input.count_known(known, count);
            }
        }
    }
}

#[inline]
fn between(row: &[u8; ROW]) -> Middle {
    [u64_at(row, 8), u64_at(row, 16), u64_at(row, 24), u64_at(row, STACK - 8)]
}

/// The place of a kind of rows in the table of kinds.
#[inline]
fn place(middle: &Middle) -> usize {
    // No product waits for another one.
    let mixed =
        middle.iter().zip(FACTORS).fold(0_u64, |mixed, (word, factor)| mixed.wrapping_add(word.wrapping_mul(factor)));
    (mixed >> (64 - KINDS.trailing_zeros())) as usize
}

//! A fast path for rows that differ only in time and stack, as nearly all rows do. Their common part is decoded once, and the rows are counted
//! together.

use super::layout::Place;
use super::sample_columns::Columns;
use super::stacks::KnownStacks;
use super::uniquer::NONE;
use crate::recording::{InputBuilder, KnownRow, RowCount};
use crate::symbols::{u32_at, u64_at};

/// The size of a profile row: the time, the common part, and the index of a stack.
const ROW: usize = 40;
const STACK: usize = ROW - 4;

/// The common part, between the time and the stack. The last word overlaps the one before it.
type Middle = [u64; 4];

/// The number of cached row kinds. A recording has a few for each thread and core, so collisions are rare.
const KINDS: usize = 1 << 12;
/// Arbitrary odd numbers with as many ones as zeros.
const FACTORS: [u64; 4] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];

/// A cache of recently seen row kinds.
pub(super) struct AlikeRows {
    /// Indexed by a hash of the common part.
    kinds: Vec<Kind>,
    /// The decoded values of each kind, in order of appearance.
    known: Vec<KnownRow>,
    /// The indices of kinds with uncounted rows, and an upper bound for the number of these rows.
    uncounted: Vec<usize>,
    pending: usize,
    /// Rows after this time take the slow path.
    latest: u64,
}

/// The maximum number of rows that are counted together.
const PENDING: usize = 1 << 24;

/// Rows with the same common part.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    middle: Middle,
    count: RowCount,
    /// The index of its values in `known`, plus one; 0 if there are none.
    known: usize,
}

impl AlikeRows {
    /// Creates a cache; it stays unused for a table with a different row layout.
    pub(super) fn of(columns: &Columns, row_size: usize, latest: u64) -> Self {
        let is_usual = row_size == ROW
            && columns.time == Place::Wide(0)
            && columns.stack.place == Place::Narrow(STACK)
            && columns.kernel_stack.is_none()
            && columns.counters.is_none();
        let kinds = vec![Kind::default(); if is_usual { KINDS } else { 0 }];
        // All bits set means no time.
        let latest = latest.min(u64::MAX - 1);
        Self { kinds, known: Vec::new(), uncounted: Vec::new(), pending: 0, latest }
    }

    /// Caches the common part of a row that was just added.
    pub(super) fn insert(&mut self, row: &[u8], known: KnownRow) {
        let Some(row) = row.first_chunk().filter(|_| !self.kinds.is_empty()) else { return };
        let middle = between(row);
        let kind = &mut self.kinds[place(&middle)];
        // On a collision, the newer kind replaces the older one.
        let index = kind.known.checked_sub(1).unwrap_or(self.known.len());
        match self.known.get_mut(index) {
            Some(older) => *older = known,
            None => self.known.push(known),
        }
        *kind = Kind { middle, count: RowCount::default(), known: index + 1 };
    }

    /// Adds rows until one has an unknown kind or stack. Returns the number of bytes added. The rows must be [counted](Self::count) before
    /// anything else is added.
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

    /// Adds rows until the profile is full.
    fn add_some(&mut self, rows: &[[u8; ROW]], stacks: KnownStacks<'_>, input: &mut InputBuilder<'_>) -> usize {
        let recording = &mut *input.recording;
        let Ok(room) = recording.profile.make_room() else { return 0 };
        let (latest, Self { kinds, known, uncounted, .. }) = (self.latest, self);
        let is_added = |&row: &&[u8; ROW]| {
            let (time, middle, number) = (u64_at(row, 0), between(row), u32_at(row, STACK));
            let place = place(&middle);
            let Some(kind) = kinds.get_mut(place) else { return false };
            let stack = if number == NONE { Some(None) } else { stacks.get(number).map(Some) };
            // Compare word by word: the words were just stored one by one, so a wider load would stall until those stores complete.
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

/// Hashes a common part to an index in the table of kinds.
#[inline]
fn place(middle: &Middle) -> usize {
    // The products are independent, so none has to wait for another.
    let mixed =
        middle.iter().zip(FACTORS).fold(0_u64, |mixed, (word, factor)| mixed.wrapping_add(word.wrapping_mul(factor)));
    (mixed >> (64 - KINDS.trailing_zeros())) as usize
}

//! Maps ids to elements.
//!
//! `xctrace` writes a value once, with an `id`, and afterwards as a `ref` to that id:
//!
//! ```xml
//! <weight id="9" fmt="1.00 ms">1000000</weight>   …   <weight ref="9"/>
//! ```
//!
//! Ids count 1, 2, 3 … over the whole document in the order of the start tags, so the map is a vector.

use super::value::{Packed, Value};
use crate::chunked_vec::ChunkedVec;
use crate::hash::HashMap;
use crate::memory::{of_map, of_vec};
use crate::profile::FrameId;

/// Maps the ids of one document to elements, in 8 bytes per id.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Indexed by id, starting at 1; [`Packed::NONE`] if the id is not defined (yet).
    dense: ChunkedVec<Packed>,
    /// Values that do not fit in a word.
    large: Vec<Value>,
    /// Ids far beyond the dense ones, which occur in excerpts and hostile files.
    sparse: HashMap<u64, Value>,
    defined: usize,
    highest: u64,
    /// True if an id was defined twice, or is far beyond the others.
    is_irregular: bool,
}

/// Gaps up to this size are always filled. Larger ones may not take more memory than the definitions.
const FREE_GAP: usize = 1024;

/// The maximum length of the dense list for this many definitions.
pub(super) fn room(defined: usize) -> usize {
    2 * defined + FREE_GAP
}

impl Ids {
    /// Registers `value` under `id`; a later definition replaces an earlier one.
    #[inline(always)]
    pub(super) fn define(&mut self, id: u64, value: Value) {
        // Fast path: nearly every id is the next one.
        let next = self.dense.len();
        if id == next as u64 && next < 2 * self.defined + FREE_GAP {
            self.defined += 1;
            self.highest = self.highest.max(id);
            self.dense.push(Packed::new(value, &mut self.large));
        } else {
            self.define_anywhere(id, value);
        }
    }

    fn define_anywhere(&mut self, id: u64, value: Value) {
        self.defined += 1;
        self.highest = self.highest.max(id);
        match usize::try_from(id) {
            Ok(index) if index < room(self.defined).max(self.dense.len()) => {
                let word = Packed::new(value, &mut self.large);
                if let Some(known) = self.dense.get_mut(index) {
                    self.is_irregular |= *known != Packed::NONE;
                    *known = word;
                    return;
                }
                self.dense.grow(index, Packed::NONE);
                self.dense.push(word);
            }
            _ => {
                self.is_irregular = true;
                self.sparse.insert(id, value);
            }
        }
    }

    /// Returns the value of `id`.
    #[inline]
    pub(super) fn get(&self, id: u64) -> Option<Value> {
        let word = usize::try_from(id).ok().and_then(|index| self.dense.get(index));
        let value = word.and_then(|word| word.value(&self.large));
        if value.is_some() { value } else { self.get_sparse(id) }
    }

    /// Returns the value of `id` if it is a frame.
    #[inline(always)]
    pub(super) fn get_frame(&self, id: u32) -> Option<FrameId> {
        self.dense.get(id as usize)?.frame()
    }

    /// Returns the word of a dense id; [`Packed::NONE`] for all other ids.
    #[inline(always)]
    pub(super) fn get_word(&self, id: u32) -> Packed {
        self.dense.get(id as usize).copied().unwrap_or(Packed::NONE)
    }

    /// Looks up the words of these ids; [`Packed::NONE`] for undefined ones. They are scattered over memory, and waiting for many takes little
    /// longer than waiting for one.
    pub(super) fn get_words(&self, ids: &[u32], words: &mut Vec<Packed>) {
        words.clear();
        words.extend(ids.iter().map(|&id| self.get_word(id)));
    }

    /// Returns the value of a [word](Self::get_words).
    #[inline(always)]
    pub(super) fn value_of(&self, word: Packed) -> Option<Value> {
        word.value(&self.large)
    }

    #[cold]
    fn get_sparse(&self, id: u64) -> Option<Value> {
        self.sparse.get(&id).copied()
    }

    /// Returns the next id, if all smaller ids were defined exactly once. Between rows, the next element has this id.
    #[inline]
    pub(super) fn next(&self) -> Option<u32> {
        // Ids start at 1. In the count of definitions, an id 0 would make up for a missing id.
        let has_zero = self.get_word(0) != Packed::NONE;
        let is_gapless = self.highest == self.defined as u64 && !self.is_irregular && !has_zero;
        self.highest.checked_add(1).and_then(|next| u32::try_from(next).ok()).filter(|_| is_gapless)
    }

    /// The approximate memory in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.dense.memory() + of_vec(&self.large) + of_map(&self.sparse)
    }

    /// Forgets all ids: the next document starts at 1 again.
    pub(super) fn clear(&mut self) {
        // Keeps the buffers, since an input may contain many small documents.
        self.dense.clear();
        self.large.clear();
        self.sparse.clear();
        self.defined = 0;
        self.highest = 0;
        self.is_irregular = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_small() {
        assert!(size_of::<Option<Value>>() <= 16, "{}", size_of::<Option<Value>>());
    }

    #[test]
    fn ids_may_be_dense_out_of_order_far_apart_and_redefined() {
        let mut ids = Ids::default();
        for id in [2, 1, 5, u64::MAX, 4_000_000_000, 3] {
            ids.define(id, Value::Time(id));
        }
        ids.define(5, Value::Time(50));
        for id in [1, 2, 3, 4_000_000_000, u64::MAX] {
            assert_eq!(ids.get(id), Some(Value::Time(id)));
        }
        assert_eq!(ids.get(5), Some(Value::Time(50)));
        assert_eq!(ids.get(4), None);
        assert_eq!(ids.dense.len(), 6, "a far id must not grow the dense part");
        assert_eq!(ids.next(), None);
        ids.clear();
        assert!([1, 2, 3, 5, 4_000_000_000, u64::MAX].iter().all(|&id| ids.get(id).is_none()));
        assert_eq!(ids.next(), Some(1));
        ids.define(1, Value::Other);
        ids.define(3, Value::Other);
        ids.define(0, Value::Other);
        assert_eq!((ids.get(2), ids.next()), (None, None), "an id 0 does not fill the gap at 2");
        ids.clear();
        ids.define(3, Value::Other);
        assert_eq!((ids.get(3), ids.get(2), ids.next()), (Some(Value::Other), None, None));
        ids.clear();
        ids.define(2, Value::Other);
        ids.define(1, Value::Other);
        assert_eq!(ids.next(), Some(3), "an element ends after its children");
        ids.define(2, Value::Other);
        ids.define(4, Value::Other);
        assert_eq!(ids.next(), None, "as many as the largest, and one is missing");
    }

    #[test]
    fn gaps_take_no_more_room_than_definitions() {
        let mut ids = Ids::default();
        for step in 1..=1_000 {
            ids.define(step * 100_000, Value::Other);
        }
        assert!(ids.dense.len() <= 2 * 1_000 + FREE_GAP);
        assert!((1..=1_000).all(|step| ids.get(step * 100_000) == Some(Value::Other)));
    }

    #[test]
    fn ids_are_those_of_a_plain_map() {
        let (mut ids, mut expected) = (Ids::default(), std::collections::HashMap::new());
        let mut state = 1_u64;
        for step in 0..60_000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = state >> 33;
            let id = match random % 8 {
                0..5 => step,
                5 => random % (step + 1),
                6 => step + random % 5_000,
                _ => random * 1_000,
            };
            // Mixes values that fit a word with values that do not.
            let value = if random.is_multiple_of(3) { Value::Address(u64::MAX - step) } else { Value::Time(step) };
            ids.define(id, value);
            expected.insert(id, value);
        }
        assert_eq!(ids.next(), None);
        assert!((0..200_000).all(|id| ids.get(id) == expected.get(&id).copied()));
        assert!(expected.iter().all(|(&id, &value)| ids.get(id) == Some(value)));
        assert!(
            ids.dense.len() <= 2 * expected.len() + FREE_GAP,
            "{} words for {} ids",
            ids.dense.len(),
            expected.len()
        );
    }
}

//! Maps the ids of one document to the values of cells.

use super::id_map::room;
use crate::chunked_vec::ChunkedVec;
use crate::hash::HashMap;
use crate::memory::of_map;

/// The values of ids. Ids count 1, 2, 3 …, so a chunked list takes less memory than a map, and growing it copies nothing.
#[derive(Debug)]
pub(super) struct TableIds<T> {
    dense: ChunkedVec<Option<T>>,
    /// Ids far beyond the dense ones, which occur in excerpts and hostile files.
    sparse: HashMap<u64, T>,
    defined: usize,
}

impl<T> Default for TableIds<T> {
    fn default() -> Self {
        Self { dense: ChunkedVec::default(), sparse: HashMap::default(), defined: 0 }
    }
}

impl<T: Copy> TableIds<T> {
    pub(super) fn get(&self, id: u64) -> Option<T> {
        let dense = usize::try_from(id).ok().and_then(|index| *self.dense.get(index)?);
        dense.or_else(|| self.sparse.get(&id).copied())
    }

    /// Sets the value of an id.
    pub(super) fn set(&mut self, id: u64, value: T) {
        self.defined += 1;
        match usize::try_from(id) {
            Ok(index) if index < room(self.defined).max(self.dense.len()) => {
                self.dense.grow(index + 1, None);
                if let Some(known) = self.dense.get_mut(index) {
                    *known = Some(value);
                }
                // The id may have been stored there before the dense ids reached it.
                self.sparse.remove(&id);
            }
            _ => {
                self.sparse.insert(id, value);
            }
        }
    }

    /// The approximate memory in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.dense.memory() + of_map(&self.sparse)
    }

    /// Forgets all ids.
    pub(super) fn clear(&mut self) {
        self.dense.clear();
        self.sparse.clear();
        self.defined = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_a_plain_map() {
        let (mut ids, mut expected) = (TableIds::default(), std::collections::HashMap::new());
        for step in 0..20_000_u64 {
            let id = match step % 8 {
                0..5 => step,
                5 => step / 2,
                6 => step + 4_000,
                _ => step.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            };
            ids.set(id, step);
            expected.insert(id, step);
        }
        assert!((0..30_000).all(|id| ids.get(id) == expected.get(&id).copied()));
        assert!(expected.iter().all(|(&id, &value)| ids.get(id) == Some(value)));
        assert!(ids.dense.len() <= room(20_000), "far ids must not grow the list");
        ids.clear();
        assert!(expected.keys().all(|&id| ids.get(id).is_none()));
    }
}

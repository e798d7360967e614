//! Interns strings in one allocation, with a small id for each.

use std::hash::BuildHasher as _;
use std::ops::Range;

use hashbrown::HashTable;

use super::model::StringId;
use crate::hash::BuildHasher;
use crate::memory::of_vec;

/// All distinct strings of a profile, concatenated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strings {
    text: String,
    /// The end of each string in `text`, which is the start of the next one.
    ends: Vec<usize>,
    ids: HashTable<StringId>,
    hasher: BuildHasher,
}

impl Strings {
    /// Returns a string. An id from another table yields an unrelated string or panics, like an index.
    pub(crate) fn get(&self, id: StringId) -> &str {
        &self.text[range(&self.ends, id.index())]
    }

    /// All strings, in the order of their ids.
    pub(crate) fn all(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len()).map(|index| &self.text[range(&self.ends, index)])
    }

    /// Leaves the next id unused.
    pub(crate) fn skip(&mut self) {
        self.ends.push(self.text.len());
    }

    /// Returns the approximate size in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let ids = self.ids.capacity() as u64 * 8 / 7 * (size_of::<StringId>() as u64 + 1);
        self.text.capacity() as u64 + of_vec(&self.ends) + ids
    }

    /// Releases unused capacity.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Returns the id of `text` if it was interned.
    pub(crate) fn find(&self, text: &str) -> Option<StringId> {
        self.ids.find(self.hasher.hash_one(text), |&id| self.get(id) == text).copied()
    }

    /// Returns the id of `text`, adding it if necessary. `None` if the table is full.
    pub(crate) fn intern(&mut self, text: &str) -> Option<StringId> {
        if let Some(id) = self.find(text) {
            return Some(id);
        }
        let id = StringId::from_index(self.ends.len())?;
        self.text.push_str(text);
        self.ends.push(self.text.len());
        let Self { text: all, ends, ids, hasher } = self;
        ids.insert_unique(hasher.hash_one(text), id, |&id| hasher.hash_one(&all[range(ends, id.index())]));
        Some(id)
    }
}

/// The range of a string. It starts where the previous one ends.
fn range(ends: &[usize], index: usize) -> Range<usize> {
    let start = if index == 0 { 0 } else { ends[index - 1] };
    start..ends[index]
}

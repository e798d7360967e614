//! A cache of cell combinations, looked up by their bytes.
//!
//! The bytes are ids, whose values are looked up later, so their meaning does not depend on their position. Combinations from one block can be
//! used in all later blocks.
//!
//! This module also caches the number widths of the last row, and the last stack of each thread, since the next row and the next stack are probably
//! similar.

use super::super::tag::Tag;

/// The number of sets in the cache.
const SETS: usize = 512;
/// The number of combinations in a set. Combinations that differ only after their [`KEY`] (in state or weight) share one set.
const WAYS: usize = 4;
/// The number of bytes that are hashed to find a combination; combinations are about 90 bytes long.
const KEY: usize = 64;
/// Longer combinations are not cached.
const MAX_TEXT: usize = 1024;
/// The maximum number of combinations, including those that were replaced in their set.
const MAX_KNOWN: usize = 2 * SETS * WAYS;

/// The cache of one thread.
#[derive(Debug)]
pub(super) struct KnownCells {
    sets: Box<[[Place; WAYS]; SETS]>,
    all: Vec<Known>,
    text: Vec<u8>,
    references: Vec<u32>,
    /// The element name of each reference.
    tags: Vec<Tag>,
    /// The number of the current tape.
    tape: u32,
}

/// The hash of a combination's first bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    set: u16,
    tag: u16,
}

/// A slot of a set.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The tag of its key.
    tag: u16,
    /// The index plus one; 0 if the slot is empty.
    known: u16,
    /// The length in bytes. With it, the end of the cells is known before the bytes are compared.
    length: u16,
}

/// A combination that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) known: usize,
    pub(super) length: usize,
    /// The thread in these cells or, if they contain none, in the previous row.
    pub(super) thread: u32,
    /// The index on the current tape, if it is there.
    pub(super) on_tape: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    /// The start of its bytes in `text`; its ids are `references[start..end]`.
    text_start: u32,
    start: u32,
    end: u32,
    /// The thread in these cells or, if they contain none, in the previous row.
    thread: u32,
    /// The last tape that contains the cells, and their index there.
    tape: u32,
    cells: u32,
}

impl Default for KnownCells {
    fn default() -> Self {
        let sets = Box::new([[Place::default(); WAYS]; SETS]);
        Self { sets, all: Vec::new(), text: Vec::new(), references: Vec::new(), tags: Vec::new(), tape: 0 }
    }
}

impl KnownCells {
    /// Starts another tape.
    pub(super) fn begin(&mut self) {
        self.tape = self.tape.wrapping_add(1);
        if self.all.len() >= MAX_KNOWN || self.tape == 0 {
            self.sets.fill([Place::default(); WAYS]);
            self.all.clear();
            self.text.clear();
            self.references.clear();
            self.tags.clear();
        }
    }

    /// Looks up the cells at the start of `bytes`, which have this key.
    #[inline(always)]
    pub(super) fn get(&self, key: Key, bytes: &[u8]) -> Option<Found> {
        for place in &self.sets[usize::from(key.set) % SETS] {
            // Empty slots come last.
            let index = usize::from(place.known).checked_sub(1)?;
            let (known, length) = (&self.all[index], usize::from(place.length));
            let text = known.text_start as usize;
            if place.tag == key.tag && starts_with(bytes, &self.text[text..text + length]) {
                let on_tape = (known.tape == self.tape).then_some(known.cells);
                return Some(Found { known: index, length, thread: known.thread, on_tape });
            }
        }
        None
    }

    /// The ids of the cells; 0 is an absent value.
    pub(super) fn references(&self, known: usize) -> &[u32] {
        let known = &self.all[known];
        &self.references[known.start as usize..known.end as usize]
    }

    /// The names of their elements.
    pub(super) fn tags(&self, known: usize) -> &[Tag] {
        let known = &self.all[known];
        &self.tags[known.start as usize..known.end as usize]
    }

    /// Records that the current tape contains the cells.
    pub(super) fn set_on_tape(&mut self, known: usize, cells: u32) {
        (self.all[known].tape, self.all[known].cells) = (self.tape, cells);
    }

    /// Adds cells that the current tape contains.
    pub(super) fn add(&mut self, key: Key, text: &[u8], ids: &[u32], tags: &[Tag], thread: u32, cells: u32) {
        if text.len() > MAX_TEXT || self.all.len() >= MAX_KNOWN {
            return;
        }
        let (text_start, start) = (self.text.len() as u32, self.references.len() as u32);
        self.text.extend_from_slice(text);
        self.references.extend_from_slice(ids);
        self.tags.extend_from_slice(tags);
        let end = self.references.len() as u32;
        self.all.push(Known { text_start, start, end, thread, tape: self.tape, cells });
        let set = &mut self.sets[usize::from(key.set) % SETS];
        let way = set.iter().position(|place| place.known == 0).unwrap_or(self.all.len() % WAYS);
        set[way] = Place { tag: key.tag, known: self.all.len() as u16, length: text.len() as u16 };
    }
}

/// True if `bytes` start with `text`. Optimised for strings of typical length.
#[inline(always)]
fn starts_with(bytes: &[u8], text: &[u8]) -> bool {
    const STEP: usize = 32;
    let Some(bytes) = bytes.get(..text.len()) else { return false };
    let ([a, b, ..], [c, d, ..]) = (bytes.as_chunks::<STEP>().0, text.as_chunks::<STEP>().0) else {
        return bytes == text;
    };
    let (Some(e), Some(f)) = (bytes.last_chunk::<STEP>(), text.last_chunk::<STEP>()) else { return false };
    // Up to three steps long, the first two and the last step cover all bytes.
    (a == c) & (b == d) & (e == f) && (text.len() <= 3 * STEP || bytes == text)
}

/// Arbitrary odd numbers with as many ones as zeros.
const FACTORS: [u64; KEY / 8 - 1] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
    0xd6e8_feb8_6659_fd93,
    0xc2b2_ae3d_27d4_eb4f,
    0x1656_67b1_9e37_79f9,
    0x27d4_eb2f_1656_67c5,
];

/// Hashes the first bytes of cells.
#[inline(always)]
pub(super) fn key_of(key: &[u8; KEY]) -> Key {
    // Skips the first eight bytes, which are the same in every row. The products are independent, so they can be computed in parallel.
    let words = key.as_chunks::<8>().0[1..].iter().map(|word| u64::from_le_bytes(*word));
    let hash = words.zip(FACTORS).fold(0_u64, |hash, (word, factor)| hash.wrapping_add(word.wrapping_mul(factor)));
    Key { set: (hash >> 48) as u16, tag: (hash >> 32) as u16 }
}

/// The number of digits in a row's id and time. They rarely change from row to row, so the offsets in the next row are known in advance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Widths {
    pub(super) id: u8,
    pub(super) time: u8,
}

impl Widths {
    pub(super) fn of(id: u64, time: u64) -> Self {
        let width = |number: u64| number.checked_ilog10().map_or(1, |log| log as u8 + 1);
        Self { id: width(id), time: width(time) }
    }
}

/// The number of threads whose last stack is cached.
pub(super) const THREADS: usize = 64;

/// The last stack of each thread on the tape.
#[derive(Debug)]
pub(super) struct LastStacks(pub(super) [LastStack; THREADS]);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastStack {
    pub(super) thread: u32,
    /// The index plus one; 0 means none.
    pub(super) stack: u32,
    /// The end of its frames in the text, and the offset after which all frames are `ref`s.
    pub(super) text_end: u32,
    pub(super) plain_from: u32,
}

impl Default for LastStacks {
    fn default() -> Self {
        Self([LastStack::default(); THREADS])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_of_one_key_are_all_known() {
        let mut cells = KnownCells::default();
        let text = |last: usize| format!("{}{last}", "<core ref=\"1\"/>".repeat(5));
        let key = key_of(text(0).as_bytes().first_chunk().unwrap());
        for last in 0..WAYS {
            assert!(cells.get(key, text(last).as_bytes()).is_none());
            cells.add(key, text(last).as_bytes(), &[1, 2, last as u32], &[Tag::Core; 3], 0, 0);
        }
        for last in 0..WAYS {
            let found = cells.get(key, text(last).as_bytes()).unwrap();
            assert_eq!((cells.references(found.known)[2], found.length), (last as u32, text(last).len()));
        }
        // One more entry replaces another.
        cells.add(key, text(WAYS).as_bytes(), &[1, 2, WAYS as u32], &[Tag::Core; 3], 0, 0);
        assert_eq!((0..=WAYS).filter(|&last| cells.get(key, text(last).as_bytes()).is_some()).count(), WAYS);
        assert!(cells.get(key, text(WAYS).as_bytes()).is_some());
    }

    #[test]
    fn text_of_any_length_is_compared_to_its_last_byte() {
        let long: Vec<u8> = (0..200_u8).collect();
        for length in 0..200 {
            let text = &long[..length];
            assert!(starts_with(&long, text) && starts_with(text, text), "{length}");
            for other in 0..length {
                let mut text = text.to_vec();
                text[other] ^= 0x80;
                assert!(!starts_with(&long, &text), "{length} {other}");
            }
            assert!(length == 0 || !starts_with(&long[..length - 1], text), "{length}");
        }
    }
}

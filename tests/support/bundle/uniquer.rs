//! The strings and arrays to which rows refer by number. Each is stored once per run.
//!
//! ```text
//! index: 32 bytes of header, a pair of zeros, then for each array: u32 offset in its block, u32 block
//! data:  32 bytes of header, then blocks; an array is u32 count and as many u64, and lies in one block
//! ```
//!
//! The space after the arrays of a block stays zero. Blocks are allocated before they are needed.

use std::collections::HashMap;

use plist::Value;

use super::archive::{binary, xml};

/// Means "none" in every column.
pub const NONE: u32 = u32::MAX;

const HEADER: usize = 32;

/// The arrays of a run.
pub struct Arrays {
    block_size: usize,
    index: Vec<u8>,
    data: Vec<u8>,
    known: HashMap<Vec<u64>, u32>,
}

impl Arrays {
    /// `block_size` grows to the size of the largest array, since the file is written when all arrays are known.
    pub fn new(block_size: usize) -> Arrays {
        let mut index = header(block_size);
        index.extend([0; 8]);
        Arrays { block_size, index, data: header(0), known: HashMap::new() }
    }

    /// Adds an array and returns its number; equal arrays have one number.
    pub fn add(&mut self, array: &[u64]) -> u32 {
        if let Some(&known) = self.known.get(array) {
            return known;
        }
        let number = self.append(array);
        self.known.insert(array.to_vec(), number);
        number
    }

    /// Adds an array even if an equal one exists.
    pub fn append(&mut self, array: &[u64]) -> u32 {
        let length = 4 + 8 * array.len();
        assert!(HEADER + length <= self.block_size, "an array of {} numbers is larger than a block", array.len());
        let used = self.data.len() % self.block_size;
        if used + length > self.block_size {
            self.data.resize(self.data.len() - used + self.block_size, 0);
        }
        let (block, offset) = (self.data.len() / self.block_size, self.data.len() % self.block_size);
        self.index.extend((offset as u32).to_le_bytes());
        self.index.extend((block as u32).to_le_bytes());
        self.data.extend((array.len() as u32).to_le_bytes());
        array.iter().for_each(|number| self.data.extend(number.to_le_bytes()));
        ((self.index.len() - HEADER - 8) / 8 - 1) as u32
    }

    /// The index and the data, with `spare` blocks of zeros at the end.
    pub fn finish(mut self, spare: usize) -> (Vec<u8>, Vec<u8>) {
        let blocks = self.data.len().div_ceil(self.block_size) + spare;
        self.data.resize(blocks * self.block_size, 0);
        (self.index, self.data)
    }
}

/// The header of the index contains the size of a block, the header of the data does not.
fn header(block_size: usize) -> Vec<u8> {
    let largest = if block_size == 0 { 0 } else { 0x40_0000 };
    [0x0123_4567, 0x000a_337e, 1, 0, 1, 0, largest, block_size as u32]
        .iter()
        .flat_map(|word: &u32| word.to_le_bytes())
        .collect()
}

/// The data of a uniquer without arrays, whose index is empty.
pub fn without_arrays(length: usize) -> Vec<u8> {
    let mut data = header(0);
    data.resize(length.max(HEADER), 0);
    data
}

/// The strings of a run.
pub struct Strings {
    texts: Vec<String>,
    known: HashMap<String, u32>,
}

impl Default for Strings {
    /// The strings that every run begins with.
    fn default() -> Strings {
        let mut strings = Strings { texts: Vec::new(), known: HashMap::new() };
        for text in
            ["", "Unknown", "User", "Supervisor", "Running", "Runnable", "Blocked", "Preempted", "Uninterruptible"]
        {
            strings.add(text);
        }
        for text in ["Suspended", "Idle", "Terminating", "Terminated", "TODO"] {
            strings.add(text);
        }
        strings
    }
}

impl Strings {
    pub fn add(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.known.insert(text.to_owned(), number);
        number
    }

    /// A property list: XML in new bundles, binary in older ones.
    pub fn finish(&self, is_binary: bool) -> Vec<u8> {
        let list = Value::Array(self.texts.iter().map(|text| Value::String(text.clone())).collect());
        if is_binary { binary(&list) } else { xml(&list) }
    }
}

//! Interns the strings of intervals, and the processes that they name.

use std::sync::Arc;

use crate::hash::HashMap;
use crate::memory::{of_map, of_vec};

/// A process: the number of its name, and its pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessCell {
    pub(crate) name: u32,
    pub(crate) pid: Option<u64>,
}

/// Interned strings.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    all: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    /// The total length of all strings.
    bytes: u64,
}

impl Texts {
    /// Returns the approximate size in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.bytes + of_vec(&self.all) + of_map(&self.numbers)
    }

    /// Returns the number of a string. A u32 suffices: 2³² strings would not fit in memory.
    pub(crate) fn number_of(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let text: Arc<str> = text.into();
        let number = self.all.len() as u32;
        self.bytes += text.len() as u64 + 2 * size_of::<usize>() as u64;
        self.all.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    pub(crate) fn text(&self, number: u32) -> Arc<str> {
        self.all[number as usize].clone()
    }
}

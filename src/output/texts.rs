//! Texts that many lines have in common, made once.

use crate::profile::{FunctionId, Profile};

/// For each function of a profile a piece of output.
pub(super) struct FunctionTexts {
    text: Vec<u8>,
    /// Where each piece ends; it starts where the one before ends.
    ends: Vec<usize>,
}

impl FunctionTexts {
    /// The pieces that `write` appends, one for each function.
    pub(super) fn new(profile: &Profile, mut write: impl FnMut(FunctionId, &mut Vec<u8>)) -> Self {
        let mut text = Vec::new();
        let mut ends = Vec::with_capacity(profile.function_ids().len() + 1);
        ends.push(0);
        for id in profile.function_ids() {
            write(id, &mut text);
            ends.push(text.len());
        }
        Self { text, ends }
    }

    /// The piece of a function.
    pub(super) fn get(&self, id: FunctionId) -> &[u8] {
        &self.text[self.ends[id.index()]..self.ends[id.index() + 1]]
    }
}

/// Appends the digits of a number.
pub(super) fn push_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

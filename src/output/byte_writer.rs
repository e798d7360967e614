//! Caches text that many lines share, and buffers small writes into large ones.

use std::io::{self, Write};

use crate::calltree::Label;
use crate::profile::{FunctionId, Profile, Stack, StackId};

/// A piece of output for each function of a profile.
pub(super) struct FunctionTexts {
    text: Vec<u8>,
    /// The end of each piece, which is the start of the next one.
    ends: Vec<usize>,
}

impl FunctionTexts {
    /// Collects the pieces that `write` appends for each function.
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

    pub(super) fn get(&self, id: FunctionId) -> &[u8] {
        &self.text[self.ends[id.index()]..self.ends[id.index() + 1]]
    }
}

/// A piece of output for each label of a tree.
pub(super) struct LabelTexts {
    functions: FunctionTexts,
    no_stack: Vec<u8>,
    root: Vec<u8>,
}

impl LabelTexts {
    /// Collects the pieces that `write` appends for each label.
    pub(super) fn new(profile: &Profile, mut write: impl FnMut(Label, &mut Vec<u8>)) -> Self {
        let functions = FunctionTexts::new(profile, |id, out| write(Label::Function(id), out));
        let (mut no_stack, mut root) = (Vec::new(), Vec::new());
        write(Label::NoStack, &mut no_stack);
        write(Label::Root, &mut root);
        Self { functions, no_stack, root }
    }

    pub(super) fn get(&self, label: Label) -> &[u8] {
        match label {
            Label::Function(id) => self.functions.get(id),
            Label::NoStack => &self.no_stack,
            Label::Root => &self.root,
        }
    }
}

/// An output buffer that combines many small writes into few large ones.
pub(super) struct ByteWriter<'o> {
    /// The text that has not been written yet.
    pub(super) text: Vec<u8>,
    out: &'o mut dyn Write,
}

/// The buffer is written when it reaches this length.
const FULL: usize = 64 << 10;

impl<'o> ByteWriter<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        Self { text: Vec::with_capacity(FULL + FULL / 4), out }
    }

    /// Writes the buffer if it is full.
    pub(super) fn flush_if_full(&mut self) -> io::Result<()> {
        if self.text.len() < FULL { Ok(()) } else { self.finish() }
    }

    /// Writes the buffer.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let written = self.out.write_all(&self.text);
        self.text.clear();
        written
    }
}

/// Appends pieces of output in order.
pub(super) trait Put {
    /// The output buffer.
    fn bytes(&mut self) -> &mut Vec<u8>;

    fn put(&mut self, text: &[u8]) -> &mut Self {
        self.bytes().extend_from_slice(text);
        self
    }

    fn put_number(&mut self, number: u64) -> &mut Self {
        push_number(number, self.bytes());
        self
    }

    /// Appends a number, or `null`.
    fn put_optional(&mut self, number: Option<u64>) -> &mut Self {
        match number {
            Some(number) => self.put_number(number),
            None => self.put(b"null"),
        }
    }

    /// Appends a JSON string, or `null`.
    fn put_text(&mut self, text: Option<&str>) -> &mut Self {
        // Writing to a vector cannot fail, and every string can be encoded as JSON.
        let written = serde_json::to_writer(self.bytes(), &text);
        debug_assert!(written.is_ok());
        self
    }
}

impl Put for Vec<u8> {
    fn bytes(&mut self) -> &mut Vec<u8> {
        self
    }
}

impl Put for ByteWriter<'_> {
    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }
}

/// Appends the digits of a number.
pub(super) fn push_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends an address in the form of [`Address`](crate::units::Address): `0x` and hexadecimal digits.
pub(super) fn push_address(address: u64, out: &mut Vec<u8>) {
    let mut digits = *b"0x0000000000000000";
    let mut rest = address;
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b"0123456789abcdef"[(rest % 16) as usize];
        rest /= 16;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(b"0x");
    out.extend_from_slice(&digits[start..]);
}

/// Fills `path` with the stack rows from the root to `stack`.
fn stacks_root_first(profile: &Profile, stack: Option<StackId>, path: &mut Vec<Stack>) {
    path.clear();
    path.extend(std::iter::successors(stack, |&id| profile.stack(id).parent).map(|id| profile.stack(id)));
    path.reverse();
}

/// Formats stacks. The last text is cached, since consecutive samples often have the same stack.
#[derive(Default)]
pub(super) struct StackText {
    of: Option<StackId>,
    path: Vec<Stack>,
    text: Vec<u8>,
}

impl StackText {
    /// Returns the text that `write` makes of a stack, root first. Without a stack, `write` gets an empty path and must still write a
    /// placeholder.
    pub(super) fn get(
        &mut self,
        profile: &Profile,
        stack: Option<StackId>,
        write: impl FnOnce(&[Stack], &mut Vec<u8>),
    ) -> &[u8] {
        if self.of != stack || self.text.is_empty() {
            self.of = stack;
            self.text.clear();
            stacks_root_first(profile, stack, &mut self.path);
            write(&self.path, &mut self.text);
        }
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Address;

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        for number in [0, 1, 9, 10, 15, 16, 255, 4096, 1 << 47, u64::MAX / 10, u64::MAX] {
            let mut out = Vec::new();
            push_address(number, &mut out);
            out.push(b' ');
            push_number(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{} {number}", Address::new(number)));
        }
    }
}

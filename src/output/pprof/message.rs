//! The subset of protobuf that profiles need. A message is a sequence of fields. A field consists of a key (its number and the kind of its value) and
//! a value:
//!
//! ```text
//! 08 96 01          field 1, a number (kind 0): 150, seven bits per byte, lowest first
//! 12 03 61 62 63    field 2, bytes (kind 2): three of them, "abc"
//! ```
//!
//! Nested messages and lists of numbers are written as bytes. A protobuf crate would need a code generator or macros for only these two kinds.

use std::borrow::Cow;
use std::io;

use crate::hash::IndexSet;
use crate::output::byte_writer::ByteWriter;
use crate::varint;

const NUMBER: u64 = 0;
const BYTES: u64 = 2;

/// Appends a field that is a number. Zero is omitted, since readers treat an absent field as zero.
pub(super) fn put_number(field: u64, number: u64, out: &mut Vec<u8>) {
    if number > 0 {
        varint::write(out, field << 3 | NUMBER);
        varint::write(out, number);
    }
}

/// Appends a field with a string or a message. Empty fields are also written, since positions in a list matter.
pub(super) fn put_bytes(field: u64, bytes: &[u8], out: &mut Vec<u8>) {
    varint::write(out, field << 3 | BYTES);
    varint::write(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a field with a list of numbers, including zeros.
pub(super) fn put_numbers(field: u64, numbers: &[u64], out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    varint::write(out, field << 3 | BYTES);
    varint::write(out, numbers.iter().map(|&number| varint::length(number)).sum());
    for &number in numbers {
        varint::write(out, number);
    }
}

/// The string table built so far. The first string is empty.
pub(super) struct Strings<'p>(IndexSet<Cow<'p, str>>);

impl<'p> Strings<'p> {
    pub(super) fn new() -> Self {
        Self([Cow::Borrowed("")].into_iter().collect())
    }

    /// Returns the index of a string, and adds it if necessary.
    pub(super) fn id(&mut self, text: impl Into<Cow<'p, str>>) -> u64 {
        self.0.insert_full(text.into()).0 as u64
    }

    /// Writes all strings in order.
    pub(super) fn write(&self, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        for text in &self.0 {
            put_bytes(6, text.as_bytes(), &mut writer.text);
            writer.flush_if_full()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_encoding_are_met() {
        let mut out = Vec::new();
        put_number(1, 150, &mut out);
        put_bytes(2, b"testing", &mut out);
        put_numbers(6, &[3, 270, 86942], &mut out);
        put_number(7, 0, &mut out);
        let expected = [
            &[0x08, 0x96, 0x01][..],
            &[0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67],
            &[0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05],
        ];
        assert_eq!(out, expected.concat());
    }

    #[test]
    fn numbers_of_every_length_come_back() {
        for shift in 0..64 {
            for number in [1_u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let mut out = Vec::new();
                varint::write(&mut out, number);
                assert_eq!(out.len() as u64, varint::length(number), "{number}");
                let read = out.iter().rev().fold(0_u64, |read, &byte| read << 7 | u64::from(byte & 0x7f));
                assert_eq!(read, number);
                assert!(out[..out.len() - 1].iter().all(|byte| byte & 0x80 > 0) && out[out.len() - 1] < 0x80);
            }
        }
    }
}

//! The little of protobuf that a profile takes. A message is its fields, one after the other; a field is a key (its number,
//! and how its value is written) and a value:
//!
//! ```text
//! 08 96 01          field 1, a number (kind 0): 150, seven bits a byte, the lowest first
//! 12 03 61 62 63    field 2, bytes (kind 2): three of them, "abc"
//! ```
//!
//! A message inside a message, and numbers that a field has many of, are bytes. A crate would bring a code generator, or
//! macros, for these two kinds.

use crate::varint;

const NUMBER: u64 = 0;
const BYTES: u64 = 2;

/// Appends a field that is a number. Zero is left out, since readers take an absent field for it.
pub(super) fn put_number(field: u64, number: u64, out: &mut Vec<u8>) {
    if number > 0 {
        varint::write(out, field << 3 | NUMBER);
        varint::write(out, number);
    }
}

/// Appends a field that is a text or a message. An empty one stands there too: places in a list count.
pub(super) fn put_bytes(field: u64, bytes: &[u8], out: &mut Vec<u8>) {
    varint::write(out, field << 3 | BYTES);
    varint::write(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a field that is many numbers. Zeros stand there too.
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
}

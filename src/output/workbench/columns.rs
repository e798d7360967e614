//! Columns of numbers, each in the smallest of three encodings.
//!
//! | encoding | bytes |
//! |---|---|
//! | `constant` | none: the head contains the value of all rows |
//! | `varint` | each value as LEB128: seven bits per byte, lowest first |
//! | `delta` | the zigzag difference of each value from the previous one (initially 0), modulo 2⁶⁴, as LEB128 |
//!
//! gzip finds repetitions, so no other packing is needed.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::varint;

/// The size of the write buffer in bytes.
const BUFFER: usize = 64 << 10;

/// A column: its name, its values and their encoding.
pub(super) struct Column<'c> {
    name: Cow<'static, str>,
    rows: usize,
    bytes: u64,
    encoding: Encoding,
    values: Box<dyn Fn() -> Box<dyn Iterator<Item = u64> + 'c> + 'c>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Constant(u64),
    Varint,
    Delta,
}

impl<'c> Column<'c> {
    /// Creates a column of these values. They are iterated twice: to choose the encoding, and to write them.
    pub(super) fn new<I: Iterator<Item = u64> + 'c>(
        name: impl Into<Cow<'static, str>>,
        values: impl Fn() -> I + 'c,
    ) -> Self {
        let (rows, bytes, encoding) = encoding_of(values());
        Self { name: name.into(), rows, bytes, encoding, values: Box::new(move || Box::new(values())) }
    }

    /// The number of bytes that [`write`](Self::write) writes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The column's entry in the head.
    pub(super) fn head(&self) -> Value {
        let Self { name, rows, encoding, bytes, .. } = self;
        match encoding {
            Encoding::Constant(value) => {
                json!({"name": name, "rows": rows, "encoding": "constant", "value": exact(*value)})
            }
            Encoding::Varint => json!({"name": name, "rows": rows, "encoding": "varint", "bytes": bytes}),
            Encoding::Delta => json!({"name": name, "rows": rows, "encoding": "delta", "bytes": bytes}),
        }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut buffer = Vec::with_capacity(BUFFER + 16);
        let mut before = 0;
        for value in (self.values)() {
            match self.encoding {
                Encoding::Constant(_) => return Ok(()),
                Encoding::Varint => varint::write(&mut buffer, value),
                Encoding::Delta => varint::write(&mut buffer, zigzag(value, before)),
            }
            before = value;
            if buffer.len() >= BUFFER {
                out.write_all(&buffer)?;
                buffer.clear();
            }
        }
        out.write_all(&buffer)
    }
}

/// A number that no JSON reader rounds: above 2⁵³ − 1 it is written as a string.
pub(super) fn exact(number: u64) -> Value {
    if number < 1 << 53 { json!(number) } else { json!(number.to_string()) }
}

/// Returns the number of values, their size in bytes, and the smallest encoding.
fn encoding_of(values: impl Iterator<Item = u64>) -> (usize, u64, Encoding) {
    let (mut rows, mut plain, mut delta, mut before) = (0, 0, 0, 0);
    let (mut first, mut is_constant) = (0, true);
    for value in values {
        if rows == 0 {
            first = value;
        }
        is_constant &= value == first;
        plain += varint::length(value);
        delta += varint::length(zigzag(value, before));
        before = value;
        rows += 1;
    }
    if is_constant {
        (rows, 0, Encoding::Constant(first))
    } else if delta < plain {
        (rows, delta, Encoding::Delta)
    } else {
        (rows, plain, Encoding::Varint)
    }
}

/// Encodes the difference as an unsigned number: 0, −1, 1, −2, 2 … become 0, 1, 2, 3, 4 …
fn zigzag(value: u64, before: u64) -> u64 {
    let difference = value.wrapping_sub(before) as i64;
    ((difference << 1) ^ (difference >> 63)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(values: &'static [u64]) -> (Value, Vec<u8>) {
        let column = Column::new("x", || values.iter().copied());
        let mut bytes = Vec::new();
        column.write(&mut bytes).unwrap();
        assert_eq!(column.bytes(), bytes.len() as u64);
        (column.head()["encoding"].clone(), bytes)
    }

    #[test]
    fn the_smallest_form_is_written() {
        assert_eq!(written(&[7, 7, 7]), (json!("constant"), vec![]));
        assert_eq!(written(&[]), (json!("constant"), vec![]));
        assert_eq!(written(&[1, 300, 2]), (json!("varint"), vec![1, 0xac, 2, 2]));
        assert_eq!(written(&[1_000, 1_001, 999]), (json!("delta"), vec![0xd0, 0x0f, 2, 3]));
    }

    #[test]
    fn the_largest_numbers_fit() {
        let (encoding, bytes) = written(&[u64::MAX, 0]);
        // The first difference is 2⁶⁴ − 1, which is −1 modulo 2⁶⁴. The second is 0 − (2⁶⁴ − 1), which is 1.
        assert_eq!((encoding, bytes), (json!("delta"), vec![1, 2]));
        assert_eq!(exact(u64::MAX), json!("18446744073709551615"));
        assert_eq!(exact((1 << 53) - 1), json!(9_007_199_254_740_991_u64));
        assert_eq!(varint::length(u64::MAX), 10);
        assert_eq!(varint::length(0), 1);
    }
}

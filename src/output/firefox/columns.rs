//! Table columns, and times in them.

use std::io;

use crate::output::byte_writer::{ByteWriter, Put, push_number};

/// Appends a column of a table after another member: `,"NAME":[…]`.
pub(super) fn column<T>(
    writer: &mut ByteWriter<'_>,
    name: &str,
    rows: impl Iterator<Item = T>,
    mut push: impl FnMut(T, &mut Vec<u8>),
) -> io::Result<()> {
    writer.put(b",\n\"").put(name.as_bytes());
    writer.put(b"\":[");
    for (index, row) in rows.enumerate() {
        if index > 0 {
            writer.put(b",");
        }
        push(row, &mut writer.text);
        writer.flush_if_full()?;
    }
    writer.put(b"]");
    Ok(())
}

/// Appends nanoseconds as exact milliseconds: `1`, `0.5`, `648.438208`.
pub(super) fn push_millis(nanos: u64, out: &mut Vec<u8>) {
    const MILLI: u64 = 1_000_000;
    push_number(nanos / MILLI, out);
    let mut fraction = nanos % MILLI;
    if fraction == 0 {
        return;
    }
    let mut digits = *b".000000";
    for digit in digits[1..].iter_mut().rev() {
        *digit = b'0' + (fraction % 10) as u8;
        fraction /= 10;
    }
    let length = digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
    out.extend_from_slice(&digits[..length]);
}

/// Begins a table with its length, to be followed by columns.
pub(super) fn length(rows: usize, writer: &mut ByteWriter<'_>) {
    writer.put(b"\"length\":").put_number(rows as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_exact() {
        for (nanos, text) in [
            (0, "0"),
            (1, "0.000001"),
            (500_000, "0.5"),
            (1_000_000, "1"),
            (10_000_000, "10"),
            (648_438_208, "648.438208"),
            (1_000_010, "1.00001"),
            (u64::MAX, "18446744073709.551615"),
        ] {
            let mut out = Vec::new();
            push_millis(nanos, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }
}

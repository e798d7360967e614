//! Variable-length integers (LEB128): seven bits per byte, lowest bits first; the last byte is below 128.

/// Appends a number.
#[cfg(any(feature = "compression", feature = "fleet"))]
pub(crate) fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The encoded size of a number in bytes: one for every seven bits, at least one.
#[cfg(feature = "compression")]
pub(crate) fn length(number: u64) -> u64 {
    u64::from(64 - (number | 1).leading_zeros()).div_ceil(7)
}

/// Reads a number from the front; `None` if it is incomplete.
pub(crate) fn read(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
        if shift > 63 {
            return None;
        }
    }
}

#[cfg(all(test, feature = "compression"))]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let mut bytes = Vec::new();
        let numbers = [0, 1, 127, 128, 300, 1 << 35, u64::MAX - 1, u64::MAX];
        numbers.iter().for_each(|&number| write(&mut bytes, number));
        assert_eq!((bytes.len(), &bytes[..5]), (1 + 1 + 1 + 2 + 2 + 6 + 10 + 10, &[0, 1, 127, 128, 1][..]));
        assert_eq!(numbers.map(length).iter().sum::<u64>(), bytes.len() as u64);
        let mut rest = &bytes[..];
        assert_eq!(numbers.map(|_| read(&mut rest)), numbers.map(Some));
        assert_eq!((rest.len(), read(&mut rest), read(&mut &[0x80][..])), (0, None, None));
        assert_eq!(read(&mut &[0xff; 11][..]), None, "more than 64 bits");
    }
}

//! Little-endian numbers at fixed places of rows and headers, whose layout was checked; and room that is empty.

/// The number of 4 bytes at `at`; 0 past the end, where no layout leads.
#[inline]
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word))
}

/// The number of 8 bytes at `at`; 0 past the end.
#[inline]
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u64::from_le_bytes(*word))
}

/// The position of the first byte that is not zero. Whole lines of the processor's cache are looked at: there may be megabytes of them.
pub(super) fn first_not_zero(bytes: &[u8]) -> Option<usize> {
    let is_zero = |line: &[u8]| line.iter().fold(0, |all, byte| all | byte) == 0;
    let line = 64 * bytes.chunks(64).position(|line| !is_zero(line))?;
    bytes[line..].iter().position(|&byte| byte != 0).map(|odd| line + odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_zero_is_found_anywhere() {
        let mut bytes = [0; 200];
        assert_eq!(first_not_zero(&bytes), None);
        assert_eq!(first_not_zero(&[]), None);
        for at in (0..bytes.len()).rev() {
            bytes[at] = 0x80;
            assert_eq!(first_not_zero(&bytes), Some(at));
        }
    }
}

//! Scans numbers, attribute values and text, eight bytes at a time.
//!
//! The scanned bytes are followed by [`PADDING`] zeros, so looking ahead is always safe.

/// The number of zeros after the scanned bytes.
pub(in super::super) const PADDING: usize = 32;

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// Returns the bytes that one step examines, starting at `at`.
#[inline(always)]
pub(super) fn look(bytes: &[u8], at: usize) -> Option<&[u8; PADDING]> {
    bytes.get(at..)?.first_chunk()
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Up to eight digits in the last bytes of a word, preceded by zeros.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digits(u64);

impl Digits {
    /// The first `count` (1 to 8) bytes of `word`, which should be digits.
    #[inline(always)]
    pub(super) fn first_of(word: u64, count: usize) -> Self {
        Self((word ^ (ONES * u64::from(b'0'))) << ((64 - 8 * count) % 64))
    }

    /// Returns 0 if all are digits.
    #[inline(always)]
    pub(super) fn others(self) -> u64 {
        // The sum sets the high bit of a byte above 9; the effect of a carry on later bytes does not matter.
        (self.0.wrapping_add(ONES * 0x76) | self.0) & HIGH
    }

    /// The value of the digits.
    #[inline(always)]
    pub(super) fn number(self) -> u64 {
        // Combines digits to pairs, fours and eights. Each product contains a number plus 10, 100 or 10,000 times the one before it; its lower
        // bits are irrelevant.
        let pairs = (self.0.wrapping_mul(10 << 8 | 1) >> 8) & 0x00ff_00ff_00ff_00ff;
        let fours = (pairs.wrapping_mul(100 << 16 | 1) >> 16) & 0x0000_ffff_0000_ffff;
        fours.wrapping_mul(10_000 << 32 | 1) >> 32
    }
}

/// Returns the number of leading digits in the eight bytes of `word`, and their value.
#[inline(always)]
pub(super) fn digits(word: u64) -> (usize, u64) {
    let others = Digits::first_of(word, 8).others();
    let count = others.trailing_zeros() as usize / 8;
    if count == 0 {
        return (0, 0);
    }
    (count, Digits::first_of(word, count).number())
}

/// Parses the decimal number at `at`, of up to 19 digits. Returns it with its end.
#[inline(always)]
pub(super) fn number(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let (count, number) = digits(word(bytes, at)?);
    if count < 8 {
        return (count > 0).then_some((number, at + count));
    }
    long_number(bytes, at + 8, number)
}

#[inline(always)]
fn long_number(bytes: &[u8], at: usize, start: u64) -> Option<(u64, usize)> {
    let (count, number) = digits(word(bytes, at)?);
    let all = start * POWERS[count] + number;
    if count < 8 {
        return Some((all, at + count));
    }
    let (count, number) = digits(word(bytes, at + 8)?);
    // 19 digits always fit.
    (count <= 3).then(|| (all * POWERS[count] + number, at + 8 + count))
}

const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The length of a displayed time, unless it is at least one hour.
pub(super) const TIME_LENGTH: usize = "00:00.648.438".len();

/// Returns the end of the `">` after a time such as `00:00.648.438`.
#[inline(always)]
pub(super) fn time_end(bytes: &[u8], at: usize) -> Option<usize> {
    let (first, last) = (word(bytes, at)?, word(bytes, at + TIME_LENGTH - 8)?);
    let is_usual = not_time(first) | not_time(last) == 0;
    let end = if is_usual { at + TIME_LENGTH } else { value_end(bytes, at)? };
    if !is_usual && memchr::memchr(b'&', &bytes[at..end]).is_some() {
        return None;
    }
    (bytes.get(end..end + 2)? == b"\">").then_some(end + 2)
}

/// Returns 0 if all bytes of `word` are in the range `.` to `:`, which includes the digits.
#[inline(always)]
pub(super) fn not_time(word: u64) -> u64 {
    // For an ASCII byte, the sum has its high bit set if the byte is larger; the difference, if it is not smaller.
    let larger = word.wrapping_add(ONES * u64::from(0x7f - b':'));
    let not_smaller = (word | HIGH).wrapping_sub(ONES * u64::from(b'.'));
    (larger | word | !not_smaller) & HIGH
}

/// Sets the high bit of the bytes of `word` that equal `byte`. Only the first mark is reliable.
#[inline(always)]
fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * u64::from(byte));
    difference.wrapping_sub(ONES) & !difference & HIGH
}

/// Sets the high bit of the bytes of `word` that are control characters or not ASCII. Only the first mark is reliable.
#[inline(always)]
fn unusual(word: u64) -> u64 {
    (word.wrapping_sub(ONES * 0x20) | word) & HIGH
}

/// Returns the end of the attribute value at `at`, where its quote is. `None` for a value that Instruments never writes (with `<`, control
/// characters or invalid UTF-8).
#[inline(always)]
pub(super) fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    plain_end(bytes, at, b'"', b'<')
}

/// Returns the end of the text at `at`, where the `<` of the next tag is. `None` for text with `>`, entities, control characters or invalid
/// UTF-8.
#[inline(always)]
pub(super) fn text_end(bytes: &[u8], at: usize) -> Option<usize> {
    let end = plain_end(bytes, at, b'<', b'&')?;
    // XML forbids `>` after two brackets; leave that case to the parser.
    memchr::memchr(b'>', &bytes[at..end]).is_none().then_some(end)
}

/// Returns the position of `end`, unless `not` or a control character precedes it.
#[inline(always)]
fn plain_end(bytes: &[u8], at: usize, end: u8, not: u8) -> Option<usize> {
    let mut next = at;
    loop {
        let word = word(bytes, next)?;
        let found = equal(word, end) | equal(word, not) | unusual(word);
        if found != 0 {
            let first = next + found.trailing_zeros() as usize / 8;
            return match bytes[first] {
                byte if byte == end => Some(first),
                0x80.. => end_of_unicode(bytes, at, end, not),
                _ => None,
            };
        }
        next += 8;
    }
}

/// Like [`plain_end`], for text beyond ASCII.
#[cold]
fn end_of_unicode(bytes: &[u8], at: usize, end: u8, not: u8) -> Option<usize> {
    let length = bytes[at..].iter().position(|&byte| byte == end || byte == not || byte < 0x20)?;
    let is_end = bytes[at + length] == end;
    let text = std::str::from_utf8(&bytes[at..at + length]).ok()?;
    (is_end && !text.contains(['\u{fffe}', '\u{ffff}'])).then_some(at + length)
}

/// True if every `&` in a value starts one of the five predefined entities.
#[inline]
pub(super) fn has_known_entities(value: &[u8]) -> bool {
    memchr::memchr_iter(b'&', value).all(|at| {
        let rest = &value[at + 1..];
        [&b"amp;"[..], b"lt;", b"gt;", b"quot;", b"apos;"].iter().any(|entity| rest.starts_with(entity))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(text: &[u8]) -> Vec<u8> {
        [text, &[0; PADDING]].concat()
    }

    #[test]
    fn numbers_of_any_length() {
        for number_of_digits in 1..=19 {
            for digit in 1..=9_u64 {
                let text: String = (0..number_of_digits).map(|place| ((digit + place) % 10).to_string()).collect();
                for after in ["\"", "<", "", "a", "\u{e9}", ":", "/", "\u{ff}"] {
                    let bytes = padded(format!("x{text}{after}").as_bytes());
                    let expected = Some((text.parse::<u64>().unwrap(), 1 + text.len()));
                    assert_eq!(number(&bytes, 1), expected, "{text}{after}");
                }
            }
        }
        assert_eq!(number(&padded(b"9999999999999999999\""), 0), Some((9_999_999_999_999_999_999, 19)));
        assert_eq!(number(&padded(b"10000000000000000000"), 0), None, "20 digits may not fit");
        for other in ["", "-1", "+1", " 1", "x"] {
            assert_eq!(number(&padded(other.as_bytes()), 0), None, "{other}");
        }
        assert_eq!(number(&padded(b"007\""), 0), Some((7, 3)));
    }

    #[test]
    fn times_are_of_few_characters() {
        let is_usual = |byte: u8| (b'.'..=b':').contains(&byte);
        for byte in 0..=u8::MAX {
            for other in [b'0', b'.', b':'] {
                for place in 0..8 {
                    let mut bytes = [other; 8];
                    bytes[place] = byte;
                    assert_eq!(not_time(u64::from_le_bytes(bytes)) == 0, is_usual(byte), "{bytes:?}");
                }
            }
        }
        for (text, expected) in
            [("00:00.648.438\">", Some(15)), ("00:00.648.4\">x", Some(13)), ("00:00.648<438\">", None)]
        {
            assert_eq!(time_end(&padded(text.as_bytes()), 0), expected, "{text}");
        }
    }

    #[test]
    fn values_end_at_their_quote_and_text_at_a_tag() {
        for length in 0..40 {
            let value = "v".repeat(length);
            assert_eq!(value_end(&padded(format!("{value}\" x").as_bytes()), 0), Some(length));
            assert_eq!(text_end(&padded(format!("{value}</").as_bytes()), 0), Some(length));
            assert_eq!(value_end(&padded(format!("\u{2190}{value}\"").as_bytes()), 0), Some(length + 3));
            for bad in ["<", "\n", "\t", ""] {
                assert_eq!(value_end(&padded(format!("{value}{bad}").as_bytes()), 0), None, "{value}{bad:?}");
                assert_eq!(
                    value_end(&padded(format!("\u{2190}{value}{bad}\"").as_bytes()), 0),
                    match bad {
                        "" => Some(length + 3),
                        _ => None,
                    }
                );
            }
            for bad in ["&amp;<", "\n<", ""] {
                assert_eq!(text_end(&padded(format!("{value}{bad}").as_bytes()), 0), None, "{value}{bad:?}");
            }
        }
        assert_eq!(value_end(&padded(b"a\xff\xfe\""), 0), None, "not UTF-8");
        assert_eq!(value_end(&padded(b"a>b&lt;\""), 0), Some(7));
    }

    #[test]
    fn entities_are_known_or_not() {
        for known in [&b""[..], b"a &lt; b &gt; c", b"&amp;&quot;&apos;"] {
            assert!(has_known_entities(known));
        }
        for unknown in [&b"&"[..], b"a & b", b"&lt", b"&#60;", b"&nbsp;"] {
            assert!(!has_known_entities(unknown));
        }
    }
}

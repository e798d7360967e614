//! Parses the dates of tables of contents: ISO 8601 with an offset.

use crate::calendar::days_since_1970;
use crate::units::Nanos;

/// Parses a date such as `2026-03-05T17:27:38.879Z` or `2026-03-05T18:27:38.879+01:00` to the time since 1970. Digits after the ninth decimal are
/// dropped. `None` if the text is not a date, has no offset, or is before 1970 or after 2554.
pub(crate) fn since_1970(text: &str) -> Option<Nanos> {
    let (date, time) = text.trim().split_once('T')?;
    let offset_at = time.find(['Z', '+', '-'])?;
    let (time, offset) = time.split_at(offset_at);
    let [year, month, day] = numbers(date, '-')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [hour, minute, second] = numbers(time, ':')?;
    // A leap second has number 60.
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day) && year <= 9_999;
    if !is_date || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days_since_1970(year.cast_signed(), month.cast_signed(), day.cast_signed());
    let local = ((u64::try_from(days).ok()? * 24 + hour) * 60 + minute) * 60 + second;
    let seconds = local.checked_add_signed(-seconds_of_offset(offset)?)?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos_of_fraction(fraction)?).map(Nanos::from_nanos)
}

/// Parses three numbers with a separator between them.
fn numbers(text: &str, separator: char) -> Option<[u64; 3]> {
    let mut parts = text.split(separator).map(digits);
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

/// Parses a number of up to four digits.
fn digits(text: &str) -> Option<u64> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// Converts the digits after a decimal point to nanoseconds; no digits mean zero.
pub(super) fn nanos_of_fraction(digits: &str) -> Option<u64> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{digits:0<9}").get(..9)?.parse().ok()
}

/// Parses `Z`, `+01:00`, `-0330` or `+01` to seconds.
fn seconds_of_offset(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let (sign, digits_of) = text.split_at_checked(1)?;
    let (hours, minutes) = match (digits_of.split_once(':'), digits_of.len()) {
        (Some(parts), _) => parts,
        (None, 4) => digits_of.split_at_checked(2)?,
        _ => (digits_of, "0"),
    };
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    let seconds = i64::try_from((hours * 60 + minutes) * 60).ok()?;
    let is_offset = hours <= 23 && minutes <= 59;
    is_offset.then_some(if sign == "-" { -seconds } else { seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_other_programs() {
        // `date -u -d TEXT +%s%N`.
        for (text, nanos) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T00:00:00.000Z", 951_782_400_000_000_000),
            ("2026-03-05T17:27:38.879Z", 1_772_731_658_879_000_000),
            ("2026-03-05T18:27:38.879+01:00", 1_772_731_658_879_000_000),
            ("2026-03-05T13:57:38.879-0330", 1_772_731_658_879_000_000),
            ("2023-12-31T20:00:00.5-08", 1_704_081_600_500_000_000),
            ("2100-02-28T23:59:59.123456789Z", 4_107_542_399_123_456_789),
            ("2100-03-01T00:00:00.1234567899Z", 4_107_542_400_123_456_789),
            (" 2024-02-29T12:00:00.000+02:00\n", 1_709_200_800_000_000_000),
        ] {
            assert_eq!(since_1970(text).map(Nanos::as_nanos), Some(nanos), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "2026-03-05",
            "2026-03-05T17:27:38",
            "2026-03-05T17:27Z",
            "2026-13-05T17:27:38Z",
            "2026-00-05T17:27:38Z",
            "2026-03-32T17:27:38Z",
            "2026-03-05T24:27:38Z",
            "2026-03-05T17:27:38.8x9Z",
            "2026-03-05T17:27:38+25:00",
            "2026-03-05T17:27:38+01:00:00",
            "1969-12-31T23:59:59Z",
            "0000-01-01T00:00:00Z",
            "9999-12-31T23:59:59Z",
            "2026-03-05T17:27:38Zürich",
            "+026-03-05T17:27:38Z",
            "T:Z",
        ] {
            assert_eq!(since_1970(text), None, "{text}");
        }
    }
}

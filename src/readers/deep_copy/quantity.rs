//! Cells with a weight: `846.00 ms`, `96.08 Gc  100.0%`, `4273.0ms   99.9%`, `-`.

use crate::units::Unit;

/// The units of weights, and how many of the smallest they are.
const UNITS: [(&str, Unit, u64); 15] = [
    ("ns", Unit::Nanoseconds, 1),
    ("µs", Unit::Nanoseconds, 1_000),
    ("μs", Unit::Nanoseconds, 1_000),
    ("us", Unit::Nanoseconds, 1_000),
    ("ms", Unit::Nanoseconds, 1_000_000),
    ("s", Unit::Nanoseconds, 1_000_000_000),
    ("min", Unit::Nanoseconds, 60_000_000_000),
    ("h", Unit::Nanoseconds, 3_600_000_000_000),
    ("cycles", Unit::Cycles, 1),
    ("c", Unit::Cycles, 1),
    ("Kc", Unit::Cycles, 1_000),
    ("Mc", Unit::Cycles, 1_000_000),
    ("Gc", Unit::Cycles, 1_000_000_000),
    ("B", Unit::Bytes, 1),
    ("Bytes", Unit::Bytes, 1),
];

const ROUNDED_BYTES: &str = "allocations in KB, MB or GB are rounded, so the bytes that a function allocated itself cannot be computed; open the \
                             recording in Instruments";
const AMBIGUOUS: &str = "it is unclear whether a number has thousands or three decimals; copy the table with the language of the Mac set to English";

/// A weight as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) value: u64,
    pub(super) unit: Unit,
    /// The value of 1 in its last digit; 0 if the quantity is exact.
    pub(super) digit: u64,
}

impl Quantity {
    /// Parses a cell without its percentage. `unit` applies to numbers without a unit, and `mark` is the decimal mark, if it is known.
    pub(super) fn parse(cell: &str, unit: Option<&str>, mark: Option<char>) -> Result<Self, &'static str> {
        let amount = without_percentage(cell);
        let end = amount.rfind(|character: char| character.is_ascii_digit()).map_or(0, |last| last + 1);
        let (number, written) = amount.split_at_checked(end).unwrap_or_default();
        let unit = Some(written.trim()).filter(|unit| !unit.is_empty()).or(unit).ok_or("a weight has no unit")?;
        if matches!(unit, "KB" | "MB" | "GB" | "TB" | "KiB" | "MiB" | "GiB" | "TiB") {
            return Err(ROUNDED_BYTES);
        }
        let known = UNITS.iter().find(|(name, ..)| *name == unit);
        let &(_, unit, scale) = known.ok_or("a weight is not a number with a unit of time, cycles or bytes")?;
        let (digits, decimals) = parts(number, mark)?;
        let divisor = 10_u128.checked_pow(decimals).ok_or(NO_NUMBER)?;
        let scaled = u128::from(digits) * u128::from(scale);
        if scaled % divisor > 0 {
            return Err("a weight is less than the smallest unit");
        }
        let value = u64::try_from(scaled / divisor).map_err(|_| "a weight is too large")?;
        let digit = if value == 0 || scale == 1 { 0 } else { u128::from(scale) / divisor };
        Ok(Self { value, unit, digit: digit as u64 })
    }
}

/// The decimal mark of the percentage in a cell.
pub(super) fn decimal_mark(cell: &str) -> Option<char> {
    let percentage = cell.trim().strip_suffix('%')?.trim_end();
    percentage.rsplit(char::is_whitespace).next()?.chars().rfind(|mark| matches!(mark, '.' | ','))
}

fn without_percentage(cell: &str) -> &str {
    let cell = cell.trim();
    let amount = cell.strip_suffix('%').and_then(|rest| rest.trim_end().rsplit_once(char::is_whitespace));
    amount.map_or(cell, |(amount, _)| amount.trim_end())
}

const NO_NUMBER: &str = "a weight is not a number";

/// The digits of a number, and how many of them are decimals.
fn parts(number: &str, mark: Option<char>) -> Result<(u64, u32), &'static str> {
    let mark = match mark {
        Some(mark) => Some(mark),
        None => decimal_mark_of(number)?,
    };
    let (whole, decimals) = mark.and_then(|mark| number.split_once(mark)).unwrap_or((number, ""));
    let separator = whole.chars().find(|character| matches!(character, '.' | ',' | '\u{a0}' | '\u{202f}'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut digits = String::new();
    match separator {
        Some(_) if whole.starts_with('0') => return Err(NO_NUMBER),
        Some(separator) => {
            for (index, group) in whole.split(separator).enumerate() {
                if group.len() > 3 || (index > 0 && group.len() < 3) || !is_number(group) {
                    return Err(NO_NUMBER);
                }
                digits.push_str(group);
            }
        }
        None if is_number(whole) => digits.push_str(whole),
        None => return Err(NO_NUMBER),
    }
    if !decimals.is_empty() && !is_number(decimals)
        || (decimals.is_empty() && mark.is_some_and(|mark| number.contains(mark)))
    {
        return Err(NO_NUMBER);
    }
    digits.push_str(decimals);
    Ok((digits.parse().map_err(|_| "a weight has too many digits")?, decimals.len() as u32))
}

/// The decimal mark of a number, if it has one and nothing else says which.
fn decimal_mark_of(number: &str) -> Result<Option<char>, &'static str> {
    let Some((at, mark)) = number.char_indices().rfind(|(_, mark)| matches!(mark, '.' | ',')) else { return Ok(None) };
    let (whole, decimals) = (&number[..at], &number[at + 1..]);
    let is_plain = whole.bytes().all(|byte| byte.is_ascii_digit());
    match () {
        () if whole.contains(mark) => Ok(None),
        () if is_plain && decimals.len() == 3 && whole.len() <= 3 && whole != "0" => Err(AMBIGUOUS),
        () => Ok(Some(mark)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cell: &str) -> Option<(u64, Unit, u64)> {
        let read = Quantity::parse(cell, None, decimal_mark(cell)).ok()?;
        Some((read.value, read.unit, read.digit))
    }

    #[test]
    fn weights_of_every_form() {
        let time = |value, digit| Some((value, Unit::Nanoseconds, digit));
        let cycles = |value, digit| Some((value, Unit::Cycles, digit));
        for (cell, expected) in [
            ("846.00 ms", time(846_000_000, 10_000)),
            ("4.93 s  \u{2007}0.0%", time(4_930_000_000, 10_000_000)),
            ("4273.0ms   99.9%", time(4_273_000_000, 100_000)),
            ("0 s", time(0, 0)),
            ("1.50 min", time(90_000_000_000, 600_000_000)),
            ("12 µs", time(12_000, 1_000)),
            ("96.08 Gc  100.0%", cycles(96_080_000_000, 10_000_000)),
            ("532 cycles    0.0%", cycles(532, 0)),
            ("96,08 Gc  100,0\u{a0}%", cycles(96_080_000_000, 10_000_000)),
            ("1,234 ms  3.0%", time(1_234_000_000, 1_000_000)),
            ("1.234 ms  3.0%", time(1_234_000, 1_000)),
            ("1.234 ms  3,0%", time(1_234_000_000, 1_000_000)),
            ("1\u{202f}234,5 ms", time(1_234_500_000, 100_000)),
            ("1,234,567 ns", time(1_234_567, 0)),
            ("0,125 ms", time(125_000, 1_000)),
            (" 48 Bytes     100.0%", Some((48, Unit::Bytes, 0))),
            ("4,93 s  100.0%", None),
            ("12,34 ms  3.0%", None),
            ("0,125 ms  3.0%", None),
            ("1,234 ms", None),
            ("1.234 ms", None),
            ("1.2.3 ms  1,0%", None),
            ("1.5 ns", None),
            ("1. ms 1.0%", None),
            ("5", None),
            ("-1 ms", None),
            ("5 parsec", None),
            ("429.93 MB     100.0%", None),
            ("99999999999 h", None),
            ("", None),
        ] {
            assert_eq!(read(cell), expected, "{cell}");
        }
    }
}

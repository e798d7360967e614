//! Parses rounded decimal numbers, with or without thousands separators.

/// A rounded number in base units, such as nanoseconds for `846.00` milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rounded {
    pub(super) value: u64,
    /// The value of one unit in its last digit.
    pub(super) digit: u64,
}

const SEPARATORS: [char; 4] = ['.', ',', '\u{a0}', '\u{202f}'];

impl Rounded {
    /// Parses a number whose unit is `scale` base units. `mark` is the decimal mark, if known.
    pub(super) fn parse(number: &str, mark: Option<char>, scale: u64) -> Result<Self, &'static str> {
        let mark = if mark.is_none() { decimal_mark(number)? } else { mark };
        let (whole, decimals) =
            mark.and_then(|mark| number.split_once(mark)).map_or((number, None), |(whole, rest)| (whole, Some(rest)));
        let groups: Vec<&str> = whole.split(SEPARATORS).collect();
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_group = |(index, group): (usize, &&str)| match index {
            0 => group.len() <= 3 && !group.starts_with('0'),
            _ => group.len() == 3,
        };
        let is_grouped = groups.len() == 1 || groups.iter().enumerate().all(is_group);
        if !is_grouped || !groups.iter().chain(&decimals).all(|digits| is_number(digits)) {
            return Err("a number has an unknown form");
        }
        let decimals = decimals.unwrap_or_default();
        let too_long = "a number is too large or too fine";
        let digits: u64 = (groups.concat() + decimals).parse().map_err(|_| too_long)?;
        let divisor = 10_u64.checked_pow(decimals.len() as u32).map(u128::from).ok_or(too_long)?;
        let scaled = u128::from(digits) * u128::from(scale);
        if scaled % divisor > 0 {
            return Err("a number is finer than its unit");
        }
        let value = u64::try_from(scaled / divisor).map_err(|_| too_long)?;
        Ok(Self { value, digit: (u128::from(scale) / divisor) as u64 })
    }
}

/// Detects the decimal mark of a number, if any. Fails for a number such as `1,234`, in which the comma may separate thousands or decimals.
fn decimal_mark(number: &str) -> Result<Option<char>, &'static str> {
    let Some((whole, decimals)) = number.rsplit_once(['.', ',']) else { return Ok(None) };
    let mark = number.chars().rfind(|mark| matches!(mark, '.' | ','));
    let has_thousands = mark.is_some_and(|mark| whole.contains(mark));
    let is_either = decimals.len() == 3 && whole.len() <= 3 && whole != "0";
    match (has_thousands, is_either) {
        (true, _) => Ok(None),
        (false, true) => Err(
            "it is unclear whether a separator marks thousands or decimals; copy it with the language set to English",
        ),
        (false, false) => Ok(mark),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_form() {
        for (number, mark, expected) in [
            ("846.00", None, Some((846_000, 10))),
            ("846,00", None, Some((846_000, 10))),
            ("4273.0", Some('.'), Some((4_273_000, 100))),
            ("50", Some('.'), Some((50_000, 1_000))),
            ("0", None, Some((0, 1_000))),
            ("1,234", Some('.'), Some((1_234_000, 1_000))),
            ("1.234", Some('.'), Some((1_234, 1))),
            ("1.234", Some(','), Some((1_234_000, 1_000))),
            ("1\u{202f}234,5", None, Some((1_234_500, 100))),
            ("1.234,56", None, Some((1_234_560, 10))),
            ("1,234,567", None, Some((1_234_567_000, 1_000))),
            ("0,125", None, Some((125, 1))),
            ("1234.567", None, Some((1_234_567, 1))),
            ("1,234", None, None),
            ("1.234", None, None),
            ("0,125", Some('.'), None),
            ("4,93", Some('.'), None),
            ("1,3345", Some('.'), None),
            ("1.2.3", Some(','), None),
            ("1.2345", Some('.'), None),
            ("1.", None, None),
            (".5", None, None),
            ("", None, None),
            ("-1", None, None),
            ("+1", None, None),
            ("1e3", None, None),
            (",123", None, None),
            ("99999999999999999999", None, None),
            ("9999999999999999999", None, None),
        ] {
            let read = Rounded::parse(number, mark, 1_000).ok().map(|read| (read.value, read.digit));
            assert_eq!(read, expected, "{number} {mark:?}");
        }
    }
}

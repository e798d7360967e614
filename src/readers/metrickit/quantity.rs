//! Quantities that diagnostics state of themselves. Up to iOS 26, they are text in the language and the format of the user's region.
//!
//! ```text
//! 9 sec · 20 secs. · 20秒 · 2.5 s · 1,234 ms · 1.234,5 ms · 200,000 kB · 512 bytes
//! ```
//!
//! A separator before exactly three digits may group thousands or begin the decimals: `1,234 ms` is 1234 ms in Japan and 1.234 ms in
//! Germany. The region decides; without a known region, the text is not read as a number. Kilobytes and larger units are decimal.

/// Units of a dimension and what they are multiplied by, in the languages in which they were seen or are written by Apple's formatters.
type Units = [(&'static [&'static str], u64); 5];

/// In nanoseconds.
pub(super) const TIMES: Units = [
    (&["ns"], 1),
    (&["µs", "μs", "us"], 1_000),
    (&["ms", "msec", "мс", "毫秒", "ミリ秒"], 1_000_000),
    (&["s", "sec", "secs", "second", "seconds", "sek", "seg", "с", "сек", "秒", "초"], 1_000_000_000),
    (&["m", "min", "mins", "minute", "minutes", "分", "분"], 60_000_000_000),
];
/// In bytes.
pub(super) const BYTES: Units = [
    (&["byte", "bytes", "b", "octet", "octets", "o", "б"], 1),
    (&["kb", "ko", "кб"], 1_000),
    (&["mb", "mo", "мб"], 1_000_000),
    (&["gb", "go", "гб"], 1_000_000_000),
    (&["tb", "to", "тб"], 1_000_000_000_000),
];

/// Regions whose decimals begin with a comma, and regions where they begin with a point.
const COMMA: [&str; 24] = [
    "AR", "AT", "BE", "BR", "CL", "CO", "CZ", "DE", "DK", "ES", "FI", "FR", "GR", "HU", "ID", "IT", "NL", "NO", "PL",
    "PT", "RU", "SE", "TR", "UA",
];
const POINT: [&str; 18] =
    ["AU", "CH", "CN", "GB", "HK", "IE", "IL", "IN", "JP", "KR", "MX", "MY", "NZ", "PH", "SG", "TH", "TW", "US"];

/// Returns a quantity in one of these units. `is_number` is true if the number was one in the document, and not text. `None` if the text is
/// not a quantity, or may be two.
pub(super) fn parse(text: &str, units: Units, is_number: bool, region: Option<&str>) -> Option<u64> {
    let text = text.trim();
    let is_of_number = |c: char| c.is_ascii_digit() || is_separator(c) || (is_number && "+-eE".contains(c));
    let end = text.find(|c| !is_of_number(c)).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let unit = unit.trim().trim_end_matches('.').to_lowercase();
    let (_, scale) = units.into_iter().find(|(names, _)| names.contains(&unit.as_str()))?;
    let plain = if is_number { number.trim().to_owned() } else { plain(number.trim(), region)? };
    scaled(&plain, scale)
}

fn is_separator(c: char) -> bool {
    ".,'’\u{a0}\u{202f} ".contains(c)
}

/// A number with a point before its decimals, and without other separators.
fn plain(number: &str, region: Option<&str>) -> Option<String> {
    let separators: Vec<(usize, char)> = number.char_indices().filter(|(_, c)| is_separator(*c)).collect();
    let Some(&(last, mark)) = separators.last() else { return Some(number.to_owned()) };
    let decimals = number.get(last + mark.len_utf8()..)?;
    let is_repeated = separators.iter().filter(|(_, c)| *c == mark).count() > 1;
    let is_first = separators.first() == separators.last();
    let has_decimals = match mark {
        '.' | ',' if is_repeated => false,
        '.' | ',' if decimals.len() != 3 || !is_first || number.starts_with('0') => true,
        '.' | ',' => begins_decimals(mark, region?)?,
        _ => false,
    };
    let whole = if has_decimals { number.get(..last)? } else { number };
    let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
    // Groups have three digits, so `1,23,4` is not a number.
    let is_grouped = whole.split(is_separator).skip(1).all(|group| group.len() == 3);
    let decimals = if has_decimals { format!(".{decimals}") } else { String::new() };
    (is_grouped && !digits.is_empty()).then(|| digits + &decimals)
}

/// Whether a separator begins the decimals in a region; `None` for regions that are not known.
fn begins_decimals(mark: char, region: &str) -> Option<bool> {
    let is_in = |regions: &[&str]| regions.contains(&region);
    match (is_in(&COMMA), is_in(&POINT)) {
        (true, _) => Some(mark == ','),
        (_, true) => Some(mark == '.'),
        _ => None,
    }
}

/// A decimal number times a whole one, to the nearest; `None` if it is negative or too large.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let is_decimal = decimals.len() <= 18 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    match whole.parse::<u64>() {
        Ok(whole) if is_decimal => {
            let power = 10_u128.pow(decimals.len() as u32);
            let fraction = if decimals.is_empty() { 0 } else { decimals.parse::<u128>().ok()? };
            let value = (u128::from(whole) * power + fraction).checked_mul(u128::from(scale))?;
            u64::try_from((value + power / 2) / power).ok()
        }
        _ => {
            let value = number.parse::<f64>().ok()? * scale as f64;
            (0.0..9.0e18).contains(&value).then(|| value.round() as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_in_every_format_or_not_at_all() {
        let text = |text: &str, region: Option<&str>| parse(text, TIMES, false, region);
        let bytes = |text: &str, region: Option<&str>| parse(text, BYTES, false, region);
        for (written, nanos) in [
            ("9 sec", 9_000_000_000),
            ("20 secs.", 20_000_000_000),
            ("20秒", 20_000_000_000),
            ("20000 ms", 20_000_000_000),
            ("2.5 s", 2_500_000_000),
            ("2,25 Sek.", 2_250_000_000),
            ("1.234,5 ms", 1_234_500_000),
            ("1,234,567 ms", 1_234_567_000_000),
            ("1\u{202f}234 ms", 1_234_000_000),
            ("1’234,56 ms", 1_234_560_000),
            ("0,125 s", 125_000_000),
        ] {
            assert_eq!(text(written, None), Some(nanos), "{written}");
        }
        assert_eq!(bytes("1.2 GB", None), Some(1_200_000_000));
        assert_eq!(text("1,234 ms", None), None);
        assert_eq!(text("1,234 ms", Some("JP")), Some(1_234_000_000));
        assert_eq!(text("1,234 ms", Some("DE")), Some(1_234_000));
        assert_eq!(bytes("200.000 kB", Some("DE")), Some(200_000_000));
        assert_eq!(text("1,234 ms", Some("XX")), None);
        assert_eq!((text("1 GB", None), bytes("1 s", None)), (None, None));
        for wrong in
            ["", "sec", "9", "9 parsecs", "1,23,4 ms", "-3 s", "1e3 s", "99999999999999999999 s", ". s", "1. s2"]
        {
            assert_eq!(text(wrong, Some("US")), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_of_documents_have_decimals() {
        for (written, nanos) in [
            ("1.234 s", 1_234_000_000),
            ("1e-3 s", 1_000_000),
            ("9.470000000000001 s", 9_470_000_000),
            ("20000 ms", 20_000_000_000),
        ] {
            assert_eq!(parse(written, TIMES, true, Some("DE")), Some(nanos), "{written}");
        }
        assert_eq!(parse("-1 s", TIMES, true, None), None);
        assert_eq!(parse("0.002 MB", BYTES, true, None), Some(2_000));
    }
}

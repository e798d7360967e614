//! How locales write quantities: number symbols, digits and unit names, according to CLDR.
//!
//! `quantities.txt` documents its own format; `tests/support/programs/quantities.py` generates it.

use std::ops::Range;
use std::sync::LazyLock;

use crate::hash::HashMap;

pub(super) static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::parse(include_str!("quantities.txt")));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    Time,
    Size,
}

/// Units, with their size in nanoseconds or bytes. Kilobytes and larger units are decimal.
const UNITS: [(&str, Dimension, u64); 11] = [
    ("ns", Dimension::Time, 1),
    ("us", Dimension::Time, 1_000),
    ("ms", Dimension::Time, 1_000_000),
    ("s", Dimension::Time, 1_000_000_000),
    ("min", Dimension::Time, 60_000_000_000),
    ("h", Dimension::Time, 3_600_000_000_000),
    ("B", Dimension::Size, 1),
    ("kB", Dimension::Size, 1_000),
    ("MB", Dimension::Size, 1_000_000),
    ("GB", Dimension::Size, 1_000_000_000),
    ("TB", Dimension::Size, 1_000_000_000_000),
];

/// A number format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Style {
    zero: char,
    decimal: char,
    group: char,
    /// True if only the last group has three digits, and the others have two.
    is_indian: bool,
}

impl Style {
    fn parse(text: &str) -> Option<Self> {
        let mut signs = text.chars();
        let (zero, decimal, group) = (signs.next()?, signs.next()?, signs.next()?);
        Some(Self { zero, decimal, group, is_indian: signs.next().is_some() })
    }

    /// Splits a number into the digits before and after the decimal sign.
    fn number(&self, text: &str) -> Option<(String, String)> {
        let (whole, fraction) = text.split_once(self.decimal).map_or((text, None), |(whole, rest)| (whole, Some(rest)));
        let fraction = fraction.map_or(Some(String::new()), |fraction| self.digits(fraction))?;
        let groups: Option<Vec<String>> =
            whole.split(|c| folded(c) == folded(self.group)).map(|group| self.digits(group)).collect();
        let groups = groups?;
        let is_right = |(from_last, group): (usize, &String)| match from_last {
            _ if from_last + 1 == groups.len() => from_last == 0 || (group.len() <= 3 && !group.starts_with('0')),
            0 => group.len() == 3,
            _ => group.len() == if self.is_indian { 2 } else { 3 },
        };
        groups.iter().rev().enumerate().all(is_right).then(|| (groups.concat(), fraction))
    }

    /// Converts digits to ASCII; `None` if there are no digits, or other characters. Some formatters combine a language's symbols with the digits
    /// 0 to 9.
    fn digits(&self, text: &str) -> Option<String> {
        let own = |c: char| char::from_digit(u32::from(c).checked_sub(self.zero.into())?, 10);
        let digit = |c: char| if c.is_ascii_digit() { Some(c) } else { own(c) };
        text.chars().map(digit).collect::<Option<String>>().filter(|digits| !digits.is_empty())
    }
}

/// Maps characters that are often substituted for each other in copied text.
fn folded(sign: char) -> char {
    match sign {
        '\u{a0}' | '\u{202f}' | '\u{2009}' => ' ',
        '’' => '\'',
        sign => sign,
    }
}

/// Where a format is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// By a locale of the region, in its main language.
    Main,
    /// By another locale of the region.
    Region,
    /// By a locale of the region with incomplete CLDR data.
    Incomplete,
    /// By a language, in any region for which CLDR has nothing else.
    Language,
    Elsewhere,
}

/// A number format and the unit names of a language.
#[derive(Debug)]
struct Format {
    style: usize,
    /// The regions, as written in the data.
    regions: Vec<&'static str>,
}

#[derive(Debug)]
struct Name {
    /// The formats with this name.
    formats: Range<usize>,
    unit: usize,
    written: String,
    /// A number that the name itself contains.
    fixed: Option<u64>,
    /// True if the name means something else in more languages.
    is_contested: bool,
}

/// The meaning of a string in a format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) format: usize,
    pub(super) value: u64,
    /// The size of the unit.
    pub(super) unit: u64,
    /// True if a formatter writes exactly this text, with the same spaces and trailing zeros.
    pub(super) is_exact: bool,
    /// True if the unit name means something else in more languages.
    pub(super) is_contested: bool,
}

#[derive(Debug, Default)]
pub(super) struct Catalog {
    styles: Vec<Style>,
    formats: Vec<Format>,
    /// Keyed by the name without spaces.
    names: HashMap<String, Vec<Name>>,
}

impl Catalog {
    fn parse(data: &'static str) -> Self {
        let mut catalog = Self::default();
        for line in data.lines().filter(|line| !line.starts_with('#')) {
            let mut parts = line.split('\t');
            let first = catalog.formats.len();
            for (style, regions) in parts.next().unwrap_or_default().split(' ').filter_map(|part| part.split_once(':'))
            {
                let style = Style::parse(style).map(|style| catalog.style(style));
                let regions = regions.split(',').collect();
                catalog.formats.extend(style.map(|style| Format { style, regions }));
            }
            while let (Some(unit), Some(names)) = (parts.next(), parts.next()) {
                let unit = UNITS.iter().position(|(known, ..)| *known == unit);
                unit.into_iter().for_each(|unit| names.split('|').for_each(|name| catalog.name(first, unit, name)));
            }
        }
        catalog
    }

    fn style(&mut self, style: Style) -> usize {
        self.styles.iter().position(|known| *known == style).unwrap_or_else(|| {
            self.styles.push(style);
            self.styles.len() - 1
        })
    }

    /// Adds a name for the formats from `first` on.
    fn name(&mut self, first: usize, unit: usize, name: &str) {
        let is_contested = name.starts_with('!');
        let name = name.trim_start_matches('!');
        let written = name.trim_start_matches(|c: char| c.is_ascii_digit());
        let fixed = name.strip_suffix(written).and_then(|fixed| fixed.parse().ok());
        let (formats, written) = (first..self.formats.len(), tidy(written));
        self.names.entry(without_spaces(&written)).or_default().push(Name {
            formats,
            unit,
            written,
            fixed,
            is_contested,
        });
    }

    /// Returns all possible meanings of a string in a dimension.
    pub(super) fn readings(&self, text: &str, dimension: Dimension) -> Vec<Reading> {
        let (number, name) = self.split(&tidy(text));
        let names = self.names.get(&without_spaces(&name)).map_or([].as_slice(), Vec::as_slice);
        let mut numbers = vec![None; self.styles.len()];
        if !names.is_empty() {
            numbers = self.styles.iter().map(|style| style.number(&number)).collect();
        }
        let mut readings = Vec::new();
        for known in names {
            let (_, of_unit, scale) = UNITS[known.unit];
            for format in known.formats.clone().filter(|_| of_unit == dimension) {
                let value = match (known.fixed, &numbers[self.formats[format].style]) {
                    (Some(fixed), _) => fixed.checked_mul(scale).zip(Some(true)),
                    (None, Some((whole, decimals))) => {
                        scaled(whole, decimals, scale).zip(Some(!decimals.ends_with('0')))
                    }
                    (None, None) => None,
                };
                let reading = |(value, is_exact)| Reading {
                    format,
                    value,
                    unit: scale,
                    is_exact: is_exact && known.written == name,
                    is_contested: known.is_contested,
                };
                readings.extend(value.map(reading));
            }
        }
        readings
    }

    /// Returns the size of a unit, by symbol, or by name if all languages that use the name agree.
    pub(super) fn scale(&self, unit: &str, dimension: Dimension) -> Option<u64> {
        let symbol = UNITS.into_iter().find(|(symbol, of_unit, _)| *symbol == unit && *of_unit == dimension);
        if let Some((.., scale)) = symbol {
            return Some(scale);
        }
        let names = self.names.get(&without_spaces(&tidy(&format!("{{}}{unit}"))))?;
        let names = names.iter().filter(|name| !name.is_contested);
        let mut scales = names.map(|name| UNITS[name.unit]).filter(|(_, of_unit, _)| *of_unit == dimension);
        let (.., scale) = scales.next()?;
        scales.all(|(.., other)| other == scale).then_some(scale)
    }

    pub(super) fn formats(&self) -> usize {
        self.formats.len()
    }

    /// Returns how a region uses each format.
    pub(super) fn used_in(&self, region: &str) -> Vec<Use> {
        let used = |format: &Format| {
            let is_any = |is: &dyn Fn(&str) -> bool| format.regions.iter().any(|known| is(known));
            match () {
                () if is_any(&|known| known.starts_with('!') && known.trim_start_matches(['!', '*']) == region) => {
                    Use::Main
                }
                () if is_any(&|known| known.trim_start_matches('*') == region) => Use::Region,
                () if is_any(&|known| known.trim_start_matches(['?', '*']) == region) => Use::Incomplete,
                () if is_any(&|known| known.trim_start_matches('!').starts_with('*')) => Use::Language,
                () => Use::Elsewhere,
            }
        };
        self.formats.iter().map(used).collect()
    }

    /// Splits a string into its number and its unit name, with `{}` in place of the number.
    fn split(&self, text: &str) -> (String, String) {
        let is_digit = |c: char| {
            self.styles.iter().any(|style| (0..10).contains(&u32::from(c).wrapping_sub(u32::from(style.zero))))
        };
        match (text.find(is_digit), text.char_indices().rfind(|(_, c)| is_digit(*c))) {
            (Some(start), Some((last, digit))) => {
                let (before, after) = (&text[..start], &text[last + digit.len_utf8()..]);
                (text[start..last + digit.len_utf8()].to_owned(), format!("{before}{{}}{after}"))
            }
            _ => (String::new(), text.to_owned()),
        }
    }
}

/// Removes direction marks, and unifies the two characters for micro.
fn tidy(text: &str) -> String {
    const MARKS: [char; 3] = ['\u{200e}', '\u{200f}', '\u{61c}'];
    let kept = text.trim().chars().filter(|c| !MARKS.contains(c));
    kept.map(|c| if c == 'µ' { 'μ' } else { c }).collect()
}

fn without_spaces(name: &str) -> String {
    let kept: String = name.chars().filter(|c| !c.is_whitespace()).collect();
    kept.trim_end_matches('.').to_owned()
}

/// Multiplies a decimal number by an integer, rounding to the nearest. `None` if there are non-digits, or the result is too large.
pub(super) fn scaled(whole: &str, fraction: &str, scale: u64) -> Option<u64> {
    if fraction.len() > 18 || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let power = 10_u128.pow(fraction.len() as u32);
    let fraction = if fraction.is_empty() { 0 } else { fraction.parse::<u128>().ok()? };
    let value = (u128::from(whole.parse::<u64>().ok()?) * power + fraction).checked_mul(u128::from(scale))?;
    u64::try_from((value + power / 2) / power).ok()
}

//! How locales write quantities: the signs and digits of their numbers, and their names of units, by the data of CLDR.
//!
//! `quantities.txt` describes itself; `tests/support/programs/quantities.py` writes it.

use std::ops::Range;
use std::sync::LazyLock;

use super::quantity::scaled;
use crate::hash::HashMap;

pub(super) static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::parse(include_str!("quantities.txt")));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    Time,
    Size,
}

/// Units and how many nanoseconds or bytes they have. Kilobytes and larger units are decimal.
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

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Style {
    zero: char,
    decimal: char,
    group: char,
    /// True if only the last group has three digits, and others have two.
    is_indian: bool,
}

impl Style {
    fn parse(text: &str) -> Option<Self> {
        let mut signs = text.chars();
        let (zero, decimal, group) = (signs.next()?, signs.next()?, signs.next()?);
        Some(Self { zero, decimal, group, is_indian: signs.next().is_some() })
    }

    /// The digits before and after the decimal sign.
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

    /// `None` if there are none, or something else. Some formatters write the signs of a language with the digits 0 to 9.
    fn digits(&self, text: &str) -> Option<String> {
        let own = |c: char| char::from_digit(u32::from(c).checked_sub(self.zero.into())?, 10);
        let digit = |c: char| if c.is_ascii_digit() { Some(c) } else { own(c) };
        text.chars().map(digit).collect::<Option<String>>().filter(|digits| !digits.is_empty())
    }
}

/// Signs that stand for each other as texts are copied.
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
    /// By a locale of the region about which CLDR knows too little.
    Incomplete,
    /// By a language, in all regions about which nothing else is known.
    Language,
    Elsewhere,
}

/// A style with the names of a language.
#[derive(Debug)]
struct Format {
    style: usize,
    /// As in the data.
    regions: Vec<&'static str>,
}

/// The name of a unit.
#[derive(Debug)]
struct Name {
    /// The formats with this name.
    formats: Range<usize>,
    unit: usize,
    written: String,
    /// The number that the name contains.
    fixed: Option<u64>,
}

/// What a text says in a format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) format: usize,
    pub(super) value: u64,
    /// The size of the unit.
    pub(super) unit: u64,
    /// True if a formatter writes precisely this text; false if it writes other spaces or no zeros at the end.
    pub(super) is_exact: bool,
}

#[derive(Debug, Default)]
pub(super) struct Catalog {
    styles: Vec<Style>,
    formats: Vec<Format>,
    /// By the name without spaces.
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

    /// Adds a name of the formats from `first` on.
    fn name(&mut self, first: usize, unit: usize, name: &str) {
        let written = name.trim_start_matches(|c: char| c.is_ascii_digit());
        let fixed = name.strip_suffix(written).and_then(|fixed| fixed.parse().ok());
        let (formats, written) = (first..self.formats.len(), tidy(written));
        self.names.entry(without_spaces(&written)).or_default().push(Name { formats, unit, written, fixed });
    }

    /// Everything that a text can say in a dimension.
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
                };
                readings.extend(value.map(reading));
            }
        }
        readings
    }

    /// The size of a unit by its symbol, or by a name in languages that agree on it.
    pub(super) fn scale(&self, unit: &str, dimension: Dimension) -> Option<u64> {
        let symbol = UNITS.into_iter().find(|(symbol, of_unit, _)| *symbol == unit && *of_unit == dimension);
        if let Some((.., scale)) = symbol {
            return Some(scale);
        }
        let names = self.names.get(&without_spaces(&tidy(&format!("{{}}{unit}"))))?;
        let mut scales = names.iter().map(|name| UNITS[name.unit]).filter(|(_, of_unit, _)| *of_unit == dimension);
        let (.., scale) = scales.next()?;
        scales.all(|(.., other)| other == scale).then_some(scale)
    }

    pub(super) fn formats(&self) -> usize {
        self.formats.len()
    }

    /// How each format is used in a region.
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

    /// Separates the number from the name, in which it becomes `{}`.
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

/// Without marks of direction, and with one of the two letters for micro.
fn tidy(text: &str) -> String {
    const MARKS: [char; 3] = ['\u{200e}', '\u{200f}', '\u{61c}'];
    let kept = text.trim().chars().filter(|c| !MARKS.contains(c));
    kept.map(|c| if c == 'µ' { 'μ' } else { c }).collect()
}

fn without_spaces(name: &str) -> String {
    let kept: String = name.chars().filter(|c| !c.is_whitespace()).collect();
    kept.trim_end_matches('.').to_owned()
}

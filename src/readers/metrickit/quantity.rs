//! Quantities that reports state. Up to iOS 26, they are text in the language and the format of the user's device.
//!
//! ```text
//! 9 sec · 20 secs. · 20秒 · 2.5 s · 1,234 ms · 1.234,5 ms · 12,34,567 kB · ١٬٢٣٤ ث
//! ```
//!
//! `1,234 ms` is 1234 ms in English and 1.234 ms in German, and the region alone does not tell the language. So a text is read in every format
//! of CLDR that has this name of the unit, and a reading has to be the only one that is left:
//!
//! * All texts of a payload have the same format, and the bins of a histogram ascend. No formatter writes zeros at the end of decimals.
//! * Formats of the region are preferred to languages that CLDR does not list for the region, unless the value is then the smaller one:
//!   such as 1.234 ms of an English text in Germany.
//!
//! Otherwise the text is unread.

use super::locales::{CATALOG, Dimension, Reading, Use};

/// How well texts fit a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Not,
    /// But for spaces, or zeros at the end.
    Nearly,
    Exactly,
}

/// A text that cannot be read as a quantity.
#[derive(Debug)]
pub(super) struct Unread {
    text: String,
    is_ambiguous: bool,
}

impl Unread {
    pub(super) fn unknown(text: &str) -> Self {
        Self { text: text.to_owned(), is_ambiguous: false }
    }

    pub(super) fn is_ambiguous(&self) -> bool {
        self.is_ambiguous
    }

    /// A sentence for people.
    pub(super) fn reason(&self) -> String {
        let Self { text, is_ambiguous } = self;
        match is_ambiguous {
            true => format!(
                "{text:?} has a different value in different languages, and nothing else in its report shows the language; it is not measured"
            ),
            false => format!("{text:?} is not a time or size in any language of CLDR; it is not measured"),
        }
    }
}

/// The formats in which the texts of a payload can be.
#[derive(Debug)]
pub(super) struct Language {
    /// By format: how the region uses it.
    uses: Vec<Use>,
    /// By format.
    fits: Vec<Fit>,
}

impl Language {
    /// The language of these texts, some of which may be no quantities.
    pub(super) fn of<'t>(texts: impl IntoIterator<Item = &'t str>, region: Option<&str>) -> Self {
        let mut uses = region.map(|region| CATALOG.used_in(region)).unwrap_or_default();
        if !uses.iter().any(|used| matches!(used, Use::Main | Use::Region)) {
            // Nothing is known about it.
            uses = vec![Use::Language; CATALOG.formats()];
        }
        let mut language = Self { uses, fits: vec![Fit::Exactly; CATALOG.formats()] };
        for text in texts {
            let mut readings = CATALOG.readings(text, Dimension::Time);
            readings.extend(CATALOG.readings(text, Dimension::Size));
            if !readings.is_empty() {
                let fits = fits(&readings);
                language.narrow(|format| fits[format]);
            }
        }
        language
    }

    /// Keeps the formats in which the bins of a histogram, each with the texts of its start and its end, ascend and do not overlap, if there are any.
    pub(super) fn prefer_ascending(&mut self, bins: &[(&str, &str)]) {
        let mut values = vec![Vec::new(); CATALOG.formats()];
        for text in bins.iter().flat_map(|(start, end)| [start, end]) {
            for (value, values) in by_format(&CATALOG.readings(text, Dimension::Time)).into_iter().zip(&mut values) {
                values.extend(value);
            }
        }
        let ascend = |values: &Vec<u64>| {
            let bins_ascend = values.chunks(2).all(|bin| bin.first() < bin.last());
            values.len() == 2 * bins.len() && bins_ascend && values.is_sorted()
        };
        let ascending: Vec<bool> = values.iter().map(ascend).collect();
        if self.fits.iter().zip(&ascending).any(|(fit, ascends)| *fit > Fit::Not && *ascends) {
            self.narrow(|format| if ascending[format] { Fit::Exactly } else { Fit::Not });
        }
    }

    fn narrow(&mut self, fit: impl Fn(usize) -> Fit) {
        self.fits.iter_mut().enumerate().for_each(|(format, known)| *known = (*known).min(fit(format)));
    }

    /// Nanoseconds or bytes.
    pub(super) fn read(&self, text: &str, dimension: Dimension) -> Result<u64, Unread> {
        let readings = CATALOG.readings(text, dimension);
        let own = fits(&readings);
        let with = |fit: &dyn Fn(usize) -> Fit| -> Vec<(Reading, Fit, Use)> {
            let fitting = readings.iter().map(|reading| (*reading, fit(reading.format), self.uses[reading.format]));
            fitting.filter(|(_, fit, _)| *fit > Fit::Not).collect()
        };
        let mut fitting = with(&|format| own[format].min(self.fits[format]));
        if fitting.is_empty() {
            // The texts are in several languages.
            fitting = with(&|format| own[format]);
        }
        let is_ambiguous = !fitting.is_empty();
        choose(&fitting).ok_or_else(|| Unread { is_ambiguous, ..Unread::unknown(text) })
    }
}

/// By format.
fn fits(readings: &[Reading]) -> Vec<Fit> {
    let mut fits = vec![Fit::Not; CATALOG.formats()];
    for reading in readings {
        let fit = if reading.is_exact { Fit::Exactly } else { Fit::Nearly };
        fits[reading.format] = fits[reading.format].max(fit);
    }
    fits
}

/// The value of a text by format; `None` if it is none in this format, or two.
fn by_format(readings: &[Reading]) -> Vec<Option<u64>> {
    let mut values = vec![Vec::new(); CATALOG.formats()];
    readings.iter().for_each(|reading| values[reading.format].push(reading.value));
    let only = |values: Vec<u64>| values.first().copied().filter(|first| values.iter().all(|value| value == first));
    values.into_iter().map(only).collect()
}

/// The value of the readings that are to be believed.
fn choose(fitting: &[(Reading, Fit, Use)]) -> Option<u64> {
    // Some languages have other units for names such as `s`.
    let is_unit = |unit: u64| move |(reading, ..): &&(Reading, Fit, Use)| reading.unit == unit;
    let (usual, ..) =
        fitting.iter().max_by_key(|(reading, ..)| fitting.iter().filter(is_unit(reading.unit)).count())?;
    let usual = usual.unit;
    let set = |is_in: &dyn Fn(Fit, Use) -> bool| -> Vec<&Reading> {
        fitting.iter().filter(|(_, fit, used)| is_in(*fit, *used)).map(|(reading, ..)| reading).collect()
    };
    let of_main = set(&|fit, used| fit == Fit::Exactly && used == Use::Main);
    let of_region = set(&|fit, used| fit == Fit::Exactly && used == Use::Region);
    let preferred = if of_main.is_empty() { of_region } else { of_main };
    if let Some(first) = preferred.first() {
        let (unit, value) = (first.unit, agreed(preferred)?);
        let may_be = |(other, fit, used): &(Reading, Fit, Use)| match used {
            _ if *fit < Fit::Exactly => false,
            Use::Main | Use::Region | Use::Incomplete => other.unit != unit || other.value > value,
            Use::Language if other.unit == unit => other.value > value,
            Use::Language => other.unit == usual,
            Use::Elsewhere => false,
        };
        return (!fitting.iter().any(may_be)).then_some(value);
    }
    let is_likely = |fit, used| match used {
        Use::Main | Use::Region | Use::Incomplete => true,
        Use::Language => fit == Fit::Exactly,
        Use::Elsewhere => false,
    };
    let sets = [set(&is_likely), set(&|_, used| used == Use::Language), set(&|_, _| true)];
    let likely = sets.into_iter().find(|set| !set.is_empty())?;
    let is_usual = |reading: &&Reading| reading.unit == usual;
    if likely.iter().any(&is_usual) { agreed(likely.into_iter().filter(is_usual)) } else { agreed(likely) }
}

/// The value that all have.
fn agreed<'a>(readings: impl IntoIterator<Item = &'a Reading>) -> Option<u64> {
    let mut values = readings.into_iter().map(|reading| reading.value);
    let value = values.next()?;
    values.all(|other| other == value).then_some(value)
}

/// A value that was a number in the document, with the name of its unit.
pub(super) fn of_number(value: &str, unit: &str, dimension: Dimension) -> Result<u64, Unread> {
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let in_unit = |scale: u64| {
        scaled(whole, fraction, scale).or_else(|| {
            let value = value.parse::<f64>().ok()? * scale as f64;
            (0.0..9.0e18).contains(&value).then(|| value.round() as u64)
        })
    };
    let quantity = CATALOG.scale(unit, dimension).and_then(in_unit);
    quantity.ok_or_else(|| Unread::unknown(&format!("{value} {unit}")))
}

/// A decimal number times a whole one, to the nearest; `None` if it is too large or not of digits.
pub(super) fn scaled(whole: &str, fraction: &str, scale: u64) -> Option<u64> {
    if fraction.len() > 18 || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let power = 10_u128.pow(fraction.len() as u32);
    let fraction = if fraction.is_empty() { 0 } else { fraction.parse::<u128>().ok()? };
    let value = (u128::from(whole.parse::<u64>().ok()?) * power + fraction).checked_mul(u128::from(scale))?;
    u64::try_from((value + power / 2) / power).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quantity in a report with these other texts.
    fn read(text: &str, others: &[&str], region: Option<&str>, dimension: Dimension) -> Result<u64, bool> {
        let language = Language::of(others.iter().copied().chain([text]), region);
        language.read(text, dimension).map_err(|unread| unread.is_ambiguous())
    }

    fn time(text: &str, region: &str) -> Result<u64, bool> {
        read(text, &[], Some(region), Dimension::Time)
    }

    const AMBIGUOUS: Result<u64, bool> = Err(true);

    #[test]
    fn reads_texts_with_one_meaning_without_a_region() {
        for (written, nanos) in [
            ("9 sec", 9_000_000_000),
            ("20 secs.", 20_000_000_000),
            ("20秒", 20_000_000_000),
            ("20000 ms", 20_000_000_000),
            ("2.5 s", 2_500_000_000),
            ("2,25 Sek.", 2_250_000_000),
            ("62,5 giây", 62_500_000_000),
            ("1.234,5 ms", 1_234_500_000),
            ("1,234,567 ms", 1_234_567_000_000),
            ("12,34,567 ms", 1_234_567_000_000),
            ("1\u{202f}234 ms", 1_234_000_000),
            ("1’234,56 ms", 1_234_560_000),
            ("0,125 s", 125_000_000),
            ("3 µs", 3_000),
            ("١٬٢٣٤٫٥ ث", 1_234_500_000_000),
            ("ثانيتان", 2_000_000_000),
            ("sekunde 3", 3_000_000_000),
        ] {
            assert_eq!(read(written, &[], None, Dimension::Time), Ok(nanos), "{written}");
        }
        assert_eq!(read("12 千字节", &[], None, Dimension::Size), Ok(12_000));
        assert_eq!(read("1.2 GB", &[], None, Dimension::Size), Ok(1_200_000_000));
        for wrong in
            ["", "sec", "9", "9 parsecs", "1,23,4 ms", "-3 s", "1e3 s", "99999999999999999999 s", ". s", "1. s2"]
        {
            assert_eq!(time(wrong, "US"), Err(false), "{wrong}");
        }
        assert_eq!(time("1 GB", "US"), Err(false));
        assert_eq!(read("1 s", &[], None, Dimension::Size), Err(false));
    }

    #[test]
    fn decides_by_the_region_unless_another_language_has_more() {
        assert_eq!(read("1,234 ms", &[], None, Dimension::Time), AMBIGUOUS);
        assert_eq!(time("1,234 ms", "XX"), AMBIGUOUS);
        for region in ["CA", "JP", "US", "IN"] {
            assert_eq!(time("1,234 ms", region), Ok(1_234_000_000), "{region}");
        }
        assert_eq!(time("1.234 ms", "DE"), Ok(1_234_000_000));
        // It may be English.
        assert_eq!(time("1,234 ms", "DE"), AMBIGUOUS);
        assert_eq!(read("200.000 kB", &[], Some("DE"), Dimension::Size), Ok(200_000_000));
        // Whatever the region, the name of the unit is Vietnamese.
        assert_eq!(time("1.234 giây", "US"), Ok(1_234_000_000_000));
    }

    #[test]
    fn decides_by_other_texts_of_the_report_and_by_bins() {
        let with = |other: &str| read("1,234 ms", &[other], Some("DE"), Dimension::Time);
        assert_eq!(with("2,25 Sek."), Ok(1_234_000));
        assert_eq!(with("1,230 ms"), Ok(1_234_000_000));
        assert_eq!(with("7 parsecs"), AMBIGUOUS);
        let by_bins = |bins: &[(&str, &str)]| {
            let mut language = Language::of(bins.iter().flat_map(|(start, end)| [*start, *end]), None);
            language.prefer_ascending(bins);
            bins.iter().map(|(start, _)| language.read(start, Dimension::Time).ok()).collect::<Vec<_>>()
        };
        assert_eq!(
            by_bins(&[("900 ms", "909 ms"), ("1.111 ms", "1.119 ms")]),
            [Some(900_000_000), Some(1_111_000_000)]
        );
        assert_eq!(by_bins(&[("1,111 ms", "2 ms"), ("2 ms", "3 ms")]), [Some(1_111_000), Some(2_000_000)]);
        assert_eq!(by_bins(&[("1,111 ms", "1,119 ms")]), [None]);
    }

    #[test]
    fn numbers_of_documents_have_decimals() {
        for (value, unit, nanos) in [
            ("1.234", "s", 1_234_000_000),
            ("1e-3", "s", 1_000_000),
            ("9.470000000000001", "s", 9_470_000_000),
            ("20000", "ms", 20_000_000_000),
        ] {
            assert_eq!(of_number(value, unit, Dimension::Time).ok(), Some(nanos), "{value} {unit}");
        }
        assert!(of_number("-1", "s", Dimension::Time).is_err());
        assert_eq!(of_number("0.002", "MB", Dimension::Size).ok(), Some(2_000));
    }
}

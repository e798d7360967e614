//! Parses quantities in reports. Up to iOS 26, they are text in the language and format of the user's device.
//!
//! ```text
//! 9 sec · 20 secs. · 20秒 · 2.5 s · 1,234 ms · 1.234,5 ms · 12,34,567 kB · ١٬٢٣٤ ث
//! ```
//!
//! `1,234 ms` is 1234 ms in English and 1.234 ms in German, and the region alone does not determine the language. A string is therefore parsed in
//! every CLDR format that contains its unit name, and accepted only if these rules leave a single value:
//!
//! * All strings in a payload use the same format, and the bins of a histogram ascend. No formatter writes trailing zeros after a decimal sign.
//! * Formats of the region are preferred to languages that CLDR does not list for the region, unless that gives the smaller value, such as 1.234
//!   ms for an English string in Germany.
//! * A unit name that means something else in more languages is accepted only in regions of its language: `1500 Mb` is 1500 kB in Zulu, and
//!   megabits elsewhere.
//!
//! Otherwise the text is rejected.

use super::locales::{CATALOG, Dimension, Reading, Use, scaled};

/// How well the strings match a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Not,
    /// Spaces or trailing zeros differ.
    Nearly,
    Exactly,
}

/// A string that cannot be parsed as a quantity.
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

    /// A sentence to print.
    pub(super) fn reason(&self) -> String {
        let Self { text, is_ambiguous } = self;
        match is_ambiguous {
            true => format!(
                "{text:?} has a different value in different languages, and nothing else in its report shows the language; it is not measured"
            ),
            false => {
                format!("{text:?} is not a time or size in any language of CLDR, or is too large; it is not measured")
            }
        }
    }
}

/// The possible formats of a payload's strings.
#[derive(Debug)]
pub(super) struct Language {
    /// How the region uses each format.
    uses: Vec<Use>,
    /// Indexed by format.
    fits: Vec<Fit>,
}

impl Language {
    /// Infers the language of these strings. Some of them may not be quantities.
    pub(super) fn of<'t>(texts: impl IntoIterator<Item = &'t str>, region: Option<&str>) -> Self {
        let mut uses = region.map(|region| CATALOG.used_in(region)).unwrap_or_default();
        if !uses.iter().any(|used| matches!(used, Use::Main | Use::Region)) {
            // The region is unknown.
            uses = vec![Use::Language; CATALOG.formats()];
        }
        let mut language = Self { uses, fits: vec![Fit::Exactly; CATALOG.formats()] };
        for text in texts {
            let mut readings = language.readings(text, Dimension::Time);
            readings.extend(language.readings(text, Dimension::Size));
            if !readings.is_empty() {
                let fits = fits(&readings);
                language.narrow(|format| fits[format]);
            }
        }
        language
    }

    /// Prefers formats in which the bins of a histogram ascend and do not overlap, if there are any. A bin is the text of its start and the text
    /// of its end.
    pub(super) fn prefer_ascending(&mut self, bins: &[(&str, &str)]) {
        let mut values = vec![Vec::new(); CATALOG.formats()];
        for text in bins.iter().flat_map(|(start, end)| [start, end]) {
            for (value, values) in by_format(&self.readings(text, Dimension::Time)).into_iter().zip(&mut values) {
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

    /// Returns the possible meanings of a string, except unit names of other regions that mean something else in more languages.
    fn readings(&self, text: &str, dimension: Dimension) -> Vec<Reading> {
        let is_of_region = |format: usize| matches!(self.uses[format], Use::Main | Use::Region | Use::Incomplete);
        let mut readings = CATALOG.readings(text, dimension);
        readings.retain(|reading| !reading.is_contested || is_of_region(reading.format));
        readings
    }

    fn narrow(&mut self, fit: impl Fn(usize) -> Fit) {
        self.fits.iter_mut().enumerate().for_each(|(format, known)| *known = (*known).min(fit(format)));
    }

    /// Parses a string to nanoseconds or bytes.
    pub(super) fn read(&self, text: &str, dimension: Dimension) -> Result<u64, Unread> {
        let readings = self.readings(text, dimension);
        let own = fits(&readings);
        let with = |fit: &dyn Fn(usize) -> Fit| -> Vec<(Reading, Fit, Use)> {
            let fitting = readings.iter().map(|reading| (*reading, fit(reading.format), self.uses[reading.format]));
            fitting.filter(|(_, fit, _)| *fit > Fit::Not).collect()
        };
        let mut fitting = with(&|format| own[format].min(self.fits[format]));
        if fitting.is_empty() {
            // The strings are in more than one language.
            fitting = with(&|format| own[format]);
        }
        let is_ambiguous = !CATALOG.readings(text, dimension).is_empty();
        choose(&fitting).ok_or_else(|| Unread { is_ambiguous, ..Unread::unknown(text) })
    }
}

/// Returns how well the text matches each format.
fn fits(readings: &[Reading]) -> Vec<Fit> {
    let mut fits = vec![Fit::Not; CATALOG.formats()];
    for reading in readings {
        let fit = if reading.is_exact { Fit::Exactly } else { Fit::Nearly };
        fits[reading.format] = fits[reading.format].max(fit);
    }
    fits
}

/// Returns the value of a string in each format; `None` if the string is invalid or ambiguous in the format.
fn by_format(readings: &[Reading]) -> Vec<Option<u64>> {
    let mut values = vec![Vec::new(); CATALOG.formats()];
    readings.iter().for_each(|reading| values[reading.format].push(reading.value));
    let only = |values: Vec<u64>| values.first().copied().filter(|first| values.iter().all(|value| value == first));
    values.into_iter().map(only).collect()
}

/// Returns the most plausible value; `None` if there are several.
fn choose(fitting: &[(Reading, Fit, Use)]) -> Option<u64> {
    // In some languages, names such as `s` are another unit.
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

/// The value that all readings agree on.
fn agreed<'a>(readings: impl IntoIterator<Item = &'a Reading>) -> Option<u64> {
    let mut values = readings.into_iter().map(|reading| reading.value);
    let value = values.next()?;
    values.all(|other| other == value).then_some(value)
}

/// Converts a number with a unit name.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a quantity in a report that also contains these strings.
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
        // The text may be English.
        assert_eq!(time("1,234 ms", "DE"), AMBIGUOUS);
        assert_eq!(read("200.000 kB", &[], Some("DE"), Dimension::Size), Ok(200_000_000));
        // The unit name is Vietnamese, regardless of the region.
        assert_eq!(time("1.234 giây", "US"), Ok(1_234_000_000_000));
    }

    #[test]
    fn reads_names_that_mean_something_else_in_more_languages_only_in_their_region() {
        let size = |text: &str, region| read(text, &["3 s"], region, Dimension::Size);
        for text in ["1500 Mb", "1500Mb"] {
            assert_eq!(size(text, Some("ZA")), Ok(1_500_000), "{text}");
            assert_eq!([None, Some("ES"), Some("US")].map(|region| size(text, region)), [AMBIGUOUS; 3], "{text}");
        }
        assert_eq!(size("1500 MB", Some("ES")), Ok(1_500_000_000));
        assert_eq!((time("5 p", "HU"), time("5 p", "ES")), (Ok(300_000_000_000), AMBIGUOUS));
        assert_eq!(time("5 d", "ES"), AMBIGUOUS);
        assert!(of_number("1500", "Mb", Dimension::Size).is_err());
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

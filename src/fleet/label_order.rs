//! The order of labels: versions in natural order, dates by time.
//!
//! ```text
//! 1.9 < 1.10 beta 2 < 1.10-rc.1 < 1.10 < 1.10 (7) < 1.10.1 < 1.11
//! ```
//!
//! Dates are in chronological order if they begin with the year and have the same form; other dates have no order ([`unordered_dates`]).
//!
//! A label is split into numbers and the text between them. Numbers are compared by value, text by its characters. A word such as `beta` after a
//! number makes a version older than the version without it; any other addition makes it newer. Equivalent labels (`1.0` and `01.0`, `2.0-beta`
//! and `2.0 Beta`) are sorted by their bytes, so only identical labels are equal.

use std::cmp::Ordering;

/// Words for versions before the release, earliest first.
const BEFORE_RELEASE: [&str; 9] = ["nightly", "dev", "snapshot", "canary", "alpha", "beta", "pre", "preview", "rc"];

/// Characters between the parts of a version.
const SEPARATORS: [char; 6] = [' ', '.', '-', '_', '+', '~'];

/// Compares two labels. This is a total order in which only identical labels are equal.
pub(crate) fn compare_labels(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (parts(a), parts(b));
    loop {
        let pair = (left.next().unwrap_or(Part::End), right.next().unwrap_or(Part::End));
        if pair.0 != pair.1 {
            return pair.0.cmp(&pair.1);
        }
        if pair.0 == Part::End {
            return a.cmp(b);
        }
    }
}

/// A part of a label. At the same position, parts of different kinds sort in the order of the variants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'t> {
    /// The index of a word in [`BEFORE_RELEASE`], and the text after it.
    BeforeRelease(usize, String),
    End,
    /// The number of digits without leading zeros, and the digits.
    Number(usize, &'t str),
    Text(&'t str),
}

fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    let mut is_behind_number = false;
    std::iter::from_fn(move || {
        let is_number = rest.starts_with(|c: char| c.is_ascii_digit());
        let end = rest.find(|c: char| c.is_ascii_digit() != is_number).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        let could_be_word = std::mem::replace(&mut is_behind_number, is_number);
        match part {
            "" => None,
            _ if is_number => Some(number(part)),
            _ => Some(could_be_word.then(|| before_release(part)).flatten().unwrap_or(Part::Text(part))),
        }
    })
}

fn number(part: &str) -> Part<'_> {
    let digits = part.trim_start_matches('0');
    Part::Number(digits.len(), digits)
}

/// The part for text that starts with a word in [`BEFORE_RELEASE`].
fn before_release(part: &str) -> Option<Part<'_>> {
    let words = part.trim_matches(SEPARATORS).to_lowercase();
    let end = words.find(|c: char| !c.is_alphabetic()).unwrap_or(words.len());
    let place = BEFORE_RELEASE.iter().position(|word| *word == &words[..end])?;
    Some(Part::BeforeRelease(place, words[end..].to_owned()))
}

/// The forms of dates in labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DateForm {
    /// `2026-01-02`, `2026.1`: for dates with the same separator, numeric order is chronological.
    YearFirst(char),
    /// `20260102`.
    Digits,
    /// `03.01.2026`, `Jan 3, 2026`: numeric order is not chronological.
    YearLast,
}

/// If numeric order is not chronological for these labels, two labels that show it: dates in different forms, or with the year at the end.
pub(super) fn unordered_dates<'v>(values: impl Iterator<Item = &'v str> + Clone) -> Option<[&'v str; 2]> {
    let forms = values.map(|value| (value, date_form(value)));
    let (first, form) = forms.clone().find(|(_, form)| form.is_some() && *form != Some(DateForm::Digits))?;
    // Versions may switch to years: 1.9, 2026.1.
    let is_version = |other: Option<DateForm>| other.is_none() && form == Some(DateForm::YearFirst('.'));
    let mut others =
        forms.filter(|&(_, other)| form == Some(DateForm::YearLast) || (other != form && !is_version(other)));
    let (other, _) = others.find(|(other, _)| *other != first)?;
    Some([first, other])
}

fn date_form(label: &str) -> Option<DateForm> {
    const MONTHS: &str = "january february march april may june july august september october november december";
    let has_month = (label.split(|c: char| !c.is_alphabetic()).map(str::to_lowercase))
        .any(|word| word.len() >= 3 && MONTHS.split(' ').any(|month| month.starts_with(&word)));
    let numbers: Vec<&str> = label.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect();
    let is_year = |digits: &str| digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
    let is_day = |digits: &str| digits.len() <= 2 && digits.parse().is_ok_and(|day: u8| (1..=31).contains(&day));
    let dated = &label[label.find(|c: char| c.is_ascii_digit())?..];
    let mut behind = dated.trim_start_matches(|c: char| c.is_ascii_digit()).chars();
    let separator = behind.next().filter(|_| behind.next().is_some_and(|c| c.is_ascii_digit()));
    match (&numbers[..], separator) {
        (numbers, _) if has_month && numbers.iter().any(|digits| is_year(digits)) => Some(DateForm::YearLast),
        (&[year, ..], Some(separator @ ('-' | '.' | '/'))) if is_year(year) => Some(DateForm::YearFirst(separator)),
        (&[day, month, year, ..], Some(s @ ('-' | '.' | '/'))) if is_day(day) && is_day(month) && is_year(year) => {
            dated.starts_with(&format!("{day}{s}{month}{s}{year}")).then_some(DateForm::YearLast)
        }
        (&[digits, ..], _) if digits.len() == 8 && is_year(&digits[..4]) => Some(DateForm::Digits),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn versions_and_dates_are_in_the_order_of_people() {
        let sorted = [
            "",
            "0.9",
            "1.9-beta",
            "1.9",
            "1.9.1",
            "1.10 alpha 9",
            "1.10 beta 2",
            "1.10 Beta 10",
            "1.10-rc.1",
            "1.10",
            "1.10 (7)",
            "1.10.1",
            "1.11",
            "2",
            "2.0",
            "10.0",
            "2025-09-30",
            "2025-10-01",
            "2025-10-01 07:30",
            "2026-01-02",
            "99999999999999999999999",
            "100000000000000000000000",
            "iOS 9.3",
            "iOS 26.1",
            "iOS 26.1.1",
        ];
        for pair in sorted.windows(2) {
            assert_eq!(compare_labels(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
    }

    #[test]
    fn texts_that_say_the_same_differ() {
        for (a, b) in [("01.0", "1.0"), ("2.0 Beta", "2.0-beta"), ("0", "00")] {
            assert_eq!(compare_labels(a, b), a.cmp(b), "{a} {b}");
            assert_ne!(compare_labels(a, b), Ordering::Equal);
        }
    }

    #[test]
    fn dates_have_an_order_in_one_form_only() {
        let unordered = |labels: &[&'static str]| unordered_dates(labels.iter().copied());
        for labels in [
            &["2026-01-02", "2026-1-3", "2025-12-31", "2026-02"][..],
            &["2026/01/02", "2026/1/3"],
            &["20260102", "20251231", "7"],
            &["1.9", "2026.1", "2026.1.10", "2026.1 beta 2"],
            &["1.2", "1.2.15", "1.10 (2026)"],
            &["2026", "2026-rc1"],
            &["2026-01-02T07:30:00Z", "2026-01-02 08:30"],
            &["march", "2026 release"],
        ] {
            assert_eq!(unordered(labels), None, "{labels:?}");
        }
        for labels in [
            ["03.01.2026", "04.01.2025"],
            ["1/3/2026", "12/31/2025"],
            ["2026-01-02", "03.01.2026"],
            ["2026-01-02", "2026/01/03"],
            ["2026-01-02", "20260103"],
            ["2026-01-02", "1.9"],
            ["3 Jan 2026", "1 Feb 2026"],
            ["2026-Jan-03", "2026-Apr-01"],
        ] {
            assert_eq!(unordered(&labels), Some(labels));
            let reversed = [labels[1], labels[0]];
            assert!(unordered(&reversed).is_some(), "{reversed:?}");
        }
    }

    fn label() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            prop::sample::select(BEFORE_RELEASE.to_vec()).prop_map(str::to_owned),
            prop::sample::select(vec![".", "-", " ", "0", "00", "1", "9", "10", "v", "Beta", "b", "é", "(", "+"])
                .prop_map(str::to_owned),
            "[0-9]{1,3}",
            "\\PC{0,2}",
        ];
        prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn any_two_labels_have_an_order(a in label(), b in label()) {
            prop_assert_eq!(compare_labels(&a, &b), compare_labels(&b, &a).reverse());
            prop_assert_eq!(compare_labels(&a, &b) == Ordering::Equal, a == b);
        }

        #[test]
        fn the_order_of_any_three_labels_is_a_line(a in label(), b in label(), c in label()) {
            let mut labels = [a, b, c];
            labels.sort_by(|a, b| compare_labels(a, b));
            prop_assert_ne!(compare_labels(&labels[0], &labels[1]), Ordering::Greater);
            prop_assert_ne!(compare_labels(&labels[1], &labels[2]), Ordering::Greater);
            prop_assert_ne!(compare_labels(&labels[0], &labels[2]), Ordering::Greater);
        }
    }
}

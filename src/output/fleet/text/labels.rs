//! The names of cohorts in tables and plots. They consist of label values only, since all cohorts have the same keys.
//!
//! If names are too long, their longest values are shortened in the middle, all to the same length. Names that would then look the same get their
//! position as a number.

use std::collections::BTreeMap;

use unicode_width::UnicodeWidthStr;

use crate::fleet::{Cohort, CohortReport};
use crate::output::text::style::{clean, fit};

/// The separator between values.
const BETWEEN: &str = " · ";

/// The label values of a cohort.
pub(super) fn values(cohort: &Cohort) -> Vec<String> {
    if cohort.labels.is_empty() {
        return vec![cohort.name()];
    }
    cohort.labels.iter().map(|(_, value)| clean(value.as_deref().unwrap_or("unknown"))).collect()
}

/// The label values of a cohort in one line, in full.
pub(super) fn name(cohort: &Cohort) -> String {
    values(cohort).join(BETWEEN)
}

/// Pads a string with spaces up to this width.
pub(super) fn padded(text: &str, width: usize) -> String {
    crate::output::text::style::pad(text, width)
}

/// The heading above names, which consists of the keys.
pub(super) fn header(cohorts: &[CohortReport]) -> String {
    let keys = cohorts.first().map_or(&[][..], |cohort| &cohort.cohort.labels);
    if keys.is_empty() {
        return "cohort".to_owned();
    }
    keys.iter().map(|(key, _)| clean(key)).collect::<Vec<_>>().join(BETWEEN)
}

/// The names of cohorts, each limited to `room` columns.
pub(super) fn names<'c>(cohorts: impl IntoIterator<Item = &'c Cohort>, room: Option<usize>) -> Vec<String> {
    let values: Vec<Vec<String>> = cohorts.into_iter().map(values).collect();
    cut(&values.iter().map(Vec::as_slice).collect::<Vec<_>>(), room)
}

/// Makes distinct names from these values, each limited to `room` columns.
pub(super) fn cut(names: &[&[String]], room: Option<usize>) -> Vec<String> {
    let whole = cut_alike(names, room);
    if duplicates(&whole).is_empty() {
        return whole;
    }
    let number = |index: usize| format!(" #{}", index + 1);
    let longest = number(names.len()).len();
    let mut cut = cut_alike(names, room.map(|room| room.saturating_sub(longest)));
    for index in duplicates(&cut) {
        cut[index].push_str(&number(index));
    }
    cut
}

/// Makes names from these values, with all values limited to the same length.
fn cut_alike(names: &[&[String]], room: Option<usize>) -> Vec<String> {
    let longest = names.iter().flat_map(|values| values.iter()).map(|value| value.width()).max().unwrap_or(0);
    let joined = |limit: usize| -> Vec<String> {
        let name = |values: &&[String]| values.iter().map(|value| fit(value, Some(limit))).collect::<Vec<_>>();
        names.iter().map(|values| name(values).join(BETWEEN)).collect()
    };
    let Some(room) = room else { return joined(longest) };
    let fits = |cut: &Vec<String>| cut.iter().all(|name| name.width() <= room);
    let cut = (2..=longest).rev().map(joined).find(fits).unwrap_or_else(|| joined(1));
    cut.iter().map(|name| fit(name, Some(room))).collect()
}

/// The indices of names that look like another name.
fn duplicates(names: &[String]) -> Vec<usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    names.iter().for_each(|name| *counts.entry(name).or_default() += 1);
    (0..names.len()).filter(|&index| counts[names[index].as_str()] > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fleet::{many, thousands};

    fn cut_all(names: &[&[&str]], room: usize) -> Vec<String> {
        let names: Vec<Vec<String>> =
            names.iter().map(|values| values.iter().map(|value| (*value).to_owned()).collect()).collect();
        cut(&names.iter().map(Vec::as_slice).collect::<Vec<_>>(), Some(room))
    }

    #[test]
    fn long_values_give_way_and_short_ones_stay() {
        let names: [&[&str]; 2] = [&["1.0", "iPad Air", "south, upstairs"], &["1.1", "iPad Air", "north"]];
        assert_eq!(cut_all(&names, 40), ["1.0 · iPad Air · south, upstairs", "1.1 · iPad Air · north"]);
        let cut = cut_all(&names, 26);
        assert!(cut[0].starts_with("1.0 · iPad Air · sou") && cut[0].ends_with("irs"), "{cut:?}");
        assert_eq!(cut[1], "1.1 · iPad Air · north");
    }

    #[test]
    fn names_never_look_the_same() {
        let names: [&[&str]; 3] = [&["a long one of x here", "1"], &["a long one of y here", "1"], &["b", "1"]];
        for room in [10, 14, 18] {
            let cut = cut_all(&names, room);
            assert!(cut[0] != cut[1] && cut[1] != cut[2], "{cut:?}");
            assert!(cut.iter().all(|name| name.width() <= room), "{cut:?}");
        }
        assert_eq!(cut_all(&[&["unknown"], &["unknown"]], 20), ["unknown #1", "unknown #2"]);
    }

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 123_456, 1_234_567].map(thousands), ["0", "999", "1,000", "123,456", "1,234,567"]);
        assert_eq!((many(1, "run"), many(3_688, "run")), ("1 run".into(), "3,688 runs".into()));
    }
}

//! Sentences that several sections use.

use crate::fleet::{Caution, Summary};
use crate::output::fleet::measures::Measures;
pub(super) use crate::output::fleet::opening::name_of as scope_names;
pub(super) use crate::output::fleet::{many, thousands};
use crate::stats::Quantile;

/// The first few of a list, and how many more there are.
pub(super) fn first_few(names: &[String], count: usize) -> String {
    let shown = names[..count.min(names.len())].join(", ");
    match names.len().saturating_sub(count) {
        0 => shown,
        more => format!("{shown} and {} more", thousands(more as u64)),
    }
}

/// A warning about a summary, in a sentence. Too few runs have a footnote instead.
pub(super) fn caution(caution: &Caution, summary: &Summary, measures: Measures) -> Option<String> {
    match caution {
        Caution::MeanAboveP90 => {
            let p90 = summary.estimates.iter().find(|estimate| estimate.quantile == Quantile::P90);
            let value = p90.and_then(|estimate| estimate.value);
            let p90 = value.map_or_else(|| "P90".to_owned(), |value| format!("P90 {}", measures.text(value)));
            Some(format!("mean {} is above {p90}: a few runs carry it", measures.text(summary.mean.unwrap_or(0.0))))
        }
        Caution::MostlyAbsent => {
            let (zeros, count) = (thousands(summary.zeros), many(summary.count, "run"));
            Some(format!("nothing in {zeros} of {count}: P50 is 0, and the mean includes runs that do not use it"))
        }
        Caution::TooFewRuns { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 123_456, 1_234_567].map(thousands), ["0", "999", "1,000", "123,456", "1,234,567"]);
        assert_eq!((many(1, "run"), many(3_688, "run")), ("1 run".into(), "3,688 runs".into()));
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!((first_few(&names, 3), first_few(&names, 2)), ("a, b, c".into(), "a, b and 1 more".into()));
        assert_eq!(first_few(&[], 2), "");
    }
}

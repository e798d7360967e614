//! Warnings about summaries, as sentences for text and the page.

use super::measures::Measures;
use super::{many, thousands};
use crate::fleet::{Caution, Summary};
use crate::stats::Quantile;

/// A warning about a summary, as a sentence. `None` for too few runs, which have a footnote instead.
pub(super) fn caution(caution: &Caution, summary: &Summary, measures: Measures) -> Option<String> {
    match caution {
        Caution::MeanAboveP90 => {
            let p90 = summary.estimates.iter().find(|estimate| estimate.quantile == Quantile::P90);
            let value = p90.and_then(|estimate| estimate.value);
            let p90 = value.map_or_else(|| "P90".to_owned(), |value| format!("P90 {}", measures.text(value)));
            Some(format!("mean {} is above {p90}: a few runs dominate it", measures.text(summary.mean.unwrap_or(0.0))))
        }
        Caution::MostlyAbsent => {
            let (zeros, count) = (thousands(summary.zeros), many(summary.count, "run"));
            Some(format!("nothing in {zeros} of {count}: P50 is 0, and the mean includes runs that do not use it"))
        }
        Caution::TooFewRuns { .. } => None,
    }
}

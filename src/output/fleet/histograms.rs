//! Formats percentiles of durations that are recorded as bins.

use crate::stats::{BinnedValues, Quantile};
use crate::units::Weight;

/// `1.48 – 1.49 s`, `≥ 9.00 s`: the interval that certainly contains a percentile. `None` with too few durations for it.
pub(super) fn percentile(values: &BinnedValues, quantile: Quantile) -> Option<String> {
    let interval = values.quantile(quantile).filter(|_| quantile.lacks(values.count()).is_none())?;
    Some(match interval {
        (lower, Some(upper)) => {
            let [lower, upper] = [lower, upper].map(|end| Weight::nanos(end).to_string());
            let unit = |end: &str| end.rsplit(' ').next().unwrap_or_default().to_owned();
            let lower = if unit(&lower) == unit(&upper) { lower.split(' ').next().unwrap_or_default() } else { &lower };
            format!("{lower} – {upper}")
        }
        (lower, None) => format!("≥ {}", Weight::nanos(lower)),
    })
}

//! Amounts, limits and times in words.

use crate::calltree::percent;
use crate::report::{Amount, SeriesReport};
use crate::units::{Unit, Weight};

/// `85.00 ms in 85 samples`; where samples are the unit, `39 samples`, or `0 samples in 2 rows` if not all rows count.
pub(in crate::output) fn amount_text(amount: Amount) -> String {
    let Amount { weight, samples } = amount;
    match weight.unit {
        Unit::Samples if weight.value == samples => weight.to_string(),
        Unit::Samples => format!("{weight} in {}", count(samples, "row")),
        _ => format!("{weight} in {}", count(samples, "sample")),
    }
}

/// `1 row`, `2 rows`.
pub(super) fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// The limit below which rows are hidden: `below 1%`, `below 5.00 ms`, or `below 1% or 5.00 ms`.
pub(super) fn below_limit(min_percent: f64, min_weight: u64, unit: Unit) -> String {
    let weight = Weight::new(min_weight, unit);
    match (min_percent > 0.0, min_weight > 0) {
        (true, true) => format!("below {min_percent}% or {weight}"),
        (false, true) => format!("below {weight}"),
        (_, false) => format!("below {min_percent}%"),
    }
}

pub(super) fn share(weight: u64, series: &SeriesReport) -> f64 {
    percent(weight, series.counted.weight.value)
}

/// A time as `MM:SS.mmm.uuu`, as Instruments shows it (truncated, not rounded).
pub(super) fn clock(nanos: u64) -> String {
    let micros = nanos / 1000;
    let (seconds, minutes) = (micros / 1_000_000 % 60, micros / 60_000_000);
    format!("{minutes:02}:{seconds:02}.{:03}.{:03}", micros / 1000 % 1000, micros % 1000)
}

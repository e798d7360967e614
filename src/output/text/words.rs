//! Amounts, limits and times as text.

use crate::calltree::percent;
use crate::profile::Series;
use crate::report::{Amount, Length, SeriesReport};
use crate::units::{Nanos, Scale, Unit, Weight, several};

/// `85.00 ms in 85 samples`. If the unit is samples: `39 samples`, or `0 samples in 2 rows` if the numbers differ.
pub(in crate::output) fn amount_text(amount: Amount) -> String {
    let Amount { weight, samples } = amount;
    match weight.unit {
        Unit::Samples if weight.value == samples => several(samples, "sample"),
        Unit::Samples => format!("{weight} in {}", several(samples, "row")),
        _ => format!("{weight} in {}", several(samples, "sample")),
    }
}

/// The selected weight of a series, with the number of samples if it is known.
pub(in crate::output) fn counted_text(row: &Series, series: &SeriesReport) -> String {
    if row.has_sample_counts() { amount_text(series.counted) } else { series.counted.weight.to_string() }
}

/// The time that a rate is relative to: `74.20 s recorded`, `2.00 s selected`, or `4.31 s sampled` from the first to the last sample.
pub(in crate::output) fn base_text(length: Length) -> String {
    let text = Weight::nanos(length.nanos.as_nanos());
    match length {
        Length { is_part: true, .. } => format!("{text} selected"),
        Length { is_recorded: true, .. } => format!("{text} recorded"),
        _ => format!("{text} sampled"),
    }
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

/// `5 ms`, in the largest unit in which it is a whole number.
pub(in crate::output) fn short_time(time: Nanos) -> String {
    let scale = Scale::whole(Weight::nanos(time.as_nanos()));
    format!("{} {scale}", time.as_nanos() / scale.factor())
}

/// Formats a time as `MM:SS.mmm.uuu`, like Instruments (truncated, not rounded).
pub(in crate::output) fn clock(nanos: u64) -> String {
    let micros = nanos / 1000;
    let (seconds, minutes) = (micros / 1_000_000 % 60, micros / 60_000_000);
    format!("{minutes:02}:{seconds:02}.{:03}.{:03}", micros / 1000 % 1000, micros % 1000)
}

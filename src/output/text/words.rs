//! Amounts, limits and times in words.

use crate::calltree::percent;
use crate::report::{Amount, Length, SeriesReport};
use crate::units::{Nanos, Unit, Weight};

/// `85.00 ms in 85 samples`. If the unit is samples: `39 samples`, or `0 samples in 2 rows` if not all rows are selected.
pub(in crate::output) fn amount_text(amount: Amount) -> String {
    let Amount { weight, samples } = amount;
    match weight.unit {
        Unit::Samples if weight.value == samples => weight.to_string(),
        Unit::Samples => format!("{weight} in {}", count(samples, "row")),
        _ => format!("{weight} in {}", count(samples, "sample")),
    }
}

/// The base of a rate: `the recorded 74.20 s`, `the selected 2.00 s`, `the 4.31 s from the first sample to the last`.
pub(in crate::output) fn base_text(length: Length) -> String {
    let text = Weight::nanos(length.nanos.as_nanos());
    match length {
        Length { is_part: true, .. } => format!("the selected {text}"),
        Length { is_recorded: true, .. } => format!("the recorded {text}"),
        _ => format!("the {text} from the first sample to the last"),
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

/// `5 ms`, in the largest unit in which it is a whole number.
pub(in crate::output) fn short_time(time: Nanos) -> String {
    let nanos = time.as_nanos();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")];
    let unit = units.into_iter().find(|(unit, _)| nanos.is_multiple_of(*unit));
    unit.map_or_else(String::new, |(unit, name)| format!("{} {name}", nanos / unit))
}

/// A time as `MM:SS.mmm.uuu`, as Instruments shows it (truncated, not rounded).
pub(super) fn clock(nanos: u64) -> String {
    let micros = nanos / 1000;
    let (seconds, minutes) = (micros / 1_000_000 % 60, micros / 60_000_000);
    format!("{minutes:02}:{seconds:02}.{:03}.{:03}", micros / 1000 % 1000, micros % 1000)
}

//! Amounts, limits and times in words, and one unit for a whole column: the numbers below each other are compared, so they share it, and
//! the header names it.

use crate::calltree::percent;
use crate::profile::Series;
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

/// The selected amount of a series: without the number of samples, if that is unknown.
pub(in crate::output) fn counted_text(row: &Series, series: &SeriesReport) -> String {
    if row.has_sample_counts() { amount_text(series.counted) } else { series.counted.weight.to_string() }
}

/// The base of a rate: `the recorded 74.20 s`, `the selected 2.00 s`, `the 4.31 s that samples cover`.
pub(in crate::output) fn base_text(length: Length) -> String {
    let text = Weight::nanos(length.nanos.as_nanos());
    match length {
        Length { is_part: true, .. } => format!("the selected {text}"),
        Length { is_recorded: true, .. } => format!("the recorded {text}"),
        _ => format!("the {text} that samples cover"),
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
pub(in crate::output) fn clock(nanos: u64) -> String {
    let micros = nanos / 1000;
    let (seconds, minutes) = (micros / 1_000_000 % 60, micros / 60_000_000);
    format!("{minutes:02}:{seconds:02}.{:03}.{:03}", micros / 1000 % 1000, micros % 1000)
}

/// The scale of the weights of a table. Headers have little room, so units of cycles and events are short there (`Mc`, as Instruments once
/// wrote it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::output) struct Scale {
    unit: &'static str,
    divisor: u64,
}

const STEPS: [u64; 5] = [1, 1_000, 1_000_000, 1_000_000_000, 1_000_000_000_000];

impl Scale {
    /// The scale in which `total` is at least 1 and below 1000, as far as there are units.
    pub(in crate::output) fn of(total: Weight) -> Self {
        let units: &[&'static str] = match total.unit {
            unit if unit.is_time() => &["ns", "µs", "ms", "s"],
            Unit::Cycles => &["cycles", "Kc", "Mc", "Gc", "Tc"],
            Unit::PmcEvents => &["events", "Kev", "Mev", "Gev", "Tev"],
            Unit::Samples => &["samples"],
            _ => &["bytes", "KB", "MB", "GB", "TB"],
        };
        let step = (0..units.len()).rev().find(|&step| total.value >= STEPS[step]).unwrap_or(0);
        Self { unit: units[step], divisor: STEPS[step] }
    }

    /// A time in milliseconds.
    pub(super) fn number_of_millis(time: Nanos) -> String {
        Self { unit: "ms", divisor: STEPS[2] }.number(time.as_nanos())
    }

    /// The unit, for the header.
    pub(in crate::output) fn title(self) -> &'static str {
        self.unit
    }

    /// A weight without its unit: three decimals, or none if the unit is the smallest.
    pub(in crate::output) fn number(self, weight: u64) -> String {
        if self.divisor == 1 {
            return weight.to_string();
        }
        let thousandths = (u128::from(weight) * 1000 + u128::from(self.divisor) / 2) / u128::from(self.divisor);
        format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_sets_the_unit() {
        let seconds = Scale::of(Weight::nanos(9_581_000_000));
        assert_eq!((seconds.title(), seconds.number(1_000_000).as_str()), ("s", "0.001"));
        assert_eq!(seconds.number(9_581_499_999), "9.581");
        let cycles = Scale::of(Weight::cycles(999));
        assert_eq!((cycles.title(), cycles.number(22).as_str()), ("cycles", "22"));
        assert_eq!(Scale::of(Weight::new(5_000, Unit::Samples)).number(5_000), "5000");
        assert_eq!(Scale::of(Weight::nanos(0)).title(), "ns");
    }
}

//! Number formats for measures: all numbers in a column have the same unit and number of decimals.

use std::fmt;

#[cfg(feature = "compression")]
use serde_json::{Value, json};

use super::measure_unit;
use crate::fleet::compare::Quantity;
use crate::units::{Scale, Unit, Weight};

/// The unit and number of decimals of the measures in one table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::output::fleet) struct Measures {
    unit: MeasureUnit,
    divisor: f64,
    decimals: usize,
}

/// A unit of measures: `% of one core`, `Mcycles/s`, `ms`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::output::fleet) enum MeasureUnit {
    Percent,
    Scale(Scale),
    PerSecond(Scale),
    PerDay(Scale),
}

impl fmt::Display for MeasureUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percent => f.write_str("% of one core"),
            Self::Scale(scale) => write!(f, "{scale}"),
            Self::PerSecond(scale) => write!(f, "{scale}/s"),
            Self::PerDay(scale) => write!(f, "{scale}/day"),
        }
    }
}

impl Measures {
    /// The format for measures up to `largest`. In the chosen unit, `largest` is at least 1 and below 1000, if such a unit exists.
    pub(super) fn of(unit: Unit, largest: f64) -> Self {
        if unit == Unit::Nanoseconds {
            let decimals = if largest < 1.0 { 3 } else { 2 };
            return Self { unit: MeasureUnit::Percent, divisor: 1.0, decimals };
        }
        // Measures of reports are in milliseconds and megabytes.
        let base = if unit.is_of_reports() && unit != Unit::Exits { 1e6 } else { 1.0 };
        let scale = Scale::of(Weight::new((largest * base) as u64, unit));
        let of_unit = match unit {
            Unit::Exits => MeasureUnit::PerDay(scale),
            Unit::DayTime | Unit::HitchTime => MeasureUnit::PerSecond(scale),
            _ if unit.is_of_reports() => MeasureUnit::Scale(scale),
            _ => MeasureUnit::PerSecond(scale),
        };
        Self { unit: of_unit, divisor: scale.factor() as f64 / base, decimals: 2 }
    }

    /// The format for values of a quantity up to `largest`.
    pub(super) fn of_quantity(quantity: &Quantity, unit: Unit, largest: f64) -> Self {
        let unit = match quantity {
            Quantity::CpuUse => return Self::of(unit, largest),
            Quantity::CpuTime => unit,
            Quantity::Elapsed | Quantity::Interval(_) => Unit::Nanoseconds,
        };
        let scale = Scale::of(Weight::new(largest as u64, unit));
        Self { unit: MeasureUnit::Scale(scale), divisor: scale.factor() as f64, decimals: 2 }
    }

    /// The unit, for a title.
    pub(super) const fn unit(self) -> MeasureUnit {
        self.unit
    }

    /// The format as JSON, for scripts that format measures.
    #[cfg(feature = "compression")]
    pub(in crate::output::fleet) fn head(self) -> Value {
        json!({"name": self.unit.to_string(), "divisor": self.divisor, "decimals": self.decimals})
    }

    /// Formats a number for a column. Zero is written without decimals, to distinguish it from values near zero. If numbers are right-aligned, their
    /// decimal points are in the same column.
    pub(super) fn number(self, value: f64) -> String {
        if value == 0.0 { format!("0{}", " ".repeat(self.decimals + 1)) } else { self.text(value) }
    }

    /// Formats a number for a sentence.
    pub(super) fn text(self, value: f64) -> String {
        let (scaled, decimals) = (value / self.divisor, self.decimals);
        let least = 10_f64.powi(-(decimals as i32));
        match value {
            0.0 => "0".to_owned(),
            _ if scaled > 0.0 && scaled < least / 2.0 => format!("<{least:.decimals$}"),
            _ => format!("{scaled:.decimals$}"),
        }
    }

    /// Formats the edge of a bin with this number of decimals.
    pub(super) fn edge(self, value: f64, decimals: usize) -> String {
        format!("{:.decimals$}", value / self.divisor)
    }

    /// The number of decimals, at most six, with which all these numbers are exact.
    pub(super) fn decimals_of(self, values: &[f64]) -> usize {
        let is_exact = |decimals: &usize| {
            let power = 10_f64.powi(*decimals as i32);
            values.iter().all(|value| {
                let scaled = value / self.divisor * power;
                (scaled - scaled.round()).abs() < 1e-6 * scaled.abs().max(1.0)
            })
        };
        (0..6).find(is_exact).unwrap_or(6)
    }
}

/// The name of the measure of runs, if all selected threads run.
pub(super) const fn measure_name(unit: Unit) -> &'static str {
    match unit {
        Unit::HangTime => "hang time",
        Unit::LaunchTime => "launch time",
        Unit::ExceptionTime => "CPU time of exceptions",
        Unit::WrittenBytes => "data written",
        Unit::DayTime => "CPU time while the app ran",
        Unit::HitchTime => "hitch time while scrolling",
        Unit::PeakBytes => "peak memory",
        Unit::Exits => "number of unexpected exits",
        _ => "CPU use",
    }
}

/// The unit of a quantity in machine-readable formats.
pub(super) const fn value_unit(quantity: &Quantity, unit: Unit) -> &'static str {
    match quantity {
        Quantity::CpuUse => measure_unit(unit),
        Quantity::CpuTime => unit.name(),
        Quantity::Elapsed | Quantity::Interval(_) => "ns",
    }
}

/// The noun for the item that is measured: a run, a report from the field, or a day of metrics.
pub(super) const fn noun(unit: Unit) -> &'static str {
    match unit {
        _ if unit.is_of_metrics() => "day",
        _ if unit.is_of_reports() => "report",
        _ => "run",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_align_and_small_ones_are_not_zero() {
        let percent = Measures::of(Unit::Nanoseconds, 99.0);
        assert_eq!(
            ["0   ", "<0.01", "0.01", "1.98", "99.00"],
            [0.0, 0.004, 0.006, 1.98, 99.0].map(|v| percent.number(v)).each_ref().map(String::as_str)
        );
        assert_eq!(Measures::of(Unit::Nanoseconds, 0.5).number(0.25), "0.250");
        let cycles = Measures::of(Unit::Cycles, 2.5e9);
        let shown = [cycles.unit().to_string(), cycles.text(2.5e9), cycles.text(3e6)];
        assert_eq!(shown, ["Gcycles/s", "2.50", "<0.01"]);
        assert_eq!(Measures::of(Unit::Samples, 0.0).unit().to_string(), "samples/s");
    }

    #[test]
    fn edges_have_the_decimals_they_need() {
        let percent = Measures::of(Unit::Nanoseconds, 99.0);
        assert_eq!(percent.decimals_of(&[0.0, 5.0, 10.0]), 0);
        assert_eq!(percent.decimals_of(&[0.1, 0.2, 0.3]), 1);
        assert_eq!(percent.decimals_of(&[2.5, 0.075]), 3);
        assert_eq!(Measures::of(Unit::Cycles, 2e6).decimals_of(&[1e6, 1.5e6]), 1);
    }
}

//! Measures as text: one unit and one number of decimals for all in a column.

#[cfg(feature = "compression")]
use serde_json::{Value, json};

use super::measure_unit;
use crate::fleet::compare::Quantity;
use crate::units::Unit;

/// The unit and the decimals of the measures in one table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::output::fleet) struct Measures {
    unit: &'static str,
    divisor: f64,
    decimals: usize,
}

/// The steps of a unit: the first number of each step, and the name of the unit from there.
type Steps = [(f64, &'static str); 5];

const CYCLES: Steps =
    [(1.0, "cycles/s"), (1e3, "kcycles/s"), (1e6, "Mcycles/s"), (1e9, "Gcycles/s"), (1e12, "Tcycles/s")];
const EVENTS: Steps =
    [(1.0, "events/s"), (1e3, "kevents/s"), (1e6, "Mevents/s"), (1e9, "Gevents/s"), (1e12, "Tevents/s")];
const SAMPLES: Steps =
    [(1.0, "samples/s"), (1e3, "ksamples/s"), (1e6, "Msamples/s"), (1e9, "Gsamples/s"), (1e12, "Tsamples/s")];
const ELAPSED: Steps = [(1.0, "ns/s"), (1e3, "µs/s"), (1e6, "ms/s"), (1e9, "s/s"), (1e12, "ks/s")];
/// Of milliseconds per report.
const REPORTED_TIME: Steps = [(1e-6, "ns"), (1e-3, "µs"), (1.0, "ms"), (1e3, "s"), (f64::INFINITY, "s")];
/// Of nanoseconds.
const TIME: Steps = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s"), (f64::INFINITY, "s")];
/// Of milliseconds per second.
const RATIO: Steps = [(1e-6, "ns/s"), (1e-3, "µs/s"), (1.0, "ms/s"), (f64::INFINITY, "ms/s"), (f64::INFINITY, "ms/s")];
/// Of exits per day.
const EXITS: Steps = [
    (1.0, "per day"),
    (f64::INFINITY, "per day"),
    (f64::INFINITY, "per day"),
    (f64::INFINITY, "per day"),
    (f64::INFINITY, "per day"),
];
/// Of megabytes per report.
const REPORTED_BYTES: Steps = [(1e-6, "bytes"), (1e-3, "KB"), (1.0, "MB"), (1e3, "GB"), (1e6, "TB")];
const BYTES: Steps = [(1.0, "bytes/s"), (1e3, "KB/s"), (1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")];

impl Measures {
    /// For measures up to `largest`, which is at least 1 and below 1000 in it, as far as there are units.
    pub(super) fn of(unit: Unit, largest: f64) -> Self {
        if unit == Unit::Nanoseconds {
            let decimals = if largest < 1.0 { 3 } else { 2 };
            return Self { unit: "% of one core", divisor: 1.0, decimals };
        }
        let (divisor, unit) = step(steps(unit), largest);
        Self { unit, divisor, decimals: 2 }
    }

    /// For values of a quantity.
    pub(super) fn of_quantity(quantity: &Quantity, unit: Unit, largest: f64) -> Self {
        let (divisor, unit) = match (quantity, unit) {
            (Quantity::CpuUse, unit) => return Self::of(unit, largest),
            (Quantity::CpuTime, Unit::Cycles | Unit::PmcEvents | Unit::Samples | Unit::Bytes) => {
                let (divisor, name) = step(steps(unit), largest);
                (divisor, name.trim_end_matches("/s"))
            }
            _ => step(TIME, largest),
        };
        Self { unit, divisor, decimals: 2 }
    }

    /// The unit, for a title.
    pub(super) const fn unit(self) -> &'static str {
        self.unit
    }

    /// For scripts that write measures.
    #[cfg(feature = "compression")]
    pub(in crate::output::fleet) fn head(self) -> Value {
        json!({"name": self.unit, "divisor": self.divisor, "decimals": self.decimals})
    }

    /// A number for a column: zeros are short, so that zero looks different from nearly zero. All numbers
    /// have their decimal point in one place if they are aligned to the right.
    pub(super) fn number(self, value: f64) -> String {
        if value == 0.0 { format!("0{}", " ".repeat(self.decimals + 1)) } else { self.text(value) }
    }

    /// A number for a sentence.
    pub(super) fn text(self, value: f64) -> String {
        let (scaled, decimals) = (value / self.divisor, self.decimals);
        let least = 10_f64.powi(-(decimals as i32));
        match value {
            0.0 => "0".to_owned(),
            _ if scaled > 0.0 && scaled < least / 2.0 => format!("<{least:.decimals$}"),
            _ => format!("{scaled:.decimals$}"),
        }
    }

    /// An edge of a step, with this many decimals.
    pub(super) fn edge(self, value: f64, decimals: usize) -> String {
        format!("{:.decimals$}", value / self.divisor)
    }

    /// The number of decimals, at most six, that shows all these numbers exactly.
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

/// The unit of a quantity in machine formats.
pub(super) const fn value_unit(quantity: &Quantity, unit: Unit) -> &'static str {
    match quantity {
        Quantity::CpuUse => measure_unit(unit),
        Quantity::CpuTime => unit.name(),
        Quantity::Elapsed | Quantity::Interval(_) => "ns",
    }
}

/// What has a measure: a run, a report from the field, or a day of metrics.
pub(super) const fn noun(unit: Unit) -> &'static str {
    match unit {
        _ if unit.is_of_metrics() => "day",
        _ if unit.is_of_reports() => "report",
        _ => "run",
    }
}

/// The units of rates, and of what reports state.
const fn steps(unit: Unit) -> Steps {
    match unit {
        Unit::Nanoseconds => TIME,
        Unit::Cycles => CYCLES,
        Unit::PmcEvents => EVENTS,
        Unit::Samples => SAMPLES,
        Unit::Elapsed => ELAPSED,
        Unit::Bytes => BYTES,
        Unit::HangTime | Unit::LaunchTime | Unit::ExceptionTime => REPORTED_TIME,
        Unit::DayTime | Unit::HitchTime => RATIO,
        Unit::WrittenBytes | Unit::PeakBytes => REPORTED_BYTES,
        Unit::Exits => EXITS,
    }
}

/// The step in which a number is at least 1, if there is one.
fn step(steps: Steps, largest: f64) -> (f64, &'static str) {
    steps.into_iter().rev().find(|(start, _)| largest >= *start).unwrap_or(steps[0])
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
        assert_eq!((cycles.unit(), cycles.text(2.5e9), cycles.text(3e6)), ("Gcycles/s", "2.50".into(), "<0.01".into()));
        assert_eq!(Measures::of(Unit::Samples, 0.0).unit(), "samples/s");
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

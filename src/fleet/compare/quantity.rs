//! The quantities of a run: CPU time, CPU use, and elapsed time.
//!
//! CPU use is CPU time divided by recorded time, so it cannot show that the same work takes longer.

use std::fmt;
use std::str::FromStr;

use super::side::Side;
use crate::fleet::report::RunRow;

/// The compared quantity of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// The weight of the run's samples: CPU time, cycles, or events.
    CpuTime,
    /// CPU time divided by the recorded time; for a report from the field, the stated quantity.
    CpuUse,
    /// The recorded (or selected) time.
    Elapsed,
    /// The mean duration of the run's complete intervals with this name.
    Interval(String),
}

impl Quantity {
    /// The value of a run: 0 if it was idle; `None` if it was not measured, or more than 1 % of its rows are unreadable.
    pub fn of(&self, run: &RunRow) -> Option<f64> {
        match self {
            Self::CpuTime | Self::CpuUse if run.is_damaged => None,
            // A report from the field has only the stated quantity.
            Self::CpuTime => run.recorded().map(|_| run.weight as f64),
            Self::CpuUse => Some(run.rate.as_f64()),
            // The time that samples span may differ from the recorded time.
            Self::Elapsed if run.is_estimated() => None,
            Self::Elapsed => length_of(run),
            Self::Interval(_) => None,
        }
    }

    /// The names of the intervals among the quantities.
    pub fn intervals(quantities: &[Self]) -> Vec<String> {
        let name = |quantity: &Self| match quantity {
            Self::Interval(name) => Some(name.clone()),
            _ => None,
        };
        quantities.iter().filter_map(name).collect()
    }

    /// True if samples measure the quantity, for the complete run and for functions.
    pub const fn is_sampled(&self) -> bool {
        matches!(self, Self::CpuTime | Self::CpuUse)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CpuTime => f.write_str("cpu-time"),
            Self::CpuUse => f.write_str("cpu-use"),
            Self::Elapsed => f.write_str("elapsed"),
            Self::Interval(name) => write!(f, "interval:{name}"),
        }
    }
}

impl FromStr for Quantity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "cpu-time" => Ok(Self::CpuTime),
            "cpu-use" => Ok(Self::CpuUse),
            "elapsed" => Ok(Self::Elapsed),
            _ => match text.strip_prefix("interval:").filter(|name| !name.is_empty()) {
                Some(name) => Ok(Self::Interval(name.to_owned())),
                None => Err("expected cpu-time, cpu-use, elapsed or interval:NAME".to_owned()),
            },
        }
    }
}

/// The recorded length in nanoseconds.
fn length_of(run: &RunRow) -> Option<f64> {
    run.recorded().map(|time| time.as_nanos() as f64)
}

/// A quantity's values for all runs of a side.
pub(in crate::fleet) struct QuantityValues {
    /// For each run, its value: 0 if it was idle, `None` if it was not measured.
    values: Vec<Option<f64>>,
    /// By run: the number of equal parts in which its value was counted, such as samples, which limits the precision.
    parts: Vec<f64>,
}

/// Times have a resolution of one microsecond.
const NANOS_PER_PART: f64 = 1e3;

impl QuantityValues {
    pub(in crate::fleet) fn new(quantity: &Quantity, side: &Side) -> Self {
        let runs = &side.report.runs;
        let values: Vec<Option<f64>> = match quantity {
            Quantity::Interval(name) => side.interval_means(name),
            quantity => runs.iter().map(|run| quantity.of(run)).collect(),
        };
        match quantity.is_sampled() {
            true => Self { values, parts: runs.iter().map(|run| run.samples as f64).collect() },
            false => Self::of_times(values.into_iter()),
        }
    }

    /// The recorded lengths, including estimates.
    pub(super) fn lengths(side: &Side) -> Self {
        Self::of_times(side.report.runs.iter().map(length_of))
    }

    fn of_times(times: impl Iterator<Item = Option<f64>>) -> Self {
        // A time of zero is below the resolution.
        let values: Vec<_> = times.map(|value| Some(value?.max(NANOS_PER_PART / 2.0))).collect();
        let parts = values.iter().map(|value| value.unwrap_or_default() / NANOS_PER_PART).collect();
        Self { values, parts }
    }

    /// The values of both sides.
    pub(super) fn of_sides(quantity: &Quantity, sides: &[Side; 2]) -> [Self; 2] {
        sides.each_ref().map(|side| Self::new(quantity, side))
    }

    pub(in crate::fleet) fn get(&self, run: usize) -> Option<f64> {
        self.values[run]
    }

    pub(in crate::fleet) fn logarithm(&self, run: usize) -> Option<f64> {
        self.get(run).filter(|value| *value > 0.0).map(f64::ln)
    }

    pub(super) fn parts(&self, run: usize) -> f64 {
        self.parts[run]
    }

    /// True if no run has the quantity.
    pub(super) fn is_missing(&self) -> bool {
        self.values.iter().all(Option::is_none)
    }

    /// The number of runs without the quantity.
    pub(super) fn unmeasured(&self) -> usize {
        self.values.iter().filter(|value| value.is_none()).count()
    }
}

//! The quantities of a run: CPU time, CPU use, and elapsed time.
//!
//! CPU use is CPU time divided by recorded time, so it cannot show that the same work takes longer.

use std::fmt;
use std::str::FromStr;

use super::side::Side;
use crate::fleet::report::RunRow;

/// What is compared of each run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// The weight of its samples: CPU time, cycles, or events.
    CpuTime,
    /// The same, divided by the recorded time; of a report from the field, what it states.
    CpuUse,
    /// The recorded, or selected, time.
    Elapsed,
    /// The mean duration of its complete intervals with this name.
    Interval(String),
}

impl Quantity {
    /// The value of a run; 0 if it was idle, `None` if it was not measured.
    pub fn of(&self, run: &RunRow) -> Option<f64> {
        match self {
            // A report has no CPU time: it states one number.
            Self::CpuTime => run.recorded().map(|_| run.weight as f64),
            Self::CpuUse => Some(run.rate.as_f64()),
            Self::Elapsed => run.recorded().map(|time| time.as_nanos() as f64),
            Self::Interval(_) => None,
        }
    }

    /// True if it is measured by samples, of the complete run and of its functions.
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

/// The values of a quantity in all runs of both sides.
pub(super) struct QuantityValues {
    /// By side and run: 0 if it was idle, `None` if it was not measured.
    values: [Vec<Option<f64>>; 2],
    /// By side and run: the number of equal parts that it was counted in, such as samples. It limits how well a value is known.
    parts: [Vec<f64>; 2],
}

/// Times are known to a microsecond.
const NANOS_PER_PART: f64 = 1e3;

impl QuantityValues {
    pub(super) fn new(quantity: &Quantity, sides: &[Side; 2]) -> Self {
        let values = sides.each_ref().map(|side| match quantity {
            Quantity::Interval(name) => side.interval_means(name),
            quantity => side.report.runs.iter().map(|run| quantity.of(run)).collect(),
        });
        // A time of zero is one below the resolution.
        let values = match quantity.is_sampled() {
            true => values,
            false => {
                values.map(|values| values.into_iter().map(|value| Some(value?.max(NANOS_PER_PART / 2.0))).collect())
            }
        };
        let parts = match quantity.is_sampled() {
            true => sides.each_ref().map(|side| side.report.runs.iter().map(|run| run.samples as f64).collect()),
            false => values
                .each_ref()
                .map(|values| values.iter().map(|value| value.unwrap_or_default() / NANOS_PER_PART).collect()),
        };
        Self { values, parts }
    }

    pub(super) fn get(&self, side: usize, run: usize) -> Option<f64> {
        self.values[side][run]
    }

    pub(super) fn logarithm(&self, side: usize, run: usize) -> Option<f64> {
        self.get(side, run).filter(|value| *value > 0.0).map(f64::ln)
    }

    pub(super) fn parts(&self, side: usize, run: usize) -> f64 {
        self.parts[side][run]
    }

    /// True if no run of either side has the quantity.
    pub(super) fn is_missing(&self) -> bool {
        self.values.iter().flatten().all(Option::is_none)
    }

    /// The number of runs of a side without the quantity.
    pub(super) fn unmeasured(&self, side: usize) -> usize {
        self.values[side].iter().filter(|value| value.is_none()).count()
    }
}

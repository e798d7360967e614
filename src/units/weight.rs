//! Weights with their unit.

use std::fmt;

use super::{Nanos, Scale, Unit};

/// The weight of a sample, a frame or a tree node, with its unit.
///
/// `Display` writes three or four significant digits: `85.00 ms`, `1.20 Mcycles`, `39 samples`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Weight {
    /// The exact number.
    pub value: u64,
    /// The unit of the value.
    pub unit: Unit,
}

impl Weight {
    /// Creates a weight.
    pub const fn new(value: u64, unit: Unit) -> Self {
        Self { value, unit }
    }

    /// Creates a weight in nanoseconds.
    pub const fn nanos(value: u64) -> Self {
        Self::new(value, Unit::Nanoseconds)
    }

    /// Returns a weight in CPU time as a duration; `None` in other units, which are never mixed with time.
    pub fn as_duration(self) -> Option<std::time::Duration> {
        (self.unit == Unit::Nanoseconds).then(|| std::time::Duration::from_nanos(self.value))
    }

    /// Returns CPU time as a percentage of one core that is busy for `length`; several cores can exceed 100. `None` in other units, or if
    /// `length` is zero.
    pub fn percent_of_core(self, length: Nanos) -> Option<f64> {
        let is_known = self.unit == Unit::Nanoseconds && length.as_nanos() > 0;
        is_known.then(|| self.value as f64 * 100.0 / length.as_nanos() as f64)
    }

    /// Creates a weight in cycles.
    pub const fn cycles(value: u64) -> Self {
        Self::new(value, Unit::Cycles)
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = Scale::rounded(*self, 2);
        let text = match self {
            Self { value: 1, unit: Unit::Exits | Unit::Samples } => {
                format!("1 {scale}").trim_end_matches('s').to_owned()
            }
            _ => format!("{} {scale}", scale.text(self.value, 2)),
        };
        f.pad(&text)
    }
}

//! Reductions for pages that are too large: coarser times first, then no times. Sums stay exact.

use std::fmt;

use serde_json::{Value, json};

use crate::output::text::short_time;
use crate::units::Nanos;

/// The details of samples that a page omits to stay within the requested size. Weights and sample counts are always exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkbenchReduction {
    /// Omits nothing: the page contains each sample.
    #[default]
    None,
    /// Merges samples with the same thread, stack, state, core and kind if they are in the same bin of this length, counted from the beginning of the
    /// run. A merged sample has the time of the first one.
    Bins(Nanos),
    /// Merges samples with the same thread, stack, state and kind, regardless of their times. The page contains no times and no cores.
    Sums,
}

impl WorkbenchReduction {
    /// All reductions, smallest first.
    pub(super) const ALL: [Self; 6] = [
        Self::None,
        Self::Bins(Nanos::from_nanos(1_000_000)),
        Self::Bins(Nanos::from_nanos(10_000_000)),
        Self::Bins(Nanos::from_nanos(100_000_000)),
        Self::Bins(Nanos::from_nanos(1_000_000_000)),
        Self::Sums,
    ];

    /// The JSON in the head; null if nothing is omitted.
    pub(super) fn head(self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Bins(length) => json!({"kind": "bins", "bin_ns": length.as_nanos()}),
            Self::Sums => json!({"kind": "sums"}),
        }
    }
}

impl fmt::Display for WorkbenchReduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("every sample is in the page"),
            Self::Bins(length) => {
                let length = short_time(*length);
                write!(
                    f,
                    "samples with the same thread and stack within {length} are joined, so times are \
                           accurate only to that"
                )
            }
            Self::Sums => f.write_str("samples with the same thread and stack are joined, so the page has no times"),
        }
    }
}

//! The runs whose values percentiles and largest values are.
//!
//! By nearest rank a percentile is the value of a run, which somebody can open. Several runs may have that value: the one that is named is
//! the first in the order of the report.

use crate::stats::{Distribution, Quantile, QuantileMethod};
use crate::units::Millionths;

/// The values of one distribution with the positions of their runs.
#[derive(Debug, Default)]
pub(super) struct RunValues {
    /// Sorted. Runs without a value of their own are the zeros of the distribution, and not here.
    values: Vec<(Millionths, usize)>,
}

impl RunValues {
    /// Values with their run weights and the positions of their runs. Of a weighted distribution, runs that weigh nothing are no part.
    pub(super) fn new(values: impl Iterator<Item = (Millionths, Millionths, usize)>, is_weighted: bool) -> Self {
        let counts = |(_, weight, _): &(Millionths, Millionths, usize)| !is_weighted || weight.get() > 0;
        let mut values: Vec<_> = values.filter(counts).map(|(value, _, run)| (value, run)).collect();
        values.sort_unstable();
        Self { values }
    }

    /// The runs whose values a percentile of this distribution is made of, in the order of their values: one by nearest rank, and two where
    /// the linear method is between two values. Values of zero have none: of all runs that did nothing, none is worth opening.
    pub(super) fn behind(&self, distribution: &Distribution, quantile: Quantile, method: QuantileMethod) -> Vec<usize> {
        let values = distribution.values_behind(quantile, method);
        values.filter(|value| value.get() > 0).filter_map(|value| self.first_with(value)).collect()
    }

    /// The run with the largest value.
    pub(super) fn max(&self) -> Option<usize> {
        self.values.last().and_then(|&(value, _)| self.first_with(value))
    }

    fn first_with(&self, value: Millionths) -> Option<usize> {
        let first = self.values.partition_point(|&(other, _)| other < value);
        self.values.get(first).filter(|found| found.0 == value).map(|found| found.1)
    }
}

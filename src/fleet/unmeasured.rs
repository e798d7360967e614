//! Inputs that could not be measured. If there are many, no conclusions are drawn. Alerts count them by cohort.

use std::collections::BTreeMap;

use super::report::Cohort;

/// The number of unmeasured inputs by cohort labels; `None` for unknown labels.
#[derive(Debug, Default)]
pub(super) struct Unmeasured(BTreeMap<Vec<(String, Option<String>)>, u64>);

impl Unmeasured {
    pub(super) fn add(&mut self, labels: Vec<(String, Option<String>)>, count: u64) {
        if count > 0 {
            *self.0.entry(labels).or_default() += count;
        }
    }

    /// The number of inputs that may belong to a cohort, since an unknown label may have any value.
    pub(super) fn of(&self, cohort: &Cohort) -> u64 {
        let may_be = |labels: &Vec<(String, Option<String>)>| {
            labels.iter().zip(&cohort.labels).all(|((_, own), (_, value))| own.is_none() || own == value)
        };
        self.0.iter().filter(|(labels, _)| may_be(labels)).map(|(_, count)| count).sum()
    }

    /// The number of all inputs without a measurement.
    #[cfg(feature = "dataset")]
    pub(super) fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

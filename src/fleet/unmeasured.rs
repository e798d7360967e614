//! Inputs that could not be measured. If there are many, no conclusions are drawn. Alerts count them by cohort.

use std::collections::BTreeMap;

use super::report::Cohort;
use crate::alert::{AlertOutcome, AlertState, MOST_UNMEASURED};
use crate::units::several;

/// The number of unmeasured inputs for each set of cohort labels. An unknown label is `None`.
#[derive(Debug, Default)]
pub(super) struct Unmeasured(BTreeMap<Vec<(String, Option<String>)>, u64>);

impl Unmeasured {
    pub(super) fn add(&mut self, labels: Vec<(String, Option<String>)>, count: u64) {
        if count > 0 {
            *self.0.entry(labels).or_default() += count;
        }
    }

    /// The number of inputs that may belong to a cohort: an unknown label may have any value.
    fn of(&self, cohort: &Cohort) -> u64 {
        let may_be = |labels: &Vec<(String, Option<String>)>| {
            labels.iter().zip(&cohort.labels).all(|((_, own), (_, value))| own.is_none() || own == value)
        };
        self.0.iter().filter(|(labels, _)| may_be(labels)).map(|(_, count)| count).sum()
    }

    /// All inputs that gave no measure.
    #[cfg(feature = "dataset")]
    pub(super) fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Makes an alert undecided if too many inputs of its cohort could not be measured. `runs` is the number of measured runs.
    pub(super) fn undecide(&self, alert: &mut AlertOutcome, cohort: &Cohort, runs: u64) {
        undecide(alert, self.of(cohort), runs);
    }
}

/// Makes an alert undecided if there are too many inputs without a measure for this number of runs.
pub(super) fn undecide(alert: &mut AlertOutcome, unmeasured: u64, runs: u64) {
    let all = runs + unmeasured;
    if let Some(why) = too_many_unmeasured(unmeasured as usize, all as usize, "").filter(|_| !alert.is_settled()) {
        alert.state = AlertState::UNSURE;
        alert.note = Some(why);
    }
}

/// Explains that too many inputs could not be measured. `of` is a phrase that follows their number.
pub(super) fn too_many_unmeasured(unmeasured: usize, all: usize, of: &str) -> Option<String> {
    (unmeasured as f64 > MOST_UNMEASURED * all as f64).then(|| {
        let all = several(all, "input");
        format!("{unmeasured} of {all}{of} could not be measured, and the others may not be like them")
    })
}

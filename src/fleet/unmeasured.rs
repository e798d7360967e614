//! Inputs that gave no measure: if there are many, nothing is concluded. Alerts count them by cohort.

use std::collections::BTreeMap;

use super::report::{AlertOutcome, AlertState, Cohort};
use crate::units::several;

/// If more than this share of inputs were not measured, nothing is concluded about them: the others may not be like them.
pub(super) const MOST_UNMEASURED: f64 = 0.1;

/// The inputs that gave no measure, by the labels of their cohort. An unknown label is `None`.
#[derive(Debug, Default)]
pub(super) struct Unmeasured(BTreeMap<Vec<(String, Option<String>)>, u64>);

impl Unmeasured {
    pub(super) fn add(&mut self, labels: Vec<(String, Option<String>)>, count: u64) {
        if count > 0 {
            *self.0.entry(labels).or_default() += count;
        }
    }

    /// The inputs that may belong to a cohort: an unknown label may have any value.
    fn of(&self, cohort: &Cohort) -> u64 {
        let may_be = |labels: &Vec<(String, Option<String>)>| {
            labels.iter().zip(&cohort.labels).all(|((_, own), (_, value))| own.is_none() || own == value)
        };
        self.0.iter().filter(|(labels, _)| may_be(labels)).map(|(_, count)| count).sum()
    }

    /// Makes an alert undecided if too many inputs of its cohort, which has this many runs, were not measured.
    pub(super) fn undecide(&self, alert: &mut AlertOutcome, cohort: &Cohort, runs: u64) {
        let unmeasured = self.of(cohort);
        let all = runs + unmeasured;
        // More runs could not make a fired rule about the largest or the smallest one untrue.
        let is_decided = match alert.state {
            AlertState::Undecided { .. } => false,
            AlertState::Fired => !alert.rule.is_settled(),
            AlertState::Quiet => true,
        };
        if let Some(why) = too_many_unmeasured(unmeasured as usize, all as usize, "").filter(|_| is_decided) {
            alert.state = AlertState::Undecided { needed: None };
            alert.note = Some(why);
        }
    }
}

/// Why nothing is concluded about inputs, `of` something, if too many were not measured.
pub(super) fn too_many_unmeasured(unmeasured: usize, all: usize, of: &str) -> Option<String> {
    (unmeasured as f64 > MOST_UNMEASURED * all as f64).then(|| {
        let all = several(all, "input");
        format!("{unmeasured} of {all}{of} could not be measured, and the others may not be like them")
    })
}

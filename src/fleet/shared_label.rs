//! Finds a label, such as a device, that identifies a common origin of several runs in a cohort. Intervals assume that runs are independent.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher as _;

use crate::hash::{BuildHasher, HashMap};
use crate::memory::of_map;
use crate::units::several;

/// A label whose values repeat within cohorts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedLabel {
    pub(crate) key: String,
    /// The number of runs that have the label.
    pub(crate) runs: u64,
    /// The number of distinct values in each cohort, summed over cohorts; smaller than the number of runs.
    pub(crate) values: u64,
}

/// Labels that describe how a run was recorded, not its origin.
const OF_RECORDING: [&str; 3] = ["instruments", "end_reason", "exit_status"];

/// The values of labels that do not define cohorts.
#[derive(Debug, Default)]
pub(super) struct LabelValues {
    by_key: BTreeMap<String, Values>,
    hasher: BuildHasher,
}

#[derive(Debug, Default)]
struct Values {
    runs: u64,
    /// The distinct pairs of cohort and value hash.
    groups: HashMap<(u32, u64), ()>,
}

impl Values {
    fn count(&self) -> u64 {
        self.groups.len() as u64
    }

    /// True if the label has several values in a cohort. A value shared by all runs, such as their version, is not an origin.
    fn differ(&self) -> bool {
        let cohorts: BTreeSet<u32> = self.groups.keys().map(|(cohort, _)| *cohort).collect();
        cohorts.len() < self.groups.len()
    }
}

impl LabelValues {
    pub(super) fn add(&mut self, cohort: u32, labels: &[(String, String)], by: &[String]) {
        for (key, value) in labels.iter().filter(|(key, _)| !by.contains(key) && !OF_RECORDING.contains(&key.as_str()))
        {
            let hash = self.hasher.hash_one(value);
            if !self.by_key.contains_key(key) {
                self.by_key.insert(key.clone(), Values::default());
            }
            let Some(values) = self.by_key.get_mut(key) else { continue };
            values.runs += 1;
            values.groups.insert((cohort, hash), ());
        }
    }

    /// The label whose values repeat; if several labels repeat, the label with the most values, since it identifies the origin of runs most closely.
    pub(super) fn shared(&self) -> Option<SharedLabel> {
        let shared = self.by_key.iter().filter(|(_, values)| values.count() < values.runs && values.differ());
        let (key, values) = shared.rev().max_by_key(|(_, values)| values.count())?;
        Some(SharedLabel { key: key.clone(), runs: values.runs, values: values.count() })
    }

    /// The approximate memory use in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.by_key.values().map(|values| of_map(&values.groups)).sum()
    }
}

impl SharedLabel {
    /// A sentence about the assumption of independence.
    pub(super) fn sentence(&self) -> String {
        let Self { key, runs, values } = self;
        let (runs, values) = (several(*runs, "run"), several(*values, "value"));
        format!(
            "Intervals assume that runs are independent. Within cohorts, {runs} have only {values} of {key}: if runs with the same {key} are similar, intervals are too narrow, and more differences are chance."
        )
    }
}

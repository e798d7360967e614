//! The label that identifies what several runs of a cohort come from, such as a device: intervals assume that runs are independent.

use std::collections::BTreeMap;
use std::hash::BuildHasher as _;

use crate::hash::{BuildHasher, HashMap};
use crate::memory::of_map;

/// A label whose values repeat within cohorts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedLabel {
    /// The key of the label.
    pub(crate) key: String,
    /// The number of runs that have it.
    pub(crate) runs: u64,
    /// The number of its values in each cohort, added up; fewer than runs.
    pub(crate) values: u64,
}

/// Labels that describe how a run was recorded, not its origin.
const OF_RECORDING: [&str; 3] = ["instruments", "end_reason", "exit_status"];

/// The values of labels that do not make cohorts.
#[derive(Debug, Default)]
pub(super) struct LabelValues {
    by_key: BTreeMap<String, Values>,
    hasher: BuildHasher,
}

#[derive(Debug, Default)]
struct Values {
    runs: u64,
    /// By cohort and hash of the value.
    groups: HashMap<(u32, u64), ()>,
    first: Option<u64>,
    /// True if there are several values: a value shared by all runs identifies nothing.
    differ: bool,
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
            values.differ |= *values.first.get_or_insert(hash) != hash;
        }
    }

    /// Among several labels that repeat, the one with most values: it is nearest to the origin of runs.
    pub(super) fn shared(&self) -> Option<SharedLabel> {
        let count = |values: &Values| values.groups.len() as u64;
        let shared = self.by_key.iter().filter(|(_, values)| values.differ && count(values) < values.runs);
        let (key, values) = shared.rev().max_by_key(|(_, values)| count(values))?;
        Some(SharedLabel { key: key.clone(), runs: values.runs, values: count(values) })
    }

    /// About how many bytes it takes.
    pub(super) fn memory(&self) -> u64 {
        self.by_key.values().map(|values| of_map(&values.groups)).sum()
    }
}

impl SharedLabel {
    /// The assumption of intervals, in a sentence.
    pub(super) fn sentence(&self) -> String {
        let Self { key, runs, values } = self;
        let each = *runs as f64 / *values as f64;
        format!(
            "Intervals assume that runs are independent. In a cohort, each {key} has {each:.1} runs on average: if runs with the same {key} are similar, intervals are too narrow, and more differences are chance."
        )
    }
}

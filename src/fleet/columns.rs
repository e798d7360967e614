//! One scope over all runs: which process, thread, binary or function had which measure in which run.

use super::run::{NameId, RunMeasures};
use super::scope::{FleetScope, Measure};
use super::scope_name::ScopeName;
use crate::hash::HashMap;
use crate::memory::{of_map, of_vec};
use crate::profile::{StringId, Strings};

/// One or two names; what they are depends on the scope.
type Key = (StringId, Option<StringId>);

/// The values of one key in one run. Runs without the key have no entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The position of the key, in the order of first sight.
    pub(super) key: u32,
    /// The position of the run.
    pub(super) run: u32,
    /// Its weight there; zero where only samples without weight have it.
    pub(super) weight: u64,
    /// Its samples there, as many of one weight as are as noisy.
    pub(super) effective_samples: u64,
    /// Its samples there.
    pub(super) samples: u64,
}

/// All keys of one scope.
#[derive(Debug)]
pub(super) struct ScopeColumn {
    pub(super) scope: FleetScope,
    measure: Measure,
    ids: HashMap<Key, u32>,
    keys: Vec<Key>,
    pub(super) entries: Vec<Entry>,
}

/// Names over all runs, each once.
#[derive(Debug, Default)]
pub(super) struct FleetNames(Strings);

impl FleetNames {
    /// The id of a text.
    pub(super) fn id(&mut self, text: &str) -> StringId {
        // Four billion names would take more than 64 GB.
        self.0.intern(text).expect("a fleet has less than four billion names")
    }

    /// The approximate number of bytes they take.
    pub(super) fn memory(&self) -> u64 {
        self.0.memory()
    }

    pub(super) fn get(&self, id: StringId) -> String {
        self.0.get(id).to_owned()
    }
}

/// Weight and samples.
type Sum = (u64, u64);

impl ScopeColumn {
    pub(super) fn new(scope: FleetScope, measure: Measure) -> Self {
        Self { scope, measure, ids: HashMap::default(), keys: Vec::new(), entries: Vec::new() }
    }

    /// About how many bytes it takes.
    pub(super) fn memory(&self) -> u64 {
        of_map(&self.ids) + of_vec(&self.keys) + of_vec(&self.entries)
    }

    /// Adds what the rows of a run say, of the processes that count.
    pub(super) fn add(
        &mut self,
        run: u32,
        measures: &RunMeasures,
        counts: &dyn Fn(NameId) -> bool,
        names: &mut FleetNames,
    ) {
        let record = &measures.record;
        for ((first, second), (weight, samples)) in self.sums(measures, counts) {
            if weight == 0 && samples == 0 {
                continue;
            }
            let key = (names.id(measures.name(first)), second.map(|second| names.id(measures.name(second))));
            let next = self.keys.len() as u32;
            let key_id = *self.ids.entry(key).or_insert(next);
            if key_id == next {
                self.keys.push(key);
            }
            let effective = u128::from(samples) * u128::from(record.effective_samples);
            let effective_samples = u64::try_from(effective / u128::from(record.samples.max(1))).unwrap_or(u64::MAX);
            self.entries.push(Entry { key: key_id, run, weight, effective_samples, samples });
        }
    }

    /// The rows of a run, summed by key.
    fn sums(&self, measures: &RunMeasures, counts: &dyn Fn(NameId) -> bool) -> HashMap<(NameId, Option<NameId>), Sum> {
        let is_all = self.measure == Measure::AllWeight;
        let mut sums: HashMap<(NameId, Option<NameId>), Sum> = HashMap::default();
        let mut add = |key, own: Sum, all: Sum| {
            let (weight, samples) = if is_all { all } else { own };
            let sum = sums.entry(key).or_default();
            *sum = (sum.0.saturating_add(weight), sum.1.saturating_add(samples));
        };
        if self.scope == FleetScope::Binary {
            for row in measures.binaries.iter().filter(|row| counts(row.process)) {
                let key = (row.binary, None);
                add(key, (row.self_weight, row.self_samples), (row.all_weight, row.all_samples));
            }
            return sums;
        }
        for row in measures.frames.iter().filter(|row| counts(row.process)) {
            let own = (row.self_weight, row.self_samples);
            match self.scope {
                FleetScope::Function => add((row.binary, Some(row.function)), own, (row.all_weight, row.all_samples)),
                FleetScope::Thread => add((row.process, Some(row.thread)), own, own),
                _ => add((row.process, None), own, own),
            }
        }
        sums
    }

    /// The name of the process, thread, binary or function that a key stands for.
    pub(super) fn name(&self, key: u32, names: &FleetNames) -> ScopeName {
        let (first, second) = self.keys[key as usize];
        let (first, second) = (names.get(first), second.map(|second| names.get(second)));
        let mut name = ScopeName::default();
        match self.scope {
            FleetScope::Run => {}
            FleetScope::Process => name.process = Some(first),
            FleetScope::Thread => (name.process, name.thread) = (Some(first), second),
            FleetScope::Binary => name.binary = Some(first),
            FleetScope::Function => (name.binary, name.function) = (Some(first), second),
        }
        name
    }
}

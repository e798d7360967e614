//! The values of one scope over all runs: the measure of each process, thread, binary or function in each run.

use super::entries::{Entries, Entry};
use super::measures::Measure;
use super::run::{FleetNames, NameId, RunNames, RunRows};
use super::scope::{FleetScope, ScopeName};
use crate::hash::HashMap;
use crate::memory::{of_map, of_vec};
use crate::profile::StringId;
use crate::units::Unit;

/// One or two names, depending on the scope.
type Key = (StringId, Option<StringId>);

/// Collects the sums of all keys in one scope.
#[derive(Debug)]
pub(super) struct ScopeColumn {
    pub(super) scope: FleetScope,
    measure: Measure,
    /// True if functions with the same name share a key, regardless of their binary.
    is_of_names: bool,
    ids: HashMap<Key, u32>,
    keys: Vec<Key>,
    /// For each key, one bit per unit in which any run has weight for it.
    units: Vec<u16>,
    pub(super) entries: Entries,
    sums: RunSums,
}

/// Weight and number of samples.
type Sum = (u64, u64);

/// The sums of the keys in a single run.
#[derive(Debug, Default)]
struct RunSums {
    /// Indexed by key; `None` for keys that are not in the run.
    sums: Vec<Option<Sum>>,
    /// The keys in the run.
    keys: Vec<u32>,
}

impl RunSums {
    fn add(&mut self, key: u32, (weight, samples): Sum) {
        let index = key as usize;
        if index >= self.sums.len() {
            self.sums.resize(index + 1, None);
        }
        if self.sums[index].is_none() {
            self.keys.push(key);
        }
        let sum = self.sums[index].get_or_insert((0, 0));
        *sum = (sum.0.saturating_add(weight), sum.1.saturating_add(samples));
    }

    /// Passes all sums to `each`, and resets them.
    fn take(&mut self, mut each: impl FnMut(u32, Sum)) {
        for key in self.keys.drain(..) {
            each(key, self.sums[key as usize].take().unwrap_or_default());
        }
    }
}

impl ScopeColumn {
    pub(super) fn new(scope: FleetScope, measure: Measure, is_of_names: bool) -> Self {
        Self {
            scope,
            measure,
            is_of_names,
            ids: HashMap::default(),
            keys: Vec::new(),
            units: Vec::new(),
            entries: Entries::default(),
            sums: RunSums::default(),
        }
    }

    /// The approximate memory use in bytes.
    pub(super) fn memory(&self) -> u64 {
        let keys = of_map(&self.ids) + of_vec(&self.keys) + of_vec(&self.units);
        keys + of_vec(&self.sums.sums) + self.entries.memory()
    }

    /// Adds the rows of a run for the selected processes.
    pub(super) fn add(
        &mut self,
        run: u32,
        rows: &RunRows<'_>,
        counts: &dyn Fn(NameId) -> bool,
        names: &mut RunNames<'_>,
    ) {
        self.sum(rows, counts, names);
        let Self { sums, units, entries, .. } = self;
        let record = rows.record;
        sums.take(|key, (weight, samples)| {
            if weight > 0 || samples > 0 {
                units[key as usize] |= u16::from(weight > 0) << record.unit as u8;
                entries.add(key, Entry { run, weight, samples }, record.usual_weight);
            }
        });
    }

    /// Sums the rows of a run by key.
    fn sum(&mut self, rows: &RunRows<'_>, counts: &dyn Fn(NameId) -> bool, names: &mut RunNames<'_>) {
        let scope = self.scope;
        // The total of a thread or process is the sum of its self weights.
        let is_all = self.measure == Measure::AllWeight && matches!(scope, FleetScope::Binary | FleetScope::Function);
        // Rows of the same process, and of the same thread, are adjacent.
        let mut last = None;
        let rows = if scope == FleetScope::Binary { rows.binaries } else { rows.frames };
        for row in rows.iter().filter(|row| counts(row.process)) {
            let name = match scope {
                FleetScope::Function if self.is_of_names => (row.function, None),
                FleetScope::Function => (row.binary, Some(row.function)),
                FleetScope::Binary => (row.binary, None),
                FleetScope::Thread => (row.process, Some(row.thread)),
                FleetScope::Process | FleetScope::Run => (row.process, None),
            };
            let key = match last {
                Some((known, key)) if known == name => key,
                _ => self.key(name, names),
            };
            last = Some((name, key));
            self.sums.add(key, row.sum(is_all));
        }
    }

    /// The key of a function; `None` if no run contains it.
    pub(super) fn key_of_function(&self, binary: NameId, function: NameId, names: &mut RunNames<'_>) -> Option<u32> {
        self.ids.get(&(names.id(binary), Some(names.id(function)))).copied()
    }

    fn key(&mut self, (first, second): (NameId, Option<NameId>), names: &mut RunNames<'_>) -> u32 {
        let key = (names.id(first), second.map(|second| names.id(second)));
        let next = self.keys.len() as u32;
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.keys.push(key);
            self.units.push(0);
        }
        id
    }

    /// The number of keys in all runs, including those that are always zero.
    pub(super) fn count(&self) -> usize {
        self.keys.len()
    }

    /// The number of keys with weight in any run with this unit.
    pub(super) fn used_in(&self, unit: Unit) -> usize {
        self.units.iter().filter(|units| **units & (1 << unit as u8) != 0).count()
    }

    /// The first (or only) name of a key.
    pub(super) fn first_name(&self, key: u32, names: &FleetNames) -> String {
        names.get(self.keys[key as usize].0)
    }

    /// The name of the process, thread, binary or function with this key.
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

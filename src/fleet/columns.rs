//! One scope over all runs: the measure of each process, thread, binary or function in each run.

use super::entries::{Entries, Entry};
use super::measures::Measure;
use super::run::{FleetNames, NameId, RunNames, RunRows};
use super::scope::{FleetScope, ScopeName};
use crate::hash::HashMap;
use crate::memory::{of_map, of_vec};
use crate::profile::StringId;
use crate::units::Unit;

/// One or two names; their meaning depends on the scope.
type Key = (StringId, Option<StringId>);

/// The sums of all keys of one scope.
#[derive(Debug)]
pub(super) struct ScopeColumn {
    pub(super) scope: FleetScope,
    measure: Measure,
    /// True if functions with one name are one key, in any binary.
    is_of_names: bool,
    ids: HashMap<Key, u32>,
    keys: Vec<Key>,
    /// By key: a bit for each unit in which some run has weight of it.
    units: Vec<u16>,
    pub(super) entries: Entries,
    sums: RunSums,
}

/// Weight and samples.
type Sum = (u64, u64);

/// The sums of the keys of a run.
#[derive(Debug, Default)]
struct RunSums {
    /// By key. Keys that the run lacks are zero.
    sums: Vec<Option<Sum>>,
    /// The keys that it has.
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

    /// The sums, of which none is left.
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

    /// About how many bytes it takes.
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
        // All that a thread or a process did is the sum of its self weights.
        let is_all = self.measure == Measure::AllWeight && matches!(scope, FleetScope::Binary | FleetScope::Function);
        // Rows of one process, and of one thread, follow each other.
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

    /// The key of a function, if any run had it.
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

    /// The number of keys that runs have, also of those that are zero in all of them.
    pub(super) fn count(&self) -> usize {
        self.keys.len()
    }

    /// The number of keys that have weight in some run of this unit.
    pub(super) fn used_in(&self, unit: Unit) -> usize {
        self.units.iter().filter(|units| **units & (1 << unit as u8) != 0).count()
    }

    /// The name of a key, or the first of its names.
    pub(super) fn first_name(&self, key: u32, names: &FleetNames) -> String {
        names.get(self.keys[key as usize].0)
    }

    /// The name of the process, thread, binary or function of a key.
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

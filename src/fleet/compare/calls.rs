//! The calls between functions, from the call trees of all runs on a side.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::fleet::columns::ScopeColumn;
use crate::fleet::run::{FleetNames, RunNames, StackRow};
use crate::fleet::scope::ScopeName;

/// Calls between functions, as keys of a column. An outermost function has the caller `None`.
#[derive(Debug, Default)]
pub(super) struct Calls(HashSet<(Option<u32>, u32)>);

impl Calls {
    /// Adds the calls in a run's call trees, if both functions are in the column.
    pub(super) fn add(
        &mut self,
        stacks: &[StackRow],
        is_counted: impl Fn(&StackRow) -> bool,
        column: &ScopeColumn,
        names: &mut RunNames<'_>,
    ) {
        for row in stacks.iter().filter(|row| is_counted(row)) {
            let Some(key) = column.key_of_function(row.binary, row.function, names) else { continue };
            let caller = row.parent.map(|caller| &stacks[caller as usize]);
            let caller = caller.and_then(|caller| column.key_of_function(caller.binary, caller.function, names));
            self.0.insert((caller, key));
        }
    }

    /// The calls by name.
    pub(super) fn by_name<'s>(
        &'s self,
        column: &'s ScopeColumn,
        names: &'s FleetNames,
    ) -> impl Iterator<Item = (Option<ScopeName>, ScopeName)> + 's {
        let name = |key| column.name(key, names);
        self.0.iter().map(move |&(caller, key)| (caller.map(name), name(key)))
    }
}

/// The calls of both sides.
pub(super) struct Relatives {
    callees: BTreeMap<Option<ScopeName>, BTreeSet<ScopeName>>,
    callers: BTreeMap<ScopeName, BTreeSet<Option<ScopeName>>>,
}

impl Relatives {
    pub(super) fn new(calls: impl Iterator<Item = (Option<ScopeName>, ScopeName)>) -> Self {
        let mut relatives = Self { callees: BTreeMap::new(), callers: BTreeMap::new() };
        for (caller, callee) in calls {
            relatives.callers.entry(callee.clone()).or_default().insert(caller.clone());
            relatives.callees.entry(caller).or_default().insert(callee);
        }
        relatives
    }

    /// True if no calls are known.
    pub(super) fn are_unknown(&self) -> bool {
        self.callers.is_empty()
    }

    /// Functions whose cost may have moved to this one: its callers, its callees, and other callees of its callers.
    pub(super) fn of(&self, name: &ScopeName) -> BTreeSet<&ScopeName> {
        let callers = || self.callers.get(name).into_iter().flatten();
        let called = |caller: &Option<ScopeName>| self.callees.get(caller).into_iter().flatten();
        let mut found: BTreeSet<&ScopeName> = callers().flatten().collect();
        found.extend(called(&Some(name.clone())));
        found.extend(callers().flat_map(called));
        found.remove(name);
        found
    }
}

//! The nearest common caller of each function: the last function that all its callers have in common.

use std::collections::HashMap;

use crate::fleet::columns::ScopeColumn;
use crate::fleet::run::{NameId, RunNames, StackRow};

/// The nearest common caller of each function, by key. A function whose caller differs from run to run has none.
#[derive(Debug, Default)]
pub(super) struct Callers(HashMap<u32, Option<u32>>);

impl Callers {
    /// Adds the call trees of a run, whose functions are in the column.
    pub(super) fn add(
        &mut self,
        stacks: &[StackRow],
        is_counted: impl Fn(&StackRow) -> bool,
        column: &ScopeColumn,
        names: &mut RunNames<'_>,
    ) {
        let mut nearest: HashMap<(NameId, NameId), Option<u32>> = HashMap::new();
        for row in stacks.iter().filter(|row| is_counted(row) && !is_recursive(stacks, row)) {
            let known = nearest.entry((row.binary, row.function)).or_insert(row.parent);
            *known = common(stacks, *known, row.parent);
        }
        for ((binary, function), caller) in nearest {
            let Some(key) = column.key_of_function(binary, function, names) else { continue };
            let caller = caller.map(|caller| &stacks[caller as usize]);
            let caller = caller.and_then(|caller| column.key_of_function(caller.binary, caller.function, names));
            let known = self.0.entry(key).or_insert(caller);
            *known = known.filter(|known| Some(*known) == caller);
        }
    }

    /// The key of a function's nearest common caller.
    pub(super) fn of(&self, key: u32) -> Option<u32> {
        self.0.get(&key).copied().flatten()
    }
}

/// True if a caller of a row is the same function.
fn is_recursive(stacks: &[StackRow], row: &StackRow) -> bool {
    let callers = std::iter::successors(row.parent, |caller| stacks[*caller as usize].parent);
    callers
        .map(|caller| &stacks[caller as usize])
        .any(|caller| (caller.binary, caller.function) == (row.binary, row.function))
}

/// The last row on the paths to both. A caller precedes the functions that it calls.
fn common(stacks: &[StackRow], mut a: Option<u32>, mut b: Option<u32>) -> Option<u32> {
    while a != b {
        let later = if a > b { &mut a } else { &mut b };
        *later = later.and_then(|row| stacks[row as usize].parent);
    }
    a
}

//! The call trees of a run as rows: one per function below each caller, by the names of process and thread.

use super::tally::Sum;
use crate::fleet::run::StackRow;
use crate::hash::HashMap;
use crate::memory::{OverBudget, Reservation};
use crate::profile::{Category, Profile, StackId};

/// Memory is reserved once per this many rows.
const ROWS_BETWEEN: usize = 1 << 12;

/// The approximate memory of a row and its entries in both maps.
const ROW_BYTES: u64 = 128;

/// Converts the stacks of one profile to trees.
pub(super) struct Trees<'p> {
    profile: &'p Profile,
    /// By function: the category of its binary.
    categories: Vec<Category>,
    /// By function: the key of its name and binary.
    keys: Vec<u32>,
}

impl<'p> Trees<'p> {
    pub(super) fn new(profile: &'p Profile, keys: &[u32]) -> Self {
        let of_binary = |id| Category::of_binary(profile, profile.function(id).binary);
        Self { profile, categories: profile.function_ids().map(of_binary).collect(), keys: keys.to_vec() }
    }

    /// Adds the tree of a group. `row` creates the row for a key and category; `no_stack` is the key of samples without a stack.
    ///
    /// # Errors
    /// If the rows exceed the memory budget.
    pub(super) fn add(
        &self,
        stacks: &[(u32, Option<StackId>, Sum)],
        no_stack: u32,
        mut row: impl FnMut(u32, Category) -> StackRow,
        (rows, reserved): (&mut Vec<StackRow>, &mut Reservation),
    ) -> Result<(), OverBudget> {
        let mut places: HashMap<(Option<u32>, u32, Category), u32> = HashMap::default();
        let mut place_of: HashMap<StackId, u32> = HashMap::default();
        let mut path = Vec::new();
        let mut place = |parent: Option<u32>, (key, category): (u32, Category), rows: &mut Vec<StackRow>| {
            *places.entry((parent, key, category)).or_insert_with(|| {
                rows.push(StackRow { parent, ..row(key, category) });
                (rows.len() - 1) as u32
            })
        };
        let mut counted = rows.len();
        for &(_, stack, sum) in stacks {
            let mut next = stack;
            while let Some(id) = next.filter(|id| !place_of.contains_key(id)) {
                path.push(id);
                next = self.profile.stack(id).parent;
            }
            let mut own = next.map(|id| place_of[&id]);
            while let Some(id) = path.pop() {
                let function = self.profile.frame(self.profile.stack(id).frame).function.index();
                let found = place(own, (self.keys[function], self.categories[function]), rows);
                place_of.insert(id, found);
                own = Some(found);
            }
            let own = own.unwrap_or_else(|| place(None, (no_stack, Category::Unknown), rows));
            let own = &mut rows[own as usize];
            own.self_weight += sum.weight;
            own.self_samples += sum.samples;
            if rows.len() - counted >= ROWS_BETWEEN {
                reserved.grow((rows.len() - counted) as u64 * ROW_BYTES)?;
                counted = rows.len();
            }
        }
        Ok(())
    }
}

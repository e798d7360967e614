//! The places of the parts of intervals and hang risks in the rows of a table, if their types are supported.

use super::layout::{Layout, Place};
use crate::recording::{ROLES, Role, RowKind, Wanted};

/// The places of a row's parts.
#[derive(Clone, Debug)]
pub(super) struct IntervalColumns {
    pub(super) kind: RowKind,
    /// By role.
    places: [Option<Place>; ROLES],
    /// The reasons why parts are absent from every row.
    pub(super) unread: Vec<String>,
}

impl IntervalColumns {
    /// The columns of a table, or the reason why its rows cannot be used.
    pub(super) fn of(layout: &Layout) -> Result<Self, String> {
        let kind = RowKind::of_schema(&layout.schema.name).ok_or("its rows are not intervals")?;
        let mut columns = Self { kind, places: [None; ROLES], unread: Vec::new() };
        for Wanted { role, mnemonic, types, is_needed } in kind.wanted() {
            match layout.typed_column(mnemonic, types) {
                Ok(place) => columns.places[*role as usize] = Some(place),
                Err(reason) if *is_needed => return Err(reason),
                Err(reason) => columns.unread.push(reason),
            }
        }
        Ok(columns)
    }

    /// The place of a part in a row, and its value, unless it is absent.
    pub(super) fn find(&self, role: Role, row: &[u8]) -> Option<(Place, u64)> {
        let place = self.places[role as usize]?;
        Some((place, place.value(row)?))
    }

    /// The value of a part of a row.
    pub(super) fn value(&self, role: Role, row: &[u8]) -> Option<u64> {
        Some(self.find(role, row)?.1)
    }
}

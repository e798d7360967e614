//! The head of a payload: lists of rows in JSON.

use serde_json::Value;

use super::damage::Damage;
use crate::error::Error;
use crate::profile::Id;

#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'h> {
    pub(super) value: &'h Value,
    pub(super) damage: Damage<'h>,
}

/// A row of a list in the head.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeadRow<'h> {
    pub(super) value: &'h Value,
    list: &'h str,
    damage: Damage<'h>,
}

impl<'h> Head<'h> {
    /// Returns the rows of a list, or none if it is missing.
    pub(super) fn rows(&self, list: &'h str) -> impl Iterator<Item = HeadRow<'h>> + use<'h> {
        let damage = self.damage;
        self.value[list].as_array().into_iter().flatten().map(move |value| HeadRow { value, list, damage })
    }
}

impl<'h> HeadRow<'h> {
    pub(super) fn text(&self, field: &str) -> Result<&'h str, Error> {
        self.optional_text(field).ok_or_else(|| self.wrong(field))
    }

    pub(super) fn optional_text(&self, field: &str) -> Option<&'h str> {
        self.value[field].as_str()
    }

    pub(super) fn flag(&self, field: &str) -> bool {
        self.value[field] == true
    }

    /// Returns a number, which is written as a string above 2⁵³ − 1; `None` if it is missing or null.
    pub(super) fn optional_number(&self, field: &str) -> Result<Option<u64>, Error> {
        match &self.value[field] {
            Value::Null => Ok(None),
            value => number(value).map(Some).ok_or_else(|| self.wrong(field)),
        }
    }

    pub(super) fn number(&self, field: &str) -> Result<u64, Error> {
        self.optional_number(field)?.ok_or_else(|| self.wrong(field))
    }

    pub(super) fn number_u32(&self, field: &str) -> Result<u32, Error> {
        u32::try_from(self.number(field)?).map_err(|_| self.wrong(field))
    }

    /// Returns an id, which must be less than `rows`.
    pub(super) fn id<T: ?Sized>(&self, field: &str, rows: usize) -> Result<Id<T>, Error> {
        let index = usize::try_from(self.number(field)?).ok().filter(|&index| index < rows);
        index.and_then(Id::from_index).ok_or_else(|| self.wrong(field))
    }

    /// An error about the value of a field.
    #[cold]
    pub(super) fn wrong(&self, field: &str) -> Error {
        self.damage.in_head(format!("{field} in {} is missing or invalid", self.list))
    }
}

/// Converts a number or numeric string without loss.
pub(super) fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

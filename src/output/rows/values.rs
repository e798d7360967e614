//! Values in the forms that several formats share.

use std::borrow::Cow;
use std::io;

use crate::settings::{COLUMNS, FORMAT};
use crate::tables::{FieldValue, OutputColumn, StackNames};

/// The functions of a stack, leaf first, one per line.
fn lines_of(stack: crate::profile::Id<crate::profile::Stack>, stacks: &StackNames) -> String {
    stacks.functions(stack).collect::<Vec<_>>().join("\n")
}

/// Returns a value as a string; `None` if no value was recorded.
pub(super) fn text_of<'v>(value: &'v FieldValue<'_>, stacks: &StackNames) -> Option<Cow<'v, str>> {
    Some(match value {
        FieldValue::None => return None,
        FieldValue::Text(text) => Cow::Borrowed(text),
        FieldValue::Stack(stack) => lines_of(*stack, stacks).into(),
        value => value.to_string().into(),
    })
}

/// A number of a column that has 63 bits.
pub(super) fn signed(number: u64, column: &OutputColumn) -> io::Result<i64> {
    i64::try_from(number).map_err(|_| {
        io::Error::other(format!(
            "{}: {number} does not fit in a signed number of 64 bits; {FORMAT} csv and json write it, and {COLUMNS} omits it",
            column.name
        ))
    })
}

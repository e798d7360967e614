//! The fields of a table. Most columns have one field, but threads, processes and some other kinds have several.
//!
//! | column | fields of `X` |
//! |---|---|
//! | a number, a string, a list of numbers | `X` |
//! | a number with a string | `X` (the number), `X.name` |
//! | a process | `X` (its name), `X.pid` |
//! | a thread | `X` (its name), `X.tid`, `X.process`, `X.pid` |
//! | a stack | `X` (its frames, leaf first), `X.id` (its number among the stacks of the output) |
//!
//! All outputs, filters and sort orders use these names.

use std::borrow::Cow;
use std::fmt;

use super::{Cell, ColumnKind, RowValues, TableHead};
use crate::profile::StackId;

/// A field of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// The name, such as `thread.tid`.
    pub(super) name: String,
    /// The kind of its values.
    pub(super) kind: FieldKind,
    pub(super) column: usize,
    part: Part,
}

/// The kind of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// Numbers, from a column of this kind.
    Number(ColumnKind),
    /// True or false.
    Boolean,
    /// Strings.
    Text,
    /// Lists of numbers.
    Numbers,
    /// Stacks.
    Stack,
}

/// The part of a column that is a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Name,
    Pid,
    Tid,
    Process,
    Id,
}

/// The value of a field in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// No value was recorded.
    None,
    /// A number.
    Number(u64),
    /// True or false.
    Boolean(bool),
    /// A string.
    Text(Cow<'a, str>),
    /// A list of numbers.
    Numbers(Cow<'a, [u64]>),
    /// A stack.
    Stack(StackId),
}

/// Writes numbers without a unit, and nothing for stacks, whose names are in [`StackNames`](super::StackNames).
impl fmt::Display for FieldValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None | Self::Stack(_) => Ok(()),
            Self::Number(number) => number.fmt(f),
            Self::Boolean(is_true) => is_true.fmt(f),
            Self::Text(text) => f.pad(text),
            // As in an export.
            Self::Numbers(numbers) => f.pad(&numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")),
        }
    }
}

impl FieldValue<'_> {
    /// Returns an owned copy.
    pub fn into_owned(self) -> FieldValue<'static> {
        match self {
            Self::None => FieldValue::None,
            Self::Number(number) => FieldValue::Number(number),
            Self::Boolean(is_true) => FieldValue::Boolean(is_true),
            Self::Text(text) => FieldValue::Text(Cow::Owned(text.into_owned())),
            Self::Numbers(numbers) => FieldValue::Numbers(Cow::Owned(numbers.into_owned())),
            Self::Stack(stack) => FieldValue::Stack(stack),
        }
    }
}

impl FieldKind {
    /// Returns its name in machine-readable formats, such as `duration`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number(ColumnKind::Time) => "time",
            Self::Number(ColumnKind::Duration) => "duration",
            Self::Number(ColumnKind::Bytes) => "bytes",
            Self::Number(ColumnKind::Cycles) => "cycles",
            Self::Number(_) => "number",
            Self::Boolean => "boolean",
            Self::Text => "text",
            Self::Numbers => "numbers",
            Self::Stack => "stack",
        }
    }

    /// Returns the unit of its numbers.
    pub fn unit(self) -> Option<&'static str> {
        if let Self::Number(kind) = self { kind.unit() } else { None }
    }
}

impl TableHead {
    /// Returns the fields of the table, in the order of its columns.
    pub(crate) fn fields(&self) -> Vec<Field> {
        self.columns
            .iter()
            .enumerate()
            .flat_map(|(index, column)| fields(&column.mnemonic, column.kind, index))
            .collect()
    }
}

fn fields(mnemonic: &str, kind: ColumnKind, column: usize) -> Vec<Field> {
    let whole = match kind {
        ColumnKind::Boolean => FieldKind::Boolean,
        ColumnKind::Text | ColumnKind::Process | ColumnKind::Thread | ColumnKind::Unknown => FieldKind::Text,
        ColumnKind::Numbers => FieldKind::Numbers,
        ColumnKind::Stack => FieldKind::Stack,
        number => FieldKind::Number(number),
    };
    let number = FieldKind::Number(ColumnKind::Number);
    let others: &[(&str, Part, FieldKind)] = match kind {
        ColumnKind::Named => &[("name", Part::Name, FieldKind::Text)],
        ColumnKind::Process => &[("pid", Part::Pid, number)],
        ColumnKind::Thread => {
            &[("tid", Part::Tid, number), ("process", Part::Process, FieldKind::Text), ("pid", Part::Pid, number)]
        }
        ColumnKind::Stack => &[("id", Part::Id, FieldKind::Number(ColumnKind::Stack))],
        _ => &[],
    };
    let first = Field { name: mnemonic.to_owned(), kind: whole, column, part: Part::Whole };
    let other = |(name, part, kind): &(&str, Part, FieldKind)| Field {
        name: format!("{mnemonic}.{name}"),
        kind: *kind,
        column,
        part: *part,
    };
    std::iter::once(first).chain(others.iter().map(other)).collect()
}

impl Field {
    /// True if the field is the entire column rather than a part of it.
    pub(super) fn is_whole(&self) -> bool {
        self.part == Part::Whole
    }

    /// Returns the value of the field in a row.
    pub(super) fn value<'a>(&self, cells: &[Cell], values: &RowValues<'a>) -> FieldValue<'a> {
        let text = |text: &'a str| FieldValue::Text(Cow::Borrowed(text));
        let number = |number: Option<u64>| number.map_or(FieldValue::None, FieldValue::Number);
        let process = |index| values.process(index);
        match (cells.get(self.column).copied().unwrap_or_default(), self.part) {
            (Cell::None, _) => FieldValue::None,
            (Cell::Number(value), Part::Whole) => match self.kind {
                FieldKind::Boolean => FieldValue::Boolean(value != 0),
                FieldKind::Text => FieldValue::Text(Cow::Owned(value.to_string())),
                _ => FieldValue::Number(value),
            },
            (Cell::Text(id) | Cell::Named(_, id), Part::Name) => text(values.text(id)),
            (Cell::Text(id), Part::Whole) if self.kind == FieldKind::Text => text(values.text(id)),
            (Cell::Named(value, id), Part::Whole) => match self.kind {
                FieldKind::Text => text(values.text(id)),
                _ => FieldValue::Number(value),
            },
            (Cell::Process(index), Part::Pid) => number(process(index).pid),
            (Cell::Process(index), _) => text(process(index).name),
            (Cell::Thread(index), Part::Tid) => number(values.thread(index).tid),
            (Cell::Thread(index), Part::Pid) => number(values.thread(index).process.and_then(|process| process.pid)),
            (Cell::Thread(index), Part::Process) => {
                values.thread(index).process.map_or(FieldValue::None, |process| text(process.name))
            }
            (Cell::Thread(index), _) => text(values.thread(index).name),
            (Cell::Numbers(list), _) => FieldValue::Numbers(Cow::Borrowed(values.numbers(list))),
            (Cell::Stack(stack), _) => FieldValue::Stack(stack),
            // A string in a column of named numbers has no number.
            (Cell::Number(_) | Cell::Text(_) | Cell::Named(..), _) => FieldValue::None,
        }
    }
}

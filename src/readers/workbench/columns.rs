//! Columns of numbers, as written by `output::workbench`. They can be read side by side, since the head contains their lengths.

use serde_json::Value;

use super::damage::Damage;
use crate::error::Error;
use crate::profile::Id;
use crate::varint;

/// The number of rows that a table may have beyond the bytes of its columns. Constant columns take no bytes.
const FREE_ROWS: u64 = 1 << 16;

/// The strings and columns of a payload.
#[derive(Debug)]
pub(super) struct Columns<'b> {
    damage: Damage<'b>,
    columns: Vec<Column<'b>>,
    /// All strings, concatenated, and their position in the payload.
    pub(super) texts: (&'b [u8], usize),
}

/// A column that is read sequentially.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column<'b> {
    damage: Damage<'b>,
    name: &'b str,
    rows: u64,
    form: Form,
    bytes: &'b [u8],
    /// The position of the end of `bytes` in the payload.
    end: usize,
    /// The previous value, or the value of all rows if the column is constant.
    value: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Constant,
    Varint,
    Delta,
}

impl<'b> Columns<'b> {
    /// Finds the columns listed in the head, and the strings, in the bytes from `start` on.
    pub(super) fn new(heads: &'b [Value], bytes: &'b [u8], start: usize, damage: Damage<'b>) -> Result<Self, Error> {
        let mut all = Self { damage, columns: Vec::with_capacity(heads.len()), texts: (&[], start) };
        let (mut rest, most_rows) = (bytes, bytes.len() as u64 + FREE_ROWS);
        let mut take = |length: u64, name: &str| {
            let at = start + bytes.len() - rest.len();
            let split = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
            let (taken, others) = split.ok_or_else(|| damage.at(at, format!("it ends inside {name}")))?;
            rest = others;
            Ok((taken, at))
        };
        for head in heads {
            let head = ColumnHead::of(head, most_rows).map_err(|rule| damage.in_head(rule))?;
            let ColumnHead { name, rows, form, length, value } = head;
            let (bytes, at) = take(length, name)?;
            let column = Column { damage, name, rows, form, bytes, end: at + bytes.len(), value };
            all.columns.push(column);
            if name == "texts.length" {
                let mut lengths = column;
                let sum = (0..rows).try_fold(0_u64, |sum, _| Ok(sum.saturating_add(lengths.next()?)))?;
                all.texts = take(sum, "the texts")?;
            }
        }
        Ok(all)
    }

    /// Returns columns with the same number of rows, and that number.
    pub(super) fn table<const N: usize>(&self, names: [&str; N]) -> Result<(usize, [Column<'b>; N]), Error> {
        let find = |name: &&str| self.columns.iter().find(|column| column.name == *name).copied();
        let found: Vec<Column<'b>> = names.iter().filter_map(find).collect();
        let rows = found.first().map_or(0, |first| first.rows);
        let bytes = self.texts.0.len() + found.iter().map(|column| column.bytes.len()).sum::<usize>();
        // The number of rows is checked before any memory is reserved for it.
        let is_table = rows <= bytes as u64 + FREE_ROWS && found.iter().all(|column| column.rows == rows);
        let columns = <[Column<'b>; N]>::try_from(found).ok().filter(|_| is_table);
        let wrong =
            || self.damage.in_head(format!("a column of {} is missing or has a wrong length", names.join(", ")));
        Ok((rows as usize, columns.ok_or_else(wrong)?))
    }

    /// Returns the columns whose names start with `prefix`, each with the rest of its name.
    pub(super) fn with_prefix(&self, prefix: &str) -> impl Iterator<Item = (&'b str, Column<'b>)> {
        self.columns.iter().filter_map(move |column| Some((column.name.strip_prefix(prefix)?, *column)))
    }
}

/// The description of a column in the head.
struct ColumnHead<'b> {
    name: &'b str,
    rows: u64,
    form: Form,
    length: u64,
    value: u64,
}

impl<'b> ColumnHead<'b> {
    fn of(head: &'b Value, most_rows: u64) -> Result<Self, String> {
        let number = |field: &str| head[field].as_u64().or_else(|| head[field].as_str()?.parse().ok());
        let name = head["name"].as_str().ok_or("a column has no name")?;
        let missing = |field: &str| format!("{field} of column {name} is missing or invalid");
        let rows = number("rows").filter(|&rows| rows <= most_rows).ok_or_else(|| missing("rows"))?;
        let form = match head["encoding"].as_str() {
            Some("constant") => Form::Constant,
            Some("varint") => Form::Varint,
            Some("delta") => Form::Delta,
            _ => return Err(missing("encoding")),
        };
        let (length, value) = match form {
            Form::Constant => (Some(0), number("value")),
            Form::Varint | Form::Delta => (number("bytes"), Some(0)),
        };
        let (length, value) = length.zip(value).ok_or_else(|| missing("value or bytes"))?;
        Ok(Self { name, rows, form, length, value })
    }
}

impl Column<'_> {
    #[inline]
    pub(super) fn next(&mut self) -> Result<u64, Error> {
        if self.form != Form::Constant {
            let number = varint::read(&mut self.bytes).ok_or_else(|| self.wrong("it has too few values"))?;
            self.value = match self.form {
                Form::Delta => self.value.wrapping_add((number >> 1) ^ (number & 1).wrapping_neg()),
                Form::Constant | Form::Varint => number,
            };
        }
        Ok(self.value)
    }

    /// Reads a 32-bit number.
    #[inline]
    pub(super) fn next_u32(&mut self) -> Result<u32, Error> {
        let value = self.next()?;
        u32::try_from(value).map_err(|_| self.wrong("a value has more than 32 bits"))
    }

    /// Reads an id, which must be less than `rows`.
    #[inline]
    pub(super) fn id<T: ?Sized>(&mut self, rows: usize) -> Result<Id<T>, Error> {
        let value = self.next()?;
        self.row(value, rows)
    }

    /// Reads an optional id, stored as id + 1, with 0 for none.
    #[inline]
    pub(super) fn optional_id<T: ?Sized>(&mut self, rows: usize) -> Result<Option<Id<T>>, Error> {
        let value = self.next()?;
        value.checked_sub(1).map(|value| self.row(value, rows)).transpose()
    }

    fn row<T: ?Sized>(&self, value: u64, rows: usize) -> Result<Id<T>, Error> {
        let index = usize::try_from(value).ok().filter(|&index| index < rows);
        index.and_then(Id::from_index).ok_or_else(|| self.wrong("it refers to a missing row"))
    }

    /// An error about the value that was just read.
    #[cold]
    pub(super) fn wrong(&self, rule: &str) -> Error {
        self.damage.at(self.end - self.bytes.len(), format!("column {}: {rule}", self.name))
    }
}

//! The columns of an output: the fields of its tables, merged by name.
//!
//! Tables from several files may differ. A field that a table lacks has no values for its rows, and a field whose kind varies becomes a string.

use super::{ColumnKind, Field, FieldKind, TableHead};
use crate::hash::HashMap;

/// A column of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputColumn {
    /// The name: a field, `file`, or `run`.
    pub name: String,
    /// The kind of its values.
    pub kind: FieldKind,
    /// The type of the table column; empty for parts of a column, such as `thread.tid`, and for `file` and `run`.
    pub engineering_type: String,
    /// True if every row has a value.
    pub is_required: bool,
}

impl OutputColumn {
    /// Creates a column that is not a field of a table.
    pub(crate) fn new(name: &str, kind: FieldKind, is_required: bool) -> Self {
        Self { name: name.to_owned(), kind, engineering_type: String::new(), is_required }
    }

    /// Creates the column for a field of a table.
    pub(crate) fn of(field: &Field, head: &TableHead) -> Self {
        let kind = match field.kind {
            FieldKind::Number(ColumnKind::Named) => FieldKind::Number(ColumnKind::Number),
            kind => kind,
        };
        let engineering_type = match field.is_whole() {
            true => head.columns[field.column].engineering_type.clone(),
            false => String::new(),
        };
        Self { name: field.name.clone(), kind, engineering_type, is_required: false }
    }

    /// True if it is a part of a table column, such as `thread.tid`.
    pub fn is_part(&self) -> bool {
        self.engineering_type.is_empty()
    }

    /// True if its values are stacks or stack numbers.
    pub fn has_stacks(&self) -> bool {
        self.kind == FieldKind::Stack || self.is_stack_number()
    }

    /// True if its values are stack numbers, which are assigned when rows are written.
    pub(super) fn is_stack_number(&self) -> bool {
        self.kind == FieldKind::Number(ColumnKind::Stack)
    }
}

/// The columns for the fields of all tables, merged by name, and for each table the columns that its fields supply.
#[derive(Debug, Default)]
pub(super) struct FieldUnion {
    pub(super) columns: Vec<OutputColumn>,
    /// For each table, its fields, each with the index of its column.
    pub(super) fields: Vec<Vec<(usize, Field)>>,
}

impl FieldUnion {
    pub(super) fn of<'h>(heads: impl Iterator<Item = &'h TableHead>) -> Self {
        let mut columns: Vec<OutputColumn> = Vec::new();
        // SQL ignores the case of names.
        let mut places: HashMap<String, usize> = HashMap::default();
        let mut fields_of = |head: &TableHead| {
            let place = |field: Field| {
                let column = OutputColumn::of(&field, head);
                let place = *places.entry(field.name.to_lowercase()).or_insert(columns.len());
                match columns.get_mut(place) {
                    None => columns.push(column),
                    Some(known) if known.kind != column.kind => known.kind = FieldKind::Text,
                    Some(_) => {}
                }
                (place, field)
            };
            distinct_fields(head).into_iter().map(place).collect()
        };
        let fields = heads.map(&mut fields_of).collect();
        Self { columns, fields }
    }
}

/// Returns the fields of a table, renamed if necessary so that names are unique and differ from `file` and `run`.
fn distinct_fields(head: &TableHead) -> Vec<Field> {
    // Lower-case names, each with the next number to try as a suffix. Without it, each repeated name would try all numbers again.
    let mut numbers: HashMap<String, usize> = ["file", "run"].map(|name| (name.to_owned(), 2)).into_iter().collect();
    let mut fields = head.fields();
    for (index, field) in fields.iter_mut().enumerate() {
        if field.name.is_empty() {
            field.name = format!("column-{}", index + 1);
        }
        let plain = field.name.to_lowercase();
        if let Some(&first) = numbers.get(&plain) {
            let mut number = first;
            while numbers.contains_key(&format!("{plain}.{number}")) {
                number += 1;
            }
            numbers.insert(plain, number + 1);
            field.name = format!("{}.{number}", field.name);
        }
        numbers.insert(field.name.to_lowercase(), 2);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Column;

    #[test]
    fn names_are_distinct_without_case() {
        let names = ["c", "C", "c.2", "c", "run", "", "column-6", "c.2", "File", "c"];
        let column = |name: &str| Column { mnemonic: name.to_owned(), ..Column::default() };
        let head = TableHead { columns: names.map(column).into(), ..TableHead::default() };
        let fields = distinct_fields(&head);
        let found: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let expected = ["c", "C.2", "c.2.2", "c.3", "run.2", "column-6", "column-6.2", "c.2.3", "File.2", "c.4"];
        assert_eq!(found, expected);
    }

    #[test]
    fn tables_supply_the_columns_that_they_have() {
        let head = |names: &[&str]| TableHead {
            columns: names.iter().map(|name| Column { mnemonic: (*name).to_owned(), ..Column::default() }).collect(),
            ..TableHead::default()
        };
        let heads = [head(&["a", "b"]), head(&["B", "c"])];
        let union = FieldUnion::of(heads.iter());
        let names: Vec<&str> = union.columns.iter().map(|column| column.name.as_str()).collect();
        let places: Vec<Vec<usize>> =
            union.fields.iter().map(|fields| fields.iter().map(|(place, _)| *place).collect()).collect();
        assert_eq!((names, places), (vec!["a", "b", "c"], vec![vec![0, 1], vec![1, 2]]));
    }
}

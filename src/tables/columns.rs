//! The columns of an output: the fields of its tables, merged by name.
//!
//! Tables from several files may differ. A field that a table lacks has no values for it, and a field whose kind differs between tables becomes a
//! string.

use super::{ColumnKind, Field, FieldKind, TableHead};
use crate::hash::HashMap;

/// A column of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputColumn {
    /// The name: a field, `file`, or `run`.
    pub name: String,
    /// The kind of its values.
    pub kind: FieldKind,
    /// The type of the table's column; empty for a part of a column, such as `thread.tid`, and for `file` and `run`.
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

/// The fields of all tables by name, and which field of each table supplies them.
#[derive(Debug, Default)]
pub(super) struct FieldUnion {
    pub(super) columns: Vec<OutputColumn>,
    /// Indexed by table, then by column.
    pub(super) fields: Vec<Vec<Option<Field>>>,
}

impl FieldUnion {
    pub(super) fn of<'h>(heads: impl Iterator<Item = &'h TableHead> + Clone) -> Self {
        let mut union = Self::default();
        // SQL ignores the case of names.
        let mut places: HashMap<String, usize> = HashMap::default();
        for head in heads.clone() {
            for field in distinct_fields(head) {
                let column = OutputColumn::of(&field, head);
                let place = *places.entry(field.name.to_lowercase()).or_insert(union.columns.len());
                match union.columns.get_mut(place) {
                    None => union.columns.push(column),
                    Some(known) if known.kind != column.kind => known.kind = FieldKind::Text,
                    Some(_) => {}
                }
            }
        }
        for head in heads {
            let mut fields = vec![None; union.columns.len()];
            for field in distinct_fields(head) {
                let place = places[&field.name.to_lowercase()];
                fields[place] = Some(field);
            }
            union.fields.push(fields);
        }
        union
    }
}

/// The fields of a table, renamed if necessary so that all names are unique and differ from `file` and `run`.
fn distinct_fields(head: &TableHead) -> Vec<Field> {
    let mut names: Vec<String> = ["file", "run"].map(str::to_owned).into();
    let mut fields = head.fields();
    for (index, field) in fields.iter_mut().enumerate() {
        let plain = if field.name.is_empty() { format!("column-{}", index + 1) } else { field.name.clone() };
        let numbered = (2..).map(|number| format!("{plain}.{number}"));
        let is_new = |name: &String| !names.contains(&name.to_lowercase());
        field.name = std::iter::once(plain.clone()).chain(numbered).find(is_new).unwrap_or(plain);
        names.push(field.name.to_lowercase());
    }
    fields
}

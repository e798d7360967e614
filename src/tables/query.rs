//! A query for the rows of a schema, and the plan that answers it from specific tables.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::columns::FieldUnion;
use super::condition::{Conditions, Test};
use super::decimal::compare_texts;
use super::{Cell, ColumnKind, Field, FieldKind, FieldValue, OutputColumn, RowValues, TableHead};
use crate::profile::similar_names;
use crate::settings::{COLUMNS, SORT, Setting, WHERE};
use crate::units::choice_of;

/// A query for the rows of a schema.
#[derive(Clone, Debug, Default)]
pub struct TableQuery {
    /// The schema of the tables.
    pub schema: String,
    /// The run to read; `None` for all runs.
    pub run: Option<u32>,
    /// The comparisons that must hold for a row.
    pub conditions: Conditions,
    /// The fields to return; empty for all fields.
    pub columns: Vec<String>,
    /// The field to sort by, and true for descending order; `None` for the order of the tables.
    pub sort: Option<(String, bool)>,
    /// The maximum number of rows to return; `None` for all.
    pub top: Option<usize>,
}

impl TableQuery {
    /// True if the query applies to this table.
    pub fn is_about(&self, table: &TableHead) -> bool {
        table.schema == self.schema && self.run.is_none_or(|run| run == table.run)
    }

    /// True if rows are filtered by their values.
    pub(super) fn has_conditions(&self) -> bool {
        !self.conditions.0.is_empty()
    }

    /// Plans the query for these tables, each with the name of its file.
    ///
    /// # Errors
    /// If the query uses a field that no table has, uses a field twice, or compares a field with a value of another kind.
    pub fn plan(&self, tables: &[(String, TableHead)]) -> Result<RowPlan, String> {
        let union = FieldUnion::of(tables.iter().map(|(_, head)| head));
        let place = |name: &str, setting: Setting| {
            let found = union.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
            found.ok_or_else(|| unknown_field(name, setting, &self.schema, &union.columns))
        };
        let mut selected = Vec::new();
        for name in &self.columns {
            match name.as_str() {
                "file" | "run" => {}
                name => {
                    let at = place(name, COLUMNS)?;
                    // Names must be unique for JSON and SQL.
                    if selected.contains(&at) {
                        return Err(format!("{COLUMNS}: {name} was requested twice; name each field once"));
                    }
                    selected.push(at);
                }
            }
        }
        if self.columns.is_empty() {
            selected = (0..union.columns.len()).collect();
        }
        let mut tests = Vec::new();
        for comparison in &self.conditions.0 {
            let at = place(&comparison.field, WHERE)?;
            check_known_when_read(&union.columns[at], WHERE)?;
            tests.push((at, comparison.test(union.columns[at].kind)?));
        }
        let mut sort = None;
        if let Some((name, is_descending)) = &self.sort {
            let at = place(name, SORT)?;
            check_known_when_read(&union.columns[at], SORT)?;
            if matches!(union.columns[at].kind, FieldKind::Numbers | FieldKind::Stack) {
                return Err(format!("{SORT}: {name} is a list, and lists have no order; sort by another field"));
            }
            sort = Some((at, *is_descending));
        }
        let tables = tables.iter().zip(union.fields).map(|((file, head), fields)| (file.clone(), head.run, fields));
        Ok(RowPlan { query: self.clone(), tables: tables.collect(), columns: union.columns, selected, tests, sort })
    }
}

/// Rejects stack numbers, which are assigned only when rows are written.
fn check_known_when_read(column: &OutputColumn, setting: Setting) -> Result<(), String> {
    match column.is_stack_number() {
        true => Err(format!("{setting}: {} numbers the stacks of the output, and is unknown before", column.name)),
        false => Ok(()),
    }
}

fn unknown_field(name: &str, setting: Setting, schema: &str, columns: &[OutputColumn]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let similar = similar_names(name, names.iter().copied());
    let similar = match similar.as_slice() {
        [] => String::new(),
        names => format!("; similar: {}", names.join(", ")),
    };
    format!("{setting}: {schema} has no field {name:?}{similar}. Its fields: {}", choice_of(&names))
}

/// The fields of a table, each with the index of its column.
type OwnFields = Vec<(usize, Field)>;

/// How rows of some tables become rows of an answer.
#[derive(Debug)]
pub struct RowPlan {
    pub(super) query: TableQuery,
    /// The file, run and fields of each table.
    tables: Vec<(String, u32, OwnFields)>,
    columns: Vec<OutputColumn>,
    /// The columns of the answer.
    selected: Vec<usize>,
    tests: Vec<(usize, Test)>,
    /// The column to sort by, and true for descending order.
    sort: Option<(usize, bool)>,
}

impl RowPlan {
    /// Returns the columns of the answer: `file`, `run`, and the fields.
    pub fn output_columns(&self) -> Vec<OutputColumn> {
        let file = OutputColumn::new("file", FieldKind::Text, true);
        let run = OutputColumn::new("run", FieldKind::Number(ColumnKind::Number), true);
        let fields = self.selected.iter().map(|&column| self.columns[column].clone());
        [file, run].into_iter().chain(fields).collect()
    }

    /// True if rows keep the order of their tables.
    pub fn keeps_order(&self) -> bool {
        self.sort.is_none()
    }

    /// Compares the sort keys of two rows; a missing value is last.
    pub(super) fn compare(&self, left: &FieldValue<'_>, right: &FieldValue<'_>) -> Ordering {
        let order = match (left, right) {
            (FieldValue::None, FieldValue::None) => return Ordering::Equal,
            (FieldValue::None, _) => return Ordering::Greater,
            (_, FieldValue::None) => return Ordering::Less,
            (FieldValue::Number(left), FieldValue::Number(right)) => left.cmp(right),
            (FieldValue::Boolean(left), FieldValue::Boolean(right)) => left.cmp(right),
            (FieldValue::Text(left), FieldValue::Text(right)) => compare_texts(left, right),
            _ => Ordering::Equal,
        };
        if self.sort.is_some_and(|(_, is_descending)| is_descending) { order.reverse() } else { order }
    }

    /// Returns a table's field for each column. It is computed on demand: with many different tables, the lists together would be much longer
    /// than the tables.
    pub(super) fn fields_of(&self, table: usize) -> Vec<Option<&Field>> {
        let mut fields = vec![None; self.columns.len()];
        let own = self.tables.get(table).map_or(&[][..], |(_, _, fields)| fields);
        own.iter().for_each(|(column, field)| fields[*column] = Some(field));
        fields
    }

    /// Converts a row of table `table` to a row of the answer (`file`, `run` and the fields) and its sort key. `None` if a condition is false.
    pub(super) fn row<'v>(
        &'v self,
        table: usize,
        fields: &[Option<&Field>],
        cells: &[Cell],
        values: &RowValues<'v>,
    ) -> Option<(Vec<FieldValue<'v>>, FieldValue<'v>)> {
        let (file, run, _) = self.tables.get(table)?;
        let value = |column: usize| {
            let value = fields[column].map_or(FieldValue::None, |field| field.value(cells, values));
            if self.columns[column].kind == FieldKind::Text { as_text(value) } else { value }
        };
        if !self.tests.iter().all(|(column, test)| test.passes(&value(*column))) {
            return None;
        }
        let mut row = Vec::with_capacity(self.selected.len() + 2);
        row.push(FieldValue::Text(Cow::Borrowed(file)));
        row.push(FieldValue::Number((*run).into()));
        row.extend(self.selected.iter().map(|&column| value(column)));
        Some((row, self.sort.map_or(FieldValue::None, |(column, _)| value(column))))
    }

    /// Converts a row of the only table to pairs of field and value. Stacks become strings with their functions. `None` if a condition is false.
    pub(super) fn named_row<'v>(
        &'v self,
        cells: &[Cell],
        values: &RowValues<'v>,
    ) -> Option<Vec<(&'v str, FieldValue<'v>)>> {
        let (row, _) = self.row(0, &self.fields_of(0), cells, values)?;
        let fields = self.selected.iter().map(|&column| &self.columns[column]).zip(row.into_iter().skip(2));
        let named = fields.filter(|(column, _)| !column.is_stack_number()).map(|(column, value)| match value {
            FieldValue::Stack(stack) => (column.name.as_str(), FieldValue::Text(values.functions(stack).into())),
            value => (column.name.as_str(), value),
        });
        Some(named.collect())
    }
}

/// Converts a value to a string, for a column with several kinds of values. Stacks are converted later, when they are written and have names.
fn as_text(value: FieldValue<'_>) -> FieldValue<'_> {
    match value {
        FieldValue::None | FieldValue::Text(_) | FieldValue::Stack(_) => value,
        value => FieldValue::Text(value.to_string().into()),
    }
}

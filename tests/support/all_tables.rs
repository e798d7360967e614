//! A reading of all tables with all cells, in a form that other readers can answer with.

use serde_json::{Value, json};
use traceparse::profile::{Id, Profile, Stack};
use traceparse::recording::{Options, RecordingBuilder, RejectReason, Rejected, Row};
use traceparse::tables::{Cell, ProcessName, RowValues, TableHead, TableVisitor};
use traceparse::{Diagnostic, Error};

/// The tables of an input, with everything that was reported about them.
#[derive(Debug, Default)]
pub struct Reading {
    pub tables: Vec<ReadTable>,
    pub notes: Vec<Diagnostic>,
    stacks: Vec<(usize, usize, usize, Id<Stack>)>,
}

/// A table with its rows.
#[derive(Debug, Default)]
pub struct ReadTable {
    pub head: TableHead,
    pub rows: Vec<Vec<Value>>,
    pub rejected: u64,
    /// Why its rows cannot be read.
    pub unreadable: Option<String>,
    is_complete: bool,
}

impl ReadTable {
    pub fn columns(&self) -> Vec<(&str, &str)> {
        self.head.columns.iter().map(|column| (&*column.mnemonic, &*column.engineering_type)).collect()
    }
}

/// Reads everything. `frames` spells the frames of a stack.
pub fn read(
    options: &Options,
    pass: impl FnOnce(&mut RecordingBuilder, &mut Reading) -> Result<(), Error>,
    frames: impl Fn(&Profile, Id<Stack>) -> Vec<Value>,
) -> Result<Reading, Error> {
    let (mut recording, mut reading) = (RecordingBuilder::new(options.clone()), Reading::default());
    pass(&mut recording, &mut reading)?;
    let profile = recording.finish()?.profile;
    for (table, row, column, stack) in std::mem::take(&mut reading.stacks) {
        // If a table turns out to be unreadable, its rows are dropped.
        let row = reading.tables.get_mut(table).and_then(|table| table.rows.get_mut(row));
        if let Some(row) = row {
            let frames = frames(&profile, stack);
            row[column] = std::iter::once(json!("stack")).chain(frames).collect();
        }
    }
    Ok(reading)
}

fn process(process: ProcessName<'_>) -> [Value; 2] {
    [json!(process.pid), json!(process.name)]
}

impl Reading {
    fn value(&mut self, place: (usize, usize, usize), cell: Cell, values: &RowValues<'_>) -> Value {
        match cell {
            Cell::None => Value::Null,
            Cell::Number(number) => json!(number),
            Cell::Text(text) => json!(values.text(text)),
            Cell::Named(number, text) => json!(["named", number, values.text(text)]),
            Cell::Process(index) => std::iter::once(json!("process")).chain(process(values.process(index))).collect(),
            Cell::Thread(index) => {
                let thread = values.thread(index);
                let [pid, owner] = thread.process.map_or([Value::Null, Value::Null], process);
                json!(["thread", thread.tid, thread.name, pid, owner])
            }
            Cell::Numbers(list) => std::iter::once(json!("numbers"))
                .chain(values.numbers(list).iter().map(|number| json!(number)))
                .collect(),
            Cell::Stack(stack) => {
                self.stacks.push((place.0, place.1, place.2, stack));
                Value::Null
            }
        }
    }
}

impl TableVisitor for Reading {
    fn wants(&self, _: &TableHead) -> bool {
        true
    }

    fn start(&mut self, table: &TableHead) {
        assert!(self.tables.last().is_none_or(|table| table.is_complete), "a table begins before the last one ends");
        self.tables.push(ReadTable { head: table.clone(), ..ReadTable::default() });
    }

    fn row(&mut self, cells: &[Cell], values: &RowValues<'_>) -> Result<Result<Option<Row>, RejectReason>, Error> {
        let number = self.tables.len() - 1;
        let (index, columns) = (self.tables[number].rows.len(), self.tables[number].head.columns.len());
        assert_eq!(cells.len(), columns);
        let place = |column| (number, index, column);
        let row = cells.iter().enumerate().map(|(column, cell)| self.value(place(column), *cell, values)).collect();
        self.tables[number].rows.push(row);
        Ok(Ok(None))
    }

    fn end(&mut self, rows: u64, rejected: &Rejected) {
        let table = self.tables.last_mut().expect("a table began");
        (table.rejected, table.is_complete) = (rejected.total(), true);
        assert_eq!(rows, table.rows.len() as u64 + table.rejected, "rows = read + rejected");
    }

    fn unreadable(&mut self, table: &TableHead, _: Option<u64>, error: Error) -> Result<(), Error> {
        let has_begun = self.tables.last().is_some_and(|last| !last.is_complete);
        if has_begun {
            self.tables.pop();
        }
        let unreadable = Some(error.to_string());
        self.tables.push(ReadTable { head: table.clone(), unreadable, is_complete: true, ..ReadTable::default() });
        Ok(())
    }

    fn note(&mut self, diagnostic: Diagnostic) {
        self.notes.push(diagnostic);
    }
}

/// True if the values are equal; `true` is any value.
pub fn is_expected(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (_, Value::Bool(true)) => true,
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(found, expected)| is_expected(found, expected))
        }
        _ => found == expected,
    }
}

/// Compares rows with the expected rows, in order. An expected row is null if it cannot be read. Rejected rows may be missing. Returns the
/// index of the first row that differs, and the difference.
pub fn difference(found: &[Vec<Value>], expected: &[Value], rejected: u64) -> Option<(usize, String)> {
    let is_equal = |found: &Vec<Value>, expected: &Value| {
        expected.as_array().is_some_and(|expected| {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(found, expected)| is_expected(found, expected))
        })
    };
    if found.len() as u64 + rejected != expected.len() as u64 {
        let what = format!("{} rows and {rejected} rejected, not {}", found.len(), expected.len());
        return Some((found.len().min(expected.len()), what));
    }
    let mut left = found.iter().peekable();
    let (mut missing, mut first) = (0, None);
    for (index, row) in expected.iter().enumerate() {
        if left.next_if(|found| is_equal(found, row)).is_none() {
            missing += 1;
            // A row that is expected to be unreadable may have been rejected.
            first = first.or_else(|| left.peek().filter(|_| missing > rejected).map(|found| (index, *found, row)));
        }
    }
    left.next()?;
    let (index, found, row) = first?;
    let cells = || found.iter().zip(row.as_array()?).position(|(found, row)| !is_expected(found, row));
    Some((
        index,
        match cells() {
            Some(cell) => format!("column {cell}: {} and not {}", found[cell], row[cell]),
            None => format!("a row that cannot be read: {found:?}"),
        },
    ))
}

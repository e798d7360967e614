//! The first pass over the tables of a query. It determines the kinds of columns, and the stacks to symbolicate.

use std::cell::RefCell;
use std::collections::BTreeSet;

use indexmap::IndexSet;

use super::wanted::WantedTables;
use super::{Cell, ColumnKind, RowValues, Survey, TableHead, TableQuery, TableVisitor};
use crate::error::{Diagnostic, Error};
use crate::profile::{StackId, similar_names};
use crate::recording::{Recording, RejectReason, Rejected, Row};
use crate::settings::RUN;
use crate::units::choice_of;

/// Finds the tables of a query. Reads rows only to determine column kinds or stacks.
#[derive(Debug)]
pub struct TableLook<'q> {
    query: &'q TableQuery,
    /// True to collect the stacks of all rows.
    finds_stacks: bool,
    file: String,
    /// The tables found so far, each with the name of its file. When a table's rows have been read, its columns have the kinds of their cells.
    tables: RefCell<Vec<(String, TableHead)>>,
    /// The wanted tables whose rows have not begun.
    wanted: WantedTables,
    /// The index in `tables` of the table being read.
    current: usize,
    /// The names of all tables.
    schemas: RefCell<BTreeSet<String>>,
    stacks: IndexSet<StackId>,
    survey: Survey,
    /// Tables that cannot be read: file, table and reason.
    unreadable: Vec<(String, TableHead, String)>,
    diagnostics: Vec<Diagnostic>,
}

/// The result of a [`TableLook`].
#[derive(Debug, Default)]
pub struct FoundTables {
    /// The tables of the query, each with the name of its file.
    pub tables: Vec<(String, TableHead)>,
    /// The tables of the query that cannot be read: file, table and reason.
    pub unreadable: Vec<(String, TableHead, String)>,
    /// The names of all tables.
    pub schemas: BTreeSet<String>,
    /// The stacks of the rows, if requested.
    pub stacks: Vec<StackId>,
    /// Diagnostics about the inputs.
    pub diagnostics: Vec<Diagnostic>,
}

impl FoundTables {
    /// Checks that at least one table is readable. Returns a sentence about each unreadable table.
    ///
    /// # Errors
    /// If no table is readable. The error explains why or, if no table has the name, lists the existing tables.
    pub fn check(&self, query: &TableQuery) -> Result<Vec<String>, String> {
        let name = &query.schema;
        let sentence = |(file, table, reason): &(String, TableHead, String)| {
            let name = if name.is_empty() { "an unnamed table" } else { name };
            format!("{file}: {name} of run {} cannot be read: {reason}", table.run)
        };
        let mut unreadable: Vec<String> = self.unreadable.iter().map(sentence).collect();
        match query.run {
            _ if !self.tables.is_empty() => Ok(unreadable),
            _ if !unreadable.is_empty() => Err(unreadable.swap_remove(0)),
            Some(run) if self.schemas.contains(name) => {
                Err(format!("run {run} has no table {name}; leave out {RUN} to read it from all runs"))
            }
            _ => Err(no_table(name, self.schemas.iter().map(String::as_str))),
        }
    }
}

impl Recording {
    /// The error if no input has a table with this schema. It lists the existing tables, those with similar names first.
    pub fn no_table(&self, schema: &str) -> String {
        let of_documents = self.tables().filter_map(|table| table.schema.as_deref());
        let of_contents = self.tocs().flat_map(|toc| &toc.runs).flat_map(|run| &run.tables);
        no_table(schema, of_documents.chain(of_contents.map(|table| table.schema.as_str())))
    }
}

/// The error for an unknown table. It lists the existing tables, those with similar names first.
fn no_table<'n>(asked: &str, names: impl Iterator<Item = &'n str>) -> String {
    let known: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    let mut all = similar_names(asked, known.iter().copied());
    all.extend(known.iter().filter(|name| !all.contains(*name)).copied().collect::<Vec<_>>());
    match all.is_empty() {
        true => format!("there is no table {asked:?}; there are no tables"),
        false => format!("there is no table {asked:?}. The tables are: {}", choice_of(&all)),
    }
}

impl<'q> TableLook<'q> {
    /// Creates a pass for a query. If `finds_stacks` is true, it also collects the stacks of rows.
    pub fn new(query: &'q TableQuery, finds_stacks: bool) -> Self {
        Self {
            query,
            finds_stacks,
            file: String::new(),
            tables: RefCell::default(),
            wanted: WantedTables::default(),
            current: 0,
            schemas: RefCell::default(),
            stacks: IndexSet::new(),
            survey: Survey::default(),
            unreadable: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    /// Sets the file that contains the next tables.
    pub fn start_file(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    /// Returns what was found.
    pub fn finish(self) -> FoundTables {
        FoundTables {
            tables: self.tables.into_inner(),
            unreadable: self.unreadable,
            schemas: self.schemas.into_inner(),
            stacks: self.stacks.into_iter().collect(),
            diagnostics: self.diagnostics,
        }
    }

    fn needs_rows(&self, table: &TableHead) -> bool {
        table.columns.iter().any(|column| match column.kind {
            ColumnKind::Unknown => true,
            ColumnKind::Stack => self.finds_stacks,
            _ => false,
        })
    }
}

impl TableVisitor for TableLook<'_> {
    fn wants(&self, table: &TableHead) -> bool {
        self.schemas.borrow_mut().insert(table.schema.clone());
        if !self.query.is_about(table) {
            return false;
        }
        // Track details have neither schema nor columns. If wanted, the reader passes them to `unreadable`.
        if table.schema.is_empty() && table.columns.is_empty() {
            return true;
        }
        let mut tables = self.tables.borrow_mut();
        tables.push((self.file.clone(), table.clone()));
        let is_read = self.needs_rows(table);
        if is_read {
            self.wanted.add(tables.len() - 1, table);
        }
        is_read
    }

    fn start(&mut self, table: &TableHead) {
        self.current = self.wanted.take(table).unwrap_or(self.current);
        self.survey = Survey::default();
        self.survey.start(table);
    }

    fn row(&mut self, cells: &[Cell], values: &RowValues<'_>) -> Result<Result<Option<Row>, RejectReason>, Error> {
        let stacks = cells.iter().filter_map(|cell| if let Cell::Stack(stack) = *cell { Some(stack) } else { None });
        if self.finds_stacks {
            self.stacks.extend(stacks);
        }
        self.survey.row(cells, values)
    }

    fn end(&mut self, rows: u64, rejected: &Rejected) {
        self.survey.end(rows, rejected);
        let table = self.tables.get_mut().get_mut(self.current);
        if let (Some((_, head)), Some(surveyed)) = (table, self.survey.tables.pop()) {
            *head = surveyed.head;
        }
    }

    fn unreadable(&mut self, table: &TableHead, _: Option<u64>, error: Error) -> Result<(), Error> {
        self.schemas.get_mut().insert(table.schema.clone());
        if self.query.is_about(table) {
            self.wanted.take(table);
            self.unreadable.push((self.file.clone(), table.clone(), error.to_string()));
        }
        Ok(())
    }

    fn note(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}

//! The elements of a document, as far as intervals need them.

use super::super::anomaly::Oddity;
use super::super::attributes::{Fields, parse_number};
use super::super::definitions::{Attributes, Element};
use super::super::display_names;
use super::super::document::{Content, OpenTable};
use super::super::position::Fault;
use super::super::tag::Tag;
use super::rows::{Cell, TableRows, ThreadCell};
use crate::error::Diagnostic;
use crate::hash::HashMap;
use crate::memory::{MemoryBudget, OverBudget, Reservation, of_map, of_vec};
use crate::profile::Full;
use crate::recording::{IntervalTable, Intervals, ProcessCell, RejectReason, Texts};

/// The definition of an id.
#[derive(Clone, Copy, Debug)]
struct Definition {
    /// The name of its element, by the number of its text: a `ref` in an element with another name does not match.
    name: u32,
    cell: Cell,
}

/// The intervals of one input.
#[derive(Debug)]
pub(super) struct FoundIntervals<'a> {
    input: &'a str,
    /// The definitions of the document's ids.
    ids: HashMap<u64, Definition>,
    texts: Texts,
    /// The threads of the document.
    threads: Vec<ThreadCell>,
    /// The open table, if it contains intervals or hangs.
    table: Option<TableRows>,
    found: Intervals,
    /// The memory of complete documents, and of everything.
    of_documents: u64,
    reserved: Reservation,
}

impl<'a> FoundIntervals<'a> {
    pub(super) fn new(input: &'a str, memory: &MemoryBudget) -> Self {
        Self {
            input,
            ids: HashMap::default(),
            texts: Texts::default(),
            threads: Vec::new(),
            table: None,
            found: Intervals::default(),
            of_documents: 0,
            reserved: memory.nothing(),
        }
    }

    /// Everything that was found.
    pub(super) fn into_intervals(self, diagnostics: Vec<Diagnostic>) -> Intervals {
        Intervals { diagnostics, ..self.found }
    }

    fn cell(&mut self, element: Element<'_, Cell>) -> Cell {
        let Element { tag, fmt, text, children, has_id, .. } = element;
        let has_children = !children.is_empty();
        match tag {
            Tag::Sentinel => Cell::Absent,
            Tag::Number | Tag::Words if has_children => Cell::Bad(RejectReason::WrongType),
            Tag::Number => parse_number(text).map_or(Cell::Bad(RejectReason::BadNumber), Cell::Number),
            // An empty string is valid if it has an id.
            Tag::Words if text.is_empty() && !has_id => Cell::Bad(RejectReason::EmptyCell),
            Tag::Narrative if fmt.is_empty() && !has_children && !has_id => Cell::Bad(RejectReason::EmptyCell),
            Tag::Words => Cell::Text(self.texts.number_of(text)),
            Tag::Narrative => Cell::Text(self.texts.number_of(fmt)),
            Tag::Process | Tag::Thread => self.subject(tag, fmt, children),
            _ => Cell::Other,
        }
    }

    /// A process or a thread. Both are identified by their numbers.
    fn subject(&mut self, tag: Tag, fmt: &str, children: &[Cell]) -> Cell {
        if let Some(bad) = children.iter().find(|cell| matches!(cell, Cell::Bad(_))) {
            return *bad;
        }
        if !children.iter().any(Cell::is_number_or_absent) {
            return Cell::Bad(RejectReason::EmptyCell);
        }
        let number = children.iter().find_map(|cell| cell.as_number());
        if tag == Tag::Process {
            let name = self.texts.number_of(display_names::process_name(fmt, number));
            return Cell::Process(ProcessCell { name, pid: number });
        }
        let process = children.iter().find_map(|cell| cell.as_process());
        self.threads.push(ThreadCell { tid: number, process });
        Cell::Thread(self.threads.len() as u32 - 1)
    }
}

impl Content for FoundIntervals<'_> {
    type Value = Cell;
    const NOTES_ODDITIES: bool = false;
    const UNBALANCED: &'static str =
        "elements of a table that is not read do not end inside each other; some of its rows may be read wrongly";
    const CUT: Option<&'static str> = Some("the file is cut here; only complete rows count");

    fn tag(name: &str) -> Tag {
        Tag::of_intervals(name)
    }

    fn is_needed(name: &str) -> bool {
        Tag::of_intervals(name).is_shared()
    }

    fn has_attributes(tag: Tag) -> bool {
        tag.is_shared()
    }

    fn attributes(&mut self, _: Fields<'_>) -> Result<Attributes, Full> {
        Ok(Attributes::None)
    }

    fn value(&mut self, element: Element<'_, Cell>) -> Result<Cell, Full> {
        Ok(self.cell(element))
    }

    fn referred(&mut self, _: Tag, name: &str, id: u64) -> Result<Cell, Cell> {
        let name = self.texts.number_of(name);
        match self.ids.get(&id) {
            Some(known) if known.name == name || matches!(known.cell, Cell::Bad(_)) => Ok(known.cell),
            Some(_) => Ok(Cell::Bad(RejectReason::WrongType)),
            None => Err(Cell::Bad(RejectReason::UndefinedRef)),
        }
    }

    fn define(&mut self, name: &str, id: u64, cell: Cell) -> bool {
        let name = self.texts.number_of(name);
        let is_first = self.ids.insert(id, Definition { name, cell }).is_none();
        if !is_first {
            self.ids.insert(id, Definition { name, cell: Cell::Bad(RejectReason::AmbiguousRef) });
        }
        is_first
    }

    /// Nothing that intervals need refers to it.
    fn define_other(&mut self, _: u64) -> bool {
        true
    }

    fn take_oddity(&mut self) -> Option<Oddity> {
        None
    }

    fn check(&self, _: u64) -> Result<(), Fault> {
        Ok(())
    }

    fn start_rows(&mut self, table: &mut OpenTable, _: u32) -> bool {
        let table = &table.reader.table;
        let schema = table.schema.clone().unwrap_or_default();
        let counts = IntervalTable { input: self.input.to_owned(), run: table.run, schema, ..IntervalTable::default() };
        self.table = TableRows::new(counts, &table.columns);
        self.table.is_some()
    }

    fn add_row(&mut self, _: &mut OpenTable, cells: &[Cell], at: u64) -> Result<Result<(), RejectReason>, Full> {
        let Self { table, texts, threads, .. } = self;
        Ok(table.as_mut().map_or(Ok(()), |table| table.add(cells, texts, threads, at)))
    }

    fn describe_rejection(&self, reason: RejectReason) -> String {
        self.table.as_ref().map_or_else(String::new, |table| table.describe(reason))
    }

    fn reject_cut_row(&mut self, _: &mut OpenTable) {
        if let Some(table) = &mut self.table {
            table.values.reject(RejectReason::Cut);
        }
    }

    fn finish_table(&mut self) {
        if let Some(table) = self.table.take() {
            table.values.finish(&self.texts, &mut self.found);
        }
    }

    fn finish_document(&mut self, bytes: u64) {
        self.of_documents += bytes;
        self.ids.clear();
        self.threads.clear();
    }

    fn reserve(&mut self, more: u64) -> Result<(), OverBudget> {
        let table = self.table.as_ref().map_or(0, |table| table.values.memory());
        let known = of_map(&self.ids) + self.texts.memory() + of_vec(&self.threads);
        self.reserved.resize(known + table + self.found.memory() + self.of_documents + more)
    }
}

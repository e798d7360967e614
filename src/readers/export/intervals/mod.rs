//! Stretches of time that a recording names: intervals of signposts, and potential hangs.
//!
//! Several tables have them. Instruments writes an interval of signposts as one row of `os-signpost-interval` (and some
//! instruments of Xcode 27 of `OSSignpostIntervals`), and as two rows of `os-signpost`, which are paired here:
//!
//! ```xml
//! <row><start-time id="1" …>573703666</start-time><duration id="2" …>21779500</duration><layout-id …/><string id="4"
//!   fmt="Layout">Layout</string><category …/><subsystem …/><os-signpost-identifier id="7" fmt="0x7">7</os-signpost-identifier>…</row>
//! <row><event-time …>573703666</event-time><thread …/><process …/><event-type id="7" fmt="Begin">Begin</event-type>…</row>
//! <row><start-time …>4933931583</start-time><duration …>234838875</duration><hang-type id="3" fmt="Hang">Hang</hang-type>…</row>
//! ```
//!
//! Points of interest are repeated in `region-of-interest`. In addition to hangs, `hang-risks` contains moments that may lead to hangs.
//!
//! Columns are identified by the mnemonics of the schema. All other tables are skipped, except for elements that a row may refer to: ids
//! are numbered over the complete document.
//!
//! ```
//! use traceparse::recording::{Intervals, Options};
//!
//! let xml = r#"<?xml version="1.0"?>
//! <trace-query-result>
//! <node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name="potential-hangs"><col><mnemonic>start</mnemonic></col>
//! <col><mnemonic>duration</mnemonic></col><col><mnemonic>hang-type</mnemonic></col></schema>
//! <row><start-time id="1">2000</start-time><duration id="2">500</duration><hang-type id="3">Hang</hang-type></row>
//! </node></trace-query-result>"#;
//! let found = Intervals::read(xml.as_bytes(), "hangs.xml", &Options::default())?;
//! let hang = &found.intervals[0];
//! assert_eq!((hang.start.as_nanos(), hang.end.map(|end| end.as_nanos())), (2_000, Some(2_500)));
//! assert_eq!(hang.hang_type.as_deref(), Some("Hang"));
//! # Ok::<(), traceparse::Error>(())
//! ```

mod rows;

use std::io::Read;

use super::attributes::parse_number;
use super::blocks::{Block, BlockReader};
use super::definitions::Element;
use super::display_names;
use super::document::{Content, DocumentReader, OpenTable};
use super::feed::{Taken, take_block};
use super::position::Place;
use super::tag::Tag;
use crate::error::{Diagnostic, Error};
use crate::hash::HashMap;
use crate::memory::{MemoryBudget, OverBudget, Reservation, of_map, of_vec};
use crate::profile::Full;
use crate::recording::{IntervalTable, Intervals, Options, ProcessCell, RejectReason, Table, Texts};
use rows::{Cell, TableRows, ThreadCell};

/// Reads the intervals and hang risks of an export with all its documents. `input` is how results and errors call it.
///
/// Rows that cannot be read are diagnostics, and are counted. An interval without a recorded end has no end. Only the options
/// `buffer_size`, `allow_truncated` and the limits are used. Exports without such tables, and tables of contents, have no intervals.
///
/// # Errors
/// As [`read_into`](super::read_into).
pub(crate) fn read_intervals(source: impl Read, input: &str, options: &Options) -> Result<Intervals, Error> {
    let mut reader = DocumentReader::new(FoundIntervals::new(input, &options.memory), options, input);
    let (mut place, mut block) = (Place::new(input, options), Block::default());
    let mut blocks = BlockReader::new(source, options.buffer_size);
    loop {
        blocks.read(&mut block);
        let taken = take_block(&mut reader, &mut place, &mut block, 0, |reader, block| {
            Taken::default().read(reader, block, |_, _| Ok(()))
        });
        if taken?.is_some() {
            return Ok(reader.content.into_intervals(reader.notes.take()));
        }
    }
}

/// The definition of an id.
#[derive(Clone, Copy, Debug)]
struct Definition {
    /// The name of its element, by the number of its text: a `ref` in an element with another name does not match.
    name: u32,
    cell: Cell,
}

/// The intervals of one input.
#[derive(Debug, Default)]
struct FoundIntervals<'a> {
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
    fn new(input: &'a str, memory: &MemoryBudget) -> Self {
        Self { input, reserved: memory.nothing(), ..Self::default() }
    }

    /// Everything that was found.
    fn into_intervals(self, diagnostics: Vec<Diagnostic>) -> Intervals {
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
    const CUT: Option<&'static str> = Some("the file is cut here; only complete rows are used");

    fn tag(name: &str) -> Tag {
        Tag::of_intervals(name)
    }

    fn is_needed(name: &str) -> bool {
        Tag::of_intervals(name).is_shared()
    }

    fn has_attributes(tag: Tag) -> bool {
        tag.is_shared()
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

    fn finish_table(&mut self, _: &Table) {
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

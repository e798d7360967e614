//! The elements of a document, as far as intervals need them.

use quick_xml::events::BytesStart;

use super::super::attributes::{self, Fields, Identity, parse_number, unescape};
use super::super::display_names;
use super::super::document::{number_in_xpath, other_document};
use super::super::position::Fault;
use super::super::skipped_tables::SkipRows;
use super::super::tokens::TakeTokens;
use super::super::truncation::{Documents, Unfinished};
use super::kinds::Kind;
use super::rows::{Cell, TableRows, ThreadCell};
use crate::hash::HashMap;
use crate::memory::{OverBudget, Reservation, of_map, of_vec};
use crate::readers::well_formed::attribute_of;
use crate::recording::{IntervalTable, Intervals, Limits, Notes, Options, ProcessCell, RejectReason, Texts};

/// An element whose end tag has not come yet.
#[derive(Debug)]
struct Open {
    kind: Kind,
    identity: Identity,
    at: u64,
    line: u64,
    /// The position of its first child's cell among the cells.
    first_cell: usize,
    /// The starts of its name, display string and text in the text buffer.
    name_start: usize,
    fmt_start: usize,
    text_start: usize,
    has_children: bool,
}

/// The definition of an id.
#[derive(Clone, Copy, Debug)]
struct Definition {
    /// The name of its element, by the number of its text: a `ref` in an element with another name does not match.
    name: u32,
    cell: Cell,
}

/// Reads the intervals of one input.
#[derive(Debug)]
pub(super) struct IntervalReader<'a> {
    limits: &'a Limits,
    allow_truncated: bool,
    input: &'a str,
    open: Vec<Open>,
    cells: Vec<Cell>,
    text: String,
    /// The definitions of the document's ids.
    ids: HashMap<u64, Definition>,
    texts: Texts,
    /// The threads of the document.
    threads: Vec<ThreadCell>,
    columns: Vec<String>,
    mnemonic: String,
    /// The table that is open, until its schema is known.
    named: Option<IntervalTable>,
    /// The open table, if it contains intervals or hangs.
    table: Option<TableRows>,
    is_skipping: bool,
    /// The number of open elements in the rows that pass by.
    skipped_depth: u32,
    /// A byte and its line, from which lines are counted on.
    line_known: (u64, u64),
    is_behind_declaration: bool,
    rows: u64,
    documents: u64,
    tables: usize,
    found: Intervals,
    pub(super) notes: Notes,
    /// The memory that all of this takes, as of the end of the last block.
    reserved: Reservation,
}

impl<'a> IntervalReader<'a> {
    /// Reserves the memory that what was found takes by now.
    pub(super) fn reserve(&mut self) -> Result<(), OverBudget> {
        let table = self.table.as_ref().map_or(0, TableRows::memory);
        let known = of_map(&self.ids) + self.texts.memory() + of_vec(&self.threads);
        let open = self.text.capacity() as u64 + of_vec(&self.cells);
        self.reserved.resize(known + table + open + self.found.memory())
    }

    pub(super) fn new(input: &'a str, options: &'a Options) -> Self {
        Self {
            limits: &options.limits,
            allow_truncated: options.allow_truncated,
            input,
            open: Vec::new(),
            cells: Vec::new(),
            text: String::new(),
            ids: HashMap::default(),
            texts: Texts::default(),
            threads: Vec::new(),
            columns: Vec::new(),
            mnemonic: String::new(),
            named: None,
            table: None,
            is_skipping: false,
            skipped_depth: 0,
            line_known: (0, 1),
            is_behind_declaration: false,
            rows: 0,
            documents: 0,
            tables: 0,
            found: Intervals::default(),
            notes: Notes::default(),
            reserved: options.memory.nothing(),
        }
    }

    /// Enters a window: the bytes in memory start at `byte`, in `line`.
    pub(super) fn enter_window(&mut self, byte: u64, line: u64) {
        self.line_known = (byte, line);
    }

    /// Everything that was found.
    pub(super) fn into_intervals(mut self) -> Intervals {
        Intervals { diagnostics: self.notes.take(), ..self.found }
    }

    fn start_document(&mut self, name: &str, at: u64) -> Result<Kind, Fault> {
        self.documents += 1;
        match name {
            "trace-query-result" => Ok(Kind::Document),
            "trace-toc" => Ok(Kind::Contents),
            _ => Err(other_document(name, at)),
        }
    }

    fn start_table(&mut self, start: &BytesStart<'_>, at: u64) -> Result<(), Fault> {
        self.tables += 1;
        if self.tables > self.limits.tables {
            return Err(Fault::limit(format!("the input has more than {} tables", self.limits.tables), at));
        }
        self.columns.clear();
        self.is_skipping = false;
        let run = number_in_xpath(start, "/run[").unwrap_or(1);
        self.table = None;
        self.named = Some(IntervalTable { input: self.input.to_owned(), run, ..IntervalTable::default() });
        Ok(())
    }

    fn start_schema(&mut self, start: &BytesStart<'_>, at: u64) -> Result<(), Fault> {
        let Some(table) = &mut self.named else {
            return Err(Fault::malformed("a second schema in one table", at));
        };
        if let Some(name) = attribute_of(start, "name") {
            table.schema = unescape(name, at)?.into_owned();
        }
        Ok(())
    }

    fn push(&mut self, kind: Kind, name: &str, start: &BytesStart<'_>, at: u64) -> Result<(), Fault> {
        if self.open.len() >= self.limits.element_depth {
            return Err(Fault::limit(format!("elements are nested deeper than {}", self.limits.element_depth), at));
        }
        if self.cells.len() >= self.limits.children || self.columns.len() >= self.limits.children {
            return Err(Fault::limit(format!("an element has more than {} children", self.limits.children), at));
        }
        let name_start = self.text.len();
        self.text.push_str(name);
        let fmt_start = self.text.len();
        let mut identity = Identity::None;
        if let Some(tag) = kind.attributes_as() {
            let (read, fields) = attributes::read(tag, start, at, self.limits.name_bytes)?;
            identity = read;
            if let Fields::DisplayName(fmt) = fields {
                self.text.push_str(&fmt);
            }
        }
        let (first_cell, text_start, has_children) = (self.cells.len(), self.text.len(), false);
        if let Some(parent) = self.open.last_mut() {
            parent.has_children = true;
        }
        self.open.push(Open {
            kind,
            identity,
            at,
            line: 0,
            first_cell,
            name_start,
            fmt_start,
            text_start,
            has_children,
        });
        Ok(())
    }

    /// The element becomes a cell of its parent.
    fn finish_cell(&mut self, open: &Open) {
        let cell = match open.identity {
            Identity::Ref(id) => self.referred(open, id),
            Identity::None | Identity::Id(_) => self.cell(open),
        };
        if let Identity::Id(id) = open.identity {
            self.define(open, id, cell);
        }
        self.cells.truncate(open.first_cell);
        // Elements between the rows of a table that is not read have no parent that would take them.
        if self.open.last().is_some_and(|parent| matches!(parent.kind, Kind::Row | Kind::Process | Kind::Thread)) {
            self.cells.push(cell);
        }
    }

    fn name_of(&mut self, open: &Open) -> u32 {
        self.texts.number_of(&self.text[open.name_start..open.fmt_start])
    }

    fn referred(&mut self, open: &Open, id: u64) -> Cell {
        let name = self.name_of(open);
        match self.ids.get(&id) {
            Some(known) if known.name == name || matches!(known.cell, Cell::Bad(_)) => known.cell,
            Some(_) => Cell::Bad(RejectReason::WrongType),
            None => Cell::Bad(RejectReason::UndefinedRef),
        }
    }

    /// Registers the definition of an id. If there are two, the meaning of a `ref` is unknown.
    fn define(&mut self, open: &Open, id: u64, cell: Cell) {
        let name = self.name_of(open);
        if self.ids.insert(id, Definition { name, cell }).is_some() {
            self.ids.insert(id, Definition { name, cell: Cell::Bad(RejectReason::AmbiguousRef) });
            self.notes.note(self.input, open.at, "id", || {
                format!("id {id} is defined twice; rows that refer to it from here on are rejected")
            });
        }
    }

    fn cell(&mut self, open: &Open) -> Cell {
        let (fmt, text) = (&self.text[open.fmt_start..open.text_start], &self.text[open.text_start..]);
        let children = &self.cells[open.first_cell..];
        if open.kind.has_text() && open.has_children {
            return Cell::Bad(RejectReason::WrongType);
        }
        if let Some(bad) = children.iter().find(|cell| matches!(cell, Cell::Bad(_))) {
            return *bad;
        }
        match open.kind {
            Kind::Sentinel => Cell::Absent,
            Kind::Number => parse_number(text).map_or(Cell::Bad(RejectReason::BadNumber), Cell::Number),
            // An empty string is valid if it has an id.
            Kind::Words if text.is_empty() && open.identity == Identity::None => Cell::Bad(RejectReason::EmptyCell),
            Kind::Narrative if fmt.is_empty() && !open.has_children && open.identity == Identity::None => {
                Cell::Bad(RejectReason::EmptyCell)
            }
            Kind::Words => Cell::Text(self.texts.number_of(text)),
            Kind::Narrative => Cell::Text(self.texts.number_of(fmt)),
            // Both are identified by their numbers.
            Kind::Process | Kind::Thread if !children.iter().any(Cell::is_number_or_absent) => {
                Cell::Bad(RejectReason::EmptyCell)
            }
            Kind::Process => {
                let pid = children.iter().find_map(|cell| cell.as_number());
                let name = self.texts.number_of(display_names::process_name(fmt, pid));
                Cell::Process(ProcessCell { name, pid })
            }
            Kind::Thread => {
                let tid = children.iter().find_map(|cell| cell.as_number());
                let process = children.iter().find_map(|cell| cell.as_process());
                self.threads.push(ThreadCell { tid, process });
                Cell::Thread(self.threads.len() as u32 - 1)
            }
            _ => Cell::Other,
        }
    }

    fn add_row(&mut self, open: &Open) {
        let cells = &self.cells[open.first_cell..];
        if let Some(table) = &mut self.table
            && let Err(reason) = table.add(cells, &self.texts, &self.threads, open.at)
        {
            let message = table.describe(reason);
            self.notes.note(self.input, open.at, message.0, || message.1);
        }
        self.cells.truncate(open.first_cell);
    }

    fn finish_schema(&mut self) {
        self.cells.clear();
        if let Some(named) = self.named.take_if(|named| !named.schema.is_empty()) {
            self.table = TableRows::new(named, &self.columns);
        }
        (self.is_skipping, self.skipped_depth) = (self.table.is_none(), 0);
    }

    fn finish_table(&mut self) {
        self.is_skipping = false;
        self.cells.clear();
        self.named = None;
        if let Some(table) = self.table.take() {
            table.finish(&self.texts, &mut self.found);
        }
    }

    fn finish_document(&mut self) {
        self.ids.clear();
        self.cells.clear();
        self.text.clear();
        self.threads.clear();
    }
}

impl Documents for IntervalReader<'_> {
    fn unfinished(&self) -> Option<Unfinished> {
        let row = self.open.iter().find(|open| open.kind == Kind::Row);
        let structures = || self.open.iter().rev().find(|open| open.line > 0);
        let look_at = row.or_else(structures).or(self.open.last())?;
        let names = self.open.iter().map(|open| &self.text[open.name_start..open.fmt_start]);
        let names: Vec<&str> = names.take(3).collect();
        Some(Unfinished { inside: names.join("/"), byte: look_at.at, line: look_at.line })
    }

    fn has_documents(&self) -> bool {
        self.documents > 0
    }

    fn row_count(&self) -> u64 {
        self.rows
    }

    fn may_be_cut(&self) -> bool {
        self.allow_truncated
    }

    fn accept_cut(&mut self, at: u64) {
        if self.open.iter().any(|open| open.kind == Kind::Row)
            && let Some(table) = &mut self.table
        {
            table.reject(RejectReason::Cut);
        }
        self.open.clear();
        self.finish_table();
        self.finish_document();
        self.mark_cut(at);
    }

    fn mark_cut(&mut self, at: u64) {
        self.notes.note(self.input, at, "cut", || "the file is cut here; only complete rows count".to_owned());
    }
}

impl TakeTokens for IntervalReader<'_> {
    fn take_start(&mut self, start: &BytesStart<'_>, at: u64, is_empty: bool) -> Result<(), Fault> {
        let name = start.name().into_inner();
        if matches!(name, "trace-query-result" | "trace-toc") {
            self.cut_if_open(at)?;
        }
        let parent = self.open.last().map(|open| open.kind);
        let kind = match parent {
            None => self.start_document(name, at)?,
            Some(parent) => Kind::inside(name, parent),
        };
        match kind {
            Kind::Node => self.start_table(start, at)?,
            Kind::Schema => self.start_schema(start, at)?,
            Kind::Row => {
                self.rows += 1;
                if self.table.is_none() {
                    // Its end tag is skipped as well.
                    (self.is_skipping, self.skipped_depth) = (true, u32::from(!is_empty));
                    return Ok(());
                }
            }
            _ => {}
        }
        self.push(kind, name, start, at)?;
        if is_empty { self.take_end(name, at) } else { Ok(()) }
    }

    fn take_end(&mut self, name: &str, at: u64) -> Result<(), Fault> {
        let Some(open) = self.open.pop() else {
            return Err(Fault::malformed(format!("</{name}> closes nothing"), at));
        };
        if self.text[open.name_start..open.fmt_start] != *name {
            return Err(Fault::malformed(format!("</{name}> closes an element of another name"), at));
        }
        match open.kind {
            Kind::Document => self.finish_document(),
            Kind::Contents if self.open.is_empty() => self.finish_document(),
            Kind::Contents => {}
            Kind::Node => self.finish_table(),
            Kind::Schema => self.finish_schema(),
            Kind::Column => self.columns.push(std::mem::take(&mut self.mnemonic)),
            Kind::Mnemonic => self.text[open.text_start..].clone_into(&mut self.mnemonic),
            Kind::Row => self.add_row(&open),
            _ => self.finish_cell(&open),
        }
        self.text.truncate(open.name_start);
        Ok(())
    }

    fn take_text(&mut self, text: &str, at: u64) -> Result<(), Fault> {
        match self.open.last() {
            Some(open) if open.kind.has_text() && !matches!(open.identity, Identity::Ref(_)) => {
                if self.text.len() - open.text_start + text.len() > self.limits.token_bytes {
                    return Err(Fault::limit("the text of an element is larger than the limit", at));
                }
                self.text.push_str(text);
            }
            None if !text.trim_ascii().is_empty() => self.notes.note(self.input, at, "text", || {
                "text outside of the document, ignored (output of xctrace mixed in?)".to_owned()
            }),
            _ => {}
        }
        Ok(())
    }

    fn is_in_document(&self) -> bool {
        !self.open.is_empty()
    }

    fn is_behind_declaration(&mut self) -> &mut bool {
        &mut self.is_behind_declaration
    }

    /// Documents, tables and rows are where a person looks.
    fn remember_line(&mut self, byte: u64, lines: impl Fn(u64, u64) -> u64) {
        let Some(open) = self.open.last_mut().filter(|open| open.at == byte) else { return };
        if matches!(open.kind, Kind::Document | Kind::Contents | Kind::Node | Kind::Row) {
            let (known, line) = self.line_known;
            open.line = line + lines(known, byte);
            self.line_known = (byte, open.line);
        }
    }

    fn wants_no_tokens(&self) -> bool {
        self.is_skipping()
    }

    fn starts_unread_row(&self, name: &str) -> bool {
        name == "row" && self.table.is_none() && self.open.last().is_some_and(|open| open.kind == Kind::Node)
    }
}

impl SkipRows for IntervalReader<'_> {
    fn is_skipping(&self) -> bool {
        self.is_skipping && self.open.last().is_some_and(|open| open.kind == Kind::Node)
    }

    fn count_row(&mut self) {
        self.rows += 1;
    }

    fn is_needed(name: &str) -> bool {
        !matches!(Kind::of(name), Kind::Other | Kind::Sentinel)
    }

    /// Nothing that intervals need refers to it.
    fn define_other(&mut self, _: u64, _: u64) {}

    fn depth(&mut self) -> &mut u32 {
        &mut self.skipped_depth
    }

    fn note_unbalanced(&mut self, at: u64) {
        self.notes.note(self.input, at, "unbalanced", || {
            "elements of a table that is not read do not end inside each other; some of its rows may be read \
             wrongly"
                .to_owned()
        });
    }
}

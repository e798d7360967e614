//! Builds documents from tokens: tracks open elements, evaluates closing ones, and keeps the table of the current rows.
//!
//! Every closing element becomes a [`Value`], made from its attributes, its text and the values of its children. Values are kept until the parent
//! closes; the cells of a row are its values. This one rule covers stacks of any shape and wrapping, and makes a `ref` a value like any other.

mod roles;
mod samples;
mod skipped_rows;
mod tables;
mod tokens;
mod truncation;

use std::fmt::Debug;

use quick_xml::events::BytesStart;

use super::anomaly::Oddity;
use super::attributes::{self, Fields, Identity};
use super::definitions::{Attributes, Element};
use super::position::Fault;
use super::tag::Tag;
use super::toc::TocReader;
use crate::memory::{OverBudget, of_vec};
use crate::profile::Full;
use crate::recording::{Document, DocumentContent, Limits, Notes, Options, RejectReason, Table};
use tables::Tables;

pub(super) use samples::Samples;
pub(super) use skipped_rows::rows_or_tokens;
pub(super) use tables::OpenTable;
pub(super) use truncation::{describe, finish};

/// What elements are converted to: samples, or rows of any table.
pub(super) trait Content: Debug {
    /// The value of an element.
    type Value: Copy + Debug;
    /// True if every anomaly is noted, not only those that lose a row or a table.
    const NOTES_ODDITIES: bool;
    /// The note about improperly nested elements in a skipped table.
    const UNBALANCED: &'static str;
    /// The note about a truncated document; `None` if the document itself is marked as truncated.
    const CUT: Option<&'static str>;

    /// Returns the tag of an element with this name, by its place.
    fn tag(name: &str) -> Tag;
    /// True if such an element is read if it defines an id, even in tables that are not read.
    fn is_needed(&self, name: &str) -> bool;
    /// True if the attributes of such elements are read.
    fn has_attributes(tag: Tag) -> bool;
    /// Decodes the attributes of an element, unless only its display string is needed.
    fn attributes(&mut self, _: Fields<'_>) -> Result<Attributes, Full> {
        Ok(Attributes::None)
    }
    /// Decodes a closing element.
    fn value(&mut self, element: Element<'_, Self::Value>) -> Result<Self::Value, Full>;
    /// Returns the value of a `ref` in an element with this name; `Err` if the id is not defined.
    fn referred(&mut self, tag: Tag, name: &str, id: u64) -> Result<Self::Value, Self::Value>;
    /// Registers the value of an id. Returns false if the id was defined before, so the meaning of a later `ref` is unknown.
    fn define(&mut self, name: &str, id: u64, value: Self::Value) -> bool;
    /// Registers the id of an element that is not read. Returns false if the id was defined before.
    fn define_other(&mut self, _: u64) -> bool {
        true
    }
    /// Takes an anomaly of the last element.
    fn take_oddity(&mut self) -> Option<Oddity>;
    /// Checks limits that depend on the number of bytes read so far.
    fn check(&self, _: u64) -> Result<(), Fault> {
        Ok(())
    }
    /// Starts the rows of a table, whose schema is complete; `index` is its position in the document. Returns true if its rows are read.
    fn start_rows(&mut self, table: &mut OpenTable, index: u32) -> bool;
    /// Adds the row that started at this byte, or counts it as rejected.
    fn add_row(
        &mut self,
        table: &mut OpenTable,
        cells: &[Self::Value],
        at: u64,
    ) -> Result<Result<(), RejectReason>, Full>;
    /// Returns a sentence that explains why a row was rejected.
    fn describe_rejection(&self, reason: RejectReason) -> String;
    /// Rejects the row in which the input ends.
    fn reject_cut_row(&mut self, table: &mut OpenTable);
    /// Called when a table ends.
    fn finish_table(&mut self, _: &Table) {}
    /// Called when a document ends. About `bytes` of it stay in memory.
    fn finish_document(&mut self, bytes: u64);
    /// Reserves the memory used so far, and `more` bytes that are used elsewhere.
    fn reserve(&mut self, more: u64) -> Result<(), OverBudget>;
}

/// An element that has no end tag yet.
#[derive(Debug)]
struct Open {
    tag: Tag,
    identity: Identity,
    attributes: Attributes,
    /// The offset of its `<`, and its line if it was recorded.
    at: u64,
    line: u64,
    /// The index of its first child's value in `values`.
    first_value: usize,
    /// The starts of its name, display string and text in the text buffer.
    name_start: usize,
    fmt_start: usize,
    text_start: usize,
    is_first_child: bool,
}

/// The kind of the open document.
#[derive(Debug)]
enum Root {
    /// No document is open: before, between or after documents.
    None,
    Query,
    Toc(Box<TocReader>),
}

/// Reads the documents of one input.
#[derive(Debug)]
pub(super) struct DocumentReader<'a, C: Content> {
    pub(super) content: C,
    limits: &'a Limits,
    allow_truncated: bool,
    input: &'a str,
    root: Root,
    open: Vec<Open>,
    pub(super) values: Vec<C::Value>,
    text: String,
    tables: Tables,
    /// An offset with a known line. Line counting starts there.
    line_known: (u64, u64),
    is_behind_declaration: bool,
    /// The number of complete rows in this input.
    rows: u64,
    pub(super) documents: Vec<Document>,
    pub(super) notes: Notes,
}

impl<'a, C: Content> DocumentReader<'a, C> {
    pub(super) fn new(content: C, options: &'a Options, input: &'a str) -> Self {
        Self {
            content,
            limits: &options.limits,
            allow_truncated: options.allow_truncated,
            input,
            root: Root::None,
            open: Vec::new(),
            values: Vec::new(),
            text: String::new(),
            tables: Tables::default(),
            line_known: (0, 1),
            is_behind_declaration: false,
            rows: 0,
            documents: Vec::new(),
            notes: Notes::default(),
        }
    }

    /// Moves to another window: the bytes in memory start at `byte`, in line `line`.
    pub(super) fn enter_window(&mut self, byte: u64, line: u64) {
        self.line_known = (byte, line);
    }

    /// True if the next token is a row of a table that is read, or the end of that table.
    pub(super) fn is_at_rows(&self) -> bool {
        self.tables.is_read && self.values.is_empty() && self.open.last().is_some_and(|open| open.tag == Tag::Node)
    }

    fn start_document(&mut self, name: &str, at: u64, is_empty: bool) -> Result<(), Fault> {
        let (root, tag) = match name {
            "trace-query-result" => (Root::Query, Tag::TraceQueryResult),
            "trace-toc" => (Root::Toc(Box::default()), Tag::Other),
            _ => return Err(other_document(name, at)),
        };
        self.root = root;
        self.push(tag, name, None, at)?;
        if is_empty { self.take_end(name, at) } else { Ok(()) }
    }

    fn start_table(&mut self, start: &BytesStart<'_>, at: u64) -> Result<(), Fault> {
        let limit = self.limits.tables;
        if self.tables.count().max(self.documents.len()) >= limit {
            return Err(Fault::limit(format!("the input has more than {limit} tables"), at));
        }
        if !self.tables.start(start) {
            self.note(at, "no run", || "a table does not name its run (run[N] in its xpath); run 1 is assumed".into());
        }
        Ok(())
    }

    /// If this child of a table is a row that is not read, counts it, starts skipping, and returns true.
    fn starts_skipping(&mut self, tag: Tag, name: &str, at: u64) -> bool {
        if tag == Tag::Row && !self.tables.is_read {
            self.tables.is_skipping = true;
            self.count_row();
            return true;
        }
        if tag != Tag::Row && !self.tables.is_skipping {
            self.note(at, "no row", || format!("<{name}> where a row should be, ignored"));
        }
        false
    }

    fn push(&mut self, tag: Tag, name: &str, start: Option<&BytesStart<'_>>, at: u64) -> Result<(), Fault> {
        if self.open.len() >= self.limits.element_depth {
            let limit = self.limits.element_depth;
            return Err(Fault::limit(format!("elements are nested deeper than {limit}"), at));
        }
        if self.values.len().max(self.tables.column_count()) >= self.limits.children {
            return Err(Fault::limit(format!("an element has more than {} children", self.limits.children), at));
        }
        let is_first_child = self.open.last().is_none_or(|parent| parent.first_value == self.values.len());
        let name_start = self.text.len();
        self.text.push_str(name);
        let fmt_start = self.text.len();
        let (identity, attributes) = match start.filter(|_| C::has_attributes(tag)) {
            Some(start) => self.attributes(tag, start, at)?,
            None => (Identity::None, Attributes::None),
        };
        self.open.push(Open {
            tag,
            identity,
            attributes,
            at,
            line: 0,
            first_value: self.values.len(),
            name_start,
            fmt_start,
            text_start: self.text.len(),
            is_first_child,
        });
        Ok(())
    }

    /// Reads the attributes that the element's value needs. Its display string is added to the text buffer.
    fn attributes(&mut self, tag: Tag, start: &BytesStart<'_>, at: u64) -> Result<(Identity, Attributes), Fault> {
        let (identity, fields) = attributes::read(tag, start, at, self.limits.name_bytes)?;
        let attributes = match fields {
            _ if matches!(identity, Identity::Ref(_)) => Ok(Attributes::None),
            Fields::DisplayName(name) => {
                self.text.push_str(&name);
                Ok(Attributes::None)
            }
            fields => self.content.attributes(fields),
        };
        let attributes = attributes.map_err(|full| Fault::full(full, at))?;
        self.note_oddities(at);
        Ok((identity, attributes))
    }

    /// Adds the element's value to its parent.
    fn finish_value(&mut self, open: &Open) -> Result<(), Fault> {
        let name = &self.text[open.name_start..open.fmt_start];
        let value = match open.identity {
            Identity::Ref(id) => self.content.referred(open.tag, name, id).unwrap_or_else(|value| {
                self.note_odd(open.at, "ref", || format!("ref {id} is not defined; rows that need it are rejected"));
                value
            }),
            Identity::None | Identity::Id(_) => {
                let element = Element {
                    tag: open.tag,
                    attributes: open.attributes,
                    fmt: &self.text[open.fmt_start..open.text_start],
                    text: &self.text[open.text_start..],
                    children: &self.values[open.first_value..],
                    is_first_child: open.is_first_child,
                    has_id: open.identity != Identity::None,
                };
                self.content.value(element).map_err(|full| Fault::full(full, open.at))?
            }
        };
        self.note_oddities(open.at);
        match open.identity {
            Identity::Id(id) => {
                let is_first = self.content.define(&self.text[open.name_start..open.fmt_start], id, value);
                self.check_definition(is_first, id, open.at);
            }
            Identity::Ref(_) if self.values.len() > open.first_value => {
                self.note_odd(open.at, "ref content", || {
                    "an element that is a ref contains other elements, which are ignored".to_owned()
                });
            }
            Identity::Ref(_) | Identity::None => {}
        }
        self.values.truncate(open.first_value);
        // Elements between the rows of a skipped table have no parent that uses their values.
        if self.open.last().is_some_and(|parent| !matches!(parent.tag, Tag::Node | Tag::TraceQueryResult)) {
            self.values.push(value);
        }
        self.content.check(open.at)
    }

    /// Adds a note if an id is defined twice, which no known file does.
    fn check_definition(&mut self, is_first: bool, id: u64, at: u64) {
        if !is_first {
            self.note(at, "id", || {
                format!("id {id} is defined twice; rows that refer to it from here on are rejected")
            });
        }
    }

    /// Registers the id of an element that is not read.
    fn define_other(&mut self, id: u64, at: u64) {
        let is_first = self.content.define_other(id);
        self.check_definition(is_first, id, at);
    }

    /// Notes the anomalies of the last element, which starts at this byte.
    #[inline]
    pub(super) fn note_oddities(&mut self, at: u64) {
        if let Some(oddity) = self.content.take_oddity() {
            self.note_each_oddity(oddity, at);
        }
    }

    #[cold]
    fn note_each_oddity(&mut self, first: Oddity, at: u64) {
        let mut next = Some(first);
        while let Some(oddity) = next {
            // Threads in other tables do not need a process; Instruments 27 writes some without one.
            if oddity != Oddity::NoProcess || C::NOTES_ODDITIES && self.tables.is_read {
                let (topic, sentence) = oddity.describe();
                self.note(at, topic, || sentence.to_owned());
            }
            next = self.content.take_oddity();
        }
    }

    /// Adds the row that started at `at`. Its cells are the values from `first_value` on.
    pub(super) fn add_row(&mut self, first_value: usize, at: u64) -> Result<(), Fault> {
        let cells = &self.values[first_value..];
        let Some(table) = &mut self.tables.open else { return Err(Fault::malformed("a row outside of a table", at)) };
        let result = self.content.add_row(table, cells, at).map_err(|full| Fault::full(full, at))?;
        self.values.truncate(first_value);
        self.rows += 1;
        if let Err(reason) = result {
            let Self { notes, content, .. } = self;
            notes.note(self.input, at, reason.name(), || content.describe_rejection(reason));
        }
        Ok(())
    }

    /// Ends the name or the type of a column.
    fn finish_column_part(&mut self, open: &Open) {
        let column = &mut self.tables.column;
        let part = if open.tag == Tag::Mnemonic { &mut column.mnemonic } else { &mut column.engineering_type };
        // Children split the text, so it is unclear which part is the name or type.
        if self.values.len() > open.first_value || !part.is_empty() {
            part.clear();
            self.note(open.at, "column", || {
                "a column has two names or types, or other elements in them: they are not used".to_owned()
            });
        } else {
            self.text[open.text_start..].clone_into(part);
        }
    }

    fn finish_schema(&mut self, at: u64) {
        if self.tables.open.is_some() {
            self.values.clear();
        }
        self.tables.finish_schema(|table, index| self.content.start_rows(table, index));
        if let Some(column) = self.tables.renamed_column() {
            self.note(at, "renamed column", || {
                format!(
                    "the table has no column {column}, but has columns that this version does not recognise; \
                         was it renamed?"
                )
            });
        }
    }

    fn finish_table(&mut self) {
        self.values.clear();
        if let Some(table) = self.tables.finish() {
            self.content.finish_table(table);
        }
    }

    pub(super) fn open_memory(&self) -> u64 {
        self.text.capacity() as u64 + of_vec(&self.values)
    }

    /// The approximate number of bytes of the open document that stay in memory.
    pub(super) fn memory(&self) -> u64 {
        match &self.root {
            Root::Toc(toc) => toc.memory(),
            Root::Query | Root::None => self.tables.memory(),
        }
    }

    fn finish_document(&mut self) {
        let bytes = self.memory();
        let content = match std::mem::replace(&mut self.root, Root::None) {
            Root::Toc(toc) => DocumentContent::Toc(toc.finish()),
            Root::Query | Root::None => DocumentContent::Tables(self.tables.take()),
        };
        self.content.finish_document(bytes);
        self.values.clear();
        self.text.clear();
        self.documents.push(Document { input: self.input.to_owned(), content, cut_at: None });
    }

    /// Adds a diagnostic, or counts it if one with the same `topic` exists.
    fn note(&mut self, byte: u64, topic: &'static str, message: impl FnOnce() -> String) {
        self.notes.note(self.input, byte, topic, message);
    }

    /// Like [`note`](Self::note), for an anomaly that does not lose a row.
    fn note_odd(&mut self, byte: u64, topic: &'static str, message: impl FnOnce() -> String) {
        if C::NOTES_ODDITIES {
            self.note(byte, topic, message);
        }
    }
}

/// The error for an input whose root element has this name.
fn other_document(name: &str, at: u64) -> Fault {
    if name.eq_ignore_ascii_case("html") {
        return Fault::not_an_export("this is a web page, not an export", at);
    }
    let text = format!("the document starts with <{name}>; an export starts with <trace-query-result> or <trace-toc>");
    Fault::not_an_export(text, at)
}

/// Receives the tokens from [`tokens::read`].
impl<C: Content> DocumentReader<'_, C> {
    /// An element starts at byte `at`; an empty element also ends there.
    fn take_start(&mut self, start: &BytesStart<'_>, at: u64, is_empty: bool) -> Result<(), Fault> {
        let name = start.name().into_inner();
        if matches!(name, "trace-query-result" | "trace-toc") {
            self.cut_if_open(at)?;
        }
        if let Root::Toc(toc) = &mut self.root {
            toc.start(name, start.attributes(), at)?;
            return if is_empty { self.take_end(name, at) } else { Ok(()) };
        }
        let Some(parent) = self.open.last().map(|open| open.tag) else {
            return self.start_document(name, at, is_empty);
        };
        let tag = C::tag(name).inside(parent);
        match parent {
            Tag::TraceQueryResult if tag == Tag::Node => self.start_table(start, at)?,
            Tag::TraceQueryResult => {
                self.note(at, "no table", || format!("<{name}> where a table should be, ignored"));
            }
            Tag::Node if tag == Tag::Schema => self.tables.start_schema(start, at)?,
            Tag::Node if self.starts_skipping(tag, name, at) => {
                self.tables.skipped_depth = u32::from(!is_empty);
                return Ok(());
            }
            _ => {}
        }
        self.push(tag, name, Some(start), at)?;
        if is_empty { self.take_end(name, at) } else { Ok(()) }
    }

    /// An element ends.
    fn take_end(&mut self, name: &str, at: u64) -> Result<(), Fault> {
        if let Root::Toc(toc) = &mut self.root {
            if toc.end(name, at)? {
                self.open.pop();
                self.finish_document();
            }
            return Ok(());
        }
        let Some(open) = self.open.pop() else {
            return Err(Fault::malformed(format!("</{name}> closes nothing"), at));
        };
        if self.text[open.name_start..open.fmt_start] != *name {
            return Err(Fault::malformed(format!("</{name}> closes an element with a different name"), at));
        }
        match open.tag {
            Tag::TraceQueryResult => self.finish_document(),
            Tag::Node => self.finish_table(),
            Tag::Schema => self.finish_schema(open.at),
            Tag::Col => self.tables.finish_column(),
            Tag::Mnemonic | Tag::EngineeringType => self.finish_column_part(&open),
            Tag::Row => self.add_row(open.first_value, open.at)?,
            _ => self.finish_value(&open)?,
        }
        self.text.truncate(open.name_start);
        Ok(())
    }

    fn take_text(&mut self, text: &str, at: u64) -> Result<(), Fault> {
        if let Root::Toc(toc) = &mut self.root {
            toc.text(text);
            return Ok(());
        }
        match self.open.last() {
            Some(open) if open.tag.has_text() && !matches!(open.identity, Identity::Ref(_)) => {
                if self.text.len() - open.text_start + text.len() > self.limits.token_bytes {
                    return Err(Fault::limit("the text of an element is larger than the limit", at));
                }
                self.text.push_str(text);
                Ok(())
            }
            None if !text.trim_ascii().is_empty() => {
                self.note(at, "text", || {
                    "text outside of the document, ignored (output of xctrace mixed in?)".to_owned()
                });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn is_in_document(&self) -> bool {
        !matches!(self.root, Root::None)
    }

    /// Counts the line of a position that a truncation error may refer to (a document, table or row), while the bytes are still in memory.
    fn remember_line(&mut self, byte: u64, lines: impl Fn(u64, u64) -> u64) {
        let is_toc = matches!(self.root, Root::Toc(_));
        let Some(open) = self.open.last_mut().filter(|open| open.at == byte) else { return };
        if is_toc || matches!(open.tag, Tag::TraceQueryResult | Tag::Node | Tag::Row) {
            let (known, line) = self.line_known;
            open.line = line + lines(known, byte);
            self.line_known = (byte, open.line);
        }
    }

    /// True if the following rows are not read as tokens.
    fn wants_no_tokens(&self) -> bool {
        self.is_skipping() || self.is_at_rows()
    }

    /// True if an element with this name is the first row of a skipped table, whose attributes may be malformed.
    fn starts_unread_row(&self, name: &str) -> bool {
        name == "row" && !self.tables.is_read && self.open.last().is_some_and(|open| open.tag == Tag::Node)
    }
}

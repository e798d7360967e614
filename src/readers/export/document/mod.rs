//! The elements of a document, built from tokens: open elements, closing elements, and the table of the current rows.
//!
//! Every element that closes becomes a [`Value`], made from its attributes, its text and the values of its children. The values are kept
//! until the parent closes. The cells of a row are its values. One rule therefore reads stacks of every shape with any wrapping, and a
//! `ref` is a value like any other.

mod tables;
mod truncated;

use quick_xml::events::BytesStart;

use super::anomaly::Oddity;
use super::attributes::{self, Fields, Identity};
use super::definitions::{Attributes, Definitions, Element};
use super::position::Fault;
use super::row_cells;
use super::skipped_tables::SkipRows;
use super::tag::Tag;
use super::toc::TocReader;
use super::tokens::TakeTokens;
use super::truncation::Documents;
use super::value::Value;
use crate::memory::of_vec;
use crate::profile::{StackId, StringId};
use crate::recording::{Document, DocumentContent, KnownRow, Limits, Notes, Options, RejectReason, add_known_row};
use tables::Tables;

pub(super) use tables::{OpenTable, number_in_xpath};

/// An element whose end tag has not come yet.
#[derive(Debug)]
struct Open {
    tag: Tag,
    identity: Identity,
    attributes: Attributes,
    /// The offset of its `<`, and its line if it was recorded.
    at: u64,
    line: u64,
    name_length: usize,
    /// The position of its first child's value among the values.
    first_value: usize,
    /// The starts of its name (if [`Tag::Other`]), display string and text in the text buffer.
    name_start: usize,
    fmt_start: usize,
    text_start: usize,
    is_first_child: bool,
}

/// The kind of document that is open.
#[derive(Debug)]
enum Root {
    /// None: before, between or after documents.
    None,
    Query,
    Toc(Box<TocReader>),
}

/// Reads the documents of one input.
#[derive(Debug)]
pub(super) struct DocumentReader<'a> {
    pub(super) definitions: &'a mut Definitions,
    pub(super) limits: &'a Limits,
    allow_truncated: bool,
    input: StringId,
    root: Root,
    open: Vec<Open>,
    pub(super) values: Vec<Value>,
    text: String,
    tables: Tables,
    /// Bytes of the inputs before this one, for the limit on expansion.
    bytes_before: u64,
    /// A byte and its line, from which lines are counted on.
    line_known: (u64, u64),
    is_behind_declaration: bool,
    /// Rows that were complete, in this input.
    pub(super) rows: u64,
    pub(super) documents: Vec<Document>,
    pub(super) notes: Notes,
}

impl<'a> DocumentReader<'a> {
    pub(super) fn new(
        definitions: &'a mut Definitions,
        options: &'a Options,
        input: StringId,
        bytes_before: u64,
    ) -> Self {
        Self {
            definitions,
            limits: &options.limits,
            allow_truncated: options.allow_truncated,
            input,
            root: Root::None,
            open: Vec::new(),
            values: Vec::new(),
            text: String::new(),
            tables: Tables::default(),
            bytes_before,
            line_known: (0, 1),
            is_behind_declaration: false,
            rows: 0,
            documents: Vec::new(),
            notes: Notes::default(),
        }
    }

    /// Enters a window: the bytes in memory start at `byte`, in `line`.
    pub(super) fn enter_window(&mut self, byte: u64, line: u64) {
        self.line_known = (byte, line);
    }

    /// True if a row of a CPU table follows, or the end of the table.
    pub(super) fn is_at_rows(&self) -> bool {
        self.tables.is_cpu() && self.values.is_empty() && self.open.last().is_some_and(|open| open.tag == Tag::Node)
    }

    fn start_document(&mut self, name: &str, at: u64, is_empty: bool) -> Result<(), Fault> {
        let (root, tag) = match name {
            "trace-query-result" => (Root::Query, Tag::TraceQueryResult),
            "trace-toc" => (Root::Toc(Box::default()), Tag::Other),
            _ => return Err(other_document(name, at)),
        };
        self.root = root;
        self.open.push(Open::plain(tag, name, at));
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

    /// True if this child of a table starts the rows of a table that is not read (and is counted, if it is a row).
    fn starts_skipping(&mut self, tag: Tag, name: &str, at: u64) -> bool {
        if tag == Tag::Row && !self.tables.is_cpu() {
            self.tables.is_skipping = true;
            self.count_row();
            return true;
        }
        if tag != Tag::Row && !self.tables.is_skipping {
            self.note(at, "no row", || format!("<{name}> where a row should be, ignored"));
        }
        false
    }

    fn push(&mut self, tag: Tag, name: &str, start: &BytesStart<'_>, at: u64) -> Result<(), Fault> {
        if self.open.len() >= self.limits.element_depth {
            let limit = self.limits.element_depth;
            return Err(Fault::limit(format!("elements are nested deeper than {limit}"), at));
        }
        if self.values.len().max(self.tables.column_count()) >= self.limits.children {
            return Err(Fault::limit(format!("an element has more than {} children", self.limits.children), at));
        }
        let is_first_child = self.open.last().is_none_or(|parent| parent.first_value == self.values.len());
        let name_start = self.text.len();
        if tag == Tag::Other {
            self.text.push_str(name);
        }
        let fmt_start = self.text.len();
        let (identity, attributes) = self.attributes(tag, start, at)?;
        self.open.push(Open {
            tag,
            identity,
            attributes,
            at,
            line: 0,
            name_length: name.len(),
            first_value: self.values.len(),
            name_start,
            fmt_start,
            text_start: self.text.len(),
            is_first_child,
        });
        Ok(())
    }

    /// Reads the attributes that the element's value needs; its display string goes to the text buffer.
    fn attributes(&mut self, tag: Tag, start: &BytesStart<'_>, at: u64) -> Result<(Identity, Attributes), Fault> {
        let (identity, fields) = attributes::read(tag, start, at, self.limits.name_bytes)?;
        let attributes = match fields {
            _ if matches!(identity, Identity::Ref(_)) => Ok(Attributes::None),
            Fields::None => Ok(Attributes::None),
            Fields::UnknownFrame => Ok(Attributes::Value(Value::Bad(RejectReason::UnknownStack))),
            Fields::Frame(frame) => self.definitions.frame_attributes(&frame),
            Fields::Binary(binary) => self.definitions.binary(&binary).map(Attributes::Value),
            Fields::Line(line) => Ok(line.map_or(Attributes::None, Attributes::Line)),
            Fields::DisplayName(name) => {
                self.text.push_str(&name);
                Ok(Attributes::None)
            }
        };
        let attributes = attributes.map_err(|full| Fault::full(full, at))?;
        self.note_oddities(at);
        Ok((identity, attributes))
    }

    /// The element becomes a value of its parent.
    fn finish_value(&mut self, open: &Open) -> Result<(), Fault> {
        let value = match open.identity {
            // Such an element carries no information, and a skipped table may have defined it.
            Identity::Ref(_) if open.tag == Tag::Companion => Value::Companion,
            Identity::Ref(id) => match self.definitions.ids.get(id) {
                Some(value) => self.definitions.referred(open.tag, value),
                None => {
                    self.note(open.at, "ref", || format!("ref {id} is not defined; rows that need it are rejected"));
                    // An element that does not affect samples may be missing.
                    if open.tag.is_shared() { Value::Bad(RejectReason::UndefinedRef) } else { Value::Other }
                }
            },
            Identity::None | Identity::Id(_) => {
                let element = Element {
                    tag: open.tag,
                    attributes: open.attributes,
                    fmt: &self.text[open.fmt_start..open.text_start],
                    text: &self.text[open.text_start..],
                    children: &self.values[open.first_value..],
                    is_first_child: open.is_first_child,
                };
                self.definitions.value(element).map_err(|full| Fault::full(full, open.at))?
            }
        };
        self.note_oddities(open.at);
        match open.identity {
            Identity::Id(id) => self.define(id, value, open.at),
            Identity::Ref(_) if self.values.len() > open.first_value => {
                self.note(open.at, "ref content", || {
                    "an element that is a ref holds others, which do not count".to_owned()
                });
            }
            Identity::Ref(_) | Identity::None => {}
        }
        self.values.truncate(open.first_value);
        // Elements between the rows of a table that is not read have no parent that would take their values.
        if self.open.last().is_some_and(|parent| !matches!(parent.tag, Tag::Node | Tag::TraceQueryResult)) {
            self.values.push(value);
        }
        self.check_stacks(open.at)
    }

    /// Registers the value of an id. No known file defines an id twice, so the meaning of a later `ref` would be unknown.
    fn define(&mut self, id: u64, value: Value, at: u64) {
        if self.definitions.ids.get(id).is_none() {
            self.definitions.ids.define(id, value);
            return;
        }
        self.definitions.ids.define(id, Value::Bad(RejectReason::AmbiguousRef));
        self.note(at, "id", || format!("id {id} is defined twice; rows that refer to it from here on are rejected"));
    }

    /// Notes what is odd about the element at this byte, which was read last.
    #[inline]
    pub(super) fn note_oddities(&mut self, at: u64) {
        if !self.definitions.oddities.is_empty() {
            self.note_each_oddity(at);
        }
    }

    #[cold]
    fn note_each_oddity(&mut self, at: u64) {
        while let Some(oddity) = self.definitions.oddities.pop() {
            // Threads of other tables need no process, and Instruments 27 writes some without.
            if oddity == Oddity::NoProcess && !self.tables.is_cpu() {
                continue;
            }
            self.note(at, oddity.topic(), || oddity.sentence().to_owned());
        }
    }

    /// Checks that there are no more stacks than an input that was read up to this byte may have.
    pub(super) fn check_stacks(&self, at: u64) -> Result<(), Fault> {
        let stacks = self.definitions.recording.profile.stack_count() as u64;
        if stacks > self.limits.free_stacks + self.bytes_before + at {
            return Err(Fault::limit("stacks expand to more frames than the input has bytes", at));
        }
        Ok(())
    }

    /// Adds the row that started at this byte; its cells are the values from `first_value` on.
    pub(super) fn add_row(&mut self, first_value: usize, at: u64) -> Result<(), Fault> {
        let cells = &self.values[first_value..];
        let Some(table) = &mut self.tables.open else { return Err(Fault::malformed("a row outside of a table", at)) };
        let result = row_cells::add_row(table, cells, self.definitions).map_err(|full| Fault::full(full, at))?;
        self.values.truncate(first_value);
        self.rows += 1;
        if let Err(reason) = result {
            self.note(at, reason.name(), || format!("row rejected: {reason}"));
        }
        Ok(())
    }

    /// Adds a row of a time, cells that are known, and a stack. Where that will not do the row has to be added whole.
    #[inline(always)]
    pub(super) fn add_known_row(&mut self, known: &KnownRow, time: u64, stack: Option<StackId>) -> Option<()> {
        add_known_row(&mut self.tables.open.as_mut()?.reader, known, (time, stack), &mut self.definitions.recording)?;
        self.rows += 1;
        Some(())
    }

    /// The number of the current document and table in this input.
    pub(super) fn table_number(&self) -> (usize, usize) {
        (self.documents.len(), self.tables.count())
    }

    /// The part that the row with these cells, which was added last, has in common with others.
    pub(super) fn known_row(&self, cells: &[Value]) -> Option<KnownRow> {
        row_cells::known_row(self.tables.open.as_ref()?, cells, self.definitions)
    }

    fn finish_schema(&mut self, at: u64) {
        if self.tables.open.is_some() {
            self.values.clear();
        }
        self.tables.finish_schema(self.input, self.definitions.recording.document_number());
        if let Some(column) = self.tables.renamed_column() {
            self.note(at, "renamed column", || {
                format!("the table has no column {column}, and others that this version does not know; was it renamed?")
            });
        }
    }

    fn finish_table(&mut self) {
        self.values.clear();
        self.tables.finish();
    }

    /// The memory of the open elements.
    pub(super) fn open_memory(&self) -> u64 {
        self.text.capacity() as u64 + of_vec(&self.values)
    }

    /// About how many bytes of the document that is open stay.
    pub(super) fn memory(&self) -> u64 {
        match &self.root {
            Root::Toc(toc) => toc.memory(),
            Root::Query | Root::None => self.tables.memory(),
        }
    }

    fn finish_document(&mut self) {
        self.definitions.recording.count_documents(self.memory());
        let content = match std::mem::replace(&mut self.root, Root::None) {
            Root::Toc(toc) => DocumentContent::Toc(toc.finish()),
            Root::Query | Root::None => DocumentContent::Tables(self.tables.take()),
        };
        self.definitions.finish_document();
        self.values.clear();
        self.text.clear();
        let input = self.definitions.recording.profile.text(self.input).to_owned();
        self.documents.push(Document { input, content, cut_at: None });
    }

    /// Notes a diagnostic at a byte, or counts it if one of the same `topic` was noted before.
    fn note(&mut self, byte: u64, topic: &'static str, message: impl FnOnce() -> String) {
        self.notes.note(self.definitions.recording.profile.text(self.input), byte, topic, message);
    }
}

/// The error for an input that starts with an element of this name.
pub(super) fn other_document(name: &str, at: u64) -> Fault {
    if name.eq_ignore_ascii_case("html") {
        return Fault::not_an_export("this is a web page, not an export", at);
    }
    let text = format!("the document starts with <{name}>; an export starts with <trace-query-result> or <trace-toc>");
    Fault::not_an_export(text, at)
}

impl TakeTokens for DocumentReader<'_> {
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
        let tag = Tag::of(name).inside(parent);
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
        self.push(tag, name, start, at)?;
        if is_empty { self.take_end(name, at) } else { Ok(()) }
    }

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
        let is_match = match open.tag {
            Tag::Other => self.text[open.name_start..open.fmt_start] == *name,
            // Some tags have several names, of different length.
            tag => Tag::of(name) == tag && name.len() == open.name_length,
        };
        if !is_match {
            return Err(Fault::malformed(format!("</{name}> closes an element of another name"), at));
        }
        match open.tag {
            Tag::TraceQueryResult => self.finish_document(),
            Tag::Node => self.finish_table(),
            Tag::Schema => self.finish_schema(open.at),
            Tag::Col => self.tables.finish_column(),
            // Which part of the text would be the name?
            Tag::Mnemonic if self.values.len() > open.first_value => self.tables.column.mnemonic.clear(),
            Tag::Mnemonic => self.text[open.text_start..].clone_into(&mut self.tables.column.mnemonic),
            Tag::EngineeringType => self.text[open.text_start..].clone_into(&mut self.tables.column.engineering_type),
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
                if self.text.len() + text.len() > self.limits.token_bytes {
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

    fn is_behind_declaration(&mut self) -> &mut bool {
        &mut self.is_behind_declaration
    }

    /// If the input is truncated, the error points to a document, table or row. Lines can no longer be counted once the bytes are gone.
    fn remember_line(&mut self, byte: u64, lines: impl Fn(u64, u64) -> u64) {
        let is_toc = matches!(self.root, Root::Toc(_));
        let Some(open) = self.open.last_mut().filter(|open| open.at == byte) else { return };
        if is_toc || matches!(open.tag, Tag::TraceQueryResult | Tag::Node | Tag::Row) {
            let (known, line) = self.line_known;
            open.line = line + lines(known, byte);
            self.line_known = (byte, open.line);
        }
    }

    fn wants_no_tokens(&self) -> bool {
        self.is_skipping() || self.is_at_rows()
    }

    fn starts_unread_row(&self, name: &str) -> bool {
        name == "row" && !self.tables.is_cpu() && self.open.last().is_some_and(|open| open.tag == Tag::Node)
    }
}

impl SkipRows for DocumentReader<'_> {
    fn is_skipping(&self) -> bool {
        self.tables.is_skipping && self.open.last().is_some_and(|open| open.tag == Tag::Node)
    }

    fn count_row(&mut self) {
        self.rows += 1;
        self.tables.count_row();
    }

    /// Rows of CPU tables refer to such elements.
    fn is_needed(name: &str) -> bool {
        Tag::of(name).is_shared()
    }

    /// Rows of CPU tables may refer to this element, although it does not affect them.
    fn define_other(&mut self, id: u64, at: u64) {
        self.define(id, Value::Other, at);
    }

    fn depth(&mut self) -> &mut u32 {
        &mut self.tables.skipped_depth
    }

    fn note_unbalanced(&mut self, at: u64) {
        self.note(at, "unbalanced", || {
            "elements of a table that is not read do not end inside each other; the number of its rows may be wrong"
                .to_owned()
        });
    }
}

impl Open {
    fn plain(tag: Tag, name: &str, at: u64) -> Self {
        Self {
            tag,
            identity: Identity::None,
            attributes: Attributes::None,
            at,
            line: 0,
            name_length: name.len(),
            first_value: 0,
            name_start: 0,
            fmt_start: 0,
            text_start: 0,
            is_first_child: true,
        }
    }
}

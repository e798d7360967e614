//! Decodes the rows of any table, with all their cells.
//!
//! Threads, processes, frames and stacks are decoded as for samples. Every other element is a number or a string, depending on its content:
//!
//! | element | value |
//! |---|---|
//! | text that is a decimal number | the number; the type of the column gives its meaning. Elements with a numeric type have no other text |
//! | other text | the text, including white space |
//! | children | the display string |
//! | one of the [labels](Tag::Label), such as `syscall` | the display string: its text is a code |
//! | one of [two parts](Tag::Named), such as `swift-task` | the first number among its children, and the last text |
//! | `<sentinel/>` | none |

use super::anomaly::Oddity;
use super::attributes::{Fields, parse_number};
use super::definitions::{Attributes, Definitions, Element};
use super::document::{Content, OpenTable};
use super::table_ids::TableIds;
use super::tag::Tag;
use super::value::Value;
use crate::error::{Error, ErrorKind};
use crate::hash::HashMap;
use crate::memory::{OverBudget, of_vec};
use crate::profile::{Full, StringId};
use crate::recording::{RejectReason, Source, Table, TableKind, add_read_row};
use crate::tables::{Cell, ColumnKind, RowValues, TableHead, TableVisitor};
use crate::units::several;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TableValue {
    /// Decoded as for samples.
    Known(Value),
    /// A number and its kind, which is [`Unknown`](ColumnKind::Unknown) if the element has an unknown type.
    Number(u64, ColumnKind),
    Text(StringId),
    Named(u64, StringId),
}

impl TableValue {
    /// The value as a child of a thread, frame or stack.
    fn as_child(self) -> Value {
        if let Self::Known(value) = self { value } else { Value::Companion }
    }

    /// The number of a value, if it has one.
    fn number(self) -> Option<u64> {
        match self {
            Self::Number(number, _) | Self::Named(number, _) => Some(number),
            Self::Known(Value::Tid(number) | Value::Pid(number) | Value::Address(number)) => Some(number),
            _ => None,
        }
    }

    /// The text of a string value.
    fn text(self) -> Option<StringId> {
        if let Self::Text(text) | Self::Known(Value::Path(text)) = self { Some(text) } else { None }
    }

    /// True for an unreadable element.
    fn is_bad(self) -> bool {
        matches!(self, Self::Known(Value::Bad(_)))
    }

    /// Converts the value to a cell for a column of this kind, or returns the reason why it does not fit.
    fn cell(self, column: ColumnKind) -> Result<Cell, RejectReason> {
        column.checked(match self {
            Self::Number(..) | Self::Known(Value::Tid(_) | Value::Pid(_) | Value::Address(_)) => {
                return self.number_in(column);
            }
            // A string column has no space for the number.
            Self::Named(..) if column == ColumnKind::Text => return Err(RejectReason::WrongType),
            Self::Text(text) => Cell::Text(text),
            Self::Named(number, text) => Cell::Named(number, text),
            Self::Known(value) => match value {
                Value::Bad(reason) => return Err(reason),
                Value::Process(index) => Cell::Process(index),
                Value::Thread(index) => Cell::Thread(index),
                Value::Path(text) => Cell::Text(text),
                Value::Counters(list) | Value::Addresses(list) => Cell::Numbers(list),
                // An empty stack is neither a string nor a number.
                Value::Stack(None) if !matches!(column, ColumnKind::Stack | ColumnKind::Unknown) => {
                    return Err(RejectReason::WrongType);
                }
                Value::Stack(stack) => stack.map_or(Cell::None, Cell::Stack),
                Value::Absent => Cell::None,
                _ => return Err(RejectReason::WrongType),
            },
        })
    }

    /// Converts a number to a cell for a column of this kind. The element and the column must have the same unit. Text that looks like a number
    /// has no unit, so it fits only string columns.
    fn number_in(self, column: ColumnKind) -> Result<Cell, RejectReason> {
        let kind = if let Self::Number(_, kind) = self { kind } else { ColumnKind::Number };
        let is_same = match column {
            ColumnKind::Unknown => true,
            ColumnKind::Text => kind == ColumnKind::Unknown,
            column => kind == column,
        };
        let number = self.number().filter(|_| is_same).ok_or(RejectReason::WrongType)?;
        column.checked(Cell::Number(number))
    }
}

/// The state of the current table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    NoSchema,
    Wanted,
    NotWanted,
}

#[derive(Clone, Copy, Debug)]
struct Definition {
    /// The index of the element's name. A `ref` in an element with another name does not match.
    name: u32,
    value: TableValue,
}

/// Passes the rows of one input to a visitor.
#[derive(Debug)]
pub(super) struct TableRows<'d> {
    definitions: &'d mut Definitions,
    input: StringId,
    visitor: &'d mut dyn TableVisitor,
    ids: TableIds<Definition>,
    /// The names of elements; there are a few dozen.
    names: HashMap<String, u32>,
    /// The columns of the current table; `None` for unwanted columns.
    kinds: Vec<Option<ColumnKind>>,
    cells: Vec<Cell>,
    children: Vec<Value>,
    state: State,
    /// The visitor's error, if it stopped reading.
    pub(super) failure: Option<Error>,
}

impl<'d> TableRows<'d> {
    pub(super) fn new(definitions: &'d mut Definitions, input: StringId, visitor: &'d mut dyn TableVisitor) -> Self {
        Self {
            definitions,
            input,
            visitor,
            ids: TableIds::default(),
            names: HashMap::default(),
            kinds: Vec::new(),
            cells: Vec::new(),
            children: Vec::new(),
            state: State::NoSchema,
            failure: None,
        }
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.names.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.insert(name.to_owned(), number);
        number
    }

    fn text(&mut self, text: &str) -> Result<TableValue, Full> {
        self.definitions.recording.profile.string(text).map(TableValue::Text)
    }

    /// Decodes a number.
    fn number(element: Element<'_, TableValue>, kind: ColumnKind) -> TableValue {
        let bad = |reason| TableValue::Known(Value::Bad(reason));
        // The text is split by children, so it is unclear which part is the number.
        if !element.children.is_empty() {
            return bad(RejectReason::WrongType);
        }
        parse_number(element.text).map_or(bad(RejectReason::BadNumber), |number| TableValue::Number(number, kind))
    }

    /// Decodes an element that is not used for samples.
    fn value_of(&mut self, element: Element<'_, TableValue>) -> Result<TableValue, Full> {
        let Element { tag, fmt, text, children, has_id, .. } = element;
        match tag {
            Tag::Named => self.named(element),
            Tag::Cell if children.is_empty() => match parse_number(text).filter(|number| number.to_string() == text) {
                Some(number) => Ok(TableValue::Number(number, ColumnKind::Unknown)),
                None if text.is_empty() && fmt.is_empty() && !has_id => {
                    Ok(TableValue::Known(Value::Bad(RejectReason::EmptyCell)))
                }
                None => self.text(if text.is_empty() { fmt } else { text }),
            },
            _ => self.label(element),
        }
    }

    /// Decodes an element as the first number and the last text among its children. An element without a number is a label.
    fn named(&mut self, element: Element<'_, TableValue>) -> Result<TableValue, Full> {
        let children = element.children;
        // The unreadable child may be the number.
        if let Some(bad) = children.iter().find(|child| child.is_bad()) {
            return Ok(*bad);
        }
        let Some(number) = children.iter().find_map(|child| child.number()) else {
            return self.label(element);
        };
        let text = children.iter().rev().find_map(|child| child.text());
        let text = text.map_or_else(|| self.definitions.recording.profile.string(element.fmt), Ok)?;
        Ok(TableValue::Named(number, text))
    }

    /// Returns the display string or, if it is empty, the element's text or the joined texts of its children. The parts of a code are not joined
    /// to a name.
    fn label(&mut self, element: Element<'_, TableValue>) -> Result<TableValue, Full> {
        let Element { tag, fmt, text, children, has_id, .. } = element;
        if !fmt.is_empty() || children.is_empty() && (!text.is_empty() || has_id) {
            return self.text(if fmt.is_empty() { text } else { fmt });
        }
        // An empty view hierarchy has children, and an empty display string.
        if tag == Tag::Label && has_id {
            return self.text(fmt);
        }
        if tag == Tag::Label || children.is_empty() {
            return Ok(TableValue::Known(Value::Bad(RejectReason::EmptyCell)));
        }
        if let Some(bad) = children.iter().find(|child| child.is_bad()) {
            return Ok(*bad);
        }
        let profile = &self.definitions.recording.profile;
        let texts = children.iter().map(|child| match (child.text(), *child) {
            (Some(text), _) | (None, TableValue::Named(_, text)) => profile.text(text).to_owned(),
            (None, value) => value.number().map_or_else(String::new, |number| number.to_string()),
        });
        let joined: String = texts.collect();
        self.text(&joined)
    }
}

/// Describes a table for a visitor.
fn head(table: &Table) -> TableHead {
    TableHead {
        run: table.run,
        position: table.position,
        schema: table.schema.clone().unwrap_or_default(),
        attributes: Vec::new(),
        folder: String::new(),
        columns: table.columns.clone(),
    }
}

impl Content for TableRows<'_> {
    type Value = TableValue;
    const NOTES_ODDITIES: bool = false;
    const UNBALANCED: &'static str =
        "elements of an unread table are not properly nested; some of its rows may be misread";
    const CUT: Option<&'static str> = Some("the file is truncated here; only complete rows are used");

    fn tag(name: &str) -> Tag {
        Tag::of_tables(name)
    }

    fn is_needed(&self, name: &str) -> bool {
        self.visitor.needs(name)
    }

    fn has_attributes(tag: Tag) -> bool {
        // A nested row is not read, but another element may refer to its id.
        tag.is_shared() || tag == Tag::Other
    }

    fn attributes(&mut self, fields: Fields<'_>) -> Result<Attributes, Full> {
        self.definitions.attributes(fields)
    }

    fn value(&mut self, element: Element<'_, TableValue>) -> Result<TableValue, Full> {
        // A nested table, schema or row.
        if element.tag == Tag::Other {
            return Ok(TableValue::Known(Value::Bad(RejectReason::WrongType)));
        }
        if let Some(kind) = element.tag.number_kind() {
            return Ok(Self::number(element, kind));
        }
        if matches!(element.tag, Tag::Cell | Tag::Label | Tag::Named) {
            return self.value_of(element);
        }
        let mut children = std::mem::take(&mut self.children);
        children.clear();
        children.extend(element.children.iter().map(|child| child.as_child()));
        let Element { tag, attributes, fmt, text, is_first_child, has_id, .. } = element;
        let element = Element { tag, attributes, fmt, text, children: &children, is_first_child, has_id };
        let value = self.definitions.value(element).map(TableValue::Known);
        self.children = children;
        value
    }

    fn referred(&mut self, _: Tag, name: &str, id: u64) -> Result<TableValue, TableValue> {
        let name = self.name(name);
        let bad = |reason| TableValue::Known(Value::Bad(reason));
        match self.ids.get(id) {
            Some(known) if known.name == name || matches!(known.value, TableValue::Known(Value::Bad(_))) => {
                Ok(known.value)
            }
            Some(_) => Ok(bad(RejectReason::WrongType)),
            None => Err(bad(RejectReason::UndefinedRef)),
        }
    }

    fn define(&mut self, name: &str, id: u64, value: TableValue) -> bool {
        let name = self.name(name);
        let is_first = self.ids.get(id).is_none();
        let ambiguous = TableValue::Known(Value::Bad(RejectReason::AmbiguousRef));
        self.ids.set(id, Definition { name, value: if is_first { value } else { ambiguous } });
        is_first
    }

    fn take_oddity(&mut self) -> Option<Oddity> {
        self.definitions.oddities.pop()
    }

    fn start_rows(&mut self, table: &mut OpenTable, index: u32) -> bool {
        let head = head(&table.reader.table);
        let wanted = self.visitor.wanted_columns(&head);
        self.kinds =
            head.columns.iter().zip(wanted).map(|(column, is_wanted)| is_wanted.then_some(column.kind)).collect();
        let document = self.definitions.recording.document_number();
        table.reader.source = Some(Source { input: self.input, document, table: index });
        self.state = if self.visitor.wants(&head) { State::Wanted } else { State::NotWanted };
        if self.state == State::Wanted {
            if self.visitor.makes_samples() {
                table.reader.table.kind = TableKind::Cpu;
            }
            self.visitor.start(&head);
        }
        self.state == State::Wanted
    }

    fn add_row(
        &mut self,
        table: &mut OpenTable,
        cells: &[TableValue],
        _: u64,
    ) -> Result<Result<(), RejectReason>, Full> {
        let Self { definitions, visitor, kinds, cells: row, .. } = self;
        let recording = &mut definitions.recording;
        let reader = &mut table.reader;
        row.clear();
        let mut read = if cells.len() == kinds.len() { Ok(()) } else { Err(RejectReason::CellCount) };
        for (cell, kind) in cells.iter().zip(kinds.iter()) {
            let Some(kind) = kind else {
                row.push(Cell::None);
                continue;
            };
            match cell.cell(*kind) {
                Ok(cell) => row.push(cell),
                Err(reason) => read = read.and(Err(reason)),
            }
        }
        if visitor.rows_left() == Some(0) {
            reader.table.rows += 1;
            return Ok(Ok(()));
        }
        if let Err(reason) = read {
            return add_read_row(reader, Err(reason), recording);
        }
        match visitor.row(row, &RowValues::new(recording)) {
            Ok(Ok(Some(sample))) => add_read_row(reader, Ok(sample), recording),
            Ok(Ok(None)) => {
                reader.table.rows += 1;
                Ok(Ok(()))
            }
            Ok(Err(reason)) => add_read_row(reader, Err(reason), recording),
            Err(error) => {
                self.failure = Some(error);
                Err(Full)
            }
        }
    }

    fn describe_rejection(&self, reason: RejectReason) -> String {
        self.visitor.describe(reason)
    }

    fn reject_cut_row(&mut self, table: &mut OpenTable) {
        table.reader.table.rows += 1;
        table.reader.table.rejected.add(RejectReason::Cut);
    }

    fn finish_table(&mut self, table: &Table) {
        match std::mem::take(&mut self.state) {
            State::Wanted => self.visitor.end(table.rows, &table.rejected),
            State::NotWanted => {}
            State::NoSchema => {
                let head = head(table);
                if self.visitor.wants(&head) {
                    let rows = several(table.rows, "row");
                    let reason =
                        format!("it has no schema, so its {rows} cannot be read; export a table with a schema");
                    let error = Error::new(ErrorKind::Malformed(reason), None);
                    self.failure = self.visitor.unreadable(&head, Some(table.rows), error).err();
                }
            }
        }
    }

    fn finish_document(&mut self, bytes: u64) {
        self.definitions.recording.count_documents(bytes);
        self.definitions.finish_document();
        self.ids.clear();
    }

    fn reserve(&mut self, more: u64) -> Result<(), OverBudget> {
        let own = self.ids.memory() + of_vec(&self.children);
        self.definitions.reserve(more.saturating_add(own))
    }
}

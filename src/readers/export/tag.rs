//! The elements of an export that this crate uses.

use super::value::Value;
use crate::recording::RejectReason;
use crate::tables::ColumnKind;

/// The name of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    TraceQueryResult,
    Node,
    Schema,
    Col,
    Mnemonic,
    EngineeringType,
    Row,
    Sentinel,
    /// `sample-time`, and the times of other tables.
    Time,
    Weight,
    CycleWeight,
    PmcEvent,
    PmcEvents,
    Thread,
    Tid,
    Process,
    Pid,
    Core,
    ThreadState,
    SampleKind,
    /// A number without a unit. This and the following tags occur only if every cell of a table is read; times, durations and cycles have the
    /// tags above.
    Number,
    /// A number of bytes in such a table.
    Bytes,
    /// A boolean in such a table, written as a number.
    Boolean,
    /// A string in such a table, or an element of an unknown type.
    Cell,
    /// An element in such a table with a code as its text. Its name is in the display string.
    Label,
    /// An element in such a table with a number and a name among its children.
    Named,
    Frame,
    Binary,
    Source,
    Path,
    TextAddress,
    TextAddresses,
    KperfBacktrace,
    /// `backtrace`, `tagged-backtrace`, `text-backtrace`: elements with frames, fragments or another backtrace.
    Backtrace,
    /// `uint64`, `boolean`, `register-content`, `device-session`: elements that may be next to others and carry no information.
    Companion,
    /// Any other element. If it contains frames, it is still a stack, since the next Xcode may add another wrapper.
    Other,
}

impl Tag {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "frame" => Self::Frame,
            "row" => Self::Row,
            "thread" => Self::Thread,
            "process" => Self::Process,
            "core" => Self::Core,
            "thread-state" => Self::ThreadState,
            "weight" => Self::Weight,
            "backtrace" | "tagged-backtrace" | "text-backtrace" => Self::Backtrace,
            "sample-time" | "event-time" | "start-time" => Self::Time,
            "binary" => Self::Binary,
            "source" => Self::Source,
            "path" => Self::Path,
            "sentinel" => Self::Sentinel,
            "cycle-weight" => Self::CycleWeight,
            "pmc-event" => Self::PmcEvent,
            "pmc-events" => Self::PmcEvents,
            "tid" => Self::Tid,
            "pid" => Self::Pid,
            "text-address" => Self::TextAddress,
            "text-addresses" => Self::TextAddresses,
            "kperf-bt" => Self::KperfBacktrace,
            "time-sample-kind" => Self::SampleKind,
            "uint64" | "boolean" | "register-content" | "device-session" => Self::Companion,
            "trace-query-result" => Self::TraceQueryResult,
            "node" => Self::Node,
            "schema" => Self::Schema,
            "col" => Self::Col,
            "mnemonic" => Self::Mnemonic,
            "engineering-type" => Self::EngineeringType,
            _ => Self::Other,
        }
    }

    /// Returns the tag of an element if every cell of its table is read.
    pub(super) fn of_tables(name: &str) -> Self {
        match name {
            "syscall" | "sockaddr" | "uuid" | "view-hierarchy" | "description-set" => Self::Label,
            _ => match Self::of(name) {
                tag @ (Self::Thread
                | Self::Tid
                | Self::Process
                | Self::Pid
                | Self::PmcEvents
                | Self::TextAddress
                | Self::TextAddresses
                | Self::Frame
                | Self::Binary
                | Self::Source
                | Self::Path
                | Self::KperfBacktrace
                | Self::Backtrace
                | Self::Sentinel) => tag,
                tag if tag.is_structure() => tag,
                _ => match ColumnKind::of_type(name) {
                    ColumnKind::Named => Self::Named,
                    ColumnKind::Time => Self::Time,
                    ColumnKind::Duration => Self::Weight,
                    ColumnKind::Cycles => Self::CycleWeight,
                    ColumnKind::Bytes => Self::Bytes,
                    ColumnKind::Boolean => Self::Boolean,
                    ColumnKind::Number => Self::Number,
                    _ => Self::Cell,
                },
            },
        }
    }

    /// The kind of number in an element if every cell of its table is read; `None` for elements that are not numbers.
    pub(super) fn number_kind(self) -> Option<ColumnKind> {
        Some(match self {
            Self::Time => ColumnKind::Time,
            Self::Weight => ColumnKind::Duration,
            Self::CycleWeight => ColumnKind::Cycles,
            Self::Bytes => ColumnKind::Bytes,
            Self::Boolean => ColumnKind::Boolean,
            Self::Number => ColumnKind::Number,
            _ => return None,
        })
    }

    /// Returns the tag of the element inside `parent`. Tables, schemas and rows have their meaning only in the right place; all other elements
    /// have it anywhere.
    pub(super) fn inside(self, parent: Self) -> Self {
        let place = match self {
            Self::TraceQueryResult => return Self::Other,
            Self::Node => Self::TraceQueryResult,
            Self::Schema | Self::Row => Self::Node,
            Self::Col => Self::Schema,
            Self::Mnemonic | Self::EngineeringType => Self::Col,
            anywhere => return anywhere,
        };
        if parent == place { self } else { Self::Other }
    }

    /// True if the text of the element is read.
    pub(super) fn has_text(self) -> bool {
        let has_words = matches!(
            self,
            Self::PmcEvents
                | Self::Core
                | Self::ThreadState
                | Self::Path
                | Self::TextAddresses
                | Self::Number
                | Self::Bytes
                | Self::Boolean
                | Self::Cell
                | Self::Label
                | Self::Named
                | Self::Mnemonic
                | Self::EngineeringType
        );
        has_words || self.has_number()
    }

    /// True if the text of the element is a number, and nothing else is needed.
    pub(super) fn has_number(self) -> bool {
        matches!(
            self,
            Self::Time
                | Self::Weight
                | Self::CycleWeight
                | Self::PmcEvent
                | Self::Tid
                | Self::Pid
                | Self::TextAddress
                | Self::SampleKind
        )
    }

    /// True if the display string (`fmt`) of the element is read because the name is stored only there.
    pub(super) fn has_display_name(self) -> bool {
        self.has_short_name() || matches!(self, Self::Cell | Self::Label | Self::Named)
    }

    /// True if the display string is a name. Otherwise it is the content of a cell, which may be as long as any text.
    pub(super) fn has_short_name(self) -> bool {
        matches!(self, Self::Thread | Self::Process | Self::Core | Self::Backtrace)
    }

    /// Returns the value of a `ref` in an element with this tag, if the id has the value `value`. In every known file, both elements have the
    /// same name; a value of another kind would be misinterpreted.
    #[inline]
    pub(super) fn referring_to(self, value: Value) -> Value {
        let is_same_kind = match value {
            Value::Bad(_) => true,
            Value::Absent => self == Self::Sentinel,
            Value::Other => self == Self::Other,
            Value::Companion => self == Self::Companion,
            Value::Time(_) => self == Self::Time,
            Value::Nanos(_) => self == Self::Weight,
            Value::Cycles(_) => self == Self::CycleWeight,
            Value::PmcEvents(_) => self == Self::PmcEvent,
            Value::Counters(_) => self == Self::PmcEvents,
            Value::Tid(_) => self == Self::Tid,
            Value::Pid(_) => self == Self::Pid,
            Value::Process(_) => self == Self::Process,
            Value::Thread(_) => self == Self::Thread,
            Value::Core(_) => self == Self::Core,
            Value::State(_) => self == Self::ThreadState,
            Value::Kind(_) => self == Self::SampleKind,
            Value::Binary(_) => self == Self::Binary,
            Value::Path(_) => self == Self::Path,
            Value::Source(_) => self == Self::Source,
            Value::Frame(_) => self == Self::Frame,
            Value::Address(_) => self == Self::TextAddress,
            Value::Addresses(_) => self == Self::TextAddresses,
            // An element with any name may contain frames.
            Value::Stack(_) => matches!(self, Self::Backtrace | Self::KperfBacktrace | Self::Other),
        };
        if is_same_kind { value } else { Value::Bad(RejectReason::WrongType) }
    }

    /// True for the structure of a document: tables, schemas and rows.
    pub(super) fn is_structure(self) -> bool {
        matches!(
            self,
            Self::TraceQueryResult
                | Self::Node
                | Self::Schema
                | Self::Col
                | Self::Mnemonic
                | Self::EngineeringType
                | Self::Row
        )
    }

    /// True if rows of CPU tables can refer to such an element, so its definitions in other tables are needed too.
    pub(super) fn is_shared(self) -> bool {
        !self.is_structure() && !matches!(self, Self::Sentinel | Self::Companion | Self::Other)
    }
}

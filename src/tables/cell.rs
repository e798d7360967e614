//! The cells of a row, and what they refer to.

use crate::profile::{StackId, StringId};
use crate::recording::{ColumnKind, RecordingBuilder, RejectReason};

/// A cell of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cell {
    /// No value was recorded.
    #[default]
    None,
    /// A number. Its [`ColumnKind`](super::ColumnKind) defines its meaning.
    Number(u64),
    /// A string.
    Text(StringId),
    /// A number with a display string.
    Named(u64, StringId),
    /// The index of a process.
    Process(u32),
    /// The index of a thread.
    Thread(u32),
    /// The index of a list of numbers.
    Numbers(u32),
    /// A stack.
    Stack(StackId),
}

impl Cell {
    /// Returns the number, if the cell has one.
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Number(number) | Self::Named(number, _) => Some(number),
            _ => None,
        }
    }
}

impl ColumnKind {
    /// Converts a cell to this kind, or returns why that is impossible.
    pub(crate) fn checked(self, cell: Cell) -> Result<Cell, RejectReason> {
        let fits = match cell {
            Cell::None => true,
            Cell::Number(number) if self == Self::Boolean => return Ok(Cell::Number(u64::from(number != 0))),
            Cell::Number(_) | Cell::Text(_) | Cell::Named(..) if matches!(self, Self::Text | Self::Named) => true,
            Cell::Number(_) => self.is_numeric(),
            Cell::Text(_) if self.is_numeric() => return Err(RejectReason::BadNumber),
            Cell::Text(_) | Cell::Named(..) => false,
            Cell::Process(_) => self == Self::Process,
            Cell::Thread(_) => self == Self::Thread,
            Cell::Numbers(_) => self == Self::Numbers,
            Cell::Stack(_) => self == Self::Stack,
        };
        if fits || self == Self::Unknown { Ok(cell) } else { Err(RejectReason::WrongType) }
    }
}

/// A process that rows refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProcessName<'a> {
    /// The process id.
    pub pid: Option<u64>,
    /// The name; may be empty.
    pub name: &'a str,
}

/// A thread that rows refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThreadName<'a> {
    /// The thread id.
    pub tid: Option<u64>,
    /// The name; may be empty.
    pub name: &'a str,
    /// The process, if recorded.
    pub process: Option<ProcessName<'a>>,
}

/// Resolves the references in a row's cells. The indices of processes, threads and lists are valid until the next row.
#[derive(Clone, Copy, Debug)]
pub struct RowValues<'a> {
    recording: &'a RecordingBuilder,
}

impl<'a> RowValues<'a> {
    pub(crate) fn new(recording: &'a RecordingBuilder) -> Self {
        Self { recording }
    }

    /// Returns a string.
    pub fn text(&self, text: StringId) -> &'a str {
        self.recording.profile.text(text)
    }

    /// Returns a process.
    pub fn process(&self, index: u32) -> ProcessName<'a> {
        let (pid, name) = self.recording.process_at(index);
        ProcessName { pid, name: self.text(name) }
    }

    /// Returns a thread.
    pub fn thread(&self, index: u32) -> ThreadName<'a> {
        let (tid, process, name) = self.recording.thread_at(index);
        ThreadName { tid, name: self.text(name), process: process.map(|process| self.process(process)) }
    }

    /// Returns the functions of a stack, leaf first, separated by semicolons.
    pub(super) fn functions(&self, stack: StackId) -> String {
        self.recording.profile.functions_leaf_first(stack).collect::<Vec<_>>().join(";")
    }

    /// Returns a list of numbers.
    pub fn numbers(&self, list: u32) -> &'a [u64] {
        self.recording.numbers(list)
    }
}

//! The cells of a row, and what they refer to.

use crate::profile::{StackId, StringId};
use crate::recording::RecordingBuilder;

/// A cell of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cell {
    /// No value was recorded.
    #[default]
    None,
    /// A number; [`ColumnKind`](super::ColumnKind) says of what.
    Number(u64),
    /// A text.
    Text(StringId),
    /// A number with a text for people.
    Named(u64, StringId),
    /// A process, by its index.
    Process(u32),
    /// A thread, by its index.
    Thread(u32),
    /// A list of numbers, by its index.
    Numbers(u32),
    /// A stack.
    Stack(StackId),
}

impl Cell {
    /// Returns the number of a cell that has one.
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Number(number) | Self::Named(number, _) => Some(number),
            _ => None,
        }
    }
}

/// A process that rows refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProcessName<'a> {
    /// Its number.
    pub pid: Option<u64>,
    /// Its name; may be empty.
    pub name: &'a str,
}

/// A thread that rows refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThreadName<'a> {
    /// Its number.
    pub tid: Option<u64>,
    /// Its name; may be empty.
    pub name: &'a str,
    /// Its process, if it is recorded.
    pub process: Option<ProcessName<'a>>,
}

/// What the cells of a row refer to. The indices of processes, threads and lists hold until the next row.
#[derive(Clone, Copy, Debug)]
pub struct RowValues<'a> {
    recording: &'a RecordingBuilder,
}

impl<'a> RowValues<'a> {
    pub(crate) fn new(recording: &'a RecordingBuilder) -> Self {
        Self { recording }
    }

    /// Returns a text.
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

    /// Returns a list of numbers.
    pub fn numbers(&self, list: u32) -> &'a [u64] {
        self.recording.numbers(list)
    }
}

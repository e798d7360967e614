//! Adds up the weights of stacks that consist only of function names, without threads, binaries, addresses or sample counts.

use crate::error::{Diagnostic, Error, ErrorKind, Position};
use crate::profile::{Full, Meaning, StackId};
use crate::recording::{FrameKind, InputBuilder, RecordingBuilder, Table, TableKind, Toc, TocRun};
use crate::units::Weight;

/// The only table of an input, with a sum for each stack.
pub(super) struct StackSums<'r> {
    input: InputBuilder<'r>,
    thread: u32,
}

impl<'r> StackSums<'r> {
    pub(super) fn start(
        name: &str,
        schema: &str,
        meaning: Meaning,
        recording: &'r mut RecordingBuilder,
    ) -> Result<Self, Error> {
        let mut input = recording.input(name)?;
        let table = Table { run: 1, schema: Some(schema.to_owned()), kind: TableKind::Cpu, ..Table::default() };
        input.start_sums(table, meaning, name.to_owned());
        let process = input.process(None, "").map_err(Error::limit)?;
        let thread = input.thread(None, Some(process), "").map_err(Error::limit)?;
        Ok(Self { input, thread })
    }

    /// Interns the stack of a function called by `callers`.
    pub(super) fn callee(&mut self, callers: Option<StackId>, function: &str) -> Result<Option<StackId>, ErrorKind> {
        let frame = self.input.named_frame((FrameKind::RawLeaf, 0), None, function, None).map_err(limit)?;
        self.input.stack(callers, &[frame]).map_err(limit)
    }

    /// Adds the weight of a stack, unless it is 0.
    pub(super) fn add(&mut self, stack: Option<StackId>, weight: Weight) -> Result<(), ErrorKind> {
        if weight.value == 0 { Ok(()) } else { self.input.add_weight(self.thread, stack, weight).map_err(limit) }
    }

    /// Reserves the memory of all stacks, plus `more` bytes used elsewhere.
    pub(super) fn reserve(&mut self, more: usize) -> Result<(), ErrorKind> {
        self.input.recording.reserve(more as u64).map_err(ErrorKind::Memory)
    }

    pub(super) fn note(&mut self, at: Position, message: impl Into<String>, count: u64) {
        self.input.note(Diagnostic { at: Some(at), message: message.into(), count });
    }

    pub(super) fn finish(self) {
        self.input.finish(Toc { runs: vec![TocRun { number: 1, ..TocRun::default() }] });
    }
}

fn limit(full: Full) -> ErrorKind {
    ErrorKind::Limit(full.to_string())
}

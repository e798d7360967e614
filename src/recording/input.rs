//! One input of a recording, from a reader that decodes rows: they become samples by the rules of all readers, in the same profile.
//!
//! Strings, processes, threads, binaries and frames are defined first, in any order; rows refer to them.

use super::address::FrameForm;
use super::builder::RecordingBuilder;
use super::notes::Notes;
use super::rows::{self, Row, Source, TableReader};
use super::toc::Toc;
use super::{Document, DocumentContent, Limits, Options, RejectReason, Table};
use crate::error::{Diagnostic, Error};
use crate::profile::{Binary, BinaryId, Core, CoreId, FrameId, Full, Meaning, SourceLine, StackId, StringId};

/// The convention by which the address of a frame was recorded, which decides the address to look it up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameKind {
    /// The leaf in a profile table.
    Leaf,
    /// A caller in a profile table.
    Caller,
    /// The program counter of a raw sample.
    RawLeaf,
    /// A return address of a raw sample.
    RawCaller,
}

impl FrameKind {
    fn form(self) -> FrameForm {
        match self {
            Self::Leaf | Self::Caller => FrameForm::Listed,
            Self::RawLeaf => FrameForm::KperfLeaf,
            Self::RawCaller => FrameForm::KperfCaller,
        }
    }
}

/// Takes the tables of one input. Without [`finish`](Self::finish) the builder that it was made for is of no use any more, since
/// nobody accounts for what the input brought so far.
#[derive(Debug)]
pub struct InputBuilder<'r> {
    pub(in crate::recording) recording: &'r mut RecordingBuilder,
    input: StringId,
    pub(in crate::recording) table: Option<TableReader>,
    tables: Vec<Table>,
    /// The file that the places of rows are in.
    file: String,
    notes: Notes,
}

impl RecordingBuilder {
    /// Starts an input. `name` is how results and errors call it.
    ///
    /// # Errors
    /// When an input before could not be read, or strings have no room for the name.
    pub fn input(&mut self, name: &str) -> Result<InputBuilder<'_>, Error> {
        let input = self.start_input(name)?;
        let (tables, file, notes) = (Vec::new(), String::new(), Notes::default());
        Ok(InputBuilder { recording: self, input, table: None, tables, file, notes })
    }
}

/// The number as `{:#x}` writes it, in a sixth of the instructions: each frame has one.
fn hexadecimal(number: u64) -> String {
    let digits = (u64::BITS - (number | 1).leading_zeros()).div_ceil(4);
    let digit = |index| char::from(b"0123456789abcdef"[(number >> (4 * index) & 0xf) as usize]);
    ['0', 'x'].into_iter().chain((0..digits).rev().map(digit)).collect()
}

impl InputBuilder<'_> {
    /// The options of the recording.
    pub fn options(&self) -> &Options {
        &self.recording.options
    }

    /// The limits that guard against hostile input.
    pub fn limits(&self) -> &Limits {
        &self.recording.options.limits
    }

    /// The id of a string.
    pub fn string(&mut self, text: &str) -> Result<StringId, Full> {
        self.recording.profile.string(text)
    }

    /// The index of a process, for rows and threads.
    pub fn process(&mut self, pid: Option<u64>, name: &str) -> Result<u32, Full> {
        let name = self.string(name)?;
        self.recording.add_process(pid, name)
    }

    /// The index of a thread of the process at this index, for rows.
    pub fn thread(&mut self, tid: Option<u64>, process: Option<u32>, name: &str) -> Result<u32, Full> {
        let name = self.string(name)?;
        self.recording.add_thread(tid, process, name)
    }

    /// Marks the thread at this index as a main thread, if the format says so regardless of its name.
    pub fn mark_main_thread(&mut self, thread: u32) {
        self.recording.mark_main_thread(thread);
    }

    /// The id of a core.
    pub fn core(&mut self, core: Core) -> Result<CoreId, Full> {
        self.recording.profile.core(core)
    }

    /// The index of a list of counter values, for rows.
    pub fn counters(&mut self, values: impl IntoIterator<Item = u64>) -> Result<u32, Full> {
        self.recording.add_numbers(values)
    }

    /// The id of a binary.
    pub fn binary(&mut self, binary: Binary) -> Result<BinaryId, Full> {
        self.recording.add_binary(binary)
    }

    /// The id of a frame of which the address is known, as it was recorded, and the binary that it lies in.
    pub fn frame(&mut self, kind: FrameKind, address: u64, binary: Option<BinaryId>) -> Result<FrameId, Full> {
        let recording = &mut *self.recording;
        if kind == FrameKind::Caller {
            recording.see_caller(binary, address);
        }
        let name = recording.profile.string(&hexadecimal(address))?;
        let function = recording.profile.function(name, binary, false)?;
        recording.add_frame(kind.form(), function, binary, address, None, false)
    }

    /// The id of a frame whose function the input names, and maybe its source line.
    pub fn named_frame(
        &mut self,
        (kind, address): (FrameKind, u64),
        binary: Option<BinaryId>,
        name: &str,
        source: Option<SourceLine>,
    ) -> Result<FrameId, Full> {
        let recording = &mut *self.recording;
        if kind == FrameKind::Caller {
            recording.see_caller(binary, address);
        }
        let name = recording.function_name(name)?;
        let function = recording.profile.function(name, binary, true)?;
        recording.add_frame(kind.form(), function, binary, address, source, false)
    }

    /// The stack of these frames, leaf first, on top of `root`.
    pub fn stack(&mut self, root: Option<StackId>, leaf_first: &[FrameId]) -> Result<Option<StackId>, Full> {
        self.recording.profile.stack_path(root, leaf_first.iter().rev().copied())
    }

    /// Starts a table; its rows follow. `file` is what their places are in.
    pub fn start_table(&mut self, table: Table, file: String) {
        self.start(TableReader::new(table), file);
    }

    /// Starts a table of samples that were added up before they were read, at times that nobody knows.
    pub fn start_sums(&mut self, table: Table, meaning: Meaning, file: String) {
        self.start(TableReader::of_sums(table, meaning), file);
    }

    fn start(&mut self, mut table: TableReader, file: String) {
        self.finish_table();
        self.file = file;
        let document = self.recording.document_number();
        table.source = Some(Source { input: self.input, document, table: self.tables.len() as u32 });
        self.table = Some(table);
    }

    /// Adds a row of the table that was started last, or the reason why it cannot be read, and gives that back. The place of the first row
    /// that is rejected for a reason is kept.
    pub fn add_row(&mut self, row: Result<Row, RejectReason>, at: u64) -> Result<Result<(), RejectReason>, Full> {
        let Some(table) = &mut self.table else { return Ok(Ok(())) };
        let outcome = rows::add_read_row(table, row, self.recording)?;
        if let Err(reason) = outcome {
            self.notes.note(&self.file, at, reason.name(), || format!("row rejected: {reason}"));
        }
        Ok(outcome)
    }

    /// Adds as many samples of a thread with a stack, which were added up before, to the table that was started last; each of them is a
    /// row.
    pub fn add_samples(&mut self, thread: u32, stack: Option<StackId>, samples: u64) -> Result<(), Full> {
        let Some(table) = &mut self.table else { return Ok(()) };
        rows::add_samples(table, thread, (stack, samples), self.recording)
    }

    /// Says something about the input that its reader should know.
    pub fn note(&mut self, diagnostic: Diagnostic) {
        self.recording.diagnostics.push(diagnostic);
    }

    fn finish_table(&mut self) {
        if let Some(table) = self.table.take() {
            self.tables.push(table.table);
        }
    }

    /// Ends the input: what `toc` says of it is a document, and the tables are another one.
    pub fn finish(mut self, toc: Toc) {
        self.finish_table();
        let Self { recording, input, tables, mut notes, .. } = self;
        let input = recording.profile.text(input).to_owned();
        recording.finish_document();
        // Two documents have two numbers.
        recording.finish_document();
        let contents = [DocumentContent::Tables(tables), DocumentContent::Toc(toc)];
        let documents = contents.map(|content| Document { input: input.clone(), content, cut_at: None });
        recording.end_input(documents, notes.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_ever() {
        let numbers =
            (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, u64::MAX >> bit, 0x0123_4567_89ab_cdef >> bit]);
        for number in numbers {
            assert_eq!(hexadecimal(number), format!("{number:#x}"));
        }
    }
}

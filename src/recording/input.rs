//! The interface through which a reader adds one input. It converts rows to samples of the shared profile by the same rules for all readers.
//!
//! A reader first defines strings, processes, threads, binaries and frames, in any order, and then adds rows that refer to them.

use super::address::FrameForm;
use super::builder::RecordingBuilder;
use super::notes::Notes;
use super::rows::{self, Row, Source, TableReader};
use super::toc::Toc;
use super::{Document, DocumentContent, Limits, RejectReason, Table};
use crate::error::{Diagnostic, Error, Position};
use crate::profile::{Binary, BinaryId, Core, CoreId, FrameId, Full, Meaning, SourceLine, StackId, StringId};
use crate::units::{Nanos, Unit, Weight};

/// How a frame's address was recorded, which determines the address to look up.
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

/// Receives the tables of one input. Call [`finish`](Self::finish) at the end: otherwise, the rows are not accounted for and the recording
/// builder becomes unusable.
#[derive(Debug)]
pub struct InputBuilder<'r> {
    pub(crate) recording: &'r mut RecordingBuilder,
    input: StringId,
    pub(crate) table: Option<TableReader>,
    tables: Vec<Table>,
    /// The file that positions of rows refer to.
    file: String,
    notes: Notes,
}

impl RecordingBuilder {
    /// Starts an input. Results and errors refer to it by `name`.
    ///
    /// # Errors
    /// If an earlier input could not be read, or the string table is full.
    pub fn input(&mut self, name: &str) -> Result<InputBuilder<'_>, Error> {
        let input = self.start_input(name)?;
        let (tables, file, notes) = (Vec::new(), String::new(), Notes::default());
        Ok(InputBuilder { recording: self, input, table: None, tables, file, notes })
    }
}

/// Formats like `{:#x}` with a sixth of the instructions, since it is called for every frame.
fn hexadecimal(number: u64) -> String {
    let digits = (u64::BITS - (number | 1).leading_zeros()).div_ceil(4);
    let digit = |index| char::from(b"0123456789abcdef"[(number >> (4 * index) & 0xf) as usize]);
    ['0', 'x'].into_iter().chain((0..digits).rev().map(digit)).collect()
}

impl InputBuilder<'_> {
    /// Returns the limits against hostile input.
    pub fn limits(&self) -> &Limits {
        &self.recording.options.limits
    }

    /// Interns a string.
    pub fn string(&mut self, text: &str) -> Result<StringId, Full> {
        self.recording.profile.string(text)
    }

    /// Adds a process and returns its index, for rows and threads.
    pub fn process(&mut self, pid: Option<u64>, name: &str) -> Result<u32, Full> {
        let name = self.string(name)?;
        self.recording.add_process(pid, name)
    }

    /// Adds a thread of the process with this index, and returns the thread's index, for rows.
    pub fn thread(&mut self, tid: Option<u64>, process: Option<u32>, name: &str) -> Result<u32, Full> {
        let name = self.string(name)?;
        self.recording.add_thread(tid, process, name)
    }

    /// Marks the thread at this index as a main thread, for formats that identify main threads independently of their name.
    pub fn mark_main_thread(&mut self, thread: u32) {
        self.recording.mark_main_thread(thread);
    }

    /// Labels the samples of the thread at this index, which must have rows. A label applies from its time to the next one. Times must be sorted
    /// and distinct.
    pub(crate) fn label_thread(&mut self, thread: u32, changes: Vec<(Nanos, Option<StringId>)>) {
        let known = self.recording.threads.get(thread as usize).and_then(|thread| thread.used_as);
        if let Some((_, id)) = known {
            self.recording.profile.label_thread(id, changes);
        }
    }

    /// Interns a core.
    pub fn core(&mut self, core: Core) -> Result<CoreId, Full> {
        self.recording.profile.core(core)
    }

    /// Stores a list of counter values and returns its index, for rows.
    pub fn counters(&mut self, values: impl IntoIterator<Item = u64>) -> Result<u32, Full> {
        self.recording.add_numbers(values)
    }

    /// Interns a binary.
    pub fn binary(&mut self, binary: Binary) -> Result<BinaryId, Full> {
        self.recording.add_binary(binary)
    }

    pub(crate) fn get_binary(&self, id: BinaryId) -> &Binary {
        self.recording.profile.get_binary(id)
    }

    /// Interns a frame by its recorded address and the binary that contains the address.
    pub fn frame(&mut self, kind: FrameKind, address: u64, binary: Option<BinaryId>) -> Result<FrameId, Full> {
        let recording = &mut *self.recording;
        if kind == FrameKind::Caller {
            recording.see_caller(binary, address);
        }
        let name = recording.profile.string(&hexadecimal(address))?;
        let function = recording.profile.function(name, binary, false)?;
        recording.add_frame(kind.form(), function, binary, address, None, false)
    }

    /// Interns a frame whose function, and optionally source line, the input names.
    pub fn named_frame(
        &mut self,
        (kind, address): (FrameKind, u64),
        binary: Option<BinaryId>,
        name: &str,
        source: Option<SourceLine>,
    ) -> Result<FrameId, Full> {
        self.add_named((kind, address), binary, name, (source, false))
    }

    /// Like [`named_frame`](Self::named_frame), for a function into which the frame before it was inlined. Both have the same address.
    pub(crate) fn outer_frame(
        &mut self,
        at: (FrameKind, u64),
        binary: Option<BinaryId>,
        name: &str,
        source: Option<SourceLine>,
    ) -> Result<FrameId, Full> {
        self.add_named(at, binary, name, (source, true))
    }

    fn add_named(
        &mut self,
        (kind, address): (FrameKind, u64),
        binary: Option<BinaryId>,
        name: &str,
        (source, is_outer): (Option<SourceLine>, bool),
    ) -> Result<FrameId, Full> {
        let recording = &mut *self.recording;
        if kind == FrameKind::Caller {
            recording.see_caller(binary, address);
        }
        let name = recording.function_name(name)?;
        let function = recording.profile.function(name, binary, true)?;
        recording.add_frame(kind.form(), function, binary, address, source, is_outer)
    }

    /// Interns the stack of these frames, leaf first, on top of `root`.
    pub fn stack(&mut self, root: Option<StackId>, leaf_first: &[FrameId]) -> Result<Option<StackId>, Full> {
        self.recording.profile.stack_path(root, leaf_first.iter().rev().copied())
    }

    /// Starts a table. The following rows belong to it, and their positions to `file`.
    pub fn start_table(&mut self, table: Table, file: String) {
        self.start(TableReader::new(table), file);
    }

    /// Starts a table of samples that are already summed, without times.
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

    /// Adds a row to the current table, or the reason why it is unreadable, and returns the outcome. The position of the first rejected row is
    /// kept for each reason.
    pub fn add_row(&mut self, row: Result<Row, RejectReason>, at: u64) -> Result<Result<(), RejectReason>, Full> {
        let Some(table) = &mut self.table else { return Ok(Ok(())) };
        let outcome = rows::add_read_row(table, row, self.recording)?;
        if let Err(reason) = outcome {
            self.notes.note(&self.file, at, reason.name(), || format!("row rejected: {reason}"));
        }
        Ok(outcome)
    }

    /// Adds samples of one thread and stack to the current table. Each counts as one row.
    pub fn add_samples(&mut self, thread: u32, stack: Option<StackId>, samples: u64) -> Result<(), Full> {
        self.add_samples_in(None, thread, stack, samples)
    }

    /// Like [`add_samples`](Self::add_samples), in a thread state such as `Running`.
    pub(crate) fn add_samples_in(
        &mut self,
        state: Option<StringId>,
        thread: u32,
        stack: Option<StackId>,
        samples: u64,
    ) -> Result<(), Full> {
        let Some(table) = &mut self.table else { return Ok(()) };
        rows::add_samples(table, thread, (stack, state, Weight::new(samples, Unit::Samples), samples), self.recording)
    }

    /// Adds a weight for one thread and stack to the current table, if the number of samples was not recorded. It counts as one row.
    pub(crate) fn add_weight(&mut self, thread: u32, stack: Option<StackId>, weight: Weight) -> Result<(), Full> {
        let Some(table) = &mut self.table else { return Ok(()) };
        rows::add_samples(table, thread, (stack, None, weight, 1), self.recording)
    }

    /// Counts rows of the current table that are left out with a part of a report, such as a thread. The first one for each reason becomes a
    /// diagnostic.
    pub(crate) fn leave_out(&mut self, reason: RejectReason, rows: u64, at: Position, what: &str) {
        let Some(table) = &mut self.table else { return };
        table.table.rows += table.table.rejected.add_rows(reason, rows);
        self.notes.note_at(|| at, reason.name(), || format!("left out: {what}"));
    }

    /// Sets the lines of all rows that were rejected since the last call.
    pub(crate) fn locate_rejected(&mut self, line_of: impl Fn(u64) -> u64) {
        self.notes.locate(line_of);
    }

    /// Adds a diagnostic about the input.
    pub fn note(&mut self, diagnostic: Diagnostic) {
        self.recording.diagnostics.push(diagnostic);
    }

    fn finish_table(&mut self) {
        if let Some(table) = self.table.take() {
            self.tables.push(table.table);
        }
    }

    /// Ends the input. It adds two documents: the tables and `toc`.
    pub fn finish(mut self, toc: Toc) {
        self.finish_table();
        let Self { recording, input, tables, mut notes, .. } = self;
        let input = recording.profile.text(input).to_owned();
        recording.finish_document();
        // Twice, since the two documents need different numbers.
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

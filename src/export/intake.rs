//! The way in for readers other than that of XML: their rows become samples by the same rules, in the same profile.
//!
//! An [`Intake`] takes one input of a [`Reader`]. Strings, processes, threads, binaries and frames are defined first, in any order; rows
//! refer to them.

use super::address::FrameForm;
use super::definitions::Definitions;
use super::known_rows::{self, KnownRowCount};
use super::notes::Notes;
use super::rows::{self, KnownRow, Row, Source, TableReader};
use super::stacks;
use super::toc::Toc;
use super::{Document, DocumentContent, Limits, Reader, RejectReason, Table};
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::memory::OverBudget;
use crate::profile::{Binary, BinaryId, Core, CoreId, FrameId, Full, Sample, StackId, StringId, SumBatch, SumTable};
use crate::units::Nanos;

/// The convention by which the address of a frame was recorded, which decides the address to look it up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FrameKind {
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

/// The positions of the return addresses among the numbers of a raw sample.
pub(crate) fn kperf_callers(pc: Option<u64>, numbers: &[u64]) -> std::ops::Range<usize> {
    stacks::kperf_callers(pc, numbers)
}

/// Takes the tables of one input. Without [`finish`](Self::finish) the reader it was made for is of no use any more, since
/// nobody accounts for what the input brought so far.
#[derive(Debug)]
pub(crate) struct Intake<'r> {
    reader: &'r mut Reader,
    input: StringId,
    table: Option<TableReader>,
    tables: Vec<Table>,
    /// The file that the places of rows are in.
    file: String,
    notes: Notes,
}

/// The part that rows of one table have in common if they differ only in time and stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlikeRow(KnownRow);

/// The rows of a kind that were added, and are still to be [counted](Intake::count_alike).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AlikeCount(KnownRowCount);

/// Adds rows that are like known ones, as many as it has room for.
#[derive(Debug)]
pub(crate) struct AlikeAdder<'i> {
    definitions: &'i mut Definitions,
    room: usize,
}

impl AlikeCount {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.rows == 0
    }
}

impl AlikeAdder<'_> {
    /// The number of rows that can be added, no more than some thousands.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// Begins to count rows of a kind; `None` where they have to be added one by one.
    pub(crate) fn start(&self, alike: &AlikeRow) -> Option<AlikeCount> {
        known_rows::start(&alike.0, self.definitions).map(AlikeCount)
    }

    /// Adds a row of the kind that is counted here, and that `alike` tells more of.
    #[inline(always)]
    pub(crate) fn add<'a>(
        &mut self,
        count: &mut AlikeCount,
        time: u64,
        stack: Option<StackId>,
        alike: impl FnOnce() -> Option<&'a AlikeRow>,
    ) {
        count.0.note(time);
        let sample = || alike().map(|alike| Sample { time: Nanos::from_nanos(time), stack, ..alike.0.sample });
        self.definitions.builder.push_known(count.0.group, count.0.weight, stack, sample);
    }
}

impl Reader {
    /// Starts an input that another reader decodes.
    pub(crate) fn intake(&mut self, name: &str) -> Result<Intake<'_>, Error> {
        self.check()?;
        self.has_failed = true;
        let input = self.definitions.builder.string(name).map_err(full)?;
        let (tables, file, notes) = (Vec::new(), String::new(), Notes::default());
        Ok(Intake { reader: self, input, table: None, tables, file, notes })
    }
}

/// The number as `{:#x}` writes it, in a sixth of the instructions: each frame has one.
fn hexadecimal(number: u64) -> String {
    let digits = (u64::BITS - (number | 1).leading_zeros()).div_ceil(4);
    let digit = |index| char::from(b"0123456789abcdef"[(number >> (4 * index) & 0xf) as usize]);
    ['0', 'x'].into_iter().chain((0..digits).rev().map(digit)).collect()
}

fn full(full: Full) -> Error {
    Error::new(ErrorKind::Limit(full.to_string()), None)
}

impl Intake<'_> {
    /// Reserves the memory that is taken by now.
    pub(crate) fn reserve(&mut self) -> Result<(), OverBudget> {
        self.reader.definitions.reserve(0)
    }

    /// The limits that guard against hostile input.
    pub(crate) fn limits(&self) -> &Limits {
        &self.reader.options.limits
    }

    /// The id of a string.
    pub(crate) fn string(&mut self, text: &str) -> Result<StringId, Full> {
        self.reader.definitions.builder.string(text)
    }

    /// The index of a process, for rows and threads.
    pub(crate) fn process(&mut self, pid: Option<u64>, name: &str) -> Result<u32, Full> {
        let name = self.string(name)?;
        self.reader.definitions.add_process(pid, name)
    }

    /// The index of a thread of the process at this index, for rows.
    pub(crate) fn thread(&mut self, tid: Option<u64>, process: Option<u32>, name: &str) -> Result<u32, Full> {
        let name = self.string(name)?;
        self.reader.definitions.add_thread(tid, process, name)
    }

    /// The id of a core.
    pub(crate) fn core(&mut self, core: Core) -> Result<CoreId, Full> {
        self.reader.definitions.builder.core(core)
    }

    /// The index of a list of counter values, for rows.
    pub(crate) fn counters(&mut self, values: impl IntoIterator<Item = u64>) -> Result<u32, Full> {
        self.reader.definitions.add_numbers(values)
    }

    /// The id of a binary.
    pub(crate) fn binary(&mut self, binary: Binary) -> Result<BinaryId, Full> {
        self.reader.definitions.add_binary(binary)
    }

    /// The id of a frame of which the address is known, as it was recorded, and the binary that it lies in.
    pub(crate) fn frame(&mut self, kind: FrameKind, address: u64, binary: Option<BinaryId>) -> Result<FrameId, Full> {
        let definitions = &mut self.reader.definitions;
        if kind == FrameKind::Caller {
            definitions.see_caller(binary, address);
        }
        let name = definitions.builder.string(&hexadecimal(address))?;
        let function = definitions.builder.function(name, binary, false)?;
        definitions.add_frame(kind.form(), function, binary, address, None, false)
    }

    /// The stack of these frames, leaf first, on top of `root`.
    pub(crate) fn stack(&mut self, root: Option<StackId>, leaf_first: &[FrameId]) -> Result<Option<StackId>, Full> {
        self.reader.definitions.builder.stack_path(root, leaf_first.iter().rev().copied())
    }

    /// The same, which also gives the stack that each of the frames is the leaf of.
    pub(crate) fn stack_path(
        &mut self,
        root: Option<StackId>,
        leaf_first: &[FrameId],
        path: &mut [Option<StackId>],
    ) -> Result<Option<StackId>, Full> {
        self.reader.definitions.builder.stack_path_leaf_first(root, leaf_first, path)
    }

    /// The number of distinct stacks, in all inputs so far.
    pub(crate) fn stack_count(&self) -> u64 {
        self.reader.definitions.builder.stack_count() as u64
    }

    /// Starts a table; its rows follow. `file` is what their places are in.
    pub(crate) fn start_table(&mut self, table: Table, file: String) {
        self.finish_table();
        self.file = file;
        let mut table = TableReader::new(table);
        let document = self.reader.definitions.document_number();
        table.source = Some(Source { input: self.input, document, table: self.tables.len() as u32 });
        self.table = Some(table);
    }

    /// Adds a row of the table that was started last, or why it cannot be read. The place of the first row that is rejected
    /// for a reason is kept. Gives what is known of [others like it](Self::alike_adder).
    pub(crate) fn add_row(&mut self, row: Result<Row, RejectReason>, at: u64) -> Result<Option<AlikeRow>, Full> {
        let Some(table) = &mut self.table else { return Ok(None) };
        let definitions = &mut self.reader.definitions;
        match rows::add_read_row(table, row, definitions)? {
            Ok(()) => {
                let usual = row.ok().filter(|row| row.kernel_stack.is_none() && row.counters.is_none());
                Ok(usual.and_then(|row| rows::known(table, row, definitions)).map(AlikeRow))
            }
            Err(reason) => {
                self.notes.note(&self.file, at, reason.name(), || format!("row rejected: {reason}"));
                Ok(None)
            }
        }
    }

    /// Adds rows of the same table that differ from known ones in time and stack only, in less time. `None` where there is no
    /// room for one more.
    pub(crate) fn alike_adder(&mut self) -> Option<AlikeAdder<'_>> {
        self.table.as_ref()?;
        let definitions = &mut self.reader.definitions;
        let room = definitions.builder.make_room().ok()?;
        Some(AlikeAdder { definitions, room })
    }

    /// Counts rows that [`alike_adder`](Self::alike_adder) added, before anything else is added.
    pub(crate) fn count_alike(&mut self, alike: &AlikeRow, count: AlikeCount) {
        if let Some(table) = &mut self.table {
            known_rows::count(table, &alike.0, &count.0, &mut self.reader.definitions);
        }
    }

    /// Lends the sums that samples are added to, for somebody else to add them, until they are [given back](Self::return_sums); `None` if
    /// samples are not added up.
    pub(crate) fn lend_sums(&mut self) -> Result<Option<SumTable>, Full> {
        self.reader.definitions.builder.lend_sums()
    }

    /// The samples since the last call, for the sums that were lent.
    pub(crate) fn take_waiting(&mut self, spare: SumBatch) -> SumBatch {
        self.reader.definitions.builder.take_waiting(spare)
    }

    /// Takes the sums back.
    pub(crate) fn return_sums(&mut self, sums: SumTable) {
        self.reader.definitions.builder.return_sums(sums);
    }

    /// Says something about the input that its reader should know.
    pub(crate) fn note(&mut self, diagnostic: Diagnostic) {
        self.reader.diagnostics.push(diagnostic);
    }

    fn finish_table(&mut self) {
        if let Some(table) = self.table.take() {
            self.tables.push(table.table);
        }
    }

    /// Ends the input: what `toc` says of it is a document, and the tables are another one.
    pub(crate) fn finish(mut self, toc: Toc) {
        self.finish_table();
        let Self { reader, input, tables, mut notes, .. } = self;
        let input = reader.definitions.builder.text(input).to_owned();
        reader.definitions.finish_document();
        for content in [DocumentContent::Tables(tables), DocumentContent::Toc(toc)] {
            reader.documents.push(Document { input: input.clone(), content, cut_at: None });
        }
        // Two documents have two numbers.
        reader.definitions.finish_document();
        reader.diagnostics.extend(notes.take());
        reader.has_failed = false;
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

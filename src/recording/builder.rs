//! Collects what readers decode into one recording, and accounts for every row.

use std::sync::Arc;

use super::address::{Conventions, FrameForm};
use super::idle::add_idle_runs;
use super::recorded_time::Clock;
use super::{Document, Options, Recording};
use crate::demangle::display_name;
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::hash::HashMap;
use crate::memory::{OverBudget, Reservation, of_map, of_vec};
use crate::profile::{
    Binary, BinaryId, FrameId, FrameKey, Full, FunctionId, ProcessId, ProfileBuilder, RunId, SourceLine, StackId,
    StringId, ThreadId,
};
use crate::units::Address;

/// A process of an input: it becomes one of the run whose row uses it.
#[derive(Clone, Copy, Debug)]
pub(in crate::recording) struct ProcessDefinition {
    pub(in crate::recording) pid: Option<u64>,
    pub(in crate::recording) name: StringId,
    /// The process that it became in the last row that used it.
    pub(in crate::recording) used_as: Option<(RunId, ProcessId)>,
    /// The rows since then that used it as that.
    pub(in crate::recording) samples: u64,
}

/// A thread of an input, under one of the names it was shown with.
#[derive(Clone, Copy, Debug)]
pub(in crate::recording) struct ThreadDefinition {
    pub(in crate::recording) tid: Option<u64>,
    /// Index of its process, where it tells one.
    pub(in crate::recording) process: Option<u32>,
    pub(in crate::recording) name: StringId,
    /// True if the format marks it as a main thread.
    pub(in crate::recording) is_main: bool,
    pub(in crate::recording) used_as: Option<(ProcessId, ThreadId)>,
    pub(in crate::recording) samples: u64,
}

/// Collects the samples, tables and tables of contents of one input after the other; [`finish`](Self::finish) makes the recording of them.
///
/// Readers add inputs ([`read`](Self::read)). A builder whose input could not be read is of no use any more:
/// what it holds of the broken input is not accounted for, so it gives nothing ([`ErrorKind::Failed`]).
#[derive(Debug, Default)]
pub struct RecordingBuilder {
    pub(crate) options: Options,
    pub(crate) profile: ProfileBuilder,
    pub(in crate::recording) processes: Vec<ProcessDefinition>,
    pub(in crate::recording) threads: Vec<ThreadDefinition>,
    /// Lists of numbers, one after the other, and where each is.
    pub(crate) numbers: Vec<u64>,
    pub(crate) number_lists: Vec<(usize, usize)>,
    /// Counts documents over all inputs; frames of two documents are never one frame.
    document: u32,
    pub(crate) conventions: Conventions,
    /// The form of each frame of this document, and the index of the first one.
    forms: Vec<FrameForm>,
    first_frame: usize,
    /// The architecture of each binary: arm64, x86 or another one.
    architectures: HashMap<BinaryId, Architecture>,
    /// Kernel stacks on top of user stacks, by both.
    joined_stacks: HashMap<(StackId, StackId), Option<StackId>>,
    documents: Vec<Document>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// About how many bytes the documents take that are complete: tables of contents, and what tables are.
    of_documents: u64,
    /// The memory that all of this takes, as of the end of the last block.
    reserved: Reservation,
    /// The length of all inputs that were read as bytes.
    pub(crate) bytes: u64,
    has_failed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Architecture {
    Arm64,
    X86,
    Other,
}

impl RecordingBuilder {
    /// A builder that has read nothing.
    pub fn new(options: Options) -> Self {
        let profile = ProfileBuilder::with_detail(options.samples).within(options.memory.clone());
        let reserved = options.memory.nothing();
        Self { options, profile, reserved, ..Self::default() }
    }

    /// The recording that was read.
    ///
    /// # Errors
    /// When an input could not be read.
    pub fn finish(self) -> Result<Recording, Error> {
        self.check()?;
        let Self { mut profile, reserved, of_documents, mut documents, diagnostics, options, .. } = self;
        add_idle_runs(&mut profile, &mut documents)
            .map_err(|full| Error::new(ErrorKind::Limit(full.to_string()), None))?;
        let mut profile = profile.finish();
        drop(reserved);
        profile.hold().map_err(|over| Error::memory(over, None))?;
        let held = options.memory.reserve(of_documents).map_err(|over| Error::memory(over, None))?;
        let mut recording =
            Recording { profile, documents, diagnostics, clock: Clock::default(), held: Some(Arc::new(held)) };
        recording.set_clock();
        Ok(recording)
    }

    fn check(&self) -> Result<(), Error> {
        if self.has_failed { Err(Error::new(ErrorKind::Failed, None)) } else { Ok(()) }
    }

    /// Starts an input, which fails until it is [complete](Self::end_input).
    pub(crate) fn start_input(&mut self, name: &str) -> Result<StringId, Error> {
        self.check()?;
        self.has_failed = true;
        self.profile.string(name).map_err(|full| Error::new(ErrorKind::Limit(full.to_string()), None))
    }

    /// Gives nothing any more, since an input could not be read.
    pub(crate) fn fail(&mut self) {
        self.has_failed = true;
    }

    /// Ends an input that was read whole.
    pub(crate) fn end_input(&mut self, documents: impl IntoIterator<Item = Document>, noted: Vec<Diagnostic>) {
        self.documents.extend(documents);
        self.diagnostics.extend(noted);
        self.has_failed = false;
    }

    /// Counts memory of documents that are complete.
    pub(crate) fn count_documents(&mut self, bytes: u64) {
        self.of_documents += bytes;
    }

    /// Reserves the memory that is taken by now, and `more` that is taken elsewhere.
    pub(crate) fn reserve(&mut self, more: u64) -> Result<(), OverBudget> {
        let lists = of_vec(&self.numbers) + of_vec(&self.number_lists) + of_vec(&self.forms);
        let threads = of_vec(&self.processes) + of_vec(&self.threads);
        let maps = of_map(&self.joined_stacks) + of_map(&self.architectures);
        let bytes = self.profile.memory() + lists + threads + maps;
        self.reserved.resize(bytes.saturating_add(self.of_documents).saturating_add(more))
    }

    /// Interns the name of a function, spelled as it is shown from every source.
    pub(crate) fn function_name(&mut self, recorded: &str) -> Result<StringId, Full> {
        self.profile.string(&display_name(recorded))
    }

    /// The number of the document being read, over all inputs, from 0.
    pub(crate) fn document_number(&self) -> u32 {
        self.document
    }

    /// Ends a document: its frames get their lookup addresses.
    pub(crate) fn finish_document(&mut self) {
        self.count_names();
        for offset in 0..self.forms.len() {
            let Some(id) = FrameId::from_index(self.first_frame + offset) else { break };
            let frame = *self.profile.get_frame(id);
            let architecture = frame.binary.and_then(|binary| self.architectures.get(&binary).copied());
            let is_x86 = architecture == Some(Architecture::X86);
            let image = frame.binary.map(|id| self.profile.get_binary(id).load_address);
            let in_kernel = image.is_some_and(|image| image.get() >> 47 != 0);
            let recorded = frame.address;
            let mut lookup = self.conventions.lookup_address(self.forms[offset], recorded, image, is_x86);
            if in_kernel && recorded.get() >> 47 != u64::MAX >> 47 {
                // The mask is for user addresses; a kernel address with an authentication code stays as it is.
                lookup = recorded;
            }
            self.profile.set_lookup_address(id, lookup);
        }
        self.processes.clear();
        self.threads.clear();
        self.numbers.clear();
        self.number_lists.clear();
        self.forms.clear();
        self.joined_stacks.clear();
        self.conventions = Conventions::default();
        self.first_frame = self.profile.frame_count();
        self.document += 1;
    }

    /// Tells the builder under which names threads and processes were sampled.
    fn count_names(&mut self) {
        for process in &mut self.processes {
            if let Some((_, id)) = process.used_as.take() {
                self.profile.count_process_name(id, process.name, std::mem::take(&mut process.samples));
            }
        }
        for thread in &mut self.threads {
            if let Some((_, id)) = thread.used_as.take() {
                self.profile.count_thread_name(id, thread.name, std::mem::take(&mut thread.samples));
            }
        }
    }

    pub(crate) fn numbers(&self, list: u32) -> &[u64] {
        let (start, end) = self.number_lists[list as usize];
        &self.numbers[start..end]
    }

    /// Gives the sample that was added last the counter values of a list.
    pub(crate) fn add_counters(&mut self, list: u32) {
        let (start, end) = self.number_lists[list as usize];
        self.profile.add_counters(&self.numbers[start..end]);
    }

    /// Makes a list of the numbers from `start` on, and gives its index.
    pub(crate) fn finish_list(&mut self, start: usize) -> Result<u32, Full> {
        let list = u32::try_from(self.number_lists.len()).map_err(|_| Full)?;
        self.number_lists.push((start, self.numbers.len()));
        Ok(list)
    }

    /// The id of a binary.
    pub(crate) fn add_binary(&mut self, binary: Binary) -> Result<BinaryId, Full> {
        let arch = binary.arch.map_or(Architecture::Other, |arch| architecture(self.profile.text(arch)));
        let id = self.profile.binary(binary)?;
        self.architectures.insert(id, arch);
        Ok(id)
    }

    /// The index of a process of this number and name.
    pub(crate) fn add_process(&mut self, pid: Option<u64>, name: StringId) -> Result<u32, Full> {
        let index = u32::try_from(self.processes.len()).map_err(|_| Full)?;
        self.processes.push(ProcessDefinition { pid, name, used_as: None, samples: 0 });
        Ok(index)
    }

    /// The index of a thread of this number and name, of the process at this index.
    pub(crate) fn add_thread(&mut self, tid: Option<u64>, process: Option<u32>, name: StringId) -> Result<u32, Full> {
        let index = u32::try_from(self.threads.len()).map_err(|_| Full)?;
        self.threads.push(ThreadDefinition { tid, process, name, is_main: false, used_as: None, samples: 0 });
        Ok(index)
    }

    /// Marks the thread at this index as a main thread.
    pub(crate) fn mark_main_thread(&mut self, thread: u32) {
        self.threads[thread as usize].is_main = true;
    }

    /// Keeps a list of numbers, and gives its index.
    pub(crate) fn add_numbers(&mut self, numbers: impl IntoIterator<Item = u64>) -> Result<u32, Full> {
        let start = self.numbers.len();
        self.numbers.extend(numbers);
        self.finish_list(start)
    }

    /// Learns from the recorded address of a caller how callers are recorded.
    pub(crate) fn see_caller(&mut self, binary: Option<BinaryId>, address: u64) {
        let is_arm64 = binary.is_some_and(|binary| self.architectures.get(&binary) == Some(&Architecture::Arm64));
        if is_arm64 && address % 4 == 3 {
            self.conventions.callers_are_inside_call = true;
        }
    }

    pub(crate) fn add_frame(
        &mut self,
        form: FrameForm,
        function: FunctionId,
        binary: Option<BinaryId>,
        address: u64,
        source: Option<SourceLine>,
        is_inlined: bool,
    ) -> Result<FrameId, Full> {
        let address = Address::new(address);
        let group = self.document.wrapping_mul(4) | form as u32;
        let id = self.profile.frame(FrameKey { function, binary, address, source, is_inlined, group })?;
        if id.index() - self.first_frame >= self.forms.len() {
            self.forms.push(form);
        }
        Ok(id)
    }
    /// The stack of frames given leaf first, on top of `root`.
    pub(crate) fn intern_stack(
        &mut self,
        root: Option<StackId>,
        leaf_first: &[FrameId],
    ) -> Result<Option<StackId>, Full> {
        self.profile.stack_path(root, leaf_first.iter().rev().copied())
    }

    /// The frames of `upper` (a kernel stack, say) called from the leaf of `lower`.
    pub(crate) fn join_stacks(
        &mut self,
        lower: Option<StackId>,
        upper: Option<StackId>,
    ) -> Result<Option<StackId>, Full> {
        let (Some(low), Some(up)) = (lower, upper) else { return Ok(lower.or(upper)) };
        if let Some(&joined) = self.joined_stacks.get(&(low, up)) {
            return Ok(joined);
        }
        let mut frames = Vec::new();
        let mut stack = upper;
        while let Some(id) = stack {
            let row = self.profile.get_stack(id);
            frames.push(row.frame);
            stack = row.parent;
        }
        let joined = self.intern_stack(lower, &frames)?;
        self.joined_stacks.insert((low, up), joined);
        Ok(joined)
    }
}

fn architecture(arch: &str) -> Architecture {
    if arch.starts_with("arm64") {
        Architecture::Arm64
    } else if arch.starts_with("x86") || arch.starts_with("i386") {
        Architecture::X86
    } else {
        Architecture::Other
    }
}

//! Collects the output of readers into one recording, and accounts for every row.

use std::sync::Arc;

use super::address::{Conventions, FrameForm};
use super::idle::add_idle_runs;
use super::recorded_time::Clock;
use super::{Document, Options, Recording};
use crate::demangle::{Demangler, mangled_swift};
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::hash::HashMap;
use crate::memory::{OverBudget, Reservation, of_map, of_vec};
use crate::profile::{
    Binary, BinaryId, FrameId, FrameKey, Full, FunctionId, ProcessId, ProfileBuilder, RunId, SourceLine, StackId,
    StringId, ThreadId,
};
use crate::units::Address;

/// A process of an input. It is added to each run whose rows use it.
#[derive(Clone, Copy, Debug)]
pub(in crate::recording) struct ProcessDefinition {
    pub(in crate::recording) pid: Option<u64>,
    pub(in crate::recording) name: StringId,
    /// The run and process to which its last row was assigned.
    pub(in crate::recording) used_as: Option<(RunId, ProcessId)>,
    /// The number of consecutive rows with that assignment.
    pub(in crate::recording) samples: u64,
}

/// A thread of an input, with one of its recorded names.
#[derive(Clone, Copy, Debug)]
pub(in crate::recording) struct ThreadDefinition {
    pub(in crate::recording) tid: Option<u64>,
    /// The index of its process, if recorded.
    pub(in crate::recording) process: Option<u32>,
    pub(in crate::recording) name: StringId,
    /// True if the format marks it as a main thread.
    pub(in crate::recording) is_main: bool,
    pub(in crate::recording) used_as: Option<(ProcessId, ThreadId)>,
    pub(in crate::recording) samples: u64,
}

/// Collects samples, tables and tables of contents, one input at a time. [`finish`](Self::finish) returns the recording.
///
/// Readers add inputs ([`read`](Self::read)). After a read error, the builder returns [`ErrorKind::Failed`]: rows that were already added from
/// that input are not accounted for.
#[derive(Debug, Default)]
pub struct RecordingBuilder {
    pub(crate) options: Options,
    pub(crate) profile: ProfileBuilder,
    pub(in crate::recording) processes: Vec<ProcessDefinition>,
    pub(in crate::recording) threads: Vec<ThreadDefinition>,
    /// Concatenated lists of numbers, and the range of each list.
    pub(crate) numbers: Vec<u64>,
    pub(crate) number_lists: Vec<(usize, usize)>,
    /// The number of documents in all inputs. Frames of different documents are never merged.
    document: u32,
    pub(crate) conventions: Conventions,
    /// The form of each frame in the current document, and the index of the first of these frames.
    forms: Vec<FrameForm>,
    first_frame: usize,
    architectures: HashMap<BinaryId, Architecture>,
    /// Caches kernel stacks joined onto user stacks, keyed by both.
    joined_stacks: HashMap<(StackId, StackId), Option<StackId>>,
    documents: Vec<Document>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The approximate size in bytes of complete documents: tables of contents and table descriptions.
    of_documents: u64,
    /// The reserved memory, updated after each block.
    reserved: Reservation,
    /// The total size in bytes of inputs that were read as bytes.
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
    /// Creates an empty builder.
    pub fn new(options: Options) -> Self {
        let profile = ProfileBuilder::with_detail(options.samples).within(options.memory.clone());
        let reserved = options.memory.nothing();
        Self { options, profile, reserved, ..Self::default() }
    }

    /// Finishes the recording.
    ///
    /// # Errors
    /// If an input could not be read.
    pub fn finish(self) -> Result<Recording, Error> {
        self.check()?;
        let Self { mut profile, reserved, of_documents, mut documents, mut diagnostics, options, .. } = self;
        add_idle_runs(&mut profile, &mut documents)
            .map_err(|full| Error::new(ErrorKind::Limit(full.to_string()), None))?;
        let mut profile = profile.finish();
        drop(reserved);
        diagnostics.extend(mangled_swift(profile.named_functions()));
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

    /// Starts an input. Until [`end_input`](Self::end_input), the builder counts as failed.
    pub(crate) fn start_input(&mut self, name: &str) -> Result<StringId, Error> {
        self.check()?;
        self.has_failed = true;
        self.profile.string(name).map_err(|full| Error::new(ErrorKind::Limit(full.to_string()), None))
    }

    /// Makes the builder fail, since an input could not be read.
    pub(crate) fn fail(&mut self) {
        self.has_failed = true;
    }

    /// Ends an input after it was read completely.
    pub(crate) fn end_input(&mut self, documents: impl IntoIterator<Item = Document>, noted: Vec<Diagnostic>) {
        self.documents.extend(documents);
        self.diagnostics.extend(noted);
        self.has_failed = false;
    }

    /// Adds to the size of complete documents.
    pub(crate) fn count_documents(&mut self, bytes: u64) {
        self.of_documents += bytes;
    }

    /// Reserves the memory in use, plus `more` bytes used elsewhere.
    pub(crate) fn reserve(&mut self, more: u64) -> Result<(), OverBudget> {
        let lists = of_vec(&self.numbers) + of_vec(&self.number_lists) + of_vec(&self.forms);
        let threads = of_vec(&self.processes) + of_vec(&self.threads);
        let maps = of_map(&self.joined_stacks) + of_map(&self.architectures);
        let bytes = self.profile.memory() + lists + threads + maps;
        self.reserved.resize(bytes.saturating_add(self.of_documents).saturating_add(more))
    }

    /// Interns a function name, in the same spelling for every kind of input.
    pub(crate) fn function_name(&mut self, recorded: &str) -> Result<StringId, Full> {
        self.profile.string(&Demangler::default().display_name(recorded))
    }

    /// Returns the number of the current document, from 0 and over all inputs.
    pub(crate) fn document_number(&self) -> u32 {
        self.document
    }

    /// Ends a document, and computes the lookup addresses of its frames.
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
                // The mask applies to user addresses. A kernel address with an authentication code is left unchanged.
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

    /// Passes the number of samples for each thread and process name to the profile builder.
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

    /// Returns the pid and the name of the process at an index.
    pub(crate) fn process_at(&self, index: u32) -> (Option<u64>, StringId) {
        let process = &self.processes[index as usize];
        (process.pid, process.name)
    }

    /// Returns the tid, the process and the name of the thread at an index.
    pub(crate) fn thread_at(&self, index: u32) -> (Option<u64>, Option<u32>, StringId) {
        let thread = &self.threads[index as usize];
        (thread.tid, thread.process, thread.name)
    }

    pub(crate) fn numbers(&self, list: u32) -> &[u64] {
        let (start, end) = self.number_lists[list as usize];
        &self.numbers[start..end]
    }

    /// Adds the counter values of a list to the last sample.
    pub(crate) fn add_counters(&mut self, list: u32) {
        let (start, end) = self.number_lists[list as usize];
        self.profile.add_counters(&self.numbers[start..end]);
    }

    /// Ends a list that starts at index `start` of the numbers, and returns its index.
    pub(crate) fn finish_list(&mut self, start: usize) -> Result<u32, Full> {
        let list = u32::try_from(self.number_lists.len()).map_err(|_| Full)?;
        self.number_lists.push((start, self.numbers.len()));
        Ok(list)
    }

    /// Interns a binary.
    pub(crate) fn add_binary(&mut self, binary: Binary) -> Result<BinaryId, Full> {
        let arch = binary.arch.map_or(Architecture::Other, |arch| architecture(self.profile.text(arch)));
        let id = self.profile.binary(binary)?;
        self.architectures.insert(id, arch);
        Ok(id)
    }

    pub(crate) fn add_process(&mut self, pid: Option<u64>, name: StringId) -> Result<u32, Full> {
        let index = u32::try_from(self.processes.len()).map_err(|_| Full)?;
        self.processes.push(ProcessDefinition { pid, name, used_as: None, samples: 0 });
        Ok(index)
    }

    /// Adds a thread of the process with this index, and returns the thread's index.
    pub(crate) fn add_thread(&mut self, tid: Option<u64>, process: Option<u32>, name: StringId) -> Result<u32, Full> {
        let index = u32::try_from(self.threads.len()).map_err(|_| Full)?;
        self.threads.push(ThreadDefinition { tid, process, name, is_main: false, used_as: None, samples: 0 });
        Ok(index)
    }

    /// Marks the thread at this index as a main thread.
    pub(crate) fn mark_main_thread(&mut self, thread: u32) {
        self.threads[thread as usize].is_main = true;
    }

    /// Stores a list of numbers and returns its index.
    pub(crate) fn add_numbers(&mut self, numbers: impl IntoIterator<Item = u64>) -> Result<u32, Full> {
        let start = self.numbers.len();
        self.numbers.extend(numbers);
        self.finish_list(start)
    }

    /// Looks for the address convention of callers in a recorded address.
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
    /// Interns the stack of these frames, leaf first, on top of `root`.
    pub(crate) fn intern_stack(
        &mut self,
        root: Option<StackId>,
        leaf_first: &[FrameId],
    ) -> Result<Option<StackId>, Full> {
        self.profile.stack_path(root, leaf_first.iter().rev().copied())
    }

    /// Interns the stack in which the leaf of `lower` calls the frames of `upper`, such as a kernel stack on a user stack.
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

//! The definitions of one document so far, and the decoding of its elements.

use super::Options;
use super::address::{Conventions, FrameForm};
use super::attributes::{BinaryFields, FrameFields};
use super::item::{Ids, Value};
use super::names;
use super::oddity::Oddity;
use super::reject::RejectReason;
use super::tag::Tag;
use crate::hash::HashMap;
use crate::memory::{OverBudget, Reservation, of_map, of_vec};
use crate::profile::{
    Binary, BinaryId, Core, FrameId, FrameKey, Full, ProcessId, ProfileBuilder, RunId, SampleKind, SourceLine, StackId,
    StringId, ThreadId,
};
use crate::units::{Address, Uuid};

/// A `<process>`: it becomes a process of the run whose row uses it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProcessDefinition {
    pub(super) pid: Option<u64>,
    pub(super) name: StringId,
    /// The process that it became in the last row that used it, and the number of rows since then that did.
    pub(super) used_as: Option<(RunId, ProcessId)>,
    pub(super) samples: u64,
}

/// A `<thread>`, under one of the names it was shown with.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThreadDefinition {
    pub(super) tid: Option<u64>,
    /// Index of its process, where the element holds one.
    pub(super) process: Option<u32>,
    pub(super) name: StringId,
    pub(super) used_as: Option<(ProcessId, ThreadId)>,
    pub(super) samples: u64,
}

/// The value, or a part of it, that the attributes of an open element give.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Attributes {
    /// None that are needed.
    #[default]
    None,
    /// The attributes make the whole value.
    Value(Value),
    /// `name`, `addr` and `inlined` of a frame.
    Frame { name: Option<StringId>, is_named: bool, address: Option<u64>, is_inlined: bool },
    /// `line` of a source.
    Line(u32),
}

/// An element that closes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    pub(super) tag: Tag,
    pub(super) attributes: Attributes,
    /// The display string, where [`Tag::has_display_name`].
    pub(super) fmt: &'a str,
    /// The text, where [`Tag::has_text`].
    pub(super) text: &'a str,
    /// The values of its children, in order.
    pub(super) children: &'a [Value],
    /// True if it is the first child of its parent.
    pub(super) is_first_child: bool,
}

/// Decodes the elements of one document after the other into a profile.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    pub(super) builder: ProfileBuilder,
    pub(super) ids: Ids,
    pub(super) processes: Vec<ProcessDefinition>,
    pub(super) threads: Vec<ThreadDefinition>,
    /// Lists of numbers, one after the other, and where each is.
    pub(super) numbers: Vec<u64>,
    pub(super) number_lists: Vec<(usize, usize)>,
    pub(super) max_stack_depth: usize,
    max_counters: usize,
    /// Counts documents over all inputs; frames of two documents are never one frame.
    document: u32,
    pub(super) conventions: Conventions,
    /// The form of each frame of this document, and the index of the first one.
    forms: Vec<FrameForm>,
    first_frame: usize,
    /// The architecture of each binary: arm64, x86 or another one.
    architectures: HashMap<BinaryId, Architecture>,
    pub(super) scratch: Vec<FrameId>,
    /// The oddities of the element that was read last, each once.
    pub(super) oddities: Vec<Oddity>,
    /// Frames of which only the address is known, so that it is written as text once.
    pub(super) bare_frames: HashMap<(FrameForm, u64), FrameId>,
    /// Kernel stacks on top of user stacks, by both.
    pub(super) joined_stacks: HashMap<(StackId, StackId), Option<StackId>>,
    /// About how many bytes the documents take that are complete: tables of contents, and what tables are.
    pub(super) of_documents: u64,
    /// The memory that all of this takes, as of the end of the last block.
    pub(super) reserved: Reservation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Architecture {
    Arm64,
    X86,
    Other,
}

impl Definitions {
    pub(super) fn new(options: &Options) -> Self {
        let (max_stack_depth, max_counters) = (options.limits.stack_depth, options.limits.counters);
        let builder = ProfileBuilder::with_detail(options.samples).within(options.memory.clone());
        let reserved = options.memory.nothing();
        Self { builder, max_stack_depth, max_counters, reserved, ..Self::default() }
    }

    /// Reserves the memory that is taken by now, and `more` that is taken elsewhere.
    pub(super) fn reserve(&mut self, more: u64) -> Result<(), OverBudget> {
        let lists = of_vec(&self.numbers) + of_vec(&self.number_lists) + of_vec(&self.forms);
        let people = of_vec(&self.processes) + of_vec(&self.threads);
        let maps = of_map(&self.bare_frames) + of_map(&self.joined_stacks) + of_map(&self.architectures);
        let bytes = self.builder.memory() + self.ids.memory() + lists + people + maps;
        self.reserved.resize(bytes.saturating_add(self.of_documents).saturating_add(more))
    }

    /// The number of the document being read, over all inputs, from 0.
    pub(super) fn document_number(&self) -> u32 {
        self.document
    }

    /// Ends a document: its frames get their lookup addresses, its ids are forgotten.
    pub(super) fn finish_document(&mut self) {
        self.count_names();
        for offset in 0..self.forms.len() {
            let Some(id) = FrameId::from_index(self.first_frame + offset) else { break };
            let frame = *self.builder.get_frame(id);
            let architecture = frame.binary.and_then(|binary| self.architectures.get(&binary).copied());
            let is_x86 = architecture == Some(Architecture::X86);
            let image = frame.binary.map(|id| self.builder.get_binary(id).load_address);
            let in_kernel = image.is_some_and(|image| image.get() >> 47 != 0);
            let recorded = frame.address;
            let mut lookup = self.conventions.lookup_address(self.forms[offset], recorded, image, is_x86);
            if in_kernel && recorded.get() >> 47 != u64::MAX >> 47 {
                // The mask is for user addresses; a kernel address with an authentication code stays as it is.
                lookup = recorded;
            }
            self.builder.set_lookup_address(id, lookup);
        }
        self.ids.clear();
        self.processes.clear();
        self.threads.clear();
        self.numbers.clear();
        self.number_lists.clear();
        self.forms.clear();
        self.bare_frames.clear();
        self.joined_stacks.clear();
        self.conventions = Conventions::default();
        self.first_frame = self.builder.frame_count();
        self.document += 1;
    }

    /// Tells the builder under which names threads and processes were sampled.
    fn count_names(&mut self) {
        for process in &mut self.processes {
            if let Some((_, id)) = process.used_as.take() {
                self.builder.count_process_name(id, process.name, std::mem::take(&mut process.samples));
            }
        }
        for thread in &mut self.threads {
            if let Some((_, id)) = thread.used_as.take() {
                self.builder.count_thread_name(id, thread.name, std::mem::take(&mut thread.samples));
            }
        }
    }

    fn numbers(&self, list: u32) -> &[u64] {
        let (start, end) = self.number_lists[list as usize];
        &self.numbers[start..end]
    }

    /// Gives the sample that was added last the counter values of a list.
    pub(super) fn add_counters(&mut self, list: u32) {
        let (start, end) = self.number_lists[list as usize];
        self.builder.add_counters(&self.numbers[start..end]);
    }

    /// The value of a `ref` in an element of this name.
    pub(super) fn referred(&mut self, tag: Tag, value: Value) -> Value {
        if tag == Tag::Other && matches!(value, Value::Stack(_)) {
            self.note_oddity(Oddity::StackName);
        }
        tag.referring_to(value)
    }

    /// Remembers something odd about the element at hand.
    pub(super) fn note_oddity(&mut self, oddity: Oddity) {
        if !self.oddities.contains(&oddity) {
            self.oddities.push(oddity);
        }
    }

    /// The value of an element that closes.
    pub(super) fn value(&mut self, element: Element<'_>) -> Result<Value, Full> {
        if let Attributes::Value(value) = element.attributes {
            if !element.children.is_empty() {
                self.note_oddity(Oddity::Child);
            }
            return Ok(value);
        }
        if element.tag.has_text() && !element.children.is_empty() {
            // Which part of the text would be the value?
            return Ok(Value::Bad(RejectReason::WrongType));
        }
        Ok(match element.tag {
            Tag::Sentinel => Value::Absent,
            Tag::Companion => Value::Companion,
            tag if tag.has_number() => parse_number(element.text)
                .map_or(Value::Bad(RejectReason::BadNumber), |number| number_value(tag, number)),
            Tag::TextAddresses => self.number_list(element.text, Value::Addresses)?,
            Tag::PmcEvents => match self.number_list(element.text, Value::Counters)? {
                // Rows share a list by `ref`, and each sample holds its values.
                Value::Counters(list) if self.numbers(list).len() > self.max_counters => {
                    Value::Bad(RejectReason::BadNumber)
                }
                value => value,
            },
            Tag::ThreadState => match element.text.trim() {
                "" => Value::Bad(RejectReason::EmptyCell),
                state => Value::State(self.builder.string(state)?),
            },
            Tag::Path if element.text.is_empty() => Value::Bad(RejectReason::EmptyCell),
            Tag::Path => Value::Path(self.builder.string(element.text)?),
            Tag::Source => self.source(element),
            Tag::Core => self.core(element)?,
            Tag::Process => self.process(element)?,
            Tag::Thread => self.thread(element)?,
            Tag::Frame => self.frame(element)?,
            Tag::KperfBacktrace => self.kperf_stack(element)?,
            Tag::Backtrace | Tag::Other => self.stack(element)?,
            _ => Value::Other,
        })
    }

    fn number_list(&mut self, text: &str, make: fn(u32) -> Value) -> Result<Value, Full> {
        let start = self.numbers.len();
        for word in text.split_ascii_whitespace() {
            match parse_number(word) {
                Some(number) => self.numbers.push(number),
                None => {
                    self.numbers.truncate(start);
                    return Ok(Value::Bad(RejectReason::BadNumber));
                }
            }
        }
        if self.numbers.len() == start {
            return Ok(Value::Bad(RejectReason::EmptyCell));
        }
        self.finish_list(start).map(make)
    }

    /// Makes a list of the numbers from `start` on, and gives its index.
    fn finish_list(&mut self, start: usize) -> Result<u32, Full> {
        let list = u32::try_from(self.number_lists.len()).map_err(|_| Full)?;
        self.number_lists.push((start, self.numbers.len()));
        Ok(list)
    }

    fn core(&mut self, element: Element<'_>) -> Result<Value, Full> {
        let Some(index) = parse_number(element.text).and_then(|index| u32::try_from(index).ok()) else {
            return Ok(Value::Bad(RejectReason::BadNumber));
        };
        self.check_display_name(element);
        let kind = match names::core_kind(element.fmt) {
            Some(kind) => Some(self.builder.string(kind)?),
            None => None,
        };
        Ok(Value::Core(self.builder.core(Core { index, kind })?))
    }

    /// Names stand in display strings and nowhere else.
    fn check_display_name(&mut self, element: Element<'_>) {
        if element.fmt.is_empty() {
            self.note_oddity(Oddity::NoDisplayName);
        }
    }

    fn process(&mut self, element: Element<'_>) -> Result<Value, Full> {
        let mut pid = OnlyChild::default();
        for &child in element.children {
            match child {
                Value::Pid(number) => pid.set(number),
                child => self.pass_by(child, &mut pid),
            }
        }
        let pid = match pid.get() {
            Ok(pid) => pid,
            Err(reason) => return Ok(Value::Bad(reason)),
        };
        self.check_display_name(element);
        let name = self.builder.string(names::process_name(element.fmt, pid))?;
        self.add_process(pid, name).map(Value::Process)
    }

    fn thread(&mut self, element: Element<'_>) -> Result<Value, Full> {
        let (mut tid, mut process) = (OnlyChild::default(), OnlyChild::default());
        for &child in element.children {
            match child {
                Value::Tid(number) => tid.set(number),
                Value::Process(index) => process.set(index),
                child => self.pass_by(child, &mut tid),
            }
        }
        let (tid, process) = match (tid.get(), process.if_any()) {
            (Ok(tid), Ok(process)) => (tid, process),
            (Err(reason), _) | (_, Err(reason)) => return Ok(Value::Bad(reason)),
        };
        if process.is_none() {
            self.note_oddity(Oddity::NoProcess);
        }
        self.check_display_name(element);
        let name = self.builder.string(names::thread_name(element.fmt, tid))?;
        self.add_thread(tid, process, name).map(Value::Thread)
    }

    /// The binary of a `<binary>` with these attributes.
    pub(super) fn binary(&mut self, fields: &BinaryFields<'_>) -> Result<Value, Full> {
        let load_address = fields.load_address.as_deref().and_then(names::parse_hex);
        // A binary without UUID is one that cannot be symbolicated; one with a broken UUID would be another binary.
        let uuid = fields.uuid.as_deref().map(Uuid::parse);
        let (Some(load_address), Some(uuid)) = (load_address, uuid.map_or(Some(None), |uuid| uuid.map(Some))) else {
            return Ok(Value::Bad(RejectReason::BadNumber));
        };
        let texts = [&fields.name, &fields.uuid, &fields.arch, &fields.path];
        if texts.iter().any(|text| text.as_deref().is_none_or(str::is_empty)) {
            self.note_oddity(Oddity::NoBinaryField);
        }
        if fields.has_others {
            self.note_oddity(Oddity::Attribute);
        }
        let path = fields.path.as_deref().or(fields.name.as_deref()).unwrap_or_default();
        let name = fields.name.as_deref().unwrap_or_else(|| path.rsplit('/').next().unwrap_or(path));
        let arch = match fields.arch.as_deref() {
            Some(arch) => Some(self.builder.string(arch)?),
            None => None,
        };
        let (name, path) = (self.builder.string(name)?, self.builder.string(path)?);
        let load_address = Address::new(load_address);
        self.add_binary(Binary { name, uuid, arch, load_address, path }).map(Value::Binary)
    }

    /// The id of a binary.
    pub(super) fn add_binary(&mut self, binary: Binary) -> Result<BinaryId, Full> {
        let arch = binary.arch.map_or(Architecture::Other, |arch| architecture(self.builder.text(arch)));
        let id = self.builder.binary(binary)?;
        self.architectures.insert(id, arch);
        Ok(id)
    }

    /// The index of a process of this number and name.
    pub(super) fn add_process(&mut self, pid: Option<u64>, name: StringId) -> Result<u32, Full> {
        let index = u32::try_from(self.processes.len()).map_err(|_| Full)?;
        self.processes.push(ProcessDefinition { pid, name, used_as: None, samples: 0 });
        Ok(index)
    }

    /// The index of a thread of this number and name, of the process at this index.
    pub(super) fn add_thread(&mut self, tid: Option<u64>, process: Option<u32>, name: StringId) -> Result<u32, Full> {
        let index = u32::try_from(self.threads.len()).map_err(|_| Full)?;
        self.threads.push(ThreadDefinition { tid, process, name, used_as: None, samples: 0 });
        Ok(index)
    }

    /// Keeps a list of numbers, and gives its index.
    #[cfg(feature = "bundle")]
    pub(super) fn add_numbers(&mut self, numbers: impl IntoIterator<Item = u64>) -> Result<u32, Full> {
        let start = self.numbers.len();
        self.numbers.extend(numbers);
        self.finish_list(start)
    }

    /// Decodes the attributes of a `<frame>`.
    pub(super) fn frame_attributes(&mut self, fields: &FrameFields<'_>) -> Result<Attributes, Full> {
        let address = fields.address.as_deref().and_then(names::parse_hex);
        let name = fields.name.as_deref().filter(|name| !name.is_empty());
        let is_named = name.is_some_and(|name| !names::is_hex_address(name));
        if name.is_none() {
            self.note_oddity(Oddity::NoFrameName);
        }
        if fields.has_others {
            self.note_oddity(Oddity::Attribute);
        }
        let name = match (name, address) {
            (Some(name), _) => Some(self.builder.string(&names::function_name(name))?),
            (None, Some(address)) => Some(self.builder.string(&format!("{address:#x}"))?),
            (None, None) => None,
        };
        Ok(Attributes::Frame { name, is_named, address, is_inlined: fields.is_inlined })
    }

    fn frame(&mut self, element: Element<'_>) -> Result<Value, Full> {
        let Attributes::Frame { name: Some(name), is_named, address: Some(address), is_inlined } = element.attributes
        else {
            return Ok(Value::Bad(RejectReason::BadNumber));
        };
        let (mut binary, mut source) = (OnlyChild::default(), OnlyChild::default());
        for &child in element.children {
            match child {
                Value::Binary(id) => binary.set(id),
                Value::Source(line) => source.set(line),
                child => self.pass_by(child, &mut binary),
            }
        }
        let (binary, source) = match (binary.if_any(), source.if_any()) {
            (Ok(binary), Ok(source)) => (binary, source),
            (Err(reason), _) | (_, Err(reason)) => return Ok(Value::Bad(reason)),
        };
        if !element.is_first_child {
            self.see_caller(binary, address);
        }
        let function = self.builder.function(name, binary, is_named)?;
        self.add_frame(FrameForm::Listed, function, binary, address, source, is_inlined).map(Value::Frame)
    }

    fn source(&mut self, element: Element<'_>) -> Value {
        let Attributes::Line(line) = element.attributes else { return Value::Bad(RejectReason::BadNumber) };
        let mut path = OnlyChild::default();
        for &child in element.children {
            match child {
                Value::Path(id) => path.set(id),
                child => self.pass_by(child, &mut path),
            }
        }
        match path.get() {
            Ok(Some(path)) => Value::Source(SourceLine { path, line }),
            Ok(None) => Value::Other,
            Err(reason) => Value::Bad(reason),
        }
    }

    /// A child that is none of those an element is made of; `only` is one of these.
    fn pass_by<T>(&mut self, child: Value, only: &mut OnlyChild<T>) {
        match child {
            Value::Bad(reason) => only.fail(reason),
            Value::Absent => only.is_absent = true,
            Value::Companion => {}
            _ => self.note_oddity(Oddity::Child),
        }
    }

    /// Learns from the recorded address of a caller how callers are recorded.
    pub(super) fn see_caller(&mut self, binary: Option<BinaryId>, address: u64) {
        let is_arm64 = binary.is_some_and(|binary| self.architectures.get(&binary) == Some(&Architecture::Arm64));
        if is_arm64 && address % 4 == 3 {
            self.conventions.callers_are_inside_call = true;
        }
    }

    pub(super) fn add_frame(
        &mut self,
        form: FrameForm,
        function: crate::profile::FunctionId,
        binary: Option<BinaryId>,
        address: u64,
        source: Option<SourceLine>,
        is_inlined: bool,
    ) -> Result<FrameId, Full> {
        let address = Address::new(address);
        let group = self.document.wrapping_mul(4) | form as u32;
        let id = self.builder.frame(FrameKey { function, binary, address, source, is_inlined, group })?;
        if id.index() - self.first_frame >= self.forms.len() {
            self.forms.push(form);
        }
        Ok(id)
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

/// A child of a kind that an element has once.
#[derive(Debug)]
struct OnlyChild<T> {
    value: Option<T>,
    /// True if a `<sentinel/>` stands there.
    is_absent: bool,
    bad: Option<RejectReason>,
}

impl<T> Default for OnlyChild<T> {
    fn default() -> Self {
        Self { value: None, is_absent: false, bad: None }
    }
}

impl<T> OnlyChild<T> {
    fn set(&mut self, value: T) {
        if self.value.replace(value).is_some() {
            self.fail(RejectReason::WrongType);
        }
    }

    fn fail(&mut self, reason: RejectReason) {
        self.bad.get_or_insert(reason);
    }

    /// The child; `None` where it is marked as absent.
    fn get(self) -> Result<Option<T>, RejectReason> {
        match self {
            Self { bad: Some(reason), .. } => Err(reason),
            Self { value: None, is_absent: false, .. } => Err(RejectReason::EmptyCell),
            Self { value, .. } => Ok(value),
        }
    }

    /// The child, which need not be there.
    fn if_any(self) -> Result<Option<T>, RejectReason> {
        self.bad.map_or(Ok(self.value), Err)
    }
}

/// The value of an element whose text is this number ([`Tag::has_number`]).
pub(super) fn number_value(tag: Tag, number: u64) -> Value {
    match tag {
        Tag::Time => Value::Time(number),
        Tag::Weight => Value::Nanos(number),
        Tag::CycleWeight => Value::Cycles(number),
        Tag::PmcEvent => Value::PmcEvents(number),
        Tag::Tid => Value::Tid(number),
        Tag::Pid => Value::Pid(number),
        Tag::TextAddress => Value::Address(number),
        Tag::SampleKind => Value::Kind(SampleKind::of_number(number)),
        _ => Value::Other,
    }
}

/// A decimal number without sign.
pub(super) fn parse_number(text: &str) -> Option<u64> {
    let text = text.trim_ascii();
    // `str::parse` would take a plus sign.
    text.as_bytes().first().filter(|byte| byte.is_ascii_digit()).and_then(|_| text.parse().ok())
}

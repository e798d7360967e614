//! What one document has defined so far, and how its elements decode.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::address::{Conventions, FrameForm};
use super::item::{Ids, Value};
use super::names;
use super::reject::RejectReason;
use super::tag::Tag;
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
    /// What it was in the last row that used it, and in how many rows since.
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

/// What the attributes of an open element say.
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
    /// Whether it is the first child of its parent.
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
    numbers: Vec<u64>,
    number_lists: Vec<(usize, usize)>,
    max_stack_depth: usize,
    /// Counts documents over all inputs; frames of two documents are never one frame.
    document: u32,
    conventions: Conventions,
    /// How each frame of this document was written, and the index of the first one.
    forms: Vec<FrameForm>,
    first_frame: usize,
    /// Whether a binary is arm64 or x86, by its index.
    architectures: HashMap<BinaryId, Architecture, FxBuildHasher>,
    scratch: Vec<FrameId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Architecture {
    Arm64,
    X86,
    Other,
}

impl Definitions {
    pub(super) fn new(max_stack_depth: usize) -> Self {
        Self { max_stack_depth, ..Self::default() }
    }

    /// Ends a document: its frames get their lookup addresses, its ids are forgotten.
    pub(super) fn finish_document(&mut self) {
        self.count_names();
        for offset in 0..self.forms.len() {
            let Some(id) = FrameId::from_index(self.first_frame + offset) else { break };
            let frame = *self.builder.get_frame(id);
            let architecture = frame.binary.and_then(|binary| self.architectures.get(&binary).copied());
            let is_x86 = architecture == Some(Architecture::X86);
            let in_kernel = frame.binary.is_some_and(|id| self.builder.get_binary(id).load_address.get() >> 47 != 0);
            let recorded = frame.address;
            let mut lookup = self.conventions.lookup_address(self.forms[offset], recorded, is_x86);
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
        self.conventions = Conventions::default();
        self.first_frame = self.builder.frame_count();
        self.document += 1;
    }

    /// Tells the builder under which names threads and processes were sampled.
    pub(super) fn count_names(&mut self) {
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

    /// Gives the sample that was added last the counter values of a list.
    pub(super) fn add_counters(&mut self, list: u32) {
        let (start, end) = self.number_lists[list as usize];
        self.builder.add_counters(&self.numbers[start..end]);
    }

    /// The value of an element that closes.
    pub(super) fn value(&mut self, element: Element<'_>) -> Result<Value, Full> {
        if let Attributes::Value(value) = element.attributes {
            return Ok(value);
        }
        Ok(match element.tag {
            Tag::Sentinel => Value::Absent,
            Tag::Time => number(element.text, Value::Time),
            Tag::Weight => number(element.text, Value::Nanos),
            Tag::CycleWeight => number(element.text, Value::Cycles),
            Tag::PmcEvent => number(element.text, Value::PmcEvents),
            Tag::Tid => number(element.text, Value::Tid),
            Tag::Pid => number(element.text, Value::Pid),
            Tag::TextAddress => number(element.text, Value::Address),
            Tag::TextAddresses => self.number_list(element.text, Value::Addresses)?,
            Tag::PmcEvents => self.number_list(element.text, Value::Counters)?,
            Tag::SampleKind => sample_kind(element.text),
            Tag::ThreadState => match element.text.trim() {
                "" => Value::Absent,
                state => Value::State(self.builder.string(state)?),
            },
            Tag::Path => Value::Path(self.builder.string(element.text)?),
            Tag::Source => source(element),
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
        let list = u32::try_from(self.number_lists.len()).map_err(|_| Full)?;
        self.number_lists.push((start, self.numbers.len()));
        Ok(make(list))
    }

    fn core(&mut self, element: Element<'_>) -> Result<Value, Full> {
        let Some(index) = parse_number(element.text).and_then(|index| u32::try_from(index).ok()) else {
            return Ok(Value::Bad(RejectReason::BadNumber));
        };
        let kind = match names::core_kind(element.fmt) {
            Some(kind) => Some(self.builder.string(kind)?),
            None => None,
        };
        Ok(Value::Core(self.builder.core(Core { index, kind })?))
    }

    fn process(&mut self, element: Element<'_>) -> Result<Value, Full> {
        let mut pid = None;
        for &child in element.children {
            match child {
                Value::Pid(number) => pid = Some(number),
                Value::Bad(reason) => return Ok(Value::Bad(reason)),
                _ => {}
            }
        }
        let name = self.builder.string(names::process_name(element.fmt, pid))?;
        let index = u32::try_from(self.processes.len()).map_err(|_| Full)?;
        self.processes.push(ProcessDefinition { pid, name, used_as: None, samples: 0 });
        Ok(Value::Process(index))
    }

    fn thread(&mut self, element: Element<'_>) -> Result<Value, Full> {
        let (mut tid, mut process) = (None, None);
        for &child in element.children {
            match child {
                Value::Tid(number) => tid = Some(number),
                Value::Process(index) => process = Some(index),
                Value::Bad(reason) => return Ok(Value::Bad(reason)),
                _ => {}
            }
        }
        let name = self.builder.string(names::thread_name(element.fmt, tid))?;
        let index = u32::try_from(self.threads.len()).map_err(|_| Full)?;
        self.threads.push(ThreadDefinition { tid, process, name, used_as: None, samples: 0 });
        Ok(Value::Thread(index))
    }

    /// The binary of a `<binary>` with these attributes.
    pub(super) fn binary(&mut self, attributes: &BinaryAttributes<'_>) -> Result<Value, Full> {
        let load_address = attributes.load_address.and_then(names::parse_hex);
        let uuid = attributes.uuid.map(Uuid::parse);
        let (Some(load_address), Some(uuid)) = (load_address, uuid.map_or(Some(None), |uuid| uuid.map(Some))) else {
            return Ok(Value::Bad(RejectReason::BadNumber));
        };
        let path = attributes.path.or(attributes.name).unwrap_or_default();
        let name = attributes.name.unwrap_or_else(|| path.rsplit('/').next().unwrap_or(path));
        let arch = match attributes.arch {
            Some(arch) => Some(self.builder.string(arch)?),
            None => None,
        };
        let (name, path) = (self.builder.string(name)?, self.builder.string(path)?);
        let load_address = Address::new(load_address);
        let id = self.builder.binary(Binary { name, uuid, arch, load_address, path })?;
        self.architectures.insert(id, architecture(attributes.arch.unwrap_or_default()));
        Ok(Value::Binary(id))
    }

    /// What the attributes of a `<frame>` say.
    pub(super) fn frame_attributes(
        &mut self,
        name: Option<&str>,
        address: Option<&str>,
        is_inlined: bool,
    ) -> Result<Attributes, Full> {
        let address = address.and_then(names::parse_hex);
        let name = name.filter(|name| !name.is_empty());
        let is_named = name.is_some_and(|name| !names::is_hex_address(name));
        let name = match (name, address) {
            (Some(name), _) => Some(self.builder.string(&names::function_name(name))?),
            (None, Some(address)) => Some(self.builder.string(&format!("{address:#x}"))?),
            (None, None) => None,
        };
        Ok(Attributes::Frame { name, is_named, address, is_inlined })
    }

    fn frame(&mut self, element: Element<'_>) -> Result<Value, Full> {
        let Attributes::Frame { name: Some(name), is_named, address: Some(address), is_inlined } = element.attributes
        else {
            return Ok(Value::Bad(RejectReason::BadNumber));
        };
        let (mut binary, mut source) = (None, None);
        for &child in element.children {
            match child {
                Value::Binary(id) => binary = Some(id),
                Value::Source(line) => source = Some(line),
                Value::Bad(reason) => return Ok(Value::Bad(reason)),
                _ => {}
            }
        }
        let is_arm64 = binary.is_some_and(|binary| self.architectures.get(&binary) == Some(&Architecture::Arm64));
        if is_arm64 && !element.is_first_child && address % 4 == 3 {
            self.conventions.callers_are_inside_call = true;
        }
        let function = self.builder.function(name, binary, is_named)?;
        self.add_frame(FrameForm::Listed, function, binary, address, source, is_inlined).map(Value::Frame)
    }

    fn add_frame(
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

    /// A frame of which only the address is known, or also the name.
    fn bare_frame(&mut self, form: FrameForm, address: u64, name: Option<&str>) -> Result<FrameId, Full> {
        let name = name.filter(|name| !name.is_empty() && !names::is_hex_address(name));
        let text = match name {
            Some(name) => self.builder.string(&names::function_name(name))?,
            None => self.builder.string(&format!("{address:#x}"))?,
        };
        let function = self.builder.function(text, None, name.is_some())?;
        self.add_frame(form, function, None, address, None, false)
    }

    /// The stack of an element that holds frames, address fragments, or another stack; leaf first, as written.
    fn stack(&mut self, element: Element<'_>) -> Result<Value, Full> {
        let mut frames = std::mem::take(&mut self.scratch);
        frames.clear();
        let result = self.collect_stack(element, &mut frames);
        self.scratch = frames;
        result
    }

    fn collect_stack(&mut self, element: Element<'_>, frames: &mut Vec<FrameId>) -> Result<Value, Full> {
        let (mut nested, mut others, mut has_fragments) = (None, 0_usize, false);
        for &child in element.children {
            match child {
                Value::Frame(frame) => frames.push(frame),
                Value::Addresses(list) => {
                    has_fragments = true;
                    let leaf = frames.is_empty().then(|| names::leaf_name(element.fmt));
                    self.push_fragment(list, leaf, frames)?;
                }
                Value::Stack(stack) if nested.is_none() => nested = Some(stack),
                Value::Bad(reason) => return Ok(Value::Bad(reason)),
                Value::Absent | Value::Process(_) => {}
                _ => others += 1,
            }
            if frames.len() > self.max_stack_depth {
                return Ok(Value::Bad(RejectReason::StackTooDeep));
            }
        }
        let is_unknown = Value::Bad(RejectReason::UnknownStack);
        Ok(match nested {
            Some(_) if !frames.is_empty() => is_unknown,
            Some(stack) => Value::Stack(stack),
            // An element that this crate does not know and that holds no frames is no stack; a backtrace that holds
            // only elements it does not know is a stack of an unknown shape.
            None if frames.is_empty() && element.tag == Tag::Other => Value::Other,
            None if frames.is_empty() && !has_fragments && others > 0 => is_unknown,
            None => Value::Stack(self.intern_stack(None, frames)?),
        })
    }

    /// Adds the frames of one `text-addresses`; `leaf` is the name of the first one, where it is the stack's leaf.
    fn push_fragment(&mut self, list: u32, leaf: Option<&str>, frames: &mut Vec<FrameId>) -> Result<(), Full> {
        let (start, end) = self.number_lists[list as usize];
        let mut name = leaf;
        for index in start..end {
            let address = self.numbers[index];
            if address == 0 && index + 1 == end {
                self.conventions.fragments_end_with_zero = true;
                break;
            }
            frames.push(self.bare_frame(FrameForm::Fragment, address, name.take())?);
            if frames.len() > self.max_stack_depth {
                break;
            }
        }
        Ok(())
    }

    /// The stack of a `kperf-bt`: the program counter, then the return addresses, which end with a 0.
    ///
    /// A snapshot (`Stackshot`) has no final 0 and may repeat the program counter as the first return address. Where
    /// the leaf function has no frame record its caller is only in the link register, and the list skips it; the
    /// element does not say when, so such a caller is missing here, too (`time-profile` has it).
    fn kperf_stack(&mut self, element: Element<'_>) -> Result<Value, Full> {
        let mut frames = std::mem::take(&mut self.scratch);
        frames.clear();
        let result = self.collect_kperf_stack(element, &mut frames);
        self.scratch = frames;
        result
    }

    fn collect_kperf_stack(&mut self, element: Element<'_>, frames: &mut Vec<FrameId>) -> Result<Value, Full> {
        let mut pc = None;
        for &child in element.children {
            match child {
                Value::Address(address) => pc = pc.or(Some(address)),
                Value::Bad(reason) => return Ok(Value::Bad(reason)),
                _ => {}
            }
        }
        if let Some(pc) = pc {
            frames.push(self.bare_frame(FrameForm::KperfLeaf, pc, None)?);
        }
        for &child in element.children {
            let Value::Addresses(list) = child else { continue };
            let (start, end) = self.number_lists[list as usize];
            let ends_with_zero = start < end && self.numbers[end - 1] == 0;
            for index in start..end - usize::from(ends_with_zero) {
                let address = self.numbers[index];
                if index == start && !ends_with_zero && frames.len() == 1 && Some(address) == pc {
                    continue;
                }
                frames.push(self.bare_frame(FrameForm::KperfCaller, address, None)?);
                if frames.len() > self.max_stack_depth {
                    return Ok(Value::Bad(RejectReason::StackTooDeep));
                }
            }
        }
        Ok(Value::Stack(self.intern_stack(None, frames)?))
    }

    /// The stack of frames given leaf first, on top of `root`.
    fn intern_stack(&mut self, root: Option<StackId>, leaf_first: &[FrameId]) -> Result<Option<StackId>, Full> {
        let mut stack = root;
        for &frame in leaf_first.iter().rev() {
            stack = Some(self.builder.stack(stack, frame)?);
        }
        Ok(stack)
    }

    /// The frames of `upper` (a kernel stack, say) called from the leaf of `lower`.
    pub(super) fn join_stacks(
        &mut self,
        lower: Option<StackId>,
        upper: Option<StackId>,
    ) -> Result<Option<StackId>, Full> {
        if lower.is_none() {
            return Ok(upper);
        }
        let mut frames = Vec::new();
        let mut stack = upper;
        while let Some(id) = stack {
            let row = self.builder.get_stack(id);
            frames.push(row.frame);
            stack = row.parent;
        }
        self.intern_stack(lower, &frames)
    }
}

/// The attributes of a `<binary>`, unescaped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BinaryAttributes<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) uuid: Option<&'a str>,
    pub(super) arch: Option<&'a str>,
    pub(super) load_address: Option<&'a str>,
    pub(super) path: Option<&'a str>,
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

fn source(element: Element<'_>) -> Value {
    let Attributes::Line(line) = element.attributes else { return Value::Bad(RejectReason::BadNumber) };
    let path = element.children.iter().find_map(|child| match *child {
        Value::Path(path) => Some(Value::Source(SourceLine { path, line })),
        Value::Bad(reason) => Some(Value::Bad(reason)),
        _ => None,
    });
    path.unwrap_or(Value::Other)
}

fn sample_kind(text: &str) -> Value {
    match parse_number(text) {
        Some(0) => Value::Kind(SampleKind::Periodic),
        Some(1) => Value::Kind(SampleKind::EveryThread),
        Some(2) => Value::Kind(SampleKind::EveryThreadLightweight),
        Some(3) => Value::Kind(SampleKind::Stackshot),
        Some(_) => Value::Kind(SampleKind::Other),
        None => Value::Bad(RejectReason::BadNumber),
    }
}

/// A decimal number without sign.
pub(super) fn parse_number(text: &str) -> Option<u64> {
    let text = text.trim_ascii();
    // `str::parse` would take a plus sign.
    text.as_bytes().first().filter(|byte| byte.is_ascii_digit()).and_then(|_| text.parse().ok())
}

fn number(text: &str, make: fn(u64) -> Value) -> Value {
    parse_number(text).map_or(Value::Bad(RejectReason::BadNumber), make)
}

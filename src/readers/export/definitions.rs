//! Stores the definitions of the current document, and decodes its elements.

use super::anomaly::Oddity;
use super::attributes::{BinaryFields, Fields, FrameFields, parse_number};
use super::display_names;
use super::id_map::Ids;
use super::tag::Tag;
use super::value::Value;
use crate::hash::HashMap;
use crate::memory::{OverBudget, of_map};
use crate::profile::{Binary, Core, FrameId, Full, SampleKind, SourceLine, StringId};
use crate::recording::{FrameForm, Limits, RecordingBuilder, RejectReason, is_hex_address};
use crate::units::{Address, Uuid};

/// What an open element's attributes contribute to its value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Attributes {
    /// Nothing.
    #[default]
    None,
    /// The complete value.
    Value(Value),
    /// `name`, `addr` and `inlined` of a frame.
    Frame { name: Option<StringId>, is_named: bool, address: Option<u64>, is_inlined: bool },
    /// `line` of a source.
    Line(u32),
}

/// A closing element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a, V = Value> {
    pub(super) tag: Tag,
    pub(super) attributes: Attributes,
    /// The display string, if [`Tag::has_display_name`].
    pub(super) fmt: &'a str,
    /// The text, if [`Tag::has_text`].
    pub(super) text: &'a str,
    /// The values of its children, in order.
    pub(super) children: &'a [V],
    /// True if it is the first child of its parent.
    pub(super) is_first_child: bool,
    /// True if it defines an id.
    pub(super) has_id: bool,
}

/// Decodes the elements of documents, one document after another, into a recording.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    pub(super) recording: RecordingBuilder,
    pub(super) ids: Ids,
    pub(super) max_stack_depth: usize,
    max_counters: usize,
    pub(super) scratch: Vec<FrameId>,
    /// The anomalies of the last element, without duplicates.
    pub(super) oddities: Vec<Oddity>,
    /// Frames that only have an address. Each address is formatted once.
    pub(super) bare_frames: HashMap<(FrameForm, u64), FrameId>,
}

impl Definitions {
    /// Starts without any definitions.
    pub(super) fn new(recording: RecordingBuilder) -> Self {
        let Limits { stack_depth: max_stack_depth, counters: max_counters, .. } = recording.options.limits;
        Self { recording, max_stack_depth, max_counters, ..Self::default() }
    }

    /// Reserves the memory used so far, and `more` bytes that are used elsewhere.
    pub(super) fn reserve(&mut self, more: u64) -> Result<(), OverBudget> {
        let own = self.ids.memory() + of_map(&self.bare_frames);
        self.recording.reserve(more.saturating_add(own))
    }

    /// Ends a document and forgets its ids.
    pub(super) fn finish_document(&mut self) {
        self.recording.finish_document();
        self.ids.clear();
        self.bare_frames.clear();
    }

    /// Decodes the attributes of an element, unless only its display string is needed.
    pub(super) fn attributes(&mut self, fields: Fields<'_>) -> Result<Attributes, Full> {
        match fields {
            Fields::None | Fields::DisplayName(_) => Ok(Attributes::None),
            Fields::UnknownFrame => Ok(Attributes::Value(Value::Bad(RejectReason::UnknownStack))),
            Fields::Frame(frame) => self.frame_attributes(&frame),
            Fields::Binary(binary) => self.binary(&binary).map(Attributes::Value),
            Fields::Line(line) => Ok(line.map_or(Attributes::None, Attributes::Line)),
        }
    }

    /// Returns the value for a `ref` in an element with this tag.
    pub(super) fn referred(&mut self, tag: Tag, value: Value) -> Value {
        if tag == Tag::Other && matches!(value, Value::Stack(_)) {
            self.note_oddity(Oddity::StackName);
        }
        tag.referring_to(value)
    }

    pub(super) fn note_oddity(&mut self, oddity: Oddity) {
        if !self.oddities.contains(&oddity) {
            self.oddities.push(oddity);
        }
    }

    /// Decodes a closing element.
    pub(super) fn value(&mut self, element: Element<'_>) -> Result<Value, Full> {
        if let Attributes::Value(value) = element.attributes {
            if !element.children.is_empty() {
                self.note_oddity(Oddity::Child);
            }
            return Ok(value);
        }
        if element.tag.has_text() && !element.children.is_empty() {
            // Children split the text, so it is unclear which part is the value.
            return Ok(Value::Bad(RejectReason::WrongType));
        }
        Ok(match element.tag {
            Tag::Sentinel => Value::Absent,
            Tag::Companion => Value::Companion,
            tag if tag.has_number() => parse_number(element.text)
                .map_or(Value::Bad(RejectReason::BadNumber), |number| number_value(tag, number)),
            Tag::TextAddresses => self.number_list(element.text, Value::Addresses)?,
            Tag::PmcEvents => match self.number_list(element.text, Value::Counters)? {
                // Rows can share a list by `ref`, but each sample gets a copy of its values.
                Value::Counters(list) if self.recording.numbers(list).len() > self.max_counters => {
                    Value::Bad(RejectReason::BadNumber)
                }
                value => value,
            },
            Tag::ThreadState => match element.text.trim() {
                "" => Value::Bad(RejectReason::EmptyCell),
                state => Value::State(self.recording.profile.string(state)?),
            },
            Tag::Path if element.text.is_empty() => Value::Bad(RejectReason::EmptyCell),
            Tag::Path => Value::Path(self.recording.profile.string(element.text)?),
            Tag::Source => self.source(element),
            Tag::Core => self.core(element)?,
            Tag::Process => self.process(element)?,
            Tag::Thread => self.thread(element)?,
            Tag::Frame => self.frame(element)?,
            Tag::KperfBacktrace | Tag::Backtrace | Tag::Other => self.stack(element)?,
            _ => Value::Other,
        })
    }

    fn number_list(&mut self, text: &str, make: fn(u32) -> Value) -> Result<Value, Full> {
        let start = self.recording.numbers.len();
        for word in text.split_ascii_whitespace() {
            match parse_number(word) {
                Some(number) => self.recording.numbers.push(number),
                None => {
                    self.recording.numbers.truncate(start);
                    return Ok(Value::Bad(RejectReason::BadNumber));
                }
            }
        }
        if self.recording.numbers.len() == start {
            return Ok(Value::Bad(RejectReason::EmptyCell));
        }
        self.recording.finish_list(start).map(make)
    }

    fn core(&mut self, element: Element<'_>) -> Result<Value, Full> {
        let Some(index) = parse_number(element.text).and_then(|index| u32::try_from(index).ok()) else {
            return Ok(Value::Bad(RejectReason::BadNumber));
        };
        self.check_display_name(element);
        let kind = display_names::core_kind(element.fmt);
        let kind = kind.map(|kind| self.recording.profile.string(kind)).transpose()?;
        Ok(Value::Core(self.recording.profile.core(Core { index, kind })?))
    }

    /// Checks that the display string is present: names are stored nowhere else.
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
        let name = self.recording.profile.string(display_names::process_name(element.fmt, pid))?;
        self.recording.add_process(pid, name).map(Value::Process)
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
        let name = self.recording.profile.string(display_names::thread_name(element.fmt, tid))?;
        self.recording.add_thread(tid, process, name).map(Value::Thread)
    }

    /// Decodes a `<binary>` with these attributes.
    pub(super) fn binary(&mut self, fields: &BinaryFields<'_>) -> Result<Value, Full> {
        let load_address = fields.load_address.as_deref().and_then(display_names::parse_hex);
        let uuid = fields.uuid.as_deref().and_then(Uuid::parse);
        if load_address.is_none() {
            if fields.name.is_none() && fields.path.is_none() {
                return Ok(Value::Bad(RejectReason::BadNumber));
            }
            self.note_oddity(Oddity::LoadAddress);
        }
        if uuid.is_none() && fields.uuid.as_deref().is_some_and(|uuid| !uuid.is_empty()) {
            self.note_oddity(Oddity::Uuid);
        }
        // With a UUID but no load address, symbols would be looked up at wrong addresses.
        let uuid = uuid.filter(|_| load_address.is_some());
        let texts = [&fields.name, &fields.uuid, &fields.arch, &fields.path];
        if texts.iter().any(|text| text.as_deref().is_none_or(str::is_empty)) {
            self.note_oddity(Oddity::NoBinaryField);
        }
        if fields.has_others {
            self.note_oddity(Oddity::Attribute);
        }
        let path = fields.path.as_deref().or(fields.name.as_deref()).unwrap_or_default();
        let name = fields.name.as_deref().unwrap_or_else(|| path.rsplit('/').next().unwrap_or(path));
        let arch = fields.arch.as_deref().map(|arch| self.recording.profile.string(arch)).transpose()?;
        let (name, path) = (self.recording.profile.string(name)?, self.recording.profile.string(path)?);
        let load_address = Address::new(load_address.unwrap_or_default());
        self.recording.add_binary(Binary { name, uuid, arch, load_address, path }).map(Value::Binary)
    }

    /// Decodes the attributes of a `<frame>`.
    pub(super) fn frame_attributes(&mut self, fields: &FrameFields<'_>) -> Result<Attributes, Full> {
        let address = fields.address.as_deref().and_then(display_names::parse_hex);
        let name = fields.name.as_deref().filter(|name| !name.is_empty());
        let is_named = name.is_some_and(|name| !is_hex_address(name));
        if name.is_none() {
            self.note_oddity(Oddity::NoFrameName);
        }
        if fields.has_others {
            self.note_oddity(Oddity::Attribute);
        }
        let name = match (name, address) {
            (Some(name), _) => Some(self.recording.function_name(name)?),
            (None, Some(address)) => Some(self.recording.profile.string(&format!("{address:#x}"))?),
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
            self.recording.see_caller(binary, address);
        }
        let function = self.recording.profile.function(name, binary, is_named)?;
        self.recording.add_frame(FrameForm::Listed, function, binary, address, source, is_inlined).map(Value::Frame)
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

    /// Handles a child other than the expected one, `only`.
    fn pass_by<T>(&mut self, child: Value, only: &mut OnlyChild<T>) {
        match child {
            Value::Bad(reason) => only.fail(reason),
            Value::Absent => only.is_absent = true,
            Value::Companion => {}
            _ => self.note_oddity(Oddity::Child),
        }
    }
}

/// A child that occurs at most once.
#[derive(Debug)]
struct OnlyChild<T> {
    value: Option<T>,
    /// True for a `<sentinel/>` instead of the child.
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

    /// Returns the required child; `None` if it is marked as absent.
    fn get(self) -> Result<Option<T>, RejectReason> {
        match self {
            Self { bad: Some(reason), .. } => Err(reason),
            Self { value: None, is_absent: false, .. } => Err(RejectReason::EmptyCell),
            Self { value, .. } => Ok(value),
        }
    }

    /// Returns the optional child.
    fn if_any(self) -> Result<Option<T>, RejectReason> {
        self.bad.map_or(Ok(self.value), Err)
    }
}

/// Returns the value of an element whose text is this number ([`Tag::has_number`]).
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

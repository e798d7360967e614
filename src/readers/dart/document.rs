//! The CPU profiles of an input, as they were written.

use std::io::Read;
use std::ops::Range;

use struson::reader::ValueType;

use super::function::{Function, ROOT};
use crate::error::{Error, ErrorKind, Position};
use crate::hash::HashMap;
use crate::memory::Reservation;
use crate::readers::json::{Json, once};
use crate::recording::{Limits, Options};

/// The two forms of profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `CpuSamples`: each sample lists its functions.
    Samples,
    /// `_CpuProfileTimeline`: each sample has a leaf, and each frame a caller.
    Timeline,
}

/// A sample.
#[derive(Debug, Default)]
pub(super) struct Sample {
    pub(super) byte: u64,
    /// From 1.
    pub(super) line: u64,
    /// Only events have one; the process of a profile applies to its other samples.
    pub(super) pid: Option<u64>,
    pub(super) tid: Option<u64>,
    /// µs, on the clock of the VM.
    pub(super) time: Option<u64>,
    /// Indices in [`Profile::indices`], leaf first; `None` if it has neither a stack nor a leaf.
    pub(super) stack: Option<Range<usize>>,
    pub(super) user_tag: Option<String>,
    /// True if the VM kept only the innermost frames.
    pub(super) is_truncated: bool,
}

/// A CPU profile.
#[derive(Debug)]
pub(super) struct Profile {
    pub(super) form: Form,
    pub(super) pid: Option<u64>,
    /// The requested period, in µs.
    pub(super) period: Option<u64>,
    /// µs, on the clock of the VM.
    pub(super) origin: Option<u64>,
    /// By index. Only frames that samples or other frames refer to can be missing.
    pub(super) functions: Vec<Option<Function>>,
    /// The indices of frames by their identifiers.
    pub(super) frames: HashMap<String, u32>,
    pub(super) indices: Vec<u32>,
    pub(super) samples: Vec<Sample>,
    /// The stated number of samples.
    pub(super) count: Option<u64>,
    /// The end of the profile.
    pub(super) at: Position,
}

/// The members of an object that may be a profile.
#[derive(Debug, Default)]
struct Members {
    kind: Option<String>,
    pid: Option<u64>,
    period: Option<u64>,
    origin: Option<u64>,
    count: Option<u64>,
    functions: Option<Vec<Option<Function>>>,
    frames: HashMap<String, u32>,
    /// By index; `None` until the frame is read.
    of_frames: Vec<Option<Function>>,
    has_frames: bool,
    indices: Vec<u32>,
    samples: Option<Vec<Sample>>,
    /// The largest index of a function in a stack, and its place.
    last: Option<(u32, Position)>,
    /// The place of the first allocation.
    allocation: Option<Position>,
    /// The form of the samples that were read.
    form: Option<Form>,
}

/// Snapshots in snapshots end somewhere.
const MOST_LEVELS: usize = 16;

/// Memory is reserved each time a document has taken this many bytes.
const BYTES_BETWEEN: u64 = 64 << 10;

/// Reads documents.
pub(super) struct Documents {
    limits: Limits,
    /// The memory of the last document, and about how many bytes it takes.
    held: Reservation,
    bytes: u64,
    found: Vec<Profile>,
}

impl Documents {
    pub(super) fn new(options: &Options) -> Self {
        Self { limits: options.limits.clone(), held: options.memory.nothing(), bytes: 0, found: Vec::new() }
    }

    /// Reads one document, and returns its profiles.
    pub(super) fn read<R: Read>(&mut self, json: &mut Json<'_, R>) -> Result<Vec<Profile>, Error> {
        self.bytes = 0;
        self.document(json, 0)?;
        Ok(std::mem::take(&mut self.found))
    }

    /// A profile, or an answer or snapshot that contains one.
    fn document<R: Read>(&mut self, json: &mut Json<'_, R>, level: usize) -> Result<(), Error> {
        if !json.is_next(ValueType::Object)? {
            return json.skip();
        }
        if level > MOST_LEVELS {
            return Err(json.damaged("profiles are nested too deeply"));
        }
        let mut members = Members::default();
        json.begin_object()?;
        while json.has_next()? {
            let key = json.member()?;
            match key.as_str() {
                "type" => once(json, &key, &mut members.kind, Json::scalar)?,
                "result" | "cpu-profiler" | "cpuProfileData" | "cpuProfilerData" => self.document(json, level + 1)?,
                "pid" => once(json, &key, &mut members.pid, Json::number)?,
                "samplePeriod" => once(json, &key, &mut members.period, Json::number)?,
                "timeOriginMicros" => once(json, &key, &mut members.origin, Json::number)?,
                "sampleCount" => once(json, &key, &mut members.count, Json::number)?,
                "functions" => once(json, &key, &mut members.functions, |json| self.functions(json).map(Some))?,
                "stackFrames" => self.frames(json, &mut members)?,
                "samples" => self.samples(json, Form::Samples, &mut members)?,
                "traceEvents" => self.samples(json, Form::Timeline, &mut members)?,
                _ => json.skip()?,
            }
        }
        json.end_object()?;
        self.end(json, members)
    }

    fn functions<R: Read>(&mut self, json: &mut Json<'_, R>) -> Result<Vec<Option<Function>>, Error> {
        let mut functions = Vec::new();
        json.begin_array()?;
        while json.has_next()? {
            let function = Function::read(json)?;
            self.hold(2 * size_of::<Option<Function>>() + function.text_bytes(), json)?;
            functions.push(Some(function));
        }
        json.end_array()?;
        Ok(functions)
    }

    fn frames<R: Read>(&mut self, json: &mut Json<'_, R>, members: &mut Members) -> Result<(), Error> {
        if std::mem::replace(&mut members.has_frames, true) {
            return Err(json.damaged("stackFrames is there twice"));
        }
        json.begin_object()?;
        while json.has_next()? {
            let id = json.member()?;
            let index = self.frame(&id, members, json)?;
            let function = Function::read(json)?;
            self.hold(function.text_bytes(), json)?;
            match members.of_frames.get_mut(index as usize) {
                Some(known @ None) => *known = Some(function),
                _ => return Err(json.damaged(format!("the frame {id} is there twice"))),
            }
        }
        json.end_object()
    }

    /// The index of a frame, which may follow.
    fn frame<R: Read>(&mut self, id: &str, members: &mut Members, json: &Json<'_, R>) -> Result<u32, Error> {
        if let Some(&index) = members.frames.get(id) {
            return Ok(index);
        }
        self.hold(2 * (size_of::<Option<Function>>() + size_of::<(String, u32)>()) + id.len(), json)?;
        let index = u32::try_from(members.of_frames.len()).map_err(|_| json.damaged("there are too many frames"))?;
        members.frames.insert(id.to_owned(), index);
        members.of_frames.push(None);
        Ok(index)
    }

    fn samples<R: Read>(&mut self, json: &mut Json<'_, R>, form: Form, members: &mut Members) -> Result<(), Error> {
        if members.form.replace(form).is_some() {
            return Err(json.damaged("a profile has its samples twice"));
        }
        let mut samples = Vec::new();
        json.begin_array()?;
        while json.has_next()? {
            if let Some(sample) = self.sample(json, form, members)? {
                let tag = sample.user_tag.as_ref().map_or(0, String::len);
                self.hold(2 * size_of::<Sample>() + tag, json)?;
                samples.push(sample);
            }
        }
        members.samples = Some(samples);
        json.end_array()
    }

    /// A sample, or `None` for another event.
    fn sample<R: Read>(
        &mut self,
        json: &mut Json<'_, R>,
        form: Form,
        members: &mut Members,
    ) -> Result<Option<Sample>, Error> {
        let at = json.place();
        let mut sample = Sample { byte: at.byte, line: at.line, ..Sample::default() };
        let (mut phase, mut truncated) = (None, None);
        json.begin_object()?;
        while json.has_next()? {
            let key = json.member()?;
            match (form, key.as_str()) {
                (Form::Timeline, "pid") => once(json, &key, &mut sample.pid, whole)?,
                (_, "tid") => once(json, &key, &mut sample.tid, whole)?,
                (Form::Samples, "timestamp") | (Form::Timeline, "ts") => once(json, &key, &mut sample.time, whole)?,
                (Form::Samples, "stack") => {
                    once(json, &key, &mut sample.stack, |json| self.stack(json, members).map(Some))?;
                }
                (Form::Timeline, "sf") => once(json, &key, &mut sample.stack, |json| self.leaf(json, members))?,
                (Form::Samples, "userTag") => once(json, &key, &mut sample.user_tag, Json::text)?,
                (Form::Timeline, "args") => read_args(json, &mut sample.user_tag)?,
                (Form::Timeline, "ph") => once(json, &key, &mut phase, Json::text)?,
                (Form::Samples, "truncated") => once(json, &key, &mut truncated, Json::boolean)?,
                (Form::Samples, "identityHashCode" | "classId") => {
                    members.allocation.get_or_insert_with(|| at.clone());
                    json.skip()?;
                }
                _ => json.skip()?,
            }
        }
        json.end_object()?;
        sample.is_truncated = truncated.unwrap_or_default();
        sample.user_tag = sample.user_tag.filter(|tag| tag != "Default" && !tag.is_empty());
        Ok(Some(sample).filter(|_| form == Form::Samples || phase.as_deref() == Some("P")))
    }

    fn stack<R: Read>(&mut self, json: &mut Json<'_, R>, members: &mut Members) -> Result<Range<usize>, Error> {
        let start = members.indices.len();
        json.begin_array()?;
        while json.has_next()? {
            let at = json.place();
            let index = json.number()?.and_then(|index| u32::try_from(index).ok());
            let index = index.ok_or_else(|| json.damaged("a stack has something else than indices"))?;
            if members.last.as_ref().is_none_or(|(last, _)| *last < index) {
                members.last = Some((index, at));
            }
            members.indices.push(index);
        }
        json.end_array()?;
        self.hold(2 * size_of::<u32>() * (members.indices.len() - start), json)?;
        Ok(start..members.indices.len())
    }

    fn leaf<R: Read>(&mut self, json: &mut Json<'_, R>, members: &mut Members) -> Result<Option<Range<usize>>, Error> {
        let Some(id) = json.text()? else { return Ok(None) };
        let start = members.indices.len();
        if id != ROOT {
            let index = self.frame(&id, members, json)?;
            members.indices.push(index);
        }
        Ok(Some(start..members.indices.len()))
    }

    /// Keeps the members of an object if it is a profile.
    fn end<R: Read>(&mut self, json: &Json<'_, R>, members: Members) -> Result<(), Error> {
        let form = match members.kind.as_deref() {
            Some("CpuSamples") => Form::Samples,
            Some("_CpuProfileTimeline") => Form::Timeline,
            _ => return Ok(()),
        };
        if let Some(at) = members.allocation {
            return Err(Error::new(ErrorKind::NotAnExport(ALLOCATIONS.to_owned()), Some(at)));
        }
        let Some(samples) = members.samples.filter(|_| members.form == Some(form)) else {
            return Err(json.damaged("a CPU profile has no samples"));
        };
        let functions = match form {
            Form::Samples => members.functions.unwrap_or_default(),
            Form::Timeline => members.of_frames,
        };
        if let Some((last, at)) = members.last.filter(|(last, _)| *last as usize >= functions.len()) {
            let text = format!("a stack has the function {last}, but there are only {}", functions.len());
            return Err(Error::new(ErrorKind::Malformed(text), Some(at)));
        }
        if self.found.len() >= self.limits.tables {
            return Err(json.too_many(self.limits.tables));
        }
        let Members { pid, period, origin, count, frames, indices, .. } = members;
        let at = json.place();
        self.found.push(Profile { form, pid, period, origin, functions, frames, indices, samples, count, at });
        Ok(())
    }

    /// Counts memory of the document.
    fn hold<R: Read>(&mut self, bytes: usize, json: &Json<'_, R>) -> Result<(), Error> {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        if self.bytes.abs_diff(self.held.bytes()) < BYTES_BETWEEN {
            return Ok(());
        }
        self.held.resize(self.bytes).map_err(|over| Error::memory(over, Some(json.place())))
    }
}

const ALLOCATIONS: &str = "this is an allocation trace of Dart: its samples are objects that were allocated, and do not measure CPU use; the memory \
                           page of Dart DevTools shows it";

/// A whole number that is not negative; `None` for anything else.
fn whole<R: Read>(json: &mut Json<'_, R>) -> Result<Option<u64>, Error> {
    if json.is_next(ValueType::Number)? {
        Ok(json.scalar()?.and_then(|text| text.parse().ok()))
    } else {
        json.skip().map(|()| None)
    }
}

/// The arguments of an event.
fn read_args<R: Read>(json: &mut Json<'_, R>, user_tag: &mut Option<String>) -> Result<(), Error> {
    if !json.is_next(ValueType::Object)? {
        return json.skip();
    }
    json.begin_object()?;
    while json.has_next()? {
        match json.member()?.as_str() {
            key @ "userTag" => once(json, key, user_tag, Json::text)?,
            _ => json.skip()?,
        }
    }
    json.end_object()
}

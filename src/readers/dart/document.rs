//! Parses the CPU profiles of an input.

use std::io::Read;
use std::ops::Range;

use struson::reader::ValueType;

use super::function::{Function, ROOT};
use crate::error::{Error, ErrorKind, Position};
use crate::hash::HashMap;
use crate::readers::json::{Held, Json};
use crate::recording::{Options, RejectReason};

/// The two forms of profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `CpuSamples`: each sample lists its functions.
    Samples,
    /// `_CpuProfileTimeline`: each sample has a leaf, and each frame a caller.
    Timeline,
}

#[derive(Debug, Default)]
pub(super) struct Sample {
    pub(super) byte: u64,
    /// Starts at 1.
    pub(super) line: u64,
    /// Only timeline events have a pid; for others, the profile's pid applies.
    pub(super) pid: Option<u64>,
    pub(super) tid: Option<u64>,
    /// In µs, on the VM's clock.
    pub(super) time: Option<u64>,
    /// A range of [`Profile::indices`], leaf first; `None` for a sample with neither a stack nor a leaf.
    stack: Option<Range<usize>>,
    pub(super) user_tag: Option<String>,
    /// True if the VM kept only the innermost frames.
    pub(super) is_truncated: Option<bool>,
    /// `P` for events that are samples.
    phase: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Profile {
    kind: Option<String>,
    /// The form of the samples that were read.
    pub(super) form: Option<Form>,
    pub(super) pid: Option<u64>,
    /// The requested sampling period in µs.
    pub(super) period: Option<u64>,
    /// In µs, on the VM's clock.
    pub(super) origin: Option<u64>,
    /// The number of samples according to the file.
    pub(super) count: Option<u64>,
    /// Indexed by function; `None` for frames that are missing or not read yet.
    pub(super) functions: Vec<Option<Function>>,
    frames: HashMap<String, u32>,
    /// The function indices of all stacks.
    indices: Vec<u32>,
    pub(super) samples: Vec<Sample>,
    /// The position of the first allocation.
    allocation: Option<Position>,
    pub(super) at: Position,
}

impl Profile {
    pub(super) fn function(&self, index: u32) -> Option<&Function> {
        self.functions.get(index as usize)?.as_ref()
    }

    /// The functions that a sample lists, leaf first; `None` if it has neither a stack nor a leaf.
    pub(super) fn listed(&self, sample: &Sample) -> Option<&[u32]> {
        self.indices.get(sample.stack.clone()?)
    }

    /// The caller of a frame; `None` for the outermost.
    pub(super) fn caller(&self, index: u32) -> Result<Option<u32>, RejectReason> {
        let function = self.function(index).ok_or(RejectReason::UndefinedRef)?;
        let caller = function.parent.as_ref().map(|parent| self.frames.get(parent).ok_or(RejectReason::UndefinedRef));
        Ok(caller.transpose()?.copied())
    }
}

/// The maximum depth of nested snapshots.
const MOST_LEVELS: usize = 16;

pub(super) struct Documents {
    most: usize,
    held: Held,
    found: Vec<Profile>,
}

impl Documents {
    pub(super) fn new(options: &Options) -> Self {
        Self { most: options.limits.tables, held: Held::new(options), found: Vec::new() }
    }

    /// Reads one document, and returns its profiles.
    pub(super) fn read<R: Read>(&mut self, json: &mut Json<'_, R>) -> Result<Vec<Profile>, Error> {
        self.held.start();
        self.document(json, 0)?;
        Ok(std::mem::take(&mut self.found))
    }

    /// Reads a profile, or a response or snapshot that contains one.
    fn document<R: Read>(&mut self, json: &mut Json<'_, R>, level: usize) -> Result<(), Error> {
        if !json.is_next(ValueType::Object)? {
            return json.skip();
        }
        if level > MOST_LEVELS {
            return Err(json.damaged("profiles are nested too deeply"));
        }
        let mut profile = Profile::default();
        json.begin_object()?;
        while json.has_next()? {
            let key = json.member()?;
            match key.as_str() {
                "type" => profile.kind = Json::scalar(json)?,
                "result" | "cpu-profiler" | "cpuProfileData" | "cpuProfilerData" => self.document(json, level + 1)?,
                "pid" => profile.pid = Json::number(json)?,
                "samplePeriod" => profile.period = Json::number(json)?,
                "timeOriginMicros" => profile.origin = Json::number(json)?,
                "sampleCount" => profile.count = Json::number(json)?,
                "functions" => self.functions(json, &mut profile)?,
                "stackFrames" => self.frames(json, &mut profile)?,
                "samples" => self.samples(json, Form::Samples, &mut profile)?,
                "traceEvents" => self.samples(json, Form::Timeline, &mut profile)?,
                _ => json.skip()?,
            }
        }
        json.end_object()?;
        self.end(json, profile)
    }

    fn functions<R: Read>(&mut self, json: &mut Json<'_, R>, profile: &mut Profile) -> Result<(), Error> {
        if !profile.functions.is_empty() {
            return Err(json.damaged("a profile has its functions twice"));
        }
        json.begin_array()?;
        while json.has_next()? {
            let function = Function::read(json)?;
            self.held.add(2 * size_of::<Option<Function>>() + function.text_bytes(), json)?;
            profile.functions.push(Some(function));
        }
        json.end_array()
    }

    fn frames<R: Read>(&mut self, json: &mut Json<'_, R>, profile: &mut Profile) -> Result<(), Error> {
        json.begin_object()?;
        while json.has_next()? {
            let id = json.member()?;
            let index = self.frame(&id, profile, json)?;
            let function = Function::read(json)?;
            self.held.add(function.text_bytes(), json)?;
            profile.functions[index as usize] = Some(function);
        }
        json.end_object()
    }

    /// Returns the index of a frame, which may not be defined yet.
    fn frame<R: Read>(&mut self, id: &str, profile: &mut Profile, json: &Json<'_, R>) -> Result<u32, Error> {
        if let Some(&index) = profile.frames.get(id) {
            return Ok(index);
        }
        self.held.add(2 * (size_of::<Option<Function>>() + size_of::<(String, u32)>()) + id.len(), json)?;
        let index = u32::try_from(profile.functions.len()).map_err(|_| json.damaged("there are too many frames"))?;
        profile.frames.insert(id.to_owned(), index);
        profile.functions.push(None);
        Ok(index)
    }

    fn samples<R: Read>(&mut self, json: &mut Json<'_, R>, form: Form, profile: &mut Profile) -> Result<(), Error> {
        if profile.form.replace(form).is_some() {
            return Err(json.damaged("a profile has its samples twice"));
        }
        json.begin_array()?;
        while json.has_next()? {
            let mut sample = self.sample(json, form, profile)?;
            let tag = sample.user_tag.as_ref().map_or(0, String::len);
            self.held.add(2 * size_of::<Sample>() + tag, json)?;
            if form == Form::Samples || sample.phase.take().as_deref() == Some("P") {
                profile.samples.push(sample);
            }
        }
        json.end_array()
    }

    fn sample<R: Read>(&mut self, json: &mut Json<'_, R>, form: Form, profile: &mut Profile) -> Result<Sample, Error> {
        let at = json.place();
        let mut sample = Sample { byte: at.byte, line: at.line, ..Sample::default() };
        json.begin_object()?;
        while json.has_next()? {
            let key = json.member()?;
            match (form, key.as_str()) {
                (Form::Timeline, "pid") => sample.pid = whole(json)?,
                (_, "tid") => sample.tid = whole(json)?,
                (Form::Samples, "timestamp") | (Form::Timeline, "ts") => sample.time = whole(json)?,
                (Form::Samples, "stack") => sample.stack = self.indices(json, &mut profile.indices)?,
                (Form::Timeline, "sf") => sample.stack = self.leaf(json, profile)?,
                (Form::Samples, "userTag") => sample.user_tag = Json::text(json)?,
                (Form::Timeline, "args") => json.leaves(&mut Vec::new(), |path, value, _| {
                    if path == ["userTag"] {
                        sample.user_tag = Some(value);
                    }
                    Ok(())
                })?,
                (Form::Timeline, "ph") => sample.phase = Json::text(json)?,
                (Form::Samples, "truncated") => sample.is_truncated = Json::boolean(json)?,
                (Form::Samples, "identityHashCode" | "classId") => {
                    profile.allocation.get_or_insert_with(|| at.clone());
                    json.skip()?;
                }
                _ => json.skip()?,
            }
        }
        json.end_object()?;
        sample.user_tag = sample.user_tag.filter(|tag| tag != "Default" && !tag.is_empty());
        Ok(sample)
    }

    fn indices<R: Read>(&mut self, json: &mut Json<'_, R>, all: &mut Vec<u32>) -> Result<Option<Range<usize>>, Error> {
        let start = all.len();
        json.begin_array()?;
        while json.has_next()? {
            let index = json.number()?.and_then(|index| u32::try_from(index).ok());
            all.push(index.ok_or_else(|| json.damaged("a stack contains something other than indices"))?);
            self.held.add(2 * size_of::<u32>(), json)?;
        }
        json.end_array()?;
        Ok(Some(start..all.len()))
    }

    fn leaf<R: Read>(&mut self, json: &mut Json<'_, R>, profile: &mut Profile) -> Result<Option<Range<usize>>, Error> {
        let Some(id) = json.text()? else { return Ok(None) };
        let start = profile.indices.len();
        if id != ROOT {
            let index = self.frame(&id, profile, json)?;
            profile.indices.push(index);
        }
        Ok(Some(start..profile.indices.len()))
    }

    /// Keeps the object that was just read if it is a profile.
    fn end<R: Read>(&mut self, json: &Json<'_, R>, profile: Profile) -> Result<(), Error> {
        let form = match profile.kind.as_deref() {
            Some("CpuSamples") => Form::Samples,
            Some("_CpuProfileTimeline") => Form::Timeline,
            _ => return Ok(()),
        };
        if let Some(at) = profile.allocation {
            return Err(Error::new(ErrorKind::NotAnExport(ALLOCATIONS.to_owned()), Some(at)));
        }
        if profile.form != Some(form) {
            return Err(json.damaged("a CPU profile has no samples"));
        }
        if form == Form::Samples && !profile.frames.is_empty() {
            return Err(json.damaged("a CPU profile has both functions and frames"));
        }
        let count = profile.functions.len();
        let missing = |sample: &Sample| {
            profile.listed(sample).unwrap_or_default().iter().copied().find(|&index| index as usize >= count)
        };
        if let Some((sample, index)) = profile.samples.iter().find_map(|sample| Some((sample, missing(sample)?))) {
            let text = format!("a stack has the function {index}, but there are only {count}");
            let at = Position { line: sample.line, byte: sample.byte, ..json.place() };
            return Err(Error::new(ErrorKind::Malformed(text), Some(at)));
        }
        if self.found.len() >= self.most {
            return Err(json.too_many(self.most));
        }
        self.found.push(Profile { at: json.place(), ..profile });
        Ok(())
    }
}

const ALLOCATIONS: &str = "this is a Dart allocation trace: its samples are objects that were allocated, and do not measure CPU use; the memory \
                           page in Dart DevTools shows it";

/// Reads a non-negative integer; `None` for anything else.
fn whole<R: Read>(json: &mut Json<'_, R>) -> Result<Option<u64>, Error> {
    let is_number = json.is_next(ValueType::Number)?;
    Ok(json.scalar()?.filter(|_| is_number).and_then(|text| text.parse().ok()))
}

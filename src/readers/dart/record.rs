//! A CPU profile becomes a document of a recording.

use std::collections::hash_map::Entry;

use super::document::{Form, Profile, Sample};
use super::function::Function;
use crate::error::{Diagnostic, Error, ErrorKind, Position};
use crate::hash::HashMap;
use crate::memory::of_vec;
use crate::profile::{Binary, FrameId, Full, SampleKind, SourceLine, StackId, StringId};
use crate::recording::{
    FrameKind, InputBuilder, RecordingBuilder, RejectReason, Row, Table, TableKind, Toc, TocProcess, TocRun,
};
use crate::units::{Address, Nanos, Unit};

/// The memory of the recording is reserved each time it has this many more rows.
const ROWS_BETWEEN: usize = 1 << 12;

/// Adds a profile, the run with this number of its input.
///
/// # Errors
/// If the profile has another number of samples than it states, or the recording is full.
pub(super) fn add(profile: &Profile, number: u32, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
    let place = |sample: &Sample| Position { input: name.to_owned(), line: sample.line, byte: sample.byte };
    let missing = missing(profile)?;
    let mut input = recording.input(name)?;
    missing.into_iter().chain(other_ticks(profile)).for_each(|noted| input.note(noted));
    let table = Table { run: number, schema: Some("cpu-samples".to_owned()), kind: TableKind::Cpu, ..Table::default() };
    input.start_table(table, name.to_owned());
    let full = |full: Full, at| Error::new(ErrorKind::Limit(full.to_string()), Some(at));
    let functions = profile.functions.len();
    let first = profile.samples.iter().filter_map(|sample| sample.time).min();
    let mut writer = Writer {
        profile,
        origin: profile.origin.or(first).unwrap_or_default(),
        threads: HashMap::default(),
        frames: vec![None; functions],
        stacks: vec![None; functions],
        input,
    };
    for (index, sample) in profile.samples.iter().enumerate() {
        writer.add(sample).map_err(|error| full(error, place(sample)))?;
        if index % ROWS_BETWEEN == 0 {
            let reserved = writer.input.recording.reserve(writer.tag_bytes());
            reserved.map_err(|over| Error::memory(over, Some(place(sample))))?;
        }
    }
    writer.label_threads();
    writer.input.locate_rejected(|byte| {
        let index = profile.samples.partition_point(|sample| sample.byte < byte);
        profile.samples.get(index).map_or(0, |sample| sample.line)
    });
    writer.input.finish(contents(profile, number));
    recording.reserve(0).map_err(|over| Error::memory(over, Some(profile.at.clone())))
}

/// Adds the samples of a profile.
struct Writer<'p, 'i> {
    profile: &'p Profile,
    /// The start of the recording in µs, on the clock of the VM.
    origin: u64,
    /// By the numbers of process and thread.
    threads: HashMap<[Option<u64>; 2], Thread>,
    /// By function.
    frames: Vec<Option<FrameId>>,
    /// By frame with callers.
    stacks: Vec<Option<Known>>,
    input: InputBuilder<'i>,
}

/// A thread with the user tags of its samples.
struct Thread {
    id: u32,
    tags: Vec<(Nanos, Option<StringId>)>,
}

/// The stack that ends in a frame, with its depth; or the reason why its samples are rejected.
type Known = Result<(StackId, usize), RejectReason>;

impl<'p> Writer<'p, '_> {
    fn add(&mut self, sample: &Sample) -> Result<(), Full> {
        let row = self.row(sample)?;
        self.input.add_row(row, sample.byte)?.ok();
        Ok(())
    }

    fn row(&mut self, sample: &Sample) -> Result<Result<Row, RejectReason>, Full> {
        let time = match sample.time.map(|time| time.checked_sub(self.origin)) {
            None => return Ok(Err(RejectReason::NoTime)),
            Some(time) => time.and_then(|micros| micros.checked_mul(1_000)),
        };
        let Some(time) = time.map(Nanos::from_nanos) else { return Ok(Err(RejectReason::BadNumber)) };
        let stack = match self.stack(sample)? {
            Ok(stack) => stack,
            Err(reason) => return Ok(Err(reason)),
        };
        let numbers = [sample.pid.or(self.profile.pid), sample.tid];
        let tag = sample.user_tag.as_ref().map(|tag| self.input.string(tag)).transpose()?;
        let thread = self.thread(numbers)?;
        thread.tags.push((time, tag));
        let thread = Some(thread.id);
        Ok(Ok(Row {
            time,
            weight: 1,
            unit: Unit::Samples,
            thread,
            process: None,
            core: None,
            state: None,
            stack,
            kernel_stack: None,
            kind: SampleKind::Periodic,
            counters: None,
        }))
    }

    fn thread(&mut self, numbers: [Option<u64>; 2]) -> Result<&mut Thread, Full> {
        if let Entry::Vacant(place) = self.threads.entry(numbers) {
            let [pid, tid] = numbers;
            let process = self.input.process(pid, "")?;
            place.insert(Thread { id: self.input.thread(tid, Some(process), "")?, tags: Vec::new() });
        }
        self.threads.get_mut(&numbers).ok_or(Full)
    }

    fn tag_bytes(&self) -> u64 {
        self.threads.values().map(|thread| of_vec(&thread.tags)).sum()
    }

    /// Labels the samples of each thread with their user tags.
    fn label_threads(&mut self) {
        let mut others = 0;
        for Thread { id, tags } in self.threads.values_mut() {
            let mut tags = std::mem::take(tags);
            if tags.iter().all(|(_, tag)| tag.is_none()) {
                continue;
            }
            tags.sort_by_key(|&(time, _)| time);
            tags.dedup();
            // A label is found by its time.
            let distinct = tags.len();
            tags.dedup_by_key(|&mut (time, _)| time);
            others += (distinct - tags.len()) as u64;
            tags.dedup_by_key(|&mut (_, tag)| tag);
            self.input.label_thread(*id, tags);
        }
        if others > 0 {
            let message =
                "samples have the time of another sample of their thread, and another user tag; the first tag counts";
            let at = Some(self.profile.at.clone());
            self.input.note(Diagnostic { at, message: message.to_owned(), count: others });
        }
    }

    fn stack(&mut self, sample: &Sample) -> Result<Result<Option<StackId>, RejectReason>, Full> {
        let Some(range) = sample.stack.clone() else { return Ok(Err(RejectReason::EmptyCell)) };
        let indices = self.profile.indices.get(range).unwrap_or_default();
        match (self.profile.form, indices) {
            (Form::Timeline, &[leaf]) => Ok(self.stack_of_leaf(leaf)?.map(|(stack, _)| Some(stack))),
            _ => self.stack_of_list(indices, sample.is_truncated),
        }
    }

    fn stack_of_list(
        &mut self,
        indices: &[u32],
        is_truncated: bool,
    ) -> Result<Result<Option<StackId>, RejectReason>, Full> {
        if indices.len() > self.input.limits().stack_depth {
            return Ok(Err(RejectReason::StackTooDeep));
        }
        let mut leaf_first = Vec::with_capacity(indices.len() + 1);
        for &index in indices {
            leaf_first.extend(self.frame(index)?);
        }
        if is_truncated {
            leaf_first.push(self.input.named_frame((FrameKind::RawLeaf, 0), None, TRUNCATED, None)?);
        }
        self.input.stack(None, &leaf_first).map(Ok)
    }

    /// The stack that ends in a frame and its callers, found from the leaf to the first known one, and made from there to the leaf.
    fn stack_of_leaf(&mut self, leaf: u32) -> Result<Known, Full> {
        let limit = self.input.limits().stack_depth;
        let (mut path, mut next) = (Vec::new(), Some(leaf));
        let mut known = Ok(None);
        while let Some(index) = next {
            if let Some(found) = self.stacks.get(index as usize).copied().flatten() {
                known = found.map(Some);
                break;
            }
            let Some(Some(function)) = self.profile.functions.get(index as usize) else {
                known = Err(RejectReason::UndefinedRef);
                break;
            };
            path.push(index);
            if path.len() > self.profile.functions.len() {
                // Frames call each other.
                known = Err(RejectReason::UnknownStack);
                break;
            }
            next = match &function.parent {
                Some(parent) => Some(self.profile.frames.get(parent).copied().unwrap_or(u32::MAX)),
                None => None,
            };
        }
        for &index in path.iter().rev() {
            known = match known {
                Ok(Some((_, depth))) if depth >= limit => Err(RejectReason::StackTooDeep),
                Ok(callers) => {
                    let frame: Vec<FrameId> = self.frame(index)?.into_iter().collect();
                    let stack = self.input.stack(callers.map(|(stack, _)| stack), &frame)?;
                    Ok(stack.map(|stack| (stack, callers.map_or(0, |(_, depth)| depth) + 1)))
                }
                Err(reason) => Err(reason),
            };
            if let (Some(place), Some(found)) = (self.stacks.get_mut(index as usize), known.transpose()) {
                *place = Some(found);
            }
        }
        Ok(known.transpose().unwrap_or(Err(RejectReason::UndefinedRef)))
    }

    /// The frame of a function; `None` for a tag.
    fn frame(&mut self, index: u32) -> Result<Option<FrameId>, Full> {
        let place = index as usize;
        let Some(Some(function)) = self.profile.functions.get(place) else { return Ok(None) };
        if function.is_tag() {
            return Ok(None);
        }
        if let Some(known) = self.frames.get(place).copied().flatten() {
            return Ok(Some(known));
        }
        let frame = self.new_frame(function)?;
        if let Some(known) = self.frames.get_mut(place) {
            *known = Some(frame);
        }
        Ok(Some(frame))
    }

    fn new_frame(&mut self, function: &'p Function) -> Result<FrameId, Full> {
        let input = &mut self.input;
        let binary = match function.binary() {
            Some((name, path)) => {
                let (name, path) = (input.string(name)?, input.string(&path)?);
                Some(input.binary(Binary { name, uuid: None, arch: None, load_address: Address::new(0), path })?)
            }
            None => None,
        };
        let source = match function.line.filter(|_| !function.url.is_empty()) {
            Some(line) => Some(SourceLine { path: input.string(&function.url)?, line }),
            None => None,
        };
        input.named_frame((FrameKind::RawLeaf, 0), binary, &function.name, source)
    }
}

/// The root of a stack whose outer frames are missing.
const TRUNCATED: &str = "<truncated backtrace>";

/// A word about samples that are not in the profile.
fn missing(profile: &Profile) -> Result<Option<Diagnostic>, Error> {
    let rows = profile.samples.len() as u64;
    let Some(count) = profile.count.filter(|&count| count != rows) else { return Ok(None) };
    match (profile.form, count.checked_sub(rows)) {
        // DevTools leaves out samples without a stack.
        (Form::Timeline, Some(count)) => {
            let message = "samples are missing: DevTools leaves out samples without a stack".to_owned();
            Ok(Some(Diagnostic { at: Some(profile.at.clone()), message, count }))
        }
        _ => {
            let text = format!("the profile has {rows} samples, and sampleCount is {count}; was it edited?");
            Err(Error::new(ErrorKind::Malformed(text), Some(profile.at.clone())))
        }
    }
}

/// A word about functions whose numbers of samples differ from the samples. Stubs and tags often differ in correct profiles.
fn other_ticks(profile: &Profile) -> Option<Diagnostic> {
    let mut found = vec![[0_u64; 2]; profile.functions.len()];
    let mut last_seen = vec![usize::MAX; profile.functions.len()];
    for (number, sample) in profile.samples.iter().enumerate() {
        let indices = sample.stack.clone().and_then(|range| profile.indices.get(range)).unwrap_or_default();
        for (position, &index) in indices.iter().enumerate() {
            let index = index as usize;
            let (Some([inclusive, exclusive]), Some(seen)) = (found.get_mut(index), last_seen.get_mut(index)) else {
                continue;
            };
            *inclusive += u64::from(*seen != number);
            *exclusive += u64::from(position == 0);
            *seen = number;
        }
    }
    let of_code =
        profile.functions.iter().zip(&found).filter_map(|(function, found)| Some((function.as_ref()?, found)));
    let differs = |(function, found): &(&Function, &[u64; 2])| {
        !matches!(function.kind.as_str(), "Stub" | "Tag")
            && function.ticks.iter().zip(*found).any(|(stated, found)| stated.is_some_and(|stated| stated != *found))
    };
    let count = of_code.filter(differs).count() as u64;
    let message = "functions have other inclusiveTicks or exclusiveTicks than the samples show: the VM leaves some stubs out of stacks, or the \
         profile was edited";
    (count > 0).then(|| Diagnostic { at: Some(profile.at.clone()), message: message.to_owned(), count })
}

/// The process, and the requested period.
fn contents(profile: &Profile, number: u32) -> Toc {
    let pair = |key: &str, value: String| (key.to_owned(), value);
    let run = TocRun {
        number,
        process: profile.pid.map(|pid| pair("pid", pid.to_string())).into_iter().collect(),
        summary: profile.period.map(|period| pair("sample-period", format!("{period} µs"))).into_iter().collect(),
        processes: vec![TocProcess { name: String::new(), pid: profile.pid, path: String::new() }],
        ..TocRun::default()
    };
    Toc { runs: vec![run] }
}

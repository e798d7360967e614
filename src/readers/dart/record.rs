//! Converts a CPU profile to a document of a recording.

use std::collections::hash_map::Entry;

use super::document::{Form, Profile, Sample};
use super::function::Function;
use crate::error::{Diagnostic, Error, ErrorKind, Position};
use crate::hash::HashMap;
use crate::profile::{Binary, FrameId, Full, SampleKind, SourceLine, StackId, StringId};
use crate::recording::{
    FrameKind, InputBuilder, RecordingBuilder, RejectReason, Row, Table, TableKind, Toc, TocProcess, TocRun,
};
use crate::units::{Address, Nanos, Unit};

/// Memory is reserved once per this many rows.
const ROWS_BETWEEN: usize = 1 << 12;

/// Adds a profile as run `number` of its input.
///
/// # Errors
/// If the number of samples contradicts `sampleCount`, or the recording is full.
pub(super) fn add(profile: &Profile, number: u32, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
    let missing = missing(profile)?;
    let mut input = recording.input(name)?;
    missing.into_iter().chain(other_ticks(profile)).for_each(|noted| input.note(noted));
    let table = Table { run: number, schema: Some("cpu-samples".to_owned()), kind: TableKind::Cpu, ..Table::default() };
    input.start_table(table, name.to_owned());
    let first = profile.samples.iter().filter_map(|sample| sample.time).min();
    let origin = profile.origin.or(first).unwrap_or_default();
    let (threads, frames, stacks) = Default::default();
    let mut writer = Writer { profile, origin, threads, frames, stacks, input };
    for (index, sample) in profile.samples.iter().enumerate() {
        let place = || Some(Position { input: name.to_owned(), line: sample.line, byte: sample.byte });
        writer.add(sample).map_err(|full| Error::new(ErrorKind::Limit(full.to_string()), place()))?;
        if index % ROWS_BETWEEN == 0 {
            let of_tags = 2 * index * size_of::<(Nanos, Option<StringId>)>();
            writer.input.recording.reserve(of_tags as u64).map_err(|over| Error::memory(over, place()))?;
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

/// A stack and its depth, or why it cannot be read.
type ReadStack = Result<(Option<StackId>, usize), RejectReason>;

/// Adds the samples of a profile.
struct Writer<'p, 'i> {
    profile: &'p Profile,
    /// The start of the recording in µs, on the VM's clock.
    origin: u64,
    /// Keyed by pid and tid.
    threads: HashMap<[Option<u64>; 2], Thread>,
    /// Keyed by function.
    frames: HashMap<u32, FrameId>,
    /// The stacks of a timeline, keyed by their leaf.
    stacks: HashMap<u32, ReadStack>,
    input: InputBuilder<'i>,
}

/// A thread, with the user tags of its samples.
struct Thread {
    id: u32,
    tags: Vec<(Nanos, Option<StringId>)>,
}

impl Writer<'_, '_> {
    fn add(&mut self, sample: &Sample) -> Result<(), Full> {
        let row = match (self.time(sample), self.stack(sample)?) {
            (Ok(time), Ok((stack, _))) => Ok(self.row(sample, time, stack)?),
            (Err(reason), _) | (_, Err(reason)) => Err(reason),
        };
        self.input.add_row(row, sample.byte)?.ok();
        Ok(())
    }

    fn time(&self, sample: &Sample) -> Result<Nanos, RejectReason> {
        let since_start = sample.time.ok_or(RejectReason::NoTime)?.checked_sub(self.origin);
        let nanos = since_start.and_then(|micros| micros.checked_mul(1_000)).ok_or(RejectReason::BadNumber)?;
        Ok(Nanos::from_nanos(nanos))
    }

    fn stack(&mut self, sample: &Sample) -> Result<ReadStack, Full> {
        let Some(listed) = self.profile.listed(sample) else { return Ok(Err(RejectReason::EmptyCell)) };
        match (self.profile.form, listed) {
            (Some(Form::Timeline), [leaf]) => return self.stack_of(*leaf),
            _ if listed.len() > self.input.limits().stack_depth => return Ok(Err(RejectReason::StackTooDeep)),
            _ => {}
        }
        let mut leaf_first = Vec::with_capacity(listed.len() + 1);
        for &index in listed {
            leaf_first.extend(self.frame(index)?);
        }
        if sample.is_truncated == Some(true) {
            leaf_first.push(self.input.named_frame((FrameKind::RawLeaf, 0), None, TRUNCATED, None)?);
        }
        Ok(Ok((self.input.stack(None, &leaf_first)?, leaf_first.len())))
    }

    /// Returns the stack of a frame and its callers. Each frame is resolved only once, since a sample of a few bytes can have a long chain of
    /// callers.
    fn stack_of(&mut self, leaf: u32) -> Result<ReadStack, Full> {
        let (mut path, mut next, mut stack) = (Vec::new(), Ok(Some(leaf)), Ok((None, 0)));
        while let Ok(Some(index)) = next {
            if let Some(&known) = self.stacks.get(&index) {
                stack = known;
                break;
            }
            // Breaks cycles of frames that call each other.
            self.stacks.insert(index, Err(RejectReason::StackTooDeep));
            path.push(index);
            next = self.profile.caller(index);
        }
        stack = next.and(stack);
        let frames = path.iter().map(|&index| self.frame(index)).collect::<Result<Vec<_>, _>>()?;
        for (index, frame) in path.into_iter().zip(frames).rev() {
            stack = match stack {
                Ok((_, depth)) if depth >= self.input.limits().stack_depth => Err(RejectReason::StackTooDeep),
                Ok((callers, depth)) => Ok((self.input.stack(callers, frame.as_slice())?, depth + 1)),
                Err(reason) => Err(reason),
            };
            self.stacks.insert(index, stack);
        }
        Ok(stack)
    }

    fn row(&mut self, sample: &Sample, time: Nanos, stack: Option<StackId>) -> Result<Row, Full> {
        let tag = sample.user_tag.as_ref().map(|tag| self.input.string(tag)).transpose()?;
        let thread = self.thread([sample.pid.or(self.profile.pid), sample.tid])?;
        thread.tags.push((time, tag));
        Ok(Row {
            time,
            weight: 1,
            unit: Unit::Samples,
            thread: Some(thread.id),
            process: None,
            core: None,
            state: None,
            stack,
            kernel_stack: None,
            kind: SampleKind::Periodic,
            counters: None,
        })
    }

    fn thread(&mut self, numbers: [Option<u64>; 2]) -> Result<&mut Thread, Full> {
        match self.threads.entry(numbers) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let [pid, tid] = numbers;
                let process = self.input.process(pid, "")?;
                Ok(place.insert(Thread { id: self.input.thread(tid, Some(process), "")?, tags: Vec::new() }))
            }
        }
    }

    /// Labels the samples of each thread with their user tags.
    fn label_threads(&mut self) {
        let mut others = 0;
        for Thread { id, mut tags } in std::mem::take(&mut self.threads).into_values() {
            if tags.iter().all(|(_, tag)| tag.is_none()) {
                continue;
            }
            tags.sort_by_key(|&(time, _)| time);
            tags.dedup();
            // Labels are looked up by time, so only one can be kept for each time.
            let distinct = tags.len();
            tags.dedup_by_key(|&mut (time, _)| time);
            others += (distinct - tags.len()) as u64;
            tags.dedup_by_key(|&mut (_, tag)| tag);
            self.input.label_thread(id, tags);
        }
        let message = "several samples of a thread have the same time, but different user tags; the first tag is used";
        self.profile.noted(message, others).into_iter().for_each(|noted| self.input.note(noted));
    }

    /// Returns the frame of a function; `None` for a tag.
    fn frame(&mut self, index: u32) -> Result<Option<FrameId>, Full> {
        let Some(function) = self.profile.function(index).filter(|function| function.kind != "Tag") else {
            return Ok(None);
        };
        if let Some(&known) = self.frames.get(&index) {
            return Ok(Some(known));
        }
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
        let frame = input.named_frame((FrameKind::RawLeaf, 0), binary, &function.name, source)?;
        self.frames.insert(index, frame);
        Ok(Some(frame))
    }
}

impl Profile {
    /// Returns a diagnostic that applies to this many samples or functions; `None` if there are none.
    fn noted(&self, message: &str, count: u64) -> Option<Diagnostic> {
        (count > 0).then(|| Diagnostic { at: Some(self.at.clone()), message: message.to_owned(), count })
    }
}

/// The root of a stack whose outer frames are missing.
const TRUNCATED: &str = "<truncated backtrace>";

/// Returns a diagnostic if the profile lacks samples.
fn missing(profile: &Profile) -> Result<Option<Diagnostic>, Error> {
    let rows = profile.samples.len() as u64;
    let count = profile.count.unwrap_or(rows);
    if count < rows || (count > rows && profile.form != Some(Form::Timeline)) {
        let text = format!("the profile has {rows} samples, and sampleCount is {count}; was it edited?");
        return Err(Error::new(ErrorKind::Malformed(text), Some(profile.at.clone())));
    }
    Ok(profile.noted("samples are missing: DevTools leaves out samples without a stack", count - rows))
}

/// Returns a diagnostic if the sample counts of functions contradict the samples. Ignores stubs and tags, whose counts often differ even in
/// correct profiles.
fn other_ticks(profile: &Profile) -> Option<Diagnostic> {
    let mut found = vec![([0_u64; 2], usize::MAX); profile.functions.len()];
    for (number, sample) in profile.samples.iter().enumerate() {
        for (position, &index) in profile.listed(sample).unwrap_or_default().iter().enumerate() {
            if let Some(([inclusive, exclusive], last)) = found.get_mut(index as usize) {
                *inclusive += u64::from(*last != number);
                *exclusive += u64::from(position == 0);
                *last = number;
            }
        }
    }
    let differs = |(function, (found, _)): &(&Option<Function>, &([u64; 2], usize))| {
        let function = function.as_ref().filter(|function| !matches!(function.kind.as_str(), "Stub" | "Tag"));
        let mut stated = function.iter().flat_map(|function| function.ticks).zip(found);
        stated.any(|(stated, found)| stated.is_some_and(|stated| stated != *found))
    };
    let count = profile.functions.iter().zip(&found).filter(differs).count() as u64;
    let message = "inclusiveTicks or exclusiveTicks of functions differ from the samples: the VM leaves some stubs out of stacks, or \
                   the profile was edited";
    profile.noted(message, count)
}

/// The process, and the requested sampling period.
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

//! The native format of [speedscope](https://www.speedscope.app), `file-format-schema.json` version 0.0.1.
//!
//! ```json
//! {"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"traceparse","name":"Orchard",
//! "activeProfileIndex":0,
//! "shared":{"frames":[{"name":"main","file":"/src/main.swift","line":7},{"name":"press"}]},
//! "profiles":[{"type":"sampled","name":"Orchard (4150), Main Thread (0x2a101)","unit":"nanoseconds",
//! "startValue":0,"endValue":2000000,
//! "samples":[[0],[0,1]],
//! "weights":[1000000,1000000]}]}
//! ```
//!
//! There is one profile for each thread of each series. A frame is a function, so speedscope aggregates by function, like all other formats.
//! `docs/formats.md` describes every field. Output is streamed: only the positions of samples are kept, 8 bytes each.

use std::io::{self, Write};

use super::by_thread::{ThreadSamples, file_title, heaviest, samples_by_thread, series_labels, thread_title};
use super::byte_writer::{ByteWriter, FunctionTexts, Put, StackText, push_number};
use crate::hash::{HashMap, IndexSet};
use crate::profile::{FunctionId, Profile, SourceLine, Stack};
use crate::report::{NO_STACK, Report};
use crate::units::Unit;

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// Writes the selected samples, from which trees are made, regardless of the view. Pruning and
/// [`separate_by`](crate::report::ReportOptions::separate_by) have no effect.
///
/// # Errors
/// If `out` fails, or samples were summed while reading.
pub(crate) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let threads = samples_by_thread(report)?;
    let frames = Frames::new(profile, &threads);
    let labels = series_labels(report);
    let mut writer = ByteWriter::new(out);
    head(report, &threads, &mut writer);
    frames.write(profile, &mut writer)?;
    writer.put(b"]},\n\"profiles\":[");
    for (index, thread) in threads.iter().enumerate() {
        writer.put(if index == 0 { b"\n" } else { b",\n" });
        let label = report.position(thread.series).and_then(|position| labels[position].as_deref());
        write_profile(report, thread, label, &frames, &mut writer)?;
    }
    writer.put(b"]}\n");
    writer.finish()
}

/// Writes everything before the frames.
fn head(report: &Report<'_>, threads: &[ThreadSamples<'_>], writer: &mut ByteWriter<'_>) {
    writer.put(b"{\"$schema\":").put_text(Some(SCHEMA));
    writer.put(b",\"exporter\":").put_text(Some("traceparse"));
    writer.put(b",\"name\":").put_text(Some(file_title(report, threads)));
    writer.put(b",\n\"activeProfileIndex\":").put_number(heaviest(report, threads).unwrap_or(0) as u64);
    writer.put(b",\n\"shared\":{\"frames\":[");
}

/// The functions in the stacks of samples.
struct Frames {
    functions: IndexSet<FunctionId>,
    /// By function: the digits of its index in `functions`.
    indices: FunctionTexts,
    /// The index of [`NO_STACK`], if a sample needs it.
    no_stack: Option<usize>,
    sources: HashMap<FunctionId, SourceLine>,
}

impl Frames {
    fn new(profile: &Profile, threads: &[ThreadSamples<'_>]) -> Self {
        let mut functions = IndexSet::default();
        let mut is_seen = vec![false; profile.stack_ids().len()];
        let mut sources: HashMap<FunctionId, SourceLine> = HashMap::default();
        let mut needs_no_stack = false;
        for sample in threads.iter().flat_map(|thread| &thread.samples) {
            needs_no_stack |= sample.stack.is_none();
            let mut next = sample.stack;
            while let Some(id) = next.filter(|id| !is_seen[id.index()]) {
                is_seen[id.index()] = true;
                let stack = profile.stack(id);
                let frame = profile.frame(stack.frame);
                functions.insert(frame.function);
                if let Some(line) = frame.source {
                    sources.entry(frame.function).and_modify(|first| *first = earlier(*first, line)).or_insert(line);
                }
                next = stack.parent;
            }
        }
        let indices = FunctionTexts::new(profile, |id, out| {
            if let Some(index) = functions.get_index_of(&id) {
                push_number(index as u64, out);
            }
        });
        let no_stack = needs_no_stack.then_some(functions.len());
        Self { functions, indices, no_stack, sources }
    }

    fn write(&self, profile: &Profile, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        for (index, &function) in self.functions.iter().enumerate() {
            writer.put(if index == 0 { b"\n{\"name\":" } else { b",\n{\"name\":" });
            writer.put_text(Some(profile.function_name(function)));
            let source = self.sources.get(&function);
            let binary = profile.function(function).binary.map(|id| profile.binary(id).path);
            let path = source.map(|source| source.path).or(binary).map_or("", |path| profile.string(path));
            if !path.is_empty() {
                writer.put(b",\"file\":").put_text(Some(path));
            }
            if let Some(source) = source.filter(|source| source.line > 0) {
                writer.put(b",\"line\":").put_number(source.line.into());
            }
            writer.put(b"}");
            writer.flush_if_full()?;
        }
        if let Some(index) = self.no_stack {
            writer.put(if index == 0 { b"\n{\"name\":" } else { b",\n{\"name\":" });
            writer.put_text(Some(NO_STACK));
            writer.put(b"}");
        }
        Ok(())
    }
}

/// Returns the earlier of two lines in one file. A line in another file comes from an inlined macro and is ignored.
fn earlier(first: SourceLine, other: SourceLine) -> SourceLine {
    let is_earlier = other.path == first.path && other.line > 0 && (first.line == 0 || other.line < first.line);
    if is_earlier { other } else { first }
}

fn write_profile(
    report: &Report<'_>,
    thread: &ThreadSamples<'_>,
    label: Option<&str>,
    frames: &Frames,
    writer: &mut ByteWriter<'_>,
) -> io::Result<()> {
    let profile = &report.recording.profile;
    let unit = report.position(thread.series).map_or(Unit::Samples, |position| report.series[position].unit);
    writer.put(b"{\"type\":\"sampled\",\"name\":").put_text(Some(&thread_title(profile, thread.thread, label)));
    writer.put(b",\"unit\":");
    writer.put(match unit {
        unit if unit.is_time() => b"\"nanoseconds\"",
        Unit::Bytes | Unit::WrittenBytes => b"\"bytes\"".as_slice(),
        _ => b"\"none\"",
    });
    writer.put(b",\n\"startValue\":0,\"endValue\":").put_number(thread.weight);
    writer.put(b",\n\"samples\":[");
    let mut stack = StackText::default();
    for (index, sample) in thread.samples.iter().enumerate() {
        writer.put(if index == 0 { b"" } else { b"," });
        writer.put(stack.get(profile, sample.stack, |path, out| push_stack(profile, path, frames, out)));
        writer.flush_if_full()?;
    }
    writer.put(b"],\n\"weights\":[");
    for (index, sample) in thread.samples.iter().enumerate() {
        writer.put(if index == 0 { b"" } else { b"," });
        writer.put_number(report.options.metric.of(*sample));
        writer.flush_if_full()?;
    }
    writer.put(b"]}");
    Ok(())
}

/// Appends the frames of a stack, root first; for a sample without a stack, the frame [`NO_STACK`].
fn push_stack(profile: &Profile, path: &[Stack], frames: &Frames, out: &mut Vec<u8>) {
    out.push(b'[');
    if let (true, Some(index)) = (path.is_empty(), frames.no_stack) {
        push_number(index as u64, out);
    }
    for (place, stack) in path.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.extend_from_slice(frames.indices.get(profile.frame(stack.frame).function));
    }
    out.push(b']');
}

//! Samples, one object per sample.

use std::io::{self, Write};

use super::values::{Layout, Rows};
use crate::hash::HashMap;
use crate::output::byte_writer::{ByteWriter, FunctionTexts, Put, StackText, push_address};
use crate::profile::{Frame, Profile, Sample, SampleKind, Stack, StringId};
use crate::report::Report;

pub(super) fn write(report: &Report<'_>, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let pieces = Pieces::new(profile);
    let mut stack = StackText::default();
    let mut writer = ByteWriter::new(out);
    let mut rows = Rows::begin(layout, "samples", &mut writer.text);
    for (index, sample) in report.samples() {
        rows.next(&mut writer.text);
        head(profile, sample, &pieces, &mut writer);
        writer.put(stack.get(profile, sample.stack, |path, out| push_stack(profile, path, &pieces, out)));
        writer.put(b",\"series\":").put_optional(report.position(sample.series).map(|position| position as u64));
        counters(profile.counters(index), &mut writer);
        writer.put(b"}");
        writer.flush_if_full()?;
    }
    rows.end(&mut writer.text);
    writer.finish()
}

/// Writes everything before the stack.
fn head(profile: &Profile, sample: &Sample, pieces: &Pieces, writer: &mut ByteWriter<'_>) {
    writer.put(&pieces.series[sample.series.index()]);
    writer.put_number(sample.time.as_nanos());
    writer.put(b",\"weight\":").put_number(sample.weight);
    writer.put(b",\"unit\":\"").put(profile.series(sample.series).unit.name().as_bytes()).put(b"\"");
    writer.put(&pieces.threads[sample.thread.index()]);
    writer.put_optional(sample.core.map(|core| profile.core(core).index.into()));
    writer.put(b",\"state\":").put_text(sample.state.map(|state| profile.string(state)));
    writer.put(b",\"kind\":\"").put(kind(sample.kind).as_bytes());
    writer.put(b"\",\"stack\":");
}

fn counters(values: &[u64], writer: &mut ByteWriter<'_>) {
    if values.is_empty() {
        return;
    }
    let mut separator: &[u8] = b",\"counters\":[";
    for &value in values {
        writer.put(separator);
        writer.put_number(value);
        separator = b",";
    }
    writer.put(b"]");
}

/// Pieces of output that many samples share.
struct Pieces {
    /// By series: the piece from the start to the time.
    series: Vec<Vec<u8>>,
    /// By thread: the piece from the process to the core.
    threads: Vec<Vec<u8>>,
    /// By function: the start of a frame, `{"function":"…","binary":"…","address":"`.
    frames: FunctionTexts,
    /// The paths of source files.
    paths: HashMap<StringId, Vec<u8>>,
}

impl Pieces {
    fn new(profile: &Profile) -> Self {
        let frames = FunctionTexts::new(profile, |id, out| {
            out.put(b"{\"function\":").put_text(Some(profile.function_name(id)));
            out.put(b",\"binary\":").put_text(profile.binary_name(id));
            out.put(b",\"address\":\"");
        });
        let text = |text: &str| {
            let mut out = Vec::new();
            out.put_text(Some(text));
            out
        };
        let mut paths = HashMap::default();
        for source in profile.frame_ids().filter_map(|id| profile.frame(id).source) {
            paths.entry(source.path).or_insert_with(|| text(profile.string(source.path)));
        }
        let series = profile.series_ids().map(|id| {
            let series = profile.series(id);
            let mut text = format!("{{\"run\":{},\"schema\":", profile.run(series.run).number).into_bytes();
            text.put_text(Some(profile.string(series.schema)));
            text.put(b",\"time_ns\":");
            text
        });
        let threads = profile.thread_ids().map(|id| {
            let thread = profile.thread(id);
            let process = profile.process(thread.process);
            let mut text = b",\"pid\":".to_vec();
            text.put_optional(process.pid);
            text.put(b",\"process\":").put_text(Some(profile.string(process.name)));
            text.put(b",\"tid\":").put_optional(thread.tid);
            text.put(b",\"thread\":").put_text(Some(profile.string(thread.name)));
            text.put(b",\"core\":");
            text
        });
        Self { series: series.collect(), threads: threads.collect(), frames, paths }
    }
}

/// Appends the frames of a stack, root first, or null if there are none.
fn push_stack(profile: &Profile, path: &[Stack], pieces: &Pieces, out: &mut Vec<u8>) {
    if path.is_empty() {
        return out.extend_from_slice(b"null");
    }
    let mut separator = b'[';
    for stack in path {
        out.push(separator);
        separator = b',';
        push_frame(profile.frame(stack.frame), pieces, out);
    }
    out.push(b']');
}

fn push_frame(frame: &Frame, pieces: &Pieces, out: &mut Vec<u8>) {
    out.extend_from_slice(pieces.frames.get(frame.function));
    push_address(frame.address.get(), out);
    out.push(b'"');
    if let Some(source) = frame.source {
        out.put(b",\"file\":").put(pieces.paths.get(&source.path).map_or(b"null", Vec::as_slice));
        out.put(b",\"line\":").put_number(source.line.into());
    }
    if frame.is_inlined {
        out.put(b",\"inlined\":true");
    }
    out.push(b'}');
}

fn kind(kind: SampleKind) -> &'static str {
    match kind {
        SampleKind::Periodic => "periodic",
        SampleKind::EveryThread => "every-thread",
        SampleKind::EveryThreadLightweight => "every-thread-lightweight",
        SampleKind::Stackshot => "stackshot",
        SampleKind::Other => "other",
    }
}

//! Converts a crash report to a document of a recording.

use super::report::{CUT, Form, Frame, Report, Stack, UNREAD_FRAME, UNREAD_IMAGE};
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::profile::{Binary, BinaryId, FrameId, Full, Meaning, SourceLine};
use crate::readers::stop::CRASH_TABLE;
use crate::recording::{
    ATTRIBUTED_THREAD, CRASH, FrameKind, InputBuilder, NON_FATAL, RecordingBuilder, RejectReason, Table, TableKind,
    Toc, TocProcess, TocRun,
};
use crate::units::{Address, several};

/// Adds a report as the only run of its input.
///
/// # Errors
/// If the recording is full.
pub(super) fn add(report: &Report, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
    let full = |full: Full| Error::new(ErrorKind::Limit(full.to_string()), None);
    let mut input = recording.input(name)?;
    let table = Table { run: 1, schema: Some(CRASH_TABLE.to_owned()), kind: TableKind::Cpu, ..Table::default() };
    input.start_sums(table, Meaning::Stop, name.to_owned());
    let mut writer = Writer::new(report, input);
    let attributed = writer.add_stacks().map_err(full)?;
    writer.input.finish(Toc { runs: vec![facts(report, attributed)] });
    Ok(())
}

/// Adds a thread for each of these frames of a report, with a stack of only this frame.
///
/// # Errors
/// If the recording is full.
pub(super) fn add_frames(
    report: &Report,
    frames: &[(&Frame, FrameKind)],
    recording: &mut RecordingBuilder,
) -> Result<(), Error> {
    let full = |full: Full| Error::new(ErrorKind::Limit(full.to_string()), None);
    let mut input = recording.input("")?;
    input.start_sums(Table { kind: TableKind::Cpu, ..Table::default() }, Meaning::Stop, String::new());
    let mut writer = Writer::new(report, input);
    for (index, &(frame, kind)) in frames.iter().enumerate() {
        writer.add_frame(index, frame, kind).map_err(full)?;
    }
    writer.input.finish(Toc::default());
    Ok(())
}

struct Writer<'r, 'i> {
    report: &'r Report,
    /// The binaries of the report's images, once they are used.
    binaries: Vec<Option<BinaryId>>,
    input: InputBuilder<'i>,
}

impl<'r, 'i> Writer<'r, 'i> {
    fn new(report: &'r Report, input: InputBuilder<'i>) -> Self {
        Self { report, binaries: vec![None; report.images.len()], input }
    }

    /// Adds all stacks. Returns the index of the stack that the crash is attributed to.
    fn add_stacks(&mut self) -> Result<Option<usize>, Full> {
        let report = self.report;
        let pid = report.fact("pid").and_then(|pid| pid.parse().ok());
        let process = self.input.process(pid, process_name(report))?;
        let (of_report, mut attributed, mut added) = (report.attributed(), None, 0);
        for (index, stack) in report.stacks().enumerate() {
            let is_attributed = of_report == Some(index);
            let thread = self.input.thread(None, Some(process), &report.thread_name(index, stack, of_report))?;
            if stack.is_main {
                self.input.mark_main_thread(thread);
            }
            if let Some(at) = &stack.unread {
                self.input.leave_out(RejectReason::UnreadThread, 1, at.clone(), UNREAD_FRAME);
                continue;
            }
            let depth = stack.frames.iter().filter(|frame| !frame.is_inlined).count();
            let limit = self.input.limits().stack_depth;
            // A named report has several frames for each one that was recorded.
            if depth > limit || stack.frames.len() > INLINED * limit {
                let what = "a stack has more frames than the limit";
                self.input.leave_out(RejectReason::StackTooDeep, 1, stack.at.clone(), what);
                continue;
            }
            let frames = self.frames(stack)?;
            let stack = self.input.stack(None, &frames)?;
            self.input.add_samples(thread, stack, 1)?;
            attributed = attributed.or(is_attributed.then_some(added));
            added += 1;
        }
        for at in &report.unread_images {
            self.input.leave_out(RejectReason::UnreadImage, 1, at.clone(), UNREAD_IMAGE);
        }
        if let Some(at) = &report.cut {
            self.input.note(Diagnostic { at: Some(at.clone()), ..Diagnostic::new(CUT) });
        }
        Ok(attributed)
    }

    fn frames(&mut self, stack: &Stack) -> Result<Vec<FrameId>, Full> {
        let (mut is_inside, mut kind) = (false, self.report.kind_of_first(stack));
        let mut frames = Vec::with_capacity(stack.frames.len());
        for frame in &stack.frames {
            frames.push(self.frame(frame, kind, is_inside)?);
            is_inside = frame.is_inlined;
            if !is_inside {
                kind = FrameKind::RawCaller;
            }
        }
        Ok(frames)
    }

    fn add_frame(&mut self, index: usize, frame: &Frame, kind: FrameKind) -> Result<(), Full> {
        let id = self.frame(frame, kind, false)?;
        // Threads with the same name are one thread.
        let (thread, stack) = (self.input.thread(None, None, &index.to_string())?, self.input.stack(None, &[id])?);
        self.input.add_samples(thread, stack, 1)
    }

    /// Adds a frame. `is_outer` is true if the frame before was inlined into it.
    fn frame(&mut self, frame: &Frame, kind: FrameKind, is_outer: bool) -> Result<FrameId, Full> {
        let binary = frame.image.map(|index| self.binary(index)).transpose()?;
        let unknown = || frame.is_inlined.then_some("<unknown>");
        let Some(name) = frame.name.as_deref().or_else(unknown) else {
            return self.input.frame(kind, frame.address, binary);
        };
        let source = |(file, line): &(String, u32)| Ok(SourceLine { path: self.input.string(file)?, line: *line });
        let source = frame.source.as_ref().map(source).transpose()?;
        if is_outer {
            return self.input.outer_frame((kind, frame.address), binary, name, source);
        }
        self.input.named_frame((kind, frame.address), binary, name, source)
    }

    fn binary(&mut self, index: usize) -> Result<BinaryId, Full> {
        if let Some(id) = self.binaries[index] {
            return Ok(id);
        }
        let image = &self.report.images[index];
        let path = match self.report.fact("procPath") {
            // An image that is not listed.
            Some(path) if image.path == process_name(self.report) => path,
            // Binaries without UUIDs are told apart by their paths.
            _ if image.path.is_empty() => &image.name,
            _ => &image.path,
        };
        let arch = Some(image.arch.as_str()).filter(|arch| !arch.is_empty());
        let arch = arch.map(|arch| self.input.string(arch)).transpose()?;
        let (name, path) = (self.input.string(&image.name)?, self.input.string(path)?);
        let id = self.input.binary(Binary { name, uuid: image.uuid, arch, load_address: Address::new(0), path })?;
        self.binaries[index] = Some(id);
        Ok(id)
    }
}

fn process_name(report: &Report) -> &str {
    report.fact("procName").or(report.fact("name")).unwrap_or("app")
}

/// The maximum number of frames for each one that is not inlined, on average.
const INLINED: usize = 8;

/// The maximum number of messages that are used. Real reports have one or two.
const MESSAGES: usize = 16;

/// The device, the process, and what happened.
pub(super) fn facts(report: &Report, attributed: Option<usize>) -> TocRun {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let fact = |keys: &[&str]| keys.iter().find_map(|key| report.fact(key));
    let system = report.fact("osVersion.train").map(|train| {
        report.fact("osVersion.build").map_or_else(|| train.to_owned(), |build| format!("{train} ({build})"))
    });
    let system = report.fact("os_version").map(str::to_owned).or(system);
    let mut device: Vec<_> = system.iter().flat_map(|system| TocRun::system(system)).collect();
    device.extend(report.fact("modelCode").map(|model| pair("model", model)));
    device.extend(report.fact("cpuType").map(|kind| pair("architecture", kind)));
    let (name, pid) = (process_name(report), report.fact("pid"));
    let process = [Some(pair("name", name)), pid.map(|pid| pair("pid", pid))].into_iter().flatten().collect();
    let joined = |texts: Vec<&str>| Some(texts.join("; ")).filter(|text| !text.is_empty());
    let text = |keys: &[&str]| fact(keys).map(str::to_owned);
    let note = report.fact("exception.note");
    let is_marked = ["isNonFatal", "isSimulated"].iter().any(|key| matches!(report.fact(key), Some("1" | "true")));
    let is_crash = !is_marked && !note.is_some_and(|note| note.contains("NOT a crash") || note.contains("NON-FATAL"));
    let more = report.facts_below("asi").count().saturating_sub(MESSAGES);
    let more = Some(format!("… {more} more")).filter(|_| more > 0);
    let messages = report.facts_below("asi").take(MESSAGES).chain(more.as_deref()).chain(fact(&["exception.message"]));
    let (raised, composed) = (fact(&["exceptionReason.name"]), fact(&["exceptionReason.composed_message"]));
    let messages =
        messages.chain(raised.filter(|name| !composed.is_some_and(|text| text.contains(name)))).chain(composed);
    let elided = report.attributed().and_then(|index| report.stacks().nth(index)?.elided);
    let first_line = |text: String| text.lines().next().map(str::to_owned);
    let fields = [
        ("start-date", fact(&["captureTime", "timestamp"]).and_then(TocRun::date)),
        ("diagnostic", Some(if is_crash { CRASH } else { NON_FATAL }.to_owned())),
        ("app-version", text(&["app_version", "bundleInfo.CFBundleShortVersionString"])),
        ("app-build", text(&["build_version", "bundleInfo.CFBundleVersion"])),
        ("exception-type", text(&["exception.type"])),
        ("exception-code", text(&["exception.subtype", "exception.codes"])),
        ("signal", text(&["exception.signal"])),
        ("termination-reason", termination(report)),
        ("exception-reason", joined(messages.chain(note.filter(|_| !is_crash)).collect())),
        ("recursion", elided.map(|count| elided_recursion(report.form, count))),
        ("memory-region", text(&["vmRegionInfo", "vmregioninfo"]).and_then(first_line)),
        (ATTRIBUTED_THREAD, attributed.map(|index| index.to_string())),
    ];
    let summary = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
    let path = report.fact("procPath").unwrap_or_default().to_owned();
    let processes = vec![TocProcess { name: name.to_owned(), pid: pid.and_then(|pid| pid.parse().ok()), path }];
    TocRun { number: 1, device, process, summary, processes, ..TocRun::default() }
}

/// `57,985 frames of recursion are left out of the stack`.
fn elided_recursion(form: Form, count: u64) -> String {
    let what = if form == Form::Ips { "frame" } else { "level" };
    let count = if count == 0 { "an unknown amount".to_owned() } else { several(count, what) };
    format!("left out of the stack: {count} of recursion")
}

/// Why a report without stacks cannot be shown, with what it states.
pub(super) fn without_stacks(report: &Report) -> String {
    let facts = facts(report, None).summary;
    let stated =
        facts.iter().filter(|(key, _)| ["exception", "signal", "termin"].iter().any(|start| key.starts_with(start)));
    let stated: Vec<&str> = stated.map(|(_, value)| value.as_str()).collect();
    match stated.is_empty() {
        true => "this crash report has no stacks; pass the complete report".to_owned(),
        false => format!("this crash report has no stacks, only facts: {}", stated.join(" · ")),
    }
}

/// `SIGNAL 11 Segmentation fault: 11`, as written in text or from its parts, with the reasons after it. Large codes are hexadecimal, since people
/// search for 0x8badf00d.
fn termination(report: &Report) -> Option<String> {
    const LARGEST_NUMBER: u64 = 0xffff;
    let part = |key: &str| report.fact(&format!("termination.{key}")).map(str::to_owned);
    let code = part("code").map(|code| match code.parse::<u64>() {
        Ok(number) if number > LARGEST_NUMBER => format!("{number:#x}"),
        _ => code,
    });
    let of_text = report.fact("termination").map(str::to_owned);
    let parts: Vec<String> = [of_text, part("namespace"), code, part("indicator")].into_iter().flatten().collect();
    let reasons: Vec<&str> =
        report.facts_below("termination.reasons.").chain(report.facts_below("termination.details.")).collect();
    let text = parts.join(" ") + if reasons.is_empty() || parts.is_empty() { "" } else { ": " } + &reasons.join("; ");
    Some(text).filter(|text| !text.is_empty())
}

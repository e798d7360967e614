//! Converts a report to a document of a recording.

use std::collections::BTreeSet;
use std::io::Read;

use super::frame::FrameText;
use super::process::{Node, Process};
use super::report::{Head, Next, Steps, ThreadHead, first_number};
use crate::error::{Diagnostic, Error, ErrorKind, Position};
use crate::hash::HashMap;
use crate::memory::{OverBudget, Reservation};
use crate::profile::{Binary, BinaryId, FrameId, Full, MAIN_THREAD, Meaning, SourceLine, StackId, StringId};
use crate::readers::lines::{Line, Lines};
use crate::recording::{FrameKind, InputBuilder, RecordingBuilder, Table, TableKind, Toc, TocProcess, TocRun};
use crate::units::{Address, Uuid, several};

/// Adds the report that starts with `start`. Returns the first line of the next report, if there is one.
///
/// # Errors
/// If the report is damaged or truncated, or the recording is full.
pub(super) fn add<R: Read>(
    start: &Line,
    lines: &mut Lines<'_, R>,
    recording: &mut RecordingBuilder,
) -> Result<Option<Line>, Error> {
    let (head, mut next) = Head::read(start, lines)?;
    if !matches!(next, Next::Process(_)) {
        return Err(lines.damaged("the report ends before its first process; pass the complete report", start));
    }
    let name = lines.name();
    let mut input = recording.input(name)?;
    let table = Table { run: 1, schema: Some(head.schema().to_owned()), kind: TableKind::Cpu, ..Table::default() };
    input.start_sums(table, head.meaning(), name.to_owned());
    let has_states = head.has_states();
    let mut writer = Writer {
        input,
        has_states,
        samples: 0,
        binaries: HashMap::default(),
        path: Vec::new(),
        blocked: HashMap::default(),
        held: lines.memory.nothing(),
        bytes: 0,
    };
    let mut processes = Vec::new();
    let mut is_any_unread = false;
    let (steps, mut shares) = (head.steps().filter(|_| head.is_triggered()), Shares::default());
    while let Next::Process(line) = &next {
        let (process, after) = Process::read(line, lines)?;
        writer.add_process(&process, lines)?;
        is_any_unread |= process.is_followed;
        if let Some(steps) = steps {
            shares.add(&process, steps);
        }
        let texts = process.name.len() + process.path.len() + process.cpu_time.as_ref().map_or(0, String::len);
        let held = writer.hold(texts + size_of::<TocProcess>());
        held.map_err(|over| lines.error(ErrorKind::Memory(over), process.last_line))?;
        let path = process.path.clone();
        processes.push((TocProcess { name: process.name, pid: process.pid, path }, process.cpu_time));
        next = after;
    }
    if let Some(steps) = steps {
        let noted = shares.check(steps, writer.samples).map_err(|text| lines.damaged(text, start))?;
        noted.into_iter().for_each(|message| writer.note(lines.place(start.at), message));
    }
    let is_empty = (writer.samples == 0).then(|| EMPTY.to_owned());
    for message in head.notes().into_iter().chain(is_empty) {
        writer.note(lines.place(start.at), message);
    }
    let contents = head.contents(processes, is_any_unread, writer.blocked);
    writer.input.finish(contents);
    Ok(match next {
        Next::Report(line) => Some(line),
        _ => None,
    })
}

const EMPTY: &str = "the report has no stacks: it was shortened, or nothing was sampled";

/// Compares the samples of processes with the steps of the report. iOS reports list only processes with at least about 5% of the samples.
#[derive(Default)]
struct Shares {
    /// True if a process with samples lacks its percentage of the steps.
    is_any_unknown: bool,
    /// The message about the first process whose percentage contradicts its samples.
    wrong: Option<String>,
}

impl Shares {
    fn add(&mut self, process: &Process, steps: Steps) {
        self.is_any_unknown |= process.stated.1.is_none() && process.samples() > 0;
        if let (Some(samples), Some(share)) = process.stated
            && !steps.have_share(samples, share)
        {
            let all = steps.all;
            self.wrong.get_or_insert_with(|| {
                format!(
                    "a process states {samples} samples, which are not {share}% of {all} steps; was the report edited?"
                )
            });
        }
    }

    /// Fails if samples are missing. Returns a warning if all steps are listed but a percentage looks wrong.
    fn check(self, steps: Steps, samples: u64) -> Result<Option<String>, String> {
        let is_too_few = self.is_any_unknown && samples < steps.all.saturating_sub(steps.lost);
        if samples > 0 && (is_too_few || samples > steps.all) {
            return Err(format!(
                "the processes have {samples} samples, but the report {} steps; was it truncated?",
                steps.all
            ));
        }
        if samples < steps.all { self.wrong.map_or(Ok(None), Err) } else { Ok(self.wrong) }
    }
}

impl Head {
    /// True if only threads that used the CPU or wrote to storage were sampled. Otherwise, all threads were sampled at regular times.
    fn is_triggered(&self) -> bool {
        self.is_powerstats || self.field("Data Source") == Some("Microstackshots")
    }

    /// True if all threads were sampled, with their states.
    fn is_of_all_threads(&self) -> bool {
        !self.is_triggered() && self.field("Data Source").is_none_or(|source| source == "Stackshots")
    }

    fn notes(&self) -> Vec<String> {
        let lost = self.steps().map(|steps| steps.lost).filter(|&lost| lost > 0);
        let lost = lost.map(|lost| format!("lost while the system recorded: {}", several(lost, "sample")));
        let is_unknown = !self.is_triggered() && !self.is_of_all_threads();
        let source = is_unknown.then(|| {
            let source = self.field("Data Source").unwrap_or_default();
            format!("the data source {source:?} is unknown, so samples without a state may come from waiting or running threads")
        });
        lost.into_iter().chain(source).collect()
    }

    fn schema(&self) -> &'static str {
        if self.is_triggered() { "microstackshots" } else { "spindump" }
    }

    fn meaning(&self) -> Meaning {
        match self.field("Event").unwrap_or_default() {
            event if event.starts_with("disk writes") => Meaning::Writes,
            _ if self.is_triggered() => Meaning::OnCpu,
            _ => Meaning::Presence,
        }
    }

    /// True if a thread without a state was waiting. Older reports contain no states.
    fn has_states(&self) -> bool {
        const FIRST_WITH_STATES: u64 = 25;
        let version = self.field("Report Version").and_then(first_number);
        self.meaning() == Meaning::Presence
            && self.is_of_all_threads()
            && version.is_some_and(|version| version >= FIRST_WITH_STATES)
    }

    /// The table of contents: device, processes, and the report's own metadata.
    fn contents(
        &self,
        processes: Vec<(TocProcess, Option<String>)>,
        is_any_unread: bool,
        blocked: HashMap<Blocked, u64>,
    ) -> Toc {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let system = self.field("OS Version").map(|os| os.replace("(Build ", "("));
        let mut device: Vec<_> = system.iter().flat_map(|os| TocRun::system(os)).collect();
        device.extend(self.field("Hardware model").map(|model| pair("model", model)));
        device.extend(self.field("Architecture").map(|arch| pair("architecture", arch)));
        let only = if let [only] = processes.as_slice() { Some(only).filter(|_| !is_any_unread) } else { None };
        // `Command` may be an abbreviation of the process name.
        let is_app =
            |process: &&TocProcess| process.pid.is_some() && process.pid == self.field("PID").and_then(first_number);
        let app = processes.iter().map(|(process, _)| process).find(is_app).or(only.map(|(process, _)| process));
        let name = app.map(|process| process.name.as_str()).or(self.field("Command"));
        let pid = self.field("PID").map(str::to_owned).or(only.and_then(|(process, _)| Some(process.pid?.to_string())));
        let mut process: Vec<_> = name.map(|name| pair("name", name)).into_iter().collect();
        process.extend(pid.filter(|_| name.is_some()).map(|pid| pair("pid", &pid)));
        let start = self.field("Date/Time").and_then(TocRun::date);
        let mut summary: Vec<_> = start.map(|start| pair("start-date", &start)).into_iter().collect();
        summary.extend(self.facts(only.and_then(|(_, time)| time.as_deref())).map(|(key, value)| pair(key, value)));
        let mut blocked: Vec<(Blocked, u64)> = blocked.into_iter().collect();
        blocked.sort_by(|(own, samples), (other, of_other)| of_other.cmp(samples).then_with(|| own.cmp(other)));
        summary.extend(blocked.iter().map(|((by, tid), samples)| {
            let of_thread = tid.map(|tid| format!(" of thread {tid:#x}")).unwrap_or_default();
            pair("blocked-by", &format!("{by}, {}{of_thread}", several(*samples, "sample")))
        }));
        let is_all_processes = name.is_none();
        let mut processes: Vec<TocProcess> = processes.into_iter().map(|(process, _)| process).collect();
        // Includes processes that block others, since redaction replaces only names of listed processes.
        let mut pids: BTreeSet<Option<u64>> = processes.iter().map(|process| process.pid).collect();
        let holders = blocked.iter().filter_map(|((by, _), _)| holder(by));
        processes.extend(holders.filter(|holder| pids.insert(holder.pid)));
        let run = TocRun { number: 1, device, is_all_processes, process, summary, processes, ..TocRun::default() };
        Toc { runs: vec![run] }
    }

    /// The facts for the summary, verbatim or without their explanations.
    fn facts<'f>(&'f self, of_process: Option<&'f str>) -> impl Iterator<Item = (&'static str, &'f str)> {
        let before = |value: Option<&'f str>, end: &str| value.and_then(|value| value.split(end).next());
        let is_hang = self.field("Event").is_some_and(|event| event.to_lowercase().contains("hang"));
        let cpu_time = self.field("CPU used").or(self.field("Total CPU Time")).or(of_process);
        [
            ("app-version", self.field("Version").filter(|_| self.field("Command").is_some())),
            ("event", self.field("Event")),
            ("reason", self.field("Reason")),
            ("action", self.field("Action taken")),
            ("hang-duration", before(self.field("Duration").filter(|_| is_hang), " (")),
            ("event-duration", self.field("Duration")),
            ("sampled-time", self.field("Duration Sampled")),
            ("steps", self.field("Steps")),
            ("cpu-time", before(cpu_time, " (")),
            ("cpu-limit", self.field("CPU")),
            ("bytes-written", before(self.field("Writes"), " of ")),
            ("writes-limit", self.field("Writes")),
            ("wakeups", self.field("Wakeups")),
            ("note", self.field("Note")),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key, value.filter(|value| !value.is_empty())?)))
    }
}

/// Parses the process in `turnstile waiting for Press [518] thread 0x2b`.
fn holder(by: &str) -> Option<TocProcess> {
    let ends = [" owned by ", " waiting for ", " on "];
    let start = ends.iter().filter_map(|end| Some(by.find(end)? + end.len())).max().unwrap_or_default();
    let (name, rest) = by.get(start..)?.split_once(" [")?;
    let (pid, _) = rest.split_once(']')?;
    Some(TocProcess { name: name.to_owned(), pid: Some(pid.parse().ok()?), path: String::new() })
}

/// What blocked a thread: its description and a tid.
type Blocked = (String, Option<u64>);

/// The key of a binary: load address, name and UUID.
type BinaryKey = (u64, String, Option<Uuid>);

/// Adds processes one by one.
struct Writer<'i> {
    input: InputBuilder<'i>,
    has_states: bool,
    /// The samples of all processes, including those left out.
    samples: u64,
    binaries: HashMap<BinaryKey, BinaryId>,
    /// The stack and the state at each open depth.
    path: Vec<(Option<StackId>, Option<StringId>)>,
    /// The number of blocked samples.
    blocked: HashMap<Blocked, u64>,
    held: Reservation,
    /// The approximate memory of the strings in `blocked` and in the list of processes, in bytes.
    bytes: u64,
}

impl Writer<'_> {
    fn note(&mut self, at: Position, message: String) {
        self.input.note(Diagnostic { at: Some(at), message, count: 1 });
    }

    fn add_process<R>(&mut self, process: &Process, lines: &Lines<'_, R>) -> Result<(), Error> {
        let full = |full: Full, line| lines.error(ErrorKind::Limit(full.to_string()), line);
        let damaged = |text: String| lines.error(ErrorKind::Malformed(text), process.last_line);
        let samples = process.samples();
        if process.is_last && samples == 0 && self.samples > 0 {
            return Err(damaged(format!("the report is truncated in {}; pass the complete report", process.name)));
        }
        let index = self.input.process(process.pid, &process.name).map_err(|error| full(error, process.last_line))?;
        let mut ends = process.threads.iter().skip(1).map(|thread| thread.first).chain([process.nodes.len()]);
        for unread in &process.unread {
            self.input.leave_out(unread.reason, unread.samples, lines.place(unread.line), &unread.what);
        }
        for thread in &process.threads {
            let end = ends.next().unwrap_or_default();
            let nodes = process.nodes.get(thread.first..end).unwrap_or_default();
            let Some(first) = nodes.first().filter(|_| thread.is_read()) else { continue };
            let id = self.thread(index, &thread.head).map_err(|error| full(error, first.line))?;
            for node in nodes {
                self.add_blocked(node, thread.head.tid)
                    .map_err(|over| lines.error(ErrorKind::Memory(over), node.line))?;
                let is_listed =
                    self.add_node(process, node, (id, &thread.head)).map_err(|error| full(error, node.line))?;
                if process.is_last && !is_listed && process.has_images() {
                    let text = format!(
                        "the report is truncated inside the list of images of {}; pass the complete report",
                        process.name
                    );
                    return Err(damaged(text));
                }
            }
        }
        self.samples = self.samples.saturating_add(samples);
        Ok(())
    }

    /// Reserves the memory of a string, which may be stored in a map, a list and the list of processes.
    fn hold(&mut self, bytes: usize) -> Result<(), OverBudget> {
        self.bytes += 3 * bytes as u64;
        self.held.resize(self.bytes)
    }

    fn add_blocked(&mut self, node: &Node, tid: Option<u64>) -> Result<(), OverBudget> {
        let by = FrameText::parse(&node.text).state.and_then(|state| state.strip_prefix("blocked by "));
        let Some(by) = by.filter(|_| node.own() > 0) else { return Ok(()) };
        let key = (by.to_owned(), tid);
        if let Some(samples) = self.blocked.get_mut(&key) {
            *samples = samples.saturating_add(node.own());
            return Ok(());
        }
        self.hold(by.len() + size_of::<TocProcess>())?;
        self.blocked.insert(key, node.own());
        Ok(())
    }

    fn thread(&mut self, process: u32, head: &ThreadHead) -> Result<u32, Full> {
        /// The main queue: its label and, before macOS 12, its number.
        const MAIN_QUEUE: [&str; 2] = ["com.apple.main-thread", "1"];
        let is_main = MAIN_QUEUE.contains(&head.queue.as_str());
        let is_label = head.queue.contains(|character: char| !character.is_ascii_digit());
        let name = match head.name.as_str() {
            "" if is_main => MAIN_THREAD,
            "" if is_label => &head.queue,
            name => name,
        };
        let id = self.input.thread(head.tid, Some(process), name)?;
        if is_main {
            self.input.mark_main_thread(id);
        }
        Ok(id)
    }

    /// Adds the samples that end in a node. Returns false if its image is not in the list of the process.
    fn add_node(&mut self, process: &Process, node: &Node, thread: (u32, &ThreadHead)) -> Result<bool, Full> {
        let text = FrameText::parse(&node.text);
        let (thread, head) = thread;
        self.path.truncate(node.depth);
        let (callers, of_callers) = self.path.last().copied().unwrap_or_default();
        let (stack, is_listed) = if text.is_pseudo() {
            (callers, true)
        } else {
            let (frame, is_listed) = self.frame(process, node, &text)?;
            (self.input.stack(callers, &[frame])?, is_listed)
        };
        let state = match self.state(text.state, head)? {
            None if text.is_pseudo() => of_callers,
            state => state,
        };
        self.path.push((stack, state));
        if node.own() > 0 {
            let state = match state {
                None if self.has_states => Some(self.input.string("Waiting")?),
                state => state.filter(|_| self.has_states),
            };
            self.input.add_samples_in(state, thread, stack, node.own())?;
        }
        Ok(is_listed)
    }

    /// Returns the state of a thread, from the first word of the text.
    fn state(&mut self, text: Option<&str>, head: &ThreadHead) -> Result<Option<StringId>, Full> {
        let name = match text.and_then(|text| text.split(' ').next()) {
            None => return Ok(None),
            Some("running" | "runnable") if head.is_idle => "Idle",
            Some("running") => "Running",
            Some("runnable") => "Runnable",
            Some("blocked") => "Blocked",
            Some("suspended") => "Suspended",
            Some(other) => other,
        };
        self.input.string(name).map(Some)
    }

    /// Returns the frame of a node, and whether its image is in the list of the process.
    fn frame(&mut self, process: &Process, node: &Node, text: &FrameText<'_>) -> Result<(FrameId, bool), Full> {
        let kind = if node.is_caller { FrameKind::RawCaller } else { FrameKind::RawLeaf };
        let (binary, is_listed) = self.binary(process, text)?;
        let source = |(path, line)| Ok(SourceLine { path: self.input.string(path)?, line });
        let source = text.source.map(source).transpose()?;
        let frame = match text.address {
            Some(address) if !text.is_named() => self.input.frame(kind, address, binary)?,
            address => self.input.named_frame((kind, address.unwrap_or_default()), binary, text.symbol, source)?,
        };
        Ok((frame, is_listed))
    }

    /// Returns the binary of a frame, and whether the process lists it. An address beyond its image has no binary: the stack was already damaged
    /// when it was recorded.
    fn binary(&mut self, process: &Process, text: &FrameText<'_>) -> Result<(Option<BinaryId>, bool), Full> {
        let Some(name) = text.binary else { return Ok((None, true)) };
        let images = &process.images;
        let start = text.address.zip(text.offset).map(|(address, offset)| address.wrapping_sub(offset));
        let found = match start {
            Some(start) => images.starting_at(start),
            None => text.address.and_then(|address| images.find(address)),
        };
        let in_uuid = name.strip_prefix('<').and_then(|name| name.strip_suffix('>')).and_then(Uuid::parse);
        let found = found.and_then(|index| images.get(index));
        // Without an offset, only a matching name confirms the list.
        let found = found.filter(|image| start.is_some() || image.name == name);
        let is_inside = |address: u64| match found {
            Some(image) => image.low <= address && image.high.is_none_or(|high| address <= high),
            None => start.is_none_or(|start| start <= address),
        };
        let is_listed = found.is_some() || start.is_none();
        if !text.address.is_none_or(is_inside) {
            return Ok((None, is_listed));
        }
        let load_address = found.and_then(|image| images.load_address(image));
        // Symbol files use offsets from the segment with the Mach-O header.
        let uuid = found.map_or(in_uuid, |image| image.uuid.filter(|_| load_address.is_some()));
        let load_address = load_address.or(found.map(|image| image.low)).or(start).unwrap_or_default();
        let name = found.map(|image| image.name.as_str()).filter(|_| in_uuid.is_some()).unwrap_or(name);
        // The path, since a process may not list an image that another one lists.
        let path = found.map_or(name, |image| &image.path);
        let key = (load_address, path.to_owned(), uuid);
        if let Some(&id) = self.binaries.get(&key) {
            return Ok((Some(id), is_listed));
        }
        let [name, path] = [name, path].map(|text| self.input.string(text));
        let (name, path, load_address) = (name?, path?, Address::new(load_address));
        let id = self.input.binary(Binary { name, uuid, arch: None, load_address, path })?;
        self.binaries.insert(key, id);
        Ok((Some(id), is_listed))
    }
}

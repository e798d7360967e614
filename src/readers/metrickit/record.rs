//! Converts a diagnostic to a document of a recording.

use super::app_code::AppCode;
use super::diagnostic::{Day, Diagnostic, Fact, Kind, Node, Thread, Tree};
use super::locales::Dimension;
use super::quantity::{Language, Unread, of_number};
use super::{metrics, stop};
use crate::calendar::iso_8601;
use crate::error::{self, Error, ErrorKind, Position};
use crate::hash::HashMap;
use crate::profile::{ALL_THREADS, Binary, BinaryId, FrameId, Full, Meaning, StackId, StringId};
use crate::readers::stop::{CRASH_TABLE, thread_name};
use crate::recording::dates::since_1970;
use crate::recording::{
    CRASH, FrameKind, InputBuilder, RecordingBuilder, RejectReason, Table, TableKind, Toc, TocProcess, TocRun,
};
use crate::units::{Address, Unit, Uuid, Weight};

/// Adds a diagnostic as run `number` of its input. Returns its stated quantity if that is unreadable.
///
/// # Errors
/// If the recording is full, or the order of frames is unknown.
pub(super) fn add(
    diagnostic: &Diagnostic,
    number: u32,
    name: &str,
    recording: &mut RecordingBuilder,
) -> Result<Option<Unread>, Error> {
    let is_stop = diagnostic.is_innermost_first()?;
    let full = |full: Full| Error::new(ErrorKind::Limit(full.to_string()), Some(diagnostic.at.clone()));
    let mut input = recording.input(name)?;
    let table =
        Table { run: number, schema: Some(diagnostic.schema().to_owned()), kind: TableKind::Cpu, ..Table::default() };
    input.start_sums(table, diagnostic.meaning(), name.to_owned());
    let arch = diagnostic.fact("platformArchitecture").map(|arch| input.string(arch)).transpose().map_err(full)?;
    let (app_code, binaries) = (AppCode::new(diagnostic), HashMap::default());
    let mut writer =
        Writer { diagnostic, is_stop, app_code, binaries, arch, adjusted: 0, raw: 0, is_renamed: false, input };
    if diagnostic.unknown > 0 {
        let (reason, at) = (RejectReason::UnreadProcess, diagnostic.at.clone());
        writer.input.leave_out(reason, diagnostic.unknown, at, "diagnostics have an unknown kind");
    }
    if let Some((count, at)) = &diagnostic.tree.odd_uuids {
        writer.input.leave_out(
            RejectReason::UnreadImage,
            *count,
            at.clone(),
            "the UUID of a binary has an unknown form",
        );
    }
    writer.add_threads().map_err(full)?;
    let mut note = |message: &str, at: &Position| {
        writer.input.note(error::Diagnostic { at: Some(at.clone()), message: message.to_owned(), count: 1 });
    };
    if writer.adjusted > 0 && writer.raw > 0 {
        note(MIXED_OFFSETS, &diagnostic.at);
    }
    let other_diagnostic = writer.is_renamed.then_some(&diagnostic.at);
    if let Some(at) = diagnostic.tree.renamed.as_ref().or(other_diagnostic) {
        note("a binary has several names; the first is used", at);
    }
    let (stated, unread) = match stated(diagnostic).transpose() {
        Ok(stated) => (stated, None),
        Err(unread) => (None, Some(unread)),
    };
    let Toc { runs } = contents(diagnostic, number);
    let of_diagnostic = |run| TocRun { stated, unread_quantities: unread.is_some().into(), ..run };
    writer.input.finish(Toc { runs: runs.into_iter().map(of_diagnostic).collect() });
    Ok(unread)
}

const MIXED_OFFSETS: &str = "some callers have their return address as offset, and others one less, so some lines may belong to the neighbouring \
                             instruction";

/// Binaries with the functions that start threads.
const THREAD_STARTS: [&str; 3] = ["dyld", "libdyld.dylib", "libsystem_pthread.dylib"];

impl Diagnostic {
    fn schema(&self) -> &'static str {
        match self.kind {
            Kind::Crash => CRASH_TABLE,
            Kind::Hang => "hang-diagnostic",
            Kind::Cpu => "cpu-exception-diagnostic",
            Kind::DiskWrite => "disk-write-exception-diagnostic",
            Kind::Launch => "app-launch-diagnostic",
            Kind::Memory => "memory-exception-diagnostic",
            Kind::Unknown if self.unknown > 0 => "unknown-diagnostic",
            Kind::Unknown => "call-stack-tree",
        }
    }

    fn meaning(&self) -> Meaning {
        match self.kind {
            Kind::Cpu => Meaning::OnCpu,
            Kind::DiskWrite => Meaning::Writes,
            Kind::Crash | Kind::Memory => Meaning::Stop,
            Kind::Hang | Kind::Launch | Kind::Unknown => Meaning::Presence,
        }
    }

    pub(super) fn threads(&self) -> &[Thread] {
        self.tree.threads.as_deref().unwrap_or_default()
    }

    /// True for crash stacks, which begin with the innermost frame; false for sampled trees.
    fn is_innermost_first(&self) -> Result<bool, Error> {
        match self.kind {
            Kind::Crash | Kind::Memory => Ok(true),
            Kind::Unknown if self.threads().iter().all(|thread| thread.branch.is_none()) => {
                let text = |text: &str| Error::new(ErrorKind::Malformed(text.to_owned()), Some(self.at.clone()));
                self.starts_at().map_err(text)
            }
            Kind::Hang | Kind::Cpu | Kind::DiskWrite | Kind::Launch | Kind::Unknown => Ok(false),
        }
    }

    /// True if the stacks of an unbranched tree begin with the innermost frame, which is shown by thread start functions at their end.
    fn starts_at(&self) -> Result<bool, &'static str> {
        let nodes = || self.threads().iter().flat_map(|thread| &thread.nodes);
        let is_start = |node: &Node| self.name_of(node).is_some_and(|name| THREAD_STARTS.contains(&name));
        // A single frame reveals nothing.
        let begins = nodes().any(|node| node.depth == 0 && node.callees > 0 && is_start(node));
        let ends = nodes().any(|node| node.depth > 0 && node.callees == 0 && is_start(node));
        match (begins, ends) {
            _ if nodes().all(|node| node.depth == 0) => Ok(false),
            (true, false) => Ok(false),
            (false, true) => Ok(true),
            _ => Err(
                "this call tree does not show whether its first frames are the innermost or the outermost ones; pass the diagnostic that it \
                      was cut out of",
            ),
        }
    }

    pub(super) fn name_of<'d>(&'d self, node: &'d Node) -> Option<&'d str> {
        let of_uuid = node.uuid.and_then(|uuid| self.tree.names.get(&uuid));
        of_uuid.or(node.name.as_ref()).map(String::as_str)
    }
}

impl Thread {
    /// Returns why the thread is left out, and the position.
    fn fault(&self, is_stop: bool) -> Option<(&Position, &'static str)> {
        let excess = self.excess.as_ref().map(|at| (at, "the callees of a frame have more samples than the frame"));
        let of_stop =
            self.branch.as_ref().map(|at| (at, "a stack of a crash or memory exception has a frame with two callers"));
        let of_tree = self.uncounted.as_ref().map(|at| (at, "a frame has no sampleCount"));
        excess.or(if is_stop { of_stop } else { of_tree })
    }

    /// The number of samples that are lost if the thread is left out.
    fn samples(&self, is_stop: bool) -> u64 {
        let samples = match is_stop {
            true => self.nodes.iter().filter(|node| node.callees == 0).count() as u64,
            false => self.nodes.iter().filter(|node| node.depth == 0).map(Node::all).fold(0, u64::saturating_add),
        };
        samples.max(1)
    }
}

/// Adds the threads of a diagnostic in order.
struct Writer<'d, 'i> {
    diagnostic: &'d Diagnostic,
    /// True if each stack is one sample, innermost frame first.
    is_stop: bool,
    app_code: AppCode<'d>,
    binaries: HashMap<(Option<Uuid>, Option<&'d str>), BinaryId>,
    arch: Option<StringId>,
    /// Callers whose offset is one less than their return address.
    adjusted: u64,
    /// Callers whose offset is their return address.
    raw: u64,
    /// True if an earlier diagnostic has another name for a binary.
    is_renamed: bool,
    input: InputBuilder<'i>,
}

impl<'d> Writer<'d, '_> {
    fn add_threads(&mut self) -> Result<(), Full> {
        let diagnostic = self.diagnostic;
        let pid = diagnostic.fact("pid").and_then(|pid| pid.parse().ok());
        let process = self.input.process(pid, process_name(diagnostic))?;
        let is_merged = diagnostic.tree.is_per_thread == Some(false);
        let merged = if is_merged { Some(self.input.thread(None, Some(process), ALL_THREADS)?) } else { None };
        for (index, thread) in diagnostic.threads().iter().enumerate() {
            let id = match merged {
                Some(id) => id,
                None => self.thread(process, index, thread.is_attributed)?,
            };
            if let Some((at, what)) = thread.fault(self.is_stop) {
                self.input.leave_out(RejectReason::UnreadThread, thread.samples(self.is_stop), at.clone(), what);
                continue;
            }
            if self.is_stop { self.add_stacks(id, &thread.nodes)? } else { self.add_tree(id, &thread.nodes)? }
        }
        Ok(())
    }

    fn thread(&mut self, process: u32, index: usize, is_attributed: bool) -> Result<u32, Full> {
        // Hangs always concern the main thread. Other threads are identified only by their position in the file, which differs between
        // diagnostics.
        let is_main = is_attributed && self.diagnostic.kind == Kind::Hang;
        let name =
            if is_main { "Main Thread".to_owned() } else { thread_name(format!("Thread {index}"), is_attributed) };
        let id = self.input.thread(None, Some(process), &name)?;
        if is_main {
            self.input.mark_main_thread(id);
        }
        Ok(id)
    }

    /// Adds a tree that begins with the outermost frames.
    fn add_tree(&mut self, thread: u32, nodes: &'d [Node]) -> Result<(), Full> {
        let mut path: Vec<Option<StackId>> = Vec::new();
        for node in nodes {
            path.truncate(node.depth);
            let frame = self.frame(node, node.callees > 0)?;
            let stack = self.input.stack(path.last().copied().flatten(), &[frame])?;
            path.push(stack);
            if node.own() > 0 {
                self.input.add_samples(thread, stack, node.own())?;
            }
        }
        Ok(())
    }

    /// Adds stacks that begin with the innermost frames.
    fn add_stacks(&mut self, thread: u32, nodes: &'d [Node]) -> Result<(), Full> {
        let mut leaf_first: Vec<FrameId> = Vec::new();
        for node in nodes {
            let frame = self.frame(node, node.depth > 0)?;
            leaf_first.push(frame);
            if node.callees == 0 {
                let stack = self.input.stack(None, &leaf_first)?;
                self.input.add_samples(thread, stack, 1)?;
                leaf_first.clear();
            }
        }
        Ok(())
    }

    fn frame(&mut self, node: &'d Node, is_caller: bool) -> Result<FrameId, Full> {
        let kind = if is_caller { FrameKind::RawCaller } else { FrameKind::RawLeaf };
        let name = self.diagnostic.name_of(node);
        if let Some(symbol) = &node.symbol {
            let has_binary = node.uuid.is_some() || name.is_some();
            let binary = has_binary.then(|| self.binary(node.uuid, name)).transpose()?;
            return self.input.named_frame((kind, 0), binary, symbol, None);
        }
        match node.offset {
            // An offset larger than the address is wrong.
            Some(offset) if (node.uuid.is_some() || name.is_some()) && node.address.is_none_or(|at| offset <= at) => {
                let address = self.in_binary(node.address, offset, is_caller);
                let binary = self.binary(node.uuid, name)?;
                self.input.frame(kind, address, Some(binary))
            }
            _ => self.input.frame(kind, node.address.unwrap_or_default(), None),
        }
    }

    /// Returns a frame's offset in its binary: of the instruction or, for callers, of the return address.
    fn in_binary(&mut self, address: Option<u64>, offset: u64, is_caller: bool) -> u64 {
        /// Every load address in a 64-bit process is above this limit, and no binary is that large.
        const LEAST_LOAD_ADDRESS: u64 = 1 << 32;
        const SMALLEST_PAGE: u64 = 4 << 10;
        let load = address.and_then(|address| address.checked_sub(offset));
        if let Some(offset) = load.filter(|_| offset >= LEAST_LOAD_ADDRESS) {
            return offset;
        }
        if !is_caller {
            return offset;
        }
        let is_adjusted = match load.map(|load| load % SMALLEST_PAGE) {
            Some(0) => false,
            Some(1) => true,
            _ => !self.is_stop,
        };
        if is_adjusted {
            self.adjusted += 1;
            offset.saturating_add(1)
        } else {
            self.raw += 1;
            offset
        }
    }

    fn binary(&mut self, uuid: Option<Uuid>, name: Option<&'d str>) -> Result<BinaryId, Full> {
        let key = (uuid, name);
        if let Some(&id) = self.binaries.get(&key) {
            return Ok(id);
        }
        let text = match (name, uuid) {
            (Some(name), _) => name.to_owned(),
            (None, uuid) => uuid.map(|uuid| uuid.to_string()).unwrap_or_default(),
        };
        // Some collectors write the path of the binary as its name.
        let (path, text) = match text.rsplit_once('/') {
            Some((_, last)) if !last.is_empty() => (text.clone(), last.to_owned()),
            _ => (self.app_code.path(uuid, name, &text), text),
        };
        let (path, name) = (self.input.string(&path)?, self.input.string(&text)?);
        let binary = Binary { name, uuid, arch: self.arch, load_address: Address::new(0), path };
        let id = self.input.binary(binary)?;
        self.is_renamed |= self.input.get_binary(id).name != name;
        self.binaries.insert(key, id);
        Ok(id)
    }
}

fn process_name(diagnostic: &Diagnostic) -> &str {
    diagnostic.fact("bundleIdentifier").unwrap_or("app")
}

/// The keys of facts, and their names in the summary of a run.
const SUMMARY: [(&str, &str); 14] = [
    ("latestApplicationVersion", "app-version"),
    ("appVersion", "app-version"),
    ("applicationVersion", "app-version"),
    ("appBuildVersion", "app-build"),
    ("applicationBuildVersion", "app-build"),
    ("regionFormat", "region"),
    ("isTestFlightApp", "is-testflight"),
    ("lowPowerModeEnabled", "is-low-power"),
    ("hangDuration", "hang-duration"),
    ("totalCPUTime", "cpu-time"),
    ("totalSampledTime", "sampled-time"),
    ("writesCaused", "bytes-written"),
    ("totalBytesWritten", "bytes-written"),
    ("launchDuration", "launch-duration"),
];

/// Facts that are not in the summary: labels of the run, and the kind of the diagnostic.
const OTHERS: [&str; 10] = [
    "bundleIdentifier",
    "pid",
    "osVersion",
    "deviceType",
    "platformArchitecture",
    "begin",
    "timeStampBegin",
    "timeStampEnd",
    "event",
    "eventDetail",
];

/// True if facts with this key are in use.
pub(super) fn is_known(key: &str) -> bool {
    OTHERS.contains(&key) || stop::is_known(key) || SUMMARY.iter().any(|(known, _)| *known == key)
}

/// Adds the metrics of a day as a run without samples. Returns the values that could not be read; `None` for a document without a complete day.
///
/// # Errors
/// If the recording is full.
pub(super) fn add_day(
    day: &Day,
    number: u32,
    name: &str,
    recording: &mut RecordingBuilder,
) -> Result<Option<Vec<Unread>>, Error> {
    let fact = |key: &str| day.facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.as_str());
    let moment = |key: &str| {
        let text = fact(key)?;
        since_1970(TocRun::date(text).as_deref().unwrap_or(text))
    };
    let length = moment("timeStampEnd").zip(moment("timeStampBegin")).map(|(end, begin)| end.since(begin));
    let Some((metrics, unread)) = metrics::of_day(&day.leaves, fact("regionFormat"), length) else {
        return Ok(None);
    };
    let like = Diagnostic {
        kind: Kind::Unknown,
        tree: Tree::default(),
        facts: day.facts.clone(),
        at: Position::default(),
        unknown: 0,
    };
    let Toc { runs } = contents(&like, number);
    let of_day = |mut run: TocRun| {
        run.summary.push(("diagnostic".to_owned(), "metrics".to_owned()));
        TocRun { metrics: Some(metrics.clone()), unread_quantities: unread.len() as u64, ..run }
    };
    let runs = runs.into_iter().map(of_day).collect();
    recording.input(name)?.finish(Toc { runs });
    Ok(Some(unread))
}

/// The device, the process, and the facts of the diagnostic.
fn contents(diagnostic: &Diagnostic, number: u32) -> Toc {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let mut device = Vec::new();
    device.extend(diagnostic.fact("osVersion").into_iter().flat_map(TocRun::system));
    device.extend(diagnostic.fact("deviceType").map(|model| pair("model", model)));
    device.extend(diagnostic.fact("platformArchitecture").map(|arch| pair("architecture", arch)));
    let pid = diagnostic.fact("pid");
    let name = process_name(diagnostic);
    let process = [Some(pair("name", name)), pid.map(|pid| pair("pid", pid))];
    let mut summary: Vec<_> =
        diagnostic.fact("begin").and_then(date).map(|date| pair("start-date", &date)).into_iter().collect();
    summary.extend(kind_name(diagnostic.kind).map(|kind| pair("diagnostic", kind)));
    for (key, called) in SUMMARY {
        summary.extend(diagnostic.fact(key).map(|value| pair(called, value)));
    }
    summary.extend(stop::facts(diagnostic));
    let states = diagnostic.facts.iter().filter(|fact| fact.key.starts_with("state "));
    summary.extend(states.map(|Fact { key, value, .. }| pair(key, value)));
    let run = TocRun {
        number,
        device,
        process: process.into_iter().flatten().collect(),
        summary,
        processes: vec![TocProcess {
            name: name.to_owned(),
            pid: pid.and_then(|pid| pid.parse().ok()),
            path: String::new(),
        }],
        ..TocRun::default()
    };
    Toc { runs: vec![run] }
}

const fn kind_name(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Crash => Some(CRASH),
        Kind::Hang => Some("hang"),
        Kind::Cpu => Some("cpu-exception"),
        Kind::DiskWrite => Some("disk-write"),
        Kind::Launch => Some("launch"),
        Kind::Memory => Some("memory-exception"),
        Kind::Unknown => None,
    }
}

/// The quantity that triggered the diagnostic.
fn stated(diagnostic: &Diagnostic) -> Option<Result<Weight, Unread>> {
    let (keys, unit): (&[&str], _) = match diagnostic.kind {
        Kind::Hang => (&["hangDuration"], Unit::HangTime),
        Kind::Launch => (&["launchDuration"], Unit::LaunchTime),
        Kind::Cpu => (&["totalCPUTime"], Unit::ExceptionTime),
        Kind::DiskWrite => (&["writesCaused", "totalBytesWritten"], Unit::WrittenBytes),
        Kind::Crash | Kind::Memory | Kind::Unknown => return None,
    };
    let fact = diagnostic.facts.iter().find(|fact| keys.contains(&fact.key.as_str()))?;
    let dimension = if unit.is_time() { Dimension::Time } else { Dimension::Size };
    let value = match fact.value.rsplit_once(' ').filter(|_| fact.is_number) {
        Some((value, unit)) => of_number(value, unit, dimension),
        None => {
            let texts =
                diagnostic.facts.iter().filter(|fact| QUANTITIES.contains(&fact.key.as_str()) && !fact.is_number);
            let texts = texts.map(|fact| fact.value.as_str());
            Language::of(texts, diagnostic.fact("regionFormat")).read(&fact.value, dimension)
        }
    };
    Some(value.map(|value| Weight::new(value, unit)))
}

const QUANTITIES: [&str; 6] =
    ["hangDuration", "totalCPUTime", "totalSampledTime", "writesCaused", "totalBytesWritten", "launchDuration"];

/// Formats a date. Apps write text, seconds since 2001 or 1970, or milliseconds since 1970. Until 2039, the ranges of these three numbers do not
/// overlap.
fn date(text: &str) -> Option<String> {
    const OF_2001: f64 = 978_307_200.0;
    let millis = match text.parse::<f64>() {
        Err(_) => return Some(text.to_owned()),
        Ok(seconds) if !seconds.is_finite() => return None,
        Ok(seconds) if seconds < 1.2e9 => (seconds + OF_2001) * 1e3,
        Ok(seconds) if seconds < 1e11 => seconds * 1e3,
        Ok(millis) => millis,
    };
    iso_8601(millis.round() as i64)
}

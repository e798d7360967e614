//! The grammar of a report: its head, its processes, their threads, frames and images.

use std::io::Read;

use crate::error::{Error, ErrorKind};
use crate::memory::Reservation;
use crate::readers::images::{Image, Images, hex};
use crate::readers::lines::{Line, LineStart, Lines};
use crate::units::LONGEST_FUNCTION;

/// The key of the first line of a report.
pub(super) const START: &str = "Date/Time:";

/// The keys of lines that begin a process.
const PROCESS: [&str; 2] = ["Process:", "Powerstats for:"];

/// The lines after which the output of other tools follows.
const END: [&str; 2] = ["Kextstat", "Custom Output"];

/// The value of a line `Key: value` with one of these keys.
fn value<'l>(line: &'l str, keys: &[&'static str]) -> Option<(&'static str, &'l str)> {
    let (key, value) = line.split_once(':')?;
    let &key = keys.iter().find(|&&known| known == key)?;
    Some((key, value.trim()))
}

/// The first number of a text, such as the 8 of `8 (1-8)`.
pub(super) fn first_number(text: &str) -> Option<u64> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// A place between two sections of a report.
pub(super) enum Next {
    Process(Line),
    Report(Line),
    /// True if other text follows the report, which is then complete.
    End {
        is_marked: bool,
    },
}

impl Next {
    /// The section that a line begins.
    fn of<R: Read>(line: Line, lines: &mut Lines<'_, R>) -> Result<Result<Self, Line>, Error> {
        let starts = |starts: &[&str]| starts.iter().any(|start| line.text.starts_with(start));
        if starts(&PROCESS) {
            return Ok(Ok(Self::Process(line)));
        }
        if starts(&[START]) {
            return Ok(Ok(Self::Report(line)));
        }
        if !starts(&END) {
            return Ok(Err(line));
        }
        // The output of other tools may have the same lines.
        while lines.next()?.is_some() {}
        Ok(Ok(Self::End { is_marked: true }))
    }
}

/// The facts above the first process.
#[derive(Debug, Default)]
pub(super) struct Head {
    fields: Vec<(&'static str, String)>,
}

/// The facts that are used.
const FACTS: [&str; 21] = [
    "Date/Time",
    "OS Version",
    "Architecture",
    "Report Version",
    "Data Source",
    "Event",
    "Duration",
    "Duration Sampled",
    "Steps",
    "Hardware model",
    "Command",
    "Version",
    "PID",
    "Reason",
    "Action taken",
    "Total CPU Time",
    "CPU",
    "CPU used",
    "Writes",
    "Wakeups",
    "Note",
];

impl Head {
    pub(super) fn read<R: Read>(start: &Line, lines: &mut Lines<'_, R>) -> Result<(Self, Next), Error> {
        let mut head = Self::default();
        let mut line = start.clone();
        loop {
            if let Some((key, value)) = value(&line.text, &FACTS).filter(|(key, _)| head.field(key).is_none()) {
                head.fields.push((key, value.to_owned()));
            }
            line = match lines.next()? {
                None => return Ok((head, Next::End { is_marked: false })),
                Some(line) => match Next::of(line, lines)? {
                    Ok(next) => return Ok((head, next)),
                    Err(line) => line,
                },
            };
        }
    }

    /// The first value of a key.
    pub(super) fn field(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_str())
    }
}

/// The header of a thread: `0x2ca9e    DispatchQueue "LABEL"(1)    Thread name "NAME"    49 samples (1-49)    priority 47    cpu time 0.1s`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ThreadHead {
    /// `None` if the samples of several threads were merged.
    pub(super) tid: Option<u64>,
    pub(super) name: String,
    /// The label of its queue; only its number before macOS 12.
    pub(super) queue: String,
    /// Its number of samples, if stated.
    pub(super) samples: Option<u64>,
    /// True for the threads of idle cores, which are recorded as running.
    pub(super) is_idle: bool,
}

impl ThreadHead {
    /// `None` for a line that cannot be read.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (tid, mut rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let is_merged = tid == "<multiple>" || tid.contains(',');
        let mut head = Self { tid: if is_merged { None } else { Some(hex(tid)?) }, ..Self::default() };
        loop {
            rest = rest.trim_start();
            if let Some(queue) = rest.strip_prefix("DispatchQueue \"") {
                let (label, after) = queue.split_once("\"(")?;
                let (number, after) = after.split_once(')')?;
                head.queue = Some(label).filter(|_| is_number(number))?.to_owned();
                rest = after;
            } else if let Some(queue) = rest.strip_prefix("DispatchQueue ") {
                let (number, after) = queue.split_once(char::is_whitespace).unwrap_or((queue, ""));
                head.queue = Some(number).filter(|number| is_number(number))?.to_owned();
                rest = after;
            } else if let Some(name) = rest.strip_prefix("Thread name \"") {
                let (name, after) = name.split_once("\" ").or_else(|| Some((name.strip_suffix('"')?, "")))?;
                head.name = name.to_owned();
                rest = after;
            } else {
                break;
            }
        }
        if let Some((before, _)) = rest.split_once(" sample") {
            head.samples = Some(before.rsplit(char::is_whitespace).next()?.parse().ok()?);
        }
        head.is_idle = rest.contains("  idle time ") || rest.contains("\tidle time ");
        Some(head)
    }
}

/// A thread of a process.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) head: ThreadHead,
    line: LineStart,
    /// The index of its first frame.
    pub(super) first: usize,
    /// The samples of its outermost frames.
    total: u64,
}

/// A line of a stack.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) depth: usize,
    pub(super) line: LineStart,
    pub(super) text: String,
    count: u64,
    of_callees: u64,
    /// True if it called other functions.
    pub(super) is_caller: bool,
}

impl Node {
    /// The samples that ended in it.
    pub(super) fn own(&self) -> u64 {
        self.count - self.of_callees
    }
}

/// A process with all that its section has.
#[derive(Debug, Default)]
pub(super) struct Process {
    pub(super) name: String,
    pub(super) pid: Option<u64>,
    pub(super) path: String,
    /// The CPU time that the report states, as it is written.
    pub(super) cpu_time: Option<String>,
    pub(super) threads: Vec<Thread>,
    pub(super) nodes: Vec<Node>,
    pub(super) images: Images,
    /// The last line with text.
    pub(super) last_line: LineStart,
    /// True if the report ends with this process.
    pub(super) is_last: bool,
    _held: Option<Reservation>,
}

impl Process {
    /// The number of its samples.
    pub(super) fn samples(&self) -> u64 {
        self.threads.iter().fold(0, |sum, thread| sum.saturating_add(thread.total))
    }

    /// Reads the process that begins with a line.
    ///
    /// # Errors
    /// When a line is damaged, its counts differ from what it states of itself, the report ends inside its stacks, or a limit is passed.
    pub(super) fn read<R: Read>(start: &Line, lines: &mut Lines<'_, R>) -> Result<(Self, Next), Error> {
        let mut draft = Draft::new(start, lines.memory.nothing());
        let next = loop {
            let Some(line) = lines.next()? else { break Next::End { is_marked: false } };
            match Next::of(line, lines)? {
                Ok(next) => break next,
                Err(line) => draft.take(&line, lines)?,
            }
        };
        draft.process.is_last = matches!(next, Next::End { is_marked: false });
        Ok((draft.finish(start, lines)?, next))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Fields,
    Stacks,
    Images,
    /// Text of others.
    Behind,
}

#[derive(Default)]
struct Draft {
    process: Process,
    images: Vec<Image>,
    part: Part,
    /// The thread in the first line, for processes without lines of threads.
    only_thread: Option<u64>,
    /// The number of samples, if stated for all threads.
    stated: Option<u64>,
    /// The node of each open depth.
    open: Vec<usize>,
    bytes: u64,
    reserved: u64,
    held: Option<Reservation>,
}

/// Memory is reserved each time lines have taken this many bytes.
const BYTES_BETWEEN: u64 = 64 << 10;

impl Draft {
    /// `Process: NAME [PID]`, or `Powerstats for: NAME [PID] thread 0x2a`.
    fn new(start: &Line, held: Reservation) -> Self {
        let text = start.text.split_once(':').map_or("", |(_, text)| text.trim());
        let bracket = text.match_indices(" [").find_map(|(at, _)| {
            let (pid, rest) = text.get(at + 2..)?.split_once(']')?;
            Some((text.get(..at)?, pid.parse().ok()?, rest))
        });
        let (name, pid, rest) = bracket.map_or((text, None, ""), |(name, pid, rest)| (name, Some(pid), rest));
        let process = Process { name: name.to_owned(), pid, last_line: start.at, ..Process::default() };
        let only_thread = rest.trim().strip_prefix("thread ").and_then(hex);
        Self { process, only_thread, held: Some(held), ..Self::default() }
    }

    fn take<R>(&mut self, line: &Line, lines: &Lines<'_, R>) -> Result<(), Error> {
        let text = line.text.trim_end();
        if text.is_empty() {
            if self.part == Part::Images && !self.images.is_empty() {
                self.part = Part::Behind;
            }
            return Ok(());
        }
        self.process.last_line = line.at;
        self.reserve(text, line, lines)?;
        match self.part {
            Part::Fields | Part::Stacks if text == "  Binary Images:" => self.part = Part::Images,
            Part::Fields | Part::Stacks if text.starts_with("  Thread ") => {
                self.part = Part::Stacks;
                let head = text.strip_prefix("  Thread ").and_then(ThreadHead::parse);
                self.add_thread(
                    head.ok_or_else(|| lines.damaged("the first line of a thread cannot be read", line))?,
                    line,
                );
            }
            Part::Fields if !text.starts_with(' ') => self.add_field(text, line, lines)?,
            Part::Fields | Part::Stacks if text.trim_start().starts_with('<') => {}
            Part::Fields | Part::Stacks => {
                if self.process.threads.is_empty() {
                    let head = ThreadHead { tid: self.only_thread, ..ThreadHead::default() };
                    self.add_thread(head, line);
                }
                self.part = Part::Stacks;
                self.add_node(text, line, lines)?;
            }
            Part::Images => {
                let image = Image::parse(text);
                self.images
                    .push(image.ok_or_else(|| lines.damaged("a line of a list of images cannot be read", line))?);
            }
            Part::Behind => {}
        }
        Ok(())
    }

    fn add_field<R>(&mut self, text: &str, line: &Line, lines: &Lines<'_, R>) -> Result<(), Error> {
        match value(text, &["Path", "CPU Time", "Num samples", "Microstackshots"]) {
            Some(("Path", path)) => self.process.path = path.to_owned(),
            Some(("CPU Time", time)) => self.process.cpu_time = Some(time.to_owned()),
            Some((_, samples)) => {
                let number = first_number(samples);
                self.stated =
                    Some(number.ok_or_else(|| lines.damaged("the number of samples of a process is missing", line))?);
            }
            None => {}
        }
        Ok(())
    }

    fn add_thread(&mut self, head: ThreadHead, line: &Line) {
        self.open.clear();
        self.process.threads.push(Thread { head, line: line.at, first: self.process.nodes.len(), total: 0 });
    }

    fn add_node<R>(&mut self, text: &str, line: &Line, lines: &Lines<'_, R>) -> Result<(), Error> {
        let (depth, count, text) = node(text).map_err(|what| lines.damaged(what, line))?;
        if depth > self.open.len() {
            return Err(lines.damaged("a line of a stack is indented by more than one level", line));
        }
        if depth > lines.max_depth {
            let text = format!("a stack has more than {} frames", lines.max_depth);
            return Err(lines.error(ErrorKind::Limit(text), line.at));
        }
        let frame = FrameText::parse(text);
        if frame.steps.is_some_and(|steps| steps_of(steps) != Some(count)) {
            return Err(lines.damaged("the steps at the end of a line of a stack are not as many as its samples", line));
        }
        self.open.truncate(depth);
        let nodes = &mut self.process.nodes;
        if let Some(caller) = self.open.last().and_then(|&caller| nodes.get_mut(caller)) {
            let of_callees = caller.of_callees.checked_add(count).filter(|&sum| sum <= caller.count);
            caller.of_callees = of_callees
                .ok_or_else(|| lines.damaged("the callees of a function have more samples than the function", line))?;
            caller.is_caller |= !frame.is_pseudo();
        } else if let Some(thread) = self.process.threads.last_mut() {
            let total = thread.total.checked_add(count);
            thread.total = total.ok_or_else(|| lines.damaged("a thread has too many samples", line))?;
        }
        self.open.push(nodes.len());
        let text = text.to_owned();
        nodes.push(Node { depth, line: line.at, text, count, of_callees: 0, is_caller: false });
        Ok(())
    }

    /// Counts the memory of a line, and reserves it from time to time.
    fn reserve<R>(&mut self, text: &str, line: &Line, lines: &Lines<'_, R>) -> Result<(), Error> {
        // The largest row that a line becomes, twice since lists grow, and its text.
        self.bytes += 2 * (text.len() + size_of::<Node>().max(size_of::<Image>()).max(size_of::<Thread>())) as u64;
        if self.bytes - self.reserved >= BYTES_BETWEEN {
            self.reserved = self.bytes;
            let held = self.held.as_mut().map_or(Ok(()), |held| held.resize(self.bytes));
            held.map_err(|over| lines.error(ErrorKind::Memory(over), line.at))?;
        }
        Ok(())
    }

    fn finish<R>(self, start: &Line, lines: &Lines<'_, R>) -> Result<Process, Error> {
        let Self { mut process, images, part, stated, held, .. } = self;
        let damaged = |text: String, at| Err(lines.error(ErrorKind::Malformed(text), at));
        if process.is_last && (part == Part::Stacks || (part == Part::Images && images.is_empty())) {
            let text = format!("the report is cut inside the stacks of {}; pass the complete report", process.name);
            return damaged(text, process.last_line);
        }
        for thread in &process.threads {
            if let Some(stated) = thread.head.samples.filter(|&stated| stated != thread.total) {
                let text = format!("a thread has {} samples, and {stated} in its first line", thread.total);
                return damaged(text, thread.line);
            }
        }
        // In other reports, this is the number of steps in which the process was seen.
        let is_sum = start.text.starts_with(PROCESS[1]) && !process.threads.is_empty();
        if let Some(stated) = stated.filter(|&stated| is_sum && stated != process.samples()) {
            let text = format!("a process has {} samples, and {stated} in its head", process.samples());
            return damaged(text, start.at);
        }
        (process.images, process._held) = (Images::new(images), held);
        Ok(process)
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The depth, number of samples and text of a line of a stack; an error explains what is wrong with it.
fn node(line: &str) -> Result<(usize, u64, &str), &'static str> {
    let indented = line.trim_start_matches(' ');
    // Before frames of the kernel.
    let rest = indented.strip_prefix('*').unwrap_or(indented);
    let (count, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let text = text.trim_start();
    if !is_number(count) || text.is_empty() {
        return Err("a line of a stack lacks its number of samples, or its function");
    }
    let count = count.parse().map_err(|_| "the number of samples is too large")?;
    match (line.len() - rest.len()).checked_sub(2) {
        Some(indent) if indent % 2 == 0 => Ok((indent / 2, count, text)),
        _ => Err("a line of a stack is indented by an odd number of columns"),
    }
}

/// The number of steps in `1-16,20`.
fn steps_of(text: &str) -> Option<u64> {
    text.split(',').try_fold(0_u64, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

/// A frame: `SYMBOL + 35 (File.swift:31,1 in BINARY + 17460019) [0x10772db33] (STATE) 1-49`. All but the symbol may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FrameText<'l> {
    /// `???` if unknown.
    pub(super) symbol: &'l str,
    /// Its name, or `<UUID>`.
    pub(super) binary: Option<&'l str>,
    /// The offset in the binary.
    pub(super) offset: Option<u64>,
    pub(super) address: Option<u64>,
    /// File and line.
    pub(super) source: Option<(&'l str, u32)>,
    /// The state of the thread in samples that end here, such as `running` or `blocked by wait4 on spindump [546]`.
    pub(super) state: Option<&'l str>,
    /// The steps in which it was seen, such as `1-49`.
    steps: Option<&'l str>,
}

impl<'l> FrameText<'l> {
    /// Every text describes a frame; an unknown form becomes its symbol.
    pub(super) fn parse(text: &'l str) -> Self {
        let (text, steps) = match text.rsplit_once(' ') {
            Some((before, steps)) if before.ends_with([']', ')', '>']) && is_steps(steps) => (before, Some(steps)),
            _ => (text, None),
        };
        let (function, address, after) = address(text);
        let state = after.trim().strip_prefix('(').and_then(|state| state.strip_suffix(')'));
        let mut frame = Self { symbol: function, address, state, steps, ..Self::default() };
        if let Some((symbol, place)) = last_group(function) {
            let (place, offset) = with_offset(place);
            let (source, binary) = match place.split_once(" in ") {
                Some((source, binary)) if source.contains(['.', '<']) => (source_line(source), binary),
                _ => (None, place),
            };
            (frame.symbol, frame.binary, frame.offset, frame.source) = (symbol, Some(binary), offset, source);
        }
        let (symbol, from_start) = with_offset(frame.symbol);
        let is_far = frame.address.is_some() && from_start.is_some_and(|offset| offset > LONGEST_FUNCTION);
        frame.symbol = if is_far { UNKNOWN } else { symbol };
        frame
    }

    /// True for a note in the place of a function, such as `<User mode>`. Its samples are those of the function above it.
    pub(super) fn is_pseudo(&self) -> bool {
        let is_note = self.symbol.starts_with('<') && self.symbol.ends_with('>');
        is_note && self.address.is_none() && self.binary.is_none() && self.symbol != TRUNCATED
    }

    /// True for a frame with a name.
    pub(super) fn is_named(&self) -> bool {
        !matches!(self.symbol, UNKNOWN | "")
    }
}

/// The symbol of code without a name.
const UNKNOWN: &str = "???";

/// The note in the place of callers that were not recorded. Without it, the function below it would look like the first of its thread.
const TRUNCATED: &str = "<truncated backtrace>";

fn is_steps(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b','))
}

/// The function, the address in brackets, and the text after it.
fn address(text: &str) -> (&str, Option<u64>, &str) {
    let found = text.match_indices(" [").find_map(|(at, _)| {
        let (address, after) = text.get(at + 2..)?.split_once(']')?;
        let address = hex(address).or_else(|| (address == "0").then_some(0))?;
        Some((text.get(..at)?, Some(address), after))
    });
    found.unwrap_or_else(|| match text.split_once("> (") {
        Some((note, _)) if text.starts_with('<') => {
            let (note, after) = text.split_at(note.len() + 1);
            (note, None, after)
        }
        _ => (text, None, ""),
    })
}

/// The text in parentheses at the end, after a blank, and the text before it. Names of binaries may hold parentheses.
fn last_group(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_suffix(')')?;
    let mut open = 1;
    let at = inner.rfind(|character| {
        open += match character {
            ')' => 1,
            '(' => -1,
            _ => 0,
        };
        open == 0
    })?;
    Some((inner[..at].strip_suffix(' ')?, &inner[at + 1..]))
}

/// `NAME + 12` apart.
fn with_offset(text: &str) -> (&str, Option<u64>) {
    let parts = text.rsplit_once(" + ").and_then(|(name, offset)| Some((name, offset.parse().ok()?)));
    parts.map_or((text, None), |(name, offset)| (name, Some(offset)))
}

/// `File.swift:31,1` or `File.swift:31`; the column is not kept.
fn source_line(text: &str) -> Option<(&str, u32)> {
    let (file, place) = text.rsplit_once(':')?;
    let line = place.split_once(',').map_or(place, |(line, _)| line);
    Some((file, line.parse().ok()?))
}

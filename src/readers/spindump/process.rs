//! Parses a section of a report: a process with its threads, stacks and images.
//!
//! The counts of a thread are checked against each other and against its first line. An invalid or contradictory line leaves out its thread. An
//! invalid first line of a section leaves out the process, and an invalid line of the image list leaves out only that image.

use std::io::Read;

use super::frame::{FrameText, bracketed};
use super::report::{IMAGES, Next, PROCESS, ThreadHead, first_number, is_number, value};
use crate::error::{Error, ErrorKind};
use crate::memory::Reservation;
use crate::readers::images::{Image, Images, hex};
use crate::readers::lines::{Line, LineStart, Lines};
use crate::recording::RejectReason;

/// A part of a section that was left out.
#[derive(Debug)]
pub(super) struct Unread {
    pub(super) reason: RejectReason,
    pub(super) samples: u64,
    pub(super) line: LineStart,
    pub(super) what: String,
}

#[derive(Debug)]
pub(super) struct Thread {
    pub(super) head: ThreadHead,
    line: LineStart,
    /// The index of its first frame.
    pub(super) first: usize,
    /// The samples of its outermost frames.
    total: u64,
    /// The invalid line, and why it leaves out the thread.
    fault: Option<(LineStart, String)>,
}

impl Thread {
    pub(super) fn is_read(&self) -> bool {
        self.fault.is_none()
    }

    /// The number of samples in the thread, even if it is left out.
    fn samples(&self) -> u64 {
        if self.is_read() { self.total } else { self.head.samples.unwrap_or(self.total).max(1) }
    }
}

/// A stack line.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) depth: usize,
    pub(super) line: LineStart,
    pub(super) text: String,
    count: u64,
    of_callees: u64,
    /// True if it calls other functions.
    pub(super) is_caller: bool,
}

impl Node {
    /// The number of samples that end in it.
    pub(super) fn own(&self) -> u64 {
        self.count - self.of_callees
    }
}

/// A process with the contents of its section.
#[derive(Debug, Default)]
pub(super) struct Process {
    pub(super) name: String,
    pub(super) pid: Option<u64>,
    pub(super) path: String,
    /// The CPU time according to the report, verbatim.
    pub(super) cpu_time: Option<String>,
    pub(super) threads: Vec<Thread>,
    pub(super) nodes: Vec<Node>,
    pub(super) images: Images,
    /// The number of samples and their percentage of the steps, if the report lists them.
    pub(super) stated: (Option<u64>, Option<u64>),
    pub(super) unread: Vec<Unread>,
    /// True if lines of another process follow, but not its first line.
    pub(super) is_followed: bool,
    pub(super) last_line: LineStart,
    /// True if the report ends with this process.
    pub(super) is_last: bool,
    _held: Option<Reservation>,
}

impl Process {
    /// The number of samples, even if they are left out.
    pub(super) fn samples(&self) -> u64 {
        let unread = self.unread.iter().filter(|unread| unread.reason != RejectReason::UnreadImage);
        let read = self.threads.iter().filter(|thread| thread.is_read()).map(|thread| thread.total);
        read.chain(unread.map(|unread| unread.samples)).fold(0, u64::saturating_add)
    }

    /// True if its image list is complete.
    pub(super) fn has_images(&self) -> bool {
        self.unread.iter().all(|unread| unread.reason != RejectReason::UnreadImage)
    }

    /// Reads the process that starts with `start`.
    ///
    /// # Errors
    /// If the report ends inside its stacks or images, or a limit is exceeded.
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
    /// Text after the report.
    Behind,
    /// Another process, whose first line is missing or invalid.
    Unread,
}

#[derive(Default)]
struct Draft {
    process: Process,
    images: Vec<Image>,
    part: Part,
    /// The thread in the section's first line, for processes without thread lines.
    only_thread: Option<u64>,
    /// True if the last image line is invalid.
    is_image_odd: bool,
    /// The invalid line, and why it leaves out the process.
    fault: Option<(LineStart, String)>,
    /// The node at each open depth.
    open: Vec<usize>,
    bytes: u64,
    reserved: u64,
    held: Option<Reservation>,
}

/// The start of a thread's first line.
const THREAD: &str = "  Thread ";

/// Memory is reserved in steps of this size.
const BYTES_BETWEEN: u64 = 64 << 10;

impl Draft {
    /// Parses `Process: NAME [PID]`, or `Powerstats for: NAME [PID] thread 0x2a`.
    fn new(start: &Line, held: Reservation) -> Self {
        let text = start.text.split_once(':').map_or("", |(_, text)| text.trim());
        let bracket = bracketed(text, |pid| pid.parse().ok());
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
        if self.is_of_other_process(text) {
            self.part = Part::Unread;
            self.process.is_followed = true;
            self.leave_out(RejectReason::UnreadProcess, 0, line.at, "the first line of a process is missing");
        }
        match self.part {
            Part::Fields | Part::Stacks if text == IMAGES => self.part = Part::Images,
            Part::Fields if !text.starts_with(' ') => self.add_field(text, line),
            Part::Fields | Part::Stacks => self.take_stack(text, line, lines)?,
            Part::Images => self.add_image(text, line),
            Part::Behind => {}
            Part::Unread => {
                let found = node(text).ok().filter(|(depth, ..)| *depth == 0).zip(self.process.unread.last_mut());
                found.into_iter().for_each(|((_, count, _), process)| {
                    process.samples = process.samples.saturating_add(count);
                });
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, reason: RejectReason, samples: u64, line: LineStart, what: impl Into<String>) {
        self.process.unread.push(Unread { reason, samples, line, what: what.into() });
    }

    /// True for a line of another process whose first line is missing.
    fn is_of_other_process(&self, text: &str) -> bool {
        let is_field = || {
            let key = text.split_once(':').map_or("", |(key, _)| key);
            !key.is_empty()
                && key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b' ')
                && !text.starts_with(' ')
        };
        let is_stack = || {
            let is_node = node(text).is_ok_and(|(_, _, text)| FrameText::parse(text).address.is_some());
            is_node || text.starts_with(THREAD)
        };
        match self.part {
            Part::Fields | Part::Unread => false,
            Part::Stacks => is_field(),
            Part::Images => is_field() || is_stack(),
            Part::Behind => text == IMAGES || is_stack(),
        }
    }

    fn add_field(&mut self, text: &str, line: &Line) {
        match value(text, &["Path", "CPU Time", "Num samples", "Microstackshots"]) {
            Some(("Path", path)) => self.process.path = path.to_owned(),
            Some(("CPU Time", time)) => self.process.cpu_time = Some(time.to_owned()),
            Some((_, samples)) => {
                let share = samples.split_once('(').and_then(|(_, share)| share.strip_suffix("%)")?.parse().ok());
                self.process.stated = (first_number(samples), share);
                if self.process.stated.0.is_none() {
                    self.fault = Some((line.at, "the number of samples of a process is missing".to_owned()));
                }
            }
            None => {}
        }
    }

    fn add_image(&mut self, text: &str, line: &Line) {
        let image = Image::parse(text);
        self.is_image_odd = image.is_none();
        match image {
            Some(image) => self.images.push(image),
            None => {
                self.leave_out(RejectReason::UnreadImage, 1, line.at, "a line of a list of images has an unknown form");
            }
        }
    }

    /// Handles a line of a thread: its first line, a note, or a frame.
    fn take_stack<R>(&mut self, text: &str, line: &Line, lines: &Lines<'_, R>) -> Result<(), Error> {
        let inner = text.trim_start();
        if let Some(head) = text.strip_prefix(THREAD) {
            let head = ThreadHead::parse(head);
            let is_odd = head.is_none();
            self.add_thread(head.unwrap_or_default(), line);
            if is_odd {
                self.spoil("the first line of a thread has an unknown form", line.at);
            }
            return Ok(());
        }
        if inner.starts_with('<') {
            return Ok(());
        }
        if self.process.threads.is_empty() {
            self.add_thread(ThreadHead { tid: self.only_thread, ..ThreadHead::default() }, line);
        }
        self.part = Part::Stacks;
        let fault = match node(text) {
            Ok((depth, ..)) if depth > lines.max_depth && depth <= self.open.len() => {
                let text = format!("a stack has more than {} frames", lines.max_depth);
                return Err(lines.error(ErrorKind::Limit(text), line.at));
            }
            Ok(parts) => self.add_node(parts, line).err(),
            Err(what) => {
                // This may have been a thread's first line.
                if text.len() - inner.len() <= 2 || inner.starts_with(THREAD.trim_start()) {
                    self.add_thread(ThreadHead::default(), line);
                }
                Some(what)
            }
        };
        fault.into_iter().for_each(|what| self.spoil(what, line.at));
        Ok(())
    }

    fn add_thread(&mut self, head: ThreadHead, line: &Line) {
        self.part = Part::Stacks;
        self.open.clear();
        let first = self.process.nodes.len();
        self.process.threads.push(Thread { head, line: line.at, first, total: 0, fault: None });
    }

    /// Leaves out the last thread.
    fn spoil(&mut self, what: &str, line: LineStart) {
        if let Some(thread) = self.process.threads.last_mut().filter(|thread| thread.is_read()) {
            thread.fault = Some((line, what.to_owned()));
            self.process.nodes.truncate(thread.first);
            self.open.clear();
        }
    }

    fn add_node(&mut self, (depth, count, text): (usize, u64, &str), line: &Line) -> Result<(), &'static str> {
        let Some(thread) = self.process.threads.last_mut() else { return Ok(()) };
        if depth == 0 {
            thread.total = thread.total.saturating_add(count);
        }
        if !thread.is_read() {
            return Ok(());
        }
        if thread.total == u64::MAX {
            return Err("a thread has too many samples");
        }
        if depth > self.open.len() {
            return Err("a line of a stack is indented by more than one level");
        }
        let frame = FrameText::parse(text);
        if frame.steps.is_some_and(|steps| steps_of(steps) != Some(count)) {
            return Err("the number of steps at the end of a line differs from its number of samples");
        }
        self.open.truncate(depth);
        let nodes = &mut self.process.nodes;
        if let Some(caller) = self.open.last().and_then(|&caller| nodes.get_mut(caller)) {
            let of_callees = caller.of_callees.checked_add(count).filter(|&sum| sum <= caller.count);
            caller.of_callees = of_callees.ok_or("the callees of a function have more samples than the function")?;
            caller.is_caller |= !frame.is_pseudo();
        }
        self.open.push(nodes.len());
        nodes.push(Node { depth, line: line.at, text: text.to_owned(), count, of_callees: 0, is_caller: false });
        Ok(())
    }

    /// Adds to the memory of the process, and reserves it in steps.
    fn reserve<R>(&mut self, text: &str, line: &Line, lines: &Lines<'_, R>) -> Result<(), Error> {
        // The text, and the largest struct that a line can become. Twice, since a `Vec` doubles as it grows.
        self.bytes += 2 * (text.len() + size_of::<Node>().max(size_of::<Image>()).max(size_of::<Thread>())) as u64;
        if self.bytes - self.reserved >= BYTES_BETWEEN {
            self.reserved = self.bytes;
            let held = self.held.as_mut().map_or(Ok(()), |held| held.resize(self.bytes));
            held.map_err(|over| lines.error(ErrorKind::Memory(over), line.at))?;
        }
        Ok(())
    }

    fn finish<R>(mut self, start: &Line, lines: &Lines<'_, R>) -> Result<Process, Error> {
        let is_cut =
            self.part == Part::Stacks || (self.part == Part::Images && (self.images.is_empty() || self.is_image_odd));
        if self.process.is_last && is_cut {
            let part = if self.part == Part::Stacks { "stacks" } else { "list of images" };
            let text =
                format!("the report is truncated inside the {part} of {}; pass the complete report", self.process.name);
            return Err(lines.error(ErrorKind::Malformed(text), self.process.last_line));
        }
        for thread in &mut self.process.threads {
            if let Some(stated) = thread.head.samples.filter(|&stated| stated != thread.total && thread.is_read()) {
                let text = format!("a thread has {} samples, and {stated} in its first line", thread.total);
                thread.fault = Some((thread.line, text));
            }
        }
        let is_sum = start.text.starts_with(PROCESS[1]) && !self.process.threads.is_empty();
        if is_sum {
            self.check_sum(start);
        }
        for thread in &self.process.threads {
            if let Some((line, what)) = &thread.fault {
                let what = what.clone();
                self.process.unread.push(Unread {
                    reason: RejectReason::UnreadThread,
                    samples: thread.samples(),
                    line: *line,
                    what,
                });
            }
        }
        self.process.unread.iter_mut().for_each(|unread| unread.samples = unread.samples.max(1));
        (self.process.images, self.process._held) = (Images::new(self.images), self.held);
        Ok(self.process)
    }

    /// Leaves out a process whose samples do not add up to the number in its header. In other kinds of reports, that is the number of steps in
    /// which the process was seen.
    fn check_sum(&mut self, start: &Line) {
        let process = &mut self.process;
        let sum = process.threads.iter().fold(0, |sum: u64, thread| sum.saturating_add(thread.samples()));
        let of_thread = process.threads.iter_mut().find_map(|thread| thread.fault.take());
        let stated = process.stated.0.unwrap_or(sum);
        let of_sum = || (start.at, format!("a process has {sum} samples, and {stated} in its header"));
        let Some((line, what)) = of_thread.or(self.fault.take()).or_else(|| (stated != sum).then(of_sum)) else {
            return;
        };
        process.threads.clear();
        process.nodes.clear();
        self.leave_out(RejectReason::UnreadProcess, stated.max(1), line, what);
    }
}

/// Parses a stack line into its depth, number of samples and text; an error explains what is wrong with it.
fn node(line: &str) -> Result<(usize, u64, &str), &'static str> {
    let indented = line.trim_start_matches(' ');
    // Marks kernel frames.
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

/// Returns the number of steps in a list such as `1-16,20`.
fn steps_of(text: &str) -> Option<u64> {
    text.split(',').try_fold(0_u64, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

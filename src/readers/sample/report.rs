//! Parses a report: its head, the nodes of its call graph, its table of functions at the top of stacks, and its images.

use std::io::Read;

use super::graph::{FrameText, GraphLine, ThreadText};
use crate::error::{Error, ErrorKind};
use crate::hash::HashMap;
use crate::memory::Reservation;
use crate::readers::images::{Image, Images};
use crate::readers::lines::{Line, LineStart, Lines};
use crate::recording::RejectReason;

/// The start of a report.
pub(super) const START: &str = "Analysis of sampling ";

/// A node of the call graph: a thread at depth 0, or a frame.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) depth: usize,
    pub(super) line: LineStart,
    pub(super) text: String,
    pub(super) count: u64,
    /// The samples of its callees.
    pub(super) of_callees: u64,
}

impl Node {
    /// The number of samples that end in it.
    pub(super) fn own(&self) -> u64 {
        self.count - self.of_callees
    }

    /// True if it calls other functions.
    pub(super) fn is_caller(&self) -> bool {
        self.of_callees > 0
    }
}

/// A thread, or a line of the image list, that was left out.
#[derive(Debug)]
pub(super) struct Unread {
    pub(super) reason: RejectReason,
    pub(super) samples: u64,
    pub(super) line: LineStart,
    pub(super) what: &'static str,
}

/// Identifies a function in the report's own table: symbol and binary, or the address of unnamed code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Top {
    symbol: String,
    binary: Option<String>,
    address: Option<u64>,
}

impl Top {
    pub(super) fn of(frame: &FrameText<'_>) -> Self {
        let address = frame.address.filter(|_| !frame.is_named());
        Self { symbol: frame.symbol.to_owned(), binary: frame.binary.map(str::to_owned), address }
    }
}

#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) process: String,
    pub(super) pid: Option<u64>,
    /// The lines `Key: value` above the call graph.
    pub(super) head: Vec<(String, String)>,
    pub(super) nodes: Vec<Node>,
    /// The report's table of functions at the top of stacks, with their samples.
    pub(super) tops: HashMap<Top, u64>,
    pub(super) images: Images,
    pub(super) unread: Vec<Unread>,
    /// True if the image list is readable to its end, or the report notes that there is none.
    pub(super) is_whole: bool,
    /// The memory reserved for the report.
    held: Reservation,
}

/// The parts of a report, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Head,
    Graph,
    /// A table of how often functions occur in stacks. Not used, since it counts recursive functions several times.
    Total,
    Top,
    Images,
    /// Text after the report.
    Behind,
}

/// A report that is being read.
#[derive(Default)]
struct Draft {
    report: Report,
    images: Vec<Image>,
    part: Part,
    /// The node at each open depth.
    open: Vec<usize>,
    /// True after an empty line that followed the call graph.
    is_graph_closed: bool,
    /// True if the last line of the image list was invalid.
    is_image_odd: bool,
    /// The first node of the current thread, and its samples, if known.
    thread: (usize, Option<u64>),
    /// The samples of the thread's outermost frames.
    outermost: u64,
    /// True if the current thread is left out, as the last entry of `unread`.
    is_left_out: bool,
    last_line: LineStart,
    /// The approximate memory of the report in bytes, and how much of it is reserved.
    bytes: u64,
    reserved: u64,
}

/// Memory is reserved in steps of this size.
const BYTES_BETWEEN: u64 = 64 << 10;

impl Report {
    /// Reads the report that starts with `start`. Also returns the first line of the next report, if there is one.
    ///
    /// # Errors
    /// If the report lacks its call graph or a part of it, or a limit is exceeded.
    pub(super) fn read<R: Read>(start: &Line, lines: &mut Lines<'_, R>) -> Result<(Self, Option<Line>), Error> {
        let mut draft = Draft::new(&start.text, lines.memory.nothing());
        let next = loop {
            match lines.next()? {
                Some(line) if line.text.starts_with(START) => break Some(line),
                Some(line) => draft.take(&line, lines)?,
                None => break None,
            }
        };
        if draft.part == Part::Head {
            let text = "the report ends before its call graph; run sample again";
            return Err(lines.damaged(text, start));
        }
        if !draft.has_threads() {
            return Err(lines.damaged("the call graph has no threads; run sample again", start));
        }
        if draft.part == Part::Graph && !draft.is_graph_closed {
            // Samples of missing callees would count as self weight of their callers.
            let text = "the report is truncated inside its call graph, so its counts are unknown; run sample again";
            return Err(lines.error(ErrorKind::Malformed(text.to_owned()), draft.last_line));
        }
        draft.report.is_whole = draft.is_whole();
        draft.report.unread.iter_mut().for_each(|unread| unread.samples = unread.samples.max(1));
        Ok((Self { images: Images::new(draft.images), ..draft.report }, next))
    }

    pub(super) fn field(&self, key: &str) -> Option<&str> {
        self.head.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

impl Draft {
    fn new(start: &str, held: Reservation) -> Self {
        let text = start.strip_prefix(START).unwrap_or(start);
        let text = text.rsplit_once(" every ").map_or(text, |(process, _)| process);
        let (process, pid) = match text.rsplit_once(" (pid ") {
            Some((process, pid)) => (process, pid.trim_end().trim_end_matches(')').parse().ok()),
            None => (text, None),
        };
        let report = Report { process: process.to_owned(), pid, held, ..Report::default() };
        Self { report, last_line: LineStart::FIRST, ..Self::default() }
    }

    /// True if the report is complete.
    fn is_whole(&self) -> bool {
        let has_images = self.part == Part::Images && !self.images.is_empty() && !self.is_image_odd;
        has_images || self.part == Part::Behind
    }

    fn take<R>(&mut self, line: &Line, lines: &Lines<'_, R>) -> Result<(), Error> {
        let text = line.text.trim_end();
        self.part = match text {
            "Call graph:" if self.part == Part::Head => Part::Graph,
            _ if text.starts_with("Total number in stack") => Part::Total,
            _ if text.starts_with("Sort by top of stack") => Part::Top,
            "Binary Images:" => Part::Images,
            _ if text.starts_with("Binary images description not available") => Part::Behind,
            _ => return self.take_content(text, line, lines),
        };
        Ok(())
    }

    fn take_content<R>(&mut self, text: &str, line: &Line, lines: &Lines<'_, R>) -> Result<(), Error> {
        if !text.is_empty() {
            self.last_line = line.at;
        }
        self.reserve(text, line, lines)?;
        match self.part {
            Part::Head => {
                if let Some((key, value)) = text.split_once(':').filter(|(key, _)| !key.starts_with(' ')) {
                    self.report.head.push((key.to_owned(), value.trim().to_owned()));
                }
            }
            // The title of a table that is not used.
            Part::Graph if self.is_graph_closed && text.starts_with(char::is_alphabetic) => self.part = Part::Total,
            Part::Graph if !text.is_empty() => self.add_line(text, line, lines)?,
            // A truncated line may contain only spaces.
            Part::Graph => self.is_graph_closed = line.text.is_empty() && self.has_threads(),
            Part::Top => self.add_top(text),
            Part::Images => match Image::parse(text) {
                Some(image) => {
                    self.is_image_odd = false;
                    self.images.push(image);
                }
                // Any text may follow.
                None if text.is_empty() && !self.images.is_empty() => self.part = Part::Behind,
                None if text.trim_start().starts_with("0x") || (text.contains(" - ") && text.contains('<')) => {
                    self.is_image_odd = true;
                    self.leave_out(
                        RejectReason::UnreadImage,
                        line.at,
                        "a line of the list of images has an unknown form",
                    );
                }
                None => {}
            },
            Part::Total | Part::Behind => {}
        }
        Ok(())
    }

    fn has_threads(&self) -> bool {
        let unread = &self.report.unread;
        !self.report.nodes.is_empty() || unread.iter().any(|unread| unread.reason == RejectReason::UnreadThread)
    }

    fn leave_out(&mut self, reason: RejectReason, line: LineStart, what: &'static str) {
        self.report.unread.push(Unread { reason, samples: 0, line, what });
    }

    /// Adds a line of the call graph. An invalid line leaves out its thread.
    fn add_line<R>(&mut self, text: &str, line: &Line, lines: &Lines<'_, R>) -> Result<(), Error> {
        self.is_graph_closed = false;
        let fault = match GraphLine::parse(text) {
            Ok(GraphLine { depth, .. }) if depth > lines.max_depth && depth <= self.open.len() => {
                let text = format!("a stack has more than {} frames", lines.max_depth);
                return Err(lines.error(ErrorKind::Limit(text), line.at));
            }
            Ok(parts) => self.add_node(parts, line).err(),
            Err(what) => {
                // Only the lines of threads contain this word.
                if text.contains(" Thread_") {
                    self.begin_thread(None);
                }
                Some(what)
            }
        };
        if let Some(what) = fault.filter(|_| !self.is_left_out) {
            self.is_left_out = true;
            self.report.nodes.truncate(self.thread.0);
            self.leave_out(RejectReason::UnreadThread, line.at, what);
            self.count_left_out();
        }
        Ok(())
    }

    fn count_left_out(&mut self) {
        if let Some(unread) = self.report.unread.last_mut() {
            unread.samples = self.thread.1.unwrap_or(self.outermost);
        }
    }

    fn begin_thread(&mut self, samples: Option<u64>) {
        self.open.clear();
        (self.thread, self.outermost) = ((self.report.nodes.len(), samples), 0);
        self.is_left_out = false;
    }

    fn add_node(&mut self, GraphLine { depth, count, text }: GraphLine<'_>, line: &Line) -> Result<(), &'static str> {
        if depth == 0 {
            self.begin_thread(Some(count));
            if ThreadText::parse(text).is_none() {
                return Err("a call graph must begin with a thread, but this line is not one");
            }
        }
        if depth == 1 {
            self.outermost = self.outermost.saturating_add(count);
        }
        if self.is_left_out {
            self.count_left_out();
            return Ok(());
        }
        if depth > self.open.len() {
            return Err("a line of the call graph is indented by more than one level");
        }
        self.open.truncate(depth);
        let nodes = &mut self.report.nodes;
        if let Some(caller) = self.open.last().and_then(|&caller| nodes.get_mut(caller)) {
            let of_callees = caller.of_callees.checked_add(count).filter(|&sum| sum <= caller.count);
            caller.of_callees = of_callees.ok_or("the callees of a function have more samples than the function")?;
        }
        self.open.push(nodes.len());
        nodes.push(Node { depth, line: line.at, text: text.to_owned(), count, of_callees: 0 });
        Ok(())
    }

    /// Adds to the memory of the report, and reserves it in steps.
    fn reserve<R>(&mut self, text: &str, line: &Line, lines: &Lines<'_, R>) -> Result<(), Error> {
        // The text, and the largest struct that a line can become. Twice, since a `Vec` doubles as it grows.
        self.bytes += 2 * (text.len() + size_of::<Node>().max(size_of::<Image>())) as u64;
        if self.bytes - self.reserved >= BYTES_BETWEEN {
            self.reserved = self.bytes;
            let held = self.report.held.resize(self.bytes);
            held.map_err(|over| lines.error(ErrorKind::Memory(over), line.at))?;
        }
        Ok(())
    }

    /// Parses `        SYMBOL  (in BINARY)        SAMPLES`; unnamed code also has an address.
    fn add_top(&mut self, text: &str) {
        let Some((function, samples)) = text.trim().rsplit_once(' ') else { return };
        let Ok(samples) = samples.parse::<u64>() else { return };
        let function = function.trim_end();
        let top = Top::of(&FrameText::parse(function.strip_suffix(" [STACK TOP]").unwrap_or(function)));
        let sum = self.report.tops.entry(top).or_default();
        *sum = sum.saturating_add(samples);
    }
}

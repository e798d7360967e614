//! The model of a crash report, which both forms share.

use std::collections::HashSet;
use std::ops::Range;

use super::frame_line::FrameLine;
use crate::error::Position;
use crate::hash::HashMap;
use crate::memory::{MemoryBudget, OverBudget, Reservation};
use crate::readers::stop;
use crate::recording::{FrameKind, LAST_EXCEPTION, SPECIFIC_BACKTRACE};
use crate::units::Uuid;

/// Images are numbered in each report, so frames of another report would get wrong names.
pub(super) const SEVERAL: &str = "the file contains several crash reports; save each of them in a separate file";

/// The form in which a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// JSON (`.ips` of iOS 15, macOS 12 and later).
    Ips,
    /// Text (`.crash`, and `.ips` of older systems).
    Text,
}

/// A report without its text.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) form: Form,
    /// Metadata, with the paths of an `.ips` file as keys, such as `exception.type`. If a key has several values, the first is used.
    facts: Vec<(String, String)>,
    pub(crate) images: Vec<Image>,
    /// The lines of images that cannot be read.
    pub(super) unread_images: Vec<Position>,
    /// The stacks of the threads, in order.
    pub(crate) threads: Vec<Stack>,
    /// The stack of the exception that ended the process (`Last Exception Backtrace`), and stacks that a framework recorded before it ended the
    /// process (`Application Specific Backtrace 1`).
    pub(crate) backtraces: Vec<Stack>,
    /// The index of the thread that crashed.
    pub(crate) crashed: Option<usize>,
    /// The line in which the text ends, which may be incomplete.
    pub(super) cut: Option<Position>,
    held: Reservation,
}

/// A binary image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) arch: String,
    pub(crate) uuid: Option<Uuid>,
    /// The load address; 0 if the report lists no such image, and addresses in it are absolute.
    pub(crate) base: u64,
    /// The size in bytes, in JSON.
    pub(super) size: u64,
}

/// A stack, innermost frame first.
#[derive(Debug, Default)]
pub(crate) struct Stack {
    /// The number of the thread in a text, where threads may be missing or in another order.
    pub(crate) number: Option<u64>,
    /// The name of the thread, or else of its queue; the kind of a backtrace.
    pub(crate) name: String,
    /// True for the thread with the main queue.
    pub(crate) is_main: bool,
    pub(crate) frames: Vec<Frame>,
    pub(crate) at: Position,
    /// The place of a list of addresses in parentheses, which text may contain in place of frames.
    pub(crate) list: Option<Range<usize>>,
    /// Where the first unreadable frame is.
    pub(crate) unread: Option<Position>,
    /// True if the text ends inside of it.
    pub(crate) is_cut: bool,
    /// The frames of recursion that the system left out of the stack. Text contains levels, each of one or more frames. 0 if the number cannot
    /// be read.
    pub(super) elided: Option<u64>,
}

/// A frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The bytes of the frame: a JSON object, or a line without its end; empty for a line inside of a JSON string.
    pub(crate) span: Range<usize>,
    /// The index of its image.
    pub(crate) image: Option<usize>,
    /// The offset in the image, or the address if the image is unknown.
    pub(crate) address: u64,
    /// The address in a text.
    pub(crate) absolute: Option<u64>,
    pub(crate) name: Option<String>,
    /// The source file and line.
    pub(crate) source: Option<(String, u32)>,
    /// The distance in bytes from the start of the function.
    pub(crate) offset: Option<u64>,
    /// True if the function was inlined into the next frame, which has the same address.
    pub(crate) is_inlined: bool,
}

pub(super) const UNREAD_FRAME: &str = "the thread has a frame that cannot be read";
pub(super) const UNREAD_IMAGE: &str = "a line of the list of images has an unknown form";
pub(super) const CUT: &str = "the text ends inside of this line, so its address or name may be incomplete";

impl Frame {
    /// Creates the frame of a line, without its image.
    pub(super) fn of_line(line: &FrameLine<'_>, span: Range<usize>) -> Self {
        let name = line.name().map(str::to_owned);
        let offset = line.offset.filter(|_| name.is_some());
        let source = line.source.map(|(file, line)| (file.to_owned(), line));
        Self { span, address: line.address, absolute: Some(line.address), name, offset, source, ..Self::default() }
    }

    /// The size of its texts in bytes.
    pub(super) fn texts(&self) -> usize {
        self.name.as_ref().map_or(0, String::len) + self.source.as_ref().map_or(0, |(file, _)| file.len())
    }
}

impl Report {
    pub(super) fn new(form: Form, memory: &MemoryBudget) -> Self {
        let (facts, images, unread_images) = (Vec::new(), Vec::new(), Vec::new());
        let (threads, backtraces, held) = (Vec::new(), Vec::new(), memory.nothing());
        Self { form, facts, images, unread_images, threads, backtraces, crashed: None, cut: None, held }
    }

    /// Returns a fact that is not empty.
    pub(crate) fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Returns the values of all facts below a key.
    pub(super) fn facts_below<'r>(&'r self, key: &str) -> impl Iterator<Item = &'r str> {
        self.facts.iter().filter(move |(known, _)| known.starts_with(key)).map(|(_, value)| value.as_str())
    }

    /// Exchanges version and build, which iOS wrote in the other order until iOS 14: `Version: 34 (1.2)`.
    pub(super) fn order_versions(&mut self) {
        let system = self.fact("os_version").and_then(|system| system.strip_prefix("iPhone OS "));
        let major = system.and_then(|system| system.split('.').next()?.parse::<u32>().ok());
        if major.is_some_and(|major| major < 15) && self.fact("build_version").is_some() {
            for (key, _) in &mut self.facts {
                match key.as_str() {
                    "app_version" => *key = "build_version".to_owned(),
                    "build_version" => *key = "app_version".to_owned(),
                    _ => {}
                }
            }
        }
    }

    /// What could not be read, with its place.
    pub(crate) fn unread(&self) -> impl Iterator<Item = (&Position, &'static str)> {
        let of_stacks = self.stacks().filter_map(|stack| Some((stack.unread.as_ref()?, UNREAD_FRAME)));
        let of_images = self.unread_images.iter().map(|at| (at, UNREAD_IMAGE));
        of_stacks.chain(of_images).chain(self.cut.iter().map(|at| (at, CUT)))
    }

    pub(super) fn add_fact(&mut self, key: &str, value: &str) -> Result<(), OverBudget> {
        let value = value.trim();
        // Apple's tools write `???` for what they do not know.
        if value.is_empty() || value == "???" {
            return Ok(());
        }
        self.hold(size_of::<(String, String)>() + key.len() + value.len())?;
        self.facts.push((key.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Reserves memory for a part of the report. Lists double as they grow.
    pub(super) fn hold(&mut self, bytes: usize) -> Result<(), OverBudget> {
        self.held.grow(2 * bytes as u64)
    }

    /// Adds the backtraces that a framework recorded before it ended the process: lines of text in JSON. An image that is not listed has only its
    /// name.
    pub(super) fn add_specific(&mut self, texts: Vec<(Position, String)>) -> Result<(), OverBudget> {
        let listed = self.images.len();
        let mut by_base: Vec<usize> = (0..listed).collect();
        by_base.sort_by_key(|&index| self.images[index].base);
        let mut unlisted: HashMap<String, usize> = HashMap::default();
        for (number, (at, text)) in texts.into_iter().enumerate() {
            let mut stack = Stack { name: format!("{SPECIFIC_BACKTRACE} {number}"), at, ..Stack::default() };
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                let Some(line) = FrameLine::parse(line) else {
                    stack.unread.get_or_insert_with(|| stack.at.clone());
                    continue;
                };
                let mut frame = Frame::of_line(&line, 0..0);
                self.hold(size_of::<Frame>() + frame.texts() + line.image.len())?;
                let after = by_base.partition_point(|&index| self.images[index].base <= line.address);
                let image = after.checked_sub(1).map(|before| by_base[before]);
                let image = image.filter(|&index| line.address - self.images[index].base < self.images[index].size);
                if let Some(index) = image {
                    frame.address -= self.images[index].base;
                } else if line.image != "???" && !unlisted.contains_key(line.image) {
                    unlisted.insert(line.image.to_owned(), self.images.len());
                    let (name, path) = (line.image.to_owned(), line.image.to_owned());
                    self.images.push(Image { name, path, ..Image::default() });
                }
                frame.image = image.or_else(|| unlisted.get(line.image).copied());
                stack.frames.push(frame);
            }
            stack.mark_inlined();
            self.backtraces.extend(Some(stack).filter(|stack| !stack.is_empty()));
        }
        Ok(())
    }

    /// The stacks of all threads, and then the backtraces.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = &Stack> {
        self.threads.iter().chain(&self.backtraces)
    }

    /// The index of the stack that the crash is attributed to: the exception, or else another backtrace, or else the thread. A backtrace shows where
    /// the cause was found; the thread may only show where an exception was not caught.
    pub(crate) fn attributed(&self) -> Option<usize> {
        let exception = self.backtraces.iter().position(|stack| stack.name == LAST_EXCEPTION);
        let backtrace = exception.or((!self.backtraces.is_empty()).then_some(0));
        backtrace.map(|index| self.threads.len() + index).or(self.crashed)
    }

    /// How the address of the first frame of a stack was recorded. A backtrace has only return addresses.
    pub(crate) fn kind_of_first(&self, stack: &Stack) -> FrameKind {
        if self.backtraces.as_ptr_range().contains(&std::ptr::from_ref(stack)) {
            FrameKind::RawCaller
        } else {
            FrameKind::RawLeaf
        }
    }

    /// The name of a stack: `Thread 0 (com.apple.main-thread)`, or `Last exception of Thread 0, attributed`.
    pub(crate) fn thread_name(&self, index: usize, stack: &Stack, attributed: Option<usize>) -> String {
        let number = |index: usize| self.threads.get(index).and_then(|stack| stack.number).unwrap_or(index as u64);
        let name = match self.crashed {
            _ if index < self.threads.len() && stack.name.is_empty() => format!("Thread {}", number(index)),
            _ if index < self.threads.len() => format!("Thread {} ({})", number(index), stack.name),
            Some(thread) => format!("{} of Thread {}", stack.name, number(thread)),
            None => stack.name.clone(),
        };
        stop::thread_name(name, attributed == Some(index))
    }
}

impl Stack {
    /// Creates the stack of a thread, without frames.
    pub(super) fn new(number: impl Into<Option<u64>>, name: &str, queue: &str, at: Position) -> Self {
        let (number, name) = (number.into(), if name.is_empty() { queue } else { name });
        Self { number, name: name.to_owned(), is_main: queue == "com.apple.main-thread", at, ..Self::default() }
    }

    /// Adds frames that the system left out; 0 if their number is unknown, and so is the sum.
    pub(super) fn add_elided(&mut self, count: u64) {
        self.elided = Some(match self.elided {
            Some(before) if before.min(count) == 0 => 0,
            before => before.unwrap_or(0).saturating_add(count),
        });
    }

    /// True if the report has no frames here, not even one that cannot be read.
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.unread.is_none()
    }

    /// Marks the frames of a text that were inlined into the next frame, which has the same address. A frame without an offset was, if the last
    /// frame at the address has one. Other frames need another name than the next ones: a repeated name is recursion. Apple's tools also write
    /// an offset for inlined frames, and some tools write none at all.
    pub(super) fn mark_inlined(&mut self) {
        for frames in
            self.frames.chunk_by_mut(|inner, outer| inner.image == outer.image && inner.address == outer.address)
        {
            let last = frames.last();
            let (is_named, has_offsets) =
                last.map_or((false, false), |last| (last.name.is_some(), last.offset.is_some()));
            let mut names: HashSet<String> = HashSet::new();
            for index in 1..frames.len() {
                let [inner, outer] = &mut frames[index - 1..=index] else { return };
                names.extend(inner.name.clone());
                let is_new = outer.name.as_ref().is_some_and(|name| !names.contains(name));
                inner.is_inlined = match inner.name {
                    Some(_) => is_new || has_offsets && inner.offset.is_none(),
                    // A function whose name is unknown.
                    None => is_named,
                };
                if !inner.is_inlined {
                    names.clear();
                }
            }
            frames.last_mut().into_iter().for_each(|last| last.is_inlined = false);
        }
    }
}

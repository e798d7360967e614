//! The model of a crash report, which both forms share.

use std::collections::HashSet;
use std::ops::Range;

use crate::error::Position;
use crate::memory::{MemoryBudget, OverBudget, Reservation};
use crate::recording::FrameKind;
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
    /// The stacks of the threads, in order.
    pub(crate) threads: Vec<Stack>,
    /// The stack of the exception that ended the process (`Last Exception Backtrace`).
    pub(crate) exception: Option<Stack>,
    /// The index of the thread that crashed.
    pub(crate) crashed: Option<usize>,
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
}

/// A stack, innermost frame first.
#[derive(Debug, Default)]
pub(crate) struct Stack {
    /// The name of the thread, or else of its queue.
    pub(crate) name: String,
    /// True for the thread with the main queue.
    pub(crate) is_main: bool,
    pub(crate) frames: Vec<Frame>,
    pub(crate) at: Position,
    /// The place of a list of addresses in parentheses, which text may contain in place of frames.
    pub(crate) list: Option<Range<usize>>,
}

/// A frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The bytes of the frame: a JSON object, or a line without its end.
    pub(crate) span: Range<usize>,
    /// The index of its image.
    pub(crate) image: Option<usize>,
    /// The offset in the image, or the address if the image is unknown.
    pub(crate) address: u64,
    pub(crate) name: Option<String>,
    /// The source file and line.
    pub(crate) source: Option<(String, u32)>,
    /// True if the function was inlined into the next frame, which has the same address.
    pub(crate) is_inlined: bool,
}

impl Report {
    pub(super) fn new(form: Form, memory: &MemoryBudget) -> Self {
        let (facts, images, threads) = (Vec::new(), Vec::new(), Vec::new());
        Self { form, facts, images, threads, exception: None, crashed: None, held: memory.nothing() }
    }

    /// Returns a fact that is not empty.
    pub(crate) fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Returns the values of all facts below a key.
    pub(super) fn facts_below<'r>(&'r self, key: &str) -> impl Iterator<Item = &'r str> {
        self.facts.iter().filter(move |(known, _)| known.starts_with(key)).map(|(_, value)| value.as_str())
    }

    pub(super) fn add_fact(&mut self, key: &str, value: &str) -> Result<(), OverBudget> {
        let value = value.trim();
        if value.is_empty() {
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

    /// The stacks of all threads, and then of the exception.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = &Stack> {
        self.threads.iter().chain(&self.exception)
    }

    /// How the address of the first frame of a stack was recorded. An exception has only return addresses.
    pub(crate) fn kind_of_first(&self, stack: &Stack) -> FrameKind {
        if self.is_exception(stack) { FrameKind::RawCaller } else { FrameKind::RawLeaf }
    }

    /// True for the stack of the exception.
    pub(super) fn is_exception(&self, stack: &Stack) -> bool {
        self.exception.as_ref().is_some_and(|exception| std::ptr::eq(exception, stack))
    }
}

impl Stack {
    /// Creates the stack of a thread, without frames.
    pub(super) fn new(name: &str, queue: &str, at: Position) -> Self {
        let name = if name.is_empty() { queue } else { name };
        Self { name: name.to_owned(), is_main: queue == "com.apple.main-thread", at, ..Self::default() }
    }

    /// Marks the frames of a text that were inlined into the next frame, which has the same address. A frame without an offset, which is already
    /// marked, always was. Apple's tools also write an offset for inlined frames, so a frame with an offset needs another name than the next ones:
    /// a repeated name is recursion.
    pub(super) fn mark_inlined(&mut self) {
        let mut names: HashSet<String> = HashSet::new();
        for index in 1..self.frames.len() {
            let [inner, outer] = &mut self.frames[index - 1..=index] else { return };
            let is_same_place = inner.image == outer.image && inner.address == outer.address;
            let (Some(name), Some(of_outer), true) = (&inner.name, &outer.name, is_same_place) else {
                inner.is_inlined = false;
                names.clear();
                continue;
            };
            names.insert(name.clone());
            inner.is_inlined |= !names.contains(of_outer);
            if !inner.is_inlined {
                names.clear();
            }
        }
        if let Some(last) = self.frames.last_mut() {
            last.is_inlined = false;
        }
    }
}

/// True for text in place of the name of a function.
pub(super) fn is_placeholder(name: &str) -> bool {
    matches!(name, "" | "???" | "<redacted>" | "<unknown>")
}

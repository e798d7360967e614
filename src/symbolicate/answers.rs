//! What symbol files answer for the addresses of one profile in one image.

use std::sync::Arc;

use crate::error::Diagnostic;
use crate::memory::Reservation;
use crate::symbols::Found;

/// A frame of an answer. Its strings are indices of [`Answers::strings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnswerFrame {
    pub(super) function: Option<u32>,
    pub(super) file: Option<u32>,
    pub(super) line: Option<u32>,
    /// The distance from the start of the function, if known.
    pub(super) offset: Option<u32>,
    /// The range of its other names in `aliases`.
    pub(super) aliases: (u32, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StringKind {
    Name,
    /// A start address in place of a missing name.
    Address,
    /// The name for functions that the linker folded into one.
    Folded,
    File,
}

/// The answers of one image's symbol files.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Sorted, distinct.
    pub(super) addresses: Vec<u64>,
    /// The range of frames for each address; empty if unknown.
    pub(super) ranges: Vec<(u32, u32)>,
    pub(super) frames: Vec<AnswerFrame>,
    /// Other names of functions, as indices of `strings`.
    pub(super) aliases: Vec<u32>,
    /// Displayed names, and files.
    pub(super) strings: Vec<Arc<str>>,
    /// The kinds of the strings, in a separate list since most frames need only the kind.
    pub(super) kinds: Vec<StringKind>,
    /// The files that answered, best first.
    pub(super) used: Vec<Found>,
    /// Notes: unreadable files with the reason, and others.
    pub(super) notes: Vec<Diagnostic>,
    /// True if a file exceeded the budget and was not read completely.
    pub(super) is_short: bool,
    /// The memory reserved for the answers.
    pub(super) reserved: Reservation,
}

impl Answers {
    pub(super) fn text(&self, index: Option<u32>) -> Option<&str> {
        index.map(|index| &*self.strings[index as usize])
    }

    /// Returns the kind of a function's name, if it has one.
    pub(super) fn kind(&self, function: Option<u32>) -> Option<StringKind> {
        function.map(|index| self.kinds[index as usize])
    }

    /// True if a function has a real name, not only an address.
    pub(super) fn is_named(&self, function: Option<u32>) -> bool {
        matches!(self.kind(function), Some(StringKind::Name | StringKind::Folded))
    }

    pub(super) fn aliases(&self, frame: &AnswerFrame) -> impl Iterator<Item = &str> {
        let (start, end) = frame.aliases;
        self.aliases[start as usize..end as usize].iter().filter_map(|&alias| self.text(Some(alias)))
    }

    /// Returns the frames at an address, innermost first; empty if no file contains it.
    pub(super) fn at(&self, address: u64) -> &[AnswerFrame] {
        let Ok(index) = self.addresses.binary_search(&address) else { return &[] };
        let (start, end) = self.ranges[index];
        &self.frames[start as usize..end as usize]
    }
}

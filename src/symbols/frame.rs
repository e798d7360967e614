//! The common interface of all symbol files: addresses in, frames out.
//!
//! An address at which three functions are inlined into each other has three frames, innermost first. The place of the innermost frame is
//! the address itself; the place of every other frame is the call of the frame before it.
//!
//! ```text
//! clamp   (inlined)  util.h:12     the instruction
//! scale   (inlined)  image.cc:88   calls clamp
//! draw               image.cc:140  calls scale
//! ```

use crate::error::Diagnostic;

/// One frame of an answer; answers are innermost first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymbolFrame<'a> {
    /// The function's name in the file, mangled or not, without demangling; `None` if it has no name.
    pub function: Option<&'a str>,
    /// The linkage (mangled) name, if the file has one that differs from `function`.
    pub linkage_name: Option<&'a str>,
    /// The source file, with the folders that the file records before it.
    pub file: Option<&'a str>,
    /// The line, from 1. `Some(0)` is code of the compiler that belongs to no line of `file`; `None` means that the symbol file does not
    /// contain the line.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// True if this function was inlined into the next frame, so true for all but the last.
    pub is_inlined: bool,
    /// The distance in bytes from the start of the function to the address; `None` for inlined functions, and if the start is unknown. A
    /// frame with only an offset belongs to a function with a known start and no name.
    pub offset: Option<u64>,
    /// The names of other symbols at the start of the function. Empty for inlined functions.
    pub aliases: &'a [&'a str],
}

/// The names of a function in answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Called<'a> {
    pub(super) function: Option<&'a str>,
    /// The linkage name, if it differs from the name.
    pub(super) linkage_name: Option<&'a str>,
}

impl<'a> Called<'a> {
    pub(super) fn new(function: Option<&'a str>, linkage_name: Option<&'a str>) -> Self {
        Self { function, linkage_name: linkage_name.filter(|_| linkage_name != function) }
    }
}

/// A place in the source.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Location<'a> {
    pub(super) file: Option<&'a str>,
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
}

impl<'a> Location<'a> {
    /// The frame of a function at this place.
    pub(super) fn frame(self, called: Called<'a>, is_inlined: bool) -> SymbolFrame<'a> {
        let Called { function, linkage_name } = called;
        let Self { file, line, column } = self;
        SymbolFrame { function, linkage_name, file, line, column, is_inlined, ..SymbolFrame::default() }
    }
}

/// A symbol file that is open for one binary.
pub trait Symbols {
    /// Looks up sorted, distinct addresses, relative to the start of `__TEXT` (the Mach-O header).
    ///
    /// Calls `answer(index, frames)` at most once for each index into `addresses`, in any order, with at least one frame, and never for an
    /// unknown address. The frames are valid during the call.
    ///
    /// Returns what a reader of the answers should know: parts of the file that could not be used.
    fn look_up(&self, addresses: &[u64], answer: &mut dyn FnMut(usize, &[SymbolFrame<'_>])) -> Vec<Diagnostic>;
}

/// Most messages that are kept apart; a broken file of a thousand units has a few kinds of faults, not a thousand.
const MAX_NOTES: usize = 32;

/// Collects notes: the same sentence twice is one note with a count of 2.
#[derive(Debug, Default)]
pub struct Notes(Vec<Diagnostic>);

impl Notes {
    /// Adds one sighting.
    pub fn add(&mut self, message: impl Into<String>) {
        let message = message.into();
        if let Some(note) = self.0.iter_mut().find(|note| note.message == message) {
            note.count += 1;
        } else if self.0.len() < MAX_NOTES {
            self.0.push(Diagnostic::new(message));
        }
    }

    /// The notes so far.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// The notes in the order of their first sighting.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_notes_are_counted_and_their_number_is_bounded() {
        let mut notes = Notes::default();
        for index in 0..1000 {
            notes.add("one");
            notes.add(format!("{index}"));
        }
        let notes = notes.into_vec();
        assert_eq!(notes.len(), MAX_NOTES);
        assert_eq!(notes[0].to_string(), "one (1000 times)");
        assert_eq!(notes[1].to_string(), "0");
    }
}

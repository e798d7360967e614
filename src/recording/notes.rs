//! Collects the diagnostics of an input: one per topic, with a count.

use crate::error::{Diagnostic, Position};

/// The diagnostics of one input.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Each diagnostic with its topic. The line is 0 until [`locate`](Self::locate).
    all: Vec<(&'static str, Diagnostic)>,
}

impl Notes {
    /// Adds a diagnostic at a byte offset, or increments the count if the `topic` already has one.
    pub(crate) fn note(&mut self, input: &str, byte: u64, topic: &'static str, message: impl FnOnce() -> String) {
        self.note_at(|| Position { input: input.to_owned(), line: 0, byte }, topic, message);
    }

    /// Like [`note`](Self::note), at a known position.
    pub(crate) fn note_at(
        &mut self,
        at: impl FnOnce() -> Position,
        topic: &'static str,
        message: impl FnOnce() -> String,
    ) {
        match self.all.iter_mut().find(|(known, _)| *known == topic) {
            Some((_, known)) => known.count += 1,
            None => self.all.push((topic, Diagnostic { at: Some(at()), message: message(), count: 1 })),
        }
    }

    /// Sets the lines of diagnostics that were added since the last call.
    pub(crate) fn locate(&mut self, line_of: impl Fn(u64) -> u64) {
        let unlocated = self.all.iter_mut().rev().filter_map(|(_, known)| known.at.as_mut());
        for at in unlocated.take_while(|at| at.line == 0) {
            at.line = line_of(at.byte);
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.all).into_iter().map(|(_, diagnostic)| diagnostic).collect()
    }
}

//! Notes about damage in a symbol file, without repetitions.

use crate::error::Diagnostic;

/// The maximum number of distinct messages. A file with a thousand damaged units has a few kinds of faults, not a thousand.
const MAX_NOTES: usize = 32;

/// Collects notes, and counts repeated messages as one note.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<Diagnostic>);

impl Notes {
    /// Adds a message, or increments the count of an existing one.
    pub(super) fn add(&mut self, message: impl Into<String>) {
        let message = message.into();
        if let Some(note) = self.0.iter_mut().find(|note| note.message == message) {
            note.count += 1;
        } else if self.0.len() < MAX_NOTES {
            self.0.push(Diagnostic::new(message));
        }
    }

    /// Adds notes from elsewhere, without their counts.
    pub(super) fn add_all(&mut self, notes: &[Diagnostic]) {
        notes.iter().for_each(|note| self.add(note.message.as_str()));
    }

    /// The notes so far.
    pub(super) fn as_slice(&self) -> &[Diagnostic] {
        &self.0
    }

    /// Returns the notes, in the order of their first occurrence.
    pub(super) fn into_vec(self) -> Vec<Diagnostic> {
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

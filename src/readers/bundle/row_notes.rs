//! The oddities of rows: one diagnostic for each topic, which names the first row, with a count.

use std::path::Path;

use crate::error::{Diagnostic, Position};

/// The diagnostics on the rows of a table.
#[derive(Debug, Default)]
pub(super) struct RowNotes {
    by_topic: Vec<(&'static str, Diagnostic)>,
}

impl RowNotes {
    /// Notes something about the row at this offset of a store, or counts it if there was such a row before.
    pub(super) fn note(&mut self, folder: &Path, at: u64, topic: &'static str, message: impl FnOnce() -> String) {
        if let Some((_, known)) = self.by_topic.iter_mut().find(|(known, _)| *known == topic) {
            known.count += 1;
            return;
        }
        let at = Position { input: folder.join("bulkstore").display().to_string(), line: 0, byte: at };
        self.by_topic.push((topic, Diagnostic { at: Some(at), message: message(), count: 1 }));
    }

    /// Takes the diagnostics since the last call.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Diagnostic> + use<> {
        std::mem::take(&mut self.by_topic).into_iter().map(|(_, diagnostic)| diagnostic)
    }
}

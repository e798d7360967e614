//! Replaces names in documents, tables of contents, intervals and messages.

use std::sync::Arc;

use super::common_words::Reach;
use super::pseudonyms::{Named, RedactedKind};
use super::redactor::Redactor;
use crate::error::Diagnostic;
use crate::profile::RebuildError;
use crate::recording::{Document, DocumentContent, DurationHistogram, Intervals, Recording, Toc, TocRun};
use crate::symbolicate::{Missing, SymbolicationSummary};

/// Device attributes that many devices share.
const SHARED_OF_DEVICE: [&str; 9] =
    ["model", "os-version", "platform", "product-type", "type", "kind", "architecture", "cpu", "build"];

/// Attributes of the recorded process that do not identify its user.
const SHARED_OF_PROCESS: [&str; 6] =
    ["pid", "type", "return-exit-status", "termination-reason", "exit-status", "signal"];

impl Redactor {
    /// Replaces the names in a recording that was [collected](Self::collect). Functions of one binary that get the same name are merged.
    ///
    /// # Errors
    /// If the new names exceed the profile's tables or the memory budget.
    pub fn recording(&mut self, recording: &mut Recording) -> Result<(), RebuildError> {
        self.recording_with(recording, true)
    }

    /// Like [`recording`](Self::recording), but function ids stay valid, so earlier operations can still be used. Functions with the same name
    /// stay separate.
    ///
    /// # Errors
    /// As [`recording`](Self::recording).
    pub fn recording_with_ids(&mut self, recording: &mut Recording) -> Result<(), RebuildError> {
        self.recording_with(recording, false)
    }

    fn recording_with(&mut self, recording: &mut Recording, merges_functions: bool) -> Result<(), RebuildError> {
        recording.profile.rename(self, merges_functions)?;
        for document in &mut recording.documents {
            self.document(document);
        }
        self.diagnostics(&mut recording.diagnostics);
        Ok(())
    }

    fn document(&mut self, document: &mut Document) {
        document.input = self.input_name(&document.input);
        if let DocumentContent::Toc(toc) = &mut document.content {
            self.toc(toc);
        }
    }

    /// Replaces the name of an input, or of something in it.
    pub(super) fn input_name(&mut self, name: &str) -> String {
        match self.inputs.of(name) {
            Some((index, rest)) => {
                let rest = self.changed_text(rest, Reach::Everywhere).unwrap_or_else(|| rest.to_owned());
                self.pseudonyms.used(index) + &rest
            }
            None => self.changed_text(name, Reach::Everywhere).unwrap_or_else(|| name.to_owned()),
        }
    }

    fn own_text(&mut self, text: &str) -> String {
        self.changed_text(text, Reach::OwnTexts).unwrap_or_else(|| text.to_owned())
    }

    /// Replaces the names in a table of contents.
    pub fn toc(&mut self, toc: &mut Toc) {
        for run in &mut toc.runs {
            self.device(&mut run.device);
            self.device(&mut run.host_device);
            self.run(run);
        }
    }

    fn device(&mut self, device: &mut [(String, String)]) {
        for (key, value) in device {
            let kind = match key.as_str() {
                _ if value.is_empty() => continue,
                "name" | "host-name" | "hostname" => RedactedKind::Device,
                "uuid" | "udid" | "serial" | "serial-number" | "ecid" => RedactedKind::Identifier,
                key if SHARED_OF_DEVICE.contains(&key) => continue,
                _ => RedactedKind::Other,
            };
            *value = if kind == RedactedKind::Other { self.other(value) } else { self.pseudonyms.of(kind, value) };
        }
    }

    /// Replaces a value that may contain anything.
    fn other(&mut self, value: &str) -> String {
        let index = self.pseudonyms.index_of(RedactedKind::Other, value.to_owned(), |_, _| "(redacted)".to_owned());
        self.pseudonyms.used(index)
    }

    fn run(&mut self, run: &mut TocRun) {
        for (key, value) in &mut run.process {
            *value = match key.as_str() {
                _ if value.is_empty() => continue,
                "name" => self.process_name(value),
                key if SHARED_OF_PROCESS.contains(&key) => self.own_text(value),
                _ => self.other(value),
            };
        }
        for process in &mut run.processes {
            let (_, path) = self.binary_name(&process.name, &process.path);
            process.path = path;
            process.name = self.process_name(&process.name);
        }
        for histogram in run.metrics.iter_mut().flat_map(|metrics| &mut metrics.histograms) {
            let signpost = histogram.name.strip_prefix(DurationHistogram::SIGNPOST);
            if let Some(name) = signpost.and_then(|name| self.signpost_name(name)) {
                histogram.name = format!("{}{name}", DurationHistogram::SIGNPOST);
            }
        }
        let tables = run.tables.iter_mut().flat_map(|table| &mut table.attributes);
        for (_, value) in run.summary.iter_mut().chain(tables) {
            *value = self.own_text(value);
        }
        for text in run.tracks.iter_mut().chain(&mut run.unread) {
            *text = self.own_text(text);
        }
    }

    fn diagnostics(&mut self, diagnostics: &mut [Diagnostic]) {
        for diagnostic in diagnostics {
            diagnostic.message = self.text(&diagnostic.message);
            if let Some(at) = &mut diagnostic.at {
                at.input = self.input_name(&at.input);
            }
        }
    }

    /// Replaces the names in intervals that were [collected](Self::collect_intervals).
    pub fn intervals(&mut self, intervals: &mut Intervals) {
        for row in &mut intervals.intervals {
            change(&mut row.name, |name| self.signpost_name(name));
            row.label = None;
            for text in [&mut row.subsystem, &mut row.category, &mut row.hang_type] {
                change(text, |text| self.interval_text(text));
            }
            change(&mut row.process, |name| Some(self.process_name(name)));
        }
        for risk in &mut intervals.hang_risks {
            for text in [&mut risk.message, &mut risk.event_type, &mut risk.severity] {
                change(text, |text| self.interval_text(text));
            }
            change(&mut risk.process, |name| Some(self.process_name(name)));
        }
        for end in &mut intervals.lone_ends {
            change(&mut end.name, |name| self.signpost_name(name));
        }
        for table in &mut intervals.tables {
            table.input = self.input_name(&table.input);
        }
        self.diagnostics(&mut intervals.diagnostics);
    }

    fn interval_text(&mut self, text: &str) -> Option<String> {
        self.apart(Named::Text, text, Reach::OwnTexts)
    }

    /// Replaces the names and paths in a summary of symbolication.
    pub(crate) fn symbolication(&mut self, summary: &mut SymbolicationSummary) {
        for row in &mut summary.binaries {
            row.name = self.binary_name(&row.name, "").0;
            let others = match &mut row.missing {
                Some(Missing::NoFile { same_name }) => same_name.as_mut_slice(),
                _ => &mut [],
            };
            for found in row.used.iter_mut().chain(others) {
                let path = found.path.display().to_string();
                // Treated like a file of the user, regardless of its location.
                found.path = self.path(&path).into();
                found.name = self.binary_name(&found.name, "").0;
            }
        }
        for note in &mut summary.notes {
            note.message = self.text(&note.message);
        }
    }
}

fn change(text: &mut Option<Arc<str>>, new: impl FnOnce(&str) -> Option<String>) {
    if let Some(new) = text.as_deref().and_then(new) {
        *text = Some(new.into());
    }
}

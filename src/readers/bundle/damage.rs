//! Decides whether damage costs one run or the whole recording, and advises how to export the unreadable data with Instruments.

use std::path::Path;

use crate::error::{Diagnostic, Error, ErrorKind};
use crate::files::shown;
use crate::profile::Full;
use crate::recording::{Notes, export_to_file};
use crate::symbols::Broken;

/// Why a run could not be read completely.
#[derive(Debug)]
pub(super) enum RunFailure {
    /// The run's own files are damaged, and none of its rows were added. Other runs can still be read.
    Run(Error),
    /// The whole recording fails: either the error is not damage, or some rows of the run were already added and the run would look complete
    /// without the rest.
    Recording(Error),
}

impl RunFailure {
    /// Classifies an error that occurred before any row of the run was added. A temporary read failure or an exceeded limit is not damage.
    pub(super) fn before_rows(error: Error) -> Self {
        if matches!(error.kind, ErrorKind::BrokenBundle { .. }) { Self::Run(error) } else { Self::Recording(error) }
    }
}

/// A run that was left out because its files are damaged.
#[derive(Debug)]
pub(super) struct DamagedRun {
    pub(super) number: u32,
    /// The first violation found.
    pub(super) error: Error,
}

impl DamagedRun {
    /// The file, the position and the violated rule.
    pub(super) fn reason(&self) -> String {
        self.error.to_string()
    }

    /// The diagnostic for a left-out run, with advice.
    pub(super) fn diagnostic(&self, bundle: &Path, table: &ExportTable) -> Diagnostic {
        let (number, reason, advice) = (self.number, self.reason(), table.how_to_export(bundle));
        let bundle = shown(bundle);
        Diagnostic::new(format!("{bundle}: run {number} is damaged and is not read at all: {reason}; {advice}"))
    }
}

/// The table to export instead, if known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ExportTable {
    pub(super) run: Option<u32>,
    pub(super) schema: Option<String>,
}

impl ExportTable {
    /// Returns advice on how to export the table with Instruments.
    pub(super) fn how_to_export(&self, bundle: &Path) -> String {
        let name = bundle.file_name().unwrap_or(bundle.as_os_str()).to_string_lossy();
        // Nearly every CPU recording has one of these two tables; the command exports whichever exists.
        let schemas = self.schema.as_deref().map_or(vec!["time-profile", "cpu-profile"], |schema| vec![schema]);
        let command = export_to_file(&name, self.run, &schemas);
        format!("on a Mac, export it and read that: {command}")
    }

    /// Appends advice to the message of a format violation.
    pub(super) fn advise(&self, bundle: &Path, mut error: Error) -> Error {
        if let ErrorKind::BrokenBundle { rule, .. } = &mut error.kind {
            let advice = self.how_to_export(bundle);
            *rule = format!(
                "{rule}. The recording is damaged, or is of a kind that this version does not support; {advice}"
            );
        }
        error
    }
}

/// Why a row, or something it refers to, cannot be read.
#[derive(Clone, Debug)]
pub(super) enum Unreadable {
    /// The row violates this rule of its format.
    Row(String),
    /// The row exceeds a limit.
    Limit(String),
    /// The image list of the row's process cannot be read.
    Images(Broken),
}

impl From<String> for Unreadable {
    fn from(rule: String) -> Self {
        Self::Row(rule)
    }
}

impl From<Full> for Unreadable {
    fn from(full: Full) -> Self {
        Self::Limit(full.to_string())
    }
}

impl Unreadable {
    pub(super) fn rule(&self) -> &str {
        match self {
            Self::Row(rule) | Self::Limit(rule) => rule,
            Self::Images(broken) => &broken.message,
        }
    }
}

/// The position of a row: its store, and its offset in the store.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowPosition<'a> {
    pub(super) store: &'a Path,
    pub(super) at: u64,
}

impl RowPosition<'_> {
    /// Adds a note about the row, or increments the count if the store already has a note on this topic.
    pub(super) fn note(self, notes: &mut Notes, topic: &'static str, message: impl FnOnce() -> String) {
        notes.note(&self.store.to_string_lossy(), self.at, topic, message);
    }
}

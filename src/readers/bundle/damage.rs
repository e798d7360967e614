//! The cost of damage: a run of several, or the recording; and how Instruments itself exports data that cannot be read here.

use std::path::Path;

use crate::error::{Diagnostic, Error, ErrorKind};
use crate::profile::Full;
use crate::recording::{Notes, export_command};
use crate::symbols::Broken;

/// The reason why nothing, or not all, of a run was read.
#[derive(Debug)]
pub(super) enum RunFailure {
    /// The run's own files are damaged, and nothing of it was added: others can still be read.
    Run(Error),
    /// The recording cannot be read. Either rows of the run were added, and without the rest the run would seem complete; or the error is
    /// not damage.
    Recording(Error),
}

impl RunFailure {
    /// The failure for an error before anything of the run was added. A file that cannot be read just now, or is larger than allowed, is
    /// not damage.
    pub(super) fn before_rows(error: Error) -> Self {
        if matches!(error.kind, ErrorKind::BrokenBundle { .. }) { Self::Run(error) } else { Self::Recording(error) }
    }
}

/// A run that is left out, since its files are damaged.
#[derive(Debug)]
pub(super) struct DamagedRun {
    pub(super) number: u32,
    /// The first broken rule.
    pub(super) error: Error,
}

impl DamagedRun {
    /// The file, the place and the rule.
    pub(super) fn reason(&self) -> String {
        self.error.to_string()
    }

    /// Reports that nothing of the run is read, and what to do.
    pub(super) fn diagnostic(&self, bundle: &Path, table: &ExportTable) -> Diagnostic {
        let (number, reason, advice) = (self.number, self.reason(), table.how_to_export(bundle));
        let bundle = bundle.display();
        Diagnostic::new(format!("{bundle}: run {number} is damaged, and nothing of it is read: {reason}; {advice}"))
    }
}

/// The table to export instead, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ExportTable {
    pub(super) run: Option<u32>,
    pub(super) schema: Option<String>,
}

impl ExportTable {
    /// Advice on how to export the table with Instruments.
    pub(super) fn how_to_export(&self, bundle: &Path) -> String {
        let name = bundle.file_name().unwrap_or(bundle.as_os_str()).to_string_lossy();
        // Nearly every recording of CPU use has one of these two; the existing one is exported.
        let schemas = self.schema.as_deref().map_or(vec!["time-profile", "cpu-profile"], |schema| vec![schema]);
        let command = export_command(&name, self.run, &schemas);
        format!("on a Mac, export it and read that: {command} --output export.xml")
    }

    /// Adds to a broken rule what to do.
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

/// The fault of a row, or of something that it refers to.
#[derive(Clone, Debug)]
pub(super) enum Unreadable {
    /// It breaks this rule.
    Row(String),
    /// It needs more than is allowed.
    Limit(String),
    /// The images of its process cannot be read.
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
    /// The rule that is broken.
    pub(super) fn rule(&self) -> &str {
        match self {
            Self::Row(rule) | Self::Limit(rule) => rule,
            Self::Images(broken) => &broken.message,
        }
    }
}

/// The position of a row: its store, and the offset of the row in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowPosition<'a> {
    pub(super) store: &'a Path,
    pub(super) at: u64,
}

impl RowPosition<'_> {
    /// Notes something about the row, or counts it if there was such a row before.
    pub(super) fn note(self, notes: &mut Notes, topic: &'static str, message: impl FnOnce() -> String) {
        notes.note(&self.store.to_string_lossy(), self.at, topic, message);
    }
}

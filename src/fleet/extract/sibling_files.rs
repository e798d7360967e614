//! The tables of contents in the neighbouring file of an export.

use crate::recording::{DocumentContent, Options, Recording, Toc};
use blake3::Hash;

use super::content::{ReadFile, Refused, read_file};
use crate::fleet::host::FleetHost;
use crate::fleet::inputs::Task;

/// The contents of the neighbouring file of an export.
#[derive(Default)]
pub(crate) struct Beside {
    /// The hash of the file.
    pub(crate) content: Option<Hash>,
    pub(crate) tocs: Vec<Toc>,
    /// The export that holds the memory that they take.
    pub(crate) export: Option<Recording>,
}

impl Beside {
    /// Reads the neighbouring file of an export, if it exists. A note explains why it cannot be used.
    pub(crate) fn read(task: &Task, options: &Options, host: &dyn FleetHost, notes: &mut Vec<String>) -> Self {
        let Some(path) = &task.toc else { return Self::default() };
        let (content, read) = match read_file(path, options, host) {
            Ok(ReadFile { content, export, .. }) => (Some(content), export),
            Err(refused) => (None, Err(refused)),
        };
        match read {
            Ok(mut export) => {
                let documents = std::mem::take(&mut export.documents).into_iter();
                let tocs = documents.filter_map(|document| match document.content {
                    DocumentContent::Toc(toc) => Some(toc),
                    DocumentContent::Tables(_) => None,
                });
                Self { content, tocs: tocs.collect(), export: Some(export) }
            }
            Err(Refused { reason, .. }) => {
                notes.push(format!("the table of contents {} cannot be used: {reason}", path.display()));
                Self { content, ..Self::default() }
            }
        }
    }
}

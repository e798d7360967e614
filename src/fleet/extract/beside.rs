//! Reads the table of contents of an export, which is next to it or in the same archive.

use blake3::Hash;

use super::content::{ReadFile, read_file, refused};
use super::fleet_input::FleetInput;
use crate::fleet::NotMeasured;
use crate::fleet::host::FleetHost;
use crate::fleet::inputs::Task;
use crate::readers::read;
use crate::recording::{DocumentContent, Options, Recording, Toc};

/// The table of contents of an export.
#[derive(Default)]
pub(crate) struct Beside {
    /// The hash of the file.
    pub(crate) content: Option<Hash>,
    pub(crate) tocs: Vec<Toc>,
    /// The export whose reservation includes their memory.
    pub(crate) export: Option<Recording>,
}

impl Beside {
    /// Reads the table of contents next to an export, or in the same archive, if it exists. If it is unusable, adds a note.
    pub(crate) fn read(
        task: &Task,
        input: &FleetInput<'_>,
        options: &Options,
        host: &dyn FleetHost,
        notes: &mut Vec<String>,
    ) -> Self {
        let Some(path) = task.toc.as_deref().or_else(|| input.packed_toc()) else { return Self::default() };
        let read = match &task.toc {
            Some(path) => read_file("", path, options, host).map(|ReadFile { content, export, .. }| (export, content)),
            None => input.read_packed(path, |source| read(source, "", options).map_err(|error| refused(&error))),
        };
        let (content, read) = match read {
            Ok((export, content)) => (Some(content), export),
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
            Err(NotMeasured { reason, .. }) => {
                notes.push(format!("the table of contents {} cannot be used: {reason}", path.display()));
                Self { content, ..Self::default() }
            }
        }
    }
}

//! Finishing what a traceparse before version 4 of datasets began: it replaced data files by others with a journal.
//!
//! 1. The new files were written under temporary names, and synced.
//! 2. `journal.json` said which files replace which. From there on there was no way back.
//! 3. The old files were removed, the new ones got their names, and the journal was removed.
//!
//! A process that finds a journal does step 3 again: files that were removed stay removed, and files that have their name keep it.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::folder::{Folder, is_id, remove_file};

const JOURNAL: &str = "journal.json";

/// A replacement of data files, by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Journal {
    /// Removed; none of them is in `create`.
    pub(super) delete: Vec<String>,
    /// Named.
    pub(super) create: Vec<String>,
}

impl Journal {
    /// Finishes a replacement that has begun, if any.
    pub(super) fn recover(folder: &Folder) -> Result<()> {
        match Self::read(&folder.path.join(JOURNAL))? {
            Some(journal) => journal.apply(folder),
            None => Ok(()),
        }
    }

    pub(super) fn exists(folder: &Folder) -> bool {
        folder.path.join(JOURNAL).exists()
    }

    fn apply(&self, folder: &Folder) -> Result<()> {
        self.delete.iter().try_for_each(|id| folder.remove(id))?;
        self.create.iter().try_for_each(|id| folder.publish(id, id))?;
        // Without a journal nobody would give them their names again.
        folder.sync()?;
        remove_file(&folder.path.join(JOURNAL))
    }

    fn read(path: &Path) -> Result<Option<Self>> {
        let text = match crate::bounds::read_file(path, crate::bounds::OWN_FILE) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.with_context(|| format!("{}: cannot be read", path.display()))?,
        };
        let journal: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
        let ids = |name: &str| {
            let ids = journal[name].as_array()?.iter();
            ids.map(|id| id.as_str().filter(|id| is_id(id)).map(str::to_owned)).collect::<Option<Vec<String>>>()
        };
        let (Some(delete), Some(create)) = (ids("delete"), ids("create")) else {
            bail!("{}: is damaged. Extract into a new folder", path.display());
        };
        Ok(Some(Self { delete, create }))
    }
}

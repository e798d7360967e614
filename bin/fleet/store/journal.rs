//! Replacing data files by others, so that a kill at any moment leaves the old ones or the new ones.
//!
//! 1. The new files are written under temporary names, and synced.
//! 2. `journal.json` says which files replace which. From here on there is no way back.
//! 3. The old files are removed, the new ones get their names, and the journal is removed.
//!
//! A process that finds a journal does step 3 again: files that were removed stay removed, and files that have their name keep it. While
//! step 3 runs, SQL over the folder sees some of the runs only; it never sees a run twice.

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
    /// Steps 2 and 3; step 1 is done.
    pub(super) fn commit(self, folder: &Folder) -> Result<()> {
        folder.write_whole(JOURNAL, &serde_json::json!({"delete": self.delete, "create": self.create}))?;
        self.apply(folder)
    }

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
        self.create.iter().try_for_each(|id| folder.publish(id))?;
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

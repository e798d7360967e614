//! Files that extracts were asked for, and have not done: `owed.json`, from the start of an extract until none is left. So an extract of
//! other files does not complete a dataset whose extract was killed.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use anyhow::{Context, Result};

use super::Store;
use super::folder::{OWED, remove_file};

impl Store {
    /// The files that earlier extracts were asked for, and that it has nothing of.
    pub(crate) fn owed(&self) -> Result<BTreeSet<String>> {
        let path = self.folder.path.join(OWED);
        let text = match crate::bounds::read_file(&path, crate::bounds::FILE_LIST) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
            text => text.with_context(|| format!("{}: cannot be read", path.display()))?,
        };
        let sources: Vec<String> = serde_json::from_slice(&text)
            .with_context(|| format!("{}: is damaged; extract into a new folder", path.display()))?;
        let known = self.known()?;
        Ok(sources.into_iter().filter(|source| !known.contains_key(source)).collect())
    }

    /// Notes files that an extract is going to do, and those that others have not done.
    pub(crate) fn note_owed(&self, sources: &BTreeSet<String>) -> Result<()> {
        self.check_writer()?;
        let path = self.folder.path.join(OWED);
        match sources.is_empty() {
            true if path.exists() => remove_file(&path),
            true => Ok(()),
            false => self.folder.write_whole(OWED, &serde_json::to_string(sources)?),
        }
    }
}

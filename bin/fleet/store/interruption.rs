//! The record of an extract that did not come to its end: `unfinished.json` is there until it does.

use anyhow::Result;
use serde_json::{Value, json};

use super::Store;
use super::folder::remove_file;

const UNFINISHED: &str = "unfinished.json";

/// An extract that did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfinished {
    /// Files that it was to look at.
    pub(crate) files: u64,
    /// Those that were done; `None` where the process was killed.
    pub(crate) done: Option<u64>,
}

impl Store {
    /// An extract of so many files begins.
    pub(crate) fn begin(&self, files: usize) -> Result<()> {
        self.write_unfinished(&json!({"files": files}))
    }

    /// It was interrupted.
    pub(crate) fn interrupt(&self, done: usize, files: usize) -> Result<()> {
        self.write_unfinished(&json!({"files": files, "done": done}))
    }

    /// It came to its end.
    pub(crate) fn complete(&self) -> Result<()> {
        self.check_writer()?;
        self.folder.sync()?;
        remove_file(&self.folder.path.join(UNFINISHED))
    }

    /// The last extract, if it did not come to its end.
    pub(crate) fn unfinished(&self) -> Option<Unfinished> {
        let text = crate::bounds::read_file(self.folder.path.join(UNFINISHED), crate::bounds::OWN_FILE).ok()?;
        let value: Value = serde_json::from_slice(&text).ok()?;
        Some(Unfinished { files: value["files"].as_u64()?, done: value["done"].as_u64() })
    }

    fn write_unfinished(&self, content: &Value) -> Result<()> {
        self.check_writer()?;
        self.folder.write_whole(UNFINISHED, content)
    }
}

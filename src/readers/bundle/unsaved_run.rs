//! Finds out if a recording has a run that was not saved.
//!
//! A run that is being recorded is in `corespace/currentRun`, and becomes `runN` when it is saved. Some versions (13.4 and 16.0) then
//! create the folder again for a run that was not started, with an empty store for each table. The folder alone is therefore not evidence.

use std::path::Path;

use super::file::first_not_zero;
use super::file::{Content, Room};
use super::rows::behind_header;
use crate::files::{Entry, Files};

/// A store above this, compressed or not, has rows: without any it has 4,096 bytes, and 50 compressed.
const EMPTY_STORE: u64 = 64 << 10;

/// True if something was recorded in `corespace/currentRun`: there is a list of its tables, a described table, or a store with rows or one
/// that cannot be read.
pub(super) fn is_there(files: &dyn Files, corespace: &Path, room: &Room) -> bool {
    let core = corespace.join("currentRun/core");
    let list = |folder: &Path| files.list(folder).unwrap_or_default();
    !list(&core.join("table-manager")).is_empty()
        || list(&core.join("stores")).iter().any(|store| {
            list(store).iter().any(|file| match file.ends_with("bulkstore") {
                true => has_rows(files, file, room),
                false => true,
            })
        })
}

fn has_rows(files: &dyn Files, bulkstore: &Path, room: &Room) -> bool {
    if !matches!(files.entry(bulkstore), Ok(Entry::File { length, .. }) if length <= EMPTY_STORE) {
        return true;
    }
    let room = Room { file_bytes: room.file_bytes.min(EMPTY_STORE), ..room.clone() };
    match Content::open(files, bulkstore).and_then(|content| content.map(|content| content.read_all(&room)).transpose())
    {
        Ok(bytes) => bytes.is_some_and(|bytes| first_not_zero(behind_header(&bytes)).is_some()),
        Err(_) => true,
    }
}

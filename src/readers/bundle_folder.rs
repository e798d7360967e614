//! Folders that are bundles, told from others by their parts.

use std::path::Path;

use crate::files::{Entry, Files};

/// True if a folder is a recording: old and empty ones are known by their name only.
pub(super) fn is_bundle(files: &dyn Files, folder: &Path) -> bool {
    folder.extension().is_some_and(|extension| extension == "trace") || has_bundle_parts(files, folder)
}

/// True if a folder has what every saved recording has.
pub(super) fn has_bundle_parts(files: &dyn Files, folder: &Path) -> bool {
    is_folder(files, &folder.join("corespace")) || files.entry(&folder.join("form.template")).is_ok()
}

pub(super) fn is_folder(files: &dyn Files, path: &Path) -> bool {
    matches!(files.entry(path), Ok(Entry::Folder))
}

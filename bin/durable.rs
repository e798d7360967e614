//! Names that are on the disk: a renamed file has its name after a power failure only once its folder was written.

use std::io;
use std::path::Path;

/// Has the names in a folder written to the disk, where the system has a way to ask for it.
///
/// # Errors
/// When they cannot be written.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match std::fs::File::open(folder).and_then(|folder| folder.sync_all()) {
        // A folder that may be written to and not be listed; a file system that keeps names its own way.
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
        result => result,
    }
}

#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

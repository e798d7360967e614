//! Names that are on the disk: a renamed file has its name after a power failure only once its folder was written.

use std::io;
use std::path::Path;

/// Writes the names in a folder to the disk, if the system supports that.
///
/// # Errors
/// If writing fails.
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

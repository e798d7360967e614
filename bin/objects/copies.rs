//! The files of the mirror: one for each object, empty until it is read.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};

/// The properties of an object that are stored in an empty file.
pub(super) struct Stamp<'o> {
    pub(super) size: u64,
    pub(super) modified: SystemTime,
    pub(super) tag: &'o str,
}

impl Stamp<'_> {
    /// A hash of the version, or of the key if the store has no versions.
    pub(super) fn hash_with(&self, key: &str) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.size.to_le_bytes()).update(&(key.len() as u64).to_le_bytes());
        hasher.update(key.as_bytes()).update(self.tag.as_bytes());
        let hash = hasher.finalize();
        hash.as_bytes()[..8].iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    }

    /// Sets the length and modification time of a file to those of the object.
    pub(super) fn put_on(&self, file: &File) -> Result<()> {
        let time = time(self.modified, self.hash_with(""));
        file.set_len(self.size).and_then(|()| file.set_modified(time)).context(MIRROR)
    }
}

/// The modification time of a file. Stores report whole seconds, and an object may be replaced twice within a second. The fraction of the second is
/// therefore a hash, in steps that every file system can store. A later extract can then recognise an unchanged object by its file.
fn time(modified: SystemTime, hash: u64) -> SystemTime {
    const STEP: u64 = 100;
    let seconds = modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(hash % (1_000_000_000 / STEP) * STEP)
}

/// Sets the modification time of a folder to that of its newest object, with a hash of all its objects as the fraction. If the system does not
/// support this, a recording must be read again to be recognised.
pub(super) fn put_on_folder(folder: &Path, modified: SystemTime, hash: u64) {
    let _ = File::open(folder).and_then(|opened| opened.set_modified(time(modified, hash)));
}

/// The error message for a file of the mirror.
const MIRROR: &str = "the temporary folder for objects cannot be written; TMPDIR names another one";

/// Creates an empty file, and its parent folders.
///
/// # Errors
/// If the file cannot be created, its name is invalid on this system, or it has the same name as a folder.
pub(super) fn create(path: &Path) -> Result<File> {
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder).context(MIRROR)?;
    ensure!(!path.is_dir(), "it is both an object and a folder of objects, which is not possible in a local copy");
    File::create(path).context(MIRROR)
}

/// Opens and truncates a file of the mirror.
pub(super) fn open(path: &Path) -> Result<File> {
    File::options().write(true).truncate(true).open(path).context(MIRROR)
}

/// Writes a complete file.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::io::Write::write_all(&mut create(path)?, bytes).context(MIRROR)
}

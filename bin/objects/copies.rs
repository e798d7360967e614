//! The files of the mirror: an empty one for each object, which gets its bytes when they are read.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};

/// An object, as far as an empty file tells of it.
pub(super) struct Stamp<'o> {
    pub(super) size: u64,
    pub(super) modified: SystemTime,
    pub(super) tag: &'o str,
}

impl Stamp<'_> {
    /// The time of its file. Stores tell whole seconds, and an object may be replaced twice in one; so the parts of the second are a hash
    /// of its tag, in steps that all file systems keep. An extract that comes back then knows an unchanged object by its file.
    fn time(&self) -> SystemTime {
        const STEP: u64 = 100;
        let seconds = self.modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let hash = blake3::hash(self.tag.as_bytes());
        let hash = hash.as_bytes()[..8].iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        let nanos = hash % (1_000_000_000 / STEP) * STEP;
        UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(nanos)
    }

    /// Gives a file the length and the time of the object.
    pub(super) fn put_on(&self, file: &File) -> Result<()> {
        file.set_len(self.size).and_then(|()| file.set_modified(self.time())).context(MIRROR)
    }
}

/// The complaint about a file of the mirror.
const MIRROR: &str = "the temporary folder for objects cannot be written; TMPDIR names another one";

/// A new empty file, with the folders that it is in.
///
/// # Errors
/// Also for names that are no names of files on this system, and where an object has the name of a folder.
pub(super) fn create(path: &Path) -> Result<File> {
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder).context(MIRROR)?;
    ensure!(!path.is_dir(), "it is an object and a folder of objects, and cannot be both here");
    File::create(path).context(MIRROR)
}

/// A file of the mirror, to be filled or emptied.
pub(super) fn open(path: &Path) -> Result<File> {
    File::options().write(true).truncate(true).open(path).context(MIRROR)
}

/// Writes a whole file.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::io::Write::write_all(&mut create(path)?, bytes).context(MIRROR)
}

//! Reads and hashes an export in one pass. The hash does not depend on whether the export is compressed.

use std::io::{self, Read};
use std::path::Path;

use crate::decompress;
use crate::error::{Error, ErrorKind};
use crate::fleet::error::FleetError;
use crate::fleet::host::{CHANGED, FleetHost, InputStream, WatchedInputs};
use crate::fleet::store::InputKind;
use crate::fleet::{FailureKind, NotMeasured};
use crate::memory::MemoryBudget;
use crate::readers::read;
use crate::recording::{Options, Recording};
use blake3::{Hash, Hasher};

/// A file that was read to its end.
pub(crate) struct ReadFile {
    /// The hash of its decompressed bytes.
    pub(crate) content: Hash,
    /// The size on disk.
    pub(crate) bytes: u64,
    /// The export, or why it is unusable.
    pub(crate) export: Result<Recording, NotMeasured>,
}

pub(crate) fn refused(error: &Error) -> NotMeasured {
    let kind = match error.kind {
        ErrorKind::NotAnExport(_) | ErrorKind::UnsupportedBundle(_) => FailureKind::NotAnExport,
        ErrorKind::Unreadable { .. } => FailureKind::Unreadable,
        ErrorKind::Truncated { .. } => FailureKind::Truncated,
        // The file was read to its end, so the error comes from a decompressor or a limit.
        _ => FailureKind::Malformed,
    };
    let sentence = Error { kind: error.kind.clone(), at: None, source: None };
    let place = match &error.at {
        Some(at) if kind == FailureKind::Malformed => format!("line {}, byte {}: ", at.line, at.byte),
        _ => String::new(),
    };
    let mut reason = format!("{place}{sentence}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        reason = format!("{reason}: {error}");
        cause = error.source();
    }
    NotMeasured { kind, reason }
}

/// Reads an export, called `name` in the result. Bytes after its last document are hashed as well.
///
/// # Errors
/// If the file itself cannot be read.
pub(crate) fn read_file(
    name: &str,
    path: &Path,
    options: &Options,
    host: &dyn FleetHost,
) -> Result<ReadFile, NotMeasured> {
    let mut file = Counted::open(path, host)?;
    let (export, content) = hashed(&mut file, &options.memory, |source| read(source, name, options));
    let bytes = file.finish()?;
    let export = export.unwrap_or_else(|error| Err(Error::io(error, None)));
    let export = match export {
        Err(_) if bytes == 0 => Err(NotMeasured { kind: FailureKind::Empty, reason: "the file is empty".to_owned() }),
        export => export.map_err(|error| refused(&error)),
    };
    Ok(ReadFile { content, bytes, export })
}

/// The hash of a file's decompressed content.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn hash(path: &Path, host: &dyn FleetHost) -> Result<Hash, NotMeasured> {
    let mut file = Counted::open(path, host)?;
    let (_, content) = hashed(&mut file, &host.memory(), |_| ());
    file.finish()?;
    Ok(content)
}

/// Calls `read` with the decompressed bytes of a file. Returns its result, and the hash of everything that can be decompressed.
pub(super) fn hashed<T>(
    file: &mut (impl Read + Send),
    memory: &MemoryBudget,
    read: impl FnOnce(&mut (dyn Read + Send)) -> T,
) -> (io::Result<T>, Hash) {
    let source = match decompress(file, memory) {
        Ok(source) => source,
        Err(error) => return (Err(error), Hasher::new().finalize()),
    };
    let mut source = Hashed { source, hasher: Hasher::new() };
    let result = read(&mut source);
    let mut buffer = vec![0; 1 << 16];
    while source.read(&mut buffer).unwrap_or(0) > 0 {}
    (Ok(result), source.hasher.finalize())
}

/// Hashes bytes as they are read.
struct Hashed<R> {
    source: R,
    hasher: Hasher,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}

/// Returns the result of reading, or an error if a file of the recording at `path` changed in the meantime.
pub(crate) fn unless_changed<T>(
    files: &dyn WatchedInputs,
    path: &Path,
    result: Result<T, NotMeasured>,
) -> Result<T, NotMeasured> {
    let Some(changed) = files.first_changed() else { return result };
    // Reasons are printed next to the name of the file.
    let name = if changed == path { String::new() } else { format!("{}: ", changed.display()) };
    Err(NotMeasured::unreadable(format!("{name}{CHANGED}")))
}

/// A file that counts the bytes read from it.
struct Counted<'a> {
    file: Box<dyn InputStream + 'a>,
    bytes: u64,
    /// The error, if the file itself could not be read.
    failure: Option<io::Error>,
    host: &'a dyn FleetHost,
}

impl<'a> Counted<'a> {
    fn open(path: &Path, host: &'a dyn FleetHost) -> Result<Self, NotMeasured> {
        let file = host.open(path).map_err(|error| cannot_be_opened(&error))?;
        let kind = host.state(path).map(|state| state.kind);
        if kind == Some(InputKind::Folder) {
            let reason = "this folder is not a recording; lists and manifests name files and recordings";
            return Err(NotMeasured::unreadable(reason));
        }
        if kind == Some(InputKind::Device) {
            let reason = "this is a device, which may never end; name files, recordings or pipes";
            return Err(NotMeasured::unreadable(reason));
        }
        Ok(Self { file, bytes: 0, failure: None, host })
    }

    /// Reads to the end. Returns the length of the file, or an error if that changed.
    fn finish(mut self) -> Result<u64, NotMeasured> {
        let mut buffer = vec![0; 1 << 16];
        while self.failure.is_none() && self.read(&mut buffer).unwrap_or(0) > 0 {}
        match self.failure {
            _ if !self.file.is_unchanged() => Err(NotMeasured::unreadable(CHANGED)),
            Some(error) => Err(NotMeasured::unreadable(format!("cannot be read: {error}"))),
            None => Ok(self.bytes),
        }
    }

    /// Reads bytes of the file. Retries after a signal.
    fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.read_some(buffer) {
            Ok(count) => {
                self.bytes += count as u64;
                self.host.add_bytes(count as u64);
                Ok(count)
            }
            Err(error) => {
                let same = io::Error::new(error.kind(), error.to_string());
                self.failure = Some(error);
                Err(same)
            }
        }
    }
}

/// Keeps only the cause, since reasons are printed next to the name of the file.
fn cannot_be_opened(error: &FleetError) -> NotMeasured {
    let cause = error.root_cause();
    let reason = if cause.is::<io::Error>() { format!("cannot be read: {cause}") } else { cause.to_string() };
    NotMeasured::unreadable(reason)
}

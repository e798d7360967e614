//! A file that was read: its content, or the reason why it gave no export.

use blake3::Hash;
use traceparse::fleet::FailureKind;
use traceparse::recording::Recording;
use traceparse::{Error, ErrorKind};

/// A file that was read to its end.
pub(super) struct ReadFile {
    /// Of its bytes, decompressed.
    pub(super) content: Hash,
    /// On disk.
    pub(super) bytes: u64,
    /// The export, or why there is none.
    pub(super) export: Result<Recording, Refused>,
}

/// The reason why a file gave no export.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) kind: FailureKind,
    pub(super) reason: String,
}

pub(super) fn refused(error: &Error) -> Refused {
    let kind = match error.kind {
        ErrorKind::NotAnExport(_) | ErrorKind::UnsupportedBundle(_) => FailureKind::NotAnExport,
        ErrorKind::Unreadable { .. } => FailureKind::Unreadable,
        ErrorKind::Truncated { .. } => FailureKind::Truncated,
        // The file itself could be read to its end, so this is what a decompressor says, or a limit.
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
    Refused { kind, reason }
}

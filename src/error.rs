//! The errors: one error type for the library, and diagnostics for everything that a result could not hold.

use std::fmt;
use std::io;
use std::path::Path;

use crate::memory::OverBudget;

/// A place in an input.
///
/// `Display` writes `NAME:LINE:BYTE`, or `NAME:BYTE` for files that have no lines. A byte offset rather than a column: lines of an export are often megabytes
/// long, and the byte is what `head -c` and `dd` take.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Position {
    /// The name of the input as the caller gave it; a path, or `-`.
    pub input: String,
    /// Line, from 1; 0 for files that have no lines.
    pub line: u64,
    /// Byte offset from the start of the (decompressed) input, from 0.
    pub byte: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}:{}", self.input, self.byte),
            line => write!(f, "{}:{line}:{}", self.input, self.byte),
        }
    }
}

/// The reason why an input could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The reader under the parser failed.
    Io,
    /// The input is not an export of `xctrace`. The text describes the input and what to do.
    NotAnExport(String),
    /// The XML breaks its own rules; the text says which.
    Malformed(String),
    /// The input ends before its document does.
    Truncated {
        /// The element that was open, outermost first, such as `trace-query-result/node/row`.
        inside: String,
        /// The byte at which the input ends.
        end: u64,
        /// Complete rows read until there, in this input.
        rows: u64,
    },
    /// A limit that guards against hostile input was passed; the text says which.
    Limit(String),
    /// More memory would be taken than the [budget](crate::memory::MemoryBudget) has.
    Memory(OverBudget),
    /// An earlier input could not be read, so the builder cannot be used any longer; make a new one.
    Failed,
    /// A file of a recording (a `.trace` bundle) breaks a rule of its format.
    BrokenBundle {
        /// Path of the file.
        file: String,
        /// A sentence: what was found, where, which rule it breaks, and what to do.
        rule: String,
    },
    /// A recording (a `.trace` bundle) cannot be read by this version; the text says why and what to do.
    UnsupportedBundle(String),
    /// A file of a recording could not be read.
    Unreadable {
        /// Path of the file.
        file: String,
    },
}

/// An input that could not be used: what, where, and the cause below.
#[derive(Debug)]
pub struct Error {
    /// The reason.
    pub kind: ErrorKind,
    /// The place where a person should look.
    pub at: Option<Position>,
    /// The cause below this one.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of `kind` at a place.
    pub fn new(kind: ErrorKind, at: Option<Position>) -> Self {
        Self { kind, at, source: None }
    }

    /// A limit was passed, or a table is full.
    pub(crate) fn limit(what: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Limit(what.to_string()), None)
    }

    /// A file that cannot be read.
    pub(crate) fn unreadable(file: &Path, source: io::Error) -> Self {
        let kind = ErrorKind::Unreadable { file: file.display().to_string() };
        Self { kind, at: None, source: Some(Box::new(source)) }
    }

    /// More memory would be taken than there may be, for a file or at a place in one.
    pub fn memory(over: OverBudget, at: Option<Position>) -> Self {
        Self::new(ErrorKind::Memory(over), at)
    }

    /// A failure of the reader below, which may have exceeded the memory budget.
    pub fn io(source: io::Error, at: Option<Position>) -> Self {
        match source.get_ref().and_then(|cause| cause.downcast_ref()) {
            Some(over) => Self::memory(*over, at),
            None => Self { kind: ErrorKind::Io, at, source: Some(Box::new(source)) },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        match &self.kind {
            ErrorKind::Io => f.write_str("reading failed"),
            ErrorKind::Memory(over) => over.fmt(f),
            ErrorKind::NotAnExport(text)
            | ErrorKind::Malformed(text)
            | ErrorKind::Limit(text)
            | ErrorKind::UnsupportedBundle(text) => f.write_str(text),
            ErrorKind::Unreadable { file } => write!(f, "{file}: cannot be read"),
            ErrorKind::BrokenBundle { file, rule } => write!(f, "{file}: {rule}"),
            ErrorKind::Failed => f.write_str("an earlier input could not be read; read the others with a new builder"),
            ErrorKind::Truncated { inside, end, rows } => {
                let plural = if *rows == 1 { "row" } else { "rows" };
                write!(
                    f,
                    "the file is truncated: it ends at byte {end} inside {inside}, after {rows} complete {plural} (did xctrace crash?). \
                     Export it again, or pass --allow-truncated to use what is there"
                )
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// Something that a result does not hold although the input had it, or that its reader should know.
///
/// Diagnostics come with a result; an [`Error`] comes instead of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The place where it was seen first.
    pub at: Option<Position>,
    /// A description, in one sentence.
    pub message: String,
    /// The number of times it was seen.
    pub count: u64,
}

impl Diagnostic {
    /// Something that was seen once, at no place in an input.
    #[cfg(feature = "bundle")]
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { at: None, message: message.into(), count: 1 }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        f.write_str(&self.message)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}

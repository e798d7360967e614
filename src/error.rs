//! The library's error type, and diagnostics for everything that is missing from a result.

use std::fmt;
use std::io;

use crate::memory::OverBudget;
use crate::settings::{self, ALLOW_TRUNCATED};

/// Advice for a build that lacks a feature: the line to add or, in a program without a command, to use the command.
pub(crate) fn add_feature(feature: &str) -> String {
    if settings::is_without_command() {
        return "use the command traceparse".to_owned();
    }
    let version = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
    format!(
        "add the feature {feature} in Cargo.toml: traceparse = {{ version = \"{version}\", features = [\"{feature}\"] }}"
    )
}

/// A position in an input.
///
/// `Display` writes `NAME:LINE:BYTE`, or `NAME:BYTE` for files without lines. The last number is a byte offset in the file, not a column:
/// lines of an export are often megabytes long, and `head -c` and `dd` take byte offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Position {
    /// The name of the input as given by the caller; a path, or `-`.
    pub input: String,
    /// The line, from 1; 0 for files without lines.
    pub line: u64,
    /// The byte offset in the (decompressed) input, from 0.
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

/// Why an input could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The underlying reader failed.
    Io,
    /// The input is not an `xctrace` export. The string describes the input and what to do.
    NotAnExport(String),
    /// The input violates its format, such as XML that is not well-formed; the string explains how.
    Malformed(String),
    /// The input ends in the middle of a document.
    Truncated {
        /// The open elements, outermost first, such as `trace-query-result/node/row`.
        inside: String,
        /// The byte offset at which the input ends.
        end: u64,
        /// The number of complete rows before the end of this input.
        rows: u64,
    },
    /// A limit against hostile input was exceeded; the string names it.
    Limit(String),
    /// The memory [budget](crate::memory::MemoryBudget) was exceeded.
    Memory(OverBudget),
    /// An earlier input could not be read, so the builder is no longer usable. Create a new one.
    Failed,
    /// A file of a recording (a `.trace` bundle) violates its format.
    BrokenBundle {
        /// The path of the file.
        file: String,
        /// A sentence: what was found, where, which rule it violates, and what to do.
        rule: String,
    },
    /// This version cannot read the recording (a `.trace` bundle); the string explains why, and what to do.
    UnsupportedBundle(String),
    /// No table can answer a [query](crate::tables::TableQuery); the string explains why.
    Query(String),
    /// No symbols were found; the string explains where and why.
    NoSymbols(String),
    /// A file of a recording could not be read.
    Unreadable {
        /// The path of the file.
        file: String,
    },
}

/// Why an input could not be used: reason, position and underlying cause.
///
/// `Debug` writes the sentence of `Display`, followed by the causes, since a `main` that returns the error prints it with `Debug`.
pub struct Error {
    /// The reason.
    pub kind: ErrorKind,
    /// The position, if known.
    pub at: Option<Position>,
    /// The underlying cause.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error with a reason and a position.
    pub fn new(kind: ErrorKind, at: Option<Position>) -> Self {
        Self { kind, at, source: None }
    }

    /// Creates an error for an exceeded limit or a full table.
    pub(crate) fn limit(what: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Limit(what.to_string()), None)
    }

    /// Creates an error for a file that cannot be read.
    pub(crate) fn unreadable(file: String, source: io::Error) -> Self {
        let kind = ErrorKind::Unreadable { file };
        Self { kind, at: None, source: Some(Box::new(source)) }
    }

    /// Creates an error for exceeding the memory budget, optionally at a position.
    pub fn memory(over: OverBudget, at: Option<Position>) -> Self {
        Self::new(ErrorKind::Memory(over), at)
    }

    /// Creates an error for a failed reader. If the memory budget caused the failure, the error is about memory.
    pub fn io(source: io::Error, at: Option<Position>) -> Self {
        match source.get_ref().and_then(|cause| cause.downcast_ref()) {
            Some(over) => Self::memory(*over, at),
            None => Self { kind: ErrorKind::Io, at, source: Some(Box::new(source)) },
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut causes = std::iter::successors(std::error::Error::source(self), |cause| cause.source());
        causes.try_for_each(|cause| write!(f, ": {cause}"))
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
            | ErrorKind::Query(text)
            | ErrorKind::NoSymbols(text)
            | ErrorKind::UnsupportedBundle(text) => f.write_str(text),
            ErrorKind::Unreadable { file } => write!(f, "{file}: cannot be read"),
            ErrorKind::BrokenBundle { file, rule } => write!(f, "{file}: {rule}"),
            ErrorKind::Failed => f.write_str("an earlier input could not be read; read the others with a new builder"),
            ErrorKind::Truncated { inside, end, rows } => {
                let plural = if *rows == 1 { "row" } else { "rows" };
                write!(
                    f,
                    "the file is truncated: it ends at byte {end} inside {inside}, after {rows} complete {plural} (did xctrace crash?). \
                     Export it again, or pass {ALLOW_TRUNCATED} to use what is there"
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

/// Something that is missing from a result, or that the user should know about the input.
///
/// Diagnostics accompany a result; an [`Error`] replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The position of its first occurrence.
    pub at: Option<Position>,
    /// A description, in one sentence.
    pub message: String,
    /// The number of occurrences.
    pub count: u64,
}

impl Diagnostic {
    /// Creates a diagnostic with one occurrence and without a position.
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

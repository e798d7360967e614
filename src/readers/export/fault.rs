//! A fault that stops the reading, before its line is known.

use crate::error::ErrorKind;
use crate::memory::OverBudget;
use crate::profile::Full;

/// The fault that stops the reading, and the byte at which it is.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: ErrorKind,
    pub(super) byte: u64,
    /// Its line, where that is known already.
    pub(super) line: Option<u64>,
}

impl Fault {
    pub(super) fn malformed(text: impl Into<String>, byte: u64) -> Self {
        Self { kind: ErrorKind::Malformed(text.into()), byte, line: None }
    }

    pub(super) fn not_an_export(text: impl Into<String>, byte: u64) -> Self {
        Self { kind: ErrorKind::NotAnExport(text.into()), byte, line: None }
    }

    pub(super) fn limit(text: impl Into<String>, byte: u64) -> Self {
        Self { kind: ErrorKind::Limit(text.into()), byte, line: None }
    }

    pub(super) fn memory(over: OverBudget, byte: u64) -> Self {
        Self { kind: ErrorKind::Memory(over), byte, line: None }
    }

    pub(super) fn full(full: Full, byte: u64) -> Self {
        Self::limit(full.to_string(), byte)
    }
}

//! Errors for names that cannot be demangled or exceed a limit, and strings of bounded length.

use std::fmt;

/// The reason why a name cannot be demangled as C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The name does not start with `_Z`, or with `___Z` as blocks do.
    NotMangled,
    /// The name violates the ABI's grammar.
    Malformed {
        /// The position of the invalid byte, or of a later byte, starting at 0 and without a stripped underscore.
        at: usize,
    },
    /// More than 512 types, names and expressions are nested.
    TooDeep,
    /// The demangled name is longer than the [limit](super::Demangler::new), or takes too much work for its length.
    TooLong,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMangled => f.write_str("not a mangled C++ name"),
            Self::Malformed { at } => write!(f, "malformed name, at byte {at}"),
            Self::TooDeep => f.write_str("name is nested too deeply"),
            Self::TooLong => f.write_str("demangled name is too long"),
        }
    }
}

impl std::error::Error for Error {}

/// A string with a maximum length.
pub(super) struct Bounded {
    pub(super) text: String,
    /// The maximum number of bytes.
    pub(super) longest: usize,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > self.longest {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

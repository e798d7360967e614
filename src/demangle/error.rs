//! Limits on demangled names: the errors of names that break them or cannot be read, and strings of bounded length.

use std::fmt;

/// The reason why a name has no C++ spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The name does not begin with `_Z`, or with `___Z` like blocks do.
    NotMangled,
    /// The name breaks the ABI's grammar.
    Malformed {
        /// The position of the unreadable byte, or of a later byte; counted from 0, without a stripped underscore.
        at: usize,
    },
    /// More than 512 types, names and expressions are inside each other.
    TooDeep,
    /// The name is longer than [`Options::max_output`](super::Demangler::with_max_output), or takes too much work for its length.
    TooLong,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMangled => f.write_str("not a mangled name of C++"),
            Self::Malformed { at } => write!(f, "malformed name, at byte {at}"),
            Self::TooDeep => f.write_str("name is nested too deeply"),
            Self::TooLong => f.write_str("demangled name is too long"),
        }
    }
}

impl std::error::Error for Error {}

/// A string that refuses to grow beyond the longest name.
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

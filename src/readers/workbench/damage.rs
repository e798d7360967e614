//! Errors about damaged payloads.

use std::fmt::Display;

use crate::error::{Error, ErrorKind, Position};

/// Creates errors, with the name of the input and the position of the head in the payload.
#[derive(Clone, Copy, Debug)]
pub(super) struct Damage<'b> {
    pub(super) input: &'b str,
    pub(super) head: usize,
}

impl Damage<'_> {
    /// An error: the payload violates a rule at this byte.
    #[cold]
    pub(super) fn at(self, byte: usize, rule: impl Display) -> Error {
        let at = Position { input: self.input.to_owned(), line: 0, byte: byte as u64 };
        Error::new(
            ErrorKind::Malformed(format!("the data of the page is damaged: {rule}; write the page again")),
            Some(at),
        )
    }

    /// An error: the head violates a rule.
    #[cold]
    pub(super) fn in_head(self, rule: impl Display) -> Error {
        self.at(self.head, rule)
    }
}

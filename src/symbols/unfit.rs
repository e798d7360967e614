//! Bytes that are not those of the found file.

use std::io;

pub(super) fn invalid(what: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

pub(super) fn gone() -> io::Error {
    invalid("the file changed: its UUID is not there any more")
}

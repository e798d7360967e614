//! The texts of source files.

use crate::hash::HashMap;

/// The text of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// The file that it is from, as people should see it.
    pub file: String,
    /// Its content.
    pub text: String,
}

/// The texts of the source files of a report ([`Report::read_sources`](super::Report::read_sources)).
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// By recorded path: the text, or why there is none.
    pub(super) answers: HashMap<String, Result<SourceText, String>>,
}

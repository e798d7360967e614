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

#[cfg(feature = "workbench")]
impl Sources {
    /// The recorded paths in their order, each with its text, or why there is none.
    pub(crate) fn texts(&self) -> Vec<(&str, &Result<SourceText, String>)> {
        let mut answers: Vec<_> = self.answers.iter().map(|(path, answer)| (path.as_str(), answer)).collect();
        answers.sort_unstable_by_key(|&(path, _)| path);
        answers
    }
}

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
    /// The recorded paths in their order, each with its file and text, or why there is none.
    pub(crate) fn texts(&self) -> Vec<(&str, Result<(&str, &str), &str>)> {
        let answers = self.answers.iter().map(|(path, answer)| {
            let answer = answer.as_ref().map(|found| (found.file.as_str(), found.text.as_str()));
            (path.as_str(), answer.map_err(String::as_str))
        });
        let mut answers: Vec<_> = answers.collect();
        answers.sort_unstable_by_key(|&(path, _)| path);
        answers
    }
}

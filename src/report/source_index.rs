//! Finds the local file for a source path that was recorded on another machine.
//!
//! ```text
//! recorded   /Users/ada/code/orchard/src/press.cpp
//! files      /home/ci/orchard/src/press.cpp       3 components from the end are equal: this one
//!            /home/ci/orchard/tests/press.cpp     1
//! ```

use crate::hash::HashMap;

/// Files that may hold sources.
#[derive(Clone, Debug, Default)]
pub struct SourceIndex {
    /// By file name: the paths.
    files: HashMap<String, Vec<String>>,
}

/// The answer of an index for a recorded path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceMatch<'i> {
    /// No file has the name.
    None,
    /// The file whose path ends most like the recorded one.
    One(&'i str),
    /// Several files whose paths match it equally well. None of them is better than the others.
    Several(&'i str, &'i str),
}

impl SourceIndex {
    /// Adds a file by its path, with `/` between components. A path that was added before changes nothing.
    pub fn add(&mut self, file: &str) {
        let Some(&name) = components(file).last() else { return };
        let files = self.files.entry(name.to_owned()).or_default();
        if !files.iter().any(|known| known == file) {
            files.push(file.to_owned());
        }
    }

    /// The file whose path shares the most trailing components with a recorded path; at least the file name must match. Names are compared
    /// case-sensitively; `.` and `..` in paths are resolved.
    pub fn find(&self, recorded: &str) -> SourceMatch<'_> {
        let wanted = components(recorded);
        let files = wanted.last().and_then(|&name| self.files.get(name)).map_or(&[][..], Vec::as_slice);
        let common = |file: &str| -> usize {
            let (ours, theirs) = (components(file), wanted.iter().rev());
            ours.iter().rev().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count()
        };
        let longest = files.iter().map(|file| common(file)).max().unwrap_or(0);
        let mut best = files.iter().filter(|file| common(file) == longest);
        match (best.next(), best.next()) {
            (None, _) => SourceMatch::None,
            (Some(file), None) => SourceMatch::One(file),
            (Some(first), Some(second)) => SourceMatch::Several(first, second),
        }
    }
}

/// The components of a path, with `.` and `..` resolved.
fn components(path: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => drop(found.pop()),
            component => found.push(component),
        }
    }
    found
}

/// The text of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// The file that it is from, as people should see it.
    pub file: String,
    /// The content of the file.
    pub text: String,
}

/// The text of a report's source files ([`Report::read_sources`](super::Report::read_sources)).
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// By recorded path: the text, or the reason why it is missing.
    pub(super) answers: HashMap<String, Result<SourceText, String>>,
}

#[cfg(feature = "compression")]
impl Sources {
    /// The recorded paths in their order, each with its text, or the reason why it is missing.
    pub(crate) fn texts(&self) -> Vec<(&str, &Result<SourceText, String>)> {
        let mut answers: Vec<_> = self.answers.iter().map(|(path, answer)| (path.as_str(), answer)).collect();
        answers.sort_unstable_by_key(|&(path, _)| path);
        answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_common_suffix_wins() {
        let mut index = SourceIndex::default();
        let files = [
            "/home/ci/orchard/src/press.cpp",
            "/home/ci/orchard/tests/press.cpp",
            "/home/ci/orchard/src/press.cpp",
            "/home/ci/a/mod.rs",
            "/home/ci/b/mod.rs",
            "lone.c",
        ];
        files.iter().for_each(|file| index.add(file));
        for (recorded, found) in [
            ("/Users/ada/orchard/src/press.cpp", SourceMatch::One(files[0])),
            ("/Users/ada/orchard/src/../tests/./press.cpp", SourceMatch::One(files[1])),
            ("orchard/src//press.cpp", SourceMatch::One(files[0])),
            ("press.cpp", SourceMatch::Several(files[0], files[1])),
            ("/x/press.cpp", SourceMatch::Several(files[0], files[1])),
            ("/b/mod.rs", SourceMatch::One(files[4])),
            ("/c/mod.rs", SourceMatch::Several(files[3], files[4])),
            ("/any/where/lone.c", SourceMatch::One("lone.c")),
            ("/any/where/Lone.c", SourceMatch::None),
            ("/press.cpp/", SourceMatch::Several(files[0], files[1])),
            ("", SourceMatch::None),
        ] {
            assert_eq!(index.find(recorded), found, "{recorded}");
        }
    }
}

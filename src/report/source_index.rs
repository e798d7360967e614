//! Finds the local file for a source path from another machine.
//!
//! ```text
//! recorded   /Users/ada/code/orchard/src/press.cpp
//! files      /home/ci/orchard/src/press.cpp       3 common trailing components: this one
//!            /home/ci/orchard/tests/press.cpp     1
//! ```

use crate::hash::HashMap;

/// An index of files that may be sources.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceIndex {
    /// By file name: the paths.
    files: HashMap<String, Vec<String>>,
}

impl SourceIndex {
    /// Adds a file by its path, with `/` between components. Adding it again has no effect.
    pub(super) fn add(&mut self, file: &str) {
        let Some(&name) = components(file).last() else { return };
        let files = self.files.entry(name.to_owned()).or_default();
        if !files.iter().any(|known| known == file) {
            files.push(file.to_owned());
        }
    }

    /// Finds the file that shares the most trailing path components with a recorded path, at least the file name. Names are case-sensitive; `.`
    /// and `..` are resolved.
    ///
    /// # Errors
    /// If no file has this name, or several match equally well. The error names two of them.
    pub(super) fn find(&self, recorded: &str) -> Result<&str, String> {
        let wanted = components(recorded);
        let files = wanted.last().and_then(|&name| self.files.get(name)).map_or(&[][..], Vec::as_slice);
        let common = |file: &str| -> usize {
            let (ours, theirs) = (components(file), wanted.iter().rev());
            ours.iter().rev().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count()
        };
        let longest = files.iter().map(|file| common(file)).max().unwrap_or(0);
        let mut best = files.iter().filter(|file| common(file) == longest);
        match (best.next(), best.next()) {
            (None, _) => Err("no such file".to_owned()),
            (Some(file), None) => Ok(file),
            (Some(first), Some(second)) => Err(format!("it may be {first} or {second}")),
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
pub(crate) struct SourceText {
    /// The name of the file for display.
    pub(crate) file: String,
    /// The content of the file.
    pub(crate) text: String,
}

/// The text of a report's source files ([`Report::read_sources`](super::Report::read_sources)).
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// By recorded path: the text, or why it is missing.
    pub(super) answers: HashMap<String, Result<SourceText, String>>,
}

#[cfg(feature = "compression")]
impl Sources {
    /// Returns the recorded paths in sorted order, each with its text or the reason why that is missing.
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
        let several = |first: usize, second: usize| Err(format!("it may be {} or {}", files[first], files[second]));
        for (recorded, found) in [
            ("/Users/ada/orchard/src/press.cpp", Ok(files[0])),
            ("/Users/ada/orchard/src/../tests/./press.cpp", Ok(files[1])),
            ("orchard/src//press.cpp", Ok(files[0])),
            ("press.cpp", several(0, 1)),
            ("/x/press.cpp", several(0, 1)),
            ("/b/mod.rs", Ok(files[4])),
            ("/c/mod.rs", several(3, 4)),
            ("/any/where/lone.c", Ok("lone.c")),
            ("/any/where/Lone.c", Err("no such file".to_owned())),
            ("/press.cpp/", several(0, 1)),
            ("", Err("no such file".to_owned())),
        ] {
            assert_eq!(index.find(recorded), found, "{recorded}");
        }
    }
}

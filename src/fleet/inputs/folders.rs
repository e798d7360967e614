//! Walking folders, and expanding patterns.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use crate::bundle::BundleFiles;
use globset::{GlobBuilder, GlobMatcher};

use super::file_names::{is_export_name, is_recording_name, is_unreadable_export_name};
use crate::files::{Entry, Files};
use crate::units::several;

/// The files and folders that a walk left out.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Hidden files with the name of an export.
    hidden: Vec<PathBuf>,
    /// Pipes, sockets and devices with the name of an export: opening one may block indefinitely.
    special: Vec<PathBuf>,
    /// Exports whose names are not UTF-8.
    unreadable_names: Vec<PathBuf>,
    /// Folders that cannot be listed, and why.
    pub(super) unreadable: Vec<(String, String)>,
}

impl Walked {
    /// The files that were left out, in sentences.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(first) = self.hidden.first() {
            let (what, first) = (several(self.hidden.len(), "hidden export"), first.display());
            notes.push(format!("{what} skipped, such as {first}; name a file to read it anyway"));
        }
        if let Some(first) = self.unreadable_names.first() {
            let (what, first) = (several(self.unreadable_names.len(), "export"), first.display());
            notes
                .push(format!("{what} skipped, such as {first}: the name is not UTF-8; name a file to read it anyway"));
        }
        if let Some(first) = self.special.first() {
            let (what, first) = (several(self.special.len(), "path"), first.display());
            notes.push(format!(
                "{what} skipped, such as {first}: neither files nor folders; name one to read it anyway"
            ));
        }
        notes
    }
}

/// Collects all files in a folder and its subfolders, by path; the folder of a recording is one file. Hidden files are
/// skipped. A folder is entered once, regardless of links to it.
pub(super) fn walk(files: &dyn Files, folder: &Path, walked: &mut Walked) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entered = HashSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        if !files.canonical(&folder).is_ok_and(|canonical| entered.insert(canonical)) {
            continue;
        }
        let paths = match files.list(&folder) {
            Ok(paths) => paths,
            Err(error) => {
                walked.unreadable.push((folder.display().to_string(), format!("the folder cannot be read: {error}")));
                continue;
            }
        };
        for path in paths {
            let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            let entry = files.entry(&path);
            let is_folder = matches!(entry, Ok(Entry::Folder));
            if is_hidden {
                let is_export = (!is_folder && is_export_name(&path)) || is_recording_name(&path);
                if is_export && !BundleFiles::is_added_by_macos(&path) {
                    walked.hidden.push(path);
                }
            } else if is_folder && !is_recording_name(&path) {
                open.push(path);
            } else if matches!(entry, Ok(Entry::Other)) {
                if is_export_name(&path) || is_recording_name(&path) {
                    walked.special.push(path);
                }
            } else {
                if is_unreadable_export_name(&path) {
                    walked.unreadable_names.push(path.clone());
                }
                found.push(path);
            }
        }
    }
    found.sort();
    walked.hidden.sort();
    walked.special.sort();
    walked.unreadable_names.sort();
    found
}

/// True if a path has characters of a pattern.
pub(super) fn is_pattern(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?[{".contains(byte))
}

/// The files and folders that match a pattern, by path; `**` matches any folders, and other wildcards match within one
/// name, as in a shell.
pub(super) fn expand(files: &dyn Files, pattern: &Path) -> Result<Vec<PathBuf>, String> {
    let text = pattern.to_str().ok_or("not UTF-8")?;
    let glob = GlobBuilder::new(text).literal_separator(true).build().map_err(|error| error.kind().to_string())?;
    let matcher = glob.compile_matcher();
    let base = base(pattern);
    let listed = if base.as_os_str().is_empty() { Path::new(".") } else { &base };
    let depth = (!text.contains("**")).then(|| pattern.components().count());
    let mut search = Search { files, matcher, depth, entered: HashSet::new(), matches: Vec::new() };
    search.enter(listed, &base);
    let mut matches = search.matches;
    matches.sort();
    Ok(matches)
}

/// The folders before the first part with a sign.
fn base(pattern: &Path) -> PathBuf {
    let is_plain = |part: &Component<'_>| !is_pattern(Path::new(part.as_os_str()));
    pattern.components().take_while(is_plain).collect()
}

/// A search for the paths that a pattern matches.
struct Search<'f> {
    files: &'f dyn Files,
    matcher: GlobMatcher,
    /// The number of parts of the longest match; `None` if there is no limit.
    depth: Option<usize>,
    entered: HashSet<PathBuf>,
    matches: Vec<PathBuf>,
}

impl Search<'_> {
    /// Searches a folder, whose path in matches is `name`.
    fn enter(&mut self, folder: &Path, name: &Path) {
        let is_deep = self.depth.is_some_and(|depth| name.components().count() >= depth);
        if is_deep || !self.files.canonical(folder).is_ok_and(|canonical| self.entered.insert(canonical)) {
            return;
        }
        let Ok(paths) = self.files.list(folder) else { return };
        let mut names: Vec<_> = paths.iter().filter_map(|path| path.file_name()).collect();
        names.sort();
        for entry in names.into_iter().filter(|name| !name.as_encoded_bytes().starts_with(b".")) {
            let path = name.join(entry);
            if self.matcher.is_match(&path) {
                // The contents of a matching folder belong to it.
                self.matches.push(path);
            } else if matches!(self.files.entry(&path), Ok(Entry::Folder)) && !is_recording_name(&path) {
                self.enter(&path, &path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::FileSystem;

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in ["a/1.xml", "a/b/2.xml.gz", "a/b/.3.xml", "a/._1.xml", "a/.git/4.xml", "c/r.trace/5.xml", "c/6.txt"]
        {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        root
    }

    fn below(root: &tempfile::TempDir, paths: &[PathBuf]) -> Vec<String> {
        paths.iter().map(|path| path.strip_prefix(root.path()).unwrap().display().to_string()).collect()
    }

    #[test]
    fn folders_are_walked_to_the_bottom() {
        let root = tree();
        let mut walked = Walked::default();
        let files = walk(&FileSystem, root.path(), &mut walked);
        assert_eq!(below(&root, &files), ["a/1.xml", "a/b/2.xml.gz", "c/6.txt", "c/r.trace"]);
        assert_eq!(below(&root, &walked.hidden), ["a/b/.3.xml"]);
        let notes = walked.notes();
        assert!(notes.len() == 1 && notes[0].contains(".3.xml"), "{notes:?}");
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_back_are_entered_once() {
        let root = tree();
        std::os::unix::fs::symlink(root.path(), root.path().join("a/back")).unwrap();
        let mut walked = Walked::default();
        assert_eq!(walk(&FileSystem, root.path(), &mut walked).len(), 4);
        let all = expand(&FileSystem, &root.path().join("**/*.xml")).unwrap();
        assert_eq!(below(&root, &all), ["a/1.xml"]);
    }

    #[test]
    fn patterns_are_those_of_shells() {
        let root = tree();
        let expanded = |pattern: &str| below(&root, &expand(&FileSystem, &root.path().join(pattern)).unwrap());
        assert_eq!(expanded("a/*.xml"), ["a/1.xml"]);
        assert_eq!(expanded("*/*.xml"), ["a/1.xml"]);
        assert_eq!(expanded("**/*.xml*"), ["a/1.xml", "a/b/2.xml.gz"]);
        assert_eq!(expanded("a/[1-3].xml"), ["a/1.xml"]);
        assert_eq!(expanded("a/{1,2}.xml"), ["a/1.xml"]);
        assert_eq!(expanded("?"), ["a", "c"]);
        assert_eq!(expanded("**/*.trace"), ["c/r.trace"]);
        assert_eq!(expanded("x/*"), [""; 0]);
        assert!(expand(&FileSystem, Path::new("a[.xml")).is_err());
    }
}

//! Walks folders, expands patterns, and recognises exports and the files next to them by name.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::bundle::BundleFiles;
use crate::decompress;
use crate::files::{Entry, Files};
use crate::memory::MemoryBudget;
use crate::readers::names::{
    COMPRESSED, OTHER_REPORTS, REPORTS, file_name, has_ending, is_export_name, is_recording_name, unpacked, without,
    without_xml,
};
use crate::readers::{HEAD, is_report_measured};
use crate::units::several;
use globset::{GlobBuilder, GlobMatcher};

/// The files and folders that a walk skipped.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Hidden files with the name of an export.
    hidden: Vec<PathBuf>,
    /// Pipes, sockets and devices with the name of an export. Opening one may block forever.
    special: Vec<PathBuf>,
    /// Exports whose names are not UTF-8.
    unreadable_names: Vec<PathBuf>,
    /// Reports of kinds that fleets do not measure.
    pub(super) unmeasured: Vec<PathBuf>,
    /// Archives without the name of a recording or an export. Opening each takes time, and most are something else.
    archives: Vec<PathBuf>,
    /// Folders that cannot be listed, and why.
    pub(super) unreadable: Vec<(String, String)>,
}

impl Walked {
    /// Returns sentences about the skipped files.
    pub(super) fn notes(&self) -> Vec<String> {
        let kinds = [
            (&self.hidden, "hidden export", "; name a file to read it anyway"),
            (&self.unreadable_names, "export", ": the name is not UTF-8; name a file to read it anyway"),
            (
                &self.unmeasured,
                "report",
                "; fleets do not measure spindump and sample reports, Deep Copies, and .ips files other than crash reports; open one with traceparse FILE",
            ),
            (&self.archives, "archive", "; name one that has a recording, an export or a report in it"),
            (&self.special, "path", ": neither files nor folders; name one to read it anyway"),
        ];
        let note = |(paths, what, advice): (&Vec<PathBuf>, &str, &str)| {
            let (what, first) = (several(paths.len(), what), paths.first()?.display());
            Some(format!("{what} skipped, such as {first}{advice}"))
        };
        kinds.into_iter().filter_map(note).collect()
    }
}

/// Collects all files at any depth of a folder, sorted by path. A recording's folder counts as one file, and hidden files are skipped. A folder
/// is entered once, even if several links lead to it.
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
                if is_other_archive(&path) {
                    walked.archives.push(path.clone());
                }
                found.push(path);
            }
        }
    }
    found.sort();
    walked.archives.sort();
    walked.hidden.sort();
    walked.special.sort();
    walked.unreadable_names.sort();
    found
}

/// True if a path contains wildcard characters.
pub(super) fn is_pattern(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?[{".contains(byte))
}

/// Returns the files and folders that match a pattern, sorted by path. As in a shell, `**` matches any folders, and other wildcards match within
/// one name.
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

/// The leading folders of a pattern, up to the first wildcard.
fn base(pattern: &Path) -> PathBuf {
    let is_plain = |part: &Component<'_>| !is_pattern(Path::new(part.as_os_str()));
    pattern.components().take_while(is_plain).collect()
}

/// A search for the paths that match a pattern.
struct Search<'f> {
    files: &'f dyn Files,
    matcher: GlobMatcher,
    /// The maximum number of path components in a match; `None` if unlimited.
    depth: Option<usize>,
    entered: HashSet<PathBuf>,
    matches: Vec<PathBuf>,
}

impl Search<'_> {
    /// Searches a folder. Matches in it start with `name`.
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
                // A matching folder is not searched any further.
                self.matches.push(path);
            } else if matches!(self.files.entry(&path), Ok(Entry::Folder)) && !is_recording_name(&path) {
                self.enter(&path, &path);
            }
        }
    }
}

/// The suffixes of an export's table of contents, in order of preference.
const TOC: [&str; 3] = ["-toc", ".toc", "_toc"];
/// The suffix of an export's intervals.
const INTERVALS: &str = "-intervals";

/// True for a report that fleets measure, false for one that only other commands read, and `None` for other files. The content decides, since the
/// extensions of reports, such as `.json` and `.txt`, are common.
pub(crate) fn is_report(files: &dyn Files, path: &Path) -> Option<bool> {
    let has = |endings: &[&str]| has_ending(path, endings);
    let head = (has(&REPORTS) || has(&OTHER_REPORTS)).then(|| head(files, path).ok()).flatten()?;
    // Other reports of the system, such as those about memory, are also reports that fleets do not measure.
    is_report_measured(&head).or(has(&[".ips", ".crash", ".synced"]).then_some(false))
}

/// The first bytes of a file, decompressed.
fn head(files: &dyn Files, path: &Path) -> io::Result<Vec<u8>> {
    let bytes = files.read(path, 0, HEAD)?;
    let mut head = Vec::new();
    // The truncated input ends with an error, but the bytes before it are usable.
    let _ = decompress(&bytes[..], &MemoryBudget::default())?.take(HEAD as u64).read_to_end(&mut head);
    Ok(head)
}

/// True for an archive that has the name neither of an input nor of symbols.
fn is_other_archive(path: &Path) -> bool {
    let Some(name) = file_name(path) else { return false };
    let inside = unpacked(name);
    let is_symbols = [".dSYM", "dSYMs", ".symbols", ".symbolsarchive"].iter().any(|end| without(inside, end).is_some());
    inside.len() < name.len() && !is_export_name(path) && !is_recording_name(path) && !is_symbols
}

/// True for an export whose name is not UTF-8, so the files next to it cannot be found.
pub(crate) fn is_unreadable_export_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_str().is_none() && without_xml(&name.to_string_lossy()).is_some()
}

/// The base names for the table of contents of an export, in order of preference. For most exports: the name without `.xml` and the extensions of
/// compression and archive. For a recording, in any archive: the name without `.trace` and the archive extension, then the name with `.trace`.
/// Any other name loses its last extension.
pub(crate) fn export_names(path: &Path) -> Vec<String> {
    let Some(name) = file_name(path) else { return Vec::new() };
    let unpacked = unpacked(name);
    if let Some(stem) = without_xml(unpacked) {
        return vec![stem.to_owned()];
    }
    if let Some(stem) = without(unpacked, ".trace") {
        return vec![stem.to_owned(), unpacked.to_owned()];
    }
    if unpacked.len() < name.len() {
        return vec![unpacked.to_owned()];
    }
    Path::new(name).file_stem().and_then(|stem| stem.to_str()).map(str::to_owned).into_iter().collect()
}

/// The possible names of the table of contents for the export `name`, in order of preference.
pub(crate) fn toc_names(name: &str) -> impl Iterator<Item = String> {
    let names = TOC.iter().flat_map(|toc| COMPRESSED.iter().map(move |compressed| format!("{toc}.xml{compressed}")));
    names.map(move |ending| format!("{name}{ending}"))
}

/// The possible names of the intervals file for the export `name`, in order of preference.
pub(crate) fn intervals_names(name: &str) -> impl Iterator<Item = String> {
    COMPRESSED.iter().map(move |compressed| format!("{name}{INTERVALS}.xml{compressed}"))
}

/// The name of the export, if a file has the name of a table of contents.
pub(crate) fn toc_of(path: &Path) -> Option<&str> {
    let name = without_xml(file_name(path)?)?;
    TOC.iter().find_map(|toc| name.strip_suffix(toc)).filter(|name| !name.is_empty())
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

    #[test]
    fn a_recording_has_one_name_in_every_form() {
        for ending in ["", ".zip", ".tar", ".tar.gz", ".tgz", ".TAR.ZST"] {
            let path = format!("x/app.7.trace{ending}");
            assert_eq!(export_names(Path::new(&path)), ["app.7", "app.7.trace"], "{path}");
            assert!(is_recording_name(Path::new(&path)), "{path}");
        }
        for name in ["a.trace", "x/a.TRACE", "a.b.trace.tar"] {
            assert!(is_recording_name(Path::new(name)), "{name}");
        }
        for name in [".trace", "trace", "a.zip", "a.trace.xml", ".trace.zip", "a.traces", ""] {
            assert!(!is_recording_name(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn tables_of_contents_are_named_after_exports() {
        for name in ["x/run.7.xml.gz", "x/run.7.export", "run.7.ZIP", "run.7.tar.gz"] {
            assert_eq!(export_names(Path::new(name)), ["run.7"], "{name}");
        }
        assert_eq!(export_names(Path::new("x/run")), ["run"]);
        for name in toc_names("run.7") {
            assert_eq!(toc_of(Path::new(&name)), Some("run.7"), "{name}");
        }
        assert_eq!(toc_names("a").count(), 12);
        assert_eq!(toc_names("a").next().as_deref(), Some("a-toc.xml"));
        for name in ["toc.xml", "-toc.xml", "atoc.xml", "a-toc", "a-toc.txt"] {
            assert_eq!(toc_of(Path::new(name)), None, "{name}");
        }
    }
}

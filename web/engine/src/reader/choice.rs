//! Chooses the recording among the dropped files. Everything else is searched for symbols.

use std::path::{Path, PathBuf};

use traceparse::bundle::BundleFiles;
use traceparse::files::{Entry, Files};
use traceparse::recording::Options;
use traceparse::units::first_of;
use traceparse::{Error, ErrorKind, Input, InputFiles, InputPlace};

/// The input of a reading.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The recording, and for an export its tables of contents.
    pub(crate) inputs: Vec<PathBuf>,
    /// Files and folders that may be symbols.
    pub(crate) others: Vec<PathBuf>,
}

/// Chooses the only recording.
///
/// # Errors
/// If there is no recording, if there are several, or if an archive is unusable.
pub(crate) fn choose(files: &mut InputFiles<'_>) -> Result<Choice, Error> {
    let mut found = Found::default();
    let dropped = children(files, Path::new(""));
    for path in &dropped {
        found.visit(files, path, true)?;
    }
    let Found { mut recordings, tocs, mut others } = found;
    match (recordings.as_slice(), tocs.as_slice(), others.as_slice()) {
        ([(_, true)], ..) => others.extend(tocs),
        ([(_, false)], ..) => recordings.extend(tocs.into_iter().map(|toc| (toc, false))),
        // The readers report what is wrong with it.
        ([], [only], []) => recordings.push((only.clone(), false)),
        ([], [], [only]) if !is_folder(files, only) => recordings.push((others.pop().unwrap_or_default(), false)),
        ([], ..) => return Err(none(&dropped)),
        (several, ..) => {
            let names: Vec<String> = several.iter().map(|(path, _)| path.display().to_string()).collect();
            return Err(sentence(format!("{} recordings were dropped: {}; drop one", names.len(), first_of(&names))));
        }
    }
    Ok(Choice { inputs: recordings.into_iter().map(|(path, _)| path).collect(), others })
}

fn none(dropped: &[PathBuf]) -> Error {
    let names: Vec<String> = dropped.iter().map(|path| path.display().to_string()).collect();
    sentence(format!(
        "there is no recording in what was dropped ({}); drop a recording (.trace), an export or a report, together with its symbols",
        first_of(&names)
    ))
}

fn sentence(text: String) -> Error {
    Error::new(ErrorKind::NotAnExport(text), None)
}

#[derive(Default)]
struct Found {
    /// The recordings; true for bundles.
    recordings: Vec<(PathBuf, bool)>,
    tocs: Vec<PathBuf>,
    others: Vec<PathBuf>,
}

impl Found {
    /// Visits a file or folder. Returns true if an input is in it.
    fn visit(&mut self, files: &mut InputFiles<'_>, path: &Path, is_dropped: bool) -> Result<bool, Error> {
        if BundleFiles::is_added_by_macos(path) {
            return Ok(false);
        }
        let is_folder = is_folder(files, path);
        if is_folder || is_dropped || InputFiles::is_input_name(path) {
            match files.find(path) {
                Ok(InputPlace::Bundle(_)) => {
                    self.recordings.push((path.to_owned(), true));
                    return Ok(true);
                }
                Ok(place) if !is_folder && self.add_file(files, path, &place)? => return Ok(true),
                // An archive in a folder may be anything.
                Err(error) if is_dropped => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        let others = self.others.len();
        let mut has_input = false;
        if is_folder && !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("dSYM")) {
            for child in children(files, path) {
                has_input |= self.visit(files, &child, false)?;
            }
        }
        if !has_input {
            self.others.truncate(others);
            self.others.push(path.to_owned());
        }
        Ok(has_input)
    }

    /// Adds a file that starts like an input. Returns false for any other file.
    fn add_file(&mut self, files: &InputFiles<'_>, path: &Path, place: &InputPlace) -> Result<bool, Error> {
        let input = Input::open(files, place, &Options::default())?;
        match () {
            () if !input.is_recognised() => return Ok(false),
            () if input.is_toc() => self.tocs.push(path.to_owned()),
            () => self.recordings.push((path.to_owned(), false)),
        }
        Ok(true)
    }
}

/// The entries of a folder, sorted, so that the choice is the same in each browser.
fn children(files: &InputFiles<'_>, folder: &Path) -> Vec<PathBuf> {
    let mut children = files.list(folder).unwrap_or_default();
    children.sort();
    children
}

fn is_folder(files: &InputFiles<'_>, path: &Path) -> bool {
    matches!(files.entry(path), Ok(Entry::Folder))
}

#[cfg(test)]
mod tests {
    use traceparse::memory::MemoryBudget;

    use super::super::files::tests::files;
    use super::*;

    const EXPORT: &[u8] = b"<?xml version=\"1.0\"?><trace-query-result/>";
    const TOC: &[u8] = b"<?xml version=\"1.0\"?><trace-toc/>";

    fn chosen(contents: &[(&str, &[u8])]) -> Result<[Vec<String>; 2], String> {
        let files = files(contents).expect("the paths are valid");
        let choice =
            choose(&mut InputFiles::new(&files, &MemoryBudget::unlimited())).map_err(|error| error.to_string())?;
        Ok([choice.inputs, choice.others].map(|paths| paths.iter().map(|path| path.display().to_string()).collect()))
    }

    fn lists(inputs: &[&str], others: &[&str]) -> Result<[Vec<String>; 2], String> {
        Ok([inputs, others].map(|paths| paths.iter().map(|&path| path.to_owned()).collect()))
    }

    #[test]
    fn finds_the_recording_and_what_may_be_symbols() {
        let bundle: (&str, &[u8]) = ("x/a.trace/form.template", b"");
        let dsym: (&str, &[u8]) = ("x/a.dSYM/Contents/b", b"");
        assert_eq!(
            chosen(&[bundle, dsym, ("x/c/d", b""), ("e.xml", TOC)]),
            lists(&["x/a.trace"], &["x/a.dSYM", "x/c", "e.xml"])
        );
        assert_eq!(chosen(&[("a", EXPORT), ("toc", TOC), ("n.txt", b"")]), lists(&["a", "toc"], &["n.txt"]));
        assert_eq!(
            chosen(&[("x/a.xml", EXPORT), ("x/no", EXPORT), ("x/.DS_Store", b"")]),
            lists(&["x/a.xml"], &["x/no"])
        );
        assert_eq!(
            chosen(&[("a.json", b"{\"type\": \"CpuSamples\"}"), ("b.dSYM/c", b"")]),
            lists(&["a.json"], &["b.dSYM"])
        );
    }

    #[test]
    fn leaves_a_single_file_to_the_readers() {
        assert_eq!(chosen(&[("a", b"?")]), lists(&["a"], &[]));
        assert_eq!(chosen(&[("toc.xml", TOC)]), lists(&["toc.xml"], &[]));
    }

    #[test]
    fn refuses_none_and_several() {
        let several = chosen(&[("a.xml", EXPORT), ("b/c.trace/form.template", b"")]).unwrap_err();
        assert_eq!(several, "2 recordings were dropped: a.xml, b/c.trace; drop one");
        for contents in [&[("a.dSYM/b", &b""[..])][..], &[("a", b"?"), ("b", b"?")], &[(".DS_Store", b"")]] {
            assert!(chosen(contents).unwrap_err().contains("there is no recording"), "{contents:?}");
        }
    }
}

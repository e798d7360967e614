//! Chooses the recording among the dropped files, or two to compare. Everything else is searched for symbols.

use std::path::{Path, PathBuf};

use traceparse::bundle::BundleFiles;
use traceparse::files::{Entry, Files};
use traceparse::recording::Options;
use traceparse::units::first_of;
use traceparse::{Error, ErrorKind, Input, InputFiles, InputPlace};

/// The input of a reading.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    /// One recording, or two; an export is followed by its tables of contents.
    pub(crate) recordings: Vec<Vec<PathBuf>>,
    /// Files and folders that may be symbols.
    pub(crate) others: Vec<PathBuf>,
}

/// Chooses the recordings.
///
/// # Errors
/// If there is no recording, if there are more than two, or if an archive is unusable.
pub(crate) fn choose(files: &mut InputFiles<'_>) -> Result<Choice, Error> {
    let mut found = Found::default();
    let dropped = children(files, Path::new(""));
    for path in &dropped {
        found.visit(files, path, true)?;
    }
    let Found { recordings: found, tocs, mut others } = found;
    let mut recordings: Vec<Vec<PathBuf>> = found.iter().map(|(path, _)| vec![path.clone()]).collect();
    match (found.as_slice(), tocs.as_slice(), others.as_slice()) {
        ([_] | [_, _], ..) => {
            for toc in tocs {
                let owner = export_of(&toc, &found).map(|owner| &mut recordings[owner]);
                owner.unwrap_or(&mut others).push(toc);
            }
        }
        // The readers report what is wrong with it.
        ([], [only], []) => recordings.push(vec![only.clone()]),
        ([], [], [only]) if !is_folder(files, only) => recordings.push(std::mem::take(&mut others)),
        ([], ..) => return Err(none(&dropped)),
        (several, ..) => {
            let names: Vec<String> = several.iter().map(|(path, _)| path.display().to_string()).collect();
            let (count, names) = (names.len(), first_of(&names));
            return Err(sentence(format!("{count} recordings were dropped: {names}; drop one, or two to compare")));
        }
    }
    Ok(Choice { recordings, others })
}

/// The export that a table of contents belongs to: the only recording, or the only one in its folder.
fn export_of(toc: &Path, recordings: &[(PathBuf, bool)]) -> Option<usize> {
    let is_near = |path: &Path| recordings.len() == 1 || path.parent() == toc.parent();
    let mut near = recordings.iter().enumerate().filter(|(_, (path, _))| is_near(path));
    let (place, (_, is_bundle)) = near.next()?;
    (!is_bundle && near.next().is_none()).then_some(place)
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
        let recordings = choice
            .recordings
            .into_iter()
            .map(|inputs| inputs.iter().map(|path| shown(path)).collect::<Vec<_>>().join("+"));
        Ok([recordings.collect(), choice.others.iter().map(|path| shown(path)).collect()])
    }

    fn shown(path: &Path) -> String {
        path.display().to_string()
    }

    fn lists(recordings: &[&str], others: &[&str]) -> Result<[Vec<String>; 2], String> {
        Ok([recordings, others].map(|paths| paths.iter().map(|&path| path.to_owned()).collect()))
    }

    #[test]
    fn finds_the_recording_and_what_may_be_symbols() {
        let bundle: (&str, &[u8]) = ("x/a.trace/form.template", b"");
        let dsym: (&str, &[u8]) = ("x/a.dSYM/Contents/b", b"");
        assert_eq!(
            chosen(&[bundle, dsym, ("x/c/d", b""), ("e.xml", TOC)]),
            lists(&["x/a.trace"], &["x/a.dSYM", "x/c", "e.xml"])
        );
        assert_eq!(chosen(&[("a", EXPORT), ("toc", TOC), ("n.txt", b"")]), lists(&["a+toc"], &["n.txt"]));
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
    fn finds_two_recordings_to_compare() {
        let bundle: (&str, &[u8]) = ("b/c.trace/form.template", b"");
        assert_eq!(
            chosen(&[bundle, ("a.xml", EXPORT), ("x.dSYM/y", b"")]),
            lists(&["a.xml", "b/c.trace"], &["x.dSYM"])
        );
        let [first, second] = ["1", "2"].map(|folder| [format!("{folder}/a.xml"), format!("{folder}/toc.xml")]);
        let both = [(&*first[0], EXPORT), (&first[1], TOC), (&second[0], EXPORT), (&second[1], TOC)];
        assert_eq!(chosen(&both), lists(&["1/a.xml+1/toc.xml", "2/a.xml+2/toc.xml"], &[]));
        assert_eq!(
            chosen(&[("a.xml", EXPORT), ("b.xml", EXPORT), ("t.xml", TOC)]),
            lists(&["a.xml", "b.xml"], &["t.xml"])
        );
    }

    #[test]
    fn refuses_none_and_many() {
        let many = chosen(&[("a.xml", EXPORT), ("b/c.trace/form.template", b""), ("d", EXPORT)]).unwrap_err();
        assert_eq!(many, "3 recordings were dropped: a.xml, b/c.trace, d; drop one, or two to compare");
        for contents in [&[("a.dSYM/b", &b""[..])][..], &[("a", b"?"), ("b", b"?")], &[(".DS_Store", b"")]] {
            assert!(chosen(contents).unwrap_err().contains("there is no recording"), "{contents:?}");
        }
    }
}

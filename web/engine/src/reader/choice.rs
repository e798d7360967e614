//! Chooses the recordings among the dropped files: one, two to compare, or several reports. Everything else is searched for symbols.

use std::path::{Path, PathBuf};

use traceparse::bundle::BundleFiles;
use traceparse::files::{Entry, Files};
use traceparse::recording::Options;
use traceparse::units::first_of;
use traceparse::{Error, ErrorKind, Input, InputFiles, InputPlace};

use super::cpu_tables::has_cpu_table;

/// The input of a reading.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    /// One recording, two, or several reports; an export is followed by its tables of contents, and by exports of other tables.
    pub(crate) recordings: Vec<Vec<PathBuf>>,
    /// Files and folders that may be symbols.
    pub(crate) others: Vec<PathBuf>,
    /// Sentences about files that are neither.
    pub(crate) unused: Vec<String>,
    /// Why archives cannot be used.
    pub(crate) refused: Vec<Error>,
}

/// Chooses the recordings.
///
/// # Errors
/// If there is no recording.
pub(crate) fn choose(files: &mut InputFiles<'_>, options: &Options) -> Result<Choice, Error> {
    let mut found = Found::default();
    let dropped = children(files, Path::new(""));
    for path in &dropped {
        found.visit(files, path, true);
    }
    let (found, tables) = found.without_tables(files, options);
    let Found { recordings: found, tocs, mut others, mut unused, mut refused } = found;
    let mut recordings: Vec<Vec<PathBuf>> = found.iter().map(|(path, _)| vec![path.clone()]).collect();
    match (found.as_slice(), tocs.as_slice(), others.as_slice()) {
        ([_, ..], ..) => {
            for toc in tocs {
                let owner = export_of(&toc, &found).map(|owner| &mut recordings[owner]);
                owner.unwrap_or(&mut others).push(toc);
            }
            for path in tables {
                match export_of(&path, &found) {
                    Some(owner) => recordings[owner].push(path),
                    None => unused
                        .push(format!("{}: an export without CPU tables, of an unknown recording", path.display())),
                }
            }
        }
        ([], ..) if !refused.is_empty() => return Err(refused.swap_remove(0)),
        // The readers report what is wrong with it.
        ([], [only], []) => recordings.push(vec![only.clone()]),
        ([], [], [only]) if !is_folder(files, only) => recordings.push(std::mem::take(&mut others)),
        ([], ..) => return Err(none(&dropped)),
    }
    Ok(Choice { recordings, others, unused, refused })
}

/// The export that a table of contents or another table belongs to: the only recording, or the only one in its folder.
fn export_of(table: &Path, recordings: &[(PathBuf, InputPlace)]) -> Option<usize> {
    let is_near = |path: &Path| recordings.len() == 1 || path.parent() == table.parent();
    let mut near = recordings.iter().enumerate().filter(|(_, (path, _))| is_near(path));
    let (owner, (_, place)) = near.next()?;
    (!is_bundle(place) && near.next().is_none()).then_some(owner)
}

fn is_bundle(place: &InputPlace) -> bool {
    matches!(place, InputPlace::Bundle(_))
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
    recordings: Vec<(PathBuf, InputPlace)>,
    tocs: Vec<PathBuf>,
    others: Vec<PathBuf>,
    unused: Vec<String>,
    refused: Vec<Error>,
}

impl Found {
    /// Separates exports without CPU tables from several recordings. A single one remains, so that its reader reports what it contains.
    fn without_tables(mut self, files: &InputFiles<'_>, options: &Options) -> (Self, Vec<PathBuf>) {
        if self.recordings.len() < 2 {
            return (self, Vec::new());
        }
        let has_samples = |(_, place): &(PathBuf, InputPlace)| {
            is_bundle(place) || Input::open(files, place, options).is_ok_and(|input| has_cpu_table(&input, options))
        };
        let (mut recordings, mut tables): (Vec<_>, Vec<_>) = self.recordings.drain(..).partition(has_samples);
        if recordings.is_empty() {
            recordings.push(tables.remove(0));
        }
        (Self { recordings, ..self }, tables.into_iter().map(|(path, _)| path).collect())
    }

    /// Visits a file or folder. Returns true if an input is in it.
    fn visit(&mut self, files: &mut InputFiles<'_>, path: &Path, is_dropped: bool) -> bool {
        if BundleFiles::is_added_by_macos(path) {
            if is_dropped {
                self.unused.push(format!("{}: a file of macOS, without symbols", path.display()));
            }
            return false;
        }
        let is_folder = is_folder(files, path);
        if is_folder || is_dropped || InputFiles::is_input_name(path) {
            match files.find(path) {
                Ok(place) if is_bundle(&place) => {
                    self.recordings.push((path.to_owned(), place));
                    return true;
                }
                Ok(place) if !is_folder && self.add_file(files, path, &place) => return true,
                // An archive in a folder may be anything.
                Err(error) if is_dropped => {
                    self.refused.push(error);
                    return true;
                }
                Ok(_) | Err(_) => {}
            }
        }
        let others = self.others.len();
        let mut has_input = false;
        if is_folder && !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("dSYM")) {
            for child in children(files, path) {
                has_input |= self.visit(files, &child, false);
            }
        }
        if !has_input {
            self.others.truncate(others);
            self.others.push(path.to_owned());
        }
        has_input
    }

    /// Adds a file that starts like an input. Returns false for any other file.
    fn add_file(&mut self, files: &InputFiles<'_>, path: &Path, place: &InputPlace) -> bool {
        let Ok(input) = Input::open(files, place, &Options::default()) else { return false };
        match () {
            () if !input.is_recognised() => return false,
            () if input.is_toc() => self.tocs.push(path.to_owned()),
            () => self.recordings.push((path.to_owned(), place.clone())),
        }
        true
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

    const EXPORT: &[u8] =
        b"<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>\
        <schema name=\"time-profile\"></schema></node></trace-query-result>";
    const HANGS: &[u8] =
        b"<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[2]'>\
        <schema name=\"potential-hangs\"></schema></node></trace-query-result>";
    const TOC: &[u8] = b"<?xml version=\"1.0\"?><trace-toc/>";

    fn choice_of(contents: &[(&str, &[u8])]) -> Result<Choice, String> {
        let files = files(contents).expect("the paths are valid");
        let mut files = InputFiles::new(&files, &MemoryBudget::unlimited());
        choose(&mut files, &Options::default()).map_err(|error| error.to_string())
    }

    fn chosen(contents: &[(&str, &[u8])]) -> Result<[Vec<String>; 2], String> {
        let choice = choice_of(contents)?;
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
    fn exports_without_cpu_tables_belong_to_a_recording() {
        let hangs = ("hangs.xml", HANGS);
        assert_eq!(chosen(&[("a.xml", EXPORT), hangs, ("toc", TOC)]), lists(&["a.xml+toc+hangs.xml"], &[]));
        assert_eq!(chosen(&[hangs]), lists(&["hangs.xml"], &[]));
        assert_eq!(chosen(&[("b.xml", HANGS), hangs]), lists(&["b.xml+hangs.xml"], &[]));
        let pair = [("1/a.xml", EXPORT), ("1/h.xml", HANGS), ("2/a.xml", EXPORT)];
        assert_eq!(chosen(&pair), lists(&["1/a.xml+1/h.xml", "2/a.xml"], &[]));
        let Choice { recordings, unused, .. } = choice_of(&[("1/a.xml", EXPORT), ("2/a.xml", EXPORT), hangs]).unwrap();
        assert_eq!((recordings.len(), unused.len()), (2, 1));
        assert!(unused[0].starts_with("hangs.xml: "), "{unused:?}");
    }

    #[test]
    fn names_what_is_unusable() {
        let Choice { recordings, others, unused, refused } =
            choice_of(&[("a.xml", EXPORT), (".DS_Store", b""), ("b.zip", b"PK\x03\x04")]).unwrap();
        assert_eq!((recordings.len(), others.len()), (1, 0));
        assert!(unused.len() == 1 && unused[0].starts_with(".DS_Store: "), "{unused:?}");
        assert!(refused.len() == 1 && refused[0].to_string().contains("b.zip"), "{refused:?}");
        assert!(choice_of(&[("b.zip", b"PK\x03\x04")]).unwrap_err().contains("b.zip"));
    }

    #[test]
    fn refuses_none() {
        assert!(chosen(&[("a.xml", EXPORT), ("b/c.trace/form.template", b""), ("d", EXPORT)]).is_ok());
        for contents in [&[("a.dSYM/b", &b""[..])][..], &[("a", b"?"), ("b", b"?")], &[(".DS_Store", b"")]] {
            assert!(chosen(contents).unwrap_err().contains("there is no recording"), "{contents:?}");
        }
    }
}

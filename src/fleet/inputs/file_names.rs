//! The kinds of files, recognised by their names: exports, and their tables of contents.

use std::path::Path;

/// The endings of compressed files.
const COMPRESSED: [&str; 4] = ["", ".gz", ".zst", ".zstd"];
/// The endings of archives.
const ARCHIVES: [&str; 5] = [".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst"];
/// The endings that a table of contents adds to the name of its export, in the order of preference.
const TOC: [&str; 3] = ["-toc", ".toc", "_toc"];
/// The ending that a file with its intervals adds to the name of an export.
const INTERVALS: &str = "-intervals";

/// True if a file in a folder has the name of an export.
pub(crate) fn is_export_name(path: &Path) -> bool {
    file_name(path).and_then(without_xml).is_some()
}

/// True for an export whose name is not UTF-8, so no neighbouring file can be found by its name.
pub(crate) fn is_unreadable_export_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_str().is_none() && without_xml(&name.to_string_lossy()).is_some()
}

/// The names of an export that its table of contents may have, the preferred one first: without `.xml` and the ending
/// of compression. A recording in any archive has one name: without `.trace` and the ending of the archive; then its
/// name in the archive, with `.trace`. Any other name loses its last dot and the part after it.
pub(crate) fn export_names(path: &Path) -> Vec<String> {
    let Some(name) = file_name(path) else { return Vec::new() };
    if let Some(stem) = without_xml(name) {
        return vec![stem.to_owned()];
    }
    let unpacked = ARCHIVES.iter().find_map(|ending| without(name, ending)).unwrap_or(name);
    if let Some(stem) = without(unpacked, ".trace") {
        return vec![stem.to_owned(), unpacked.to_owned()];
    }
    if unpacked.len() < name.len() {
        return vec![unpacked.to_owned()];
    }
    Path::new(name).file_stem().and_then(|stem| stem.to_str()).map(str::to_owned).into_iter().collect()
}

/// True if an item in a folder has the name of a recording: its folder, or an archive of it.
pub(crate) fn is_recording_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unpacked = ARCHIVES.iter().find_map(|ending| without(&name, ending)).unwrap_or(&name);
    without(unpacked, ".trace").is_some_and(|stem| !stem.is_empty())
}

/// The names that a table of contents of the export NAME may have, the preferred one first.
pub(crate) fn toc_names(name: &str) -> impl Iterator<Item = String> {
    let names = TOC.iter().flat_map(|toc| COMPRESSED.iter().map(move |compressed| format!("{toc}.xml{compressed}")));
    names.map(move |ending| format!("{name}{ending}"))
}

/// The names that a file with the intervals of the export NAME may have, the preferred one first.
pub(crate) fn intervals_names(name: &str) -> impl Iterator<Item = String> {
    COMPRESSED.iter().map(move |compressed| format!("{name}{INTERVALS}.xml{compressed}"))
}

/// The name of the export that a file is the table of contents of, by its own name; `None` for other names.
pub(crate) fn toc_of(path: &Path) -> Option<&str> {
    let name = without_xml(file_name(path)?)?;
    TOC.iter().find_map(|toc| name.strip_suffix(toc)).filter(|name| !name.is_empty())
}

fn file_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

fn without_xml(name: &str) -> Option<&str> {
    let stem = COMPRESSED.iter().find_map(|compressed| without(name, &format!(".xml{compressed}")))?;
    (!stem.is_empty()).then_some(stem)
}

/// `name` without its ending, ignoring case.
fn without<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let (stem, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    end.eq_ignore_ascii_case(ending).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_are_known_by_their_names() {
        for name in ["a.xml", "a.XML", "a.b.xml.gz", "é.xml.zst", "a.xml.zstd"] {
            assert!(is_export_name(Path::new(name)), "{name}");
        }
        for name in [".xml", "xml", "a.xm", "a.xml.bz2", "a.xml~", "a.gz", "é", ""] {
            assert!(!is_export_name(Path::new(name)), "{name}");
        }
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

//! The names of inputs. They are used only for files in folders and for those next to an input; everywhere else, the content decides.

use std::path::Path;

/// The extensions of compressed files.
pub(crate) const COMPRESSED: [&str; 4] = ["", ".gz", ".zst", ".zstd"];
/// The extensions of archives.
pub(crate) const ARCHIVES: [&str; 7] = [".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.zstd", ".tzst"];
/// The extensions of reports that fleets may measure: crash and MetricKit reports, and Dart profiles.
pub(crate) const REPORTS: [&str; 7] = [".json", ".ndjson", ".jsonl", ".mxdiagnostic", ".ips", ".crash", ".synced"];
/// The extensions of other reports.
pub(crate) const OTHER_REPORTS: [&str; 6] = [".txt", ".sample", ".spindump", ".hang", ".spin", ".diag"];

/// The extensions of compressed files that cannot be read.
#[cfg(feature = "bundle")]
const UNREADABLE: [&str; 5] = [".xz", ".bz2", ".7z", ".lzma", ".rar"];
/// Those of the reports' extensions that many other files have.
#[cfg(feature = "bundle")]
const TEXTS: [&str; 6] = [".json", ".ndjson", ".jsonl", ".txt", ".sample", ".diag"];

/// True for a file with the name of an export, or of an archive of one.
pub(crate) fn is_export_name(path: &Path) -> bool {
    file_name(path).map(unpacked).and_then(without_xml).is_some()
}

/// True for the name of a recording: its folder, or an archive of it.
pub(crate) fn is_recording_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    without(unpacked(&name), ".trace").is_some_and(|stem| !stem.is_empty())
}

/// Removes the ending of an archive.
pub(crate) fn unpacked(name: &str) -> &str {
    ARCHIVES.iter().find_map(|ending| without(name, ending)).unwrap_or(name)
}

/// True if a name has one of the endings, apart from that of its compression.
pub(crate) fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let Some(name) = file_name(path) else { return false };
    let mut names = COMPRESSED.iter().filter_map(|compressed| without(name, compressed));
    names.any(|name| endings.iter().any(|ending| without(name, ending).is_some()))
}

/// True for the name of a recording, an export or a report, or of such a file in an archive or with any compression.
#[cfg(feature = "bundle")]
pub(super) fn may_be_input(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = unpacked(&name);
    let plain = UNREADABLE.iter().find_map(|ending| without(name, ending)).unwrap_or(name);
    is_input_name(Path::new(plain))
}

/// True for the name of a kind of text of which few files are reports.
#[cfg(feature = "bundle")]
pub(super) fn is_text_name(path: &Path) -> bool {
    has_ending(path, &TEXTS)
}

/// True for the name of a recording, an export or a report.
pub(super) fn is_input_name(path: &Path) -> bool {
    is_recording_name(path) || is_export_name(path) || has_ending(path, &REPORTS) || has_ending(path, &OTHER_REPORTS)
}

pub(crate) fn file_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

pub(crate) fn without_xml(name: &str) -> Option<&str> {
    let stem = COMPRESSED.iter().find_map(|compressed| without(name, &format!(".xml{compressed}")))?;
    (!stem.is_empty()).then_some(stem)
}

/// Removes a suffix from `name`, ignoring case.
pub(crate) fn without<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let (stem, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    end.eq_ignore_ascii_case(ending).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_are_known_by_their_names() {
        for name in ["a.xml", "a.XML", "a.b.xml.gz", "é.xml.zst", "a.xml.zstd", "a.xml.zip", "a.xml.tar.gz"] {
            assert!(is_export_name(Path::new(name)), "{name}");
        }
        for name in [".xml", "xml", "a.xm", "a.xml.bz2", "a.xml~", "a.gz", "a.zip", ".xml.zip", "é", ""] {
            assert!(!is_export_name(Path::new(name)), "{name}");
        }
    }
}

//! Lists of files (`--files-from`): one path on each line, or between NULs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::notes::counted;
use crate::bounds;
use crate::objects::beside;
use crate::unchanged::read_whole;

/// The paths of a list; `-` is standard input. Empty lines are nothing, and every other one is a path as it stands there. The list must name
/// a file if it is the only input.
pub(super) fn read(list: &Path, is_null: bool, is_only: bool) -> Result<Vec<PathBuf>> {
    let name = if list.as_os_str() == "-" { "standard input".to_owned() } else { list.display().to_string() };
    let text = read_whole(list, bounds::FILE_LIST)?;
    if !is_null && text.contains(&0) {
        bail!("{name}: has NUL characters; pass -0 if they separate the paths, or save the list as UTF-8");
    }
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let separator = if is_null { 0 } else { b'\n' };
    let mut paths = Vec::new();
    for (index, line) in text.split(|byte| *byte == separator).enumerate() {
        // Lists that were made on Windows.
        let line = if is_null { line } else { line.strip_suffix(b"\r").unwrap_or(line) };
        if line.is_empty() {
            continue;
        }
        let place = || format!("{name}, line {}", counted(index + 1));
        paths.push(match std::str::from_utf8(line) {
            Ok(text) => beside(Path::new(""), text).with_context(place)?,
            Err(_) => path_of(line).with_context(|| format!("{}: not UTF-8", place()))?,
        });
    }
    ensure!(!is_only || !paths.is_empty(), "{name}: the list names no files");
    Ok(paths)
}

/// The path of these bytes.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Some(OsString::from_vec(bytes.to_vec()).into())
}

#[cfg(not(unix))]
const fn path_of(_: &[u8]) -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str, is_null: bool) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        std::fs::write(&path, text).unwrap();
        let paths =
            read(&path, is_null, true).map_err(|error| error.to_string().replace(&path.display().to_string(), ""));
        Ok(paths?.iter().map(|path| path.display().to_string()).collect())
    }

    #[test]
    fn lines_are_paths_as_they_stand() {
        let expected = ["a.xml", " b*.xml", "# c", "d/é"].map(str::to_owned).to_vec();
        assert_eq!(list("a.xml\n\n b*.xml\r\n# c\nd/é", false).unwrap(), expected);
        assert_eq!(list("\u{feff}a.xml\n b*.xml\n# c\nd/é\n\n", false).unwrap(), expected);
        assert_eq!(list("a.xml\0 b*.xml\0# c\0d/é\0", true).unwrap(), expected);
        assert_eq!(list("a\nb\r\n\0c", true).unwrap(), ["a\nb\r\n", "c"]);
    }

    #[test]
    fn lists_that_are_none_are_refused() {
        assert_eq!(
            list("a\0b", false).unwrap_err(),
            ": has NUL characters; pass -0 if they separate the paths, or save the list as UTF-8"
        );
        assert_eq!(list("\n\r\n", false).unwrap_err(), ": the list names no files");
        assert_eq!(list("", true).unwrap_err(), ": the list names no files");
    }
}

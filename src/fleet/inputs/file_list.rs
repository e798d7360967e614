//! Lists of paths (`--files-from`): one path on each line, or between NULs.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::fleet::error::{Context, Result, bail, ensure};
use crate::fleet::host::{FleetHost, unless_changed};
use crate::memory::{Reservation, Size};
use crate::units::counted;

/// The largest list: ten million lines of 100 bytes.
const LARGEST: u64 = 1 << 30;
/// The longest line of a list, in bytes.
const LONGEST: u64 = 64 << 10;

/// The approximate memory of a path until the process ends: its bytes this many times, plus this many bytes.
const COPIES: u64 = 6;
const BESIDES: u64 = 384;

/// The paths of a list, and the memory that they take.
pub(super) struct List {
    pub(super) paths: Vec<PathBuf>,
    pub(super) reserved: Reservation,
}

/// Reads the paths of a list; `-` is standard input. Empty lines are skipped, and every other line is taken literally
/// as a path. The list must name a file if it is the only input.
pub(super) fn read(host: &dyn FleetHost, list: &Path, is_null: bool, is_only: bool) -> Result<List> {
    let name = if list.as_os_str() == "-" { "standard input".to_owned() } else { list.display().to_string() };
    let mut file = host.open(list)?;
    let read = read_lines(host, BufReader::new(&mut file), &name, is_null);
    let list = unless_changed(&*file, list, read)?;
    ensure!(!is_only || !list.paths.is_empty(), "{name}: the list names no files");
    Ok(list)
}

/// Reads line by line: the text itself is never in memory.
fn read_lines(host: &dyn FleetHost, source: impl BufRead, name: &str, is_null: bool) -> Result<List> {
    let (mut source, separator) = (source.take(LARGEST), if is_null { 0 } else { b'\n' });
    let (mut paths, mut line) = (Vec::new(), Vec::new());
    let mut reserved = host.memory().nothing();
    for number in 1.. {
        let place = || format!("{name}, line {}", counted(number));
        line.clear();
        let length = source.by_ref().take(LONGEST).read_until(separator, &mut line);
        let length = length.with_context(|| format!("{name}: cannot be read"))?;
        ensure!(length < LONGEST as usize, "{}: longer than {LONGEST} bytes", place());
        if length == 0 {
            break;
        }
        reserved.grow(COPIES * length as u64 + BESIDES).with_context(place)?;
        if !is_null && line.contains(&0) {
            bail!("{name}: has NUL characters; pass -0 if they separate the paths, or save the list as UTF-8");
        }
        let path = line.strip_suffix(&[separator]).unwrap_or(&line);
        let path = if number == 1 { path.strip_prefix(b"\xef\xbb\xbf").unwrap_or(path) } else { path };
        // Lists that were made on Windows.
        let path = if is_null { path } else { path.strip_suffix(b"\r").unwrap_or(path) };
        if !path.is_empty() {
            paths.push(match std::str::from_utf8(path) {
                Ok(text) => host.path_in(Path::new(""), text).with_context(place)?,
                Err(_) => path_of(path).with_context(|| format!("{}: not UTF-8", place()))?,
            });
        }
    }
    ensure!(source.limit() > 0, "{name}: it is larger than {}", Size(LARGEST));
    Ok(List { paths, reserved })
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
    use crate::fleet::host::testing::ThisMachine;

    fn list(text: &str, is_null: bool) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        std::fs::write(&path, text).unwrap();
        let paths = read(&ThisMachine::new(), &path, is_null, true)
            .map_err(|error| error.to_string().replace(&path.display().to_string(), ""));
        Ok(paths?.paths.iter().map(|path| path.display().to_string()).collect())
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

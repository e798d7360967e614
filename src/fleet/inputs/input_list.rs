//! Lists of inputs: manifests, which contain exports with metadata, and lists of paths, which are terminated by line ends or NULs. A manifest:
//!
//! ```text
//! path,app_version,device,ring
//! runs/7.xml,5.2,iPhone 15,beta
//! ```
//!
//! or the same as JSON lines: `{"path": "runs/7.xml", "app_version": "5.2", "ring": "beta"}`.

use std::collections::{BTreeSet, HashSet};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::task::{Task, display};
use crate::fleet::RunRecord;
use crate::fleet::error::{Context, FleetError, Result, bail, ensure, error};
use crate::fleet::host::{FleetHost, unless_changed};
use crate::memory::{Reservation, Size};
use crate::profile::similar_names;
use crate::readers::json::check_names;
use crate::units::{Millionths, Nanos, counted, decimal, several};
use serde_json::Value;

/// An export in a manifest, and the position of its line: `fleet.csv, line 7`. Empty labels are dropped.
type Entry = (Task, String);

/// True if an input with this name is a manifest.
pub(super) fn is_list_name(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    ["csv", "jsonl", "ndjson"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Reads a manifest.
pub(super) fn read(host: &dyn FleetHost, path: &Path) -> Result<Vec<Entry>> {
    let name = path.display().to_string();
    let text = host.read_input(path, LARGEST)?;
    let text = String::from_utf8(text).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        error!("{name}, line {line}: not UTF-8; save the manifest as UTF-8")
    })?;
    let list = InputList { host, name: &name, folder: path.parent().unwrap_or(Path::new("")) };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let entries = match text.trim_start().chars().next() {
        Some('{') => list.json_lines(text)?,
        Some('[') => bail!("{name}: this is a JSON array; write one object per line (jq -c '.[]' does that)"),
        _ => list.csv(text)?,
    };
    ensure!(!entries.is_empty(), "{name}: the manifest lists no exports; add a line for each, with its path");
    let labels: BTreeSet<&str> =
        entries.iter().flat_map(|(task, _)| &task.labels).map(|(key, _)| key.as_str()).collect();
    for (label, known) in labels.into_iter().filter_map(|label| Some((label, resembled(label)?))) {
        host.warn(&format!(
            "{name}: column {label:?} is a label; if it was meant to be {known}, rename it to {known:?}"
        ));
    }
    if !entries.iter().any(|(task, _)| host.exists(&task.path)) {
        bail!("{}", list.without_files(&entries));
    }
    Ok(entries)
}

/// Columns with a special meaning, in any case.
const KNOWN_COLUMNS: [&str; 10] =
    ["path", "toc", "intervals", "run_weight", "duration", "app", "app_version", "device", "os", "os_build"];

fn column_name(key: &str) -> &str {
    KNOWN_COLUMNS.into_iter().find(|known| known.eq_ignore_ascii_case(key)).unwrap_or(key)
}

/// The column that a label probably means: `duration` for `duration_s` and `Duration (s)`, `os` for `OS Version`.
fn resembled(key: &str) -> Option<&'static str> {
    let plain = |name: &str| name.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "");
    let (name, typed) = (column_name(key), plain(key));
    let ends = ["", "s", "sec", "secs", "seconds", "ms", "milliseconds", "ns", "name", "version"];
    // A longer name that contains the word, such as `app_version` for `version`, is a different column.
    let is_typo = |known: &str| {
        typed.len() > 3
            && typed.len().abs_diff(known.len()) < 2
            && !similar_names(&typed, [known].into_iter()).is_empty()
    };
    let is_meant = |known: &&'static str| {
        let rest = typed.strip_prefix(&plain(known));
        rest.is_some_and(|rest| ends.contains(&rest)) || is_typo(known)
    };
    // Longest first, since `app_version` is more specific than `app`.
    let mut known = KNOWN_COLUMNS.to_vec();
    known.sort_by_key(|known| std::cmp::Reverse(known.len()));
    if KNOWN_COLUMNS.contains(&name) { None } else { known.into_iter().find(is_meant) }
}

/// The maximum number of invalid lines that are reported.
const MAX_BAD_LINES: usize = 5;

/// The maximum size of a manifest: half a million lines of 130 bytes.
const LARGEST: u64 = 64 << 20;

struct InputList<'a> {
    host: &'a dyn FleetHost,
    name: &'a str,
    /// The folder that paths are relative to.
    folder: &'a Path,
}

impl InputList<'_> {
    fn csv(&self, text: &str) -> Result<Vec<Entry>> {
        let name = self.name;
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(text.as_bytes());
        let header = reader.headers().with_context(|| format!("{name}, line 1: not CSV"))?.clone();
        self.check_header(&header)?;
        let mut lines = Lines::default();
        for record in reader.records() {
            let record = record.with_context(|| format!("{name}: not CSV"))?;
            let line = record.position().map_or(0, csv::Position::line);
            let place = format!("{name}, line {line}");
            lines.add(if record.len() == header.len() {
                let fields = header.iter().zip(&record);
                self.entry(place, fields.map(|(key, value)| (column_name(key).to_owned(), value.to_owned())))
            } else {
                let (found, expected) = (several(record.len(), "column"), header.len());
                Err(error!("{place}: {found}, but the header has {expected}; put values with commas in quotes"))
            });
        }
        lines.finish(self.name)
    }

    /// The error for a manifest whose exports do not exist.
    fn without_files(&self, entries: &[Entry]) -> String {
        let (name, folder) = (self.name, self.folder);
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder }.join("");
        let what = match entries {
            [(one, _)] => format!("the only path of {name}, {}, does not exist", one.path.display()),
            entries => {
                let (count, first) = (counted(entries.len()), entries[0].0.path.display());
                format!("none of the {count} paths of {name} exist, such as {first}")
            }
        };
        format!("{what}; paths are relative to the manifest's folder, {}", folder.display())
    }

    fn check_header(&self, header: &csv::StringRecord) -> Result<()> {
        let name = self.name;
        let mut seen = HashSet::new();
        for (index, key) in header.iter().enumerate() {
            let column = index + 1;
            ensure!(
                !key.is_empty() || header.len() == 1,
                "{name}, line 1, column {column}: the column has no name; name it or remove it"
            );
            ensure!(
                seen.insert(column_name(key)),
                "{name}, line 1, column {column}: a second {key:?}; rename one of them"
            );
        }
        if !header.iter().any(|key| column_name(key) == "path") {
            let found: Vec<&str> = header.iter().collect();
            let advice = match found.as_slice() {
                [one] if one.contains(';') || one.contains('\t') => "separate columns by commas",
                [one] if one.starts_with('<') => {
                    "a manifest is CSV or JSON lines; pass an export as an input, and not as a manifest"
                }
                _ => "call the column with the paths of exports `path`",
            };
            bail!("{name}, line 1: no column `path`, only: {}; {advice}", found.join(", "));
        }
        Ok(())
    }

    fn json_lines(&self, text: &str) -> Result<Vec<Entry>> {
        let mut lines = Lines::default();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            lines.add(self.json_line(format!("{}, line {}", self.name, index + 1), line));
        }
        lines.finish(self.name)
    }

    fn json_line(&self, place: String, line: &str) -> Result<Entry> {
        let value: Value =
            serde_json::from_str(line).with_context(|| format!("{place}: not JSON; write one object on each line"))?;
        check_names(line, &place).map_err(|error| error!("{error}; remove or rename one of them"))?;
        let Value::Object(object) = value else { bail!("{place}: not an object such as {{\"path\": \"7.xml\"}}") };
        let (mut fields, mut seen) = (Vec::new(), HashSet::new());
        for (key, value) in object {
            let text = match value {
                Value::Null => String::new(),
                Value::String(text) => text.trim().to_owned(),
                Value::Number(number) => number.to_string(),
                Value::Bool(flag) => flag.to_string(),
                Value::Array(_) | Value::Object(_) => {
                    bail!("{place}, column {key}: not a text or a number; labels have one value")
                }
            };
            let name = column_name(&key);
            ensure!(seen.insert(name.to_owned()), "{place}: {key:?} occurs twice; rename one of them");
            fields.push((name.to_owned(), text));
        }
        self.entry(place, fields.into_iter())
    }

    fn entry(&self, place: String, fields: impl Iterator<Item = (String, String)>) -> Result<Entry> {
        let mut task = Task::new(PathBuf::new(), String::new());
        for (key, value) in fields.filter(|(_, value)| !value.is_empty()) {
            let bad = |what: &str| error!("{}, column {key}: {value:?} is not {what}", place);
            let named = || self.host.path_in(self.folder, &value).with_context(|| format!("{place}, column {key}"));
            match key.as_str() {
                "path" => task.path = named()?,
                "toc" => task.toc = Some(named()?),
                "intervals" => task.intervals = Some(named()?),
                "run_weight" => {
                    let weight = number(&value, 1_000_000).map(Millionths::new);
                    task.run_weight = weight.ok_or_else(|| bad("a number above 0, such as 12 or 0.25"))?;
                }
                "duration" => {
                    let duration = number(&value, 1_000_000_000).map(Nanos::from_nanos);
                    task.duration = Some(duration.ok_or_else(|| bad("a number of seconds above 0, such as 30.5"))?);
                }
                _ => task.labels.push((RunRecord::composed(&key), RunRecord::composed(&value))),
            }
        }
        ensure!(!task.path.as_os_str().is_empty(), "{place}, column path: empty; enter the path of an export");
        task.display = display(self.host, &task.path);
        Ok((task, place))
    }
}

/// The lines of a manifest, or the errors in the first invalid ones.
#[derive(Default)]
struct Lines {
    entries: Vec<Entry>,
    errors: Vec<FleetError>,
    /// The total number of invalid lines.
    bad: usize,
}

impl Lines {
    fn add(&mut self, line: Result<Entry>) {
        match line {
            Ok(entry) => self.entries.push(entry),
            Err(error) => {
                self.bad += 1;
                if self.errors.len() < MAX_BAD_LINES {
                    self.errors.push(error);
                }
            }
        }
    }

    fn finish(mut self, name: &str) -> Result<Vec<Entry>> {
        match self.bad {
            0 => Ok(self.entries),
            1 => Err(self.errors.remove(0)),
            count => {
                // One per line, like the causes of an error.
                let more = count.saturating_sub(MAX_BAD_LINES);
                let more = (more > 0).then(|| format!("and {}", several(more, "more line")));
                let shown = self.errors.iter().map(FleetError::sentences);
                let mut sentences = shown.chain(more).collect::<Vec<_>>().into_iter().rev();
                let last = FleetError::new(sentences.next().unwrap_or_default());
                let headline = format!("{name}: {} cannot be used", several(count, "line"));
                Err(sentences.fold(last, FleetError::context).context(headline))
            }
        }
    }
}

/// Parses a positive decimal number, multiplied by `unit`.
fn number(text: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    decimal(whole, fraction, unit).filter(|&number| number > 0)
}

/// The maximum size of a path list: ten million lines of 100 bytes.
const LARGEST_FILE_LIST: u64 = 1 << 30;
/// The maximum length of a line, in bytes.
const LONGEST: u64 = 64 << 10;

/// The approximate memory of a path until the process ends, in bytes: its length times `COPIES`, plus `BESIDES`.
const COPIES: u64 = 6;
const BESIDES: u64 = 384;

/// The paths in a list, with their memory reservation.
pub(super) struct List {
    pub(super) paths: Vec<PathBuf>,
    pub(super) reserved: Reservation,
}

/// Reads the paths in a list, or in standard input for `-`. Skips empty lines, and takes every other line literally. A list that is the only
/// input must not be empty.
pub(super) fn read_paths(host: &dyn FleetHost, list: &Path, is_null: bool, is_only: bool) -> Result<List> {
    let name = if list.as_os_str() == "-" { "standard input".to_owned() } else { list.display().to_string() };
    let mut file = host.open(list)?;
    let read = read_lines(host, BufReader::new(&mut file), &name, is_null);
    let list = unless_changed(&*file, list, read)?;
    ensure!(!is_only || !list.paths.is_empty(), "{name}: the list contains no files");
    Ok(list)
}

/// Reads line by line, so the text is never completely in memory.
fn read_lines(host: &dyn FleetHost, source: impl BufRead, name: &str, is_null: bool) -> Result<List> {
    let (mut source, separator) = (source.take(LARGEST_FILE_LIST), if is_null { 0 } else { b'\n' });
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
        // On Windows, lines end with CR LF.
        let path = if is_null { path } else { path.strip_suffix(b"\r").unwrap_or(path) };
        if !path.is_empty() {
            paths.push(match std::str::from_utf8(path) {
                Ok(text) => host.path_in(Path::new(""), text).with_context(place)?,
                Err(_) => path_of(path).with_context(|| format!("{}: not UTF-8", place()))?,
            });
        }
    }
    ensure!(source.limit() > 0, "{name}: it is larger than {}", Size(LARGEST_FILE_LIST));
    Ok(List { paths, reserved })
}

/// Converts bytes to a path.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Some(std::ffi::OsString::from_vec(bytes.to_vec()).into())
}

#[cfg(not(unix))]
const fn path_of(_: &[u8]) -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::host::testing::ThisMachine;

    fn read_text(name: &str, text: &str) -> Result<Vec<Entry>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        for export in ["a.xml", "b.xml"] {
            std::fs::write(folder.path().join(export), "").unwrap();
        }
        read(&ThisMachine::new(), &path).map(|mut entries| {
            for (task, place) in &mut entries {
                task.path = task.path.strip_prefix(folder.path()).unwrap().to_owned();
                task.toc = task.toc.take().map(|toc| toc.strip_prefix(folder.path()).unwrap().to_owned());
                task.display.clear();
                *place = place.rsplit('/').next().unwrap().to_owned();
            }
            entries
        })
    }

    #[track_caller]
    fn refused(text: &str, words: &[&str]) {
        let error = read_text("m.csv", text).unwrap_err().sentences();
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error}");
        }
    }

    #[test]
    fn columns_that_resemble_known_ones_are_found() {
        for (key, known) in [
            ("duration_s", Some("duration")),
            ("Duration (s)", Some("duration")),
            ("duration_ms", Some("duration")),
            ("duratoin", Some("duration")),
            ("OS Version", Some("os")),
            ("osBuild", Some("os_build")),
            ("App-Version", Some("app_version")),
            ("run weight", Some("run_weight")),
            ("device_name", Some("device")),
            ("Device", None),
            ("DURATION", None),
            ("ring", None),
            ("branch", None),
            ("user", None),
            ("region", None),
            ("apple", None),
            ("scenario", None),
            ("build", None),
            ("version", None),
        ] {
            assert_eq!(resembled(key), known, "{key}");
        }
    }

    fn labels(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn csv_and_json_lines_say_the_same() {
        let csv = "\u{feff}path,toc,run_weight,duration,app_version,ring\n\
        a.xml,a.toc,2.5,30,5.2,beta\n\
        \"sub/b, c.xml\", ,,0.25,,\n";
        let json = "{\"path\":\"a.xml\",\"toc\":\"a.toc\",\"run_weight\":2.5,\"duration\":30,\"app_version\":\"5.2\",\
        \"ring\":\"beta\"}\n\n{\"path\":\"sub/b, c.xml\",\"duration\":\"0.25\",\"app_version\":null}\n";
        let entries = read_text("m.csv", csv).unwrap();
        assert_eq!(entries[0].0.path, Path::new("a.xml"));
        assert_eq!(entries[0].0.toc.as_deref(), Some(Path::new("a.toc")));
        assert_eq!(entries[0].0.run_weight, Millionths::new(2_500_000));
        assert_eq!(entries[0].0.duration, Some(Nanos::from_millis(30_000)));
        assert_eq!(entries[0].0.labels, labels(&[("app_version", "5.2"), ("ring", "beta")]));
        assert_eq!(entries[1].0.path, Path::new("sub/b, c.xml"));
        assert_eq!((entries[1].0.toc.clone(), entries[1].0.run_weight), (None, Millionths::ONE));
        assert_eq!(entries[1].0.duration, Some(Nanos::from_millis(250)));
        assert_eq!(entries[1].0.labels, []);
        assert_eq!(entries[1].1, "m.csv, line 3");
        let tasks = |entries: Vec<Entry>| -> Vec<Task> { entries.into_iter().map(|(task, _)| task).collect() };
        assert_eq!(tasks(read_text("m.jsonl", json).unwrap()), tasks(entries));
    }

    #[test]
    fn errors_say_where_and_what_to_do() {
        refused("file,device\na.xml,x\n", &["m.csv, line 1", "`path`", "file, device"]);
        refused("path;device\na.xml;x\n", &["line 1", "by commas"]);
        refused("path,device,device\n", &["line 1, column 3", "second \"device\""]);
        refused("path,,x\n", &["line 1, column 2", "no name"]);
        refused("path,x\na.xml,1\nb.xml\n", &["line 3", "1 column,", "header has 2"]);
        refused("path,x\n,1\n", &["line 2, column path", "empty"]);
        refused("Path,PATH\n", &["line 1, column 2", "second \"PATH\""]);
        refused("{\"path\":\"a.xml\",\"OS\":1,\"os\":2}", &["line 1", "occurs twice"]);
        refused("path\n", &["lists no exports"]);
        refused("", &["m.csv"]);
        for bad in ["0", "-1", "x", "1e3", "NaN", "0.0000001"] {
            refused(&format!("path,run_weight\na.xml,1\nb.xml,{bad}\n"), &["line 3, column run_weight", bad]);
        }
        for bad in ["0", "-5", "30s"] {
            refused(&format!("path,duration\na.xml,{bad}\n"), &["line 2, column duration", bad, "seconds"]);
        }
        refused("{\"path\":\"a.xml\"}\n{\"path\":\n", &["line 2", "not JSON"]);
        refused("{\"path\":\"a.xml\"}\n7\n", &["line 2", "not an object"]);
        refused("{\"path\":\"a.xml\",\"ring\":[1]}\n", &["line 1, column ring"]);
        refused("[{\"path\":\"a.xml\"}]", &["array", "jq -c"]);
    }

    #[test]
    fn known_columns_are_known_in_any_case() {
        let entries = read_text("m.csv", "Path,App_Version,Run_Weight,Ring\na.xml,5.2,3,beta\n").unwrap();
        assert_eq!(entries[0].0.run_weight, Millionths::new(3_000_000));
        assert_eq!(entries[0].0.labels, labels(&[("app_version", "5.2"), ("Ring", "beta")]));
        let again =
            read_text("m.jsonl", r#"{"PATH":"a.xml","APP_VERSION":"5.2","Run_Weight":3,"Ring":"beta"}"#).unwrap();
        assert_eq!(again[0].0, entries[0].0);
    }

    #[test]
    fn several_bad_lines_are_told_of_at_once() {
        let bad = |lines: usize| format!("path,duration\na.xml,1\n{}", "b.xml,soon\n".repeat(lines));
        refused(&bad(3), &["line 3, column duration", "line 4, ", "line 5, "]);
        refused(&bad(7), &["line 3, ", "line 7, ", "7 lines cannot be used", "and 2 more lines"]);
    }

    /// Comparing each column with all earlier ones would take half a minute for 100,000 columns.
    #[test]
    fn many_columns_take_no_longer_than_their_bytes() {
        const COLUMNS: usize = 100_000;
        let names: Vec<String> = (0..COLUMNS).map(|index| format!("label{index}")).collect();
        let csv = format!("path,{}\na.xml{}\n", names.join(","), ",x".repeat(COLUMNS));
        let fields: String = names.iter().map(|name| format!(",\"{name}\":\"x\"")).collect();
        let json = format!("{{\"path\":\"a.xml\"{fields}}}\n");
        for (name, text) in [("m.csv", csv.clone()), ("m.jsonl", json)] {
            assert_eq!(read_text(name, &text).unwrap()[0].0.labels.len(), COLUMNS);
        }
        refused(&csv.replacen("label99999", "label7", 1), &["column 100001", "second \"label7\""]);
    }

    #[test]
    fn a_manifest_of_another_folder_is_one_error() {
        refused("path\nx/a.xml\nx/b.xml\n", &["none of the 2 paths of ", "m.csv exist", "such as ", "relative to the"]);
        refused("path\nx/a.xml\n", &["the only path of ", "x/a.xml, does not exist"]);
        assert!(read_text("m.csv", "path\nx/a.xml\na.xml\n").is_ok());
    }

    #[test]
    fn a_manifest_is_utf8() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.csv");
        std::fs::write(&path, b"path,device\na.xml,caf\xe9\n").unwrap();
        let error = read(&ThisMachine::new(), &path).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("UTF-8"), "{error}");
    }

    fn list(text: &str, is_null: bool) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        std::fs::write(&path, text).unwrap();
        let paths = read_paths(&ThisMachine::new(), &path, is_null, true)
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
        assert_eq!(list("\n\r\n", false).unwrap_err(), ": the list contains no files");
        assert_eq!(list("", true).unwrap_err(), ": the list contains no files");
    }
}

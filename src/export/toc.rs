//! The table of contents that `xctrace export --toc` writes: a description of the recording, without the data.
//!
//! ```xml
//! <trace-toc><run number="1"><info><target><device …/><process …/></target>
//!   <summary><duration>3.450364</duration><instruments-version>16.0 (17F42)</instruments-version>…</summary></info>
//!   <processes><process name="yes" pid="37476" path="/usr/bin/yes"/></processes>
//!   <data><table schema="cpu-profile" target-pid="SINGLE"/>…</data><tracks>…</tracks></run></trace-toc>
//! ```
//!
//! The environment of the recorded process is never kept: it may hold secrets.

use std::cell::Cell;

use quick_xml::events::attributes::Attributes;

use super::dates::{nanos_of_fraction, since_1970};
use super::fault::Fault;
use crate::units::Nanos;

/// The time after the end of the recording at which a sample may still be; beyond it, the table of contents is of another recording.
pub(crate) const SLACK: Nanos = Nanos::from_millis(1_000);

/// A table of contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toc {
    /// The runs, in document order.
    pub runs: Vec<TocRun>,
}

/// One run of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TocRun {
    /// Its number, from 1.
    pub number: u32,
    /// The recorded device: attributes such as `model`, `os-version`, `platform`, `name`, `uuid`.
    pub device: Vec<(String, String)>,
    /// The Mac that recorded, where it was not the device itself.
    pub host_device: Vec<(String, String)>,
    /// The recorded process: attributes such as `name`, `pid`, `type`, `return-exit-status`; empty for all processes.
    pub process: Vec<(String, String)>,
    /// True if all processes were recorded.
    pub is_all_processes: bool,
    /// The fields of the summary, such as `start-date` and `instruments-version`, in document order.
    pub summary: Vec<(String, String)>,
    /// Processes that were seen.
    pub processes: Vec<TocProcess>,
    /// The tables: in document order, or in the order of a recording's stores.
    pub tables: Vec<TocTable>,
    /// The names of the tracks.
    pub tracks: Vec<String>,
    /// The reason why nothing of the run was read: the file that is damaged, where, and the rule that it breaks. Only a recording's own
    /// files can be damaged so; its tables may be unknown then, and it has no samples.
    pub unread: Option<String>,
}

/// A process that was seen in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TocProcess {
    /// Its name.
    pub name: String,
    /// Its number.
    pub pid: Option<u64>,
    /// Path of its executable.
    pub path: String,
}

/// A table of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TocTable {
    /// Its position in the list of `xctrace`: N of `table[N]` in an XPath. A recording itself does not tell.
    pub position: Option<u32>,
    /// The schema, such as `time-profile`.
    pub schema: String,
    /// Every other attribute, sorted by name: they tell how the table was recorded.
    pub attributes: Vec<(String, String)>,
    /// The number of its rows; `None` if it is not known, as from the XML.
    pub rows: Option<u64>,
}

impl TocRun {
    /// A field of the summary.
    pub fn summary_field(&self, name: &str) -> Option<&str> {
        lookup(&self.summary, name)
    }

    /// The start of the run: the time since 1970-01-01 00:00 UTC. `None` if the document does not give it, or gives something that is no
    /// date.
    pub fn start(&self) -> Option<Nanos> {
        since_1970(self.summary_field("start-date")?)
    }

    /// The length of the run's recording; `None` if the document does not give it.
    pub fn duration(&self) -> Option<Nanos> {
        parse_seconds(self.summary_field("duration")?)
    }

    /// The reason why this cannot be the table of contents of a run with a sample at `last`, in a sentence; `None` if it can.
    pub(crate) fn contradiction(&self, last: Nanos) -> Option<String> {
        let duration = self.duration().filter(|duration| duration.as_nanos() > 0)?;
        (last.since(duration) > SLACK).then(|| {
            format!(
                "A table of contents says that run {} took {} s, but the export has samples up to {} s; it is of another \
                 recording and is not used.",
                self.number,
                seconds(duration),
                seconds(last)
            )
        })
    }

    /// The reason why the duration is not the time that the samples are from, in a sentence; `None` if it is. Instruments writes the mode
    /// `Windowed (5 seconds)`.
    pub(crate) fn window(&self) -> Option<String> {
        let mode = self.summary_field("recording-mode").filter(|mode| mode.to_lowercase().contains("window"))?;
        Some(format!(
            "Run {} was recorded in the mode \"{mode}\", which keeps the last seconds only; the time that its samples \
             cover stands for what was recorded.",
            self.number
        ))
    }
}

/// Seconds for a sentence: `10.468`.
pub(crate) fn seconds(time: Nanos) -> String {
    format!("{:.3}", time.as_nanos() as f64 / 1e9)
}

impl TocTable {
    /// An attribute of the table.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        lookup(&self.attributes, name)
    }
}

/// The value of a key in a list of pairs.
pub fn lookup<'a>(pairs: &'a [(String, String)], key: &str) -> Option<&'a str> {
    pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// Seconds with decimals as nanoseconds, exactly; digits beyond the ninth are dropped.
fn parse_seconds(text: &str) -> Option<Nanos> {
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    if !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let nanos = nanos_of_fraction(fraction)?;
    whole.checked_mul(1_000_000_000)?.checked_add(nanos).map(Nanos::from_nanos)
}

/// Elements of a table of contents are few; more than this deep is no such document.
const MAX_DEPTH: usize = 64;
/// Real ones have some hundred, with every process of a machine some thousand.
const MAX_ELEMENTS: usize = 200_000;

/// Reads a table of contents from tokens.
#[derive(Debug, Default)]
pub(super) struct TocReader {
    toc: Toc,
    path: Vec<String>,
    text: String,
    elements: usize,
    /// About how many bytes everything takes that is kept.
    bytes: u64,
}

impl TocReader {
    /// The names of the open elements.
    pub(super) fn path(&self) -> String {
        let names = std::iter::once("trace-toc").chain(self.path.iter().map(String::as_str));
        names.collect::<Vec<_>>().join("/")
    }

    pub(super) fn finish(self) -> Toc {
        self.toc
    }

    /// About how much memory it takes.
    pub(super) fn memory(&self) -> u64 {
        self.bytes + (self.text.capacity() + self.path.len() * size_of::<String>()) as u64
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.path.iter().any(|name| name == "summary") {
            self.text.push_str(text);
        }
    }

    pub(super) fn start(&mut self, name: &str, mut attributes: Attributes<'_>, at: u64) -> Result<(), Fault> {
        if self.path.len() >= MAX_DEPTH {
            return Err(Fault::malformed("a table of contents is not nested so deep", at));
        }
        self.elements += 1;
        if self.elements > MAX_ELEMENTS {
            return Err(Fault::limit(format!("a table of contents has more than {MAX_ELEMENTS} elements"), at));
        }
        let bytes = Cell::new((size_of::<TocTable>() + name.len()) as u64);
        let pairs = attributes.with_checks(false).flatten().map(|attribute| {
            let value = quick_xml::escape::unescape(&attribute.value).unwrap_or_default().into_owned();
            bytes.set(bytes.get() + (size_of::<(String, String)>() + attribute.key.0.len() + value.len()) as u64);
            (attribute.key.0.to_owned(), value)
        });
        let parents: Vec<&str> = self.path.iter().map(String::as_str).collect();
        match (parents.as_slice(), name) {
            ([], "run") => {
                let pairs: Vec<_> = pairs.collect();
                let number = lookup(&pairs, "number").and_then(|number| number.parse().ok());
                let number = number.unwrap_or(self.toc.runs.len() as u32 + 1);
                self.toc.runs.push(TocRun { number, ..TocRun::default() });
            }
            (["run", rest @ ..], _) => {
                if let Some(run) = self.toc.runs.last_mut() {
                    add_element(run, rest, name, pairs);
                }
            }
            _ => {}
        }
        self.bytes += bytes.get();
        self.text.clear();
        self.path.push(name.to_owned());
        Ok(())
    }

    /// Closes an element; true when it was the document.
    pub(super) fn end(&mut self, name: &str, at: u64) -> Result<bool, Fault> {
        let Some(open) = self.path.pop() else {
            return if name == "trace-toc" {
                Ok(true)
            } else {
                Err(Fault::malformed(format!("</{name}> closes an element of another name"), at))
            };
        };
        if open != name {
            return Err(Fault::malformed(format!("</{name}> closes <{open}>"), at));
        }
        if self.path == ["run", "info", "summary"]
            && let Some(run) = self.toc.runs.last_mut()
        {
            self.bytes += (size_of::<(String, String)>() + open.len() + self.text.len()) as u64;
            run.summary.push((open, self.text.trim().to_owned()));
        }
        Ok(false)
    }
}

fn add_element(run: &mut TocRun, parents: &[&str], name: &str, pairs: impl Iterator<Item = (String, String)>) {
    match (parents, name) {
        (["info", "target"], "device") => run.device = pairs.collect(),
        (["info", "target"], "host-device") => run.host_device = pairs.collect(),
        (["info", "target"], "process") => run.process = pairs.collect(),
        (["info", "target"], "all-processes") => run.is_all_processes = true,
        (["processes"], "process") => {
            let pairs: Vec<_> = pairs.collect();
            let text = |key| lookup(&pairs, key).unwrap_or_default().to_owned();
            let pid = lookup(&pairs, "pid").and_then(|pid| pid.parse().ok());
            run.processes.push(TocProcess { name: text("name"), pid, path: text("path") });
        }
        (["data"], "table") => {
            let (schema, mut attributes): (Vec<_>, Vec<_>) = pairs.partition(|(key, _)| key == "schema");
            attributes.sort();
            let schema = schema.into_iter().next().map(|(_, schema)| schema).unwrap_or_default();
            let position = u32::try_from(run.tables.len() + 1).ok();
            run.tables.push(TocTable { position, schema, attributes, rows: None });
        }
        (["tracks"], "track") => run.tracks.extend(pairs.filter(|(key, _)| key == "name").map(|(_, name)| name)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_exact() {
        assert_eq!(parse_seconds("3.450364"), Some(Nanos::from_nanos(3_450_364_000)));
        assert_eq!(parse_seconds("12"), Some(Nanos::from_nanos(12_000_000_000)));
        assert_eq!(parse_seconds("0.1234567899"), Some(Nanos::from_nanos(123_456_789)));
        for bad in ["", "-1", "1e3", "1.2.3", "99999999999999999999"] {
            assert_eq!(parse_seconds(bad), None, "{bad}");
        }
    }
}

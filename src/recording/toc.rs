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

use super::dates::{nanos_of_fraction, since_1970};
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

    /// An attribute of the recorded device.
    pub fn device_attribute(&self, name: &str) -> Option<&str> {
        lookup(&self.device, name)
    }

    /// An attribute of the recorded process.
    pub fn process_attribute(&self, name: &str) -> Option<&str> {
        lookup(&self.process, name)
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
pub(crate) fn lookup<'a>(pairs: &'a [(String, String)], key: &str) -> Option<&'a str> {
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

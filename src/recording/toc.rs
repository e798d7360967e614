//! The table of contents that `xctrace export --toc` writes: a description of the recording without its data.
//!
//! ```xml
//! <trace-toc><run number="1"><info><target><device …/><process …/></target>
//!   <summary><duration>3.450364</duration><instruments-version>16.0 (17F42)</instruments-version>…</summary></info>
//!   <processes><process name="yes" pid="37476" path="/usr/bin/yes"/></processes>
//!   <data><table schema="cpu-profile" target-pid="SINGLE"/>…</data><tracks>…</tracks></run></trace-toc>
//! ```
//!
//! The environment and arguments of the recorded process may contain secrets: whether they exist is kept, but never their values.

use super::app_metrics::AppMetrics;
use super::dates::{nanos_of_fraction, since_1970};
use crate::units::{Nanos, Weight, several};

/// The prefix of summary keys for precomputed percentiles: `metric hangRate · P90 · All iPhones · version 1.2`.
pub(crate) const STATED_PERCENTILE: &str = "metric ";

/// The maximum time of a sample after the end of the recording. If a sample is later, the table of contents belongs to another recording.
pub(crate) const SLACK: Nanos = Nanos::from_millis(1_000);

/// The fields of the summary that describe a crash or memory exception, and their displayed names.
pub(crate) const STOP_FIELDS: [(&str, &str); 8] = [
    ("exception-type", "exception"),
    ("exception-code", "code"),
    ("signal", "signal"),
    ("termination-reason", "termination"),
    ("termination-category", "category"),
    ("exception-reason", "reason"),
    ("recursion", "recursion"),
    ("memory-region", "memory"),
];
/// How the name of a thread starts whose stack is that of an exception when it was raised.
pub(crate) const LAST_EXCEPTION: &str = "Last exception";
/// The start of the name of a thread with a stack that a framework recorded before it ended the process.
pub(crate) const SPECIFIC_BACKTRACE: &str = "Application specific backtrace";
/// The field `diagnostic` of the summary of a report that the system wrote when a process ended.
pub(crate) const CRASH: &str = "crash";
/// The same for a report that the system or the app wrote without ending the process.
pub(crate) const NON_FATAL: &str = "non-fatal";
/// The field of the summary with the index of the thread that crashed among the threads of the run.
pub(crate) const ATTRIBUTED_THREAD: &str = "attributed-thread";

pub(crate) fn is_stop_field(key: &str) -> bool {
    key == ATTRIBUTED_THREAD || STOP_FIELDS.iter().any(|(field, _)| *field == key)
}

/// A table of contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toc {
    /// The runs, in document order.
    pub runs: Vec<TocRun>,
}

/// One run of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TocRun {
    /// The run number, from 1.
    pub number: u32,
    /// The recorded device: attributes such as `model`, `os-version`, `platform`, `name`, `uuid`.
    pub device: Vec<(String, String)>,
    /// The Mac that made the recording, if it is not the recorded device itself.
    pub host_device: Vec<(String, String)>,
    /// The recorded process: attributes such as `name`, `pid`, `type`, `return-exit-status`; empty if all processes were recorded.
    pub process: Vec<(String, String)>,
    /// The number of environment variables recorded for processes of the run. Their names and values are not kept.
    pub environment_variables: u64,
    /// True if arguments of processes of the run are recorded. The arguments are not kept.
    pub has_arguments: bool,
    /// True if all processes were recorded.
    pub is_all_processes: bool,
    /// The quantity that a report from the field states: the length of a hang or launch, the CPU time of an exception, or the bytes written.
    pub stated: Option<Weight>,
    /// The number of such quantities, or of the day's metrics, that could not be parsed and are therefore not measured.
    pub unread_quantities: u64,
    /// An app's metrics for one day, for inputs that have these instead of samples.
    pub metrics: Option<AppMetrics>,
    /// The fields of the summary, such as `start-date` and `instruments-version`, in document order.
    pub summary: Vec<(String, String)>,
    /// The processes listed for the run.
    pub processes: Vec<TocProcess>,
    /// The tables, in document order or in the order of a recording's stores.
    pub tables: Vec<TocTable>,
    /// The names of the tracks.
    pub tracks: Vec<String>,
    /// Why the run could not be read: the damaged file, the position, and the violated rule. Only in recordings, never in exports. The run then
    /// has no samples, and its tables may be unknown.
    pub unread: Option<String>,
}

/// A process of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TocProcess {
    /// The name.
    pub name: String,
    /// The process id.
    pub pid: Option<u64>,
    /// The path of the executable.
    pub path: String,
}

/// A table of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TocTable {
    /// The position in `xctrace`'s list: N of `table[N]` in an XPath; `None` for recordings.
    pub position: Option<u32>,
    /// The schema, such as `time-profile`.
    pub schema: String,
    /// All other attributes, sorted by name: the settings that the table was recorded with.
    pub attributes: Vec<(String, String)>,
    /// The number of rows; `None` if unknown, as in exports.
    pub rows: Option<u64>,
}

impl TocRun {
    /// Splits a system version such as `macOS 26.6.1 (25G76)` into device attributes.
    pub(crate) fn system(os: &str) -> [(String, String); 2] {
        let digit = os.find(|character: char| character.is_ascii_digit()).unwrap_or(os.len());
        let (platform, version) = os.split_at_checked(digit).unwrap_or((os, ""));
        [("platform", platform.trim()), ("os-version", version)].map(|(key, value)| (key.to_owned(), value.to_owned()))
    }

    /// Converts `2026-08-16 06:23:48.640 -0700` to `2026-08-16T06:23:48.640-0700`.
    pub(crate) fn date(text: &str) -> Option<String> {
        let [date, time, offset] = text.split_ascii_whitespace().collect::<Vec<_>>().try_into().ok()?;
        Some(format!("{date}T{time}{offset}"))
    }

    /// Returns a field of the summary.
    pub fn summary_field(&self, name: &str) -> Option<&str> {
        lookup(&self.summary, name)
    }

    /// Returns the precomputed percentiles: the description, and the value with its unit.
    pub fn stated_percentiles(&self) -> impl Iterator<Item = (&str, &str)> {
        self.summary.iter().filter_map(|(key, value)| Some((key.strip_prefix(STATED_PERCENTILE)?, value.as_str())))
    }

    /// Returns an attribute of the recorded device.
    pub fn device_attribute(&self, name: &str) -> Option<&str> {
        lookup(&self.device, name)
    }

    /// Returns the system of the recorded device with its build: `iOS 17.5 (21F79)`.
    pub(crate) fn os(&self) -> Option<String> {
        let parts = ["platform", "os-version"].map(|name| self.device_attribute(name).filter(|text| !text.is_empty()));
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// Returns an attribute of the recorded process.
    pub fn process_attribute(&self, name: &str) -> Option<&str> {
        lookup(&self.process, name)
    }

    /// Returns the start of the run since 1970-01-01 00:00 UTC. `None` if it is missing or invalid.
    pub fn start(&self) -> Option<Nanos> {
        since_1970(self.summary_field("start-date")?)
    }

    /// Describes the launch data in the input, which users may not want to share: `12 environment variables and launch arguments`. `None` if
    /// there is none.
    pub fn launch_data(&self) -> Option<String> {
        let variables = self.environment_variables;
        let variables = (variables > 0).then(|| several(variables, "environment variable"));
        let arguments = self.has_arguments.then(|| "launch arguments".to_owned());
        let found: Vec<String> = variables.into_iter().chain(arguments).collect();
        (!found.is_empty()).then(|| found.join(" and "))
    }

    /// Returns the duration of the run; `None` if it is missing.
    pub fn duration(&self) -> Option<Nanos> {
        parse_seconds(self.summary_field("duration")?)
    }

    /// Explains why the duration is not the time covered by samples; `None` if it is. Instruments writes the mode as `Windowed (5 seconds)`.
    pub(crate) fn window(&self) -> Option<String> {
        let mode = self.summary_field("recording-mode").filter(|mode| mode.to_lowercase().contains("window"))?;
        Some(format!(
            "Run {} was recorded in the mode \"{mode}\", which keeps only the last seconds; the time that its samples \
             cover is used as the recorded time.",
            self.number
        ))
    }
}

/// Formats a number of seconds for a sentence, such as `10.468`.
pub(crate) fn seconds(time: Nanos) -> String {
    format!("{:.3}", time.as_nanos() as f64 / 1e9)
}

impl TocTable {
    /// Returns an attribute of the table.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        lookup(&self.attributes, name)
    }
}

/// Returns the value of a key in a list of pairs.
pub(crate) fn lookup<'a>(pairs: &'a [(String, String)], key: &str) -> Option<&'a str> {
    pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// Parses decimal seconds to nanoseconds; digits after the ninth decimal are dropped.
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

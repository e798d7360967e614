//! Metrics: sums and histograms of a day.
//!
//! ```text
//! {"cpuMetrics": {"cumulativeCPUTime": "100 sec"}, "applicationTimeMetrics": {"cumulativeForegroundTime": "700 sec", …},
//!  "applicationResponsivenessMetrics": {"histogrammedAppHangTime": {"histogramValue": {
//!      "0": {"bucketCount": 50, "bucketStart": "0 ms", "bucketEnd": "100 ms"}, …}}}, …}
//!
//! {"intervalEntries": [{"duration": {"value": 86400, "unit": "s"}, "values": [
//!    {"cpuTimeMetric": {"value": {"value": 100, "unit": "s"}}},
//!    {"hangTimeMetric": {"histogram": {"buckets": [{"lowerBound": {"value": 250, "unit": "ms"}, "upperBound": …, "count": 3}]}}}]}, …]}
//! ```
//!
//! Only the entry for the whole day is used. Other entries are parts of it, including those for app states.

use std::collections::BTreeMap;

use super::locales::Dimension;
use super::quantity::{Language, Unread, of_number};
use crate::recording::{AppMetrics, DurationHistogram};
use crate::units::Nanos;

/// A value, with its path of names and indices.
pub(super) type Leaf = (Vec<String>, String);

const DAY: u64 = 24 * 3_600 * 1_000_000_000;
/// Shorter entries are parts of a day.
const LEAST_DAY: u64 = 23 * 3_600 * 1_000_000_000;

/// Histograms: the key up to iOS 26, the key in iOS 27, and our name.
const HISTOGRAMS: [(&str, &str, &str); 5] = [
    ("histogrammedAppHangTime", "hangTimeMetric", "hang"),
    ("histogrammedTimeToFirstDrawKey", "timeToFirstDrawMetric", "launch"),
    ("histogrammedOptimizedTimeToFirstDraw", "optimizedTimeToFirstDrawMetric", "prewarmed-launch"),
    ("histogrammedExtendedLaunch", "extendedLaunchMetric", "extended-launch"),
    ("histogrammedResumeTime", "applicationResumeTimeMetric", "resume"),
];

/// True if a value with this path is used.
pub(super) fn is_known(path: &[String]) -> bool {
    let has = |name: &str| path.iter().any(|part| part == name);
    let is_pair = |(old, new): &(&str, &str)| has(old) || has(new);
    let is_other = SCALARS.iter().chain([&PEAK_MEMORY]).any(is_pair) || EXITS.iter().any(|(keys, _)| is_pair(keys));
    let is_histogram = HISTOGRAMS.iter().any(|(old, new, _)| has(old) || has(new));
    is_other || is_histogram || has(SIGNPOST_DURATIONS.0) || has(SIGNPOST_DURATIONS.1) || has("duration") || {
        path.last().is_some_and(|last| [SIGNPOST_NAME, SIGNPOST_CATEGORY].contains(&last.as_str()))
    }
}

/// Times: the key up to iOS 26, and the key in iOS 27.
const SCALARS: [(&str, &str); 4] = [
    ("cumulativeCPUTime", "cpuTimeMetric"),
    ("cumulativeForegroundTime", "totalForegroundTimeMetric"),
    ("cumulativeBackgroundTime", "totalBackgroundTimeMetric"),
    ("scrollHitchTimeRatio", "scrollHitchTimeRatioMetric"),
];

const NORMAL: &str = "normal";
const PEAK_MEMORY: (&str, &str) = ("peakMemoryUsage", "peakMemoryMetric");

/// Exit counts, for the app in the foreground and in the background.
const EXITS: [((&str, &str), &str); 2] = [
    (("foregroundExitData", "foregroundTerminationMetric"), "foreground"),
    (("backgroundExitData", "backgroundTerminationMetric"), "background"),
];

/// Exit reasons: in `cumulative…ExitCount` up to iOS 26, in `…TerminationCount` in iOS 27, and in plain English.
const REASONS: [(&str, &str, &str); 11] = [
    ("NormalApp", "normal", NORMAL),
    ("Abnormal", "abnormal", "abnormal"),
    ("AppWatchdog", "watchdog", "watchdog"),
    ("BackgroundTaskAssertionTimeout", "taskTimeout", "background task timeout"),
    ("BadAccess", "badAccess", "bad access"),
    ("CPUResourceLimit", "highCPU", "CPU limit"),
    ("IllegalInstruction", "illegalInstruction", "illegal instruction"),
    ("MemoryPressure", "memoryPressure", "memory pressure"),
    ("MemoryResourceLimit", "memoryLimit", "memory limit"),
    ("SuspendedWithLockedFile", "fileLock", "locked file"),
    ("SystemPressure", "systemPressure", "system pressure"),
];

/// The key of a signpost's histogram, which is next to the signpost's name.
const SIGNPOST_DURATIONS: (&str, &str) = ("histogrammedSignpostDurations", "signpostDuration");
const SIGNPOST_NAME: &str = "signpostName";
const SIGNPOST_CATEGORY: &str = "signpostCategory";

/// Returns the metrics of a day, and the values that could not be read; `None` for a document without a complete day. `length` is the total time
/// that the document states.
pub(super) fn of_day(
    leaves: &[Leaf],
    region: Option<&str>,
    length: Option<Nanos>,
) -> Option<(AppMetrics, Vec<Unread>)> {
    let (day, of_entry) = day(leaves)?;
    let length = of_entry.or(length.map(Nanos::as_nanos)).unwrap_or(DAY);
    if length < LEAST_DAY {
        return None;
    }
    let days = (length + DAY / 2) / DAY;
    let mut values = Values { leaves, day, language: Language::of([], None) };
    values.language = Language::of(leaves.iter().map(|(_, text)| per_second(text)), region);
    let found = values.durations();
    for (_, below) in &found {
        let bins = bins(below);
        let texts: Option<Vec<_>> = bins.iter().map(|(start, end, _)| Some((start.text()?, end.text()?))).collect();
        texts.into_iter().for_each(|texts| values.language.prefer_ascending(&texts));
    }
    let [cpu_time, foreground, background, hitches] = SCALARS.map(|keys| values.scalar(keys));
    // An unreadable background time must not count as zero.
    let running = match (&foreground, &background) {
        (Ok(Some(foreground)), Ok(background)) => Some(foreground.saturating_add(background.unwrap_or_default())),
        _ => None,
    };
    let mut unread = Vec::new();
    unread.extend([foreground.err(), background.err()].into_iter().flatten());
    let mut kept = |problem: Unread| unread.push(problem);
    let [cpu_time, scroll_hitches] = [cpu_time, hitches].map(|read| read.map_err(&mut kept).ok().flatten());
    let peak_memory = values.quantity(PEAK_MEMORY, Dimension::Size).map_err(&mut kept).ok().flatten();
    let exits = values.exits().map_err(&mut kept).ok().flatten();
    let histograms = found.into_iter().map(|(name, below)| values.histogram(name, &below).map_err(&mut kept).ok());
    let histograms = histograms.flatten().flatten().collect();
    let metrics = AppMetrics { days, cpu_time, running, scroll_hitches, peak_memory, exits, histograms };
    (metrics != AppMetrics { days, ..AppMetrics::default() } || !unread.is_empty()).then_some((metrics, unread))
}

/// Returns the path and the length of the longest entry. The path is empty for documents up to iOS 26, which have no entries.
fn day(leaves: &[Leaf]) -> Option<(Vec<String>, Option<u64>)> {
    let mut parts: BTreeMap<&[String], [Option<&str>; 2]> = BTreeMap::new();
    for (path, value) in leaves {
        let [entries, _, duration, part] = path.as_slice() else { continue };
        let index = ["value", "unit"].iter().position(|known| known == part);
        if let (true, Some(index), Some(entry)) =
            (entries == "intervalEntries" && duration == "duration", index, path.get(..2))
        {
            parts.entry(entry).or_default()[index] = Some(value);
        }
    }
    if !leaves.iter().any(|(path, _)| path.first().is_some_and(|first| first == "intervalEntries")) {
        return Some((Vec::new(), None));
    }
    let length = |[value, unit]: [Option<&str>; 2]| of_number(value?, unit?, Dimension::Time).ok();
    let lengths = parts.into_iter().filter_map(|(entry, parts)| Some((length(parts)?, entry)));
    let (length, entry) = lengths.max_by_key(|(length, _)| *length)?;
    Some((entry.to_vec(), Some(length)))
}

/// A quantity, as written in the document.
#[derive(Clone, Copy)]
enum Written<'l> {
    Text(&'l str),
    Number(&'l str, &'l str),
}

impl<'l> Written<'l> {
    fn text(self) -> Option<&'l str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(..) => None,
        }
    }
}

/// Values below a key, sorted by their paths relative to the key.
type Below<'l> = Vec<(&'l [String], &'l str)>;

struct Values<'l> {
    leaves: &'l [Leaf],
    day: Vec<String>,
    language: Language,
}

impl<'l> Values<'l> {
    /// Returns the day's values below a key, with their paths relative to it.
    fn below(&self, (old, new): (&str, &str)) -> Below<'l> {
        let key = if self.day.is_empty() { old } else { new };
        let below = self.of_day().filter_map(|(path, value)| {
            let at = path.iter().position(|part| *part == key)?;
            Some((path.get(at + 1..)?, value))
        });
        sorted(below.collect())
    }

    fn of_day(&self) -> impl Iterator<Item = (&'l [String], &'l str)> {
        let of_day = |(path, value): &'l Leaf| Some((path.strip_prefix(self.day.as_slice())?, value.as_str()));
        self.leaves.iter().filter_map(of_day)
    }

    /// Returns histograms of durations by name: the standard ones, and one per signpost.
    fn durations(&self) -> Vec<(String, Below<'l>)> {
        let known = HISTOGRAMS.iter().map(|&(old, new, name)| (name.to_owned(), self.below((old, new))));
        let mut found: Vec<_> = known.collect();
        let key = if self.day.is_empty() { SIGNPOST_DURATIONS.0 } else { SIGNPOST_DURATIONS.1 };
        let mut signposts: BTreeMap<&[String], ([Option<&str>; 2], Below<'l>)> = BTreeMap::new();
        for (path, value) in self.of_day() {
            let Some((last, own)) = path.split_last() else { continue };
            let facts = [SIGNPOST_NAME, SIGNPOST_CATEGORY];
            if let Some(index) = facts.iter().position(|fact| last == fact) {
                signposts.entry(own).or_default().0[index] = Some(value);
            } else if let Some(at) = path.iter().position(|part| part == key) {
                // Up to iOS 26, another object encloses the histogram.
                let own = &path[..at - usize::from(self.day.is_empty()).min(at)];
                signposts.entry(own).or_default().1.push((&path[at + 1..], value));
            }
        }
        for ([name, category], below) in signposts.into_values() {
            let category = category.filter(|text| !text.is_empty());
            let category = category.map(|text| format!(" ({text})")).unwrap_or_default();
            found.extend(name.map(|name| (format!("{}{name}{category}", DurationHistogram::SIGNPOST), sorted(below))));
        }
        found
    }

    fn scalar(&self, keys: (&str, &str)) -> Result<Option<Nanos>, Unread> {
        Ok(self.quantity(keys, Dimension::Time)?.map(Nanos::from_nanos))
    }

    fn quantity(&self, keys: (&str, &str), dimension: Dimension) -> Result<Option<u64>, Unread> {
        written(&self.below(keys), &[], "value").map(|written| self.read(written, dimension)).transpose()
    }

    fn read(&self, written: Written<'l>, dimension: Dimension) -> Result<u64, Unread> {
        match written {
            Written::Number(value, unit) => of_number(value, unit, dimension),
            Written::Text(text) => self.language.read(text, dimension),
        }
    }

    /// Returns abnormal exits by reason; `None` if the document has no exit counts.
    fn exits(&self) -> Result<Option<Vec<(String, u64)>>, Unread> {
        let mut exits: BTreeMap<String, u64> = BTreeMap::new();
        let mut is_known = false;
        for (keys, place) in EXITS {
            for (path, count) in self.below(keys) {
                let [key] = path else { continue };
                let Some(reason) = reason(key) else { continue };
                let count: u64 = count.parse().map_err(|_| Unread::unknown(count))?;
                is_known = true;
                // A normal exit means that the user or the system ended the app as intended.
                if count > 0 && reason != NORMAL {
                    let sum = exits.entry(format!("{reason} ({place})")).or_default();
                    *sum = sum.saturating_add(count);
                }
            }
        }
        Ok(is_known.then(|| exits.into_iter().collect()))
    }

    /// Reads a histogram. One unreadable bin makes the whole histogram unreadable, since quantiles would be wrong.
    fn histogram(&self, name: String, below: &Below<'l>) -> Result<Option<DurationHistogram>, Unread> {
        let mut found = Vec::new();
        for (start, end, count) in bins(below) {
            let read = |written| self.read(written, Dimension::Time).map(Nanos::from_nanos);
            let (lower, upper) = (read(start)?, read(end)?);
            let upper = (name != "hang" || upper < LONGEST_HANG).then(|| end_of_bin(upper));
            found.push((lower, upper, count.parse().map_err(|_| Unread::unknown(count))?));
        }
        Ok((!found.is_empty()).then_some(DurationHistogram { name, bins: found }))
    }
}

fn sorted(mut below: Below<'_>) -> Below<'_> {
    below.sort_by_key(|(path, _)| *path);
    below
}

/// Returns the start, end and count of each bin, in order of the bins' numbers.
fn bins<'l>(found: &Below<'l>) -> Vec<(Written<'l>, Written<'l>, &'l str)> {
    let bin = |&(path, value): &(&'l [String], &'l str)| {
        let (key, prefix) = path.split_last()?;
        let (start, end) = match key.as_str() {
            "bucketCount" => ("bucketStart", "bucketEnd"),
            "count" => ("lowerBound", "upperBound"),
            _ => return None,
        };
        let number: u64 = prefix.last()?.parse().unwrap_or(u64::MAX);
        let bounds = written(found, prefix, start).zip(written(found, prefix, end));
        bounds.map(|(start, end)| (number, (start, end, value)))
    };
    let mut bins: Vec<_> = found.iter().filter_map(bin).collect();
    bins.sort_by_key(|(number, _)| *number);
    bins.into_iter().map(|(_, bin)| bin).collect()
}

/// Returns an exit reason in plain English, or an unknown reason unchanged.
fn reason(key: &str) -> Option<&str> {
    let old = key.strip_prefix("cumulative").and_then(|key| key.strip_suffix("ExitCount"));
    let reason = old.or_else(|| key.strip_suffix("TerminationCount"))?;
    let known = REASONS.iter().find(|(old, new, _)| reason == *old || reason == *new);
    Some(known.map_or(reason, |(_, _, words)| words))
}

/// Returns a time: text below `prefix`, or a number and its unit below `prefix` and `name`.
fn written<'l>(found: &Below<'l>, prefix: &[String], name: &str) -> Option<Written<'l>> {
    let at = |names: &[&str]| {
        let order = |path: &[String]| {
            path.iter().map(String::as_str).cmp(prefix.iter().map(String::as_str).chain(names.iter().copied()))
        };
        let first = found.partition_point(|(path, _)| order(path).is_lt());
        found.get(first).filter(|(path, _)| order(path).is_eq()).map(|(_, value)| *value)
    };
    match (at(&[name, "value"]), at(&[name, "unit"])) {
        (Some(value), Some(unit)) => Some(Written::Number(value, per_second(unit))),
        _ => at(&[]).or_else(|| at(&[name])).map(|text| Written::Text(per_second(text))),
    }
}

/// The last bin contains all longer hangs.
const LONGEST_HANG: Nanos = Nanos::from_millis(9_000);

/// Returns the end of a bin. The system rounds durations down to 10 ms, and writes the bin from 1480 ms to 1490 ms as 1480 to 1489.
fn end_of_bin(upper: Nanos) -> Nanos {
    const STEP: u64 = 10_000_000;
    Nanos::from_nanos(upper.as_nanos().div_ceil(STEP).saturating_mul(STEP))
}

/// Converts the hitch unit `ms per s` to `ms`.
fn per_second(unit: &str) -> &str {
    unit.strip_suffix(" per s").unwrap_or(unit)
}

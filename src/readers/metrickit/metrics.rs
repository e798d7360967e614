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
//! Only the entry of the whole day counts: other entries are parts of it, and entries of states are within it.

use std::collections::BTreeMap;

use super::locales::Dimension;
use super::quantity::{Language, Unread, of_number};
use crate::recording::{AppMetrics, DurationHistogram};
use crate::units::Nanos;

/// A value with the names and indices that lead to it.
pub(super) type Leaf = (Vec<String>, String);

/// Entries that are shorter are parts of a day.
const LEAST_DAY: u64 = 23 * 3_600 * 1_000_000_000;

/// Histograms: the key up to iOS 26, the key of iOS 27, and the name.
const HISTOGRAMS: [(&str, &str, &str); 5] = [
    ("histogrammedAppHangTime", "hangTimeMetric", "hang"),
    ("histogrammedTimeToFirstDrawKey", "timeToFirstDrawMetric", "launch"),
    ("histogrammedOptimizedTimeToFirstDraw", "optimizedTimeToFirstDrawMetric", "prewarmed-launch"),
    ("histogrammedExtendedLaunch", "extendedLaunchMetric", "extended-launch"),
    ("histogrammedResumeTime", "applicationResumeTimeMetric", "resume"),
];

/// True if a value is used, by the names that lead to it.
pub(super) fn is_known(path: &[String]) -> bool {
    let has = |name: &str| path.iter().any(|part| part == name);
    let is_scalar = SCALARS.iter().any(|(old, new)| has(old) || has(new));
    is_scalar || HISTOGRAMS.iter().any(|(old, new, _)| has(old) || has(new)) || has("duration")
}

/// Quantities: the key up to iOS 26, and the key of iOS 27.
const SCALARS: [(&str, &str); 4] = [
    ("cumulativeCPUTime", "cpuTimeMetric"),
    ("cumulativeForegroundTime", "totalForegroundTimeMetric"),
    ("cumulativeBackgroundTime", "totalBackgroundTimeMetric"),
    ("scrollHitchTimeRatio", "scrollHitchTimeRatioMetric"),
];

/// The metrics of a day and what could not be read of them; `None` for a document without a whole day.
pub(super) fn of_day(leaves: &[Leaf], region: Option<&str>) -> Option<(AppMetrics, Vec<Unread>)> {
    let mut values = Values { leaves, day: day(leaves)?, language: Language::of([], None) };
    values.language = Language::of(leaves.iter().map(|(_, text)| per_second(text)), region);
    for keys in HISTOGRAMS {
        let bins = values.bins(keys);
        let texts: Option<Vec<_>> = bins.iter().map(|(start, end, _)| Some((start.text()?, end.text()?))).collect();
        texts.into_iter().for_each(|texts| values.language.prefer_ascending(&texts));
    }
    let [cpu_time, foreground, background, hitches] = SCALARS.map(|keys| values.scalar(keys));
    // A time in the background that cannot be read is not zero.
    let running = match (&foreground, &background) {
        (Ok(Some(foreground)), Ok(background)) => Some(foreground.saturating_add(background.unwrap_or_default())),
        _ => None,
    };
    let mut unread = Vec::new();
    unread.extend([foreground.err(), background.err()].into_iter().flatten());
    let mut kept = |problem: Unread| unread.push(problem);
    let [cpu_time, scroll_hitches] = [cpu_time, hitches].map(|read| read.map_err(&mut kept).ok().flatten());
    let histograms = HISTOGRAMS.map(|keys| values.histogram(keys).map_err(&mut kept).ok().flatten());
    let histograms = histograms.into_iter().flatten().collect();
    let metrics = AppMetrics { cpu_time, running, scroll_hitches, histograms };
    (metrics != AppMetrics::default() || !unread.is_empty()).then_some((metrics, unread))
}

/// The path of the longest entry, which has to be a day; empty for documents up to iOS 26, which describe one day.
fn day(leaves: &[Leaf]) -> Option<Vec<String>> {
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
        return Some(Vec::new());
    }
    let length = |[value, unit]: [Option<&str>; 2]| of_number(value?, unit?, Dimension::Time).ok();
    let lengths = parts.into_iter().filter_map(|(entry, parts)| Some((length(parts)?, entry)));
    let (length, entry) = lengths.max_by_key(|(length, _)| *length)?;
    (length >= LEAST_DAY).then(|| entry.to_vec())
}

/// A quantity as it was written.
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

struct Values<'l> {
    leaves: &'l [Leaf],
    day: Vec<String>,
    language: Language,
}

impl<'l> Values<'l> {
    /// The values below a key of the day, with what leads to them from there.
    fn below(&self, (old, new): (&str, &str)) -> Vec<(&'l [String], &'l str)> {
        let key = if self.day.is_empty() { old } else { new };
        let below = self.leaves.iter().filter_map(|(path, value)| {
            let of_day = path.strip_prefix(self.day.as_slice())?;
            let at = of_day.iter().position(|part| *part == key)?;
            Some((of_day.get(at + 1..)?, value.as_str()))
        });
        below.collect()
    }

    fn scalar(&self, keys: (&str, &str)) -> Result<Option<Nanos>, Unread> {
        written(&self.below(keys), &[], "value").map(|written| self.read(written)).transpose()
    }

    fn read(&self, written: Written<'l>) -> Result<Nanos, Unread> {
        let nanos = match written {
            Written::Number(value, unit) => of_number(value, unit, Dimension::Time),
            Written::Text(text) => self.language.read(text, Dimension::Time),
        };
        nanos.map(Nanos::from_nanos)
    }

    /// The bins of a histogram by their numbers: start, end and count.
    fn bins(&self, (old, new, _): (&str, &str, &str)) -> Vec<(Written<'l>, Written<'l>, &'l str)> {
        let found = self.below((old, new));
        let (list, count, start, end) = match self.day.is_empty() {
            true => (1, "bucketCount", "bucketStart", "bucketEnd"),
            false => (2, "count", "lowerBound", "upperBound"),
        };
        let bin = |&(path, value): &(&'l [String], &'l str)| {
            let (prefix, key) = path.split_at_checked(list + 1)?;
            let number: u64 = prefix.last()?.parse().unwrap_or(u64::MAX);
            let bounds = (key == [count]).then(|| written(&found, prefix, start).zip(written(&found, prefix, end)))?;
            bounds.map(|(start, end)| (number, (start, end, value)))
        };
        let mut bins: Vec<_> = found.iter().filter_map(bin).collect();
        bins.sort_by_key(|(number, _)| *number);
        bins.into_iter().map(|(_, bin)| bin).collect()
    }

    /// A histogram with a bin that cannot be read has no quantile.
    fn histogram(&self, keys @ (_, _, name): (&str, &str, &'static str)) -> Result<Option<DurationHistogram>, Unread> {
        let mut bins = Vec::new();
        for (start, end, count) in self.bins(keys) {
            let (lower, upper) = (self.read(start)?, self.read(end)?);
            let upper = (name != "hang" || upper < LONGEST_HANG).then(|| end_of_bin(upper));
            bins.push((lower, upper, count.parse().map_err(|_| Unread::unknown(count))?));
        }
        Ok((!bins.is_empty()).then_some(DurationHistogram { name, bins }))
    }
}

/// A time: text below `prefix`, or a number and its unit below `prefix` and `name`.
fn written<'l>(found: &[(&'l [String], &'l str)], prefix: &[String], name: &str) -> Option<Written<'l>> {
    let at = |names: &[&str]| {
        let is_at = |path: &[String]| path.strip_prefix(prefix).is_some_and(|path| path == names);
        found.iter().find(|(path, _)| is_at(path)).map(|(_, value)| *value)
    };
    match (at(&[name, "value"]), at(&[name, "unit"])) {
        (Some(value), Some(unit)) => Some(Written::Number(value, per_second(unit))),
        _ => at(&[]).or_else(|| at(&[name])).map(|text| Written::Text(per_second(text))),
    }
}

/// Longer hangs are in the last bin.
const LONGEST_HANG: Nanos = Nanos::from_millis(9_000);

/// The end of a bin. The system rounds durations down to 10 ms, and names a bin of 1480 ms to 1490 ms as one from 1480 to 1489.
fn end_of_bin(upper: Nanos) -> Nanos {
    const STEP: u64 = 10_000_000;
    Nanos::from_nanos(upper.as_nanos().div_ceil(STEP).saturating_mul(STEP))
}

/// `ms per s`, of hitches, as `ms`.
fn per_second(unit: &str) -> &str {
    unit.strip_suffix(" per s").unwrap_or(unit)
}

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

use super::quantity::{TIMES, parse};
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

/// The metrics of a day; `None` for a document without a whole day.
pub(super) fn of_day(leaves: &[Leaf], region: Option<&str>) -> Option<AppMetrics> {
    let values = Values { leaves, day: day(leaves)?, region };
    let [cpu_time, foreground, background, hitches] = SCALARS.map(|keys| values.scalar(keys));
    let running = foreground.map(|foreground| foreground.saturating_add(background.unwrap_or_default()));
    let metrics = AppMetrics {
        cpu_time,
        running,
        scroll_hitches: hitches,
        histograms: HISTOGRAMS.iter().filter_map(|keys| values.histogram(*keys)).collect(),
    };
    (metrics != AppMetrics::default()).then_some(metrics)
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
    let length = |[value, unit]: [Option<&str>; 2]| parse(&format!("{} {}", value?, unit?), TIMES, true, None);
    let lengths = parts.into_iter().filter_map(|(entry, parts)| Some((length(parts)?, entry)));
    let (length, entry) = lengths.max_by_key(|(length, _)| *length)?;
    (length >= LEAST_DAY).then(|| entry.to_vec())
}

struct Values<'l> {
    leaves: &'l [Leaf],
    day: Vec<String>,
    region: Option<&'l str>,
}

impl<'l> Values<'l> {
    /// The values below a key of the day, with what leads to them from there.
    fn below(&self, (old, new): (&str, &str)) -> impl Iterator<Item = (&'l [String], &'l str)> {
        let (day, key) = (self.day.clone(), if self.day.is_empty() { old } else { new }.to_owned());
        self.leaves.iter().filter_map(move |(path, value)| {
            let of_day = path.strip_prefix(day.as_slice())?;
            let at = of_day.iter().position(|part| *part == key)?;
            Some((of_day.get(at + 1..)?, value.as_str()))
        })
    }

    fn scalar(&self, keys: (&str, &str)) -> Option<Nanos> {
        let found: Vec<(&[String], &str)> = self.below(keys).collect();
        self.quantity(&found, &[], "value")
    }

    /// A time: text below `prefix`, or a number and its unit below `prefix` and `name`.
    fn quantity(&self, found: &[(&[String], &str)], prefix: &[String], name: &str) -> Option<Nanos> {
        let at = |names: &[&str]| {
            let is_at = |path: &[String]| path.strip_prefix(prefix).is_some_and(|path| path == names);
            found.iter().find(|(path, _)| is_at(path)).map(|(_, value)| *value)
        };
        let nanos = match (at(&[name, "value"]), at(&[name, "unit"])) {
            (Some(value), Some(unit)) => parse(&format!("{value} {}", per_second(unit)), TIMES, true, None),
            _ => parse(per_second(at(&[]).or_else(|| at(&[name]))?), TIMES, false, self.region),
        };
        nanos.map(Nanos::from_nanos)
    }

    fn histogram(&self, (old, new, name): (&str, &str, &'static str)) -> Option<DurationHistogram> {
        let found: Vec<(&[String], &str)> = self.below((old, new)).collect();
        let (list, count, start, end) = match self.day.is_empty() {
            true => (1, "bucketCount", "bucketStart", "bucketEnd"),
            false => (2, "count", "lowerBound", "upperBound"),
        };
        let mut bins = Vec::new();
        for (path, value) in found.iter().filter(|(path, _)| path.get(list + 1..).is_some_and(|rest| rest == [count])) {
            let prefix = path.get(..=list)?;
            // A histogram with a bin that cannot be read has no quantile.
            let (lower, upper) = (self.quantity(&found, prefix, start)?, self.quantity(&found, prefix, end)?);
            let upper = (name != "hang" || upper < LONGEST_HANG).then(|| end_of_bin(upper));
            bins.push((lower, upper, value.parse().ok()?));
        }
        (!bins.is_empty()).then_some(DurationHistogram { name, bins })
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

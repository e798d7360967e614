"""Checks the metrics of MetricKit in a fleet report.

    field_metrics.py FOLDER REPORT.json

Reads the documents of the folder as they are described, one a file. Percentiles of durations that are known by bins are numpy's, with the
method `inverted_cdf`, of all lower ends and of all upper ends. Prints how much was checked; ends with exit code 1 at the first difference.
"""

import json
import pathlib
import re
import sys

import numpy

NAMES = {
    "hang": ("hangTimeMetric", "applicationResponsivenessMetrics", "histogrammedAppHangTime"),
    "launch": ("timeToFirstDrawMetric", "applicationLaunchMetrics", "histogrammedTimeToFirstDrawKey"),
    "resume": ("applicationResumeTimeMetric", "applicationLaunchMetrics", "histogrammedResumeTime"),
    "prewarmed-launch": ("optimizedTimeToFirstDrawMetric", "applicationLaunchMetrics", "histogrammedOptimizedTimeToFirstDraw"),
    "extended-launch": ("extendedLaunchMetric", "applicationLaunchMetrics", "histogrammedExtendedLaunch"),
}
SCALES = {"ms": 10**6, "s": 10**9, "sec": 10**9, "ms per s": 10**6, "kB": 10**3, "MB": 10**6}
OPEN = 2**63


def nanos(value):
    """Of a number with its unit, or of text as it is written in the United States."""
    if isinstance(value, dict):
        return round(value["value"] * SCALES[value["unit"]])
    number, unit = re.fullmatch(r"([0-9,.]+) (.+)", value).groups()
    return round(float(number.replace(",", "")) * SCALES[unit])


class Day:
    """What a document says of a day."""

    def __init__(self, document):
        self.bins, self.days = {}, 1
        self.document = document
        entries = document.get("intervalEntries")
        if entries is not None:
            longest = max(entries, key=lambda entry: entry["duration"]["value"], default=None)
            self.is_whole = longest is not None and nanos(longest["duration"]) >= 23 * 3600 * 10**9
            self.values = {key: value for entry in longest["values"] for key, value in entry.items()} if self.is_whole else {}
            self.version = document["environment"].get("latestApplicationVersion")
            self.cpu, self.front, self.back = map(self.new, ("cpuTimeMetric", "totalForegroundTimeMetric", "totalBackgroundTimeMetric"))
            self.hitches = None
            self.memory = self.new("peakMemoryMetric")
            self.exits = self.ended([self.values.get(key, {}) for key in ("foregroundTerminationMetric", "backgroundTerminationMetric")])
            signposts = [entry["signpostIntervalMetric"] for entry in longest["values"] if "signpostIntervalMetric" in entry] if self.is_whole else []
            for row in signposts:
                bins = [(nanos(b["lowerBound"]), nanos(b["upperBound"]), b["count"]) for b in row["signpostDuration"]["buckets"]]
                self.bins[self.signpost(row)] = bins
            for name, (key, _, _) in NAMES.items():
                buckets = self.values.get(key, {}).get("histogram", {}).get("buckets", [])
                self.bins[name] = [(nanos(b["lowerBound"]), nanos(b["upperBound"]), b["count"]) for b in buckets]
        else:
            self.is_whole, self.version = True, document.get("appVersion")
            self.cpu = self.old("cpuMetrics", "cumulativeCPUTime")
            self.front = self.old("applicationTimeMetrics", "cumulativeForegroundTime")
            self.back = self.old("applicationTimeMetrics", "cumulativeBackgroundTime")
            self.hitches = self.old("animationMetrics", "scrollHitchTimeRatio")
            self.memory = self.old("memoryMetrics", "peakMemoryUsage")
            self.exits = self.ended(document.get("applicationExitMetrics", {}).values())
            for row in document.get("signpostMetrics", []):
                buckets = row["signpostIntervalData"]["histogrammedSignpostDurations"]["histogramValue"].values()
                self.bins[self.signpost(row)] = [(nanos(b["bucketStart"]), nanos(b["bucketEnd"]), b["bucketCount"]) for b in buckets]
            for name, (_, group, key) in NAMES.items():
                buckets = document.get(group, {}).get(key, {}).get("histogramValue", {}).values()
                self.bins[name] = [(nanos(b["bucketStart"]), nanos(b["bucketEnd"]), b["bucketCount"]) for b in buckets]

    def new(self, key):
        return nanos(self.values[key]["value"]) if key in self.values else None

    def old(self, group, key):
        return nanos(self.document[group][key]) if key in self.document.get(group, {}) else None

    @staticmethod
    def ended(places):
        counts = [(key, count) for place in places for key, count in place.items()]
        return sum(count for key, count in counts if "ormal" not in key or "bnormal" in key) if counts else None

    @staticmethod
    def signpost(row):
        return f"signpost {row['signpostName']}" + (f" ({row['signpostCategory']})" if "signpostCategory" in row else "")

    def durations(self, name):
        """Two lists of ends, sorted: bins are 10 ms wide or more, and hangs of nine seconds or more are in the last one."""
        lower, upper = [], []
        for start, end, count in self.bins[name]:
            lower += [start] * count
            upper += [OPEN if name == "hang" and end >= 9 * 10**9 else -(-end // 10**7) * 10**7] * count
        return lower, upper


def main(folder, report):
    report, checked = json.load(open(report)), 0
    days = [Day(json.loads(path.read_text())) for path in sorted(pathlib.Path(folder).glob("*.json"))]
    measures, durations = {}, {}
    for day in days:
        if not day.is_whole:
            continue
        if None not in (day.cpu, day.front) and day.front + (day.back or 0) > 0:
            measures.setdefault(("day_ns", day.version), []).append(1000 * day.cpu / (day.front + (day.back or 0)))
        if day.hitches is not None:
            measures.setdefault(("hitch_ns", day.version), []).append(day.hitches / 1e6)
        if day.memory is not None:
            measures.setdefault(("peak_bytes", day.version), []).append(day.memory / 1e6)
        if day.exits is not None:
            measures.setdefault(("exits", day.version), []).append(day.exits / day.days)
        for name in day.bins:
            lower, upper = day.durations(name)
            if lower:
                known = durations.setdefault((name, day.version), ([], [], []))
                known[0].extend(lower)
                known[1].extend(upper)
                known[2].append(day)
    found = {(cohort["unit"], cohort["labels"]["app_version"]): cohort["across_runs"] for cohort in report["cohorts"] if cohort["runs"]}
    assert found.keys() == measures.keys(), found.keys() ^ measures.keys()
    for key, values in measures.items():
        assert found[key]["count"] == len(values), key
        for row in found[key]["percentiles"]:
            expected = numpy.quantile(values, row["quantile"], method="inverted_cdf")
            assert abs(row["value"] - expected) <= 1e-6, (key, row, expected)
            checked += 1
    binned = {(row["name"], row["labels"]["app_version"]): row for row in report["histograms"]}
    assert binned.keys() == durations.keys(), binned.keys() ^ durations.keys()
    for key, (lower, upper, reports) in durations.items():
        assert (binned[key]["count"], binned[key]["reports"]) == (len(lower), len(reports)), key
        for row in binned[key]["percentiles"]:
            ends = [int(numpy.quantile(sorted(ends), row["quantile"], method="inverted_cdf")) for ends in (lower, upper)]
            assert [row["lower_ns"], row["upper_ns"] or OPEN] == ends, (key, row, ends)
            checked += 1
    print(f"{len(days)} documents, {checked} percentiles, {sum(len(lower) for lower, _, _ in durations.values())} durations")


if __name__ == "__main__":
    main(*sys.argv[1:])

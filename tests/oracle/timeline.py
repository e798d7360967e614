"""Compares timelines with the samples that they are made of.

    timeline.py SAMPLES.csv TIMELINE.csv [thread|process|none]

The samples are those of `--view samples --format csv`. The bins are made anew from them, with Python's integers, and every row
must be there, in the order that the documentation promises, and no other. The default length of a bin is checked too, by its
definition, if the environment has no BIN.
"""

import csv
import os
import sys
from collections import Counter, defaultdict


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def series_of(row):
    return (row["run"], row["schema"], row["unit"])


def scope_of(row, separate_by):
    columns = {"thread": ["pid", "process", "tid", "thread"], "process": ["pid", "process"], "none": []}[separate_by]
    return tuple(row[column] if column in columns else "" for column in ["pid", "process", "tid", "thread"])


def recorded_times(samples):
    """By run: the time that its samples cover, as nothing else tells when it was recorded."""
    times = {}
    for row in samples:
        start = int(row["time_ns"])
        end = start + (int(row["weight"]) if row["unit"] == "ns" else 0)
        first, last = times.get(row["run"], (start, end))
        times[row["run"]] = (min(first, start), max(last, end))
    return times


def round_bin(samples):
    """The shortest of 1, 2, 5, 10 ... by which no run has more than 90 bins, and 5 sampling intervals."""
    intervals = [0]
    for series in {series_of(row) for row in samples if row["unit"] == "ns"}:
        weights = Counter(int(row["weight"]) for row in samples if series_of(row) == series and int(row["weight"]) > 0)
        intervals += [min(weights, key=lambda weight: (-weights[weight], weight), default=0)]
    for bin_ns in (digit * 10**power for power in range(19) for digit in (1, 2, 5)):
        bins = max((-(-end // bin_ns) - start // bin_ns for start, end in recorded_times(samples).values()), default=1)
        if bins <= 90 and bin_ns >= 5 * max(intervals):
            return bin_ns
    raise AssertionError("no bin is long enough")


def main():
    samples, timeline = read(sys.argv[1]), read(sys.argv[2])
    separate_by = sys.argv[3] if len(sys.argv) > 3 else "thread"
    assert timeline, "no rows"
    bin_ns = int(os.environ["BIN"]) if "BIN" in os.environ else round_bin(samples)
    recorded = recorded_times(samples)
    expected = defaultdict(lambda: [0, 0])
    heavy = Counter()
    for row in samples:
        key = (series_of(row), int(row["time_ns"]) // bin_ns * bin_ns, scope_of(row, separate_by), row["state"])
        expected[key][0] += int(row["weight"])
        expected[key][1] += 1
        if row["state"] in ("", "Running"):
            heavy[(series_of(row), scope_of(row, separate_by))] += int(row["weight"])
    found = {}
    order = []
    for row in timeline:
        assert int(row["bin_ns"]) == bin_ns, (row["bin_ns"], bin_ns)
        key = (series_of(row), int(row["time_ns"]), scope_of(row, "thread"), row["state"])
        assert key not in found, f"{key} is there twice"
        found[key] = [int(row["weight"]), int(row["samples"])]
        series, time, scope, state = key
        order.append((time, -heavy[(series, scope)]))
        is_cpu = row["unit"] == "ns" and state in ("", "Running")
        percent = float(row["cpu_percent"]) if row["cpu_percent"] else None
        start, end = recorded[row["run"]]
        selected = max(0, min(end, time + bin_ns) - max(start, time))
        assert int(row["selected_ns"]) == selected, f"{key}: {row['selected_ns']} ns and not {selected} ns"
        should = float(int(row["weight"])) * 100.0 / float(selected) if is_cpu and selected else None
        assert percent == should, f"{key}: {percent} % and not {should} %"
    for key in sorted(set(expected) | set(found)):
        assert expected.get(key) == found.get(key), f"{key}: {found.get(key)} and not {expected.get(key)}"
    if len({series_of(row) for row in timeline}) == 1:
        assert order == sorted(order), "by time, heaviest first"
    print(f"{len(found)} rows of {bin_ns} ns from {len(samples)} samples")


main()

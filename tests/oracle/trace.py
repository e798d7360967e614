"""What a trace for Chrome says, read without the crate: spans nest, and times and weights are those of functions.

Usage: trace.py FOLDER, which holds `trace.json` (of --format chrome-trace), `functions.json` (of --view functions --format json)
and `exact`, where samples of one thread follow each other without pauses and overlaps.
"""

import collections
import decimal
import json
import pathlib
import sys


def nanos(micros):
    value = decimal.Decimal(micros) * 1000
    assert value == int(value), f"{micros} is not exact"
    return int(value)


def self_times(events):
    """By function: the time of its spans that no span inside of them has. Fails where spans overlap and do not nest."""
    times = collections.Counter()
    around = []  # The ends and functions of the spans that last, outermost first.
    last_start = -1
    for event in events:
        start, length = nanos(event["ts"]), nanos(event["dur"])
        end = start + length
        assert start >= last_start, "events are not in order of time"
        last_start = start
        # A span without length may lie at the end of another.
        while around and (around[-1][0] < start or around[-1][0] == start < end):
            around.pop()
        assert not around or end <= around[-1][0], f"{event} overlaps the span around it"
        function = (event["name"], event["args"]["binary"])
        times[function] += length
        if around:
            times[around[-1][1]] -= length
        around.append((end, function))
    return times


folder = pathlib.Path(sys.argv[1])
trace = json.loads((folder / "trace.json").read_text(), parse_float=str)
functions = json.loads((folder / "functions.json").read_text())
is_exact = (folder / "exact").exists()

tracks = collections.defaultdict(list)
labels = collections.Counter()
for event in trace["traceEvents"]:
    if event["ph"] == "X":
        tracks[event["pid"], event["tid"]].append(event)
    else:
        assert event["ph"] == "M", event
        labels[event["name"], event["pid"], event.get("tid")] += 1
assert all(count == 1 for count in labels.values()), "a process or thread is named twice"
for pid, tid in tracks:
    assert labels["process_name", pid, None] and labels["thread_name", pid, tid], f"{pid}, {tid} has no name"

times, weights, samples = collections.Counter(), collections.Counter(), 0
for events in tracks.values():
    times.update(self_times(events))
    for event in events:
        weights[event["name"], event["args"]["binary"]] += event["args"]["self_weight"]
expected = collections.Counter()
for row in functions["functions"]:
    expected[row["function"], row["binary"]] += row["self_weight"]
    samples += row["self_samples"]
assert +weights == +expected, f"{+weights}\nexpected {+expected}"
units = {series["unit"] for series in functions["series"]}
if is_exact:
    assert units == {"ns"} and +times == +expected, f"{+times}\nexpected {+expected}"
elif units == {"ns"}:
    # A sample is cut short where the next one is early, and lasts half as long again at most where it is late.
    assert sum(times.values()) <= sum(expected.values()) * 3 // 2
print(f"{sum(map(len, tracks.values()))} spans of {len(tracks)} threads, {samples} samples, {len(+expected)} functions")

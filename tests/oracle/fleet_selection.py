#!/usr/bin/env python3
"""Compares a fleet's report on a selection with what ElementTree finds in the exports of its runs.

    fleet_selection.py FOLDER REPORT.json PLAIN.json ASKED.json

FOLDER has exports NAME.xml, each with NAME-toc.xml, and some with NAME-intervals.xml; of a recording NAME.trace, the export is
exports/NAME.xml. REPORT is `fleet report --format json` on FOLDER with the selection, and PLAIN the one without. ASKED is
{"thread": name or null, "names": […], "all": bool, "time": [start_ns, end_ns or null] or null}.

Of each run: the weight of the running samples of the thread in the selected time, which is the union of the named intervals (or the
time that they share), cut to the range of time and to what was recorded; the percentage of that time; the busiest whole second in it.
A run is excluded if nothing of it is selected, or it has no such thread. Everything is compared exactly, percentiles too.
"""

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path

SECOND = 1_000_000_000
SIGNPOSTS = {"os-signpost-interval", "OSSignpostIntervals"}


def tables(path):
    """The schema and the rows of each table, as cells by mnemonic; a ref is what it refers to, a sentinel is left out."""
    root = ElementTree.parse(path).getroot()
    known = {element.get("id"): element for element in root.iter() if element.get("id")}
    for node in root.findall("node"):
        schema = node.find("schema")
        columns = [column.findtext("mnemonic") for column in schema.findall("col")]
        rows = []
        for row in node.findall("row"):
            cells = [known[cell.get("ref")] if cell.get("ref") else cell for cell in row]
            rows.append({name: cell for name, cell in zip(columns, cells) if cell.tag != "sentinel"})
        yield schema.get("name"), rows


def samples(path):
    for schema, rows in tables(path):
        if schema == "time-profile":
            for row in rows:
                name = re.match(r"(.*?)\s*\(?0x", row["thread"].get("fmt")).group(1)
                is_running = row["thread-state"].text in ("Running", "Interrupted") if "thread-state" in row else True
                yield int(row["time"].text), int(row["weight"].text), name, is_running


def intervals(paths, names):
    """The ranges of each name, of the first file with a table of signposts; none is no such file."""
    for path in filter(Path.exists, paths):
        found = [rows for schema, rows in tables(path) if schema in SIGNPOSTS]
        if found:
            ranges = defaultdict(list)
            for row in (row for rows in found for row in rows):
                if row["name"].text in names:
                    start = int(row["start"].text)
                    ranges[row["name"].text].append((start, start + int(row["duration"].text)))
            return ranges
    return None


def selected(asked, paths, recorded):
    """The selected parts of the recorded time: sweeps over all ends of ranges, and keeps the stretches that enough names cover."""
    start, end = recorded
    if asked["time"]:
        start, end = max(start, asked["time"][0]), min(end, asked["time"][1] or end)
    if not asked["names"]:
        return [(start, end)] if start < end else []
    ranges = intervals(paths, asked["names"]) or {}
    needed = len(set(asked["names"])) if asked["all"] else 1
    marks = sorted({start, end} | {mark for own in ranges.values() for pair in own for mark in pair if start < mark < end})
    parts = []
    for low, high in zip(marks, marks[1:]):
        covering = sum(any(first <= low and high <= last for first, last in own) for own in ranges.values())
        if covering >= needed:
            if parts and parts[-1][1] == low:
                parts[-1] = (parts[-1][0], high)
            else:
                parts.append((low, high))
    return parts


def measure(asked, export, parts):
    """Weight, length and busiest second of a run; `None` if it is excluded."""
    length = sum(end - start for start, end in parts)
    own = [sample for sample in samples(export) if asked["thread"] in (None, sample[2])]
    if not length or not own:
        return None
    counted = [(time, weight) for time, weight, _, is_running in own
               if is_running and any(start <= time < end for start, end in parts)]
    seconds = {second: 0 for start, end in parts for second in range(-(-start // SECOND), end // SECOND)}
    for time, weight in counted:
        if time // SECOND in seconds:
            seconds[time // SECOND] += weight
    return sum(weight for _, weight in counted), length, max(seconds.values(), default=None)


def millionths(weight, length):
    """Percent of a core, in millionths, rounded half up."""
    return (2 * weight * 100_000_000 + length) // (2 * length)


def main(folder, report, plain, asked):
    walls = {Path(run["source"]).name: run["wall_ns"] for run in plain["runs"]}
    expected, excluded = {}, set()
    for name in walls:
        stem = name.rsplit(".", 1)[0]
        is_bundle = name.endswith(".trace")
        export = folder / "exports" / f"{stem}.xml" if is_bundle else folder / name
        if is_bundle:
            recorded = walls[name]
        else:
            recorded = round(float(ElementTree.parse(folder / f"{stem}-toc.xml").findtext(".//duration")) * SECOND)
            assert recorded == walls[name], f"{name}: recorded {recorded}, the report says {walls[name]}"
        parts = selected(asked, [export, folder / f"{stem}-intervals.xml"], (0, recorded))
        run = measure(asked, export, parts)
        excluded.add(name) if run is None else expected.update({name: run})
    found = {Path(run["source"]).name: run for run in report["runs"]}
    assert found.keys() == expected.keys(), f"{sorted(found)} are counted, and {sorted(expected)} are to be"
    failed = {Path(failed["source"]).name for failed in report["inputs"]["failed"]}
    assert failed == excluded, f"{failed} are excluded, and {excluded} are to be"
    assert all(failed["kind"] == "not-selected" for failed in report["inputs"]["failed"])
    values = []
    for name, (weight, length, busiest) in expected.items():
        run = found[name]
        value = millionths(weight, length)
        assert (run["weight"], run["wall_ns"]) == (weight, length), f"{name}: {run}, not {weight} of {length}"
        assert round(run["value"] * 1e6) == value, f"{name}: {run['value']}, not {value}"
        window = None if busiest is None else millionths(busiest, SECOND) / 1e6
        assert run["window_max"] == window, f"{name}: busiest second {run['window_max']}, not {window}"
        values.append(value)
    values.sort()
    cohort, = report["cohorts"]
    for percentile in cohort["across_runs"]["percentiles"]:
        if percentile["value"] is not None:
            rank = max(-(-round(percentile["quantile"] * 1e6) * len(values) // 1_000_000), 1)
            assert round(percentile["value"] * 1e6) == values[rank - 1], percentile
    total = sum(weight for weight, _, _ in expected.values()), sum(length for _, length, _ in expected.values())
    assert round(cohort["across_runs"]["weighted_mean"] * 1e6) == millionths(*total)
    zeros = sum(value == 0 for value in values)
    windows = sum(busiest is not None for _, _, busiest in expected.values())
    print(f"{len(values)} runs equal, {len(excluded)} excluded, {zeros} idle, {windows} with windows")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(json.loads(Path(path).read_text()) for path in sys.argv[2:]))

"""Checks a fleet of MetricKit's diagnostics.

    field_reports.py FOLDER REPORT.json TREE.folded RUNS.csv

The stacks are those that `metrickit.py` reads from the files of the folder. What each diagnostic states is parsed here, as a German writes it if its
region is DE. Percentiles are numpy's, with the method `inverted_cdf`. In the tree of all hangs, n of the N samples of a hang have n/N of its
length; each sum may differ by a nanosecond for each hang, since shares are whole nanoseconds. The runs are those in which a function of App
calls one of UIKitCore: each may differ by a nanosecond for each of its stacks. Prints how much was checked; ends with exit
code 1 at the first number that differs.
"""

import csv
import json
import pathlib
import re
import sys
from fractions import Fraction

import numpy

import metrickit

STATED = {
    "hang-diagnostic": ("hang-duration", "hang_ns"),
    "app-launch-diagnostic": ("launch-duration", "launch_ns"),
    "cpu-exception-diagnostic": ("cpu-time", "exception_ns"),
    "disk-write-exception-diagnostic": ("bytes-written", "written_bytes"),
}
SCALES = {"ms": 10**6, "sec": 10**9, "秒": 10**9, "byte": 1, "kB": 1000, "MB": 10**6}


def stated(diagnostic):
    """The unit and the quantity of a diagnostic."""
    key, unit = STATED.get(diagnostic["schema"], (None, None))
    summary = dict(map(tuple, diagnostic["summary"]))
    if key not in summary:
        return None, None
    number, scale = re.fullmatch(r"([0-9.,]+) ?(\D+)", summary[key]).groups()
    if summary.get("region") == "DE":
        number = number.replace(".", "").replace(",", ".")
    return unit, round(Fraction(number) * SCALES[scale])


def main(folder, report, tree, runs):
    cohorts, hangs, runs_of, count_of_hangs = {}, {}, [], 0
    for path in sorted(pathlib.Path(folder).glob("*.*json")):
        try:
            diagnostics = metrickit.answer(path.read_bytes())
        except ValueError:
            continue
        for diagnostic in diagnostics:
            unit, quantity = stated(diagnostic)
            if unit is None or not diagnostic["stacks"]:
                continue
            version = dict(map(tuple, diagnostic["summary"])).get("app-version")
            cohorts.setdefault((unit, version), []).append(quantity)
            if unit == "hang_ns":
                count_of_hangs += 1
                shares = add_hang(hangs, diagnostic, quantity)
                called = [share for frames, share in shares if ("App", "UIKitCore") in zip(frames, frames[1:])]
                if called:
                    runs_of.append((path.name, sum(called), len(called)))
    checked = check_report(json.load(open(report)), cohorts)
    nodes = check_tree(open(tree), hangs, count_of_hangs, sum(sum(of) for (unit, _), of in cohorts.items() if unit == "hang_ns"))
    check_runs(csv.DictReader(open(runs)), runs_of)
    reports = sum(map(len, cohorts.values()))
    print(f"{reports} reports, {checked} numbers, {nodes} stacks of {count_of_hangs} hangs, {len(runs_of)} with a call")


def add_hang(hangs, diagnostic, quantity):
    """Adds the stacks of a hang, by process, thread and binaries; returns the binaries of each with its share of the length."""
    process = dict(map(tuple, diagnostic["process"]))["name"]
    stacks = {tuple(stack.split(";")): samples for stack, samples in diagnostic["stacks"].items()}
    if any(thread == "Main Thread" for thread, *_ in stacks):
        stacks = {stack: samples for stack, samples in stacks.items() if stack[0] == "Main Thread"}
    every, shares = sum(stacks.values()), []
    for (thread, *frames), samples in stacks.items():
        frames, share = [frame.rpartition("+")[0] for frame in frames], Fraction(quantity * samples, every)
        hangs[(process, thread, *frames)] = hangs.get((process, thread, *frames), 0) + share
        shares.append((frames, share))
    return shares


def check_report(report, cohorts):
    found = {(cohort["unit"], cohort["labels"]["app_version"]): cohort["across_runs"] for cohort in report["cohorts"]}
    assert found.keys() == cohorts.keys(), (found.keys(), cohorts.keys())
    checked = 0
    for key, quantities in cohorts.items():
        summary, values = found[key], numpy.array(quantities, dtype=float) / 1e6
        expected = {row["name"]: numpy.quantile(values, row["quantile"], method="inverted_cdf") for row in summary["percentiles"]}
        pairs = [(row["value"], expected[row["name"]]) for row in summary["percentiles"]]
        pairs += [(summary["count"], len(values)), (summary["min"], values.min()), (summary["max"], values.max())]
        pairs += [(summary["mean"], values.mean()), (summary["weighted_mean"], values.mean())]
        for number, expectation in pairs:
            assert abs(number - expectation) <= 1e-6, (key, number, expectation)
            checked += 1
    return checked


def check_tree(lines, hangs, count, total):
    found = {}
    for line in lines:
        stack, _, weight = line.rstrip("\n").rpartition(" ")
        process, thread, *frames = stack.split(";")
        key = (process, thread, *(re.sub(r"^\(unnamed\)( \(in (.*)\))?$", r"\2", frame) for frame in frames))
        found[key] = found.get(key, 0) + int(weight)
    assert found.keys() == hangs.keys(), found.keys() ^ hangs.keys()
    for key, weight in hangs.items():
        assert abs(found[key] - weight) <= count, (key, found[key], float(weight))
    assert sum(found.values()) == total, (sum(found.values()), total)
    return len(found)


def check_runs(rows, expected):
    rows = [(pathlib.Path(row["source"]).name, int(row["weight"])) for row in rows]
    assert [weight for _, weight in rows] == sorted((weight for _, weight in rows), reverse=True)
    # A file may have several diagnostics.
    rows.sort()
    expected.sort()
    assert len(rows) == len(expected), (len(rows), len(expected))
    for (source, weight), (name, share, stacks) in zip(rows, expected):
        assert source == name and abs(weight - share) <= stacks, (source, weight, name, float(share))


if __name__ == "__main__":
    main(*sys.argv[1:])

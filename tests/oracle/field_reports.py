"""Checks a fleet of MetricKit's diagnostics.

    field_reports.py FOLDER REPORT.json TREE.folded

The stacks are those that `metrickit.py` reads from the files of the folder. What each diagnostic states is parsed here, as a German writes it if its
region is DE. Percentiles are numpy's, with the method `inverted_cdf`. In the tree of all hangs, n of the N samples of a hang have n/N of its
length; each sum may differ by a nanosecond for each hang, since shares are whole nanoseconds. Prints how much was checked; ends with exit
code 1 at the first number that differs.
"""

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


def main(folder, report, tree):
    cohorts, hangs, count_of_hangs = {}, {}, 0
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
                add_hang(hangs, diagnostic, quantity)
    checked = check_report(json.load(open(report)), cohorts)
    nodes = check_tree(open(tree), hangs, count_of_hangs, sum(sum(of) for (unit, _), of in cohorts.items() if unit == "hang_ns"))
    print(f"{sum(map(len, cohorts.values()))} reports, {checked} numbers, {nodes} stacks of {count_of_hangs} hangs")


def add_hang(hangs, diagnostic, quantity):
    """Adds the stacks of a hang, by process, thread and binaries."""
    process = dict(map(tuple, diagnostic["process"]))["name"]
    stacks = {tuple(stack.split(";")): samples for stack, samples in diagnostic["stacks"].items()}
    if any(thread == "Main Thread" for thread, *_ in stacks):
        stacks = {stack: samples for stack, samples in stacks.items() if stack[0] == "Main Thread"}
    every = sum(stacks.values())
    for (thread, *frames), samples in stacks.items():
        key = (process, thread, *(frame.rpartition("+")[0] for frame in frames))
        hangs[key] = hangs.get(key, 0) + Fraction(quantity * samples, every)


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


if __name__ == "__main__":
    main(*sys.argv[1:])

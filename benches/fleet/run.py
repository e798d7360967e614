#!/usr/bin/env python3
"""Compares the speed of a batch of many exports with reading one export, and of `fleet extract` with `fleet report`, and compares every
row of the report with the recorded values.

    benches/fleet/run.py [--work FOLDER] [--runs N] [--rows N] [--rounds N] [--traceparse FILE]

The fleet is generated (`generate-fleet`: exports of about 1 MB in four cohorts; in one cohort, a function has a regression in its tail).
It is written to FOLDER once, 2 GB for 2,000 runs. `expected.csv` next to it is computed by code that shares nothing with the reader. "One"
is an export of 90 MB of the same kind, read with `--view summary`. Files are in the page cache, processes are started anew, and the two
commands take turns. The ratio uses medians: bytes per second of the batch, divided by the product of one export's bytes per second and the
number of cores. The cost of an export is the CPU time (user and system) of the batch divided by the number of exports; `extract` writes a
new dataset each time. For exports of 22 KB, use `--rows 55 --runs 10000`; only the cost of `extract` then has a target. Exits with 1 if a
row differs or a target is missed.
"""

import argparse
import csv
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SEED = "1"
ROWS_OF_ONE = "370000"
LEAST_RATIO = 0.8
MOST_MEMORY = 500_000_000
MOST_EXTRACT = 1.6
MOST_MS_OF_A_SMALL_ONE = 4.0
SMALL = 100_000
NUMBERS = ["p50", "p90", "p95", "p99", "p99.9", "max", "mean"]


def build(*what: str) -> None:
    subprocess.run(["cargo", "build", "--release", "--quiet", *what], cwd=ROOT, check=True)


def generate(folder: Path, runs: str, rows: str) -> None:
    if not (folder / "manifest.csv").exists():
        print(f"writing {runs} exports to {folder}", file=sys.stderr)
        subprocess.run([ROOT / "target/release/examples/generate-fleet", folder, runs, rows, SEED], check=True)


def measure(*command) -> tuple:
    """Returns wall time and CPU time in seconds, and peak memory in bytes."""
    start = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"run.py: {command} ended with {status}")
    return time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def bytes_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.xml") if not path.name.endswith("-toc.xml"))


def compare(report: Path, expected: Path) -> int:
    with open(report, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["scope"] == "function"]
    ours = {(row["app_version"], row["binary"], row["function"]): row for row in rows}
    with open(expected, newline="") as file:
        theirs = list(csv.DictReader(file))
    if len(ours) != len(theirs):
        sys.exit(f"run.py: the report has {len(ours)} functions, {len(theirs)} were recorded")
    for row in theirs:
        key = (row["app_version"], row["binary"], row["function"])
        mine = ours.get(key)
        same = mine is not None and all(mine[name] == row[name] for name in ("runs", "zero_runs"))
        if not same or any(float(mine[name]) != float(row[name]) for name in NUMBERS):
            sys.exit(f"run.py: {key} is {mine}, and should be {row}")
    return len(theirs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=ROOT / "target/fleet-bench")
    parser.add_argument("--runs", default="2000")
    parser.add_argument("--rows", default="3700")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--traceparse", type=Path)
    arguments = parser.parse_args()
    build("--example", "generate-fleet")
    if arguments.traceparse is None:
        build()
    traceparse = arguments.traceparse or ROOT / "target/release/traceparse"
    one, many = arguments.work / "one", arguments.work / f"many-{arguments.runs}-{arguments.rows}"
    arguments.work.mkdir(parents=True, exist_ok=True)
    generate(one, "1", ROWS_OF_ONE)
    generate(many, arguments.runs, arguments.rows)
    report = arguments.work / "report.csv"
    alone = [traceparse, one / "run-00000.xml", "--view", "summary"]
    batch = [traceparse, "fleet", "report", many / "manifest.csv", "--by", "app_version", "--format", "csv", "-o", report]
    dataset = arguments.work / "dataset"
    extract = [traceparse, "fleet", "extract", many / "manifest.csv", "-o", dataset]
    times, costs, memory = {"one": [], "batch": []}, {"report": [], "extract": []}, 0
    for _ in range(arguments.rounds):
        times["one"].append(measure(*alone)[0])
        shutil.rmtree(dataset, ignore_errors=True)
        for name, command in ("report", batch), ("extract", extract):
            wall, cost, peak = measure(*command)
            costs[name].append(1000 * cost / int(arguments.runs))
            memory = max(memory, peak)
            if name == "report":
                times["batch"].append(wall)
    rows = compare(report, many / "expected.csv")
    cores = len(os.sched_getaffinity(0))
    rate_of_one = bytes_of(one) / statistics.median(times["one"])
    rate = bytes_of(many) / statistics.median(times["batch"])
    ratio = rate / (rate_of_one * cores)
    print(f"one export          {rate_of_one / 1e6:8.0f} MB/s   {bytes_of(one) / 1e6:.0f} MB")
    print(f"batch on {cores} cores    {rate / 1e6:8.0f} MB/s   {bytes_of(many) / 1e6:.0f} MB in {arguments.runs} exports")
    print(f"ratio to one x cores {ratio:7.2f}        at least {LEAST_RATIO}")
    print(f"peak memory         {memory / 1e6:8.0f} MB     at most {MOST_MEMORY // 1_000_000}")
    report_ms, extract_ms = (statistics.median(costs[name]) for name in ("report", "extract"))
    print(f"cost of an export   {report_ms:8.2f} ms     {extract_ms:.2f} ms with extract: {extract_ms / report_ms:.2f} times")
    print(f"rows of functions   {rows:8}        all as recorded")
    is_small = bytes_of(many) / int(arguments.runs) < SMALL
    is_slow = extract_ms > (MOST_MS_OF_A_SMALL_ONE if is_small else MOST_EXTRACT * report_ms)
    if (ratio < LEAST_RATIO and not is_small) or memory > MOST_MEMORY or is_slow:
        sys.exit("run.py: a target is missed")


if __name__ == "__main__":
    main()

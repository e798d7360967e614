#!/usr/bin/env python3
"""Measures the time and memory of `fleet report` on datasets with hundreds of functions per run.

    benches/fleet/dataset.py FOLDER [RUNS ...] [--rows 500] [--repeat 3]

Generates a dataset for each number of runs (by default 12,500, 25,000 and 50,000) below FOLDER, unless it exists. Reports on each dataset
`--repeat` times, in a varying order. Prints CPU time (user and system time of the entire process), peak memory (from wait4), and bytes on
disk; their slopes per run by least squares over all measurements, with standard errors; and the resulting cost of a million runs.
Needs numpy.
"""

import argparse
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy

PROJECT = Path(__file__).resolve().parents[2]
COMMAND = PROJECT / "target/release/traceparse"
GENERATE = PROJECT / "target/release/examples/generate-dataset"
MILLION = 1_000_000

def measured(arguments: list, **options) -> tuple:
    """CPU seconds, peak bytes and exit code of a process."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        print(said.decode().strip().splitlines()[-1] if said else f"exit code {code}", file=sys.stderr)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, code


def bytes_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def files_of(folder: Path) -> int:
    return sum(1 for path in folder.rglob("*.parquet"))


def slope(runs: list, values: list) -> tuple:
    """Slope, its standard error, and the value at no runs."""
    x, y = numpy.array(runs, float), numpy.array(values, float)
    middle = x.mean()
    spread = ((x - middle) ** 2).sum()
    rate = ((x - middle) * (y - y.mean())).sum() / spread
    start = y.mean() - rate * middle
    rest = y - start - rate * x
    error = (((rest**2).sum() / (len(x) - 2)) / spread) ** 0.5 if len(x) > 2 else float("nan")
    return rate, error, start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("runs", type=int, nargs="*", default=[12_500, 25_000, 50_000])
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    datasets = {runs: options.folder / str(runs) for runs in options.runs}
    for runs, dataset in datasets.items():
        if not dataset.exists():
            subprocess.run([GENERATE, dataset, str(runs), str(options.rows), "1"], check=True)
    points = [(runs, dataset) for runs, dataset in datasets.items() for _ in range(options.repeat)]
    random.Random(1).shuffle(points)
    found = []
    for runs, dataset in points:
        cpu, peak, code = measured([COMMAND, "fleet", "report", dataset, "--top", "20", "--format", "json"])
        assert code == 0
        print(f"{runs} runs: {cpu:.2f} s, {peak / 2**20:.0f} MiB")
        found.append((runs, cpu, peak))
    runs = [point[0] for point in found]
    disk = {count: bytes_of(dataset) for count, dataset in datasets.items()}
    columns = [
        ("CPU, s", [point[1] for point in found], 1, runs),
        ("peak memory, MiB", [point[2] for point in found], 2**20, runs),
        ("on disk, MiB", [disk[count] for count in disk], 2**20, list(disk)),
        ("files", [files_of(dataset) for dataset in datasets.values()], 1, list(datasets)),
    ]
    for name, values, unit, of in columns:
        rate, error, start = slope(of, values)
        whole = (start + rate * MILLION) / unit
        print(
            f"{name}: {start / unit:.2f} and {rate / unit * 1000:.4f} ± {error / unit * 1000:.4f} for 1,000 runs; "
            f"a million: {whole:.0f} ± {error / unit * MILLION:.0f}"
        )


if __name__ == "__main__":
    main()

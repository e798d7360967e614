"""Section `batch`: 500 exports of 5 MB, compared with the rate of one core.

The rate of one core is measured with the same command and `--jobs 1`, without its start-up: the bytes of 40 exports divided by
the difference between the times for 41 exports and for one.
"""

import shutil

from measure import MIB, cores, measure, median, table
from tools import Tools

ROWS, STACKS = 9_800, 2_450
FEW = 41


def section(tools: Tools, rounds: int, scale: float, is_quick: bool) -> bool:
    # The last export is the new version in a comparison.
    *paths, new = tools.exports(max(FEW, round(500 * scale)) + 1, ROWS, STACKS)
    dataset = tools.work / "dataset"
    rows = []
    for name, options in [("compare", ["--against", new]), ("fleet report", []), ("fleet extract", ["-o", dataset])]:
        runs = {"one": [], "few": [], "all": []}
        for _ in range(rounds):
            for what, files, jobs in [("one", paths[:1], 1), ("few", paths[:FEW], 1), ("all", paths, None)]:
                # Exports that are already in a dataset are not read again.
                shutil.rmtree(dataset, ignore_errors=True)
                runs[what].append(measure(tools.ours(*name.split(), *files, *options, jobs=jobs)))
        one, few, all_of_them = (median(runs[what]) for what in runs)
        single = size_of(paths[1:FEW]) / (few.wall - one.wall)
        rate = size_of(paths) / all_of_them.wall
        rows.append([name, f"{all_of_them.wall:.2f}", f"{all_of_them.cpu:.2f}", f"{rate / 1e9:.2f}", f"{single / 1e9:.2f}",
                     f"{rate / (cores() * single):.2f}", f"{all_of_them.peak / MIB:.0f}"])
    shutil.rmtree(dataset, ignore_errors=True)
    table(f"### batch: {len(paths)} exports, {size_of(paths) / 1e6:.0f} MB, {rounds} rounds, {cores()} cores",
          ["command", "wall s", "CPU s", "GB/s", "GB/s of one core", "rate / (cores × one core)", "peak MiB"], rows)
    return True


def size_of(paths: list) -> int:
    return sum(path.stat().st_size for path in paths)

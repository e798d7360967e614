"""Sections `shapes` and `growth`: the reading speed for the exports of each Xcode, and how cost grows with the input."""

from measure import MIB, cores, in_turn, table
from tools import Tools

SHAPES = ["14.3", "26.2", "26.4", "27"]
VIEWS = {"folded": ["--format", "folded"], "functions": ["--view", "functions"]}


def shapes(tools: Tools, rounds: int, scale: float, is_quick: bool) -> bool:
    """The command that does little besides reading: the summary needs no tree."""
    exports = {shape: tools.export(round(600_000 * scale), round(150_000 * scale), shape=shape) for shape in SHAPES}
    counts = tools.counts_of_jobs()
    programs = {(shape, jobs): tools.ours(path, "--view", "summary", jobs=jobs)
                for shape, path in exports.items() for jobs in counts}
    results = in_turn(programs, rounds)
    rows = []
    for shape, path in exports.items():
        size = path.stat().st_size
        rates = [size / results[shape, jobs].wall / 1e9 for jobs in counts]
        peaks = [results[shape, jobs].peak / MIB for jobs in counts]
        rows.append([shape, f"{size / 1e6:.0f}", *[f"{rate:.2f}" for rate in rates], f"{rates[-1] / rates[0]:.2f}",
                     *[f"{peak:.0f}" for peak in peaks]])
    names = [f"jobs {jobs}" if jobs else "no --jobs" for jobs in counts]
    table(f"### shapes: --view summary, {rounds} rounds, {cores()} cores",
          ["shape", "MB", *[f"GB/s, {name}" for name in names], "last / first", *[f"peak MiB, {name}" for name in names]], rows)
    return True


def growth(tools: Tools, rounds: int, scale: float, is_quick: bool) -> bool:
    """Varies rows, distinct stacks, depth and files, one at a time."""
    rows, stacks = round(300_000 * scale), round(20_000 * scale)
    times = [1, 2, 4, 8]
    grow(tools, rounds, f"rows, {stacks:,} distinct stacks",
         {f"{rows * by:,}": [tools.export(rows * by, stacks)] for by in times})
    grow(tools, rounds, f"distinct stacks, {2 * rows:,} rows",
         {f"{stacks * by:,}": [tools.export(2 * rows, stacks * by)] for by in [*times, 16]})
    depths = [(6, 18), (12, 36), (12, 62), (50, 150), (150, 400)]
    grow(tools, rounds, f"depth, {rows:,} rows, {stacks:,} distinct stacks",
         {f"{low} to {high}": [tools.export(rows, stacks, depths=(low, high))] for low, high in depths})
    files = tools.exports(times[-1], rows // 4, stacks // 4)
    grow(tools, rounds, f"files, {rows // 4:,} rows and {stacks // 4:,} distinct stacks each", {f"{by}": files[:by] for by in times})
    return True


def grow(tools: Tools, rounds: int, title: str, steps: dict) -> None:
    programs = {(step, view): tools.ours(*paths, *options) for step, paths in steps.items() for view, options in VIEWS.items()}
    results = in_turn(programs, rounds)
    rows = []
    for step, paths in steps.items():
        size = sum(path.stat().st_size for path in paths)
        row = [step, f"{size / 1e6:.0f}"]
        for view in VIEWS:
            run = results[step, view]
            row += [f"{run.wall:.3f}", f"{size / run.wall / 1e9:.2f}", f"{run.peak / MIB:.0f}"]
        rows.append(row)
    table(f"### growth: {title}, {rounds} rounds", [title.split(",")[0], "MB", *[f"{view}: {what}" for view in VIEWS
          for what in ["wall s", "GB/s", "peak MiB"]]], rows)

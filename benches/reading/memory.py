"""Section `memory`: the memory for an export of 5 GB with few distinct stacks. It is read from a pipe, so it needs no disk space."""

from measure import MIB, measure, size_of_output, table
from tools import Tools

STACKS = 20_000
BYTES = 5_000_000_000
MOST = 300_000_000


def section(tools: Tools, rounds: int, scale: float, is_quick: bool) -> bool:
    rows = rows_for(tools, BYTES * scale)
    generate = tools.generate(rows, STACKS)
    size = size_of_output(generate)
    lines, is_met = [], True
    for name, options in [("--format folded", ["--format", "folded"]), ("--view functions", ["--view", "functions"])]:
        run = measure(tools.ours("-", *options), feed=generate)
        is_met &= run.peak <= MOST
        lines.append([name, f"{run.wall:.1f}", f"{run.cpu:.1f}", f"{size / run.wall / 1e9:.2f}", f"{run.peak / MIB:.0f}",
                      f"{run.peak / 1e6:.0f} MB: {'met' if run.peak <= MOST else 'MISSED'}"])
    table(f"### memory: {size / 1e9:.2f} GB through a pipe, {rows:,} rows, {STACKS:,} distinct stacks, once "
          "(the generator uses a core meanwhile)",
          ["traceparse -", "wall s", "CPU s", "GB/s", "peak MiB", f"at most {MOST // 1_000_000} MB"], lines)
    return is_met


def rows_for(tools: Tools, size: float) -> int:
    """Returns the number of rows for `size` bytes: rows with known stacks have nearly the same length."""
    few, many = (size_of_output(tools.generate(rows, STACKS)) for rows in (100_000, 300_000))
    return max(STACKS, round(100_000 + (size - few) / ((many - few) / 200_000)))

"""Section `bundles`: recordings, compared with exports of the same rows."""

from measure import MIB, cores, in_turn, table
from tools import Tools

FORMS = ["zlib", "plain"]


def section(tools: Tools, rounds: int, scale: float, is_quick: bool) -> bool:
    """The command that does little besides reading: sums by process need no tree, and symbols are left out."""
    rows = round(1_000_000 * scale)
    counts = tools.counts_of_jobs()
    lines = []
    for stacks in [round(number * scale) for number in (2_000, 20_000, 300_000)]:
        export = tools.export(rows, stacks, shape="26.2")
        inputs = {"export": export, **{form: tools.bundle(rows, stacks, form) for form in FORMS}}
        options = ["--view", "processes", "--no-bundled-symbols"]
        programs = {(name, jobs): tools.ours(path, *options, jobs=jobs) for name, path in inputs.items() for jobs in counts}
        results = in_turn(programs, rounds)
        for jobs in counts:
            runs = {name: results[name, jobs] for name in inputs}
            lines.append([f"{stacks:,}", f"{jobs or ''}", f"{export.stat().st_size / 1e6:.0f}",
                          *[f"{run.wall:.3f}" for run in runs.values()],
                          *[f"{runs[form].wall / runs['export'].wall:.2f}" for form in FORMS],
                          *[f"{run.peak / MIB:.0f}" for run in runs.values()]])
    table(f"### bundles: {rows:,} rows, --view processes, {rounds} rounds, {cores()} cores",
          ["distinct stacks", "jobs", "MB of XML", "export: wall s", *[f"bundle, {form}: wall s" for form in FORMS],
           *[f"{form} / export" for form in FORMS], "export: peak MiB", *[f"{form}: peak MiB" for form in FORMS]], lines)
    return True

"""Section `peers`: one large export, read by traceparse and by other programs."""

from measure import MIB, cores, in_turn, own_seconds, table
from tools import HERE, Tools


def section(tools: Tools, rounds: int, scale: float, is_quick: bool) -> bool:
    export = tools.export(round(1_200_000 * scale), round(300_000 * scale))
    size = export.stat().st_size
    programs = {}
    page = tools.work / "report.html"
    reports = [("overview", [export]), ("full report", [export, "--view", "full"]),
               ("functions", [export, "--view", "functions"]), ("folded", [export, "--format", "folded"]),
               ("page", [export, "-o", page]), ("hangs", ["hangs", export]), ("tables", ["tables", export])]
    for name, arguments in reports:
        programs[f"traceparse, {name}"] = tools.ours(*arguments)
        if tools.has_jobs and arguments[0] == export:
            programs[f"traceparse, {name}, --jobs 1"] = tools.ours(*arguments, jobs=1)
    programs["inferno-collapse-xctrace"] = [tools.inferno(), export]
    programs["quick-xml, events"] = [tools.peer("quick-xml-events"), export]
    programs["memchr, count of <"] = [tools.peer("memchr-count"), export]
    results = in_turn(programs, rounds)
    page.unlink(missing_ok=True)
    inferno = results["inferno-collapse-xctrace"].wall
    rows = [line(name, run, inferno, size) for name, run in results.items()]
    if not is_quick:
        rows.append(line("ElementTree.iterparse (once)", tools.once([HERE / "iterparse.py", export]), inferno, size))
    alone = {name: own_seconds(results[name]) for name in ["quick-xml, events", "memchr, count of <"]}
    for name, seconds in alone.items():
        rows.append([f"{name}, file in memory", f"{seconds:.3f}", "", f"{size / seconds / 1e9:.2f}",
                     f"{inferno / seconds:.2f}", "", ""])
    table(f"### peers: {size / 1e6:.0f} MB, {rounds} rounds, {cores()} cores",
          ["program", "wall s", "CPU s", "GB/s", "× speed of inferno", "peak MiB", "peak / file"], rows)
    count, events = alone["memchr, count of <"], alone["quick-xml, events"]
    print()
    for name in [name for name in programs if name.startswith("traceparse")]:
        run = results[name]
        print(f"{name}: {run.wall / count:.1f} × the wall time of the memchr count, {run.cpu / count:.1f} × its CPU time; "
              f"{run.wall / events:.2f} × the wall time of the quick-xml events, {run.cpu / events:.2f} × their CPU time")
    return True


def line(name: str, run, inferno: float, size: int) -> list:
    return [name, f"{run.wall:.3f}", f"{run.cpu:.3f}", f"{size / run.wall / 1e9:.2f}", f"{inferno / run.wall:.2f}",
            f"{run.peak / MIB:.0f}", f"{run.peak / size:.2f}"]

"""Section `gzip`: a compressed export, compared with only decompressing it."""

from pathlib import Path

from measure import MIB, in_turn, own_seconds, table, warm
from tools import Tools, write


def section(tools: Tools, rounds: int, scale: float, is_quick: bool) -> bool:
    export = tools.export(round(1_200_000 * scale), round(300_000 * scale))
    for ending, compress in [("gz", ["gzip", "-6", "-n", "-c", export]), ("zst", [tools.peer("compress"), export])]:
        path = export.with_name(f"{export.name}.{ending}")
        if not path.exists():
            write(path, compress)
        warm(path)
        compare(tools, rounds, export, path, ending)
    return True


def compare(tools: Tools, rounds: int, export: Path, path: Path, ending: str) -> None:
    programs = {"traceparse, folded": tools.ours(path, "--format", "folded"),
                "traceparse, functions": tools.ours(path, "--view", "functions")}
    if tools.has_jobs:
        programs["traceparse, folded, --jobs 1"] = tools.ours(path, "--format", "folded", jobs=1)
    programs["traceparse, folded, not compressed"] = tools.ours(export, "--format", "folded")
    if ending == "gz":
        programs["gzip -dc"] = ["gzip", "-dc", path]
    programs["our decompressor alone"] = [tools.peer("decompress"), path]
    results = in_turn(programs, rounds)
    alone = own_seconds(results["our decompressor alone"])
    header = ["program", "wall s", "CPU s", "GB/s of XML", "× time of decompressor", "peak MiB"]
    gzip = results.get("gzip -dc")
    rows = []
    for name, run in results.items():
        row = [name, f"{run.wall:.3f}", f"{run.cpu:.3f}", f"{export.stat().st_size / run.wall / 1e9:.2f}",
               f"{run.wall / alone:.2f}", f"{run.peak / MIB:.0f}"]
        rows.append(row + ([f"{run.wall / gzip.wall:.2f}"] if gzip else []))
    kind = "gzip -6" if gzip else "zstd -3"
    table(f"### gzip: {export.stat().st_size / 1e6:.0f} MB of XML in {path.stat().st_size / 1e6:.0f} MB of {kind}, {rounds} rounds",
          header + (["× time of gzip -dc"] if gzip else []), rows)

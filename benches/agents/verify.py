#!/usr/bin/env python3
"""Computes the answers of `questions.json` from the inputs, without traceparse, and compares them with it. Needs TRACEPARSE_CORPUS."""

import csv
import gzip
import json
import math
import re
import statistics
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from grade import is_right
from run import HERE, REPOSITORY, place

LLVM = REPOSITORY / "fixtures/symbols/built/inlining/expected.tsv"


def rows(path: Path, schema: str = ""):
    """Yields the text and the `fmt` of each row's cells by name (`duration`, `thread.fmt`), with the names of its stack, leaf first."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for document in re.split(rb"(?=<trace-(?:toc|query-result)>)", data)[1:]:
        root = ElementTree.fromstring(document)
        defined = {element.get("id"): element for element in root.iter() if element.get("id")}
        for node in root.iter("node"):
            names = [column.findtext("mnemonic") for column in node.iter("col")]
            for row in node.iter("row") if schema in ("", node.find("schema").get("name")) else ():
                cells = {name: defined.get(cell.get("ref"), cell) for name, cell in zip(names, row)}
                stack = cells.pop("stack", cells.pop("backtrace", None))
                stack = ElementTree.Element("none") if stack is None else stack
                inner = stack.find("backtrace")
                frames = (stack if inner is None else defined.get(inner.get("ref"), inner)).findall("frame")
                frames = [defined.get(frame.get("ref"), frame).get("name") for frame in frames]
                yield {**{name: cell.text for name, cell in cells.items()}, "stack": frames,
                       **{f"{name}.fmt": cell.get("fmt") for name, cell in cells.items()}}


def selfs(path: Path, start: float = 0, end: float = math.inf) -> Counter:
    found = Counter()
    for row in rows(path):
        if start <= int(row["time"]) < end and row["stack"]:
            found[row["stack"][0]] += int(row["weight"])
    return found


def growth(old: list, new: list) -> str:
    """The function with the largest paired t of its logarithmic growth (runs of one index have the same device), with 5 samples per run."""
    old, new = ([selfs(path) for path in side] for side in (old, new))

    def t(name: str) -> float:
        changes = [math.log(b[name] / a[name]) for a, b in zip(old, new)]
        return statistics.mean(changes) / statistics.stdev(changes)
    return max((name for name in old[0] if min(run[name] for run in old + new) >= 5_000_000), key=t)


def tail(paths: list) -> str:
    runs = [selfs(path) for path in paths if "toc" not in path.name]
    limit = sorted(run.total() for run in runs)[math.ceil(0.95 * len(runs)) - 1]
    return sum((run for run in runs if run.total() >= limit), Counter()).most_common(1)[0][0]


def trend(folder: Path) -> str:
    listed = list(csv.DictReader((folder / "m.csv").open()))
    used = [selfs(folder / row["path"]).total() for row in listed]
    return listed[max(range(1, len(used)), key=lambda at: used[at] / used[at - 1])]["app_version"]


def in_hang(path: Path) -> set:
    """The states of samples in the hang."""
    start, length = next((int(row["start"]), int(row["duration"])) for row in rows(path, "potential-hangs"))
    return {row["thread-state"] for row in rows(path, "time-profile") if start <= int(row["time"]) < start + length}


def unnamed(text: str) -> str:
    """The UUID of the binary with the most unnamed frames, weighted by their samples."""
    binaries = Counter()
    for count, name in re.findall(r"^ *\*?(\d+) +\?\?\? \((.+?) \+ \d+\)", text, re.MULTILINE):
        binaries[name] += int(count)
    return re.search(rf"<([-0-9A-F]+)> .*/{re.escape(binaries.most_common(1)[0][0])}$", text, re.MULTILINE)[1]


ANSWERS = {
    "cause": lambda at: selfs(at / "app.xml").most_common(1)[0][0].rpartition("::")[0],
    "range": lambda at: selfs(at / "app.xml", 3e9, 9e9).most_common(1)[0][0],
    "hang": lambda at: "/".join(in_hang(at / "app.xml.gz")),
    "lock": lambda at: re.findall(r'name "(\w+)"(?:(?!Thread 0x).)*\(running\)', (at / "report.txt").read_text(), re.DOTALL)[0],
    "pair": lambda at: (selfs(at / "after.xml").total() - selfs(at / "before.xml").total()) / 1e6,
    "runs": lambda at: growth(*(sorted((at / "runs" / side).glob("r?.xml")) for side in ("b8", "p8"))),
    "trend": lambda at: trend(at / "runs"),
    "tail": lambda at: tail(list(at.glob("runs/runs/r*.xml"))),
    "symbols": lambda at: unnamed((at / "report.txt").read_text()),
    "address": lambda at: re.search(r"\t0x3f8\t\S+\t0\t_ZN5paint\d+([a-z_]+)", LLVM.read_text())[1],
    "files": lambda at: sum(int(row["duration"]) for row in rows(at / "calls.xml") if "EmbeddingService.embed(_:)" in row["stack"]) / 1e3,
    "signposts": lambda at: sorted(int(row["duration"]) for row in rows(at / "signposts.xml") if row["name"] == "FrameLifetime")[11] / 1e6,
    "presence": lambda at: selfs(at / "app.xml")["TNode::SynchronizeChildren(NodeRequestOptions, TNodeEventPtrs&)"] / 1e6,
    "waiting": lambda at: sum(int(row["weight"]) for row in rows(at / "app.xml")
                              if "0x2a117" in row["thread.fmt"] and row["thread-state"] == "Running") / 1e6,
    "hitches": lambda at: sum(int(row["duration"]) for row in rows(at / "app.xml.gz", "hitches") if "App (" in row["process.fmt"]) / 1e6,
    "unknown": lambda at: "work" if in_hang(at / "app.xml.gz") else "cannot be told",
}

for question in json.loads((HERE / "questions.json").read_text("utf-8")):
    with tempfile.TemporaryDirectory() as folder:
        for name, source in question["inputs"].items():
            place(source, Path(folder) / name)
        answer = str(ANSWERS[question["id"]](Path(folder)))
        assert is_right(question, answer), (question["id"], answer)
        print(question["id"], answer)
